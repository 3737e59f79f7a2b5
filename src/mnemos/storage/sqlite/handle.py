"""A connection with its stores, for one state of one file."""

from __future__ import annotations

from pathlib import Path

import apsw

from mnemos.errors import SchemaChanged
from mnemos.storage.base import Documents
from mnemos.storage.queries import Queries
from mnemos.storage.space import NOWHERE, Space, space_of
from mnemos.storage.sqlite import index, schema
from mnemos.storage.sqlite.connection import SqliteTransaction, rows
from mnemos.storage.sqlite.sessions import SqliteSessionWrites
from mnemos.storage.sqlite.word_index import FtsIndex
from mnemos.storage.stores.entries import StoredEntryWrites
from mnemos.storage.stores.facts import StoredFactWrites
from mnemos.storage.stores.handle import PARTS, Stores, make_reads, make_writes
from mnemos.storage.stores.passages import StoredPassageWrites
from mnemos.storage.stores.sessions import StoredSessionReads
from mnemos.storage.stores.vectors import Eraser, Remembered, StoredVectorWrites

QUERIES = {name: Queries(Path(__file__).parent / "sql" / f"{name}.sql") for name in PARTS}
SQL = QUERIES["sessions"]


class Handle(Stores, frozen=True, kw_only=True):
    """A connection and its stores, for the transactions of one file.

    ``mark`` is the file's mark when the handle was made: when it moves, the file has another schema or, after
    a restore, other contents, in which spaces may be numbered differently.
    """

    connection: apsw.Connection
    space: Space
    mark: int

    @property
    def is_current(self) -> bool:
        # A missing space may have been created in the meantime.
        return self.space is not NOWHERE and schema.mark_of(self.connection) == self.mark


class WriteHandle(Handle, frozen=True, kw_only=True):
    sessions: SqliteSessionWrites
    passages: StoredPassageWrites
    vectors: StoredVectorWrites
    facts: StoredFactWrites
    entries: StoredEntryWrites


class SqliteEraser(Eraser):
    """Vectors are erased by overwriting them in place."""

    def __init__(self, tx: SqliteTransaction, space: Space) -> None:
        super().__init__(tx, space, QUERIES["vectors"])
        self._connection = tx.connection

    def _overwrite(self, column: str, chunk: int, start: int, data: bytes) -> None:
        with self._connection.blob_open("main", "vectors", column, chunk, writeable=True) as blob:
            blob.seek(start)
            blob.write(data)


def make_reader(
    connection: apsw.Connection, space: str, documents: Documents, remembered: Remembered
) -> Handle:
    """Make a handle for reading. A space that the file doesn't have is empty."""
    mark = _current_mark(connection)
    found = rows(connection, SQL.get_space, (space,))
    where = space_of(found[0][0]) if found else NOWHERE
    tx = SqliteTransaction(connection)
    sessions = StoredSessionReads(tx, where, SQL, FtsIndex(tx, where, documents))
    stores = make_reads(tx, where, QUERIES, sessions, remembered, mark)
    return Handle(connection=connection, space=where, mark=mark, **stores)


def make_writer(
    connection: apsw.Connection, space: str, documents: Documents, remembered: Remembered
) -> WriteHandle:
    """Make a handle for writing. A space that the file doesn't have is created."""
    mark = _current_mark(connection)
    where = space_of(_number_of(connection, space))
    tx = SqliteTransaction(connection)
    eraser = SqliteEraser(tx, where)
    sessions = SqliteSessionWrites(tx, where, FtsIndex(tx, where, documents), eraser)
    stores = make_writes(tx, where, QUERIES, sessions, remembered, mark, eraser)
    return WriteHandle(connection=connection, space=where, mark=mark, **stores)


def _current_mark(connection: apsw.Connection) -> int:
    mark = schema.mark_of(connection)
    if schema.version_in(mark) != schema.VERSION:
        raise SchemaChanged(
            f"{connection.filename} was migrated by another version of Mnemos while open. "
            "Restart this program with the new version."
        )
    return mark


def _number_of(connection: apsw.Connection, space: str) -> int:
    found = rows(connection, SQL.get_space, (space,))
    if not found:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(SQL.add_space, (space,))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        found = rows(connection, SQL.get_space, (space,))
    number: int = found[0][0]
    return number


def merge_some(handle: WriteHandle, pages: int) -> bool:
    """Merge a little of the index. False if nothing is left to merge.

    A negative number of pages starts a merge of everything, which positive numbers continue.
    """
    before = handle.connection.total_changes()
    handle.connection.execute(index.SQL.merge, (pages,))
    # FTS5 reports it as fewer than two changed rows.
    return handle.connection.total_changes() - before >= 2
