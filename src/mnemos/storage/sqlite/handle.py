"""A connection with its stores, for one state of one file."""

from __future__ import annotations

from pathlib import Path

import apsw
from msgspec import Struct

from mnemos.errors import SchemaChanged
from mnemos.storage.base import Documents
from mnemos.storage.queries import Queries
from mnemos.storage.space import NOWHERE, Space, space_of
from mnemos.storage.sqlite import index, schema
from mnemos.storage.sqlite.connection import SqliteTransaction, rows
from mnemos.storage.sqlite.sessions import SQL as SESSIONS_SQL
from mnemos.storage.sqlite.sessions import SqliteSessionWrites
from mnemos.storage.sqlite.vectors import SQL as VECTORS_SQL
from mnemos.storage.sqlite.vectors import SqliteEraser
from mnemos.storage.sqlite.word_index import FtsIndex
from mnemos.storage.stores.audit import StoredAudit
from mnemos.storage.stores.entries import StoredEntryReads, StoredEntryWrites
from mnemos.storage.stores.facts import StoredFactReads, StoredFactWrites
from mnemos.storage.stores.imports import StoredImports
from mnemos.storage.stores.passages import StoredPassageReads, StoredPassageWrites
from mnemos.storage.stores.recalls import StoredRecalls
from mnemos.storage.stores.sessions import StoredSessionReads
from mnemos.storage.stores.tombstones import StoredTombstones
from mnemos.storage.stores.vectors import Remembered, StoredVectorReads, StoredVectorWrites

_FOLDER = Path(__file__).parent / "sql"
SQL = SESSIONS_SQL
PASSAGES_SQL = Queries(_FOLDER / "passages.sql")
FACTS_SQL = Queries(_FOLDER / "facts.sql")
ENTRIES_SQL = Queries(_FOLDER / "entries.sql")
IMPORTS_SQL = Queries(_FOLDER / "imports.sql")
AUDIT_SQL = Queries(_FOLDER / "audit.sql")
RECALLS_SQL = Queries(_FOLDER / "recalls.sql")
TOMBSTONES_SQL = Queries(_FOLDER / "tombstones.sql")


class Handle(Struct, frozen=True):
    """A connection and its stores, for the transactions of one file.

    ``mark`` is the file's mark when the handle was made: when it moves, the file has another schema or, after
    a restore, other contents, in which spaces may be numbered differently.
    """

    connection: apsw.Connection
    space: Space
    sessions: StoredSessionReads
    passages: StoredPassageReads
    vectors: StoredVectorReads
    facts: StoredFactReads
    entries: StoredEntryReads
    imports: StoredImports
    audit: StoredAudit
    recalls: StoredRecalls
    tombstones: StoredTombstones
    mark: int

    @property
    def is_current(self) -> bool:
        # A missing space may have been created meanwhile.
        return self.space is not NOWHERE and schema.mark_of(self.connection) == self.mark


class WriteHandle(Handle, frozen=True):
    sessions: SqliteSessionWrites
    passages: StoredPassageWrites
    vectors: StoredVectorWrites
    facts: StoredFactWrites
    entries: StoredEntryWrites


def make_reader(
    connection: apsw.Connection, space: str, documents: Documents, remembered: Remembered
) -> Handle:
    """A handle for reading; a space that the file does not have is empty."""
    mark = _current_mark(connection)
    found = rows(connection, SQL.get_space, (space,))
    where = space_of(found[0][0]) if found else NOWHERE
    tx = SqliteTransaction(connection)
    sessions = StoredSessionReads(tx, where, SQL, FtsIndex(tx, where, documents))
    return Handle(
        connection,
        where,
        sessions,
        StoredPassageReads(tx, where, PASSAGES_SQL, sessions, mark),
        StoredVectorReads(tx, where, VECTORS_SQL, sessions, remembered, mark),
        StoredFactReads(tx, where, FACTS_SQL),
        StoredEntryReads(tx, where, ENTRIES_SQL),
        StoredImports(tx, where, IMPORTS_SQL),
        StoredAudit(tx, where, AUDIT_SQL),
        StoredRecalls(tx, where, RECALLS_SQL),
        StoredTombstones(tx, where, TOMBSTONES_SQL),
        mark,
    )


def make_writer(
    connection: apsw.Connection, space: str, documents: Documents, remembered: Remembered
) -> WriteHandle:
    """A handle for writing. The space is created if the file does not have it."""
    mark = _current_mark(connection)
    where = space_of(_number_of(connection, space))
    tx = SqliteTransaction(connection)
    eraser = SqliteEraser(tx, where)
    sessions = SqliteSessionWrites(tx, where, FtsIndex(tx, where, documents), eraser)
    passages = StoredPassageWrites(tx, where, PASSAGES_SQL, sessions, mark, eraser)
    return WriteHandle(
        connection,
        where,
        sessions,
        passages,
        StoredVectorWrites(tx, where, VECTORS_SQL, sessions, remembered, mark),
        StoredFactWrites(tx, where, FACTS_SQL),
        StoredEntryWrites(tx, where, ENTRIES_SQL, passages),
        StoredImports(tx, where, IMPORTS_SQL),
        StoredAudit(tx, where, AUDIT_SQL),
        StoredRecalls(tx, where, RECALLS_SQL),
        StoredTombstones(tx, where, TOMBSTONES_SQL),
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
