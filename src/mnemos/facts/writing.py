"""One write: what each statement does to what is known, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mnemos.errors import NotFound
from mnemos.facts import conflicts, scopes
from mnemos.facts.abbreviations import counterparts
from mnemos.facts.model import KIND, Outcome, Stored, ref_of
from mnemos.facts.shapes import asked_by
from mnemos.language.notation import MEANING, Mark, Statement, key_of, written
from mnemos.language.statements import is_update, other_targets
from mnemos.storage.base import Writes
from mnemos.storage.facts import Attendance, FactRow, NewFact, ScopeRow

# Earlier versions of a fact that recall still finds, after everything live. All are in the history.
VERSIONS_IN_RECALL = 3
# What a scope that is opened again brings back into the hot set, before pressure is looked at.
_CONSTRAINTS_WARMED = 200
_OTHERS_WARMED = 20

ANSWERS = frozenset({Mark.DECISION, Mark.VALUE})


@dataclass(frozen=True, slots=True)
class Source:
    """Who writes, when, and from where."""

    session_id: str
    """Whose turns count."""
    actor: str
    now: float
    origin: str | None = None
    """The session the facts come from, where the host named it."""
    message_id: int | None = None
    valid_from: float | None = None
    is_guessing: bool = False
    """Whether targets were guessed from sentences."""
    is_unscoped: bool = False
    """Whether facts without a scope have none, also while the session works on one."""


@dataclass(slots=True)
class Write:
    """The statements of a call on their way into the store."""

    tx: Writes
    source: Source
    attendance: Attendance
    stored: list[Stored] = field(default_factory=list)
    closed: dict[int, ScopeRow] = field(default_factory=dict)
    reopened: dict[int, ScopeRow] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    conflicts: list[tuple[FactRow, FactRow]] = field(default_factory=list)

    def state(self, statement: Statement, label: str | None) -> None:
        """Let one statement take effect."""
        scope = self._scope_of(statement, label)
        scope_id = None if scope is None else scope.id
        self.attendance = scopes.wrote(self.attendance, scope_id)
        if scope_id is not None:
            self.touched.add(scope_id)
        known = {fact.mark: fact for fact in self.tx.facts.live_in(statement.key, scope_id)}
        if self.source.is_guessing:
            statement, known = self._unmistaken(statement, known, scope_id)
        if statement.mark == Mark.OBSOLETE:
            self._retire(statement, scope, list(known.values()))
        else:
            self._put(statement, scope, known)
        if statement.mark == Mark.DONE and scope is not None:
            self._close(scope)

    def open(self, label: str) -> ScopeRow:
        """The scope of that label, open, its facts hot again if it was closed."""
        scope, was_closed = warm(self.tx, label, self.source.now)
        if was_closed:
            self.reopened[scope.id] = scope
            self.closed.pop(scope.id, None)
        return scope

    # --- inside -----------------------------------------------------------------------------

    def _scope_of(self, statement: Statement, label: str | None) -> ScopeRow | None:
        """The scope that is named, else the one the session works on; of what ends, the one it is in."""
        if label is not None:
            return self.open(label)
        if self.source.is_unscoped:
            return None
        if statement.mark == Mark.DONE:
            named = self.tx.facts.scope(statement.key)
            if named is not None:
                return named
        current = self._current()
        if statement.mark in (Mark.DONE, Mark.OBSOLETE):
            return self._home_of(statement.key, current)
        return current

    def _current(self) -> ScopeRow | None:
        current = self.attendance.scope_id
        if current is None or current in self.closed:
            return None
        return self.tx.facts.scopes([current]).get(current)

    def _home_of(self, key: str, current: ScopeRow | None) -> ScopeRow | None:
        """The scope that has facts on a target: the session's own, or the only one, or the newest."""
        there = self.tx.facts.live_on(key, conflicts.COMPARED)
        homes = [fact.scope_id for fact in there]
        if not homes or (current is not None and current.id in homes):
            return current
        if None in homes:
            return None
        return self.tx.facts.scopes([homes[0] or 0]).get(homes[0] or 0)

    def _unmistaken(
        self, statement: Statement, known: dict[str, FactRow], scope_id: int | None
    ) -> tuple[Statement, dict[str, FactRow]]:
        """A statement under a guessed target, made longer until it replaces nothing but what it updates."""
        for target in other_targets(statement):
            old = known.get(statement.mark)
            if old is None or is_update(old.content, statement.content):
                break
            statement = replace(statement, target=target)
            known = {fact.mark: fact for fact in self.tx.facts.live_in(statement.key, scope_id)}
        return statement, known

    def _put(self, statement: Statement, scope: ScopeRow | None, known: dict[str, FactRow]) -> None:
        old = known.get(statement.mark)
        if old is not None and conflicts.same(old.content, statement.content):
            self.tx.facts.refer({old.id: 1}, self.source.now)
            if scope is None or scope.closed_at is None:
                self.tx.facts.heat(old.id)
            self._note(old.id, statement, Outcome.UNCHANGED, scope)
            return
        asked = known.get(Mark.UNKNOWN) if statement.mark in ANSWERS else None
        ending = [fact for fact in (old, asked) if fact is not None]
        number = self._add(statement, scope, ending)
        outcome = Outcome.STORED if old is None else Outcome.SUPERSEDED
        self._note(number, statement, outcome, scope, ending)
        self.conflicts += set_against(self.tx, number, statement.key)

    def _retire(self, statement: Statement, scope: ScopeRow | None, known: Sequence[FactRow]) -> None:
        if not known:
            raise NotFound(
                f"nothing that holds is known on {statement.target!r}"
                + (f" in {scope.label}" if scope is not None else "")
                + "; nothing was retired"
            )
        number = self._add(statement, scope, known)
        self._note(number, statement, Outcome.RETIRED, scope, known)

    def _add(self, statement: Statement, scope: ScopeRow | None, ending: Sequence[FactRow]) -> int:
        now = self.source.now
        is_live = statement.mark != Mark.OBSOLETE
        fact = NewFact(
            mark=statement.mark,
            target=statement.target,
            key=statement.key,
            content=statement.content,
            scope_id=None if scope is None else scope.id,
            recorded_at=now,
            valid_from=now if self.source.valid_from is None else self.source.valid_from,
            session_id=self.source.origin,
            message_id=self.source.message_id,
            actor=self.source.actor,
            state="live" if is_live else "retired",
            ended_at=None if is_live else now,
        )
        state = "superseded" if is_live else "retired"
        number = self.tx.facts.add(fact, ending=[old.id for old in ending], state=state)
        for old in ending:
            self._outdate(old)
        if is_live:
            put_passage(self.tx, number, fact, scope)
        return number

    def _outdate(self, old: FactRow) -> None:
        self.tx.passages.outdate(KIND, ref_of(old.id))
        chain = self.tx.facts.earlier(old, VERSIONS_IN_RECALL)
        if len(chain) == VERSIONS_IN_RECALL:
            self.tx.passages.remove(KIND, ref_of(chain[-1]))

    def _close(self, scope: ScopeRow) -> None:
        if scope.closed_at is None:
            self.tx.facts.close_scope(scope.id, self.source.now)
            self.closed[scope.id] = scope
        self.reopened.pop(scope.id, None)
        self.touched.discard(scope.id)

    def _note(
        self,
        number: int,
        statement: Statement,
        outcome: Outcome,
        scope: ScopeRow | None,
        ended: Sequence[FactRow] = (),
    ) -> None:
        self.stored.append(
            Stored(
                ref_of(number),
                statement.mark,
                statement.target,
                outcome,
                None if scope is None else scope.label,
                tuple(ref_of(fact.id) for fact in ended),
            )
        )


def warm(tx: Writes, label: str, now: float) -> tuple[ScopeRow, bool]:
    """The scope of that label, open; whether it was closed: then its facts are hot again."""
    scope, was_closed = tx.facts.open_scope(label, key_of(label), now)
    if was_closed:
        tx.facts.warm(scope.id, constraints=_CONSTRAINTS_WARMED, others=_OTHERS_WARMED)
    return scope, was_closed


def put_passage(tx: Writes, number: int, fact: FactRow | NewFact, scope: ScopeRow | None) -> None:
    """Let recall find a fact: as it is written, and by the words that people would use for it."""
    text = written(fact.mark, fact.target, fact.content)
    also = (
        MEANING[Mark(fact.mark)],
        counterparts(text),
        asked_by(f"{fact.target} {fact.content}"),
        "" if scope is None else scope.label,
    )
    tx.passages.put(
        KIND,
        ref_of(number),
        text=text,
        at=fact.recorded_at,
        session_id=fact.session_id,
        also=" ".join(filter(None, also)),
        group=None if scope is None else scope.key,
    )


def set_against(tx: Writes, number: int, key: str) -> list[tuple[FactRow, FactRow]]:
    """Note what a new fact contradicts: the other one and itself."""
    others = tx.facts.live_on(key, conflicts.COMPARED)
    mine = next((fact for fact in others if fact.id == number), None)
    if mine is None:
        return []
    against = [other for other in others if conflicts.contradict(mine, other)]
    for other in against:
        tx.facts.contradict(other.id, mine.id)
    return [(other, mine) for other in against]
