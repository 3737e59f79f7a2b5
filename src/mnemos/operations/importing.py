"""Bringing in what other programs keep."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import msgspec
from msgspec import Meta

from mnemos.operations.base import LongOperation, Operation, Question, Result, Traits
from mnemos.operations.border import file_named
from mnemos.operations.moments import When, seconds
from mnemos.operations.wording import counted
from mnemos.progress import Progress
from mnemos.transfer import import_formats

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.imports import Imports
    from mnemos.transfer.reader import ImportReport

_SHOWN = 10

DryRun = Annotated[bool, Meta(description="Only say what would be stored")]


def _traits(title: str, example: str = "", *, watches: bool = False) -> Traits:
    return Traits(
        title=title,
        idempotent=True,
        local=True,
        begins=True,
        watches=watches,
        positional=("path",),
        example=(example,) if example else (),
    )


@contextmanager
def _imports(memory: Memory, *, dry_run: bool) -> Iterator[Imports]:
    """The imports of a memory. To look should make no home: where there is none, nothing is known."""
    if not dry_run or memory.is_in_memory or memory.database.exists():
        yield memory.imports
        return
    with type(memory)(memory.settings, in_memory=True) as nothing:
        yield nothing.imports


class _Import(LongOperation, frozen=True, kw_only=True):
    """Bring in the conversations of a program. Its files are only read."""

    kind: ClassVar[str]

    path: Annotated[str | None, Meta(description="A file or folder of it; default: where it keeps them")] = (
        None
    )
    since: Annotated[
        When, Meta(description="Leave out files, or conversations of an export, that ended before")
    ] = None
    dry_run: DryRun = False

    def writes(self) -> bool:
        return not self.dry_run

    def work(self, memory: Memory, progress: Progress) -> Brought:
        named = None if self.path is None else file_named(self.path)
        reader = import_formats.load_reader(self.kind)
        with _imports(memory, dry_run=self.dry_run) as imports:
            report = imports.import_files(
                reader,
                import_formats.choose_path(self.kind, named, memory.settings),
                since=seconds("since", self.since),
                dry_run=self.dry_run,
                progress=progress,
            )
        return Brought.of(report, reader.title)


class ImportClaudeCode(_Import, frozen=True, kw_only=True):
    """Bring in the transcripts of Claude Code, which deletes them after 30 days. What is new each time; files
    are only read. What the program put into messages is kept apart from what was said. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Claude Code", watches=True)
    kind: ClassVar[str] = "claude-code"


class ImportCodex(_Import, frozen=True, kw_only=True):
    """Bring in the rollouts of Codex. What is new each time; files are only read. What the program put into
    messages is kept apart from what was said. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Codex", watches=True)
    kind: ClassVar[str] = "codex"


class ImportChatGPT(_Import, frozen=True, kw_only=True):
    """Bring in an export of ChatGPT: the zip file, or conversations.json. Of a conversation with several
    branches the current one; the others are counted. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import ChatGPT", "chatgpt-export.zip")
    kind: ClassVar[str] = "chatgpt"


class ImportClaude(_Import, frozen=True, kw_only=True):
    """Bring in an export of Claude.ai: the zip file, or conversations.json. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Claude.ai", "claude-export.zip")
    kind: ClassVar[str] = "claude"


class ImportHermes(_Import, frozen=True, kw_only=True):
    """Bring in the conversations of Hermes Agent from its state.db, which is only read. Sessions that are
    recorded here already are left as they are. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Hermes Agent", watches=True)
    kind: ClassVar[str] = "hermes"


class ImportJsonl(_Import, frozen=True, kw_only=True):
    """Bring in JSON lines of OpenAI's format: an object with messages a line, or a message a line. Can be
    undone."""

    traits: ClassVar[Traits] = _traits("Import JSON lines", "conversations.jsonl", watches=True)
    kind: ClassVar[str] = "jsonl"


class Missed(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was not understood; line 0: the file as a whole."""

    path: str
    line: int
    why: str


class Brought(Result, frozen=True, kw_only=True):
    kind: str
    title: str
    path: str
    dry_run: bool
    files: int
    unchanged: int
    sessions: int
    continued: int
    messages: int
    known: int
    left_out: dict[str, int]
    problems: list[Missed]
    more_problems: int

    @classmethod
    def of(cls, report: ImportReport, title: str) -> Self:
        return cls(
            kind=report.kind,
            title=title,
            path=report.path,
            dry_run=report.dry_run,
            files=report.files,
            unchanged=report.unchanged,
            sessions=report.sessions,
            continued=report.continued,
            messages=report.messages,
            known=report.known,
            left_out=report.left_out,
            problems=[Missed(path=one.path, line=one.line, why=one.why) for one in report.problems],
            more_problems=report.more_problems,
        )

    def as_text(self) -> str:
        would = "would be " if self.dry_run else ""
        continued = f", {self.continued:,} continued" if self.continued else ""
        known = f", {self.known:,} known already" if self.known else ""
        unchanged = f", {self.unchanged:,} unchanged" if self.unchanged else ""
        lines = [f"{self.title}, {self.path}: {counted(self.files, 'file')} read{unchanged}."]
        if self.messages or self.known:
            lines.append(
                f"{counted(self.sessions, 'session')} {would}new{continued}; "
                f"{counted(self.messages, 'message')} {would}stored{known}."
            )
        elif not self.problems:
            lines.append("Nothing is new.")
        if self.left_out:
            left = ", ".join(f"{what} ({count:,})" for what, count in sorted(self.left_out.items()))
            lines.append(f"Left out: {left}.")
        return "\n".join([*lines, *self._missed()])

    def _missed(self) -> list[str]:
        if not self.problems:
            return []
        shown = self.problems[:_SHOWN]
        more = len(self.problems) - len(shown) + self.more_problems
        return [
            f"Not understood ({len(self.problems) + self.more_problems:,}):",
            *(f"  {one.path}{f':{one.line}' if one.line else ''}: {one.why}" for one in shown),
            *([f"  and {more:,} more"] if more else []),
        ]

    def found_more(self) -> bool:
        """What cannot be read at all is no news: it was told when the watch began, and stays so."""
        return bool(self.sessions or self.messages or (self.files and self.problems))

    def succeeded(self) -> bool:
        """Nothing but what is not understood is a failure; a broken line among others is none."""
        return not self.problems or bool(self.messages or self.known or self.unchanged)


class ImportFound(LongOperation, frozen=True, kw_only=True):
    """Look for conversations of other programs on this machine, at their usual places and, of exports, among
    the downloads; bring in those that are chosen. None chosen: only say what is there."""

    traits: ClassVar[Traits] = Traits(
        title="Import what is found", idempotent=True, local=True, begins=True, example=("--all",)
    )

    kinds: Annotated[
        list[Literal["claude-code", "codex", "hermes", "chatgpt", "claude"]] | None,
        Meta(description="Bring in these"),
    ] = None
    all: Annotated[bool, Meta(description="Bring in everything that is found")] = False
    dry_run: DryRun = False

    def writes(self) -> bool:
        return not self.dry_run and (self.all or bool(self.kinds))

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.all or self.kinds is not None:
            return ()
        return [
            Question(
                one.kind,
                f"Import {one.title}, {counted(one.files, 'file')} with {_size(one.bytes)} in {one.path}?",
                default="yes",
                choices=("yes", "no"),
            )
            for one in import_formats.find_installed(memory.settings)
        ]

    def answered(self, answers: Mapping[str, str]) -> Operation:
        return msgspec.structs.replace(self, kinds=[kind for kind, said in answers.items() if said == "yes"])

    def work(self, memory: Memory, progress: Progress) -> Found:
        there = list(import_formats.find_installed(memory.settings))
        chosen = [one for one in there if self.all or one.kind in (self.kinds or ())]
        total = sum(one.bytes for one in chosen) or 1
        brought: list[Brought] = []
        done = 0
        for one in chosen:

            def moved(share: float, start: int = done, size: int = one.bytes) -> None:
                progress((start + share * size) / total)

            with _imports(memory, dry_run=self.dry_run) as imports:
                report = imports.import_files(
                    import_formats.load_reader(one.kind), one.path, dry_run=self.dry_run, progress=moved
                )
            brought.append(Brought.of(report, one.title))
            done += one.bytes
        return Found(
            there=[
                Source(kind=one.kind, title=one.title, path=str(one.path), files=one.files, bytes=one.bytes)
                for one in there
            ],
            brought=brought,
        )


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a program."""

    kind: str
    title: str
    path: str
    files: int
    bytes: int


class Found(Result, frozen=True, kw_only=True):
    there: list[Source]
    brought: list[Brought]

    def as_text(self) -> str:
        if self.brought:
            return "\n\n".join(one.as_text() for one in self.brought)
        if not self.there:
            return (
                "No conversations of Claude Code, Codex or Hermes Agent are at their usual places, and no "
                "export of ChatGPT or Claude.ai is among the downloads. `mnemos import PATH` brings in a "
                "file or folder that lies elsewhere."
            )
        return "\n".join(
            [
                "There is:",
                *(
                    f"  {one.title}: {counted(one.files, 'file')}, {_size(one.bytes)}, in {one.path}"
                    for one in self.there
                ),
                "Bring it in with:",
                *(f"  mnemos import {one.kind}{_where(one)}" for one in self.there),
            ]
        )

    def succeeded(self) -> bool:
        return all(one.succeeded() for one in self.brought)


def _where(source: Source) -> str:
    """What a command needs besides: programs are looked up, exports are named."""
    return f" {shlex.quote(source.path)}" if source.kind in ("chatgpt", "claude") else ""


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"


class ImportHermesMemory(LongOperation, frozen=True, kw_only=True):
    """Bring in the facts of a hermes-memory database. It is only read; what it archived is found again, and a
    second import adds only what is new."""

    traits: ClassVar[Traits] = Traits(
        title="Import hermes-memory",
        idempotent=True,
        local=True,
        begins=True,
        positional=("path",),
        example=("~/.hermes/memory.db",),
    )

    path: Annotated[
        str | None, Meta(description="The database; default $HERMES_MEMORY_DB or ~/.hermes/memory.db")
    ] = None

    def work(self, memory: Memory, progress: Progress) -> ImportedFacts:
        path = None if self.path is None else file_named(self.path)
        report = memory.import_hermes_memory(path, progress)
        return ImportedFacts(
            live=report.live, history=report.history, skipped=report.skipped, refused=report.refused
        )


class ImportedFacts(Result, frozen=True, kw_only=True):
    live: int
    history: int
    skipped: int
    refused: list[str]

    def as_text(self) -> str:
        lines = [
            f"{counted(self.live, 'fact')} imported, {self.history:,} more as history, "
            f"{self.skipped:,} known already."
        ]
        if self.refused:
            lines.append(f"{len(self.refused):,} not understood:")
            lines += [f"  {one}" for one in self.refused[:_SHOWN]]
        return "\n".join(lines)
