"""The nearest vectors: sign bits of everything are compared in memory, signed bytes of the best are read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from mnemos.storage.base import Filters
from mnemos.storage.passages import PIECE_BITS, Near
from mnemos.storage.sqlite.connection import rows
from mnemos.storage.sqlite.search import Scope, Search
from mnemos.storage.sqlite.sessions import SqliteSessionReads
from mnemos.storage.sqlite.space import Space
from mnemos.storage.sqlite.vectors import (
    ERASED,
    KINDS,
    LABEL,
    MESSAGES,
    PASSAGES,
    ROLES,
    SQL,
    bits_width,
    code_of,
    seconds_of,
)

_LABEL = np.dtype([("key", "<i8"), ("session", "<u4"), ("at", "<u4"), ("role", "u1")])
assert _LABEL.itemsize == LABEL.size  # noqa: S101

# Of the vectors whose bits are nearest, so many for each one wanted are compared exactly.
_COMPARED = 4
_GROWTH = 1.5
_FAR = np.iinfo(np.uint16).max


class Shelf:
    """The labels and bits of one series of an embedding, as far as they were read."""

    def __init__(self, dim: int, made_for: tuple[int, int]) -> None:
        self._words = -(-dim // 64)
        self._width = bits_width(dim)
        self.made_for = made_for
        self.size = 0
        self._from_key = -1
        self._labels = np.empty(0, _LABEL)
        self._bits = np.empty((self._words, 0), np.uint64)
        # Where each chunk's vectors begin, and its rowid.
        self.starts: list[int] = []
        self.chunks: list[int] = []

    def refresh(self, connection: apsw.Connection, embedding: int, series: int) -> None:
        """Read the chunks that came or grew since."""
        position = self._from_key
        for chunk, last, labels, bits in connection.execute(SQL.chunks_from, (embedding, series, position)):
            if self.chunks and chunk == self.chunks[-1]:
                self.size = self.starts.pop()
                self.chunks.pop()
            self._put(np.frombuffer(labels, _LABEL), bits)
            self.starts.append(self.size)
            self.chunks.append(chunk)
            self.size += len(labels) // LABEL.size
            self._from_key = last

    def view(self) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        return self._labels[: self.size], self._bits[:, : self.size]

    def _put(self, labels: NDArray[Any], bits: bytes) -> None:
        needed = self.size + len(labels)
        if needed > len(self._labels):
            capacity = max(needed, int(len(self._labels) * _GROWTH), 1024)
            grown = np.empty(capacity, _LABEL)
            grown[: self.size] = self._labels[: self.size]
            wider = np.zeros((self._words, capacity), np.uint64)
            wider[:, : self.size] = self._bits[:, : self.size]
            self._labels, self._bits = grown, wider
        self._labels[self.size : needed] = labels
        padded = np.zeros((len(labels), self._words * 8), np.uint8)
        padded[:, : self._width] = np.frombuffer(bits, np.uint8).reshape(len(labels), self._width)
        self._bits[:, self.size : needed] = padded.view(np.uint64).T


class Shelves:
    """What a process remembers of vectors, shared by its connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: dict[tuple[int, int], Shelf] = {}

    def current(
        self, connection: apsw.Connection, mark: int, series: int, embedding: int, erasures: int, dim: int
    ) -> tuple[Shelf, NDArray[Any], NDArray[np.uint64]]:
        """The shelf with everything the transaction sees; ``mark`` tells files apart."""
        with self._lock:
            shelf = self._shelves.get((embedding, series))
            if shelf is None or shelf.made_for != (mark, erasures):
                shelf = Shelf(dim, (mark, erasures))
                self._shelves[embedding, series] = shelf
            shelf.refresh(connection, embedding, series)
            return shelf, *shelf.view()


class Look:
    """A look at the vectors of one model, in one transaction."""

    def __init__(
        self,
        shelves: Shelves,
        connection: apsw.Connection,
        space: Space,
        sessions: SqliteSessionReads,
        mark: int,
        model: str,
    ) -> None:
        self._shelves = shelves
        self._connection = connection
        self._space = space
        self._sessions = sessions
        self._mark = mark
        found = rows(connection, SQL.embedding, (space.id, model))
        self._embedding = (found[0][0], found[0][3], found[0][4]) if found else None

    def nearest(
        self, vector: NDArray[np.float32], filters: Filters, kinds: Sequence[str] | None, limit: int
    ) -> list[Near]:
        search = self._sessions.searching()
        scope = search.scope(filters)
        if scope is None or self._embedding is None:
            return []
        found: list[Near] = []
        for series in (MESSAGES, PASSAGES):
            if not _is_wanted(series, filters, kinds):
                continue
            shelf, labels, bits = self._shelf(series)
            if len(labels):
                allowed = _allowed(labels, series, search, filters, scope, kinds)
                slots = _closest(bits, _signs(vector), allowed, limit * _COMPARED)
                cosines = _exact(self._connection, shelf, slots, vector)
                found += self._owned(_pieces(labels["key"][slots], cosines))
        best: dict[int, Near] = {}
        for near in sorted(found, key=lambda near: -near.cosine):
            best.setdefault(near.id, near)
            if len(best) >= limit:
                break
        return list(best.values())

    def cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, Near]:
        if self._embedding is None or not ids:
            return {}
        wanted = np.array(sorted(ids), np.int64)
        last = self._space.last
        best: dict[int, Near] = {}
        for series, some in ((MESSAGES, wanted[wanted <= last]), (PASSAGES, wanted[wanted > last])):
            if not len(some):
                continue
            shelf, labels, _ = self._shelf(series)
            keys = labels["key"]
            low = np.searchsorted(keys, some << PIECE_BITS)
            high = np.searchsorted(keys, some + 1 << PIECE_BITS)
            slots = np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)])
            slots = slots[labels["role"][slots] != ERASED]
            for near in _pieces(keys[slots], _exact(self._connection, shelf, slots, vector)):
                if near.id not in best or near.cosine > best[near.id].cosine:
                    best[near.id] = near
        return best

    def _shelf(self, series: int) -> tuple[Shelf, NDArray[Any], NDArray[np.uint64]]:
        assert self._embedding is not None  # noqa: S101
        return self._shelves.current(self._connection, self._mark, series, *self._embedding)

    def _owned(self, found: list[Near]) -> list[Near]:
        """The later parts of a long message have ids that no row has: they are pieces of the message."""
        ids = f"[{','.join(str(near.id) for near in found)}]"
        owners = rows(self._connection, SQL.owners, (ids,))
        return [
            near
            if near.id == owner or near.id > self._space.last
            else Near(owner, (near.id - owner << PIECE_BITS) + near.piece, near.cosine)
            for near, (owner,) in zip(found, owners, strict=True)
        ]


def _is_wanted(series: int, filters: Filters, kinds: Sequence[str] | None) -> bool:
    if series == MESSAGES:
        return kinds is None or "message" in kinds
    # Only messages have a source, a role and a session to choose by.
    bound = (filters.sources, filters.roles, filters.session_ids)
    return bound == (None, None, None) and (kinds is None or any(kind != "message" for kind in kinds))


def _allowed(
    labels: NDArray[Any],
    series: int,
    search: Search,
    filters: Filters,
    scope: Scope,
    kinds: Sequence[str] | None,
) -> NDArray[np.bool_]:
    allowed: NDArray[np.bool_] = labels["role"] != ERASED
    if not scope.is_timeless:
        allowed &= labels["at"] >= seconds_of(scope.since)
        allowed &= labels["at"] <= seconds_of(scope.until)
    if series == PASSAGES:
        if kinds is not None:
            allowed &= np.isin(labels["role"], [code_of(kind, KINDS) for kind in kinds])
        return allowed
    if filters.roles is not None:
        allowed &= np.isin(labels["role"], [code_of(role, ROLES) for role in filters.roles])
    for keys, unwanted in search.session_keys(filters):
        allowed &= np.isin(labels["session"], keys, invert=unwanted)
    return allowed


def _signs(vector: NDArray[np.float32]) -> NDArray[np.uint64]:
    packed = np.packbits(vector > 0)
    padded = np.zeros(-(-len(packed) // 8) * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def _closest(
    bits: NDArray[np.uint64], signs: NDArray[np.uint64], allowed: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """The slots whose signs differ least."""
    distance = np.zeros(bits.shape[1], np.uint16)
    for word, sign in zip(bits, signs, strict=True):
        distance += np.bitwise_count(word ^ sign)
    distance[~allowed] = _FAR
    candidates = int(np.count_nonzero(allowed))
    if candidates <= count:
        return np.flatnonzero(allowed)
    counted = np.bincount(distance, minlength=1)
    threshold = int(np.searchsorted(np.cumsum(counted), count))
    return np.flatnonzero(distance <= threshold)[: count * 2]


def _exact(
    connection: apsw.Connection, shelf: Shelf, slots: NDArray[np.int64], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The cosine of each slot's vector."""
    dim = len(vector)
    codes = np.empty((len(slots), dim), np.int8)
    numbers = np.searchsorted(shelf.starts, slots, side="right") - 1
    blob: apsw.Blob | None = None
    current = -1
    for position, (slot, number) in enumerate(zip(slots.tolist(), numbers.tolist(), strict=True)):
        if blob is None:
            blob = connection.blob_open("main", "vectors", "codes", shelf.chunks[number], writeable=False)
        elif number != current:
            blob.reopen(shelf.chunks[number])
        current = number
        blob.seek((slot - shelf.starts[number]) * dim)
        blob.read_into(codes[position])
    if blob is not None:
        blob.close()
    wide = codes.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    found: NDArray[np.float32] = (wide @ vector) / np.maximum(lengths, 1e-9)
    return found


def _pieces(keys: NDArray[np.int64], found: NDArray[np.float32]) -> list[Near]:
    piece = (1 << PIECE_BITS) - 1
    return [
        Near(key >> PIECE_BITS, key & piece, cosine)
        for key, cosine in zip(keys.tolist(), found.tolist(), strict=True)
    ]
