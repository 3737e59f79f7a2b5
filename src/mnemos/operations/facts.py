"""Operations on facts: the tools of MEMORY_SPEC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.errors import MnemosError
from mnemos.language.moments import read_moment
from mnemos.operations.arguments import MOST, Allow, AsOf, User, moment, up_to
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.texts import day, iso_time
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.facts.fact import Conflict, Fact, Written
    from mnemos.memory import Memory

Scope = Annotated[str | None, Meta(description="Unit of work, e.g. auth-refactor")]
SessionId = Annotated[str | None, Meta(description="Session in progress; default: the current one")]

_SHOWN_CONFLICTS = 3
_TIMES = ("at", "ended_at", "valid_from", "valid_to", "used_at")
_OUTCOMES = {
    "stored": "stored",
    "unchanged": "unchanged",
    "superseded": "stored, supersedes",
    "retired": "retires",
}


class FactInfo(Info, frozen=True, kw_only=True):
    """A fact with all its properties; times are ISO 8601 in UTC."""

    id: str
    type: str
    target: str
    content: str
    scope: str | None
    tier: str
    state: str
    at: str
    ended_at: str | None
    superseded_by: str | None
    valid_from: str
    valid_to: str | None
    used_at: str
    uses: int
    session_id: str | None
    message_id: int | None
    actor: str
    stated_by: str | None = None
    """Its source: user, agent, import or tool."""
    user_id: str | None = None
    """The user it belongs to; None if all users share it."""

    @classmethod
    def of(cls, fact: Fact) -> FactInfo:
        times = {name: iso_time(value) for name in _TIMES if (value := getattr(fact, name)) is not None}
        return cls(**{name: getattr(fact, name) for name in cls.__struct_fields__} | times)


class ConflictInfo(Info, frozen=True, kw_only=True):
    """Two live facts in conflict: the newer ``contradicts`` or ``may replace`` the older."""

    target: str
    reason: str
    older: FactInfo
    newer: FactInfo

    @classmethod
    def of(cls, conflict: Conflict) -> ConflictInfo:
        return cls(
            target=conflict.target,
            reason=conflict.reason,
            older=FactInfo.of(conflict.older),
            newer=FactInfo.of(conflict.newer),
        )


class StatementInfo(Info, frozen=True, kw_only=True):
    """The result of one statement: ``outcome`` is stored, unchanged, superseded or retired."""

    id: str
    type: str
    target: str
    outcome: str
    scope: str | None
    replaced: list[str]
    may_replace: list[str]


def describe(fact: FactInfo, *, dated: bool = True) -> str:
    """Render a fact in the notation on one line, with its id, scope, tier and day."""
    from mnemos.facts.hot_set import escape
    from mnemos.language.notation import format_line

    text = format_line(fact.type, escape(fact.target), escape(fact.content))
    kept = fact.tier if fact.state == "live" else fact.state
    if fact.superseded_by:
        kept = f"{kept} by {fact.superseded_by}"
    scope = f"{render_label(fact.scope)}, " if fact.scope else ""
    when = f", {day(fact.at)}" if dated else ""
    return f"{text}  ({fact.id}, {scope}{kept}{when})"


def _quote(fact: FactInfo) -> str:
    from mnemos.facts.hot_set import escape

    return f'"{escape(fact.content)}"'


def _render_conflict(conflict: ConflictInfo, *, for_person: bool) -> str:
    newer, older = conflict.newer, conflict.older
    if conflict.reason != "may replace":
        return f"conflict: {describe(newer)} contradicts {describe(older)}"
    how = f"`mnemos forget {older.id}`" if for_person else f'repeat it with replaces="{older.id}"'
    kept = f"{_quote(older)} ({day(older.at)})"
    return f"{newer.id} may replace {older.id}: {kept}. Both are kept; if it does, {how}."


def render_label(label: str) -> str:
    """Render the label of a scope with invisible characters escaped."""
    from mnemos.facts.hot_set import escape

    return escape(label)


class WriteFacts(Operation, frozen=True, kw_only=True):
    """Store facts in MEMORY_SPEC notation, one per line: TYPE[target]: content. Types: C constraint, D
    decision, V value, ? open question, ✓ done (closes the scope), ~ obsolete. For example C[db.id]: UUID
    mndtry, nvr autoincrement. A new statement about a target replaces the old one, which stays in its
    history. Use it whenever something is decided or found out that must survive compression."""

    traits: ClassVar[Traits] = Traits(
        title="Write facts",
        help="Store facts in MEMORY_SPEC notation, one per line: TYPE[target]: content. Types: C constraint, "
        "D decision, V value, ? open question, ✓ done (closes the scope), ~ obsolete. A new statement on a "
        "target replaces the old one, which stays in its history. `mnemos remember` takes plain words.",
        begins=True,
        positional=("content",),
        stdin="content",
        example='"V[srv.prod]: api.example.com:3005" --scope infra',
    )

    content: Annotated[str, Meta(description="Facts in the notation, one per line")]
    scope: Scope = None
    valid_from: Annotated[str | float | None, moment("When it became true; default: now")] = None
    session_id: SessionId = None
    allow: Allow = False
    user_id: User = None

    def run(self, memory: Memory) -> FactsWritten:
        written = memory.facts.write(
            self.content,
            scope=self.scope,
            session_id=self.session_id,
            valid_from=self.valid_from,
            allow=self.allow,
            user_id=self.user_id,
        )
        return FactsWritten.of(written)


class FactsWritten(Result, frozen=True, kw_only=True):
    facts: list[StatementInfo]
    gauge: int
    """The share of the hot set in use, in percent."""
    gauge_tokens: int
    """The same in tokens, of ``gauge_budget``."""
    gauge_budget: int
    closed: list[str]
    reopened: list[str]
    conflicts: list[ConflictInfo]
    left_hot: list[FactInfo]
    replaced: list[FactInfo]
    """The facts that are no longer true."""

    @classmethod
    def of(cls, written: Written) -> FactsWritten:
        return cls(
            facts=[fill(StatementInfo, one) for one in written.facts],
            gauge=written.gauge.percent,
            gauge_tokens=written.gauge.used,
            gauge_budget=written.gauge.budget,
            closed=list(written.closed),
            reopened=list(written.reopened),
            conflicts=[ConflictInfo.of(one) for one in written.conflicts],
            left_hot=[FactInfo.of(one) for one in written.left_hot],
            replaced=[FactInfo.of(fact) for fact in written.replaced],
        )

    def as_text(self) -> str:
        return join_items([*self._render_facts(), *self.remarks(), f"gauge {self.gauge}%"])

    def for_person(self) -> str:
        return join_items([*self._render_facts(), *self.remarks(for_person=True), f"gauge {self.gauge}%"])

    def _render_facts(self) -> list[str]:
        return [
            f"{one.id} {one.type}[{one.target}] {_OUTCOMES[one.outcome]}"
            + (f" {', '.join(one.replaced)}" if one.replaced else "")
            + (f" in {render_label(one.scope)}" if one.scope else "")
            for one in self.facts
        ]

    def remarks(self, *, for_person: bool = False) -> list[str]:
        """Render what was replaced, conflicts, scopes opened or closed, and cooled facts."""
        undo = "`mnemos undo` restores it." if for_person else "If that is wrong, remember it again."
        replaced = [f"Replaced {one.id}: {_quote(one)}. {undo}" for one in self.replaced]
        conflicts = [
            _render_conflict(one, for_person=for_person) for one in self.conflicts[:_SHOWN_CONFLICTS]
        ]
        if len(self.conflicts) > _SHOWN_CONFLICTS:
            conflicts.append(f"{len(self.conflicts) - _SHOWN_CONFLICTS} more conflicts: see facts conflicts")
        return [
            *replaced,
            *conflicts,
            *_render_moves(self.closed, self.reopened, [one.id for one in self.left_hot]),
        ]


class SearchFacts(Operation, frozen=True, kw_only=True):
    """Find live facts by a question or a few words, best first. Call it before answering anything that may
    have been decided before."""

    traits: ClassVar[Traits] = Traits(
        title="Search facts",
        help="Find live facts by a question or a few words, best first.",
        read_only=True,
        positional=("query",),
        words=True,
        example='"which port does production use?"',
    )

    query: Annotated[str, Meta(description="A question or a few words")]
    scope: Scope = None
    limit: Annotated[int, up_to(20)] = 5
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> FactsFound:
        found = memory.facts.search(
            self.query,
            scope=self.scope,
            limit=self.limit,
            session_id=self.session_id,
            user_id=self.user_id,
        )
        return FactsFound(facts=[FactInfo.of(fact) for fact in found])


class FactsFound(Result, frozen=True, kw_only=True):
    facts: list[FactInfo]

    def as_text(self) -> str:
        return join_items(describe(fact) for fact in self.facts) or "No facts found."


class Tick(Operation, frozen=True, kw_only=True):
    """Begin a turn. Call it on every user message with its number and text. Closes scopes that the message
    says are done, and scopes that have not been used for a while."""

    traits: ClassVar[Traits] = Traits(
        title="Begin a turn",
        help="Begin a turn, as an agent does on every user message. Closes scopes that the message says are "
        "done, and scopes that have not been used for a while.",
        begins=True,
        positional=("turn",),
        example='7 --message "merged and deployed"',
    )

    turn: Annotated[int, Meta(ge=0, le=MOST, description="Number of the user message, counted from 1")]
    message: Annotated[str, Meta(description="Text of the user message")] = ""
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> TurnBegun:
        memory.notebook.begin_turn()
        ticked = memory.facts.tick(self.turn, self.message, session_id=self.session_id, user_id=self.user_id)
        return TurnBegun(
            turn=ticked.turn,
            gauge=ticked.gauge.percent,
            closed=list(ticked.closed),
            reopened=list(ticked.reopened),
            left_hot=[fact.id for fact in ticked.left_hot],
        )


class TurnBegun(Result, frozen=True, kw_only=True):
    turn: int
    gauge: int
    closed: list[str]
    reopened: list[str]
    left_hot: list[str]

    def as_text(self) -> str:
        moves = _render_moves(self.closed, self.reopened, self.left_hot)
        return join_items([f"turn {self.turn}, gauge {self.gauge}%", *moves])


class ShowStatus(Operation, frozen=True, kw_only=True):
    """Show the facts that belong in every prompt, within their token budget, with conflicts. Read it when a
    session begins and after compression."""

    traits: ClassVar[Traits] = Traits(
        title="Memory status",
        help="Show the facts that go into every prompt, within their token budget, with conflicts.",
        read_only=True,
    )

    rules: Annotated[bool, Meta(description="Include the rules of use")] = False
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> MemoryStatus:
        from mnemos.facts.hot_set import LEGEND, RULES

        notebook = _notebook_use(memory)
        notes = [f"{name} {share}%" for name, share in notebook.items() if share]
        status = memory.facts.status(session_id=self.session_id, notes=notes, user_id=self.user_id)
        return MemoryStatus(
            block=status.text,
            tokens=status.tokens,
            gauge=status.gauge.percent,
            conflicts=[ConflictInfo.of(one) for one in status.conflicts],
            scopes=list(status.scopes),
            legend=LEGEND,
            rules=RULES if self.rules else "",
            notebook=notebook,
        )


class MemoryStatus(Result, frozen=True, kw_only=True):
    block: str
    tokens: int
    gauge: int
    conflicts: list[ConflictInfo]
    scopes: list[str]
    legend: str
    rules: str
    """When to write, search and tick, if asked for: for hosts that show no instructions of a server."""
    notebook: dict[str, int]
    """The share of each notebook file in use, in percent."""

    def as_text(self) -> str:
        if not self.rules:
            return self.block
        legend = [] if self.legend in self.block else [self.legend]
        return "\n".join([self.rules, *legend, self.block])


class Reflect(Operation, frozen=True, kw_only=True):
    """Show everything known about a topic, by type, including what was replaced or withdrawn. Use it before
    deciding something with a long history, or when asked what was decided and why it changed."""

    traits: ClassVar[Traits] = Traits(
        title="Reflect on a topic",
        help="Show everything known about a topic, by type, including what was replaced or withdrawn.",
        read_only=True,
        positional=("topic",),
        words=True,
        example="authentication",
    )

    topic: Annotated[str, Meta(description="A question or a few words")]
    scope: Scope = None
    limit: Annotated[int, up_to(20)] = 20
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> Reflection:
        found = memory.facts.reflect(
            self.topic,
            scope=self.scope,
            limit=self.limit,
            session_id=self.session_id,
            user_id=self.user_id,
        )
        return Reflection(topic=self.topic, facts=[FactInfo.of(fact) for fact in found])


class Reflection(Result, frozen=True, kw_only=True):
    topic: str
    facts: list[FactInfo]

    def as_text(self) -> str:
        from mnemos.language.notation import MEANING

        lines: list[str] = []
        for mark, meaning in MEANING.items():
            live = [fact for fact in self.facts if fact.state == "live" and fact.type == mark]
            lines += [meaning, *(f"  {describe(fact)}" for fact in live)] if live else []
        ended = [fact for fact in self.facts if fact.state != "live"]
        lines += ["no longer true", *(f"  {describe(fact)}" for fact in ended)] if ended else []
        return join_items(lines) or f"Nothing is known about {self.topic!r}."


class ShowHistory(Operation, frozen=True, kw_only=True):
    """Show the history of a target: every statement about it, when it was believed and what replaced it. With
    `as_of`, show what was believed at that time."""

    traits: ClassVar[Traits] = Traits(
        title="History of a target",
        read_only=True,
        positional=("target",),
        example="srv.prod --as-of 2026-03-01",
    )

    target: Annotated[str, Meta(description="Target, e.g. srv.prod")]
    as_of: AsOf = None
    scope: Scope = None
    limit: Annotated[int, up_to(1000, "Maximum number of statements, newest first")] = 50
    session_id: SessionId = None
    user_id: User = None

    def run(self, memory: Memory) -> History:
        as_of = read_moment("as_of", self.as_of, memory.clock())
        found = memory.facts.history(
            self.target, scope=self.scope, as_of=as_of, limit=self.limit, user_id=self.user_id
        )
        return History(
            target=self.target,
            as_of=None if as_of is None else iso_time(as_of),
            facts=[FactInfo.of(fact) for fact in found],
        )


class History(Result, frozen=True, kw_only=True):
    target: str
    as_of: str | None
    facts: list[FactInfo]

    def as_text(self) -> str:
        if not self.facts:
            return f"Nothing was known about {self.target!r} at that time."
        return join_items(
            f"{day(fact.at)} to {day(fact.ended_at or 'now'):10}  {describe(fact, dated=False)}"
            for fact in self.facts
        )


def _notebook_use(memory: Memory) -> dict[str, int]:
    shares: dict[str, int] = {}
    for name in memory.settings.notebook_files:
        try:
            shares[name] = memory.notebook.use(name).percent
        except MnemosError:
            # Ignored here, because notebook_show reports a file that cannot be read.
            continue
    return shares


def _render_moves(closed: list[str], reopened: list[str], left_hot: list[str]) -> list[str]:
    lines = [f"closed: {_render_labels(closed)} (name the scope again to reopen it)"] if closed else []
    lines += [f"reopened: {_render_labels(reopened)}"] if reopened else []
    lines += [f"no longer hot, still found by search: {', '.join(left_hot)}"] if left_hot else []
    return lines


def _render_labels(labels: list[str]) -> str:
    return ", ".join(map(render_label, labels))
