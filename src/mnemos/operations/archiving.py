"""A whole memory as one archive: written, brought in, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.operations.base import (
    LongOperation,
    Operation,
    Question,
    Result,
    Traits,
    check_answer,
    whether_to_go_on,
)
from mnemos.operations.border import file_named
from mnemos.operations.upkeep import size
from mnemos.operations.wording import counted
from mnemos.progress import Progress

if TYPE_CHECKING:
    from mnemos.memory import Memory

_TOLD = 10
# What one of each is called.
_ONE = {
    "sessions": "session", "messages": "message", "imports": "imported message", "scopes": "scope",
    "facts": "fact", "entries": "entry", "notes": "note", "notebook": "note", "templates": "template",
    "databases": "database", "snapshots": "snapshot",
}  # fmt: skip
_SEVERAL = {"entries": "entries"}


class ExportAll(LongOperation, frozen=True, kw_only=True):
    """Write everything of the space to one archive: sessions, facts with their history, entries, notes,
    templates, databases. Nothing of it is lost; settings are not in it."""

    traits: ClassVar[Traits] = Traits(
        title="Export everything", local=True, positional=("path",), example=("memory.tar.zst",)
    )

    path: Annotated[
        str, Meta(description="What to write, not there yet: .tar.zst, .tar.gz, .tar, or a folder")
    ]

    def work(self, memory: Memory, progress: Progress) -> Exported:
        done = memory.export(file_named(self.path), progress)
        return Exported(
            path=str(done.path), bytes=done.bytes, counts=done.counts, left_out=list(done.left_out)
        )


class Exported(Result, frozen=True, kw_only=True):
    path: str
    bytes: int
    counts: dict[str, int]
    left_out: list[str]

    def as_text(self) -> str:
        what = ", ".join(_named(name, count) for name, count in self.counts.items() if count)
        lines = [f"{self.path} ({size(self.bytes)}): {what or 'nothing, this memory is empty'}."]
        if self.left_out:
            lines.append(f"{len(self.left_out):,} could not be read and {_is(len(self.left_out))} not in it:")
            lines += _shown(self.left_out)
        return "\n".join(lines)

    def succeeded(self) -> bool:
        return not self.left_out


class ImportArchive(LongOperation, frozen=True, kw_only=True):
    """Bring in what an archive of `mnemos export` holds and this memory does not. All is verified before
    any is stored; what is here stays, unless the archive has a newer one. Cannot be undone: back up first."""

    traits: ClassVar[Traits] = Traits(
        title="Import an archive",
        idempotent=True,
        local=True,
        begins=True,
        positional=("path",),
        example=("memory.tar.zst",),
    )

    path: Annotated[str, Meta(description="An archive that export wrote: a file or a folder")]

    def questions(self, memory: Memory) -> Sequence[Question]:
        if memory.settings.disabled or memory.is_in_memory or not memory.database.exists():
            return ()
        text = (
            f"Bringing {self.path} into the memory in {memory.settings.home} cannot be undone; "
            "`mnemos backup` first keeps what is there now. Go on?"
        )
        return [whether_to_go_on(text)]

    def answered(self, answers: Mapping[str, str]) -> Operation:
        check_answer(answers)
        return self

    def work(self, memory: Memory, progress: Progress) -> Brought:
        report = memory.import_archive(file_named(self.path), progress)
        return Brought(
            space=report.space,
            made_at=report.made_at,
            parts=[
                {
                    "part": part.part,
                    "imported": part.imported,
                    "updated": part.updated,
                    "there": part.there,
                    "not_taken": part.not_taken,
                    "reasons": part.reasons,
                }
                for part in report.parts
            ],
            unknown=list(report.unknown),
            left_out=list(report.left_out),
        )


class Brought(Result, frozen=True, kw_only=True):
    space: str
    made_at: str
    parts: list[dict[str, Any]]
    unknown: list[str]
    left_out: list[str]

    def as_text(self) -> str:
        lines = [line for part in self.parts for line in _brought(part)]
        if not lines:
            lines = ["The archive is empty; nothing was imported."]
        elif not any(part["imported"] or part["updated"] for part in self.parts):
            lines.append("Nothing was new.")
        if self.unknown:
            lines.append(f"Written by a newer Mnemos, and passed over: {', '.join(self.unknown)}")
        if self.left_out:
            lines.append("Not in the archive, because the export could not read it:")
            lines += _shown(self.left_out)
        return "\n".join(lines)

    def succeeded(self) -> bool:
        return not any(part["not_taken"] for part in self.parts)


class VerifyArchive(LongOperation, frozen=True, kw_only=True):
    """Check that an archive is whole, and compare it with this memory, item by item: does it hold everything
    that is in the archive? Nothing is changed."""

    traits: ClassVar[Traits] = Traits(
        title="Compare with an archive",
        read_only=True,
        local=True,
        positional=("path",),
        example=("memory.tar.zst",),
    )

    path: Annotated[str, Meta(description="An archive that export wrote: a file or a folder")]

    def work(self, memory: Memory, progress: Progress) -> Compared:
        found = memory.compare_archive(file_named(self.path), progress)
        return Compared(
            space=found.space,
            made_at=found.made_at,
            holds_all=found.holds_all,
            parts=[
                {
                    "part": part.part,
                    "same": part.same,
                    "missing": part.missing,
                    "different": part.different,
                    "examples": part.examples,
                }
                for part in found.parts
            ],
        )


class Compared(Result, frozen=True, kw_only=True):
    space: str
    made_at: str
    holds_all: bool
    parts: list[dict[str, Any]]

    def as_text(self) -> str:
        lines = [f"The archive is whole: made {self.made_at}, of the space {self.space}."]
        for part in self.parts:
            there = part["same"] + part["missing"] + part["different"]
            if there:
                lines.append(
                    f"{'ok  ' if part['same'] == there else 'BAD '} {_named(part['part'], there)}: "
                    f"{_differences(part)}"
                )
                lines += _shown(part["examples"])
        lines.append(
            "Everything in the archive is here, and the same."
            if self.holds_all
            else "Not everything in the archive is here, or the same. What is missing comes with: "
            "mnemos import archive"
        )
        return "\n".join(lines)

    def succeeded(self) -> bool:
        return self.holds_all


def _brought(part: dict[str, Any]) -> list[str]:
    counts = [
        (part["imported"], "imported"),
        (part["updated"], "brought up to date"),
        (part["there"], "there already"),
        (part["not_taken"], "not taken"),
    ]
    told = [f"{count:,} {what}" for count, what in counts if count]
    if not told:
        return []
    return [f"{part['part']}: {', '.join(told)}", *_shown(part["reasons"])]


def _differences(part: dict[str, Any]) -> str:
    counts = [(part["missing"], "missing"), (part["different"], "different")]
    told = [f"{count:,} {what}" for count, what in counts if count]
    return ", ".join(told) or "all here"


def _named(part: str, count: int) -> str:
    """So many of what a part holds."""
    several = _SEVERAL.get(part)
    return f"{count:,} {several}" if several and count != 1 else counted(count, _ONE.get(part, part))


def _shown(reasons: list[str]) -> list[str]:
    lines = [f"  {reason}" for reason in reasons[:_TOLD]]
    return lines if len(reasons) <= _TOLD else [*lines, f"  … and {len(reasons) - _TOLD:,} more"]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
