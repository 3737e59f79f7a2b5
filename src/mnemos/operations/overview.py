"""Operations that show a memory at a glance, and the spaces of a home."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mnemos.language.moments import read_moment
from mnemos.operations.arguments import Since
from mnemos.operations.base import Info, Operation, Result, Traits
from mnemos.operations.texts import floor_share, plural, render_size, render_time
from mnemos.recall.embedding import describe_coverage
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN_DAYS = 7


class GrowthInfo(Info, frozen=True, kw_only=True):
    """A source's sessions that began on a local date, and all their messages."""

    date: str
    source: str
    sessions: int
    messages: int


class PromptPart(Info, frozen=True, kw_only=True):
    """A text that every new session gets automatically."""

    name: str
    """``notes``, ``facts`` or ``tables``."""
    tokens: int
    limit: int
    """Maximum number of tokens; estimated for notes, which are limited in characters."""
    text: str


class ShowOverview(Operation, frozen=True, kw_only=True):
    """Show the memory at a glance: how much it holds, how it grew by day and source, and what is in every
    prompt now, with the tokens of each part."""

    traits: ClassVar[Traits] = Traits(
        title="Overview",
        help="Show the memory at a glance: how much it holds, how it grew by day and source, and what is in "
        "every prompt now. For sizes of tables, use `mnemos stats`.",
        read_only=True,
        example='--since "30 days ago"',
    )

    since: Since = None

    def run(self, memory: Memory) -> Overview:
        since = read_moment("since", self.since, memory.clock())
        grown, backups, entries = memory.storage.read(
            lambda tx: (tx.sessions.growth(since), tx.audit.backups(), tx.entries.count())
        )
        coverage = memory.embedding.peek()
        facts = memory.facts.status()
        return Overview(
            space=memory.settings.space,
            location=memory.storage.location,
            bytes=_count_bytes(memory),
            sessions=memory.sessions.session_count(archived=None),
            messages=memory.sessions.message_count(),
            facts=memory.facts.count(),
            conflicts=len(facts.conflicts),
            notes=sum(memory.notebook.use(book).entries for book in memory.settings.notebook_files),
            entries=entries,
            templates=len(memory.templates.read_all()),
            databases=len(memory.workspace.databases()),
            coverage=None if coverage is None else floor_share(coverage.share),
            last_backup=max((at for _, at in backups), default=None),
            growth=[
                GrowthInfo(date=date, source=source, sessions=sessions, messages=messages)
                for date, source, sessions, messages in grown
            ],
            prompt=_read_prompt(memory, facts.gauge.budget),
        )


def _count_bytes(memory: Memory) -> int:
    if memory.home.is_server:
        return memory.storage.usage().file_bytes
    try:
        return memory.database.stat().st_size
    except OSError:  # The database is in memory, or gone.
        return 0


def _read_prompt(memory: Memory, facts_budget: int) -> list[PromptPart]:
    # Imported here, because only prompts need the tables of the token estimate.
    from mnemos.integrations.providers.prompt import read_parts
    from mnemos.text.tokens import count_tokens

    parts = read_parts(memory, memory.notebook.block(), None)
    uses = [memory.notebook.use(book) for book in memory.settings.notebook_files]
    used, most = sum(one.used for one in uses), sum(one.limit for one in uses)
    tokens = count_tokens(parts.notes)
    # English has about four characters per token.
    limits = {
        "notes": round(tokens * most / used) if used and tokens else most // 4,
        "facts": facts_budget,
        "tables": memory.settings.prompt_schema_tokens,
    }
    return [
        PromptPart(name=name, tokens=count_tokens(text), limit=limits[name], text=text)
        for name, text in (("notes", parts.notes), ("facts", parts.facts), ("tables", parts.tables))
    ]


class Overview(Result, frozen=True, kw_only=True):
    space: str
    location: str
    bytes: int
    """Size of the database, in which all spaces are."""
    sessions: int
    messages: int
    facts: int
    conflicts: int
    """Pairs of facts that contradict each other."""
    notes: int
    entries: int
    templates: int
    databases: int
    coverage: float | None
    """Share of passages that are indexed for meaning; None if the embedder is none."""
    last_backup: float | None
    growth: list[GrowthInfo]
    """By date and source, in this order."""
    prompt: list[PromptPart]

    def as_text(self) -> str:
        counts = [
            plural(self.sessions, "session"),
            plural(self.messages, "message"),
            plural(self.facts, "fact"),
            plural(self.notes, "note"),
            plural(self.entries, "entry", "entries"),
            plural(self.templates, "template"),
            plural(self.databases, "database"),
        ]
        lines = [f"{self.location}, space {self.space}: {render_size(self.bytes)}", ", ".join(counts)]
        used, limit = sum(one.tokens for one in self.prompt), sum(one.limit for one in self.prompt)
        parts = ", ".join(f"{one.name} {one.tokens:,}" for one in self.prompt)
        lines.append(f"In every prompt now: {used:,} of {limit:,} tokens ({parts})")
        if self.coverage is not None:
            lines.append(describe_coverage(self.coverage))
        if self.conflicts:
            lines.append(f"{plural(self.conflicts, 'pair')} of facts contradict each other.")
        lines.append(f"Last backup: {render_time(self.last_backup) or 'none'}")
        days: dict[str, list[str]] = {}
        for one in self.growth:
            days.setdefault(one.date, []).append(f"{one.source} {one.messages:,}")
        newest = sorted(days, reverse=True)[:_SHOWN_DAYS]
        return join_items([*lines, *(f"{day}  messages: {', '.join(days[day])}" for day in newest)])


class ListSpaces(Operation, frozen=True, kw_only=True):
    """List the spaces of this home. A space is a separate memory: another user, agent or team."""

    traits: ClassVar[Traits] = Traits(title="List spaces", read_only=True, local=True)

    def run(self, memory: Memory) -> SpaceList:
        return SpaceList(
            current=memory.settings.space,
            spaces=[
                SpaceInfo(name=name, sessions=sessions, messages=messages)
                for name, sessions, messages in memory.storage.spaces()
            ],
        )


class SpaceInfo(Info, frozen=True, kw_only=True):
    name: str
    sessions: int
    messages: int


class SpaceList(Result, frozen=True, kw_only=True):
    current: str
    spaces: list[SpaceInfo]
    """By name. A space exists once something was stored in it."""

    def as_text(self) -> str:
        lines = [
            f"{one.name}: {plural(one.sessions, 'session')}, {plural(one.messages, 'message')}"
            + (" (this one)" if one.name == self.current else "")
            for one in self.spaces
        ]
        return join_items(lines) or "No spaces: nothing has been stored yet."
