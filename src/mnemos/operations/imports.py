"""Operations that import conversations and facts of other programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, get_args

import msgspec
from msgspec import Meta

from mnemos.memory.backlog import STORED, describe_backlog, work_off
from mnemos.operations.arguments import moment, path_of
from mnemos.operations.base import Info, LongOperation, Operation, Question, Result, Traits, fill
from mnemos.operations.texts import plural, render_first, render_path, render_size
from mnemos.progress import Progress, part_of
from mnemos.text.stored_text import join_items
from mnemos.transfer import agent_places, import_formats
from mnemos.transfer.reader import Problem

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.imports import Imports
    from mnemos.transfer.reader import ImportReport

_SHOWN = 10

DryRun = Annotated[bool, Meta(description="Only show what would be imported")]


_READING = "Reading conversations"

Program = Literal[
    "gemini", "qwen", "opencode", "cursor", "cline", "roo", "continue", "copilot", "goose", "zed", "aider"
]
PROGRAMS: tuple[str, ...] = get_args(Program)


def _traits(
    title: str, example: str = "", *, watches: bool = False, positional: tuple[str, ...] = ("path",)
) -> Traits:
    return Traits(
        title=title,
        idempotent=True,
        local=True,
        begins=True,
        asks=True,
        watches=watches,
        positional=positional,
        example=example,
    )


@contextmanager
def _imports(memory: Memory, *, dry_run: bool) -> Iterator[Imports]:
    """Yield the imports of a memory. A dry run creates no home."""
    if not dry_run or memory.is_in_memory or memory.home.exists:
        yield memory.imports
        return
    with type(memory)(memory.settings, in_memory=True) as nothing:
        yield nothing.imports


class _Import(LongOperation, frozen=True, kw_only=True):
    """Import the conversations of a program. Its files are only read."""

    kind: ClassVar[str]

    path: Annotated[str | None, Meta(description="File or folder; default: where the program keeps them")] = (
        None
    )
    since: Annotated[
        str | float | None, moment("Skip files and conversations that ended before this date or time")
    ] = None
    dry_run: DryRun = False

    def writes(self) -> bool:
        return not self.dry_run

    def kind_to_read(self) -> str:
        return self.kind

    def work(self, memory: Memory, progress: Progress) -> Imported:
        named = None if self.path is None else path_of(self.path)
        reader, path = import_formats.choose_source(self.kind_to_read(), named, memory.settings)
        with _imports(memory, dry_run=self.dry_run) as imports:
            report = imports.import_files(
                reader,
                path,
                since=self.since,
                dry_run=self.dry_run,
                progress=part_of(progress, 0, STORED, _READING),
            )
        coverage = None if self.dry_run else work_off(memory, progress)
        return Imported.of(report, reader.title, coverage)


class ImportClaudeCode(_Import, frozen=True, kw_only=True):
    """Import Claude Code transcripts. Claude Code deletes them after 30 days. Repeat it to import new ones.
    Text that the program added to messages is stored separately. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Claude Code", watches=True)
    kind: ClassVar[str] = "claude-code"


class ImportCodex(_Import, frozen=True, kw_only=True):
    """Import Codex rollouts. Repeat it to import new ones. Text that the program added to messages is stored
    separately. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Codex", watches=True)
    kind: ClassVar[str] = "codex"


class ImportChatGPT(_Import, frozen=True, kw_only=True):
    """Import a ChatGPT export: the zip file, or conversations.json. If a conversation has several branches,
    only the current one is imported. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import ChatGPT", "chatgpt-export.zip")
    kind: ClassVar[str] = "chatgpt"


class ImportClaude(_Import, frozen=True, kw_only=True):
    """Import a Claude.ai export: the zip file, or conversations.json. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Claude.ai", "claude-export.zip")
    kind: ClassVar[str] = "claude"


class ImportHermes(_Import, frozen=True, kw_only=True):
    """Import the conversations of Hermes Agent from its state.db, which is only read. Sessions that were
    recorded here are not changed. Can be undone."""

    traits: ClassVar[Traits] = _traits("Import Hermes Agent", watches=True)
    kind: ClassVar[str] = "hermes"


class ImportJsonl(_Import, frozen=True, kw_only=True):
    """Import JSON lines in OpenAI's format: each line is an object with messages, or one message. Can be
    undone."""

    traits: ClassVar[Traits] = _traits("Import JSON lines", "conversations.jsonl", watches=True)
    kind: ClassVar[str] = "jsonl"


class ImportAgent(_Import, frozen=True, kw_only=True):
    """Import the conversations of an agent program from its own files, which are only read. Repeat it to
    import new ones. Text that the program added to messages is stored separately. Can be undone."""

    traits: ClassVar[Traits] = _traits(
        "Import an agent program", "gemini", watches=True, positional=("program", "path")
    )
    program: Annotated[Program, Meta(description="Name of the program")]

    def kind_to_read(self) -> str:
        return self.program


class Imported(Result, frozen=True, kw_only=True):
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
    problems: list[Problem]
    more_problems: int
    coverage: float | None = None
    """The share of passages that are indexed for meaning; None if there are none."""

    @classmethod
    def of(cls, report: ImportReport, title: str, coverage: float | None = None) -> Self:
        return fill(cls, asdict(report) | {"title": title, "coverage": coverage})

    def as_text(self) -> str:
        would = "Would import" if self.dry_run else "Imported"
        continued = f" and continued {self.continued:,}" if self.continued else ""
        known = f" ({self.known:,} already known)" if self.known else ""
        unchanged = f", {self.unchanged:,} unchanged" if self.unchanged else ""
        lines = [f"{self.title}, {render_path(self.path)}: {plural(self.files, 'file')} read{unchanged}."]
        if self.messages or self.known:
            lines.append(
                f"{would} {plural(self.sessions, 'new session')}{continued}, "
                f"{plural(self.messages, 'message')}{known}."
            )
        elif not self.problems:
            lines.append("Nothing new.")
        if self.left_out:
            left = ", ".join(f"{what} ({count:,})" for what, count in sorted(self.left_out.items()))
            lines.append(f"Left out: {left}.")
        return join_items([*lines, *self._render_problems(), *describe_backlog(self.coverage)])

    def _render_problems(self) -> list[str]:
        if not self.problems:
            return []
        shown = self.problems[:_SHOWN]
        more = len(self.problems) - len(shown) + self.more_problems
        return [
            f"Could not be read ({len(self.problems) + self.more_problems:,}):",
            *(f"  {one.path}{f':{one.line}' if one.line else ''}: {one.why}" for one in shown),
            *([f"  … and {more:,} more"] if more else []),
        ]

    @property
    def has_news(self) -> bool:
        """False also if all files are unreadable: that was reported when the watch began."""
        return bool(self.sessions or self.messages or (self.files and self.problems))

    @property
    def is_ok(self) -> bool:
        """False if nothing could be read; a broken line among others is not a failure."""
        return not self.problems or bool(self.messages or self.known or self.unchanged)


class ImportFound(LongOperation, frozen=True, kw_only=True):
    """Find other programs' conversations on this machine, in their usual places and in Downloads, and import
    the chosen ones. Without a choice, list what was found."""

    traits: ClassVar[Traits] = Traits(
        title="Import what is found",
        help="Find other programs' conversations on this machine, in their usual places and in Downloads. "
        "In a terminal, offers to import each of them.",
        idempotent=True,
        local=True,
        begins=True,
        asks=True,
        example="--all",
    )

    kinds: Annotated[
        list[Literal["claude-code", "codex", "hermes", "chatgpt", "claude"] | Program] | None,
        Meta(description="Import only these"),
    ] = None
    all: Annotated[bool, Meta(description="Import everything found")] = False
    dry_run: DryRun = False

    def writes(self) -> bool:
        return not self.dry_run and (self.all or bool(self.kinds))

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.all or self.kinds is not None:
            return ()
        return [
            Question(
                one.kind,
                f"Import {one.title}, {plural(one.files, 'file')} with {render_size(one.bytes)} in "
                f"{render_path(one.path)}?",
                default="yes",
                choices=("yes", "no"),
            )
            for one in import_formats.find_installed(memory.settings)
        ]

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        return msgspec.structs.replace(
            self, kinds=[kind for kind, answer in answers.items() if answer == "yes"]
        )

    def work(self, memory: Memory, progress: Progress) -> SourcesFound:
        there = list(import_formats.find_installed(memory.settings))
        chosen = [one for one in there if self.all or one.kind in (self.kinds or ())]
        total = sum(one.bytes for one in chosen) or 1
        brought: list[Imported] = []
        done = 0
        for one in chosen:
            ends = (STORED * done / total, STORED * (done + one.bytes) / total)
            with _imports(memory, dry_run=self.dry_run) as imports:
                is_download = one.kind not in agent_places.KINDS
                report = imports.import_files(
                    *import_formats.choose_source(
                        one.kind, one.path if is_download else None, memory.settings
                    ),
                    dry_run=self.dry_run,
                    progress=part_of(progress, *ends, _READING),
                )
            brought.append(Imported.of(report, one.title))
            done += one.bytes
        coverage = work_off(memory, progress) if brought and not self.dry_run else None
        return SourcesFound(
            there=[
                SourceInfo(
                    kind=one.kind, title=one.title, path=str(one.path), files=one.files, bytes=one.bytes
                )
                for one in there
            ],
            brought=brought,
            coverage=coverage,
        )


class SourceInfo(Info, frozen=True, kw_only=True):
    """Files of a program that can be imported."""

    kind: str
    title: str
    path: str
    files: int
    bytes: int


class SourcesFound(Result, frozen=True, kw_only=True):
    there: list[SourceInfo]
    brought: list[Imported]
    coverage: float | None = None
    """The share of passages that are indexed for meaning; None if there are none."""

    def as_text(self) -> str:
        if self.brought:
            return "\n\n".join([*(one.as_text() for one in self.brought), *describe_backlog(self.coverage)])
        if not self.there:
            return (
                "Found no conversations of agent programs in their usual places, and no ChatGPT or "
                "Claude.ai export in Downloads. To import another file or folder, use `mnemos import PATH`."
            )
        return join_items(
            [
                "Found:",
                *(
                    f"  {one.title}: {plural(one.files, 'file')}, {render_size(one.bytes)}, "
                    f"in {render_path(one.path)}"
                    for one in self.there
                ),
                "Import it with:",
                *(f"  mnemos import {one.kind}{_path_argument(one)}" for one in self.there),
            ]
        )

    @property
    def is_ok(self) -> bool:
        return all(one.is_ok for one in self.brought)


def _path_argument(source: SourceInfo) -> str:
    """Return the path that a command needs; empty if the program's own is found."""
    return f" {shlex.quote(source.path)}" if source.kind in ("chatgpt", "claude") else ""


class ImportHermesMemory(LongOperation, frozen=True, kw_only=True):
    """Import the facts of a hermes-memory database, including archived ones. The database is only read; a
    second import adds only what is new."""

    traits: ClassVar[Traits] = Traits(
        title="Import hermes-memory",
        idempotent=True,
        local=True,
        begins=True,
        asks=True,
        positional=("path",),
        example="~/.hermes/memory.db",
    )

    path: Annotated[
        str | None, Meta(description="Database file; default: $HERMES_MEMORY_DB or ~/.hermes/memory.db")
    ] = None

    def work(self, memory: Memory, progress: Progress) -> FactsImported:
        path = None if self.path is None else path_of(self.path)
        report = memory.import_hermes_memory(path, part_of(progress, 0, 1, "Reading facts"))
        return FactsImported(
            live=report.live, history=report.history, skipped=report.skipped, refused=report.refused
        )


class FactsImported(Result, frozen=True, kw_only=True):
    live: int
    history: int
    skipped: int
    refused: list[str]

    def as_text(self) -> str:
        lines = [
            f"Imported {plural(self.live, 'fact')} and {self.history:,} more as history; "
            f"{self.skipped:,} were already known."
        ]
        if self.refused:
            lines += [f"Could not be read ({len(self.refused):,}):", *render_first(self.refused, _SHOWN)]
        return join_items(lines)
