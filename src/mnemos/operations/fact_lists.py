"""Operations on many facts: lists, scopes, conflicts, export, purge, forget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast, get_args

import msgspec
from msgspec import Meta

from mnemos.errors import InvalidInput
from mnemos.facts.fact_reader import State, Tier
from mnemos.language.moments import read_moment, read_span
from mnemos.memory.erasure import scrub
from mnemos.operations.arguments import AsOf, Offset, Since, Until, User, up_to
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.facts import ConflictInfo, FactInfo, Scope, SessionId, describe, render_label
from mnemos.operations.forget import COMPACT, COMPACT_COMMAND, Erased
from mnemos.operations.texts import day, iso_time, plural
from mnemos.text.stored_text import escape_json, join_items, one_line

if TYPE_CHECKING:
    from mnemos.facts.fact import Fact
    from mnemos.memory import Memory

Format = Annotated[Literal["notation", "json", "markdown"], Meta(description="Format of the text")]
Status = Annotated[
    Literal["all", "hot", "active", "cold", "superseded", "retired", "everything"],
    Meta(description="all: hot and cold; active: same as hot; everything: including history"),
]

_MARKUP = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#"})


class ExportFacts(Operation, frozen=True, kw_only=True):
    """Export the facts of one scope, or all facts, in the notation, one per line."""

    traits: ClassVar[Traits] = Traits(
        title="Export facts", read_only=True, example="--format markdown --status hot"
    )

    scope: Scope = None
    status: Status = "all"
    format: Format = "notation"
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> FactsExported:
        facts = [FactInfo.of(fact) for fact in _choose(memory, self.scope, self.status, user_id=self.user_id)]
        return FactsExported(facts=facts, format=self.format)


class FactsExported(Result, frozen=True, kw_only=True):
    facts: list[FactInfo]
    format: str

    def as_text(self) -> str:
        lines = _FORMATS[self.format](self.facts)
        return escape_json("\n".join(lines)) if self.format == "json" else join_items(map(one_line, lines))

    def for_person(self) -> str:
        return "\n".join(_FORMATS[self.format](self.facts))


class ListFacts(Operation, frozen=True, kw_only=True):
    """List facts, hot ones first. Filter by scope or type, use `as_of` to look back, or include facts that
    were replaced."""

    traits: ClassVar[Traits] = Traits(
        title="List facts", read_only=True, example="--scope infra --as-of 2026-03-01"
    )

    scope: Scope = None
    status: Status = "all"
    type: Annotated[list[str] | None, Meta(description="Only these types: C, D, V, ?, ✓")] = None
    as_of: AsOf = None
    since: Since = None
    until: Until = None
    said_in: Annotated[str | None, Meta(description="Only facts stated in this session")] = None
    query: Annotated[str | None, Meta(description="Only facts with all these words or parts of words")] = None
    limit: Annotated[int, up_to(100_000)] = 200
    offset: Offset = 0
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> FactList:
        as_of = read_moment("as_of", self.as_of, memory.clock())
        facts = list(_choose(memory, self.scope, self.status, self.type, as_of, self.user_id))
        if self.said_in is not None:
            session = memory.sessions.resolve_session(self.said_in, user_id=self.user_id)
            facts = [fact for fact in facts if fact.session_id == session]
        start, end = read_span(self.since, self.until, memory.clock())
        facts = [
            fact for fact in facts if (start is None or fact.at >= start) and (end is None or fact.at < end)
        ]
        for word in (self.query or "").casefold().split():
            facts = [fact for fact in facts if word in f"{fact.target} {fact.content}".casefold()]
        facts.sort(key=lambda fact: (fact.state != "live", fact.tier != "hot", fact.scope or "", -fact.at))
        kept = facts[self.offset : self.offset + self.limit]
        return FactList(
            total=len(facts),
            left=max(len(facts) - self.offset - len(kept), 0),
            as_of=None if as_of is None else iso_time(as_of),
            facts=[FactInfo.of(fact) for fact in kept],
        )


class FactList(Result, frozen=True, kw_only=True):
    total: int
    as_of: str | None
    facts: list[FactInfo]
    left: int = 0
    """Facts after these."""

    def as_text(self) -> str:
        lines = [describe(fact) for fact in self.facts]
        if self.left:
            lines.append(f"and {self.left:,} more; raise limit or offset to see them")
        return join_items(lines) or "No facts."


class ListScopes(Operation, frozen=True, kw_only=True):
    """List the units of work that facts belong to, open ones first."""

    traits: ClassVar[Traits] = Traits(title="List scopes", read_only=True)

    limit: Annotated[int, up_to(10_000)] = 100
    offset: Offset = 0

    def run(self, memory: Memory) -> ScopeList:
        return ScopeList(
            scopes=[
                ScopeInfo(
                    label=scope.label,
                    open=scope.is_open,
                    hot=scope.hot,
                    live=scope.live,
                    opened_at=iso_time(scope.opened_at),
                    touched_at=iso_time(scope.touched_at),
                    closed_at=None if scope.closed_at is None else iso_time(scope.closed_at),
                )
                for scope in memory.facts.scopes(limit=self.limit, offset=self.offset)
            ]
        )


class ScopeInfo(Info, frozen=True, kw_only=True):
    """A unit of work, with the numbers of its live and its hot facts."""

    label: str
    open: bool
    hot: int
    live: int
    opened_at: str
    touched_at: str
    closed_at: str | None


class ScopeList(Result, frozen=True, kw_only=True):
    scopes: list[ScopeInfo]

    def as_text(self) -> str:
        lines = [
            f"{'open' if scope.open else 'closed ' + day(scope.closed_at or ''):17} "
            f"{render_label(scope.label)}: {plural(scope.live, 'fact')}, {scope.hot} hot, "
            f"last used {day(scope.touched_at)}"
            for scope in self.scopes
        ]
        return join_items(lines) or "No scopes."


class ListConflicts(Operation, frozen=True, kw_only=True):
    """List live facts that contradict each other, or that a newer one may have replaced. To resolve a
    conflict, state or forget one of the two; stating the older one again confirms it."""

    traits: ClassVar[Traits] = Traits(title="List conflicts", read_only=True)

    limit: Annotated[int, up_to(1000)] = 100
    user_id: User = None

    def run(self, memory: Memory) -> ConflictList:
        found = memory.facts.conflicts(self.limit, user_id=self.user_id)
        return ConflictList(conflicts=[ConflictInfo.of(one) for one in found])


class ConflictList(Result, frozen=True, kw_only=True):
    conflicts: list[ConflictInfo]

    def as_text(self) -> str:
        lines = [
            line
            for one in self.conflicts
            for line in (
                f"{one.newer.id} {one.reason} {one.older.id}",
                f"  {describe(one.older)}",
                f"  {describe(one.newer)}",
            )
        ]
        return join_items(lines) or "No conflicts."


class PurgeFacts(Operation, frozen=True, kw_only=True):
    """Permanently delete superseded and retired facts, of one scope or older than a number of days. Live
    facts are never deleted. Use `dry_run` to count them first."""

    traits: ClassVar[Traits] = Traits(
        title="Purge old facts",
        destructive=True,
        idempotent=True,
        example="--older-than-days 90 --yes",
    )

    scope: Scope = None
    older_than_days: (
        Annotated[float, Meta(ge=0, lt=1e6, description="Minimum days since they ended")] | None
    ) = None
    dry_run: Annotated[bool, Meta(description="Only count the facts; delete nothing")] = False
    session_id: SessionId = None

    def writes(self) -> bool:
        return not self.dry_run

    def run(self, memory: Memory) -> Purged:
        count = memory.facts.purge(
            scope=self.scope, older_than_days=self.older_than_days, dry_run=self.dry_run
        )
        return Purged(purged=0 if self.dry_run else count, would_purge=count, dry_run=self.dry_run)

    def at_stake(self, memory: Memory) -> str:
        if self.dry_run:
            return ""
        count = memory.facts.purge(scope=self.scope, older_than_days=self.older_than_days, dry_run=True)
        return f"the history of {plural(count, 'fact')} permanently" if count else ""


class Purged(Result, frozen=True, kw_only=True):
    purged: int
    would_purge: int
    dry_run: bool

    def as_text(self) -> str:
        if self.dry_run:
            return f"Would delete {plural(self.would_purge, 'ended fact')}."
        return f"Deleted {plural(self.purged, 'ended fact')}."


class ForgetFacts(Operation, frozen=True, kw_only=True):
    """Erase one fact by its id, or every statement about a target, from history, index and file. Cannot be
    undone. Use it for something that should never have been stored, such as a secret."""

    traits: ClassVar[Traits] = Traits(
        title="Forget facts", destructive=True, positional=("id",), example="f2 --yes"
    )

    id: Annotated[str | None, Meta(description="Id of a fact, e.g. f12")] = None
    target: Annotated[str | None, Meta(description="Or a target, to erase its whole history")] = None
    scope: Scope = None
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> FactsForgotten:
        if (self.id is None) == (self.target is None):
            raise InvalidInput("Pass either the id of a fact or a target.")
        target, scope, user = self.target, self.scope, self.user_id
        told = (
            memory.facts.history(target, scope=scope, user_id=user)
            if target is not None
            else [memory.facts.get(self.id or "")]
        )
        count = memory.facts.forget(self.id, target=target, scope=scope, user_id=user)
        return fill(FactsForgotten, {"forgotten": count, **scrub(memory, [fact.content for fact in told])})

    def at_stake(self, memory: Memory) -> str:
        if self.id is not None:
            return f"{memory.facts.get(self.id)} permanently"
        if self.target is None:
            return ""
        count = len(memory.facts.history(self.target, scope=self.scope))
        return f"{plural(count, 'statement')} on {self.target} permanently"


class FactsForgotten(Erased, frozen=True, kw_only=True):
    forgotten: int

    def as_text(self) -> str:
        return self._render(COMPACT)

    def for_person(self) -> str:
        return self._render(COMPACT_COMMAND)

    def _render(self, compact: str) -> str:
        return "\n".join([f"Erased {plural(self.forgotten, 'fact')}.", *self.render_traces(compact)])


def _choose(
    memory: Memory,
    scope: str | None,
    status: str,
    types: list[str] | None = None,
    as_of: float | None = None,
    user_id: str | None = None,
) -> Iterator[Fact]:
    states: dict[str, tuple[State, ...]] = {
        "everything": get_args(State),
        "superseded": ("superseded",),
        "retired": ("retired",),
    }
    tier = cast(Tier, status) if status in get_args(Tier) else "all"
    return memory.facts.iterate(
        scope=scope,
        tier=tier,
        states=states.get(status, ("live",)),
        types=types,
        as_of=as_of,
        user_id=user_id,
    )


def _render_notation(facts: list[FactInfo]) -> list[str]:
    from mnemos.language.notation import format_line

    return [format_line(fact.type, fact.target, fact.content) for fact in facts]


def _render_json(facts: list[FactInfo]) -> list[str]:
    return [msgspec.json.format(msgspec.json.encode(facts), indent=2).decode()]


def _render_markdown(facts: list[FactInfo]) -> list[str]:
    """Render a heading for each scope and a list item for each fact."""
    ordered = sorted(facts, key=lambda fact: (fact.scope or "", fact.type, fact.target))
    lines = ["# Facts"]
    for scope, group in groupby(ordered, key=lambda fact: fact.scope):
        lines += ["", f"## {_escape(scope) if scope else 'No scope'}", ""]
        lines += [_render_item(fact) for fact in group]
    return lines


def _render_item(fact: FactInfo) -> str:
    state = "" if fact.state == "live" else f", {fact.state}"
    return (
        f"- **{fact.type} {_escape(fact.target)}**: {_escape(fact.content)} "
        f"({fact.id}, {day(fact.at)}{state})"
    )


def _escape(text: str) -> str:
    return render_label(text).translate(_MARKUP)


_FORMATS: dict[str, Callable[[list[FactInfo]], list[str]]] = {
    "notation": _render_notation,
    "json": _render_json,
    "markdown": _render_markdown,
}
