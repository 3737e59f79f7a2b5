"""The connections of one process to one database: one writes, a few read.

They belong to the process that made them: after a fork the child makes its own and never touches (or closes)
the inherited ones, because closing a file drops the locks the parent holds on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw
from msgspec import Struct

from mnemos.errors import DatabaseGone, StorageError
from mnemos.setting_values import Durability
from mnemos.storage.base import Documents
from mnemos.storage.sqlite.connection import DRIVER_ERRORS, connect
from mnemos.storage.sqlite.handle import Handle, WriteHandle, make_reader, make_writer
from mnemos.storage.sqlite.place import Place
from mnemos.storage.stores.vectors import Remembered


class Options(Struct, frozen=True):
    """The options that all connections of a storage share."""

    location: str
    space: str
    documents: Documents
    remembered: Remembered
    durability: Durability
    busy_seconds: float


class Pool:
    def __init__(self, options: Options, place: Place) -> None:
        self._options = options
        self._place = place
        self._readers: list[Handle] = []
        self.is_closed = False
        self.open_writer: WriteHandle | None = None
        # data_version() of the writing connection at the end of its last transaction.
        self.left_at = -1

    def connect(self, *, read_only: bool) -> apsw.Connection:
        """Open one more connection. Raises DatabaseGone if another file is in place now."""
        if self.is_closed:
            raise StorageError(f"{self._options.location} is closed")
        self._place.note_database()
        self.check_place()
        return connect(
            self._options.location,
            read_only=read_only,
            durability=self._options.durability,
            busy_seconds=self._options.busy_seconds,
        )

    def check_place(self) -> None:
        """Raise DatabaseGone if the files are not the ones that were opened."""
        loss = self._place.find_loss()
        if loss is not None:
            raise DatabaseGone(loss)

    def begin_read(self, follow: Callable[[], None]) -> Handle:
        """Return a reader in a transaction on the current file.

        ``follow`` is called if another file is in its place, and raises unless that one should be read.
        """
        while self._readers:
            try:
                handle = self._readers.pop()
            except IndexError:
                break
            handle.connection.execute("BEGIN")
            if handle.is_current:
                return handle
            handle.connection.close()
        # Open connections continue with the files they opened.
        if self._place.find_loss() is not None:
            follow()
        handle = self._make_reader()
        handle.connection.execute("BEGIN")
        return handle

    def keep(self, handle: Handle) -> None:
        """Return a reader to the pool after its transaction."""
        if self.is_closed:
            handle.connection.close()
        else:
            self._readers.append(handle)

    def replace_writer(self) -> WriteHandle:
        """Reopen the writing connection, as a repair may have replaced the file."""
        if self.open_writer is not None:
            self.open_writer.connection.close()
        self.open_writer = None
        self._place.forget()
        return self.writer()

    def writer(self) -> WriteHandle:
        """Return the connection that writes, opened when it is first needed."""
        if self.open_writer is not None:
            return self.open_writer
        self.left_at = -1
        return self.adopt(self.connect(read_only=False))

    def adopt(self, connection: apsw.Connection) -> WriteHandle:
        """Write through this connection from now on, or close it if that isn't possible."""
        options = self._options
        try:
            writer = make_writer(connection, options.space, options.documents, options.remembered)
            self._place.check_log(connection)
        except BaseException:
            connection.close()
            raise
        self._place.note_log()
        self.open_writer = writer
        return writer

    def drop_readers(self) -> None:
        """Read through new connections from now on. A connection in use is closed by its thread."""
        self._readers = []

    def close(self) -> None:
        self.is_closed = True
        while self._readers:
            try:
                # One that a thread took out meanwhile is closed by that thread.
                self._readers.pop().connection.close()
            except IndexError:
                break
        if self.open_writer is not None:
            if self._place.find_loss() is not None:
                # Its log must not be written to a file that others may have changed since.
                self.open_writer.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self.open_writer.connection.close()
        self.open_writer = None

    def _make_reader(self) -> Handle:
        connection = self.connect(read_only=True)
        options = self._options
        try:
            return make_reader(connection, options.space, options.documents, options.remembered)
        except BaseException:
            connection.close()
            raise


@contextmanager
def watch_commits(
    pool: Pool, explain: Callable[[Any], Exception], *, in_memory: bool
) -> Iterator[Callable[[], object]]:
    """Return a function whose value changes with each commit; see ``Storage.watch``."""
    if in_memory:
        yield pool.writer().connection.total_changes
        return
    try:
        connection = pool.connect(read_only=True)
    except (DatabaseGone, *DRIVER_ERRORS) as exc:
        raise explain(exc) from exc

    def look() -> object:
        try:
            # Not the method of that name, which sees what others wrote only after a read.
            return connection.pragma("data_version")
        except DRIVER_ERRORS as exc:
            raise explain(exc) from exc

    try:
        yield look
    finally:
        connection.close()
