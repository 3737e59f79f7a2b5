"""Removals inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemos.storage.tombstones import Tombstone
from mnemos.storage.transaction import Store


class StoredTombstones(Store):
    def of_kind(self, kind: str | None) -> list[Tombstone]:
        return self._read(self._sql.of_kind, {"kind": kind})

    def get(self, kind: str, key: str) -> Tombstone | None:
        found = self._read(self._sql.get, {"kind": kind, "key": key})
        return found[0] if found else None

    def put(self, stones: Sequence[Tombstone]) -> None:
        self._tx.change_many(
            self._sql.put,
            (
                {
                    "space": self._space.id, "kind": stone.kind, "key": stone.key, "at": stone.at,
                    "forgotten": int(stone.forgotten),
                }
                for stone in stones
            ),
        )  # fmt: skip

    def _read(self, sql: str, asked: dict[str, Any]) -> list[Tombstone]:
        rows = self._tx.rows(sql, {"space": self._space.id, **asked})
        return [Tombstone(kind, key, at, forgotten == 1) for kind, key, at, forgotten in rows]
