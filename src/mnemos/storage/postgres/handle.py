"""The stores of one transaction in one space."""

from __future__ import annotations

from msgspec import Struct

from mnemos.storage.base import Documents
from mnemos.storage.postgres.connection import PostgresTransaction
from mnemos.storage.postgres.sessions import PostgresSessionReads, PostgresSessionWrites
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.vectors import PostgresEraser
from mnemos.storage.postgres.word_index import PostgresIndex
from mnemos.storage.space import Space
from mnemos.storage.stores.audit import StoredAudit
from mnemos.storage.stores.entries import StoredEntryReads, StoredEntryWrites
from mnemos.storage.stores.facts import StoredFactReads, StoredFactWrites
from mnemos.storage.stores.imports import StoredImports
from mnemos.storage.stores.passages import StoredPassageReads, StoredPassageWrites
from mnemos.storage.stores.recalls import StoredRecalls
from mnemos.storage.stores.sessions import StoredSessionReads
from mnemos.storage.stores.tombstones import StoredTombstones
from mnemos.storage.stores.vectors import Remembered, StoredVectorReads, StoredVectorWrites

_FILES = (
    "sessions", "passages", "vectors", "facts", "entries", "imports", "audit", "recalls", "tombstones",
)  # fmt: skip


class Handle(Struct, frozen=True):
    tx: PostgresTransaction
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


class WriteHandle(Handle, frozen=True):
    sessions: PostgresSessionWrites
    passages: StoredPassageWrites
    vectors: StoredVectorWrites
    facts: StoredFactWrites
    entries: StoredEntryWrites


class Maker:
    """Makes handles for the transactions of one storage."""

    def __init__(self, schema: str, documents: Documents) -> None:
        self._schema = schema
        self._documents = documents
        self._remembered = Remembered()
        self._sql = {name: load(name, schema) for name in _FILES}

    def make_reader(self, tx: PostgresTransaction, mark: int) -> Handle:
        sql, space = self._sql, tx.space
        index = PostgresIndex(tx, space, self._documents, self._schema)
        sessions = PostgresSessionReads(tx, space, sql["sessions"], index)
        return Handle(
            tx,
            space,
            sessions,
            StoredPassageReads(tx, space, sql["passages"], sessions, mark),
            StoredVectorReads(tx, space, sql["vectors"], sessions, self._remembered, mark),
            StoredFactReads(tx, space, sql["facts"]),
            StoredEntryReads(tx, space, sql["entries"]),
            StoredImports(tx, space, sql["imports"]),
            StoredAudit(tx, space, sql["audit"]),
            StoredRecalls(tx, space, sql["recalls"]),
            StoredTombstones(tx, space, sql["tombstones"]),
        )

    def make_writer(self, tx: PostgresTransaction, mark: int) -> WriteHandle:
        sql, space = self._sql, tx.space
        eraser = PostgresEraser(tx, space, sql["vectors"])
        index = PostgresIndex(tx, space, self._documents, self._schema)
        sessions = PostgresSessionWrites(tx, space, sql["sessions"], index, eraser)
        passages = StoredPassageWrites(tx, space, sql["passages"], sessions, mark, eraser)
        return WriteHandle(
            tx,
            space,
            sessions,
            passages,
            StoredVectorWrites(tx, space, sql["vectors"], sessions, self._remembered, mark),
            StoredFactWrites(tx, space, sql["facts"]),
            StoredEntryWrites(tx, space, sql["entries"], passages),
            StoredImports(tx, space, sql["imports"]),
            StoredAudit(tx, space, sql["audit"]),
            StoredRecalls(tx, space, sql["recalls"]),
            StoredTombstones(tx, space, sql["tombstones"]),
        )
