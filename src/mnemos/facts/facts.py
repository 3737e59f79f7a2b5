"""``memory.facts``: constraints, decisions and values, kept with their history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from mnemos.errors import Disabled, InvalidInput, MnemosError, TooLarge
from mnemos.facts import fact_undo, hermes_facts
from mnemos.facts.fact import (
    Conflict,
    Fact,
    FactList,
    Scope,
    Status,
    Ticked,
    Withdrawn,
    Written,
    conflict_of,
    fact_of,
    is_same_content,
    ref_of,
    scope_of,
)
from mnemos.facts.fact_inputs import (
    check_days,
    check_public,
    check_stater,
    list_texts,
    parse_refs,
    redact_statement,
)
from mnemos.facts.fact_reader import (
    PAGE,
    Ranking,
    References,
    find_rows,
    get_row,
    iterate_rows,
    parse_filter,
    read_history,
    read_status,
)
from mnemos.facts.fact_upkeep import erase_facts, purge_ended, repair_index, withdraw_facts
from mnemos.facts.fact_writer import FactWriter, Source
from mnemos.facts.hermes_facts import Report
from mnemos.facts.hot_set import Budget, Relief, read_hot, relieve
from mnemos.facts.scopes import Turn, find_idle, find_scope, normalize_label
from mnemos.inputs import in_range, name, optional_moment, optional_name, whole
from mnemos.language.notation import (
    MAX_LINES,
    Statement,
    key_of,
    looks_like,
    mark_of,
    normalize_target,
    parse,
)
from mnemos.language.statements import make_statements
from mnemos.language.threats.guard import check_texts, record_allowed
from mnemos.settings import Settings
from mnemos.storage.base import Storage, Writes
from mnemos.storage.facts import Attendance
from mnemos.storage.imports import HermesFact
from mnemos.text.secrets import redact

MOST_FOUND: Final = 20
_MOST_REFLECTED: Final = 100
_LOOKED_FOR: Final = 300
_DAY: Final = 86400.0
_FLUSH_SECONDS: Final = 0.5

log = logging.getLogger("mnemos.facts")


class Facts:
    """The facts of one space. Every method is one transaction unless it says otherwise."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        clock: Callable[[], float],
        ranking: Ranking,
        session_id: str,
    ) -> None:
        """``session_id`` is the session whose turns count when a caller names none."""
        self._storage = storage
        self._settings = settings
        self._clock = clock
        self._ranking = ranking
        self._session_id = session_id
        self._references = References()
        self._budget = Budget(settings.hot_tokens, settings.hot_tokens + 30)

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
        valid_from: float | None = None,
        user_id: str | None = None,
        stated_by: str | None = None,
        allow: bool = False,
    ) -> Written:
        """Store facts written in the notation, one per line: all of them or none.

        A statement replaces the live one of the same type, target and scope. Repeating a fact only renews
        its reference time. ``scope`` is a unit of work, opened by its first fact; the default is the scope
        this session wrote to last. ``valid_from`` is when the facts began to hold, by default now. Facts that
        read like an order to a model raise Refused, unless a person passes ``allow``. A fact with a
        ``user_id`` belongs to that user; without, it is shared.
        """
        self._check_enabled()
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
        stated_by: str | None = None,
        allow: bool = False,
    ) -> Written:
        """Store plain sentences or notation. Types and targets of sentences are guessed from their words.

        The update judge compares a sentence with the live facts most like it. A clear update replaces them;
        a doubtful one is linked to them and both stay. ``replaces`` names facts that are replaced, and
        ``about`` (or ``target``) the subject, such as ``user.home``: what was known about it is replaced.
        """
        self._check_enabled()
        # Models pass an empty string for an argument they leave out.
        about = about or target or None
        if about is None and isinstance(text, str) and looks_like(text):
            found = parse(text, most=self.longest)
        else:
            if isinstance(text, str) and self._settings.redact:
                # Before a target is guessed, which must not be made of a secret.
                text = redact(text)
            found = make_statements(text, target=about, most=self.longest)
        if len(found) > MAX_LINES:
            raise TooLarge(f"the text makes {len(found)} facts, more than {MAX_LINES}; send it in parts")
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
        valid_from: float | None = None,
        replaces: str | Sequence[str] | None = None,
        user_id: str | None = None,
        stated_by: str | None = None,
        guessed: bool = False,
        undated: bool = False,
        unscoped: bool = False,
        allow: bool = False,
        original: str = "",
    ) -> Written:
        """Store statements, all or none.

        With ``guessed``, their targets are guesses, and the update judge decides what they replace. With
        ``undated``, they may be older than what is known, so that they replace nothing by judgement. With
        ``unscoped``, they belong to no scope, whatever the session works on. ``original`` is the text they
        were made of; it is scanned as a whole, because an order may be cut into harmless sentences.
        """
        self._check_enabled()
        clean = [redact_statement(statement, self._settings) for statement in stated]
        label = None if not scope else check_public("scope", normalize_label(scope), self._settings)
        marked = check_texts(self._storage, "fact", list_texts(clean, label, original), allow=allow)
        source = Source(
            session_id=self._session(session_id),
            actor=self._settings.actor,
            now=self._clock(),
            origin=session_id,
            message_id=None if message_id is None else whole("message_id", message_id),
            valid_from=optional_moment("valid_from", valid_from),
            stated_by=check_stater(stated_by) or self._settings.stated_by,
            user_id=optional_name("user_id", user_id),
            has_guesses=guessed,
            may_replace_only=undated,
            replaces=parse_refs(replaces),
            is_unscoped=unscoped,
        )

        def work(tx: Writes) -> Written:
            for text, found in marked.items():
                record_allowed(tx, text, found, at=source.now, actor=source.actor)
            return self._write(tx, clean, label, source)

        return self._storage.write(work)

    def tick(self, turn: int, message: str = "", *, session_id: str | None = None) -> Ticked:
        """Enter a turn of a session with the user's message, and close scopes that are done, idle or left.

        Turns are counted per session; a lower number restarts the count.
        """
        self._check_enabled()
        number = whole("turn", turn)
        if not isinstance(message, str):
            raise InvalidInput(f"message must be a string, not {type(message).__name__}")
        session, now = self._session(session_id), self._clock()

        def work(tx: Writes) -> Ticked:
            entered = Turn(tx, session, now, self._attend(tx, session, now), number, message)
            entered.run()
            relief = self._relieve(tx, session, entered.attendance.turn, now)
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
        self._check_enabled()
        clean = redact if self._settings.redact else str
        report = hermes_facts.import_facts(self._storage, facts, clean, progress or (lambda _: None))
        if report.numbers:
            what = f"{len(report.numbers)} facts of hermes-memory"
            self._storage.write(lambda tx: self._log(tx, fact_undo.IMPORT, hermes_facts.ACTOR, what))
        return report

    # --- read -------------------------------------------------------------------------------

    def status(self, *, session_id: str | None = None, notes: Sequence[str] = ()) -> Status:
        """Return the prompt block of the hot facts, within its token budget.

        ``notes`` is what the block says about the notebook, if there is room.
        """
        optional_name("session_id", session_id)
        return self._storage.read(lambda tx: read_status(tx, self._budget, notes))

    def search(
        self,
        query: str,
        *,
        scope: str | None = None,
        limit: int = 5,
        session_id: str | None = None,
    ) -> FactList:
        """Find live facts that answer a question, hot and cold, best first.

        ``limit`` is 1 to 20. An unknown scope raises NotFound.
        """
        session = self._session(session_id)
        wanted = in_range("limit", limit, MOST_FOUND)
        found = find_rows(self._storage, self._ranking, query, scope, wanted)
        live = [row for row in found if row.state == "live"][:wanted]
        self._references.note(session, live)
        return FactList(map(fact_of, live))

    def reflect(
        self,
        topic: str,
        *,
        scope: str | None = None,
        limit: int = MOST_FOUND,
        session_id: str | None = None,
    ) -> FactList:
        """Find everything on a topic, live facts before replaced and retired ones, best first."""
        session = self._session(session_id)
        wanted = in_range("limit", limit, _MOST_REFLECTED)
        found = find_rows(self._storage, self._ranking, topic, scope, wanted)
        self._references.note(session, [row for row in found if row.state == "live"])
        found.sort(key=lambda row: row.state != "live")
        return FactList(map(fact_of, found[:wanted]))

    def says(self, content: str) -> bool:
        """True if a live fact has exactly this content. Does not count as a reference to it."""
        found = find_rows(self._storage, self._ranking, content[:_LOOKED_FOR], None, MOST_FOUND)
        return any(row.state == "live" and is_same_content(row.content, content) for row in found)

    def live(self, target: str, type: str) -> FactList:
        """Return the live facts of a type on a target, in any scope, newest first."""
        key, mark = key_of(normalize_target(target)), mark_of(type)
        found = self._storage.read(lambda tx: tx.facts.live_on(key, PAGE))
        return FactList(fact_of(row) for row in found if row.mark == mark)

    def get(self, fact_id: str) -> Fact:
        """Return a fact by its id, in any state. An unknown id raises NotFound."""
        return fact_of(self._storage.read(lambda tx: get_row(tx, fact_id)))

    def history(
        self,
        target: str,
        *,
        scope: str | None = None,
        as_of: float | None = None,
        limit: int | None = None,
    ) -> FactList:
        """Return every statement ever made on a target, oldest first; with ``limit``, the newest ones.

        ``as_of`` keeps only what was believed at that moment. A target without facts raises NotFound.
        """
        moment = optional_moment("as_of", as_of)
        most = 1 << 60 if limit is None else whole("limit", limit)
        rows = self._storage.read(lambda tx: read_history(tx, target, scope=scope, as_of=moment, limit=most))
        return FactList(map(fact_of, reversed(rows)))

    def iterate(
        self,
        *,
        scope: str | None = None,
        tier: str = "all",
        states: Sequence[str] = ("live",),
        types: Sequence[str] | None = None,
        as_of: float | None = None,
    ) -> Iterator[Fact]:
        """Yield facts in the order they were learned, read in short pages. ``tier``: hot, cold or all.

        ``as_of`` selects what was believed at that moment.
        """
        wanted = parse_filter(self._storage, scope=scope, tier=tier, states=states, types=types, as_of=as_of)
        return map(fact_of, iterate_rows(self._storage, wanted))

    def list(
        self,
        *,
        scope: str | None = None,
        tier: str = "all",
        states: Sequence[str] = ("live",),
        types: Sequence[str] | None = None,
        as_of: float | None = None,
    ) -> FactList:
        """Return all facts that ``iterate`` yields."""
        return FactList(self.iterate(scope=scope, tier=tier, states=states, types=types, as_of=as_of))

    def count(self) -> int:
        """Return the number of live facts."""
        return self._storage.read(lambda tx: tx.facts.rows_in()[0])

    def scopes(self, *, limit: int = 100, offset: int = 0) -> Sequence[Scope]:
        """Return scopes, open ones first, then by when they were last touched."""
        found = self._storage.read(
            lambda tx: tx.facts.all_scopes(limit=whole("limit", limit), offset=whole("offset", offset))
        )
        return [scope_of(counts) for counts in found]

    def conflicts(self, limit: int = 100) -> Sequence[Conflict]:
        """Return pairs of live facts that contradict each other, newest first."""
        pairs = self._storage.read(lambda tx: tx.facts.conflicts(whole("limit", limit)))
        return [conflict_of(pair) for pair in pairs]

    # --- remove and repair ------------------------------------------------------------------

    def purge(
        self,
        *,
        scope: str | None = None,
        older_than_days: float | None = None,
        dry_run: bool = False,
    ) -> int:
        """Delete superseded and retired facts of a scope, of an age, or both. Returns their number.

        Live facts are never touched. Takes several short transactions. Cannot be undone.
        """
        if scope is None and older_than_days is None:
            raise InvalidInput("name a scope or older_than_days; without either, all history would go")
        before = self._clock() - check_days(older_than_days) * _DAY if older_than_days is not None else None
        scope_id = None if scope is None else self._storage.read(lambda tx: find_scope(tx, scope).id)
        if dry_run:
            return self._storage.read(lambda tx: tx.facts.count_ended(scope_id, before))
        self._check_enabled()
        return purge_ended(self._storage, scope_id, before, self._log)

    def withdraw(self, ids: str | Sequence[str], *, user_id: str | None = None) -> Withdrawn:
        """Retire live facts by their ids, all or none: they no longer hold and recall no longer finds them.

        The history keeps them, and undo restores them. An unknown id, or one of another user, raises
        NotFound; a fact that no longer holds raises Refused.
        """
        self._check_enabled()
        numbers = parse_refs(ids)
        if not numbers:
            raise InvalidInput("name the facts to withdraw by their ids, such as f12")
        user, actor, now = optional_name("user_id", user_id), self._settings.actor, self._clock()

        def work(tx: Writes) -> Withdrawn:
            rows, changes = withdraw_facts(tx, numbers, user=user, actor=actor, now=now)
            entry = self._log(tx, fact_undo.WITHDRAW, f"fact:{ref_of(numbers[0])}", changes)
            return Withdrawn(tuple(map(fact_of, rows)), entry)

        return self._storage.write(work)

    def forget(
        self, fact_id: str | None = None, *, target: str | None = None, scope: str | None = None
    ) -> int:
        """Erase a fact, or everything ever said on a target, from rows, index and log.

        Returns the number of rows; none raises NotFound. Takes several short transactions. Cannot be
        undone. ``Memory.forget`` also reaches the free pages of the file.
        """
        self._check_enabled()
        if (fact_id is None) == (target is None):
            raise InvalidInput("name either a fact by its id or a target")
        if fact_id is not None:
            numbers = [self._storage.read(lambda tx: get_row(tx, fact_id)).id]
        else:
            rows = self._storage.read(lambda tx: read_history(tx, target or "", scope=scope))
            numbers = [row.id for row in rows]
        erase_facts(self._storage, numbers, self._log)
        return len(numbers)

    def flush(self) -> None:
        """Store which facts were found since the last write; every write does so too.

        A failure is logged, not raised.
        """
        if not self._references or self._settings.disabled or self._storage.read_only:
            return
        try:
            self._storage.write(lambda tx: self._references.store(tx, self._clock()), within=_FLUSH_SECONDS)
        except MnemosError as exc:
            log.warning("the use of facts was not counted: %s", exc)

    def repair_index(self) -> int:
        """Index every live fact that recall lost, in short transactions. Returns their number."""
        return repair_index(self._storage, self.iterate())

    def _write(self, tx: Writes, stated: Sequence[Statement], label: str | None, source: Source) -> Written:
        session, now = source.session_id, source.now
        writer = FactWriter(tx, source, self._attend(tx, session, now))
        for statement in stated:
            writer.apply(statement, label)
        turn = writer.attendance.turn
        tx.facts.attend(session, writer.attendance, now)
        tx.facts.touch(session, writer.touched, turn, now)
        relief = self._relieve(tx, session, turn, now)
        changes = fact_undo.describe_changes(writer.stored, writer.closed)
        if changes is not None:
            self._log(tx, fact_undo.WRITE, f"fact:{writer.stored[0].id}", changes)
        return writer.report(relief, self._budget)

    def _attend(self, tx: Writes, session: str, now: float) -> Attendance:
        self._references.store(tx, now)
        return tx.facts.attendance(session) or Attendance()

    def _relieve(self, tx: Writes, session: str, turn: int, now: float) -> Relief:
        hot = read_hot(tx, self._budget.facts)
        relief = relieve(hot, self._budget.facts, lambda: find_idle(tx, hot, session, turn, now))
        if relief.leaving:
            tx.facts.cool([fact.id for fact in relief.leaving])
        return relief

    def _log(self, tx: Writes, operation: str, ref: str, after: str | None) -> int:
        actor = self._settings.actor
        return tx.audit.record(at=self._clock(), actor=actor, operation=operation, ref=ref, after=after)

    def _check_enabled(self) -> None:
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")

    def _session(self, session_id: str | None) -> str:
        return self._session_id if session_id is None else name("session_id", session_id)
