"""Imports, recalls and removals, inside the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from msgspec.structs import astuple

from mnemos.errors import NotFound
from mnemos.storage.imports import KEY_BITS, ImportedFile
from mnemos.storage.queries import Queries
from mnemos.storage.recalls import RecallRow
from mnemos.storage.space import Space
from mnemos.storage.tombstones import Tombstone
from mnemos.storage.transaction import Store, Transaction

_MASK: Final = (1 << KEY_BITS) - 1
# Odd and without a pattern, so that no two spaces map a key to the same number.
_SPREAD: Final = 0x1E3779B97F4A7C15
# No session has this key.
_DELETED: Final = 0


class StoredImports(Store):
    def __init__(self, tx: Transaction, space: Space, sql: Queries) -> None:
        super().__init__(tx, space, sql)
        self._mix = space.id * _SPREAD & _MASK

    def file(self, kind: str, path: str) -> ImportedFile | None:
        found = self._tx.rows(self._sql.file, (self._space.id, kind, path))
        return ImportedFile(*found[0]) if found else None

    def files(self, kind: str | None) -> list[ImportedFile]:
        asked = {"space": self._space.id, "kind": kind}
        return [ImportedFile(*row) for row in self._tx.rows(self._sql.files, asked)]

    def owners(self, keys: Sequence[int]) -> dict[int, str]:
        asked = {"space": self._space.id, "keys": self._places(keys)}
        return {key ^ self._mix: owner for key, owner in self._tx.rows(self._sql.owners, asked)}

    def keys_of(self, session_ids: Sequence[str]) -> list[int]:
        asked = {"space": self._space.id, "ids": json.dumps(list(session_ids))}
        return [key ^ self._mix for (key,) in self._tx.rows(self._sql.keys_of, asked)]

    def key_page(self, *, after: int | None, limit: int) -> list[tuple[int, str]]:
        place = -1 if after is None else after ^ self._mix
        asked = {"space": self._space.id, "after": place, "limit": limit}
        return [(key ^ self._mix, owner) for key, owner in self._tx.rows(self._sql.key_page, asked)]

    def note_file(self, file: ImportedFile) -> None:
        self._tx.change(self._sql.note_file, (self._space.id, *astuple(file)))

    def drop_files(self) -> None:
        self._tx.change(self._sql.drop_files, (self._space.id,))

    def note(self, session_id: str, keys: Sequence[int]) -> None:
        session: int | None = self._tx.value(self._sql.session_key, (self._space.id, session_id))
        if session is None:
            raise NotFound(f"There is no session {session_id!r}. Create it first.")
        self._note(session, keys)

    def note_deleted(self, keys: Sequence[int]) -> None:
        self._note(_DELETED, keys)

    def drop(self, keys: Sequence[int]) -> None:
        self._tx.change(self._sql.drop, {"space": self._space.id, "keys": self._places(keys)})

    def _note(self, session: int, keys: Sequence[int]) -> None:
        asked = {"space": self._space.id, "session": session, "keys": self._places(keys)}
        self._tx.change(self._sql.note, asked)

    def _places(self, keys: Iterable[int]) -> str:
        return f"[{','.join(str(key ^ self._mix) for key in keys)}]"


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
