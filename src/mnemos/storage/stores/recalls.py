"""The log of recalls inside the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from mnemos.storage.recalls import RecallRow
from mnemos.storage.transaction import Store


class StoredRecalls(Store):
    def newest(self, limit: int, *, before: int | None = None) -> list[RecallRow]:
        asked = {"space": self._space.id, "before": before, "limit": limit}
        return [RecallRow(*row) for row in self._tx.rows(self._sql.newest, asked)]

    def add(self, rows: Sequence[RecallRow], *, keep: int) -> None:
        for row in rows:
            values = (row.at, row.actor, row.session_id, row.query, row.hits)
            self._tx.change(
                self._sql.add, (self._space.id, *values, row.certainty, row.tokens, row.milliseconds)
            )
        self._tx.change(self._sql.drop_old, {"space": self._space.id, "keep": keep})

    def remove(self, ids: Collection[int]) -> None:
        asked = {"space": self._space.id, "ids": json.dumps(sorted(ids))}
        self._tx.change(self._sql.remove, asked)
