"""Facts, as an engine stores them.

A fact is a row that never changes what it says: a new statement is a new row, and the row it replaces
keeps when it was believed. Which fact replaces which is a rule of the part; that there is at most one live
fact for a target, a mark and a scope is held by the engine itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct


class ScopeRow(Struct, frozen=True):
    """A unit of work. ``closed_at`` None: it is open."""

    id: int
    label: str
    key: str
    opened_at: float
    touched_at: float
    closed_at: float | None


class FactRow(Struct, frozen=True):
    id: int
    mark: str
    target: str
    key: str
    content: str
    scope_id: int | None
    scope: str | None
    """The label of the scope."""
    state: str
    hot: bool
    recorded_at: float
    ended_at: float | None
    superseded_by: int | None
    valid_from: float
    valid_to: float | None
    used_at: float
    uses: int
    session_id: str | None
    message_id: int | None
    actor: str


class NewFact(Struct, frozen=True):
    mark: str
    target: str
    key: str
    content: str
    scope_id: int | None
    recorded_at: float
    valid_from: float
    session_id: str | None
    message_id: int | None
    actor: str
    state: str = "live"
    ended_at: float | None = None
    """Of a fact that is history from the beginning."""
    hot: bool = True
    """True if it may be hot while it is live and its scope is open."""


class Hot(Struct, frozen=True):
    """Facts that may be in a prompt: constraints, the most recently used first, then the others."""

    constraints: tuple[FactRow, ...]
    further_constraints: int
    """The number of further ones, counted up to a limit."""
    others: tuple[FactRow, ...]


class Attendance(Struct, frozen=True):
    """The turn a session is at, and the scope it writes to."""

    turn: int = 0
    scope_id: int | None = None
    """The open scope that a write without one goes to."""
    wrote: frozenset[int] = frozenset()
    """The scopes written to in this turn; 0 for none."""
    streak: int = 0
    streak_scope: int | None = None


class ScopeCounts(Struct, frozen=True):
    scope: ScopeRow
    hot: int
    live: int


class Wanted(Struct, frozen=True):
    """Which facts a listing is about. None: no restriction."""

    scope_id: int | None = None
    hot: bool | None = None
    states: Sequence[str] = ("live",)
    marks: Sequence[str] | None = None
    as_of: float | None = None
    """Those that were believed at that moment, whatever became of them; ``states`` is not asked."""


class FactReads(Protocol):
    def get(self, ids: Collection[int]) -> dict[int, FactRow]:
        """These facts in any state; unknown ones not."""
        ...

    def live_on(self, key: str, limit: int) -> list[FactRow]:
        """Live facts on a target in any scope, the newest first."""
        ...

    def live_in(self, key: str, scope_id: int | None) -> list[FactRow]:
        """Live facts on a target in one scope, or of none: at most one of each mark."""
        ...

    def history(
        self, key: str, *, scope_id: int | None, as_of: float | None, limit: int, before: int | None
    ) -> list[FactRow]:
        """Everything ever said on a target, the newest first, ids below ``before``."""
        ...

    def listed(self, wanted: Wanted, *, after: int, through: int, limit: int) -> list[FactRow]:
        """By id, ids above ``after`` and not above ``through``: for going through all in short reads."""
        ...

    def newest(self) -> int:
        """No fact has a higher id; 0 when there is none."""
        ...

    def ended(self, scope_id: int | None, before: float | None, limit: int) -> list[int]:
        """Superseded and retired facts of a scope, ended before the moment, the oldest first."""
        ...

    def count_ended(self, scope_id: int | None, before: float | None) -> int: ...

    def earlier(self, fact: FactRow, limit: int) -> list[int]:
        """Ids of the facts of its mark that it replaced, that those replaced and so on, the newest first."""
        ...

    def hot(self, *, constraints: int, count: int) -> Hot:
        """Return up to ``constraints`` rows; further ones are counted up to ``count``."""
        ...

    def conflicts(self, limit: int) -> list[tuple[FactRow, FactRow]]:
        """Open contradictions, the newest first: the older fact and the newer."""
        ...

    def count_conflicts(self, most: int) -> int: ...

    def scope(self, key: str) -> ScopeRow | None: ...

    def scopes(self, ids: Collection[int]) -> dict[int, ScopeRow]: ...

    def open_scopes(self, limit: int) -> list[ScopeRow]:
        """The most recently touched first."""
        ...

    def newest_scopes(self, limit: int) -> list[ScopeRow]:
        """Open or closed, the most recently touched first."""
        ...

    def all_scopes(self, *, limit: int, offset: int) -> list[ScopeCounts]:
        """Open ones first, then the most recently touched."""
        ...

    def scopes_named(self, keys: Sequence[str]) -> list[ScopeRow]:
        """The scopes whose key is one of these."""
        ...

    def scopes_of_targets(self, keys: Sequence[str]) -> list[ScopeRow]:
        """Open scopes that have a live fact on one of these targets."""
        ...

    def attendance(self, session_id: str) -> Attendance | None: ...

    def idle(self, session_id: str, *, turn: int, since: float) -> list[ScopeRow]:
        """Open scopes that this session referred to last in this turn or before, and no other ``since``."""
        ...

    def rows_in(self) -> tuple[int, int]:
        """Count the live facts, and all rows."""
        ...

    def identical(self, fact: FactRow) -> list[int]:
        """Facts that say the same on the same target and scope, learned at the same moment from the same
        actor, the oldest first: whatever became of them, and whatever their ids."""
        ...


class FactWrites(FactReads, Protocol):
    def add(self, fact: NewFact, *, ending: Sequence[int] = (), state: str = "superseded") -> int:
        """Store a fact, hot unless its scope is closed, and end live ones by it; their conflicts are over.

        A second live fact for its target, mark and scope is refused.
        """
        ...

    def end(self, ids: Sequence[int], state: str, at: float) -> None:
        """Live facts become superseded or retired by nothing in particular."""
        ...

    def refer(self, uses: Mapping[int, int], at: float) -> None:
        """Live facts were used so often."""
        ...

    def heat(self, fact_id: int) -> None:
        """A live fact becomes hot."""
        ...

    def cool(self, ids: Sequence[int]) -> None: ...

    def warm(self, scope_id: int, *, constraints: int, others: int) -> int:
        """Live facts of a scope become hot: its constraints, and the most recently used of the others."""
        ...

    def contradict(self, older: int, newer: int) -> None: ...

    def erase(self, ids: Sequence[int]) -> None:
        """Remove rows; a fact that was superseded by one of them was superseded by what came after it."""
        ...

    def open_scope(self, label: str, key: str, at: float) -> tuple[ScopeRow, bool]:
        """The scope of that key, open; made when there is none. Whether it was closed before."""
        ...

    def close_scope(self, scope_id: int, at: float) -> None:
        """Its facts go cold; no session is at it any more."""
        ...

    def attend(self, session_id: str, attendance: Attendance, at: float) -> None:
        """Remember where a session is. Sessions not seen for a month are forgotten in passing."""
        ...

    def touch(self, session_id: str, scope_ids: Collection[int], turn: int, at: float) -> None:
        """The session, which must be known, refers to these open scopes."""
        ...

    def restart(self, session_id: str, turn: int) -> None:
        """The session counts its turns anew: what it referred to counts as referred to now."""
        ...

    def restore(self, fact: FactRow) -> int:
        """Store a fact as it was elsewhere: state, times, uses. Hot only where it is live and its scope open.

        It keeps its id unless another fact has it, in any space; then it gets a new one, which is the answer.
        A second live fact for its target, mark and scope is refused.
        """
        ...

    def supersede(self, links: Mapping[int, int]) -> None:
        """Ended facts, each with the one that replaced it; where one is known already, that stays."""
        ...

    def restore_scope(self, scope: ScopeRow) -> ScopeRow:
        """The scope of that key as it is here; where there is none, it is made as it was, open or closed."""
        ...
