"""One tick: a session enters a turn, and scopes that are done, idle or left close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mnemos.facts import scopes
from mnemos.facts.closing import closing
from mnemos.facts.writing import warm
from mnemos.storage.base import Writes
from mnemos.storage.facts import Attendance, ScopeRow


@dataclass(slots=True)
class Turn:
    tx: Writes
    session_id: str
    now: float
    attendance: Attendance
    number: int
    message: str
    closed: dict[int, ScopeRow] = field(default_factory=dict)
    reopened: dict[int, ScopeRow] = field(default_factory=dict)

    def run(self) -> None:
        if self.number < self.attendance.turn:
            self.tx.facts.restart(self.session_id, self.number)
        self.attendance = scopes.advanced(self.attendance, self.number)
        self.tx.facts.attend(self.session_id, self.attendance, self.now)
        named = self._named()
        self._close(self._finished())
        self._touch(scope for scope in named if scope.id not in self.closed)
        turn = self.number - scopes.IDLE_TURNS
        since = self.now - scopes.SHARED_SECONDS
        self._close(self.tx.facts.idle(self.session_id, turn=turn, since=since))
        if scopes.has_shifted(self.attendance):
            self._close(self._left(named))

    def _named(self) -> list[ScopeRow]:
        """What the message refers to: scopes by their label, open ones also by their targets."""
        names = scopes.names_in(self.message)
        if not names:
            return []
        found = [*self.tx.facts.scopes_named(names), *self.tx.facts.scopes_of_targets(names)]
        return list({scope.id: scope for scope in found}.values())

    def _finished(self) -> list[ScopeRow]:
        """The scopes that the message says are done: those it names there, else the session's own."""
        done: dict[int, ScopeRow] = {}
        for statement in closing(self.message):
            names = scopes.names_in(statement.sentence)
            named = [scope for scope in self.tx.facts.scopes_named(names) if scope.closed_at is None]
            named = named or self.tx.facts.scopes_of_targets(names) or self._current()
            done |= {scope.id: scope for scope in named}
        return list(done.values())

    def _current(self) -> list[ScopeRow]:
        current = self.attendance.scope_id
        return [] if current is None else list(self.tx.facts.scopes([current]).values())

    def _left(self, named: Iterable[ScopeRow]) -> list[ScopeRow]:
        kept = {self.attendance.streak_scope, *(scope.id for scope in named)}
        return [scope for scope in self.tx.facts.touched(self.session_id) if scope.id not in kept]

    def _touch(self, named: Iterable[ScopeRow]) -> None:
        touched: list[int] = []
        for scope in named:
            if scope.closed_at is not None:
                self.reopened[scope.id] = warm(self.tx, scope.label, self.now)[0]
            touched.append(scope.id)
        self.tx.facts.touch(self.session_id, touched, self.number, self.now)

    def _close(self, going: Iterable[ScopeRow]) -> None:
        for scope in going:
            if scope.id not in self.closed and scope.id not in self.reopened:
                self.tx.facts.close_scope(scope.id, self.now)
                self.closed[scope.id] = scope
