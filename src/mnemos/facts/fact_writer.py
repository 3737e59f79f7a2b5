"""One write: the effect of each statement on the known facts, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from mnemos.errors import NotFound, Refused
from mnemos.facts.fact import (
    KIND,
    Outcome,
    Stored,
    Written,
    are_contradictory,
    conflict_of,
    fact_of,
    is_same_content,
    ref_of,
)
from mnemos.facts.fact_judge import Rivals, find_rivals
from mnemos.facts.hot_set import Budget, Relief
from mnemos.facts.keywords import find_counterparts, name_kinds
from mnemos.facts.scopes import note_write, open_scope
from mnemos.language.notation import MAX_LINES, MEANING, Mark, Statement, format_line, key_of
from mnemos.language.statements import number_targets
from mnemos.language.updates.claim import NOTE, is_own_target, name_questions, sign_attributes
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import CONTRADICTS, MAY_REPLACE, Attendance, FactLink, FactRow, NewFact, ScopeRow
from mnemos.storage.tombstones import Tombstone, make_key

# The number of earlier versions of a fact that recall still finds. The history has all of them.
VERSIONS_IN_RECALL: Final = 3
# A statement is compared with this number of the newest facts on its target.
COMPARED: Final = 50
_CONFLICTS_NAMED: Final = 10

CONFIRM: Final = "facts.confirm"
"""The logged operation for stating a fact again. The entry has no text."""

ANSWERS: Final = frozenset({Mark.DECISION, Mark.VALUE})


@dataclass(frozen=True, slots=True)
class Source:
    """The writer, the time and the origin of a write."""

    session_id: str
    """The session whose turns are counted."""
    actor: str
    now: float
    origin: str | None = None
    """The session the facts come from, if the host named it."""
    message_id: int | None = None
    valid_from: float | None = None
    stated_by: str | None = None
    """``user``, ``agent``, ``import`` or ``tool``; see ``may_be_hot``."""
    user_id: str | None = None
    has_guesses: bool = False
    """True if targets were guessed from sentences, so that the judge decides what they replace."""
    may_replace_only: bool = False
    """True if the judge may replace nothing, because the statements may be older than known facts."""
    replaces: tuple[int, ...] = ()
    """Ids of the facts that the caller replaces."""
    is_unscoped: bool = False
    """True if facts that name no scope get none, even while the session works on one."""


@dataclass(slots=True)
class FactWriter:
    """Applies the statements of one call and collects the changes."""

    tx: Writes
    source: Source
    attendance: Attendance
    stored: list[Stored] = field(default_factory=list)
    closed: dict[int, ScopeRow] = field(default_factory=dict)
    reopened: dict[int, ScopeRow] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    conflicts: list[FactLink] = field(default_factory=list)
    ended: list[FactRow] = field(default_factory=list)

    def apply(self, statement: Statement, label: str | None) -> None:
        scope = self._choose_scope(statement, label)
        scope_id = None if scope is None else scope.id
        self.attendance = note_write(self.attendance, scope_id)
        if scope_id is not None:
            self.touched.add(scope_id)
        if self.source.has_guesses and statement.mark != Mark.OBSOLETE:
            self._judge(statement, scope)
        elif statement.mark == Mark.OBSOLETE:
            self._retire(statement, scope, list(self._live_in(statement, scope_id).values()))
        else:
            self._put(statement, scope, self._live_in(statement, scope_id))
        if statement.mark == Mark.DONE and scope is not None:
            self._close(scope)

    def report(self, relief: Relief, budget: Budget) -> Written:
        """Return the result of the write, after making room in the hot set."""
        return Written(
            tuple(self.stored),
            relief.lines.gauge(budget.facts),
            tuple(scope.label for scope in self.closed.values()),
            tuple(scope.label for scope in self.reopened.values()),
            tuple(map(conflict_of, self.conflicts[:_CONFLICTS_NAMED])),
            tuple(map(fact_of, relief.leaving)),
            tuple(map(fact_of, self.ended)),
        )

    def _choose_scope(self, statement: Statement, label: str | None) -> ScopeRow | None:
        """Return the named scope or the session's current one; for ✓ and ~, the scope of the target."""
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
        """Return the scope with facts on a target: the session's own, the only one, or the newest."""
        homes = [fact.scope_id for fact in self.tx.facts.live_on(key, COMPARED, self.source.user_id or "")]
        if not homes or (current is not None and current.id in homes):
            return current
        if None in homes:
            return None
        return self.tx.facts.scopes([homes[0] or 0]).get(homes[0] or 0)

    def _live_in(self, statement: Statement, scope_id: int | None) -> dict[str, FactRow]:
        rows = self.tx.facts.live_in(statement.key, scope_id, self.source.user_id)
        return {fact.mark: fact for fact in rows}

    def _judge(self, statement: Statement, scope: ScopeRow | None) -> None:
        """Store a statement with a guessed target. It only replaces facts that it clearly updates."""
        scope_id = None if scope is None else scope.id
        rivals = find_rivals(self.tx, statement, scope_id, self.source.user_id)
        if rivals.same is not None:
            self._confirm(rivals.same, replace(statement, target=rivals.same.target), scope)
            return
        if self.source.may_replace_only:
            rivals = Rivals(None, (), (*rivals.replaced, *rivals.doubtful))
        ending = [*self._find_named(), *rivals.replaced]
        ending = list({fact.id: fact for fact in ending}.values())
        if ending and not ending[0].target.startswith(NOTE):
            # Statements about one subject share one history.
            statement = replace(statement, target=ending[0].target)
        known = self._live_in(statement, scope_id)
        question = known.get(Mark.UNKNOWN) if statement.mark in ANSWERS else None
        if question is not None:
            ending.append(question)
        ended = {fact.id for fact in ending}
        for target in number_targets(statement):
            other = known.get(statement.mark)
            if other is None or other.id in ended:
                break
            statement = replace(statement, target=target)
            known = self._live_in(statement, scope_id)
        number = self._add(statement, scope, ending)
        doubtful = [fact for fact in rivals.doubtful if fact.id not in ended]
        self._link(number, doubtful)
        outcome = Outcome.SUPERSEDED if ending else Outcome.STORED
        self._note(number, statement, outcome, scope, ending, doubtful)

    def _find_named(self) -> list[FactRow]:
        """Return the facts that the caller replaces. One that isn't live raises Refused."""
        rows = self.tx.facts.get(self.source.replaces)
        for number in self.source.replaces:
            row = rows.get(number)
            if row is None or row.user_id not in (None, self.source.user_id):
                raise NotFound(f"There is no fact {ref_of(number)!r}. Nothing was stored.")
            if row.state != "live":
                by = f" by {ref_of(row.superseded_by)}" if row.superseded_by is not None else ""
                raise Refused(f"{ref_of(number)} is already {row.state}{by}. Nothing was stored.")
        return list(rows.values())

    def _link(self, number: int, doubtful: Sequence[FactRow]) -> None:
        row = self.tx.facts.get([number])[number]
        for older in doubtful:
            self.tx.facts.contradict(older.id, number, MAY_REPLACE)
            self.conflicts.append(FactLink(older, row, MAY_REPLACE))

    def _confirm(self, old: FactRow, statement: Statement, scope: ScopeRow | None) -> None:
        """Renew a fact that is stated again, and drop the doubt that it may be outdated."""
        if old.message_id not in (None, self.source.message_id) and not is_confirmed(self.tx, old):
            ref = f"fact:{ref_of(old.id)}"
            self.tx.audit.record(at=self.source.now, actor=self.source.actor, operation=CONFIRM, ref=ref)
        self.tx.facts.refer({old.id: 1}, self.source.now)
        self.tx.facts.confirm(old.id)
        if may_be_hot(self.source.stated_by) and (scope is None or scope.closed_at is None):
            self.tx.facts.heat(old.id)
        self._note(old.id, statement, Outcome.UNCHANGED, scope)

    def _put(self, statement: Statement, scope: ScopeRow | None, known: dict[str, FactRow]) -> None:
        old = known.get(statement.mark)
        if old is not None and is_same_content(old.content, statement.content):
            self._confirm(old, statement, scope)
            return
        question = known.get(Mark.UNKNOWN) if statement.mark in ANSWERS else None
        ending = {fact.id: fact for fact in (old, question, *self._find_named()) if fact is not None}
        number = self._add(statement, scope, list(ending.values()))
        outcome = (
            Outcome.SUPERSEDED if ending.keys() - {question.id if question else None} else Outcome.STORED
        )
        self._note(number, statement, outcome, scope, list(ending.values()))
        self.conflicts += record_conflicts(self.tx, number, statement.key)

    def _retire(self, statement: Statement, scope: ScopeRow | None, known: Sequence[FactRow]) -> None:
        if not known:
            where = f" in {scope.label}" if scope is not None else ""
            raise NotFound(f"There is no live fact about {statement.target!r}{where}. Nothing was retired.")
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
            stated_by=self.source.stated_by,
            user_id=self.source.user_id,
            hot=may_be_hot(self.source.stated_by),
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
        doubtful: Sequence[FactRow] = (),
    ) -> None:
        self.ended += ended
        self.stored.append(
            Stored(
                ref_of(number),
                statement.mark,
                statement.target,
                outcome,
                None if scope is None else scope.label,
                tuple(ref_of(fact.id) for fact in ended),
                tuple(ref_of(fact.id) for fact in doubtful),
            )
        )


def is_confirmed(tx: Reads, fact: FactRow) -> bool:
    """True if a message's fact was stated again elsewhere, so that it has another source."""
    return any(entry.operation == CONFIRM for entry in tx.audit.on(f"fact:{ref_of(fact.id)}"))


def may_be_hot(stated_by: str | None) -> bool:
    """False for facts from imported data or a tool's output: they stay cold until confirmed."""
    return stated_by not in ("import", "tool")


def put_passage(tx: Writes, number: int, fact: FactRow | NewFact, scope: ScopeRow | None) -> None:
    """Index a fact for recall by its text and by the words that people would use for it."""
    words = find_words(fact.mark, fact.target, fact.content)
    tx.passages.put(
        KIND,
        ref_of(number),
        text=format_line(fact.mark, fact.target, fact.content),
        at=fact.recorded_at,
        session_id=fact.session_id,
        also=words if scope is None else f"{words} {scope.label}",
        group=None if scope is None else scope.key,
        user_id=fact.user_id,
    )


@lru_cache(maxsize=2 * MAX_LINES)
def find_words(mark: str, target: str, content: str) -> str:
    """Return the words that people would use for a fact.

    It takes a while, and the result is cached: call it before the transaction that needs it.
    """
    also = (
        MEANING[Mark(mark)],
        find_counterparts(format_line(mark, target, content)),
        name_kinds(f"{target} {content}"),
        # A fact in the notation says it in its target.
        *((name_questions(content), sign_attributes(content)) if is_own_target(target, content) else ()),
    )
    return " ".join(filter(None, also))


def record_conflicts(tx: Writes, number: int, key: str) -> list[FactLink]:
    """Record the live facts that a new fact contradicts."""
    mine = tx.facts.get([number])[number]
    # Another user's facts are not reported.
    others = tx.facts.live_on(key, COMPARED, mine.user_id or "")
    against = [other for other in others if are_contradictory(mine, other)]
    for other in against:
        tx.facts.contradict(other.id, mine.id)
    return [FactLink(other, mine, CONTRADICTS) for other in against]


def removal_key(fact: FactRow) -> str:
    """Return the key for recording the removal of a fact. It doesn't reveal the content."""
    # A fact that was replaced in the call that stated it has the same target and time as the next.
    is_instant = fact.ended_at == fact.recorded_at
    scope = None if fact.scope is None else key_of(fact.scope)
    return make_key(fact.mark, fact.key, scope, fact.user_id, fact.recorded_at, fact.actor, is_instant)


def remove_facts(tx: Writes, numbers: Sequence[int], at: float, *, forgotten: bool = False) -> None:
    """Erase facts with their passages, and record the removals."""
    rows = tx.facts.get(numbers).values()
    tx.tombstones.put([Tombstone(KIND, removal_key(row), at, forgotten) for row in rows])
    for number in numbers:
        tx.passages.remove(KIND, ref_of(number))
    tx.facts.erase(numbers)


def reindex_facts(tx: Writes, numbers: Sequence[int]) -> None:
    """Index the live facts among these for recall."""
    rows = tx.facts.get(numbers)
    scopes = tx.facts.scopes({row.scope_id for row in rows.values() if row.scope_id is not None})
    for row in rows.values():
        if row.state == "live":
            put_passage(tx, row.id, row, scopes.get(row.scope_id or 0))
