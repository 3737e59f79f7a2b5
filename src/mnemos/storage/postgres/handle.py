"""The stores of one transaction in one space."""

from __future__ import annotations

from mnemos.storage.base import Documents
from mnemos.storage.postgres.connection import PostgresTransaction
from mnemos.storage.postgres.sessions import PostgresSessionReads, PostgresSessionWrites
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.word_index import PostgresIndex
from mnemos.storage.space import Space
from mnemos.storage.stores.entries import StoredEntryWrites
from mnemos.storage.stores.facts import StoredFactWrites
from mnemos.storage.stores.handle import PARTS, Stores, make_reads, make_writes
from mnemos.storage.stores.passages import StoredPassageWrites
from mnemos.storage.stores.vectors import Eraser, Remembered, StoredVectorWrites


class Handle(Stores, frozen=True, kw_only=True):
    tx: PostgresTransaction
    space: Space


class WriteHandle(Handle, frozen=True, kw_only=True):
    sessions: PostgresSessionWrites
    passages: StoredPassageWrites
    vectors: StoredVectorWrites
    facts: StoredFactWrites
    entries: StoredEntryWrites


class PostgresEraser(Eraser):
    """Vectors are erased by rewriting their chunk."""

    def _overwrite(self, column: str, chunk: int, start: int, data: bytes) -> None:
        self._tx.change(getattr(self._sql, f"overwrite_{column}"), (data, start + 1, chunk))


class Maker:
    """Makes handles for the transactions of one storage."""

    def __init__(self, schema: str, documents: Documents) -> None:
        self._schema = schema
        self._documents = documents
        self._remembered = Remembered()
        self._sql = {name: load(name, schema) for name in PARTS}

    def make_reader(self, tx: PostgresTransaction, mark: int) -> Handle:
        sql, space = self._sql, tx.space
        sessions = PostgresSessionReads(tx, space, sql["sessions"], self._make_index(tx))
        return Handle(tx=tx, space=space, **make_reads(tx, space, sql, sessions, self._remembered, mark))

    def make_writer(self, tx: PostgresTransaction, mark: int) -> WriteHandle:
        sql, space = self._sql, tx.space
        eraser = PostgresEraser(tx, space, sql["vectors"])
        sessions = PostgresSessionWrites(tx, space, sql["sessions"], self._make_index(tx), eraser)
        stores = make_writes(tx, space, sql, sessions, self._remembered, mark, eraser)
        return WriteHandle(tx=tx, space=space, **stores)

    def _make_index(self, tx: PostgresTransaction) -> PostgresIndex:
        return PostgresIndex(tx, tx.space, self._documents, self._schema)
