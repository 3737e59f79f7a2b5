"""One write: the effect of each statement on the known facts, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from mnemos.errors import NotFound
from mnemos.facts.fact import KIND, Outcome, Stored, are_contradictory, is_same_content, ref_of
from mnemos.facts.keywords import find_counterparts, name_kinds
from mnemos.facts.scopes import note_write, open_scope
from mnemos.language.notation import MEANING, Mark, Statement, format_line
from mnemos.language.statements import is_update, longer_targets
from mnemos.storage.base import Writes
from mnemos.storage.facts import Attendance, FactRow, NewFact, ScopeRow

# Earlier versions of a fact that recall still finds, after everything live. All are in the history.
VERSIONS_IN_RECALL: Final = 3
# The newest facts on a target that a statement is compared with.
COMPARED: Final = 50

ANSWERS: Final = frozenset({Mark.DECISION, Mark.VALUE})


@dataclass(frozen=True, slots=True)
class Source:
    """The writer, the time and the origin of a write."""

    session_id: str
    """The session whose turns count."""
    actor: str
    now: float
    origin: str | None = None
    """The session the facts come from, if the host named it."""
    message_id: int | None = None
    valid_from: float | None = None
    has_guesses: bool = False
    """True if targets were guessed from sentences."""
    is_unscoped: bool = False
    """True if facts without a scope get none, even while the session works on one."""


@dataclass(slots=True)
class FactWriter:
    """Applies the statements of one call and collects what they changed."""

    tx: Writes
    source: Source
    attendance: Attendance
    stored: list[Stored] = field(default_factory=list)
    closed: dict[int, ScopeRow] = field(default_factory=dict)
    reopened: dict[int, ScopeRow] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    conflicts: list[tuple[FactRow, FactRow]] = field(default_factory=list)

    def apply(self, statement: Statement, label: str | None) -> None:
        scope = self._choose_scope(statement, label)
        scope_id = None if scope is None else scope.id
        self.attendance = note_write(self.attendance, scope_id)
        if scope_id is not None:
            self.touched.add(scope_id)
        known = {fact.mark: fact for fact in self.tx.facts.live_in(statement.key, scope_id)}
        if self.source.has_guesses:
            statement, known = self._avoid_replacing(statement, known, scope_id)
        if statement.mark == Mark.OBSOLETE:
            self._retire(statement, scope, list(known.values()))
        else:
            self._put(statement, scope, known)
        if statement.mark == Mark.DONE and scope is not None:
            self._close(scope)

    def _choose_scope(self, statement: Statement, label: str | None) -> ScopeRow | None:
        """The named scope, else the session's current one; for ✓ and ~, the one the target is in."""
        if label is not None:
            return self._open(label)
        if self.source.is_unscoped:
            return None
        if statement.mark == Mark.DONE:
            named = self.tx.facts.scope(statement.key)
            if named is not None:
                return named
        current = self._current_scope()
        if statement.mark in (Mark.DONE, Mark.OBSOLETE):
            return self._find_home(statement.key, current)
        return current

    def _open(self, label: str) -> ScopeRow:
        scope, was_closed = open_scope(self.tx, label, self.source.now)
        if was_closed:
            self.reopened[scope.id] = scope
            self.closed.pop(scope.id, None)
        return scope

    def _current_scope(self) -> ScopeRow | None:
        current = self.attendance.scope_id
        if current is None or current in self.closed:
            return None
        return self.tx.facts.scopes([current]).get(current)

    def _find_home(self, key: str, current: ScopeRow | None) -> ScopeRow | None:
        """The scope that has facts on a target: the session's own, or the only one, or the newest."""
        homes = [fact.scope_id for fact in self.tx.facts.live_on(key, COMPARED)]
        if not homes or (current is not None and current.id in homes):
            return current
        if None in homes:
            return None
        return self.tx.facts.scopes([homes[0] or 0]).get(homes[0] or 0)

    def _avoid_replacing(
        self, statement: Statement, known: dict[str, FactRow], scope_id: int | None
    ) -> tuple[Statement, dict[str, FactRow]]:
        """Lengthen a guessed target until the statement replaces only what it updates."""
        for target in longer_targets(statement):
            old = known.get(statement.mark)
            if old is None or is_update(old.content, statement.content):
                break
            statement = replace(statement, target=target)
            known = {fact.mark: fact for fact in self.tx.facts.live_in(statement.key, scope_id)}
        return statement, known

    def _put(self, statement: Statement, scope: ScopeRow | None, known: dict[str, FactRow]) -> None:
        old = known.get(statement.mark)
        if old is not None and is_same_content(old.content, statement.content):
            self.tx.facts.refer({old.id: 1}, self.source.now)
            if scope is None or scope.closed_at is None:
                self.tx.facts.heat(old.id)
            self._note(old.id, statement, Outcome.UNCHANGED, scope)
            return
        question = known.get(Mark.UNKNOWN) if statement.mark in ANSWERS else None
        ending = [fact for fact in (old, question) if fact is not None]
        number = self._add(statement, scope, ending)
        outcome = Outcome.STORED if old is None else Outcome.SUPERSEDED
        self._note(number, statement, outcome, scope, ending)
        self.conflicts += record_conflicts(self.tx, number, statement.key)

    def _retire(self, statement: Statement, scope: ScopeRow | None, known: Sequence[FactRow]) -> None:
        if not known:
            where = f" in {scope.label}" if scope is not None else ""
            raise NotFound(f"there is no live fact on {statement.target!r}{where}; nothing was retired")
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


def put_passage(tx: Writes, number: int, fact: FactRow | NewFact, scope: ScopeRow | None) -> None:
    """Index a fact for recall: as it is written, and by the words people would use for it."""
    text = format_line(fact.mark, fact.target, fact.content)
    also = (
        MEANING[Mark(fact.mark)],
        find_counterparts(text),
        name_kinds(f"{fact.target} {fact.content}"),
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


def record_conflicts(tx: Writes, number: int, key: str) -> list[tuple[FactRow, FactRow]]:
    """Record the live facts that a new fact contradicts; pairs of the other one and itself."""
    others = tx.facts.live_on(key, COMPARED)
    mine = next((fact for fact in others if fact.id == number), None)
    if mine is None:
        return []
    against = [other for other in others if are_contradictory(mine, other)]
    for other in against:
        tx.facts.contradict(other.id, mine.id)
    return [(other, mine) for other in against]


def remove_facts(tx: Writes, numbers: Sequence[int]) -> None:
    """Erase facts with their passages."""
    for number in numbers:
        tx.passages.remove(KIND, ref_of(number))
    tx.facts.erase(numbers)


def reindex_facts(tx: Writes, numbers: Sequence[int]) -> None:
    """Let recall find the live ones among these facts."""
    rows = tx.facts.get(numbers)
    scopes = tx.facts.scopes({row.scope_id for row in rows.values() if row.scope_id is not None})
    for row in rows.values():
        if row.state == "live":
            put_passage(tx, row.id, row, scopes.get(row.scope_id or 0))
