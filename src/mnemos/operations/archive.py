"""Operations on a whole memory as a file: export, import, verify, backup, restore."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import NotFound
from mnemos.memory.backlog import STORED, describe_backlog, work_off
from mnemos.operations.arguments import path_of, person_only
from mnemos.operations.base import (
    LongOperation,
    Operation,
    Question,
    Result,
    Traits,
    check_confirmed,
    confirmation,
    fill,
)
from mnemos.operations.texts import plural, render_first, render_size
from mnemos.progress import Progress, part_of
from mnemos.text.stored_text import join_items
from mnemos.transfer.archive.manifest import PartComparison, PartReport

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 10
# The singular name of each part's items.
_ONE = {
    "sessions": "session", "messages": "message", "imports": "imported message", "scopes": "scope",
    "facts": "fact", "entries": "entry", "notes": "note", "notebook": "note", "templates": "template",
    "databases": "database", "snapshots": "snapshot",
}  # fmt: skip
_SEVERAL = {"entries": "entries"}


class ExportAll(LongOperation, frozen=True, kw_only=True):
    """Export everything in the space to one archive: sessions, facts with their history, entries, notes,
    templates and databases. Settings are not included."""

    traits: ClassVar[Traits] = Traits(
        title="Export everything", local=True, positional=("path",), example="memory.tar.zst"
    )

    path: Annotated[str, Meta(description="New .tar.zst, .tar.gz or .tar file, or a new folder")]

    def writes(self) -> bool:
        # Not skipped if memory is disabled: without a file, the call has to fail.
        return False

    def work(self, memory: Memory, progress: Progress) -> Archived:
        done = memory.export(path_of(self.path), part_of(progress, 0, 1, "Writing the archive"))
        return Archived(
            path=str(done.path), bytes=done.bytes, counts=done.counts, left_out=list(done.left_out)
        )


class Archived(Result, frozen=True, kw_only=True):
    path: str
    bytes: int
    counts: dict[str, int]
    left_out: list[str]

    def as_text(self) -> str:
        items = ", ".join(_count(name, count) for name, count in self.counts.items() if count)
        lines = [f"Exported to {self.path} ({render_size(self.bytes)}): {items or 'the memory is empty'}."]
        if self.left_out:
            lines.append(f"Not included, because it could not be read ({len(self.left_out):,}):")
            lines += render_first(self.left_out, _SHOWN)
        return join_items(lines)

    @property
    def is_ok(self) -> bool:
        return not self.left_out


class ImportArchive(LongOperation, frozen=True, kw_only=True):
    """Import everything in an archive that this memory lacks. The archive is verified before anything is
    stored. Existing items are kept unless the archive has newer ones. Cannot be undone: back up first."""

    traits: ClassVar[Traits] = Traits(
        title="Import an archive",
        idempotent=True,
        local=True,
        begins=True,
        asks=True,
        positional=("path",),
        example="memory.tar.zst",
    )

    path: Annotated[str, Meta(description="Archive written by export: a file or a folder")]
    allow: Annotated[
        bool, person_only("Import notes and templates even if they look like prompt injections")
    ] = False

    def questions(self, memory: Memory) -> Sequence[Question]:
        if memory.settings.disabled or memory.is_in_memory or not memory.home.exists:
            return ()
        text = (
            f"Importing {self.path} into the memory in {memory.home.location} cannot be undone. To keep a "
            "copy of the current memory, run `mnemos backup` first. Continue?"
        )
        return [confirmation(text)]

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        check_confirmed(answers)
        return self

    def work(self, memory: Memory, progress: Progress) -> ArchiveImported:
        storing = part_of(progress, 0, STORED, "Reading the archive")
        report = memory.import_archive(path_of(self.path), storing, allow=self.allow)
        coverage = work_off(memory, progress)
        return replace(fill(ArchiveImported, report), coverage=coverage)


class ArchiveImported(Result, frozen=True, kw_only=True):
    space: str
    made_at: str
    parts: list[PartReport]
    unknown: list[str]
    left_out: list[str]
    coverage: float | None = None
    """The share of passages that are indexed for meaning; None if there are none."""

    def as_text(self) -> str:
        lines = [line for part in self.parts for line in _render_import(part)]
        if not lines:
            lines = ["The archive is empty; nothing was imported."]
        elif not any(part.imported or part.updated for part in self.parts):
            lines.append("Nothing new.")
        if self.unknown:
            lines.append(f"Skipped, because a newer Mnemos wrote it: {', '.join(self.unknown)}")
        if self.left_out:
            lines.append("Not in the archive, because the export could not read it:")
            lines += render_first(self.left_out, _SHOWN)
        return join_items([*lines, *describe_backlog(self.coverage)])

    def for_person(self) -> str:
        marked = sum(part.marked for part in self.parts)
        advice = f"\nTo import the {marked:,} that look like prompt injections, repeat it with --allow."
        return self.as_text() + (advice if marked else "")

    @property
    def is_ok(self) -> bool:
        return not any(part.not_taken for part in self.parts)


class VerifyArchive(LongOperation, frozen=True, kw_only=True):
    """Check that an archive is complete and compare it item by item with this memory. Nothing is changed."""

    traits: ClassVar[Traits] = Traits(
        title="Compare with an archive",
        read_only=True,
        local=True,
        positional=("path",),
        example="memory.tar.zst",
    )

    path: Annotated[str, Meta(description="Archive written by export: a file or a folder")]

    def work(self, memory: Memory, progress: Progress) -> ArchiveCompared:
        found = memory.compare_archive(path_of(self.path), part_of(progress, 0, 1, "Comparing"))
        return fill(ArchiveCompared, found)


class ArchiveCompared(Result, frozen=True, kw_only=True):
    space: str
    made_at: str
    holds_all: bool
    parts: list[PartComparison]

    def as_text(self) -> str:
        lines = [f"The archive is complete. It was made {self.made_at} from the space {self.space}."]
        lines += [line for part in self.parts for line in _render_comparison(part)]
        lines.append(
            "This memory has everything in the archive."
            if self.holds_all
            else "This memory differs from the archive. To import what is missing: mnemos import archive"
        )
        return join_items(lines)

    @property
    def is_ok(self) -> bool:
        return self.holds_all


class BackUp(LongOperation, frozen=True, kw_only=True):
    """Write a verified copy of the database to a file, while it is in use."""

    traits: ClassVar[Traits] = Traits(
        title="Back up", local=True, positional=("path",), example="mnemos-backup.db"
    )

    path: Annotated[str, Meta(description="New file to write")]

    def writes(self) -> bool:
        # Not skipped if memory is disabled: without a file, the call has to fail.
        return False

    def work(self, memory: Memory, progress: Progress) -> BackedUp:
        path = memory.backup(path_of(self.path), part_of(progress, 0, 1, "Copying the database"))
        return BackedUp(path=str(path), bytes=path.stat().st_size)


class BackedUp(Result, frozen=True, kw_only=True):
    path: str
    bytes: int

    def as_text(self) -> str:
        return join_items([f"Backed up to {self.path} ({render_size(self.bytes)}) and verified."])


class Restore(Operation, frozen=True, kw_only=True):
    """Replace the whole database, including every space, with a backup. A copy of the current data is kept
    next to it."""

    traits: ClassVar[Traits] = Traits(
        title="Restore a backup",
        destructive=True,
        verb="replaces",
        begins=True,
        local=True,
        positional=("path",),
        example="mnemos-backup.db --yes",
    )

    path: Annotated[str, Meta(description="A backup file")]

    def run(self, memory: Memory) -> Restored:
        return Restored(former_data=str(memory.restore(self._backup())))

    def at_stake(self, memory: Memory) -> str:
        self._backup()
        if not memory.home.exists:
            return ""
        everything = f"everything in {memory.storage.location}"
        count = plural(memory.sessions.message_count(), "message")
        beside = "the backup" if memory.home.is_server else "it"
        return f"{everything} ({count} in this space) and keeps a copy next to {beside}"

    def _backup(self) -> Path:
        path = path_of(self.path)
        # Path.exists() raises for a name that is too long.
        if not os.path.exists(path):  # noqa: PTH110
            raise NotFound(f"There is no file {path}. Name a backup.")
        return path


class Restored(Result, frozen=True, kw_only=True):
    former_data: str

    def as_text(self) -> str:
        return join_items([f"Restored. The previous data is in {self.former_data}"])


def _render_import(part: PartReport) -> list[str]:
    counts = [
        (part.imported, "imported"),
        (part.updated, "updated"),
        (part.there, "already there"),
        (part.not_taken, "not imported"),
    ]
    parts = [f"{count:,} {outcome}" for count, outcome in counts if count]
    return [f"{part.part}: {', '.join(parts)}", *render_first(part.reasons, _SHOWN)] if parts else []


def _render_comparison(part: PartComparison) -> list[str]:
    total = part.same + part.missing + part.different
    if not total:
        return []
    counts = [(part.missing, "missing"), (part.different, "different")]
    differences = ", ".join(f"{count:,} {outcome}" for count, outcome in counts if count)
    mark = "BAD " if differences else "ok  "
    line = f"{mark} {_count(part.part, total)}: {differences or 'all in this memory'}"
    return [line, *render_first(part.examples, _SHOWN)]


def _count(part: str, number: int) -> str:
    """Render the number of a part's items."""
    return plural(number, _ONE.get(part, part), _SEVERAL.get(part, ""))
