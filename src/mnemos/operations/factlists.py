"""Looking at facts as a person does: lists, scopes, conflicts, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.facts import Scope, SessionId
from mnemos.operations.factwords import conflict_dict, day, described, fact_dict, iso, shown_label
from mnemos.operations.moments import When, seconds
from mnemos.operations.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mnemos.memory import Memory

Format = Annotated[Literal["notation", "json", "markdown"], Meta(description="The form of the text")]
Chosen = Annotated[
    Literal["all", "hot", "active", "cold", "superseded", "retired", "everything"],
    Meta(description="Which: all is hot and cold; active is another word for hot; everything has history"),
]

_ENDED = ("superseded", "retired")


class ExportFacts(Operation, frozen=True, kw_only=True):
    """Export facts in the notation, one a line. Hot and cold, of a scope or of all: as a snapshot, or to take
    elsewhere."""

    traits: ClassVar[Traits] = Traits(
        title="Export facts", read_only=True, example=("--format", "markdown", "--status", "hot")
    )

    scope: Scope = None
    status: Chosen = "all"
    format: Format = "notation"
    session_id: SessionId = None

    def run(self, memory: Memory) -> Exported:
        facts = [fact_dict(fact) for fact in _chosen(memory, self.scope, self.status)]
        return Exported(facts=facts, format=self.format)


class Exported(Result, frozen=True, kw_only=True):
    facts: list[dict[str, Any]]
    format: str

    def as_text(self) -> str:
        from mnemos.operations.factforms import FORMS

        return FORMS[self.format](self.facts)


class ListFacts(Operation, frozen=True, kw_only=True):
    """List facts: hot ones first, then cold; by scope, by type, as of a day, or with what was replaced."""

    traits: ClassVar[Traits] = Traits(
        title="List facts", read_only=True, example=("--scope", "infra", "--as-of", "2026-03-01")
    )

    scope: Scope = None
    status: Chosen = "all"
    type: Annotated[list[str] | None, Meta(description="Only these: C, D, V, ?, ✓")] = None
    as_of: When = None
    limit: Annotated[int, Meta(ge=1, le=100_000, description="The newest so many")] = 200
    session_id: SessionId = None

    def run(self, memory: Memory) -> FactList:
        as_of = seconds("as_of", self.as_of)
        facts = list(_chosen(memory, self.scope, self.status, self.type, as_of))
        kept = facts[-self.limit :]
        kept.sort(key=lambda fact: (fact.state != "live", fact.tier != "hot", fact.scope or "", -fact.at))
        return FactList(
            total=len(facts),
            as_of=None if as_of is None else iso(as_of),
            facts=[fact_dict(fact) for fact in kept],
        )


class FactList(Result, frozen=True, kw_only=True):
    total: int
    as_of: str | None
    facts: list[dict[str, Any]]

    def as_text(self) -> str:
        lines = [described(fact) for fact in self.facts]
        if self.total > len(self.facts):
            lines.append(f"and {self.total - len(self.facts):,} older; use --limit")
        return "\n".join(lines) or "No facts."


class ListScopes(Operation, frozen=True, kw_only=True):
    """List the units of work that facts belong to: open ones first."""

    traits: ClassVar[Traits] = Traits(title="List scopes", read_only=True)

    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many")] = 100
    offset: Annotated[int, Meta(ge=0, le=10_000_000, description="Leave out so many")] = 0

    def run(self, memory: Memory) -> ScopeList:
        found = memory.facts.scopes(limit=self.limit, offset=self.offset)
        return ScopeList(
            scopes=[
                {
                    "label": scope.label,
                    "open": scope.is_open,
                    "hot": scope.hot,
                    "live": scope.live,
                    "opened_at": iso(scope.opened_at),
                    "touched_at": iso(scope.touched_at),
                    "closed_at": None if scope.closed_at is None else iso(scope.closed_at),
                }
                for scope in found
            ]
        )


class ScopeList(Result, frozen=True, kw_only=True):
    scopes: list[dict[str, Any]]

    def as_text(self) -> str:
        lines = [
            f"{'open' if scope['open'] else 'closed ' + day(scope['closed_at']):17} "
            f"{shown_label(scope['label'])}: {counted(scope['live'], 'fact')}, {scope['hot']} hot, "
            f"touched {day(scope['touched_at'])}"
            for scope in self.scopes
        ]
        return "\n".join(lines) or "No scopes."


class ListConflicts(Operation, frozen=True, kw_only=True):
    """List live facts that contradict each other; restate or withdraw one of the two."""

    traits: ClassVar[Traits] = Traits(title="List conflicts", read_only=True)

    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many")] = 100

    def run(self, memory: Memory) -> ConflictList:
        return ConflictList(conflicts=[conflict_dict(one) for one in memory.facts.conflicts(self.limit)])


class ConflictList(Result, frozen=True, kw_only=True):
    conflicts: list[dict[str, Any]]

    def as_text(self) -> str:
        lines = [
            f"{one['target']}\n  {described(one['older'])}\n  {described(one['newer'])}"
            for one in self.conflicts
        ]
        return "\n".join(lines) or "No conflicts."


def _chosen(
    memory: Memory,
    scope: str | None,
    status: str,
    types: list[str] | None = None,
    as_of: float | None = None,
) -> Iterator[Any]:
    states = {"everything": ("live", *_ENDED), "superseded": _ENDED[:1], "retired": _ENDED[1:]}
    tier = status if status in ("all", "hot", "active", "cold") else "all"
    return memory.facts.iterate(
        scope=scope, tier=tier, states=states.get(status, ("live",)), types=types, as_of=as_of
    )
