"""Vectors in PostgreSQL, whose chunks are rewritten when one is erased."""

from __future__ import annotations

from mnemos.storage.stores.vectors import Eraser


class PostgresEraser(Eraser):
    def _overwrite(self, column: str, chunk: int, start: int, data: bytes) -> None:
        self._tx.change(getattr(self._sql, f"overwrite_{column}"), (data, start + 1, chunk))
