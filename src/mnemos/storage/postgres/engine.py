"""The PostgreSQL storage: transactions, opening and background work."""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from msgspec import Struct

from mnemos.errors import Busy, InvalidInput, MnemosError, ReadOnly, SchemaChanged, StorageError, Unavailable
from mnemos.files import name_beside
from mnemos.setting_values import Durability
from mnemos.storage.base import Check, Documents, Reads, Usage, Writes
from mnemos.storage.postgres import backup_file, doctor, schema, upkeep
from mnemos.storage.postgres.commits import RETRY_SECONDS, LostCommit, was_committed
from mnemos.storage.postgres.connection import (
    Connection,
    PostgresTransaction,
    Snapshot,
    Target,
    is_lost,
    is_worth_repeating,
    parse_url,
    translate_error,
)
from mnemos.storage.postgres.handle import Handle, Maker, WriteHandle
from mnemos.storage.postgres.pool import pool_of
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.texts import PostgresTexts
from mnemos.storage.space import space_of
from mnemos.storage.upkeep import Upkeep

T = TypeVar("T")

_DELETES_A_STEP = 12
_NOT_PREPARED = "26000"
_RECONNECT_SECONDS = 0.1
# One plan per statement for all bound values, because planning takes longer than most statements.
_PLANS = "SET LOCAL plan_cache_mode = force_generic_plan"
# Without it, settings of a transaction that follow it do not reach the workers.
_CITUS = "SET LOCAL citus.propagate_set_commands = 'local'"
# A process that is stopped inside a transaction locks its space for this long.
_IDLE_SECONDS = 60


class _Known(Struct, frozen=True):
    """The number of a space, and the epoch in which that number is valid."""

    number: int
    epoch: int


class _Running(threading.local):
    """The transaction that a thread is in."""

    handle: Handle | None = None
    outdated: Handle | None = None
    """The outer transaction, if this thread has written since it began. Reads must not use its view."""


class PostgresStorage:
    def __init__(
        self,
        url: str,
        *,
        space: str,
        documents: Documents,
        read_only: bool = False,
        durability: Durability = Durability.NORMAL,
        busy_seconds: float = 30.0,
    ) -> None:
        """Open a database; unless it is read-only, make its tables and the space if they are missing."""
        self._target = parse_url(url)
        self._name = space
        self._documents = documents
        self._read_only = read_only
        self._durability = durability
        self._busy_seconds = busy_seconds
        self._maker = Maker(self._target.schema, documents)
        self._sql: Any = load("engine", self._target.schema)
        self._texts = PostgresTexts(self, self._target.schema)
        self._further: Callable[[], bool] | None = None
        self._known: _Known | None = None
        self._first_settings: tuple[str, ...] = ()
        self._is_closed = False
        self._begin_process()
        try:
            self._open()
        except BaseException:
            self._pool.leave()
            raise

    # --- properties -------------------------------------------------------------------------

    @property
    def read_only(self) -> bool:
        return self._read_only

    @property
    def location(self) -> str:
        return self._target.location

    @property
    def texts(self) -> PostgresTexts:
        return self._texts

    @property
    def is_gone(self) -> bool:
        return False

    # --- transactions -----------------------------------------------------------------------

    def read(self, work: Callable[[Reads], T]) -> T:
        self._check_usable()
        running = self._running.handle
        if running is not None and running is not self._running.outdated:
            # If such threads held all connections, waiting for a second one would never end.
            return work(running)
        return self._repeat(lambda: self._read_once(work), self._busy_seconds)

    def write(self, work: Callable[[Writes], T], *, within: float | None = None) -> T:
        self._check_usable()
        if self._read_only:
            raise ReadOnly(f"{self.location} is open for reading only. Nothing was changed.")
        seconds = self._busy_seconds if within is None else within
        deadline = time.monotonic() + seconds
        # One thread at a time, so that waiting threads take no connection.
        if not self._lock.acquire(timeout=seconds):
            raise Busy(f"Another thread of this process is using {self.location}. Try again.")
        try:
            result, appended, stored = self._repeat(
                lambda: self._write_once(work, deadline - time.monotonic()), seconds
            )
        finally:
            self._lock.release()
        # An outer read began before this write: reads of this thread must not use its view any more.
        self._running.outdated = self._running.handle
        if appended or stored:
            self._upkeep.notice(appended)
        return result

    def _repeat(self, attempt: Callable[[], T], seconds: float) -> T:
        """Run a transaction, and repeat it if nothing of it can have been stored."""
        deadline = time.monotonic() + seconds
        has_lost = False
        while True:
            try:
                return attempt()
            except LostCommit as exc:
                self._pool.drop_idle()
                if was_committed(exc, deadline, self._maintain, self._target, self._first_settings):
                    return exc.answer  # type: ignore[no-any-return]
                if time.monotonic() > deadline:
                    raise Unavailable(
                        f"The connection to {self.location} was lost while storing. Nothing was stored."
                    ) from exc
            except psycopg.Error as exc:
                # A pooler may also have replaced the server's connection with another.
                lost = exc.__dict__.get("connection_lost", False) or exc.sqlstate == _NOT_PREPARED
                if lost and not has_lost:
                    # The server may have restarted, and then its other connections are lost too.
                    has_lost = True
                    self._pool.drop_idle()
                    continue
                if not is_worth_repeating(exc) or time.monotonic() > deadline:
                    raise translate_error(exc, self._target) from exc
                time.sleep(random.uniform(0.0, RETRY_SECONDS))  # noqa: S311

    def _read_once(self, work: Callable[[Reads], T]) -> T:
        connection = self._take(self._busy_seconds)
        try:
            handle = self._begin_read(connection)
            result = self._run(handle, work)
            handle.tx.send("COMMIT")
        except BaseException as exc:
            self._abandon(connection, exc)
            raise
        self._pool.give_back(connection)
        return result

    def _write_once(self, work: Callable[[Writes], T], seconds: float) -> tuple[T, int, int]:
        connection = self._take(max(seconds, 0.0))
        token = secrets.randbits(63)
        answer: tuple[T, int, int] | None = None
        try:
            handle = self._begin_write(connection, seconds)
            handle.tx.token = token
            answer = self._run(handle, work), handle.sessions.appended, handle.entries.stored
            ends = [f"{self._sql.commit} VALUES ({handle.space.id:d}, {token:d})", "COMMIT"]
            # An append has already stored its token.
            handle.tx.send(*(ends[1:] if handle.tx.token is None else ends))
        except BaseException as exc:
            lost = self._abandon(connection, exc)
            if answer is not None and lost and isinstance(exc, psycopg.Error):
                raise LostCommit(handle.space.id, token, answer) from exc
            raise
        self._pool.give_back(connection)
        return answer

    def _take(self, seconds: float) -> Connection:
        """Return a connection. Waits for a server that restarts."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self._pool.take(max(deadline - time.monotonic(), 0.0))
            except Unavailable:
                if time.monotonic() + _RECONNECT_SECONDS > deadline:
                    raise
                time.sleep(_RECONNECT_SECONDS)

    def _run(self, handle: Any, work: Callable[[Any], T]) -> T:
        """Run work in a transaction, which this thread's reads use in the meantime."""
        outer = self._running.handle
        self._running.handle = handle
        try:
            return work(handle)
        finally:
            self._running.handle = outer

    def _abandon(self, connection: Connection, exc: BaseException) -> bool:
        """Undo a transaction and return its connection; True if the connection was lost."""
        lost = is_lost(connection)
        if not lost and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                connection.execute(b"ROLLBACK")
            except psycopg.Error:
                lost = True
        if lost and isinstance(exc, psycopg.Error):
            exc.__dict__["connection_lost"] = True
        if lost:
            self._pool.drop(connection)
        else:
            self._pool.give_back(connection)
        return lost

    def _begin_read(self, connection: Connection) -> Handle:
        return self._maker.make_reader(*self._begin(Snapshot(connection), "REPEATABLE READ READ ONLY"))

    def _begin_write(self, connection: Connection, seconds: float) -> WriteHandle:
        settings = [
            f"SET LOCAL lock_timeout = {max(1, int(seconds * 1000)):d}",
            f"SET LOCAL idle_in_transaction_session_timeout = '{_IDLE_SECONDS:d}s'",
        ]
        if self._durability is Durability.FULL:
            settings.append("SET LOCAL synchronous_commit = on")
        mode = "READ COMMITTED READ WRITE"
        tx = PostgresTransaction(connection)
        return self._maker.make_writer(*self._begin(tx, mode, *settings, lock="FOR UPDATE"))

    def _begin(
        self, tx: PostgresTransaction, mode: str, *settings: str, lock: str = ""
    ) -> tuple[PostgresTransaction, int]:
        """Begin a transaction in the space, in one round trip; return it with the epoch of the space."""
        while True:
            known = self._known or self._resolve(tx.connection)
            number = -1 if known is None else known.number
            found = tx.send(
                f"BEGIN ISOLATION LEVEL {mode}",
                *self._first_settings,
                _PLANS,
                *settings,
                f"SET LOCAL mnemos.space = '{number:d}'",
                f"{self._sql.state} {number:d} {lock}",
            )
            if known is None:
                return tx, 0
            if found is not None and int(found[1]) == known.epoch:
                self._check_schema(int(found[0]))
                tx.space = space_of(known.number)
                return tx, known.epoch
            # A backup was restored, in which spaces have other numbers.
            tx.connection.execute(b"ROLLBACK")
            self._known = None

    def _check_schema(self, version: int) -> None:
        if version != schema.VERSION:
            raise SchemaChanged(
                f"{self.location} was migrated by another version of Mnemos while open. "
                "Restart this program with the new version."
            )

    def _resolve(self, connection: Connection) -> _Known | None:
        """Look up the space by its name; a writer makes it if it does not exist."""
        if self._read_only:
            number = schema.find_space(connection, self._target, self._name)
        else:
            number = schema.enter_space(connection, self._target, self._name)
        if number is None:
            return None
        epoch = schema.epoch_of(connection, self._target, number)
        self._known = _Known(number, epoch)
        return self._known

    def spaces(self) -> list[tuple[str, int, int]]:
        return self.read(lambda tx: upkeep.list_spaces(_handle(tx).tx, self._target))

    def current_transaction(self) -> PostgresTransaction:
        """Return the transaction of the ``write`` that this thread is in."""
        handle = self._running.handle
        assert isinstance(handle, WriteHandle)  # noqa: S101
        return handle.tx

    @staticmethod
    def transaction_of(tx: Reads | Writes) -> PostgresTransaction:
        return _handle(tx).tx

    def read_history(self, part: str, after: int, limit: int, user: str | None) -> list[tuple[Any, ...]]:
        """Return a page of ``sessions``, ``messages`` or ``facts``; the last column is the next ``after``.

        ``user``: only what belongs to this user or to nobody.
        """
        sql = getattr(load("history", self._target.schema), part)
        asked = {"after": after, "limit": limit, "user": user}
        return self.read(lambda tx: _handle(tx).tx.rows(sql, asked))

    def grant(self, role: str) -> None:
        """Let a role read and write all tables, without owning them. Raises PermissionDenied, NotFound."""
        self._check_usable()
        self._maintain(partial(schema.grant, role=role))

    def distribute(self) -> None:
        """Distribute the tables over Citus workers. Raises InvalidInput, PermissionDenied."""
        self._check_usable()
        if not self._first_settings:
            raise InvalidInput(f"{self.location} has no Citus. Create it first: CREATE EXTENSION citus.")
        self._maintain(schema.distribute)

    @contextmanager
    def watch(self) -> Iterator[Callable[[], object]]:
        self._check_usable()
        snapshot: str = self._sql.snapshot

        def look() -> object:
            return self._maintain(lambda connection, _: PostgresTransaction(connection).value(snapshot))

        yield look

    # --- upkeep -----------------------------------------------------------------------------

    def finish_deletes(self) -> None:
        while self.write(self._delete_some):
            pass

    def catch_up(self, seconds: float | None = None) -> int:  # noqa: ARG002
        """Return 0, because messages are indexed when they are stored."""
        self._check_usable()
        return 0

    def optimize(self, seconds: float | None = None, *, deep: bool = False) -> None:
        self.finish_deletes()
        if deep:
            self._maintain(upkeep.reindex)
        if seconds is None:
            self.scrub()
        else:
            self._empty_pending()

    def without_background(self) -> AbstractContextManager[None]:
        return self._upkeep.pause()

    def when_idle(self, work: Callable[[], bool]) -> None:
        self._further = work

    def wake(self) -> None:
        self._check_usable()
        if not self._read_only:
            self._upkeep.notice(0)

    def scrub(self) -> bool:
        """Let the server reclaim erased rows. Its log, backups and index keys are out of reach."""
        if self._read_only:
            return True
        return self._maintain(upkeep.vacuum)

    def usage(self) -> Usage:
        return self.read(lambda tx: upkeep.usage(_handle(tx).tx, self._target))

    def backup(self, target: Path, progress: Callable[[float], None] | None = None) -> None:
        self._check_usable()
        self._maintain(partial(backup_file.back_up, path=target, progress=progress))

    def restore(self, backup: Path) -> Path | None:
        """Replace all data. The former data is written to a backup next to this one."""
        self._check_usable()
        if self._read_only:
            raise ReadOnly(f"{self.location} is open for reading only. Nothing was changed.")
        backup_file.check_backup(backup)
        kept = name_beside(backup, "before-restore")
        self.backup(kept)
        try:
            with self._lock:
                self._maintain(partial(backup_file.restore, path=backup, documents=self._documents))
        except MnemosError:
            # Nothing was replaced.
            kept.unlink(missing_ok=True)
            raise
        return kept

    def examine(self, *, repair: bool) -> Iterator[Check]:
        yield from self.read(lambda tx: doctor.look_at(_handle(tx).tx, self._target))
        if repair and not self._read_only:
            yield from self.write(lambda tx: doctor.repair(_handle(tx).tx, self._target, self._documents))

    def close(self) -> None:
        if self._is_closed or self._pid != os.getpid():
            return
        self._upkeep.stop()
        self._is_closed = True
        # A write in progress in another thread finishes first.
        with self._lock:
            self._pool.leave()

    # --- opening ----------------------------------------------------------------------------

    def _open(self) -> None:
        def work(connection: Connection, target: Target) -> None:
            if schema.has_citus(connection, target, read_only=self._read_only):
                self._first_settings = (_CITUS,)
            if self._read_only:
                schema.check_readable(connection, target)
            else:
                schema.migrate(connection, target)
            self._resolve(connection)

        self._maintain(work)
        if not self._read_only and self.read(self._has_work):
            self._upkeep.notice(0)

    def _has_work(self, tx: Reads) -> bool:
        handle = _handle(tx)
        return handle.sessions.has_doomed() or upkeep.has_old_words(handle.tx, self._target)

    def _maintain(self, work: Callable[[Connection, Target], T]) -> T:
        """Run work on a connection outside any transaction."""
        connection = self._pool.take(self._busy_seconds)
        try:
            result = work(connection, self._target)
        except psycopg.Error as exc:
            self._abandon(connection, exc)
            raise translate_error(exc, self._target) from exc
        except BaseException as exc:
            self._abandon(connection, exc)
            raise
        self._pool.give_back(connection)
        return result

    # --- processes and threads --------------------------------------------------------------

    def _begin_process(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._running = _Running()
        self._pool = pool_of(self._target)
        self._pool.enter()
        self._upkeep = Upkeep(self, self._step, self._idle_step)

    def _check_usable(self) -> None:
        if self._is_closed:
            raise StorageError(f"{self.location} is closed")
        if self._pid != os.getpid():
            self._begin_process()

    def _step(self) -> bool:
        """Do one bounded piece of background work. False if nothing is left."""
        if self.write(lambda tx: self._delete_some(tx) or self._renew_words(tx)):
            return True
        self._upkeep.waiting = 0
        self._empty_pending()
        return False

    def _delete_some(self, tx: Writes) -> bool:
        assert isinstance(tx, WriteHandle)  # noqa: S101
        tx.tx.change(self._sql.remove_tokens)
        return tx.sessions.delete_some(_DELETES_A_STEP)

    def _renew_words(self, tx: Writes) -> bool:
        handle = _handle(tx)
        return upkeep.renew_words(handle.tx, self._documents, self._target.schema)

    def _empty_pending(self) -> None:
        """Move new words from the list that every search reads into the index proper."""
        with suppress(MnemosError):
            self._maintain(upkeep.empty_pending)

    def _idle_step(self) -> bool:
        return self._further is not None and self._further()


def _handle(tx: Reads | Writes) -> Handle:
    assert isinstance(tx, Handle)  # noqa: S101
    return tx
