"""The texts of a space in a table, each change one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemos.errors import Conflict
from mnemos.storage.postgres.connection import PostgresTransaction
from mnemos.storage.postgres.statements import load
from mnemos.storage.texts import Text

if TYPE_CHECKING:
    from mnemos.storage.postgres.engine import PostgresStorage


class PostgresTexts:
    def __init__(self, storage: PostgresStorage, schema: str) -> None:
        self._storage = storage
        self._sql: Any = load("texts", schema)

    def read(self, name: str) -> Text | None:
        return self._storage.read(lambda tx: self._read(self._storage.transaction_of(tx), name))

    def versions(self, folder: str) -> dict[str, int]:
        found = self._storage.read(
            lambda tx: self._storage.transaction_of(tx).rows(self._sql.versions, (f"{folder}/",))
        )
        return {name.removeprefix(f"{folder}/"): version for name, version in found}

    def put(self, name: str, before: str, after: str, at: float) -> None:
        tx = self._storage.current_transaction()
        known = self._read(tx, name)
        if (known.content if known else "") != before:
            raise Conflict(f"{name} was changed by another process in the meantime. Try again.")
        tx.change(self._sql.put, (name, after, at))

    def change(self, name: str, change: Callable[[str | None], str | None], at: float) -> None:
        def work(tx: PostgresTransaction) -> None:
            known = self._read(tx, name)
            before = known.content if known else None
            after = change(before)
            if after is not None and after != before:
                tx.change(self._sql.put, (name, after, at))

        self._storage.write(lambda tx: work(self._storage.transaction_of(tx)))

    def remove(self, name: str) -> bool:
        return self._storage.write(
            lambda tx: self._storage.transaction_of(tx).change(self._sql.remove, (name,)) > 0
        )

    def _read(self, tx: PostgresTransaction, name: str) -> Text | None:
        found = tx.rows(self._sql.read, (name,))
        return Text(*found[0]) if found else None
