"""Vectors in SQLite, which are overwritten in place."""

from __future__ import annotations

from pathlib import Path

from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.sqlite.connection import SqliteTransaction
from mnemos.storage.stores.vectors import Eraser

SQL = Queries(Path(__file__).parent / "sql" / "vectors.sql")


class SqliteEraser(Eraser):
    def __init__(self, tx: SqliteTransaction, space: Space) -> None:
        super().__init__(tx, space, SQL)
        self._connection = tx.connection

    def _overwrite(self, column: str, chunk: int, start: int, data: bytes) -> None:
        with self._connection.blob_open("main", "vectors", column, chunk, writeable=True) as blob:
            blob.seek(start)
            blob.write(data)
