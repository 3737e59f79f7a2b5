"""The storage port of the facts part.

The statement of a fact never changes: a new statement is a new row, and the row it replaces keeps the
period in which it was believed. The part decides which fact replaces which. The engine enforces that there
is at most one live fact per target, mark, scope and user.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

# Reasons of a link between two live facts.
CONTRADICTS = "contradicts"
MAY_REPLACE = "may replace"


class ScopeRow(Struct, frozen=True):
    """A unit of work, open while ``closed_at`` is None."""

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
    stated_by: str | None = None
    """``user``, ``agent``, ``import`` or ``tool``; None if it was not recorded."""
    user_id: str | None = None
    """The user it belongs to; None if it is shared."""


class FactLink(Struct, frozen=True):
    """Two live facts that contradict each other, or of which the newer one may replace the older one."""

    older: FactRow
    newer: FactRow
    reason: str


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
    """Set for a fact that is history from the start."""
    hot: bool = True
    """True if it may be hot while it is live and its scope open."""
    stated_by: str | None = None
    user_id: str | None = None


class Hot(Struct, frozen=True):
    """Facts for a prompt: constraints, most recently used first, and all others."""

    constraints: tuple[FactRow, ...]
    further_constraints: int
    """The number of further constraints, counted up to a limit."""
    others: tuple[FactRow, ...]


class Attendance(Struct, frozen=True):
    """A session's turn and the scopes it writes to."""

    turn: int = 0
    scope_id: int | None = None
    """The open scope for writes that name none."""
    wrote: frozenset[int] = frozenset()
    """The scopes written to in this turn; 0 for none."""
    streak: int = 0
    streak_scope: int | None = None


class ScopeCounts(Struct, frozen=True):
    scope: ScopeRow
    hot: int
    live: int


class Wanted(Struct, frozen=True):
    """Restrict a listing of facts. None means no restriction."""

    scope_id: int | None = None
    hot: bool | None = None
    states: Sequence[str] = ("live",)
    marks: Sequence[str] | None = None
    as_of: float | None = None
    """Facts believed at that moment, whatever their state now; ``states`` is ignored."""
    user: str | None = None
    """Facts of this user, and shared ones."""


class FactReads(Protocol):
    def get(self, ids: Collection[int]) -> dict[int, FactRow]:
        """These facts in any state; unknown ids are left out."""
        ...

    def live_on(self, key: str, limit: int, user: str | None = None) -> list[FactRow]:
        """Live facts on a target in any scope, newest first. ``user``: that user's, and shared ones."""
        ...

    def live_in(self, key: str, scope_id: int | None, user_id: str | None = None) -> list[FactRow]:
        """Live facts of one user, or shared ones, on a target in one scope, or in none: one per mark."""
        ...

    def history(
        self,
        key: str,
        *,
        scope_id: int | None,
        as_of: float | None,
        limit: int,
        before: int | None,
        user: str | None = None,
    ) -> list[FactRow]:
        """Every fact ever stored on a target, newest first, ids below ``before``.

        ``user``: those of this user, and shared ones.
        """
        ...

    def select(self, wanted: Wanted, *, after: int, through: int, limit: int) -> list[FactRow]:
        """Facts by id, above ``after`` and up to ``through``: to go through all in short reads."""
        ...

    def newest(self) -> int:
        """The highest id of a fact; 0 if there are none."""
        ...

    def list_ended(self, scope_id: int | None, before: float | None, limit: int) -> list[int]:
        """Superseded and retired facts of a scope that ended before a moment, oldest first."""
        ...

    def count_ended(self, scope_id: int | None, before: float | None) -> int: ...

    def earlier(self, fact: FactRow, limit: int) -> list[int]:
        """Ids of the facts of its mark that it replaced, directly or not, newest first."""
        ...

    def of_message(self, message_id: int, limit: int) -> list[FactRow]:
        """The facts that a message stated, in any state, oldest first. Reads all facts."""
        ...

    def of_source(self, session_id: str, message_ids: Collection[int]) -> list[FactRow]:
        """The facts from a session or from any of these messages, in any state, oldest first.

        Reads all facts.
        """
        ...

    def successors(self, fact_id: int, limit: int) -> list[FactRow]:
        """The facts that replaced one, directly or not, on any target; the last ones, oldest first."""
        ...

    def predecessors(self, fact_id: int, limit: int) -> list[FactRow]:
        """The facts that one replaced, directly or not, on any target; the last ones, oldest first."""
        ...

    def hot(self, *, constraints: int, count: int, user: str | None = None) -> Hot:
        """Return up to ``constraints`` constraints, count further ones up to ``count``.

        ``user``: those of this user, and shared ones.
        """
        ...

    def conflicts(self, limit: int, user: str | None = None) -> list[FactLink]:
        """Linked pairs of live facts, newest first; without those of other users than ``user``."""
        ...

    def doubts(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """Pairs (older, newer) with one of these facts, of which the newer one may replace the older one."""
        ...

    def heads(self, ids: Collection[int]) -> dict[int, int]:
        """For each of these facts the live one that holds in its place: itself, or what replaced it.

        Facts that were retired without a successor are left out.
        """
        ...

    def scope(self, key: str) -> ScopeRow | None: ...

    def scopes(self, ids: Collection[int]) -> dict[int, ScopeRow]: ...

    def open_scopes(self, limit: int) -> list[ScopeRow]:
        """Open scopes, most recently touched first."""
        ...

    def newest_scopes(self, limit: int) -> list[ScopeRow]:
        """Open and closed scopes, most recently touched first."""
        ...

    def all_scopes(self, *, limit: int, offset: int) -> list[ScopeCounts]:
        """Scopes with their counts: open ones first, then most recently touched first."""
        ...

    def scopes_named(self, keys: Sequence[str]) -> list[ScopeRow]:
        """Scopes with one of these keys."""
        ...

    def scopes_of_targets(self, keys: Sequence[str]) -> list[ScopeRow]:
        """Open scopes with a live fact on one of these targets."""
        ...

    def attendance(self, session_id: str) -> Attendance | None: ...

    def idle(self, session_id: str, *, turn: int, since: float) -> list[ScopeRow]:
        """Open scopes that this session last used in ``turn`` or before, and no other session ``since``."""
        ...

    def rows_in(self) -> tuple[int, int]:
        """The number of live facts and of all rows."""
        ...

    def identical(self, fact: FactRow | NewFact) -> list[int]:
        """Facts with the same statement, target, scope, time and actor, in any state, oldest first."""
        ...


class FactWrites(FactReads, Protocol):
    def add(self, fact: NewFact, *, ending: Sequence[int] = (), state: str = "superseded") -> int:
        """Store a fact, hot unless its scope is closed, and let it end live ones and their conflicts.

        A second live fact for its target, mark and scope is refused.
        """
        ...

    def end(self, ids: Sequence[int], state: str, at: float) -> None:
        """Mark live facts as superseded or retired, without a successor."""
        ...

    def refer(self, uses: Mapping[int, int], at: float) -> None:
        """Count uses of live facts."""
        ...

    def heat(self, fact_id: int) -> None:
        """Make a live fact hot."""
        ...

    def cool(self, ids: Sequence[int]) -> None: ...

    def warm(self, scope_id: int, *, constraints: int, others: int) -> int:
        """Make a scope's live constraints and its most recently used other facts hot; return how many."""
        ...

    def contradict(self, older: int, newer: int, reason: str = CONTRADICTS) -> None:
        """Link two live facts; the link goes when one of them ends."""
        ...

    def confirm(self, fact_id: int) -> None:
        """Drop the doubt that newer facts may replace this one."""
        ...

    def erase(self, ids: Sequence[int]) -> None:
        """Remove rows; a fact superseded by one of them is linked to that one's successor."""
        ...

    def open_scope(self, label: str, key: str, at: float) -> tuple[ScopeRow, bool]:
        """Open the scope of that key, creating it if needed; also return True if it was closed before."""
        ...

    def close_scope(self, scope_id: int, at: float) -> None:
        """Close a scope: its facts go cold and no session writes to it any more."""
        ...

    def attend(self, session_id: str, attendance: Attendance, at: float) -> None:
        """Store a session's attendance, and drop sessions not seen for a month."""
        ...

    def touch(self, session_id: str, scope_ids: Collection[int], turn: int, at: float) -> None:
        """Record that the session, which must be known, refers to these open scopes."""
        ...

    def restart(self, session_id: str, turn: int) -> None:
        """Restart a session's count of turns; the scopes it used count as used now."""
        ...

    def restore(self, fact: FactRow) -> int:
        """Store a fact with its state, times and uses; hot only if it is live and its scope open.

        It keeps its id unless a fact has it: of this space or, where all spaces are counted together, of any.
        Returns the id it has now.
        A second live fact for its target, mark and scope is refused.
        """
        ...

    def supersede(self, links: Mapping[int, int]) -> None:
        """Link ended facts to their successors; existing links stay."""
        ...

    def settle(self, fact: FactRow) -> None:
        """Store how a fact ended: its state, times and successor, whatever was known of that before."""
        ...

    def move_sources(self, moved: Mapping[int, int]) -> None:
        """Let facts that point at messages point at others. Reads all facts."""
        ...

    def renew_scope(self, scope: ScopeRow) -> None:
        """Overwrite the times of a scope; one that is closed now has only cold facts."""
        ...

    def restore_scope(self, scope: ScopeRow) -> ScopeRow:
        """Return the scope of that key; if there is none, create it as given, open or closed."""
        ...
