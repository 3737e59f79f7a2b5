"""``memory.facts``: constraints, decisions and values, kept with their history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final

from mnemos.errors import InvalidInput, MnemosError, TooLarge
from mnemos.facts import fact_undo, hermes_facts
from mnemos.facts.fact import (
    Ticked,
    Withdrawn,
    Written,
    fact_of,
    ref_of,
)
from mnemos.facts.fact_inputs import (
    check_days,
    check_public,
    check_stater,
    is_own_session,
    list_texts,
    parse_refs,
    redact_statement,
)
from mnemos.facts.fact_lookups import FactLookups
from mnemos.facts.fact_reader import (
    get_row,
    read_history,
)
from mnemos.facts.fact_upkeep import erase_facts, find_taken, purge_ended, repair_index, withdraw_facts
from mnemos.facts.fact_writer import FactWriter, Source, find_words
from mnemos.facts.hermes_facts import Report
from mnemos.facts.hot_set import Relief, read_hot, relieve
from mnemos.facts.scopes import Turn, find_idle, find_scope, normalize_label
from mnemos.inputs import Moment, optional_name, whole
from mnemos.language.closing import find_closings
from mnemos.language.moments import read_moment
from mnemos.language.notation import (
    MAX_LINES,
    Statement,
    looks_like,
    parse,
)
from mnemos.language.statements import make_statements
from mnemos.language.threats.guard import check_texts, record_allowed
from mnemos.setting_values import Stater
from mnemos.storage.base import Writes
from mnemos.storage.facts import Attendance
from mnemos.storage.imports import HermesFact
from mnemos.text.secrets import redact

_DAY: Final = 86400.0
_FLUSH_SECONDS: Final = 0.5

log = logging.getLogger("mnemos.facts")


class Facts(FactLookups):
    """The facts of one space. Every method is one transaction unless it says otherwise."""

    @property
    def longest(self) -> int:
        """The maximum number of characters in the content of a fact."""
        return self._settings.max_fact_characters

    # --- write ------------------------------------------------------------------------------

    def write(
        self,
        content: str,
        *,
        scope: str | None = None,
        session_id: str | None = None,
        message_id: int | None = None,
        valid_from: Moment | None = None,
        user_id: str | None = None,
        stated_by: Stater | None = None,
        allow: bool = False,
    ) -> Written:
        """Store facts written in the notation, one per line: all of them or none.

        A statement replaces the live one with the same type, target and scope. Repeating a fact only renews
        its reference time. ``scope`` is a unit of work, opened by its first fact. It defaults to the scope
        that this session last wrote to. ``valid_from`` is when the facts became true, by default now. Facts
        that look like prompt injections raise Refused, unless a person passes ``allow``. A fact with a
        ``user_id`` belongs to that user, a fact without one is shared.
        """
        self._settings.check_enabled()
        return self.state(
            parse(content, most=self.longest),
            scope=scope,
            session_id=session_id,
            message_id=message_id,
            valid_from=valid_from,
            user_id=user_id,
            stated_by=stated_by,
            allow=allow,
        )

    def remember(
        self,
        text: str,
        *,
        about: str | None = None,
        target: str | None = None,
        replaces: str | Sequence[str] | None = None,
        scope: str | None = None,
        session_id: str | None = None,
        message_id: int | None = None,
        user_id: str | None = None,
        stated_by: Stater | None = None,
        allow: bool = False,
    ) -> Written:
        """Store facts given as plain sentences or in the notation.

        Types and targets of sentences are guessed from their words. The update judge compares a sentence with
        the most similar live facts: a clear update replaces them, and a doubtful one is linked to them and
        both are kept. ``replaces`` names facts to replace, and ``about`` (or ``target``) the subject, such as
        ``user.home``, whose known facts are replaced.
        """
        self._settings.check_enabled()
        # Models pass an empty string for an argument they omit.
        about = about or target or None
        if about is None and isinstance(text, str) and looks_like(text):
            found = parse(text, most=self.longest)
        else:
            if isinstance(text, str) and self._settings.redact:
                # Secrets go first, because a guessed target must not contain one.
                text = redact(text)
            found = make_statements(text, target=about, most=self.longest)
        if len(found) > MAX_LINES:
            raise TooLarge(f"The text makes {len(found)} facts. The limit is {MAX_LINES}. Send it in parts.")
        return self.state(
            found,
            scope=scope,
            session_id=session_id,
            message_id=message_id,
            replaces=replaces,
            user_id=user_id,
            stated_by=stated_by,
            guessed=about is None and not looks_like(text),
            allow=allow,
            original=text,
        )

    def state(
        self,
        stated: Sequence[Statement],
        *,
        scope: str | None = None,
        session_id: str | None = None,
        message_id: int | None = None,
        valid_from: Moment | None = None,
        replaces: str | Sequence[str] | None = None,
        user_id: str | None = None,
        stated_by: Stater | None = None,
        guessed: bool = False,
        undated: bool = False,
        unscoped: bool = False,
        allow: bool = False,
        original: str = "",
    ) -> Written:
        """Store statements, all or none.

        ``guessed``: the targets are guesses, so the update judge decides what they replace. ``undated``: the
        statements may be older than known facts, so the judge replaces nothing. ``unscoped``: they belong to
        no scope. ``original`` is the text they came from. It is scanned as a whole, because an injection may
        be split into harmless sentences.
        """
        self._settings.check_enabled()
        clean = [redact_statement(statement, self._settings) for statement in stated]
        label = None if not scope else check_public("scope of a fact", normalize_label(scope), self._settings)
        user = optional_name("user_id", user_id)
        marked = check_texts(self._storage, "fact", list_texts(clean, label, original), allow=allow)
        now = self._clock()
        source = Source(
            session_id=check_public("session_id", self._session(session_id), self._settings),
            actor=self._settings.current_actor,
            now=now,
            origin=None if is_own_session(session_id) else session_id,
            message_id=None if message_id is None else whole("message_id", message_id),
            valid_from=read_moment("valid_from", valid_from, now),
            stated_by=check_stater(stated_by) or self._settings.stated_by,
            user_id=None if user is None else check_public("user_id", user, self._settings),
            has_guesses=guessed,
            may_replace_only=undated,
            replaces=parse_refs(replaces),
            is_unscoped=unscoped,
        )

        for statement in clean:
            find_words(statement.mark, statement.target, statement.content)

        def work(tx: Writes) -> Written:
            for text, found in marked.items():
                record_allowed(tx, text, found, at=source.now, actor=source.actor)
            return self._write(tx, clean, label, source)

        return self._storage.write(work)

    def tick(
        self, turn: int, message: str = "", *, session_id: str | None = None, user_id: str | None = None
    ) -> Ticked:
        """Begin a turn with the user's message, and close scopes that are done, idle or abandoned.

        Turns are counted per session; a lower number restarts the count.
        """
        self._settings.check_enabled()
        number = whole("turn", turn)
        if not isinstance(message, str):
            raise InvalidInput(f"message must be a string, not {type(message).__name__}")
        session = check_public("session_id", self._session(session_id), self._settings)
        now, user = self._clock(), optional_name("user_id", user_id)
        closings = find_closings(message)

        def work(tx: Writes) -> Ticked:
            entered = Turn(tx, session, now, self._attend(tx, session, now), number, message, closings)
            entered.run()
            relief = self._relieve(tx, session, entered.attendance.turn, now, user)
            return Ticked(
                number,
                relief.lines.gauge(self._budget.facts),
                tuple(scope.label for scope in entered.closed.values()),
                tuple(scope.label for scope in entered.reopened.values()),
                tuple(map(fact_of, relief.leaving)),
            )

        return self._storage.write(work)

    def import_hermes(
        self, facts: Sequence[HermesFact], progress: Callable[[float], None] | None = None
    ) -> Report:
        """Import the facts of a hermes-memory database with their times. Importing twice adds nothing."""
        self._settings.check_enabled()
        clean = redact if self._settings.redact else str
        report = hermes_facts.import_facts(
            self._storage, facts, clean, progress or (lambda _: None), most=self.longest
        )
        if report.numbers:
            what = f"{len(report.numbers)} facts of hermes-memory"
            self._storage.write(lambda tx: self._log(tx, fact_undo.IMPORT, hermes_facts.ACTOR, what))
        return report

    # --- remove and repair ------------------------------------------------------------------

    def purge(
        self,
        *,
        scope: str | None = None,
        older_than_days: float | None = None,
        dry_run: bool = False,
    ) -> int:
        """Delete ended facts of a scope, above an age, or both; return their number.

        Ended facts are superseded or retired; live ones are never touched. Takes several short transactions.
        Can't be undone.
        """
        if scope is None and older_than_days is None:
            raise InvalidInput(
                "Pass a scope or older_than_days. Without them, the whole history would be deleted."
            )
        before = self._clock() - check_days(older_than_days) * _DAY if older_than_days is not None else None
        scope_id = None if scope is None else self._storage.read(lambda tx: find_scope(tx, scope).id)
        if dry_run:
            return self._storage.read(lambda tx: tx.facts.count_ended(scope_id, before))
        self._settings.check_enabled()
        return purge_ended(self._storage, scope_id, before, self._log, self._clock())

    def withdraw(self, ids: str | Sequence[str], *, user_id: str | None = None) -> Withdrawn:
        """Retire live facts by their ids, all or none, so that recall no longer finds them.

        The history keeps them, and undo restores them. An unknown id, or another user's, raises NotFound. A
        fact that is not live raises Refused.
        """
        self._settings.check_enabled()
        numbers = parse_refs(ids)
        if not numbers:
            raise InvalidInput("Pass the ids of the facts to withdraw, such as f12.")
        user, actor, now = optional_name("user_id", user_id), self._settings.current_actor, self._clock()

        def work(tx: Writes) -> Withdrawn:
            rows, changes = withdraw_facts(tx, numbers, user=user, actor=actor, now=now)
            entry = self._log(tx, fact_undo.WITHDRAW, f"fact:{ref_of(numbers[0])}", changes)
            return Withdrawn(tuple(map(fact_of, rows)), entry)

        return self._storage.write(work)

    def forget(
        self,
        fact_id: str | None = None,
        *,
        target: str | None = None,
        scope: str | None = None,
        user_id: str | None = None,
    ) -> int:
        """Erase a fact, or all facts on a target, from the rows, the index and the log.

        Returns the number of rows, and raises NotFound if there are none. Takes several short transactions.
        Can't be undone. ``Memory.forget`` also clears the free pages of the file.
        """
        self._settings.check_enabled()
        if (fact_id is None) == (target is None):
            raise InvalidInput("Pass either the id of a fact or a target.")
        user = optional_name("user_id", user_id)
        if fact_id is not None:
            numbers = [self._storage.read(lambda tx: get_row(tx, fact_id, user)).id]
        else:
            rows = self._storage.read(lambda tx: read_history(tx, target or "", scope=scope, user=user))
            numbers = [row.id for row in rows]
        erase_facts(self._storage, numbers, self._log, self._clock())
        return len(numbers)

    def forget_taken(
        self, session_id: str, message_ids: Collection[int], text: str | None = None
    ) -> tuple[list[str], list[str]]:
        """Erase the facts that came only from these messages of a session; return their ids.

        Also returns the ids of facts that are kept but may repeat them: facts stated again elsewhere, and
        facts of the session that ``text`` contains, by default all of them. Takes several short transactions.
        """
        self._settings.check_enabled()
        taken, further = self._storage.read(lambda tx: find_taken(tx, session_id, message_ids, text))
        erase_facts(self._storage, taken, self._log, self._clock())
        return list(map(ref_of, taken)), list(map(ref_of, further))

    def flush(self) -> None:
        """Store which facts were found since the last write. Every write does this too.

        A failure is logged, not raised.
        """
        if not self._references or self._settings.disabled or self._storage.read_only:
            return
        try:
            self._storage.write(lambda tx: self._references.store(tx, self._clock()), within=_FLUSH_SECONDS)
        except MnemosError as exc:
            log.warning("the use of facts was not counted: %s", exc)

    def repair_index(self) -> int:
        """Index live facts that recall can't find, in short transactions; return their number."""
        return repair_index(self._storage, self.iterate())

    def _write(self, tx: Writes, stated: Sequence[Statement], label: str | None, source: Source) -> Written:
        session, now = source.session_id, source.now
        writer = FactWriter(tx, source, self._attend(tx, session, now))
        for statement in stated:
            writer.apply(statement, label)
        turn = writer.attendance.turn
        tx.facts.attend(session, writer.attendance, now)
        tx.facts.touch(session, writer.touched, turn, now)
        relief = self._relieve(tx, session, turn, now, source.user_id)
        changes = fact_undo.describe_changes(writer.stored, writer.closed)
        if changes is not None:
            self._log(tx, fact_undo.WRITE, f"fact:{writer.stored[0].id}", changes)
        return writer.report(relief, self._budget)

    def _attend(self, tx: Writes, session: str, now: float) -> Attendance:
        self._references.store(tx, now)
        return tx.facts.attendance(session) or Attendance()

    def _relieve(self, tx: Writes, session: str, turn: int, now: float, user: str | None) -> Relief:
        hot = read_hot(tx, self._budget.facts, user)
        relief = relieve(hot, self._budget.facts, lambda: find_idle(tx, hot, session, turn, now))
        if relief.leaving:
            tx.facts.cool([fact.id for fact in relief.leaving])
        return relief

    def _log(self, tx: Writes, operation: str, ref: str, after: str | None) -> int:
        actor = self._settings.current_actor
        return tx.audit.record(at=self._clock(), actor=actor, operation=operation, ref=ref, after=after)
