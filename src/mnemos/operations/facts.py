"""Operations on facts: the tools of MEMORY_SPEC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import InvalidInput, MnemosError
from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.border import MOST
from mnemos.operations.factwords import conflict_dict, day, described, fact_dict, iso, shown_label
from mnemos.operations.moments import When, seconds
from mnemos.operations.wording import counted, traces

if TYPE_CHECKING:
    from mnemos.facts.fact import Written
    from mnemos.memory import Memory

Scope = Annotated[str | None, Meta(description="A unit of work, e.g. auth-refactor")]
SessionId = Annotated[str | None, Meta(description="Whose turns count; default: this connection or command")]
_CONFLICTS_TOLD = 3
_DID = {
    "stored": "stored",
    "unchanged": "unchanged",
    "superseded": "stored, supersedes",
    "retired": "retires",
}

Limit = Annotated[int, Meta(ge=1, le=20, description="At most so many")]


class WriteFacts(Operation, frozen=True, kw_only=True):
    """Store facts in MEMORY_SPEC notation, one a line: TYPE[target]: content. Types: C constraint,
    D decision, V value, ? open question, ✓ done (closes the scope), ~ obsolete. For example
    C[db.id]: UUID mndtry, nvr autoincrement. A new statement on a target replaces the old one, which stays
    in its history. Use it whenever something is decided, fixed or found out that must survive compression."""

    traits: ClassVar[Traits] = Traits(
        title="Write facts",
        begins=True,
        positional=("content",),
        stdin="content",
        example=("V[srv.prod]: api.example.com:3005", "--scope", "infra"),
    )

    content: Annotated[
        str, Meta(description="Facts in the notation, one a line; - or nothing: standard input")
    ]
    scope: Scope = None
    valid_from: When = None
    session_id: SessionId = None

    def run(self, memory: Memory) -> FactsWritten:
        written = memory.facts.write(
            self.content,
            scope=self.scope,
            session_id=self.session_id,
            valid_from=seconds("valid_from", self.valid_from),
        )
        return FactsWritten.of(written)


class FactsWritten(Result, frozen=True, kw_only=True):
    facts: list[dict[str, Any]]
    gauge: int
    closed: list[str]
    reopened: list[str]
    conflicts: list[dict[str, Any]]
    left_hot: list[dict[str, Any]]

    @classmethod
    def of(cls, written: Written) -> FactsWritten:
        return cls(
            facts=[
                {
                    "id": one.id,
                    "type": str(one.type),
                    "target": one.target,
                    "outcome": str(one.outcome),
                    "scope": one.scope,
                    "replaced": list(one.replaced),
                }
                for one in written.facts
            ],
            gauge=written.gauge.percent,
            closed=list(written.closed),
            reopened=list(written.reopened),
            conflicts=[conflict_dict(one) for one in written.conflicts],
            left_hot=[fact_dict(one) for one in written.left_hot],
        )

    def as_text(self) -> str:
        lines = [
            f"{one['id']} {one['type']}[{one['target']}] {_DID[one['outcome']]}"
            + (f" {', '.join(one['replaced'])}" if one["replaced"] else "")
            + (f" in {shown_label(one['scope'])}" if one["scope"] else "")
            for one in self.facts
        ]
        return "\n".join([*lines, *self.remarks(), f"gauge {self.gauge}%"])

    def remarks(self) -> list[str]:
        """What else came of it: conflicts, scopes that closed or opened, facts that left the hot set."""
        against = [
            f"in conflict: {described(one['newer'])} against {described(one['older'])}"
            for one in self.conflicts[:_CONFLICTS_TOLD]
        ]
        if len(self.conflicts) > _CONFLICTS_TOLD:
            against.append(f"in conflict with {len(self.conflicts) - _CONFLICTS_TOLD} further facts")
        return [*against, *_moved(self.closed, self.reopened, [one["id"] for one in self.left_hot])]


class SearchFacts(Operation, frozen=True, kw_only=True):
    """Find facts by a question or a few words, hot and cold, live ones only, best first. Call it before
    answering on anything that may have been decided before."""

    traits: ClassVar[Traits] = Traits(
        title="Search facts",
        read_only=True,
        positional=("query",),
        example=("which port does production use?",),
    )

    query: Annotated[str, Meta(description="A question or a few words")]
    scope: Scope = None
    limit: Limit = 5
    session_id: SessionId = None

    def run(self, memory: Memory) -> FactsFound:
        found = memory.facts.search(
            self.query, scope=self.scope, limit=self.limit, session_id=self.session_id
        )
        return FactsFound(facts=[fact_dict(fact) for fact in found])


class FactsFound(Result, frozen=True, kw_only=True):
    facts: list[dict[str, Any]]

    def as_text(self) -> str:
        return "\n".join(described(fact) for fact in self.facts) or "No facts found."


class Tick(Operation, frozen=True, kw_only=True):
    """Begin a turn: pass its number and the user's message on every user message. Closes scopes that the
    message says are done, and those left alone."""

    traits: ClassVar[Traits] = Traits(
        title="Begin a turn",
        begins=True,
        positional=("turn",),
        example=("7", "--message", "merged and deployed"),
    )

    turn: Annotated[int, Meta(ge=0, le=MOST, description="The number of the user's message, counted from 1")]
    message: Annotated[str, Meta(description="What the user said")] = ""
    session_id: SessionId = None

    def run(self, memory: Memory) -> TurnBegun:
        memory.notebook.begin_turn()
        ticked = memory.facts.tick(self.turn, self.message, session_id=self.session_id)
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
        moved = _moved(self.closed, self.reopened, self.left_hot)
        return "\n".join([f"turn {self.turn}, gauge {self.gauge}%", *moved])


class ShowStatus(Operation, frozen=True, kw_only=True):
    """The facts that belong in every prompt, within their token budget, with what is in conflict. Read it
    when a session begins and after its context was compressed."""

    traits: ClassVar[Traits] = Traits(title="Memory status", read_only=True)

    session_id: SessionId = None

    def run(self, memory: Memory) -> MemoryStatus:
        from mnemos.facts.hot_set import LEGEND

        notebook = _notebook(memory)
        notes = [f"{name} {share}%" for name, share in notebook.items() if share]
        status = memory.facts.status(session_id=self.session_id, notes=notes)
        return MemoryStatus(
            block=status.text,
            tokens=status.tokens,
            gauge=status.gauge.percent,
            conflicts=[conflict_dict(one) for one in status.conflicts],
            scopes=list(status.scopes),
            legend=LEGEND,
            notebook=notebook,
        )


class MemoryStatus(Result, frozen=True, kw_only=True):
    block: str
    tokens: int
    gauge: int
    conflicts: list[dict[str, Any]]
    scopes: list[str]
    legend: str
    notebook: dict[str, int]
    """How full each file of the notebook is, in percent."""

    def as_text(self) -> str:
        return self.block


class Reflect(Operation, frozen=True, kw_only=True):
    """Show everything known on a topic, by type. Also what was replaced or withdrawn: before a decision on
    something with a long history, or when asked what was decided and why it changed."""

    traits: ClassVar[Traits] = Traits(
        title="Reflect on a topic", read_only=True, positional=("topic",), example=("authentication",)
    )

    topic: Annotated[str, Meta(description="A question or a few words")]
    scope: Scope = None
    limit: Limit = 20
    session_id: SessionId = None

    def run(self, memory: Memory) -> Reflection:
        found = memory.facts.reflect(
            self.topic, scope=self.scope, limit=self.limit, session_id=self.session_id
        )
        return Reflection(topic=self.topic, facts=[fact_dict(fact) for fact in found])


class Reflection(Result, frozen=True, kw_only=True):
    topic: str
    facts: list[dict[str, Any]]

    def as_text(self) -> str:
        from mnemos.language.notation import MEANING

        lines: list[str] = []
        for mark, meaning in MEANING.items():
            live = [fact for fact in self.facts if fact["state"] == "live" and fact["type"] == mark]
            lines += [meaning, *(f"  {described(fact)}" for fact in live)] if live else []
        ended = [fact for fact in self.facts if fact["state"] != "live"]
        lines += ["no longer so", *(f"  {described(fact)}" for fact in ended)] if ended else []
        return "\n".join(lines) or f"Nothing is known on {self.topic!r}."


class ShowHistory(Operation, frozen=True, kw_only=True):
    """The history of a target: every statement on it, when it was believed and what replaced it. With as_of,
    what was believed at that time."""

    traits: ClassVar[Traits] = Traits(
        title="History of a target",
        read_only=True,
        positional=("target",),
        example=("srv.prod", "--as-of", "2026-03-01"),
    )

    target: Annotated[str, Meta(description="A target, e.g. srv.prod")]
    as_of: When = None
    scope: Scope = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="The newest so many")] = 50
    session_id: SessionId = None

    def run(self, memory: Memory) -> History:
        as_of = seconds("as_of", self.as_of)
        found = memory.facts.history(self.target, scope=self.scope, as_of=as_of, limit=self.limit)
        return History(
            target=self.target,
            as_of=None if as_of is None else iso(as_of),
            facts=[fact_dict(fact) for fact in found],
        )


class History(Result, frozen=True, kw_only=True):
    target: str
    as_of: str | None
    facts: list[dict[str, Any]]

    def as_text(self) -> str:
        if not self.facts:
            return f"Nothing was believed on {self.target!r} at that time."
        return "\n".join(
            f"{day(fact['at'])} to {day(fact['ended_at'] or 'now'):10}  {described(fact, dated=False)}"
            for fact in self.facts
        )


class PurgeFacts(Operation, frozen=True, kw_only=True):
    """Delete superseded and retired facts for good, of a scope or older than some days; live facts never. Say
    dry_run to see how many it would be."""

    traits: ClassVar[Traits] = Traits(
        title="Purge old facts",
        destructive=True,
        idempotent=True,
        example=("--older-than-days", "90", "--yes"),
    )

    scope: Scope = None
    older_than_days: Annotated[float, Meta(ge=0, lt=1e6, description="Ended longer ago")] | None = None
    dry_run: Annotated[bool, Meta(description="Only say how many")] = False
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
        return f"the history of {counted(count, 'fact')}" if count else ""


class Purged(Result, frozen=True, kw_only=True):
    purged: int
    would_purge: int
    dry_run: bool

    def as_text(self) -> str:
        if self.dry_run:
            return f"Would delete {counted(self.would_purge, 'ended fact')}."
        return f"Deleted {counted(self.purged, 'ended fact')}."


class ForgetFacts(Operation, frozen=True, kw_only=True):
    """Erase one fact by its id, or everything ever said on a target, also from history, index and file. It
    cannot be undone: for what must never have been stored, such as a secret."""

    traits: ClassVar[Traits] = Traits(
        title="Forget facts", destructive=True, positional=("id",), example=("f12", "--yes")
    )

    id: Annotated[str | None, Meta(description="The id of a fact, e.g. f12")] = None
    target: Annotated[str | None, Meta(description="Instead: a target, with its whole history")] = None
    scope: Scope = None
    session_id: SessionId = None

    def run(self, memory: Memory) -> FactsForgotten:
        if (self.id is None) == (self.target is None):
            raise InvalidInput("name a fact by its id or a target, one of the two")
        count = memory.facts.forget(self.id, target=self.target, scope=self.scope)
        reached = memory.changes.scrub(self.id or f"{self.target}")
        return FactsForgotten(forgotten=count, pending=reached["pending"], copies=reached["copies"])

    def at_stake(self, memory: Memory) -> str:
        if self.id is not None:
            return f"{memory.facts.get(self.id)}, for good: undo will not bring it back"
        if self.target is None:
            return ""
        count = len(memory.facts.history(self.target, scope=self.scope))
        return f"{counted(count, 'statement')} on {self.target}, for good: undo will not bring them back"


class FactsForgotten(Result, frozen=True, kw_only=True):
    forgotten: int
    pending: bool
    copies: list[str]

    def as_text(self) -> str:
        return "\n".join(
            [f"{counted(self.forgotten, 'fact')} forgotten.", *traces(self.copies, pending=self.pending)]
        )


def _notebook(memory: Memory) -> dict[str, int]:
    shares: dict[str, int] = {}
    for name in memory.settings.notebook_files:
        try:
            shares[name] = memory.notebook.use(name).percent
        except MnemosError:
            # A file that cannot be read is told of where notes are asked for.
            continue
    return shares


def _moved(closed: list[str], reopened: list[str], left_hot: list[str]) -> list[str]:
    lines = [f"closed: {_labels(closed)} (name the scope again to reopen it)"] if closed else []
    lines += [f"reopened: {_labels(reopened)}"] if reopened else []
    lines += [f"left hot, still found by search: {', '.join(left_hot)}"] if left_hot else []
    return lines


def _labels(labels: list[str]) -> str:
    return ", ".join(map(shown_label, labels))
