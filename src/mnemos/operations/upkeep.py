"""Operations on the whole database: statistics, checks, log of changes, undo."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, field

from mnemos.errors import NotFound, Refused
from mnemos.memory.change_words import describe_change, shorten_refs
from mnemos.memory.changes import can_be_undone, describe_loss
from mnemos.operations.arguments import MOST, Since, person_only, up_to
from mnemos.operations.base import Done, Info, LongOperation, Operation, Question, Result, Traits, fill
from mnemos.operations.texts import cut, floor_share, plural, render_size, render_time
from mnemos.progress import Progress, part_of
from mnemos.recall.embedding import describe_coverage
from mnemos.storage.base import Check
from mnemos.text.stored_text import join_items, one_line
from mnemos.workspace.usage import Use

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 80
# Other parts store ids and packed copies, which mean nothing to a reader.
_WITH_TEXTS = frozenset({"notebook.change", "undo notebook.change", "sessions.title"})


class ShowStats(Operation, frozen=True, kw_only=True):
    """Show how much is stored and what uses the disk space, by source and by table."""

    traits: ClassVar[Traits] = Traits(title="Show statistics", read_only=True)

    def run(self, memory: Memory) -> Stats:
        own = {
            "location": memory.storage.location,
            "facts": memory.facts.count(),
            "usage": memory.workspace.usage(),
        }
        if (coverage := memory.embedding.peek()) is not None:
            own["coverage"] = floor_share(coverage.share)
        return fill(Stats, memory.sessions.stats() | own)


class SourceStats(Info, frozen=True, kw_only=True):
    source: str
    sessions: int
    messages: int


class Stats(Result, frozen=True, kw_only=True):
    location: str
    sessions: int
    messages: int
    facts: int
    by_source: list[SourceStats]
    file_bytes: int
    log_bytes: int
    free_bytes: int
    tables: dict[str, int]
    pending: int
    coverage: float | None = None
    """The share of passages that are indexed for meaning; None if the embedder is none."""
    usage: list[Use] = field(default_factory=list)

    def as_text(self) -> str:
        lines = [
            f"{self.location}: {render_size(self.file_bytes)}, {render_size(self.free_bytes)} of it free",
            f"{plural(self.sessions, 'session')}, {plural(self.messages, 'message')}, "
            f"{plural(self.facts, 'fact')}, {self.pending} waiting to be indexed",
        ]
        if self.coverage is not None:
            lines.append(describe_coverage(self.coverage))
        lines += [
            f"  {one.source}: {plural(one.sessions, 'session')}, {plural(one.messages, 'message')}"
            for one in self.by_source
        ]
        # Skip indexes and SQLite's own tables.
        tables = {name: size for name, size in self.tables.items() if not re.search("^sqlite_|_by_", name)}
        largest = sorted(tables.items(), key=lambda item: -item[1])[:5]
        lines.append("largest: " + ", ".join(f"{name} {render_size(count)}" for name, count in largest))
        return join_items([*lines, self.describe_workspace()])

    def describe_workspace(self) -> str:
        """Describe the workspace's use of its room, on one line."""
        sizes = [one for one in self.usage if one.setting.endswith("_bytes")]
        return "workspace: " + ", ".join(
            f"{one.name} {render_size(one.used)} of {render_size(one.limit)}" for one in sizes
        )


class Optimize(LongOperation, frozen=True, kw_only=True):
    """Optimize the index and compute missing vectors, in short steps that don't block other programs."""

    traits: ClassVar[Traits] = Traits(title="Optimize the index", idempotent=True, example="--seconds 10")

    seconds: Annotated[float, Meta(gt=0, description="Stop after about this many seconds")] | None = None
    deep: Annotated[
        bool,
        person_only("Also rebuild the word index on a PostgreSQL server, which erases forgotten words"),
    ] = False

    def work(self, memory: Memory, progress: Progress) -> Done:
        memory.sessions.optimize(self.seconds, deep=self.deep)
        if not memory.embedding.is_wanted:
            return Done(done="Optimized the index.")
        memory.embedding.catch_up(self.seconds, part_of(progress, 0, 1, "Indexing for search by meaning"))
        share = memory.embedding.coverage().share
        return Done(done=f"Optimized the index: {describe_coverage(share)}.")


class Examine(Operation, frozen=True, kw_only=True):
    """Check the database (integrity, index, counters, privacy), the notebook, templates and workspace. Use
    `repair` to fix what can be fixed."""

    traits: ClassVar[Traits] = Traits(title="Check the memory", idempotent=True, example="--repair")

    repair: Annotated[bool, Meta(description="Fix what can be fixed; nothing readable is lost")] = False

    def writes(self) -> bool:
        return self.repair

    def run(self, memory: Memory) -> Examined:
        checks = list(memory.doctor(repair=self.repair))
        # A repair checks again what it fixed, so the last check of a name counts.
        last = {check.name: check.ok for check in checks}
        healthy = all(last.values()) if self.repair else all(check.ok for check in checks)
        return Examined(healthy=healthy, checks=checks, usage=memory.workspace.usage())


# Files and settings of people, which a repair doesn't touch.
_BY_HAND = frozenset(
    {"backend", "dead rows", "file system", "notebook", "old transaction", "privacy", "replica", "role"}
    | {"row-level security", "templates", "workspace"}
)
_REPAIR = "Try: mnemos doctor --repair"


class Examined(Result, frozen=True, kw_only=True):
    healthy: bool
    checks: list[Check]
    usage: list[Use] = field(default_factory=list)

    @property
    def is_ok(self) -> bool:
        return self.healthy

    def as_text(self) -> str:
        return self._render("Run it again with repair.")

    def for_person(self) -> str:
        return self._render(_REPAIR)

    def advise(self, repair: str = _REPAIR) -> str:
        """Say what to do about failed checks, such as ``repair``."""
        can_help = any(one.name not in _BY_HAND for one in self.checks if not one.ok)
        return repair if can_help else "Follow the advice above."

    def _render(self, repair: str) -> str:
        lines = [f"{'ok  ' if one.ok else 'BAD '} {one.name}: {one.detail}" for one in self.checks]
        return join_items([*lines, "Healthy." if self.healthy else f"Not healthy. {self.advise(repair)}"])


class ShowLog(Operation, frozen=True, kw_only=True):
    """Show what was changed, by whom and when, newest first. Appended messages are not logged."""

    traits: ClassVar[Traits] = Traits(
        title="Show changes", read_only=True, positional=("entry",), example="--limit 10"
    )

    entry: Annotated[int, Meta(ge=0, le=MOST, description="Only this entry, with its full text")] | None = (
        None
    )
    limit: Annotated[int, up_to(1000)] = 20
    before: Annotated[int, Meta(ge=0, le=MOST, description="Only entries before this number")] | None = None
    since: Since = None
    full: Annotated[bool, Meta(description="Show full texts before and after the change")] = False

    def run(self, memory: Memory) -> Log:
        if self.entry is None:
            rows = memory.log(self.limit, before=self.before, since=self.since)
        else:
            rows = [row for row in memory.log(1, before=self.entry + 1) if row.id == self.entry]
            if not rows:
                raise NotFound(f"There is no log entry {self.entry}.")
        short = shorten_refs(memory, rows)
        return Log(
            entries=[
                LogEntry(
                    id=row.id,
                    at=row.at,
                    actor=row.actor,
                    operation=row.operation,
                    ref=row.ref,
                    short_ref=short.get(row.ref, row.ref),
                    what=describe_change(memory, row, short),
                    before=self._show(row.before),
                    after=self._show(row.after),
                    undone_by=row.undone_by,
                    can_undo=can_be_undone(row),
                )
                for row in rows
            ],
            is_whole=self.entry is not None,
        )

    def _show(self, text: str | None) -> str | None:
        return text if text is None or self.full or self.entry is not None else cut(text, _SHOWN)


class LogEntry(Info, frozen=True, kw_only=True):
    id: int
    at: float
    actor: str
    operation: str
    ref: str
    before: str | None
    after: str | None
    undone_by: int | None
    short_ref: str = ""
    """The same with the short id of a session."""
    what: str = ""
    """The change in words."""
    can_undo: bool = False


class Log(Result, frozen=True, kw_only=True):
    entries: list[LogEntry]
    is_whole: bool = False
    """True if one entry was asked for, so its texts are shown."""

    def as_text(self) -> str:
        lines = [
            f"{one.id}  {render_time(one.at)}  {one.actor}  {one_line(one.what)}"
            + (f"  (undone by {one.undone_by})" if one.undone_by else "")
            for one in self.entries
        ]
        for one in self.entries if self.is_whole else ():
            lines.append(f"Operation: {one.operation} {one.ref}".rstrip())
            if one.operation in _WITH_TEXTS:
                lines += [f"Before: {one.before or '(nothing)'}", f"After: {one.after or '(nothing)'}"]
        return join_items(lines) or "No changes yet."


class Undo(Operation, frozen=True, kw_only=True):
    """Undo a change: the given one, or the newest. If the newest can't be undone, or undoing it would delete
    imported sessions, nothing is changed; pass the number of the entry the user means."""

    traits: ClassVar[Traits] = Traits(
        title="Undo a change",
        help="Undo a change: the one with this number in `mnemos log`, or the newest. Asks first if that "
        "deletes imported sessions.",
        reverts=True,
        asks=True,
        needs_yes=True,
        positional=("entry",),
        example="7",
    )

    entry: Annotated[int, Meta(ge=0, le=MOST, description="Number of the log entry")] | None = None

    def run(self, memory: Memory) -> Done:
        return Done(done=memory.undo(self.entry))

    def questions(self, memory: Memory) -> Sequence[Question]:
        entry = memory.changes.find(self.entry)
        if not (loss := describe_loss(entry)):
            return ()
        text = f"Undoing entry {entry.id} deletes {loss}.\nContinue?"
        return [Question(str(entry.id), text, default="no", choices=("yes", "no"))]

    def with_answers(self, answers: Mapping[str, str]) -> Undo:
        for number, answer in answers.items():
            if answer == "no":
                raise Refused("Cancelled. Nothing was changed.")
            # Undo the entry that was asked about, even if others were recorded since.
            return Undo(entry=int(number))
        return self
