"""A connection with its stores, for one state of one file."""

from __future__ import annotations

import apsw
from msgspec import Struct

from mnemos.errors import SchemaChanged
from mnemos.storage.base import Documents
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite import index, schema
from mnemos.storage.sqlite.audit import SqliteAudit
from mnemos.storage.sqlite.connection import NOWHERE, Space, rows, space_of
from mnemos.storage.sqlite.entries import SqliteEntryReads, SqliteEntryWrites
from mnemos.storage.sqlite.facts import SqliteFactReads, SqliteFactWrites
from mnemos.storage.sqlite.imports import SqliteImports
from mnemos.storage.sqlite.passages import SqlitePassageReads, SqlitePassageWrites
from mnemos.storage.sqlite.sessions import SQL as SESSIONS_SQL
from mnemos.storage.sqlite.sessions import SqliteSessionReads, SqliteSessionWrites
from mnemos.storage.sqlite.vectors import Remembered, SqliteVectorReads, SqliteVectorWrites

SQL: Queries = SESSIONS_SQL


class Handle(Struct, frozen=True):
    """A connection and its stores, for the transactions of one file.

    ``mark`` is the file's mark when the handle was made: when it moves, the file has another schema or, after
    a restore, other contents, in which spaces may be numbered differently.
    """

    connection: apsw.Connection
    space: Space
    sessions: SqliteSessionReads
    passages: SqlitePassageReads
    vectors: SqliteVectorReads
    facts: SqliteFactReads
    entries: SqliteEntryReads
    imports: SqliteImports
    audit: SqliteAudit
    mark: int

    @property
    def is_current(self) -> bool:
        # A missing space may have been created meanwhile.
        return self.space is not NOWHERE and schema.mark_of(self.connection) == self.mark


class WriteHandle(Handle, frozen=True):
    sessions: SqliteSessionWrites
    passages: SqlitePassageWrites
    vectors: SqliteVectorWrites
    facts: SqliteFactWrites
    entries: SqliteEntryWrites


def make_reader(
    connection: apsw.Connection, space: str, documents: Documents, remembered: Remembered
) -> Handle:
    """A handle for reading; a space that the file does not have is empty."""
    mark = _current_mark(connection)
    found = rows(connection, SQL.get_space, (space,))
    where = space_of(found[0][0]) if found else NOWHERE
    sessions = SqliteSessionReads(connection, where, documents)
    return Handle(
        connection,
        where,
        sessions,
        SqlitePassageReads(connection, where, sessions, mark),
        SqliteVectorReads(connection, where, sessions, remembered, mark),
        SqliteFactReads(connection, where),
        SqliteEntryReads(connection, where),
        SqliteImports(connection, where),
        SqliteAudit(connection, where),
        mark,
    )


def make_writer(
    connection: apsw.Connection, space: str, documents: Documents, remembered: Remembered
) -> WriteHandle:
    """A handle for writing. The space is created if the file does not have it."""
    mark = _current_mark(connection)
    where = space_of(_number_of(connection, space))
    sessions = SqliteSessionWrites(connection, where, documents)
    passages = SqlitePassageWrites(connection, where, sessions, mark)
    return WriteHandle(
        connection,
        where,
        sessions,
        passages,
        SqliteVectorWrites(connection, where, sessions, remembered, mark),
        SqliteFactWrites(connection, where),
        SqliteEntryWrites(connection, where, passages),
        SqliteImports(connection, where),
        SqliteAudit(connection, where),
        mark,
    )


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
    """Merge a little of the index; False when nothing is left to merge.

    A negative number begins a merge of everything, which positive ones then go on with.
    """
    before = handle.connection.total_changes()
    handle.connection.execute(index.SQL.merge, (pages,))
    # FTS5 reports it as fewer than two changed rows.
    return handle.connection.total_changes() - before >= 2
