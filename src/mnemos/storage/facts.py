"""The storage port of the facts part.

The statement of a fact never changes: a new statement is a new row, and the row it replaces keeps the
period in which it was believed. The part decides which fact replaces which. The engine enforces that there
is at most one live fact per target, mark, scope and user.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

# Reasons for a link between two live facts.
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
    """Set for a fact that is history when it is stored."""
    hot: bool = True
    """True if it may be hot while it is live and its scope is open."""
    stated_by: str | None = None
    user_id: str | None = None


class Hot(Struct, frozen=True):
    """Facts for a prompt: constraints, most recently used first, and all others."""

    constraints: tuple[FactRow, ...]
    further_constraints: int
    """The number of further constraints, up to a limit."""
    others: tuple[FactRow, ...]


class Attendance(Struct, frozen=True):
    """A session's turn, and the scopes it writes to."""

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
    """Only facts of this user and shared ones."""


class FactReads(Protocol):
    def get(self, ids: Collection[int]) -> dict[int, FactRow]:
        """These facts, in any state. Unknown ids are left out."""
        ...

    def live_on(self, key: str, limit: int, user: str | None = None) -> list[FactRow]:
        """Live facts on a target in any scope, newest first; only this user's and shared ones."""
        ...

    def live_in(self, key: str, scope_id: int | None, user_id: str | None = None) -> list[FactRow]:
        """Live facts on a target in one scope or none, of one user or shared: one per mark."""
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
        """All facts ever stored on a target with ids below ``before``, newest first.

        ``user``: those of this user, and shared ones.
        """
        ...

    def select(self, wanted: Wanted, *, after: int, through: int, limit: int) -> list[FactRow]:
        """Facts with ids above ``after`` and up to ``through``, by id, to read all in short reads."""
        ...

    def newest(self) -> int:
        """The highest id of a fact, or 0 without facts."""
        ...

    def list_ended(self, scope_id: int | None, before: float | None, limit: int) -> list[int]:
        """A scope's superseded and retired facts that ended before a time, oldest first."""
        ...

    def count_ended(self, scope_id: int | None, before: float | None) -> int: ...

    def earlier(self, fact: FactRow, limit: int) -> list[int]:
        """Ids of facts with its mark that it replaced, directly or indirectly, newest first."""
        ...

    def of_message(self, message_id: int, limit: int) -> list[FactRow]:
        """Facts that a message stated, in any state, oldest first. Reads all facts."""
        ...

    def of_source(self, session_id: str, message_ids: Collection[int]) -> list[FactRow]:
        """Facts from a session or from any of these messages, in any state, oldest first.

        Reads all facts.
        """
        ...

    def successors(self, fact_id: int, limit: int) -> list[FactRow]:
        """The last facts that replaced one, directly or not, on any target, oldest first."""
        ...

    def predecessors(self, fact_id: int, limit: int) -> list[FactRow]:
        """The last facts that one replaced, directly or not, on any target, oldest first."""
        ...

    def hot(self, *, constraints: int, count: int, user: str | None = None) -> Hot:
        """Facts for a prompt: up to ``constraints`` constraints, with further ones counted up to ``count``.

        ``user``: those of this user, and shared ones.
        """
        ...

    def conflicts(self, limit: int, user: str | None = None) -> list[FactLink]:
        """Linked pairs of live facts, newest first, without other users' pairs."""
        ...

    def doubts(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """Pairs (older, newer) with one of these facts, in which the newer may replace the older."""
        ...

    def heads(self, ids: Collection[int]) -> dict[int, int]:
        """Map each of these facts to its live version: itself, or its replacement.

        Facts retired without a successor are left out.
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
        """Open scopes that this session last used by ``turn``, and no other session ``since``."""
        ...

    def rows_in(self) -> tuple[int, int]:
        """The numbers of live facts and of all rows."""
        ...

    def identical(self, fact: FactRow | NewFact) -> list[int]:
        """Facts with the same statement, target, scope, time and actor, in any state, oldest first."""
        ...


class FactWrites(FactReads, Protocol):
    def add(self, fact: NewFact, *, ending: Sequence[int] = (), state: str = "superseded") -> int:
        """Store a fact, hot unless its scope is closed, and end live facts and their conflicts.

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
        """Heat a scope's live constraints and most recently used other facts; return how many."""
        ...

    def contradict(self, older: int, newer: int, reason: str = CONTRADICTS) -> None:
        """Link two live facts. The link is removed when one of them ends."""
        ...

    def confirm(self, fact_id: int) -> None:
        """Remove links to newer facts that may replace this one."""
        ...

    def erase(self, ids: Sequence[int]) -> None:
        """Remove rows. A fact superseded by a removed one is linked to that one's successor."""
        ...

    def open_scope(self, label: str, key: str, at: float) -> tuple[ScopeRow, bool]:
        """Open or create the scope with this key; also return True if it was closed before."""
        ...

    def close_scope(self, scope_id: int, at: float) -> None:
        """Close a scope. Its facts become cold and no session writes to it any more."""
        ...

    def attend(self, session_id: str, attendance: Attendance, at: float) -> None:
        """Store a session's attendance, and remove sessions not seen for a month."""
        ...

    def touch(self, session_id: str, scope_ids: Collection[int], turn: int, at: float) -> None:
        """Record that a known session refers to these open scopes."""
        ...

    def restart(self, session_id: str, turn: int) -> None:
        """Restart a session's count of turns. The scopes it used count as used now."""
        ...

    def restore(self, fact: FactRow) -> int:
        """Store a fact with its state, times and uses, hot only if it and its scope are live.

        It keeps its id unless another fact has it, in this space or, if spaces share ids, in any. Returns the
        new id. A second live fact for its target, mark and scope is refused.
        """
        ...

    def supersede(self, links: Mapping[int, int]) -> None:
        """Link ended facts to their successors. Existing links are kept."""
        ...

    def settle(self, fact: FactRow) -> None:
        """Overwrite how a fact ended: its state, times and successor."""
        ...

    def move_sources(self, moved: Mapping[int, int]) -> None:
        """Change the messages that facts refer to. Reads all facts."""
        ...

    def renew_scope(self, scope: ScopeRow) -> None:
        """Overwrite the times of a scope. If it is now closed, its facts become cold."""
        ...

    def restore_scope(self, scope: ScopeRow) -> ScopeRow:
        """Return the scope with this key, or create it as given, open or closed."""
        ...
