"""``memory.facts``: what was decided, kept in the notation, hot or cold, with its whole history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from mnemos.errors import Disabled, InvalidInput, MnemosError, Refused, TooLarge
from mnemos.facts import importing, pressure, scopes, undo
from mnemos.facts.block import Lines
from mnemos.facts.importing import Report
from mnemos.facts.model import KIND, Fact, Ticked, Written, fact_of, number_of, ref_of
from mnemos.facts.reading import Reading, conflict_of, hot_set, known_scope
from mnemos.facts.turns import Turn
from mnemos.facts.writing import Source, Write, put_passage
from mnemos.inputs import optional_moment, whole
from mnemos.language.notation import MAX_LINES, Statement, key_of, looks_like, parse
from mnemos.language.statements import statements
from mnemos.storage.base import Reads, Writes
from mnemos.storage.facts import Attendance, FactRow, Hot
from mnemos.storage.foreign import HermesFact
from mnemos.text.secrets import find_secrets, redact

_REMOVED_AT_ONCE = 50
# All are kept; an answer names the first.
_CONFLICTS_NAMED = 10
_DAY = 86400.0
_FLUSH_SECONDS = 0.5

log = logging.getLogger("mnemos.facts")


class Facts(Reading):
    """The facts of one space. Every method is one transaction unless it says otherwise."""

    @property
    def longest(self) -> int:
        """The characters that a content may have."""
        return self._settings.max_fact_characters

    # --- writing ----------------------------------------------------------------------------

    def write(
        self,
        content: str,
        *,
        scope: str | None = None,
        session_id: str | None = None,
        message_id: int | None = None,
        valid_from: float | None = None,
    ) -> Written:
        """Store facts written in the notation, one a line: all of them or none.

        A statement replaces the live one of its type, target and scope; the same again changes nothing but
        its reference time. ``scope``: a unit of work, opened by its first fact; without it, the one this
        session wrote to last. ``valid_from``: since when it holds, if not from now on.
        """
        self._check_enabled()
        stated = parse(content, most=self.longest)
        return self.state(
            stated, scope=scope, session_id=session_id, message_id=message_id, valid_from=valid_from
        )

    def remember(
        self,
        text: str,
        *,
        target: str | None = None,
        scope: str | None = None,
        session_id: str | None = None,
    ) -> Written:
        """Store plain sentences, or notation: their type and target are guessed where nothing says them.

        A guessed target never replaces a fact that says something else.
        """
        self._check_enabled()
        # Models leave a text empty that they do not mean.
        target = target or None
        if target is None and isinstance(text, str) and looks_like(text):
            return self.write(text, scope=scope, session_id=session_id)
        if isinstance(text, str) and self._settings.redact:
            # Before a target is guessed: it must not be made of a secret.
            text = redact(text)
        found = statements(text, target=target, most=self.longest)
        if len(found) > MAX_LINES:
            raise TooLarge(f"the text makes {len(found)} facts; at most {MAX_LINES}: tell it in parts")
        return self.state(found, scope=scope, session_id=session_id, guessed=target is None)

    def state(
        self,
        stated: Sequence[Statement],
        *,
        scope: str | None = None,
        session_id: str | None = None,
        message_id: int | None = None,
        valid_from: float | None = None,
        guessed: bool = False,
        unscoped: bool = False,
    ) -> Written:
        """Store statements, all or none. ``guessed``: their targets are, and replace nothing else.

        ``unscoped``: they belong to no unit of work, whatever the session works on.
        """
        self._check_enabled()
        redacted = [self._redacted(statement) for statement in stated]
        # Models fill what they have nothing to say for with an empty text.
        label = None if scope is None or scope == "" else self._public("scope", scopes.checked_label(scope))
        source = Source(
            session_id=self._session(session_id),
            actor=self._settings.actor,
            now=self._clock(),
            origin=session_id,
            message_id=None if message_id is None else whole("message_id", message_id),
            valid_from=optional_moment("valid_from", valid_from),
            is_guessing=guessed,
            is_unscoped=unscoped,
        )
        return self._storage.write(lambda tx: self._write(tx, redacted, label, source))

    def tick(self, turn: int, message: str = "", *, session_id: str | None = None) -> Ticked:
        """A session enters a turn, with the user's message: scopes close that are done, idle or left.

        Turns are counted per session; a lower number restarts the count.
        """
        self._check_enabled()
        number = whole("turn", turn)
        if not isinstance(message, str):
            raise InvalidInput(f"message is a {type(message).__name__}; use a text")
        session, now = self._session(session_id), self._clock()

        def work(tx: Writes) -> Ticked:
            attendance = self._caught_up(tx, session, now)
            ticked = Turn(tx, session, now, attendance, number, message)
            ticked.run()
            settled = self._settled(tx, session, ticked.attendance.turn, now)
            return Ticked(
                number,
                settled[0].gauge(self._budget.facts),
                tuple(scope.label for scope in ticked.closed.values()),
                tuple(scope.label for scope in ticked.reopened.values()),
                tuple(map(fact_of, settled[1])),
            )

        return self._storage.write(work)

    def bring_in(
        self, facts: Sequence[HermesFact], progress: Callable[[float], None] | None = None
    ) -> Report:
        """Import the facts of a hermes-memory database, with their times; again, it changes nothing."""
        self._check_enabled()
        clean = redact if self._settings.redact else str
        report = importing.bring_in(self._storage, facts, clean, progress or (lambda _: None))
        if report.live or report.history:
            what = f"{report.live + report.history} facts of hermes-memory"
            self._storage.write(lambda tx: self._note(tx, undo.IMPORT, importing.ACTOR, what))
        return report

    # --- taking away ------------------------------------------------------------------------

    def purge(
        self,
        *,
        scope: str | None = None,
        older_than_days: float | None = None,
        dry_run: bool = False,
    ) -> int:
        """Remove superseded and retired facts of a scope, or of an age, or both; how many.

        Live facts are never touched. Takes several short transactions; it cannot be undone.
        """
        if scope is None and older_than_days is None:
            raise InvalidInput("name a scope or older_than_days; without either, all history would go")
        before = self._clock() - _days(older_than_days) * _DAY if older_than_days is not None else None
        at = None if scope is None else self._storage.read(lambda tx: known_scope(tx, scope).id)
        if dry_run:
            return self._storage.read(lambda tx: tx.facts.count_ended(at, before))
        self._check_enabled()
        removed = 0
        while some := self._storage.read(lambda tx: tx.facts.ended(at, before, _REMOVED_AT_ONCE)):
            self._storage.write(lambda tx: self._remove(tx, some))
            removed += len(some)
        if removed:
            what = f"{removed} ended facts"
            self._storage.write(lambda tx: self._note(tx, undo.PURGE, "", what))
        return removed

    def forget(
        self, fact_id: str | None = None, *, target: str | None = None, scope: str | None = None
    ) -> int:
        """Erase a fact, or everything ever said on a target, in rows, index and log; how many rows.

        It cannot be undone. Takes several short transactions. What is not there raises NotFound.
        ``Memory.forget`` also reaches the free pages of the file.
        """
        self._check_enabled()
        numbers = self._meant(fact_id, target, scope)
        for start in range(0, len(numbers), _REMOVED_AT_ONCE):
            some = numbers[start : start + _REMOVED_AT_ONCE]
            self._storage.write(lambda tx: self._erase(tx, some))  # noqa: B023
        return len(numbers)

    def flush(self) -> None:
        """Store which facts were found since the last write; done by itself with each write.

        It is not worth waiting or failing for: what cannot be stored now is lost.
        """
        if not self._references or self._settings.disabled or self._storage.read_only:
            return
        try:
            self._storage.write(lambda tx: self._references.store(tx, self._clock()), within=_FLUSH_SECONDS)
        except MnemosError as exc:
            log.warning("which facts were found was not counted: %s", exc)

    def mend(self) -> int:
        """Let recall find every live fact again, after damage; how many it had lost. In short steps."""
        missing = [fact for fact in self.listed() if self._is_lost(fact)]
        for start in range(0, len(missing), _REMOVED_AT_ONCE):
            some = [number_of(fact.id) for fact in missing[start : start + _REMOVED_AT_ONCE]]
            self._storage.write(lambda tx: _put_again(tx, some))  # noqa: B023
        return len(missing)

    # --- inside -----------------------------------------------------------------------------

    def _write(self, tx: Writes, stated: Sequence[Statement], label: str | None, source: Source) -> Written:
        attendance = self._caught_up(tx, source.session_id, source.now)
        write = Write(tx, source, attendance)
        for statement in stated:
            write.state(statement, label)
        tx.facts.attend(source.session_id, write.attendance, source.now)
        tx.facts.touch(source.session_id, write.touched, write.attendance.turn, source.now)
        lines, leaving = self._settled(tx, source.session_id, write.attendance.turn, source.now)
        changes = undo.written_down(write.stored, write.closed)
        if changes is not None:
            self._note(tx, undo.WRITE, f"fact:{write.stored[0].id}", changes)
        return Written(
            tuple(write.stored),
            lines.gauge(self._budget.facts),
            tuple(scope.label for scope in write.closed.values()),
            tuple(scope.label for scope in write.reopened.values()),
            tuple(map(conflict_of, write.conflicts[:_CONFLICTS_NAMED])),
            tuple(map(fact_of, leaving)),
        )

    def _caught_up(self, tx: Writes, session: str, now: float) -> Attendance:
        self._references.store(tx, now)
        return tx.facts.attendance(session) or Attendance()

    def _settled(self, tx: Writes, session: str, turn: int, now: float) -> tuple[Lines, tuple[FactRow, ...]]:
        hot = hot_set(tx, self._budget.facts)
        settled = pressure.settle(hot, self._budget.facts, lambda: _idle_scopes(tx, hot, session, turn, now))
        if settled.leaving:
            tx.facts.cool([fact.id for fact in settled.leaving])
        return settled.lines, settled.leaving

    def _meant(self, fact_id: str | None, target: str | None, scope: str | None) -> list[int]:
        if (fact_id is None) == (target is None):
            raise InvalidInput("name a fact by its id or a target, one of the two")
        if fact_id is not None:
            return [number_of(self.get(fact_id).id)]
        return [number_of(fact.id) for fact in self.history(target or "", scope=scope)]

    def _is_lost(self, fact: Fact) -> bool:
        passage = self._storage.read(lambda tx: tx.passages.find(KIND, fact.id))
        group = None if fact.scope is None else key_of(fact.scope)
        return passage is None or passage.group != group

    def _remove(self, tx: Writes, numbers: Sequence[int]) -> None:
        for number in numbers:
            tx.passages.remove(KIND, ref_of(number))
        tx.facts.erase(numbers)

    def _erase(self, tx: Writes, numbers: Sequence[int]) -> None:
        self._remove(tx, numbers)
        for number in numbers:
            tx.audit.scrub(f"fact:{ref_of(number)}")
            self._note(tx, undo.FORGET, f"fact:{ref_of(number)}", None)

    def _note(self, tx: Writes, operation: str, ref: str, after: str | None) -> None:
        tx.audit.record(
            at=self._clock(), actor=self._settings.actor, operation=operation, ref=ref, after=after
        )

    def _redacted(self, statement: Statement) -> Statement:
        if not self._settings.redact:
            return statement
        target = self._public("target", statement.target)
        return Statement(statement.mark, target, redact(statement.content))

    def _public(self, what: str, name: str) -> str:
        """A name, which stands in prompts, lists and logs; one that holds a secret raises Refused."""
        if self._settings.redact and find_secrets(name):
            raise Refused(f"the {what} of a fact holds a secret; name it by what it is for, such as ci.token")
        return name

    def _check_enabled(self) -> None:
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")


def _put_again(tx: Writes, numbers: Sequence[int]) -> None:
    rows = tx.facts.get(numbers)
    scopes_of = tx.facts.scopes({row.scope_id for row in rows.values() if row.scope_id is not None})
    for row in rows.values():
        if row.state == "live":
            put_passage(tx, row.id, row, scopes_of.get(row.scope_id or 0))


def _idle_scopes(tx: Reads, hot: Hot, session: str, turn: int, now: float) -> frozenset[int]:
    """Open scopes of hot facts that this session left some turns ago, or that nobody touched for long."""
    since = now - scopes.SHARED_SECONDS
    left = {scope.id for scope in tx.facts.idle(session, turn=turn - scopes.SHIFT_TURNS, since=since)}
    there = tx.facts.scopes({fact.scope_id for fact in hot.others if fact.scope_id is not None})
    return frozenset(left | {scope.id for scope in there.values() if scope.touched_at < since})


def _days(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise InvalidInput(f"older_than_days is {value!r}; use a number of days from 0")
    return float(value)
