"""The SQLite storage: transactions, opening and background work."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from mnemos.errors import Busy, DatabaseGone, MnemosError, NotFound, ReadOnly, StorageError
from mnemos.files import name_beside
from mnemos.setting_values import Durability
from mnemos.storage.base import Check, Documents, Reads, Usage, Writes
from mnemos.storage.sqlite import doctor, files, index, place, schema, scrub
from mnemos.storage.sqlite.connection import (
    DRIVER_ERRORS,
    MEMORY,
    patience,
    sweep_log,
    translate_error,
    value,
)
from mnemos.storage.sqlite.doctor import finish as finish_salvage
from mnemos.storage.sqlite.handle import Handle, WriteHandle, merge_some
from mnemos.storage.sqlite.pool import Options, Pool, watch_commits
from mnemos.storage.sqlite.sessions import SQL as SESSIONS_SQL
from mnemos.storage.sqlite.word_index import has_other_rule, renew_index
from mnemos.storage.stores.vectors import Remembered
from mnemos.storage.upkeep import PLENTY, Upkeep, only_one

T = TypeVar("T")
log = logging.getLogger("mnemos.storage")

# Above this many pending messages, the appender helps to index, so that the tail that searches read stays
# short.
_TOO_MANY_PENDING = 2 * PLENTY
_CLOSE_SECONDS = 2.0
_DELETES_A_STEP = 12
_MERGE_PAGES = 64
# A process that indexed more messages than this merges the index before it ends.
_MANY_INDEXED = 2_000

# Connections inherited through a fork, kept from the garbage collector forever.
_inherited: list[Any] = []


class SqliteStorage:
    def __init__(
        self,
        path: Path | None,
        *,
        space: str,
        documents: Documents,
        read_only: bool = False,
        durability: Durability = Durability.NORMAL,
        busy_seconds: float = 30.0,
    ) -> None:
        """Open or create a database. Without a ``path``, it is in memory."""
        # The folder of a home may be a link, but not the file itself.
        self._path = None if path is None else path.parent.resolve() / path.name
        self._space = space
        self._documents = documents
        self._remembered = Remembered()
        self._further: Callable[[], bool] | None = None
        self._durability = durability
        self._busy_seconds = busy_seconds
        self._read_only = read_only
        self._indexed = 0
        self._place = place.Place(self._path)
        self._begin_process()
        try:
            self._open()
        except (*DRIVER_ERRORS, OSError) as exc:
            raise translate_error(exc, self.location) from exc

    # --- properties -------------------------------------------------------------------------

    @property
    def read_only(self) -> bool:
        return self._read_only

    @property
    def location(self) -> str:
        return str(self._path or MEMORY)

    @property
    def texts(self) -> None:
        return None

    @property
    def is_gone(self) -> bool:
        return self._place.find_loss() is not None

    # --- transactions -----------------------------------------------------------------------

    def read(self, work: Callable[[Reads], T]) -> T:
        self._check_process()
        if self._path is None:
            return self._read_in_memory(work)
        try:
            if self._place.lost is not None or (self._read_only and self.is_gone):
                self._follow()
            handle = self._pool.begin_read(self._follow)
            try:
                result = work(handle)
                # The temporary index made by a search is kept.
                handle.connection.execute("COMMIT")
            except BaseException:
                handle.connection.close()
                self._sweep()
                raise
        except DRIVER_ERRORS as exc:
            raise self._explain(exc) from exc
        self._pool.keep(handle)
        self._sweep()
        return result

    def write(self, work: Callable[[Writes], T], *, within: float | None = None) -> T:
        self._check_process()
        if self._read_only:
            raise ReadOnly(f"{self.location} is open for reading only. Nothing was changed.")
        seconds = self._busy_seconds if within is None else within
        if not self._lock.acquire(timeout=seconds):
            raise Busy(f"Another thread of this process is using {self.location}. Try again.")
        try:
            if self._place.lost is not None:
                raise DatabaseGone(self._place.lost)
            writer = self._begin_write(seconds)
            try:
                result = work(writer)
                # A commit to files that are gone would be lost.
                loss = self._place.find_loss()
                if loss is not None:
                    raise DatabaseGone(loss)
                writer.connection.execute("COMMIT")
                self._pool.left_at = writer.connection.data_version()
            except BaseException:
                if writer.connection.in_transaction:
                    writer.connection.execute("ROLLBACK")
                writer.sessions.rolled_back()
                writer.entries.stored = 0
                raise
            appended = writer.sessions.appended
            writer.sessions.appended = 0
            stored, writer.entries.stored = writer.entries.stored, 0
        except (DatabaseGone, *DRIVER_ERRORS) as exc:
            raise self._explain(exc) from exc
        finally:
            self._lock.release()
        if appended:
            self._after_append(appended)
        elif stored:
            # Entries are indexed in quiet moments, by the work given to ``when_idle``.
            self._upkeep.notice(0)
        return result

    def watch(self) -> AbstractContextManager[Callable[[], object]]:
        self._check_process()
        return watch_commits(self._pool, self._explain, in_memory=self._path is None)

    # --- upkeep -----------------------------------------------------------------------------

    def finish_deletes(self) -> None:
        while self.write(_delete_some):
            pass

    def catch_up(self, seconds: float | None = None) -> int:
        if not self._read_only:
            deadline = None if seconds is None else time.monotonic() + seconds
            with self._alone(wait=seconds is None) as alone:
                while alone and self._index_step():
                    if deadline is not None and time.monotonic() > deadline:
                        break
        return self.read(lambda tx: index.state_of(_handle(tx).connection, _handle(tx).space).pending)

    def optimize(self, seconds: float | None = None, *, deep: bool = False) -> None:
        deadline = None if seconds is None else time.monotonic() + seconds
        self.finish_deletes()
        self.catch_up(seconds)
        self._merge(deadline)
        self.write(lambda tx: _handle(tx).connection.execute("PRAGMA optimize"))
        # This also erases copies that ``forget`` couldn't reach while there was a reader.
        if seconds is None or deep:
            self.scrub()
        elif self._path is not None:
            self._empty_log()

    def without_background(self) -> AbstractContextManager[None]:
        return self._upkeep.pause()

    def when_idle(self, work: Callable[[], bool]) -> None:
        self._further = work

    def wake(self) -> None:
        self._check_process()
        if not self._read_only and not self._pool.is_closed:
            self._upkeep.notice(0)

    def scrub(self) -> bool:
        if self._path is None:
            return True
        stale = self.read(lambda tx: scrub.find_stale_keys(_handle(tx).connection))
        if stale:
            self.write(lambda tx: scrub.replace_keys(_handle(tx).connection, stale))
        try:
            return scrub.empty_gaps(
                self._path, lambda: self._pool.connect(read_only=False), self._busy_seconds
            )
        except (DatabaseGone, *DRIVER_ERRORS) as exc:
            raise self._explain(exc) from exc

    def _empty_log(self) -> bool:
        with self._lock:
            return files.truncate_log(self._pool.writer().connection, self._busy_seconds)

    def usage(self) -> Usage:
        return self.read(lambda tx: files.usage(_handle(tx).connection, self._path, _handle(tx).space))

    def spaces(self) -> list[tuple[str, int, int]]:
        return self.read(lambda tx: files.list_spaces(_handle(tx).connection))

    def backup(self, target: Path, progress: Callable[[float], None] | None = None) -> None:
        self.read(lambda tx: files.back_up(_handle(tx).connection, target, progress))

    def restore(self, backup: Path) -> Path | None:
        if self._read_only:
            raise ReadOnly(f"{self.location} is open for reading only. Nothing was changed.")
        if self._path is None:
            raise StorageError("A database in memory cannot be restored. Open a home.")
        files.check_backup(backup)
        kept = name_beside(self._path, "before-restore")
        with self._lock:
            try:
                self._pool.check_place()
                files.copy_over(backup, self._pool.writer().connection, lambda: self.backup(kept))
            except (DatabaseGone, *DRIVER_ERRORS) as exc:
                raise self._explain(exc) from exc
        self._refresh_index()
        return kept

    def examine(self, *, repair: bool) -> Iterator[Check]:
        yield from self.read(lambda tx: doctor.look_at(_handle(tx).connection, self._path))
        if repair and not self._read_only:
            repaired = self.write(lambda tx: doctor.repair(_handle(tx).connection))
            if repaired.index_cleared:
                self.catch_up()
                # A damaged index may have kept words of forgotten texts.
                self.scrub()
            yield from repaired.done

    def close(self) -> None:
        if self._pool.is_closed or self._pid != os.getpid():
            return
        self._upkeep.stop()
        try:
            if self.is_gone and self._place.lost is None and self._pool.left_at >= 0:
                # No caller knows yet that the stored data is gone.
                self.write(_do_nothing)
            if not self._read_only and not self.is_gone:
                self._upkeep.indexing.attempt(self._settle)
        finally:
            self._pool.is_closed = True
            # A write in progress in another thread finishes first.
            with self._lock:
                self._pool.close()
            self._sweep()

    def _sweep(self) -> None:
        """Remove the empty log next to a file that was only read, on closing."""
        if self._pool.is_closed and self._read_only and self._path is not None and not self.is_gone:
            sweep_log(self._path)

    # --- opening ----------------------------------------------------------------------------

    def _open(self) -> None:
        if self._read_only:
            self._open_for_reading()
            return
        try:
            self._open_for_writing()
        except (apsw.ReadOnlyError, apsw.CantOpenError, OSError) as exc:
            if not self._can_only_be_read(exc):
                raise
            log.warning("%s cannot be written; opened for reading only", self.location)
            self._read_only = True
            self._open_for_reading()

    def _open_for_writing(self) -> None:
        if self._path is not None:
            finish_salvage(self._path)
            place.make(self._path, self._durability)
        connection = self._pool.connect(read_only=False)
        try:
            schema.migrate(connection)
        except BaseException:
            connection.close()
            raise
        writer = self._pool.adopt(connection)
        self._refresh_index()
        if value(connection, SESSIONS_SQL.doomed, (writer.space.id,)) is not None:
            self._upkeep.notice(0)

    def _open_for_reading(self) -> None:
        if self._path is not None:
            files.check_remains(self._path)
            if not self._path.exists():
                raise NotFound(f"There is no database at {self.location} to read.")
        connection = self._pool.connect(read_only=True)
        try:
            schema.check_readable(connection)
        finally:
            connection.close()
        self.read(lambda _: self._place.note_log())

    def _can_only_be_read(self, exc: Exception) -> bool:
        if isinstance(exc, OSError) and exc.errno not in (errno.EACCES, errno.EROFS, errno.EPERM):
            return False
        return self._path is not None and self._path.is_file() and os.access(self._path, os.R_OK)

    def _refresh_index(self) -> None:
        """Restart an index that another version of the word rule made."""
        if self.read(lambda tx: has_other_rule(_handle(tx).connection)) and self.write(
            lambda tx: renew_index(_handle(tx).connection)
        ):
            self._upkeep.notice(0)

    # --- connections ------------------------------------------------------------------------

    def _begin_process(self) -> None:
        self._pid = os.getpid()
        # A thread may read inside a read, as there is only one connection to a database in memory.
        self._lock = threading.RLock()
        self._place.forget_log()
        self._pool = Pool(
            Options(
                location=self.location,
                space=self._space,
                documents=self._documents,
                remembered=self._remembered,
                durability=self._durability,
                busy_seconds=self._busy_seconds,
            ),
            self._place,
        )
        self._upkeep = Upkeep(self, self._step, self._idle_step)

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            former = self._pool
            _inherited.append(former)
            self._begin_process()
            self._pool.is_closed = former.is_closed
            if self._path is None:
                self._pool.open_writer = former.open_writer

    def _begin_write(self, seconds: float) -> WriteHandle:
        """Return the writer, in a transaction on the current file."""
        writer = self._pool.open_writer or self._pool.writer()
        if seconds != self._busy_seconds:
            writer.connection.set_busy_handler(patience(seconds))
        try:
            writer.connection.execute("BEGIN IMMEDIATE")
        finally:
            if seconds != self._busy_seconds:
                writer.connection.set_busy_handler(patience(self._busy_seconds))
        if writer.connection.data_version() == self._pool.left_at:
            return writer
        # Another connection has committed since this one did.
        while not writer.is_current:
            writer = self._pool.replace_writer()
            writer.connection.execute("BEGIN IMMEDIATE")
        writer.sessions.others_wrote()
        return writer

    def _read_in_memory(self, work: Callable[[Reads], T]) -> T:
        with self._lock:
            try:
                return work(self._pool.writer())
            except DRIVER_ERRORS as exc:
                raise translate_error(exc, self.location) from exc

    # --- files that are gone ----------------------------------------------------------------

    def _follow(self) -> None:
        """Continue with the file of a repair. Raises DatabaseGone if there was no repair."""
        if not self._read_only:
            self.write(_do_nothing)
            return
        if self._path is None or files.is_empty(self._path):
            raise DatabaseGone(f"{self.location} was moved or deleted while it was in use. Move it back.")
        # A reader loses nothing by leaving the old file.
        self._pool.drop_readers()
        self._place.forget()

    def _explain(self, exc: DatabaseGone | apsw.Error | UnicodeDecodeError) -> MnemosError:
        """Return our error for a failure, which may have come from files that are gone."""
        with self._lock:
            loss = self._place.lost or self._place.find_loss()
            if loss is not None:
                writer = self._pool.open_writer
                return self._place.lose(loss, None if writer is None else writer.connection)
        return exc if isinstance(exc, DatabaseGone) else translate_error(exc, self.location)

    # --- background work --------------------------------------------------------------------

    def _after_append(self, count: int) -> None:
        self._upkeep.notice(count)
        if self._upkeep.waiting > _TOO_MANY_PENDING:
            # The messages are committed: a failure here must not look like a failed append.
            self._upkeep.indexing.attempt(self._help)

    def _help(self) -> None:
        """Index a little in the appending thread, after any indexing in progress."""
        with self._alone(wait=True) as alone:
            if alone:
                self._index_step()

    def _step(self) -> bool:
        """Do one bounded piece of background work. False if the rest isn't worth another piece now.

        Following another process message by message would cost more than appending does.
        """
        with self._alone() as alone:
            if alone and self.write(_delete_some):
                return True
            return alone and self._index_step() and self._upkeep.waiting >= index.STEP_ROWS

    def _index_step(self) -> bool:
        """Index a little; False when nothing is pending. A step that came too late changes nothing."""

        def prepare(tx: Reads) -> index.Step | None:
            return index.prepare(_handle(tx).connection, _handle(tx).space, self._documents)

        step = self.read(prepare)
        if step is None:
            self._upkeep.waiting = 0
            return False
        self.write(lambda tx: index.write(_handle(tx).connection, _handle(tx).space, step))
        self._upkeep.indexing.note_success()
        self._indexed += len(step.rows)
        self._upkeep.waiting = max(0, self._upkeep.waiting - len(step.rows))
        return True

    def _settle(self) -> None:
        """Complete the index and, after many messages, merge it to speed up the next search."""
        deadline = time.monotonic() + _CLOSE_SECONDS
        self.catch_up(_CLOSE_SECONDS)
        if self._indexed > _MANY_INDEXED:
            self._merge(deadline)

    def _merge(self, deadline: float | None) -> None:
        self.write(lambda tx: merge_some(_writer(tx), -_MERGE_PAGES))
        while (deadline is None or time.monotonic() < deadline) and self._merge_step():
            pass

    def _idle_step(self) -> bool:
        if self.is_gone:
            return False
        return (self._further is not None and self._further()) or self._merge_step()

    def _merge_step(self) -> bool:
        return self.write(lambda tx: merge_some(_writer(tx), _MERGE_PAGES))

    @contextmanager
    def _alone(self, *, wait: bool = False) -> Iterator[bool]:
        """Like ``only_one``; False if the files are gone, because nothing may be created in their place."""
        if self.is_gone:
            yield False
            return
        with only_one(self._path and place.lock_of(self._path), wait=wait) as alone:
            yield alone


def _do_nothing(_: Writes) -> None:
    """Begin and end a transaction, which notices if the files are gone."""


def _delete_some(tx: Writes) -> bool:
    return _writer(tx).sessions.delete_some(_DELETES_A_STEP)


def _handle(tx: Reads | Writes) -> Handle:
    assert isinstance(tx, Handle)  # noqa: S101
    return tx


def _writer(tx: Writes) -> WriteHandle:
    assert isinstance(tx, WriteHandle)  # noqa: S101
    return tx
