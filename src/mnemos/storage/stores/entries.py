"""Entries inside the caller's transaction.

Vectors of a user's entries are stored in chunks of sign bits, which are filled in order and scanned
completely. The exact codes are only read for the entries with the closest signs.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import asdict

from mnemos.storage.entries import EntryFilters, EntryRow, Likeness, Posting, Settled, kind_of, owner_of
from mnemos.storage.passages import PassageWrites
from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.transaction import Store, Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RESTORED = (
    "key", "value", "metadata", "created_at", "updated_at", "encoded", "fields", "expires_at",
)  # fmt: skip
_ID = struct.Struct("<q")
_NOBODY = _ID.pack(0)
# Vectors per chunk. The last chunk is rewritten as vectors are added.
_CHUNK = 128
# The number of vectors, those with the fewest differing signs, that are compared exactly.
_COMPARED = 48


class StoredEntryReads(Store):
    def get(self, user: str, key: str) -> EntryRow | None:
        number = self._number(user)
        found = self._tx.rows(self._sql.get, (number, key)) if number else []
        return _entry(user, found[0]) if found else None

    def of_ids(self, user: str, ids: Sequence[int]) -> list[EntryRow]:
        asked = {"user": self._number(user), "ids": json.dumps(list(ids))}
        return [_entry(user, row) for row in self._tx.rows(self._sql.of_ids, asked)]

    def owner(self, entry_id: int) -> tuple[str, str] | None:
        found = self._tx.rows(self._sql.owner, (entry_id, self._space.id))
        return (found[0][0], found[0][1]) if found else None

    def keys(self, user: str, now: float | None = None) -> list[str]:
        asked = {"user": self._number(user), "now": now}
        return [key for (key,) in self._tx.rows(self._sql.keys, asked)]

    def count(self) -> int:
        return self._tx.value(self._sql.count, (self._space.id,)) or 0

    def users(self, limit: int) -> dict[str, int]:
        return dict(self._tx.rows(self._sql.users, (self._space.id, limit)))

    def has_others(self, user: str) -> bool:
        return bool(self._tx.rows(self._sql.others, (self._space.id, user)))

    def select(self, filters: EntryFilters, *, limit: int, offset: int) -> list[EntryRow]:
        asked = asdict(filters) | {"space": self._space.id, "limit": limit, "offset": offset}
        asked["ids"] = None if filters.ids is None else str([*filters.ids])
        return [_entry(row[1], (row[0], *row[2:])) for row in self._tx.rows(self._sql.choose, asked)]

    def users_below(self, user: str | None) -> list[str]:
        asked = {"space": self._space.id, "user": user}
        return [name for (name,) in self._tx.rows(self._sql.users_below, asked)]

    def find_expired(self, now: float, limit: int) -> list[tuple[int, str, str]]:
        return cast(
            list[tuple[int, str, str]], self._tx.rows(self._sql.expired, (self._space.id, now, limit))
        )

    def pending(self, limit: int, user: str | None = None) -> list[EntryRow]:
        if user is not None:
            return self.fresh(user, limit)
        found = self._tx.rows(self._sql.pending, (self._space.id, limit))
        return [_entry(row[1], (row[0], *row[2:])) for row in found]

    def fresh(self, user: str, limit: int) -> list[EntryRow]:
        number = self._number(user)
        if not number:
            return []
        asked = (self._space.id, number, limit)
        return [_entry(user, row) for row in self._tx.rows(self._sql.pending_of, asked)]

    def page(self, *, after: int, limit: int) -> list[EntryRow]:
        found = self._tx.rows(self._sql.page, (self._space.id, after, limit))
        return [_entry(row[1], (row[0], *row[2:])) for row in found]

    def counts(self, user: str, words: Sequence[str]) -> dict[str, int]:
        asked = {"user": self._number(user), "words": json.dumps(list(words))}
        return dict(self._tx.rows(self._sql.counts, asked))

    def postings(self, user: str, words: Sequence[str]) -> list[Posting]:
        asked = {"user": self._number(user), "words": json.dumps(list(words))}
        return cast(list[Posting], self._tx.rows(self._sql.postings, asked))

    def newest_with(self, user: str, word: str, limit: int) -> list[Posting]:
        asked = (self._number(user), word, limit)
        return cast(list[Posting], self._tx.rows(self._sql.newest_with, asked))

    def among(self, user: str, words: Sequence[str], ids: Sequence[int]) -> list[Posting]:
        asked = {"user": self._number(user), "words": json.dumps(list(words)), "ids": json.dumps(list(ids))}
        return cast(list[Posting], self._tx.rows(self._sql.among, asked))

    def vocabulary_mark(self, user: str) -> int:
        return self._tx.value(self._sql.vocabulary_mark, (self._space.id, user)) or 0

    def vocabulary(self, user: str) -> str:
        return self._tx.value(self._sql.vocabulary, (self._number(user),)) or ""

    def holding(self, user: str, text: str, limit: int) -> list[EntryRow]:
        asked = {"user": self._number(user), "text": text, "limit": limit}
        return [_entry(user, row) for row in self._tx.rows(self._sql.holding, asked)]

    def nearest(
        self, user: str, model: str, vector: NDArray[np.float32], *, limit: int, least: float
    ) -> list[Likeness]:
        found = self._tx.rows(self._sql.user_of, (self._space.id, user))
        if not found or found[0][1] != model:
            return []
        return _nearest(self._tx, self._sql, found[0][0], vector, limit, least)

    def _number(self, user: str) -> int:
        """Return the number of a user, or 0, which is never assigned, for one without entries."""
        found: int = self._tx.value(self._sql.number_of, (self._space.id, user)) or 0
        return found


class StoredEntryWrites(StoredEntryReads):
    def __init__(self, tx: Transaction, space: Space, sql: Queries, passages: PassageWrites) -> None:
        super().__init__(tx, space, sql)
        self._passages = passages
        self.stored = 0
        """Entries put in this transaction, which are indexed after it."""

    def put(
        self,
        user: str,
        key: str,
        value: str,
        metadata: str | None,
        at: float,
        *,
        encoded: bool = False,
        fields: str | None = None,
        expires_at: float | None = None,
    ) -> EntryRow:
        new = {"key": key, "value": value, "metadata": metadata, "at": at}
        new |= {"encoded": encoded, "fields": fields, "expires_at": expires_at}
        return self._put(self._sql.put, user, new)

    def restore(self, entry: EntryRow) -> EntryRow:
        values = asdict(entry)
        return self._put(self._sql.restore, entry.user, {name: values[name] for name in _RESTORED})

    def _put(self, sql: str, user: str, values: dict[str, Any]) -> EntryRow:
        number = self._number(user) or self._tx.value(self._sql.add_user, (self._space.id, user))
        self.stored += 1
        return _entry(user, self._tx.rows(sql, values | {"space": self._space.id, "user": number})[0])

    def set_expiry(self, user: str, key: str, expires_at: float | None) -> bool:
        return self._tx.value(self._sql.set_expiry, (expires_at, self._number(user), key)) is not None

    def delete(self, user: str, key: str) -> int | None:
        found = self.get(user, key)
        if found is None:
            return None
        _, _, number, words, chunk, slot = self._index_record(found.id)
        self._unindex(found.id, number, words, chunk, slot)
        self._passages.remove(kind_of(user), str(found.id))
        self._tx.change(self._sql.delete, (found.id,))
        self._tx.change(self._sql.words_changed, (number,))
        if not self._tx.rows(self._sql.has_entries, (number,)):
            _drop_vectors(self._tx, self._sql, number)
            self._tx.change(self._sql.drop_user, (number,))
        return found.id

    def settle(self, entries: Sequence[Settled], model: str) -> int:
        for user in {one.entry.user for one in entries}:
            self._use_model(user, model)
            self._tx.change(self._sql.words_changed, (self._number(user),))
        return sum(self._settle(one) for one in entries)

    def _settle(self, one: Settled) -> bool:
        found = self._tx.rows(self._sql.indexed_as, (one.entry.id, self._space.id))
        # The entry changed in the meantime, or another process has already indexed it.
        if not found or found[0][0] != one.entry.version or found[0][1] == one.entry.version:
            return False
        _, _, number, words, chunk, slot = found[0]
        self._unindex(one.entry.id, number, words, chunk, slot)
        known = [(number, word, one.entry.id, place) for word, place in one.words.items()]
        self._tx.change_many(self._sql.add_word, known)
        self._tx.change_many(self._sql.know_word, [(number, word) for word in one.words])
        self._passages.put(
            kind_of(one.entry.user),
            str(one.entry.id),
            text=one.text,
            at=one.entry.updated_at,
            group=owner_of(one.entry.user),
        )
        where: tuple[int | None, int | None] = (None, None)
        if one.vector:
            where = _add_vector(self._tx, self._sql, number, one.entry.id, one.bits, one.vector)
        self._tx.change(self._sql.mark_indexed, (" ".join(one.words), *where, one.entry.id))
        return True

    def _index_record(self, entry_id: int) -> tuple[Any, ...]:
        return self._tx.rows(self._sql.indexed_as, (entry_id, self._space.id))[0]

    def _unindex(
        self, entry_id: int, number: int, words: str | None, chunk: int | None, slot: int | None
    ) -> None:
        for word in (words or "").split():
            self._tx.change(self._sql.drop_word, (number, word, entry_id))
            self._tx.change(self._sql.lose_word, (number, word))
            self._tx.change(self._sql.drop_lost, (number, word))
        if chunk is not None and slot is not None:
            _erase_vector(self._tx, self._sql, entry_id, chunk, slot)

    def _use_model(self, user: str, model: str) -> None:
        found = self._tx.rows(self._sql.user_of, (self._space.id, user))
        if not found or found[0][1] == model:
            return
        number, former = found[0]
        if former is not None:
            _drop_vectors(self._tx, self._sql, number)
            self._tx.change(self._sql.index_again, (number,))
        self._tx.change(self._sql.use_model, (model, number))


def _entry(user: str, row: tuple[Any, ...]) -> EntryRow:
    return EntryRow(row[0], user, row[1], row[2], row[3], row[4], row[5], row[6], row[7] == 1, row[8], row[9])


def _add_vector(
    tx: Transaction, sql: Queries, user: int, entry_id: int, bits: bytes, codes: bytes
) -> tuple[int, int]:
    """Store a vector; return the chunk of its signs and its position there."""
    tx.change(sql.set_codes, (entry_id, codes))
    last = tx.rows(sql.last_chunk, (user,))
    if last and len(last[0][1]) < _CHUNK * _ID.size:
        chunk, ids, signs = last[0]
        tx.change(sql.set_chunk, (ids + _ID.pack(entry_id), signs + bits, chunk))
        return chunk, len(ids) // _ID.size
    chunk = tx.value(sql.add_chunk, (user, _ID.pack(entry_id), bits))
    return chunk, 0


def _erase_vector(tx: Transaction, sql: Queries, entry_id: int, chunk: int, slot: int) -> None:
    """Zero a vector in its chunk. A chunk without vectors is deleted."""
    tx.change(sql.drop_codes, (entry_id,))
    found = tx.rows(sql.chunk, (chunk,))
    if not found:
        return
    ids, bits = found[0]
    count = len(ids) // _ID.size
    ids = _clear_slot(ids, _ID.size, slot)
    if ids == _NOBODY * count:
        tx.change(sql.drop_chunk, (chunk,))
    else:
        tx.change(sql.set_chunk, (ids, _clear_slot(bits, len(bits) // count, slot), chunk))


def _drop_vectors(tx: Transaction, sql: Queries, user: int) -> None:
    """Remove all vectors of a user."""
    tx.change(sql.drop_vectors, (user,))
    tx.change(sql.drop_signs, (user,))


def _nearest(
    tx: Transaction, sql: Queries, user: int, vector: NDArray[np.float32], limit: int, least: float
) -> list[Likeness]:
    """Return the entries nearest to a vector of length 1, best first."""
    import numpy as np

    found = tx.rows(sql.chunks, (user,))
    if not found:
        return []
    ids = np.frombuffer(b"".join(row[0] for row in found), "<i8")
    bits = np.frombuffer(b"".join(row[1] for row in found), np.uint64).reshape(len(ids), -1)
    distance = np.zeros(len(ids), np.uint16)
    for column, sign in enumerate(np.packbits(vector > 0).view(np.uint64)):
        distance += np.bitwise_count(bits[:, column] ^ sign)
    distance[ids == 0] = np.iinfo(np.uint16).max
    most = min(max(_COMPARED, 2 * limit), len(ids))
    likely = ids[np.argpartition(distance, most - 1)[:most]].tolist()
    read = tx.rows(sql.codes, (str(likely),))
    if not read:
        return []
    codes = np.frombuffer(b"".join(row[1] for row in read), np.int8).reshape(len(read), -1).astype(np.float32)
    cosines = np.einsum("ij,j->i", codes, vector) / np.sqrt(np.einsum("ij,ij->i", codes, codes))
    near = [Likeness(row[0], cosine) for row, cosine in zip(read, cosines.tolist(), strict=True)]
    return sorted((one for one in near if one.cosine >= least), key=lambda one: (-one.cosine, one.entry))[
        :limit
    ]


def _clear_slot(data: bytes, width: int, slot: int) -> bytes:
    start = slot * width
    return data[:start] + bytes(width) + data[start + width :]
