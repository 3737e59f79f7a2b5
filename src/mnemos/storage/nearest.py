"""Search for the nearest vectors, by sign bits in memory and then by signed bytes."""

from __future__ import annotations

import heapq
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemos.storage.base import Filters
from mnemos.storage.passages import MESSAGE, PIECE_BITS, Compared, Near, Units, are_of_messages
from mnemos.storage.queries import Queries
from mnemos.storage.search import Scope, Search, WordIndex
from mnemos.storage.space import Space
from mnemos.storage.stores.vectors import (
    CHUNK,
    ERASED,
    KINDS,
    LABEL,
    MESSAGES,
    PASSAGES,
    ROLES,
    bits_width,
    code_of,
    number_of,
    seconds_of,
)
from mnemos.storage.transaction import Transaction

_LABEL = np.dtype([("key", "<i8"), ("session", "<u4"), ("at", "<u4"), ("role", "u1")])
assert _LABEL.itemsize == LABEL.size  # noqa: S101

# For each wanted vector, this many with the nearest bits are compared exactly.
_COMPARED = 4
_LEAST_COMPARED = 200
# Before that, this many with the fewest differing signs are weighted by their signs.
_WEIGHED = 2_000
_GROWTH = 1.5
# Owners looked up for each wanted message, as one message may have several pieces.
_OWNERS = 2
# A message with fewer pieces has one part, unless its first part has no meaning.
_PIECES_OF_A_PART = 64
# The bytes of vectors kept in memory besides the bits: all of them in a home with 250,000 short messages.
_KEPT_BYTES = 64 * 1024 * 1024
_PLACE_BYTES = 250
_FAR = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class View:
    """The part of a shelf that one transaction sees."""

    labels: NDArray[Any]
    bits: NDArray[np.uint64]
    starts: NDArray[np.int64]
    """The first slot of each chunk."""
    chunks: tuple[int, ...]
    """The rowid of each chunk."""


class Shelf:
    """The labels and bits of one series of an embedding that were read so far."""

    def __init__(self, dim: int, made_for: tuple[int, int], sql: Queries) -> None:
        self._sql = sql
        self.made_for = made_for
        self.dim = dim
        self._words = -(-dim // 64)
        self._width = bits_width(dim)
        self._size = 0
        self._from_key = -1
        self._labels = np.empty(0, _LABEL)
        self._bits = np.empty((self._words, 0), np.uint64)
        self._starts: list[int] = []
        self._chunks: list[int] = []
        self._codes: dict[int, bytes] = {}
        self._slices: dict[tuple[int, int], bytes] = {}
        self._view = self._make_view()

    def refresh(self, tx: Transaction, embedding: int, series: int) -> View:
        """Read new and extended chunks; return the view of the connection's transaction."""
        seen = tx.value(self._sql.last_key, (embedding, series))
        if seen is not None and seen > self._from_key:
            asked = (embedding, series, self._from_key)
            for chunk, last, labels, bits in tx.rows(self._sql.chunks_from, asked):
                self._take(chunk, labels, bits)
                self._from_key = last
            self._view = self._make_view()
        view = self._view
        if seen == self._from_key:
            return view
        # Another transaction has read further, and this one must not see the newer vectors.
        size = 0 if seen is None else int(np.searchsorted(view.labels["key"], seen, side="right"))
        return View(view.labels[:size], view.bits[:, :size], view.starts, view.chunks)

    def read(self, tx: Transaction, chunks: list[int], ends: list[int]) -> list[bytes]:
        """Return the bytes of vectors, given by their chunks and where they end there."""
        slices = vars(self._sql).get("slices")
        if slices is None:
            return [
                self._read_chunk(tx, chunk, end)[end - self.dim : end]
                for chunk, end in zip(chunks, ends, strict=True)
            ]
        wanted = list(zip(chunks, ends, strict=True))
        if missing := [place for place in wanted if place not in self._slices]:
            self._slices |= zip(missing, self._read_slices(tx, slices, missing), strict=True)
        found = [self._slices[place] for place in wanted]
        if len(self._slices) >= _KEPT_BYTES // (self.dim + _PLACE_BYTES):
            self._slices.clear()
        return found

    def _read_slices(self, tx: Transaction, sql: str, places: list[tuple[int, int]]) -> list[bytes]:
        """Read small parts of chunks at once. On a network, that beats many queries for whole chunks."""
        asked = json.dumps([[chunk, end - self.dim + 1] for chunk, end in places])
        found = [part for (part,) in tx.rows(sql, {"places": asked, "dim": self.dim})]
        if len(found) != len(places) or any(len(part) != self.dim for part in found):
            raise ValueError(f"a chunk is too short for its vectors of {self.dim}")
        return found

    def _read_chunk(self, tx: Transaction, chunk: int, size: int) -> bytes:
        """Return at least ``size`` bytes of a chunk's vectors. The most recently read ones are kept."""
        kept = self._codes.get(chunk)
        if kept is None or len(kept) < size:
            kept = tx.value(self._sql.codes, (chunk,))
            if len(kept) % self.dim or len(kept) < size:
                raise ValueError(f"a chunk of {len(kept)} bytes has no vector of {self.dim} at {size}")
            if len(self._codes) >= _KEPT_BYTES // (CHUNK * self.dim):
                self._codes.clear()
            self._codes[chunk] = kept
        return kept

    def _take(self, chunk: int, labels: bytes, bits: bytes) -> None:
        if self._chunks and chunk == self._chunks[-1]:
            self._size = self._starts.pop()
            self._chunks.pop()
        self._put(np.frombuffer(labels, _LABEL), bits)
        self._starts.append(self._size)
        self._chunks.append(chunk)
        self._size += len(labels) // LABEL.size

    def _put(self, labels: NDArray[Any], bits: bytes) -> None:
        needed = self._size + len(labels)
        if needed > len(self._labels):
            capacity = max(needed, int(len(self._labels) * _GROWTH), 1024)
            grown = np.empty(capacity, _LABEL)
            grown[: self._size] = self._labels[: self._size]
            wider = np.zeros((self._words, capacity), np.uint64)
            wider[:, : self._size] = self._bits[:, : self._size]
            self._labels, self._bits = grown, wider
        self._labels[self._size : needed] = labels
        padded = np.zeros((len(labels), self._words * 8), np.uint8)
        padded[:, : self._width] = np.frombuffer(bits, np.uint8).reshape(len(labels), self._width)
        self._bits[:, self._size : needed] = padded.view(np.uint64).T

    def _make_view(self) -> View:
        return View(
            self._labels[: self._size],
            self._bits[:, : self._size],
            np.array(self._starts, np.int64),
            tuple(self._chunks),
        )


class Shelves:
    """The vectors that a process keeps in memory, shared by its connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._shelves: dict[tuple[int, int], Shelf] = {}

    def current(
        self,
        tx: Transaction,
        sql: Queries,
        mark: int,
        series: int,
        embedding: int,
        erasures: int,
        dim: int,
    ) -> tuple[Shelf, View]:
        """Return the shelf with everything the transaction sees. ``mark`` identifies the file."""
        if self._process != os.getpid():
            # A thread of the parent may have held the lock during the fork, and will never release this copy.
            self._lock = threading.Lock()
            self._process = os.getpid()
            self._shelves = {}
        with self._lock:
            shelf = self._shelves.get((embedding, series))
            if shelf is None or shelf.made_for != (mark, erasures):
                shelf = Shelf(dim, (mark, erasures), sql)
                self._shelves[embedding, series] = shelf
            return shelf, shelf.refresh(tx, embedding, series)


class Look:
    """The vectors of one model, as seen by one transaction."""

    def __init__(
        self,
        shelves: Shelves,
        tx: Transaction,
        sql: Queries,
        space: Space,
        index: WordIndex,
        mark: int,
        model: str,
    ) -> None:
        self._shelves = shelves
        self._tx = tx
        self._sql = sql
        self._space = space
        self._index = index
        self._mark = mark
        found = tx.rows(sql.embedding, (space.id, model))
        self._embedding = (found[0][0], found[0][3], found[0][4]) if found else None

    def nearest(
        self, vector: NDArray[np.float32], filters: Filters, kinds: Sequence[str] | None, limit: int
    ) -> list[Near]:
        search = self._index.searching()
        scope = search.scope(filters)
        if scope is None or self._embedding is None:
            return []
        found: list[Near] = []
        for series in (MESSAGES, PASSAGES):
            if _is_wanted(series, filters, kinds):
                shelf, view = self._shelf(series)
                if len(view.labels):
                    allowed = _select_allowed(view.labels, series, search, filters, scope, kinds)
                    exactly = partial(self._exactly, series, filters, scope, kinds, limit)
                    found += self._find_uncrowded(shelf, view, vector, allowed, limit, exactly)
        return sorted(found, key=lambda near: (-near.cosine, near.id))[:limit]

    def compare(self, vector: NDArray[np.float32], ids: Sequence[int]) -> Compared:
        known = set(ids)
        wanted = np.array(sorted(known), np.int64)
        last = self._space.last
        best: dict[int, Near] = {}
        firsts: list[NDArray[np.int64]] = []
        units: list[NDArray[np.float32]] = []
        for series, some in ((MESSAGES, wanted[wanted <= last]), (PASSAGES, wanted[wanted > last])):
            if self._embedding is None or not len(some):
                continue
            shelf, view = self._shelf(series)
            slots = self._slots(view, some, series)
            keys = view.labels["key"][slots]
            vectors = _vectors(self._tx, shelf, view, slots)
            for near in _pieces(keys, _cosines(vectors, vector)):
                if near.id not in known:
                    # Later parts of a long message count as its pieces.
                    owner = int(some[np.searchsorted(some, near.id, side="right") - 1])
                    near = Near(owner, (near.id - owner << PIECE_BITS) + near.piece, near.cosine)
                if near.id not in best or near.cosine > best[near.id].cosine:
                    best[near.id] = near
            first = np.isin(keys, some << PIECE_BITS)
            firsts.append(keys[first] >> PIECE_BITS)
            units.append(vectors[first])
        if not firsts:
            return Compared({}, Units(np.empty(0, np.int64), np.empty((0, 1), np.float32)))
        return Compared(best, Units(np.concatenate(firsts), np.concatenate(units)))

    def _shelf(self, series: int) -> tuple[Shelf, View]:
        assert self._embedding is not None  # noqa: S101
        return self._shelves.current(self._tx, self._sql, self._mark, series, *self._embedding)

    def _slots(self, view: View, ids: NDArray[np.int64], series: int) -> NDArray[np.int64]:
        """Return the slots of these passages' pieces."""
        keys = view.labels["key"]
        low = np.searchsorted(keys, ids << PIECE_BITS)
        high = np.searchsorted(keys, ids + 1 << PIECE_BITS)
        if series == MESSAGES:
            several = (high - low >= _PIECES_OF_A_PART) | (high == low)
            for position in np.flatnonzero(several).tolist():
                following = self._tx.value(self._sql.next_message, (int(ids[position]),))
                end = following if following is not None else self._space.last + 1
                high[position] = np.searchsorted(keys, end << PIECE_BITS)
        pieces = high - low
        # The slots of all pieces, as consecutive ranges.
        ends = np.cumsum(pieces)
        slots = np.repeat(low - (ends - pieces), pieces) + np.arange(ends[-1])
        kept: NDArray[np.int64] = slots[view.labels["role"][slots] != ERASED]
        return kept

    def _find_uncrowded(
        self,
        shelf: Shelf,
        view: View,
        vector: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        limit: int,
        exactly: Callable[[list[Near]], list[Near]],
    ) -> list[Near]:
        """Find the best passages, comparing more vectors until they include enough passages."""
        count = max(_LEAST_COMPARED, limit * _COMPARED)
        while True:
            slots = _closest(view.bits, vector, allowed, count)
            best = _best_pieces(exactly(self._compare(shelf, view, vector, slots)))
            if len(best) >= limit or len(slots) < count:
                return best
            # A long message's pieces crowded others out.
            count *= 8

    def _compare(
        self, shelf: Shelf, view: View, vector: NDArray[np.float32], slots: NDArray[np.int64]
    ) -> list[Near]:
        units = _vectors(self._tx, shelf, view, slots)
        return _pieces(view.labels["key"][slots], _cosines(units, vector))

    def _exactly(
        self,
        series: int,
        filters: Filters,
        scope: Scope,
        kinds: Sequence[str] | None,
        limit: int,
        found: list[Near],
    ) -> list[Near]:
        """Check candidates against their rows, as labels only have whole seconds and common roles."""
        if series == PASSAGES and scope.is_timeless and filters.group is None and _are_usual(kinds):
            return found
        if series == MESSAGES and scope.is_timeless and filters.roles is None:
            # Every row passes, so only the owners of the best are looked up, unless they are too few
            # messages.
            best = heapq.nlargest(_OWNERS * limit, _best_pieces(found), key=attrgetter("cosine"))
            kept = self._keep(series, filters, scope, kinds, best)
            if len({near.id for near in kept}) >= limit or len(best) == len(found):
                return kept
        return self._keep(series, filters, scope, kinds, found)

    def _keep(
        self, series: int, filters: Filters, scope: Scope, kinds: Sequence[str] | None, found: list[Near]
    ) -> list[Near]:
        ids = f"[{','.join(str(near.id) for near in found)}]"
        names = filters.roles if series == MESSAGES else kinds
        sql = self._sql.owners if series == MESSAGES else self._sql.kept_passages
        kept: list[Near] = []
        for near, row in zip(found, self._tx.rows(sql, (ids,)), strict=True):
            owner, at, name, group = row
            if filters.group is not None and group != filters.group:
                continue
            if scope.since <= at < scope.until and (names is None or name in names):
                # Later parts of a long message have ids without rows. They count as its pieces.
                kept.append(Near(owner, (near.id - owner << PIECE_BITS) + near.piece, near.cosine))
        return kept


def _best_pieces(found: Sequence[Near]) -> list[Near]:
    """Keep the nearest piece of each id."""
    best: dict[int, Near] = {}
    for near in found:
        if near.id not in best or near.cosine > best[near.id].cosine:
            best[near.id] = near
    return list(best.values())


def _are_usual(kinds: Sequence[str] | None) -> bool:
    """True if labels distinguish these kinds from all others."""
    return kinds is None or all(kind in KINDS for kind in kinds if kind != MESSAGE)


def _is_wanted(series: int, filters: Filters, kinds: Sequence[str] | None) -> bool:
    if series == MESSAGES:
        return filters.group is None and (kinds is None or MESSAGE in kinds)
    return not are_of_messages(filters) and (kinds is None or any(kind != MESSAGE for kind in kinds))


def _select_allowed(
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
            codes = [code_of(kind, KINDS) for kind in kinds if kind != MESSAGE]
            allowed &= np.isin(labels["role"], codes)
        if filters.group is not None:
            allowed &= labels["session"] == number_of(filters.group)
        if filters.user is not None:
            others = search.passages_of_others(filters.user)
            allowed &= np.isin(labels["key"] >> PIECE_BITS, others, invert=True)
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
    bits: NDArray[np.uint64], vector: NDArray[np.float32], allowed: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """Return the slots that are nearest by their bits, in ascending order.

    A few thousand are chosen by the number of differing signs. Weighting their signs by the question's values
    then ranks them better than counting more signs would.
    """
    some = _least_different(bits, _signs(vector), allowed, max(_WEIGHED, count * 10))
    if len(some) <= count:
        return some
    rows = np.ascontiguousarray(bits[:, some].T).view(np.uint8)
    signs = np.unpackbits(rows, axis=1, count=len(vector))
    # Not a matrix product: BLAS would start threads and wait for them.
    likeness = np.einsum("ij,j->i", signs, vector)
    best: NDArray[np.int64] = np.sort(some[np.argpartition(-likeness, count)[:count]])
    return best


def _least_different(
    bits: NDArray[np.uint64], signs: NDArray[np.uint64], allowed: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """Return the slots with the fewest differing signs."""
    if int(np.count_nonzero(allowed)) <= count:
        return np.flatnonzero(allowed)
    distance = np.zeros(bits.shape[1], np.uint16)
    for word, sign in zip(bits, signs, strict=True):
        distance += np.bitwise_count(word ^ sign)
    distance[~allowed] = _FAR
    threshold = int(np.searchsorted(np.cumsum(np.bincount(distance)), count))
    near = np.flatnonzero(distance < threshold)
    # Among equal ones, the newest win.
    ties = np.flatnonzero(distance == threshold)[len(near) - count :]
    return np.sort(np.concatenate([near, ties]))


def _cosines(units: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # Not a matrix product: BLAS would start threads and wait for them.
    found: NDArray[np.float32] = np.einsum("ij,j->i", units, vector)
    return found


def _vectors(tx: Transaction, shelf: Shelf, view: View, slots: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the vectors of these slots, each of length 1."""
    if not len(slots):
        return np.empty((0, shelf.dim), np.float32)
    numbers = np.searchsorted(view.starts, slots, side="right") - 1
    ends = (slots - view.starts[numbers] + 1) * shelf.dim
    parts = shelf.read(tx, [view.chunks[number] for number in numbers.tolist()], ends.tolist())
    wide = np.frombuffer(b"".join(parts), np.int8).reshape(-1, shelf.dim).astype(np.float32)
    wide /= np.maximum(np.sqrt(np.einsum("ij,ij->i", wide, wide)), 1e-9)[:, None]
    return wide


def _pieces(keys: NDArray[np.int64], found: NDArray[np.float32]) -> list[Near]:
    piece = (1 << PIECE_BITS) - 1
    return [
        Near(key >> PIECE_BITS, key & piece, cosine)
        for key, cosine in zip(keys.tolist(), found.tolist(), strict=True)
    ]
