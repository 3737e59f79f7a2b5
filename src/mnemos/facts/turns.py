"""One tick: a session enters a turn, and scopes that are done, idle or left close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mnemos.facts import scopes
from mnemos.facts.writing import warm
from mnemos.language.closing import closing
from mnemos.storage.base import Writes
from mnemos.storage.facts import Attendance, ScopeRow

# Scopes whose labels are looked for in a message whatever they look like.
_NEWEST_SCOPES = 50


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
        ended = self._ended()
        self._close(scope for scope in ended if scope.closed_at is None)
        done = {scope.id for scope in ended}
        named = [scope for scope in self._named() if scope.id not in done]
        self._touch(named)
        self._close(self._untouched(self.number - scopes.IDLE_TURNS))
        if scopes.has_shifted(self.attendance):
            kept = {self.attendance.streak_scope, *(scope.id for scope in named)}
            self._close(scope for scope in self._untouched(self.number) if scope.id not in kept)

    def _named(self) -> list[ScopeRow]:
        """What the message refers to: scopes by their label, open ones also by their targets."""
        found = [*self._labelled(self.message), *self._holding(self.message)]
        return list({scope.id: scope for scope in found}.values())

    def _ended(self) -> list[ScopeRow]:
        """The scopes that the message says are done, whether or not they are closed already."""
        found: dict[int, ScopeRow] = {}
        for statement in closing(self.message):
            ended = self._labelled(statement.sentence) or self._home_of(statement.sentence)
            found |= {scope.id: scope for scope in ended}
        return list(found.values())

    def _labelled(self, text: str) -> list[ScopeRow]:
        """Scopes whose label stands in a text: any of the newest, an older one if its label is short."""
        if not text.strip():
            return []
        newest = self.tx.facts.newest_scopes(_NEWEST_SCOPES)
        here = scopes.Heard(text)
        found = {scope.id: scope for scope in newest if here.names(scope.key)}
        found |= {scope.id: scope for scope in self.tx.facts.scopes_named(scopes.names_in(text))}
        return list(found.values())

    def _holding(self, text: str) -> list[ScopeRow]:
        """Open scopes that have a fact on a target that stands in a text."""
        names = scopes.names_in(text)
        return self.tx.facts.scopes_of_targets(names) if names else []

    def _home_of(self, text: str) -> list[ScopeRow]:
        """The one scope that a text without a label is about: the session's own, unless another fits."""
        holding = self._holding(text)
        current = self.attendance.scope_id
        if not holding or any(scope.id == current for scope in holding):
            return [] if current is None else list(self.tx.facts.scopes([current]).values())
        return [max(holding, key=lambda scope: scope.touched_at)]

    def _untouched(self, turn: int) -> list[ScopeRow]:
        """Scopes that the session referred to last in that turn or before, and nobody else of late."""
        since = self.now - scopes.SHARED_SECONDS
        return self.tx.facts.idle(self.session_id, turn=turn, since=since)

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
