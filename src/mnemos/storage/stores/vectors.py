"""Vectors: chunks of rows, filled in the order of their keys, erased in place.

A vector has a label (key, session, seconds and role, for filters), sign bits and signed bytes. The bits and
labels of a whole space fit into memory and are scanned there (``nearest``). The bytes are only read for the
results of the scan.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mnemos.errors import Corrupt
from mnemos.storage.base import Check, report_ok, report_problem
from mnemos.storage.passages import PIECE_BITS, Compared, Coverage, Near, NewVectors, Unembedded
from mnemos.storage.queries import Queries
from mnemos.storage.space import NOWHERE, Space
from mnemos.storage.terms import ids_of, parts_of
from mnemos.storage.transaction import Store, Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemos.storage.base import Filters
    from mnemos.storage.nearest import Look, Shelves
    from mnemos.storage.stores.sessions import StoredSessionReads

MESSAGES, PASSAGES = 0, 1
LABEL = struct.Struct("<qIIB")

# The number of vectors in a chunk. The last chunk is rewritten as vectors are added.
CHUNK = 256
# The number of passages to read at a time.
_PAGE = 500
_LAST_SECOND = 0xFFFFFFFF

ROLES = ("user", "assistant", "tool", "system")
KINDS = ("fact", "note", "entry", "template", "table")
OTHER = 254
ERASED = 255


def code_of(name: str, names: Sequence[str]) -> int:
    """Return the number that labels a role or kind. Unknown ones share a number."""
    return names.index(name) if name in names else OTHER


def number_of(group: str | None) -> int:
    """Return the number that labels a group. Two groups may share one."""
    return 0 if group is None else zlib.crc32(group.encode("utf-8", "surrogatepass"))


def seconds_of(moment: float) -> int:
    return int(min(max(moment, 0.0), _LAST_SECOND))


@contextmanager
def _damage() -> Iterator[None]:
    """Report lengths and numbers that don't agree as damage."""
    try:
        yield
    except (ValueError, IndexError, TypeError) as exc:
        raise Corrupt(f"The vectors are damaged ({exc}). `mnemos doctor --repair` recreates them.") from exc


def bits_width(dim: int) -> int:
    """Return the size of a vector's sign bits in bytes."""
    return -(-dim // 8)


class Remembered:
    """The vectors that a process keeps in memory, made on first use because they need numpy."""

    @cached_property
    def shelves(self) -> Shelves:
        from mnemos.storage.nearest import Shelves

        return Shelves()


class StoredVectorReads(Store):
    def __init__(
        self,
        tx: Transaction,
        space: Space,
        sql: Queries,
        sessions: StoredSessionReads,
        remembered: Remembered,
        mark: int,
    ) -> None:
        super().__init__(tx, space, sql)
        self._sessions = sessions
        self._remembered = remembered
        self._mark = mark

    def coverage(self) -> list[Coverage]:
        messages, passages = self._ends()
        total = messages - self._space.first + 1 + passages - self._space.first_passage + 1
        return [
            Coverage(model, dim, total - (messages - done) - (passages - other), total)
            for _, model, dim, done, other in self._tx.rows(self._sql.embeddings, (self._space.id,))
        ]

    def has_others(self, model: str) -> bool:
        return bool(self._tx.rows(self._sql.others, (self._space.id, model)))

    def pending(self, model: str, *, characters: int, after: Sequence[int] = (0, 0)) -> Unembedded | None:
        messages, passages = self._ends()
        state = self._state(model)
        message, passage = max(state[1], after[0]), max(state[2], after[1])
        if message < messages:
            return self._pending_messages(state, message, messages, characters)
        if passage < passages:
            return self._pending_passages(state, passage, passages, characters)
        if any(after) and (state[1], state[2]) != (message, passage):
            return self._gather_unembedded(state, [], passage, PASSAGES)
        return None

    def nearest(
        self,
        model: str,
        vector: NDArray[np.float32],
        filters: Filters,
        *,
        kinds: Sequence[str] | None,
        limit: int,
    ) -> list[Near]:
        with _damage():
            return self._look(model).nearest(vector, filters, kinds, limit)

    def compare(self, model: str, vector: NDArray[np.float32], ids: Sequence[int]) -> Compared:
        with _damage():
            return self._look(model).compare(vector, ids)

    def _look(self, model: str) -> Look:
        # Imports numpy.
        from mnemos.storage.nearest import Look

        shelves, index = self._remembered.shelves, self._sessions.index
        return Look(shelves, self._tx, self._sql, self._space, index, self._mark, model)

    def _ends(self) -> tuple[int, int]:
        """Return the last ids assigned to a message and to another passage."""
        if self._space is NOWHERE:
            return self._space.first - 1, self._space.last
        last = self._tx.value(self._sql.last_passage, (self._space.id,))
        return self._sessions.next_id() - 1, max(last or 0, self._space.last)

    def _state(self, model: str) -> tuple[int, ...]:
        """Return the embedding's id, its progress, and the count of removals."""
        removals = self._tx.value(self._sql.removals, (self._space.id,)) or 0
        found = self._tx.rows(self._sql.embedding, (self._space.id, model))
        if not found:
            return 0, self._space.first - 1, self._space.last, 0, removals
        return *found[0][:4], removals

    def _gather_unembedded(
        self, state: tuple[int, ...], found: list[tuple[int, str]], through: int, series: int
    ) -> Unembedded:
        era = (self._mark, *state[3:])
        return Unembedded(state, tuple(found), through, series, (state[1], state[2]), era)

    def _pending_messages(self, state: tuple[int, ...], done: int, last: int, characters: int) -> Unembedded:
        found: list[tuple[int, str]] = []
        through = last
        size = 0
        for item in self._sessions.index.indexables(done, last):
            message = item.message
            if not message.forgotten:
                for part, text in parts_of(self._sessions.index.documents(message), ids_of(message)):
                    if message.id + part > done and size < characters:
                        found.append((message.id + part, text))
                        size += len(text)
                        through = message.id + part
            if size >= characters:
                break
        else:
            through = last
        return self._gather_unembedded(state, found, through, MESSAGES)

    def _pending_passages(self, state: tuple[int, ...], done: int, last: int, characters: int) -> Unembedded:
        found: list[tuple[int, str]] = []
        through = last
        size = 0
        for passage, text in self._tx.rows(self._sql.pending_passages, (done + 1, last, _PAGE)):
            found.append((passage, text))
            size += len(text)
            if size >= characters or len(found) == _PAGE:
                through = passage
                break
        return self._gather_unembedded(state, found, through, PASSAGES)


class StoredVectorWrites(StoredVectorReads):
    def add(self, model: str, dim: int, done: Unembedded, new: NewVectors) -> bool:
        if self._state(model) != done.state:
            return False
        embedding = done.state[0]
        if not embedding:
            begin = (self._space.id, model, dim, done.state[1], done.state[2])
            embedding = self._tx.value(self._sql.begin, begin)
        labels = self._labels(new.keys, done.series)
        self._append(embedding, done.series, list(labels), new, dim)
        mark = self._sql.mark_messages if done.series == MESSAGES else self._sql.mark_passages
        self._tx.change(mark, (done.through, embedding))
        return True

    def drop_others(self, model: str, count: int) -> bool:
        self._tx.change(self._sql.doom_others, (self._space.id, model))
        embedding = self._tx.value(self._sql.doomed, (self._space.id,))
        if embedding is None:
            return False
        if not self._tx.change(self._sql.drop_some, (embedding, count)):
            self._tx.change(self._sql.drop_embedding, (embedding,))
        return True

    def _labels(self, keys: Sequence[int], series: int) -> Iterator[bytes]:
        ids = f"[{','.join({str(key >> PIECE_BITS) for key in keys})}]"
        if series == PASSAGES:
            found = {
                passage: (number_of(group), seconds_of(at), code_of(kind, KINDS))
                for passage, at, kind, group in self._tx.rows(self._sql.passage_details, (ids,))
            }
        else:
            found = {
                message: (session, seconds_of(at), code_of(role, ROLES))
                for message, session, at, role in self._tx.rows(self._sql.details, (ids,))
            }
        for key in keys:
            yield LABEL.pack(key, *found[key >> PIECE_BITS])

    def _append(self, embedding: int, series: int, labels: list[bytes], new: NewVectors, dim: int) -> None:
        width = bits_width(dim)
        bits, codes = new.bits, new.codes
        found = self._tx.rows(self._sql.tail, (embedding, series))
        start = 0
        if found and len(found[0][1]) < CHUNK * LABEL.size:
            chunk, old_labels, old_bits, old_codes = found[0]
            start = CHUNK - len(old_labels) // LABEL.size
            some = b"".join(labels[:start])
            if some:
                grown = (
                    _key(some, -1), old_labels + some, old_bits + bits[: start * width],
                    old_codes + codes[: start * dim], chunk,
                )  # fmt: skip
                self._tx.change(self._sql.replace, grown)
        for first in range(start, len(labels), CHUNK):
            some = b"".join(labels[first : first + CHUNK])
            end = first + CHUNK
            chunk = (
                embedding, series, _key(some, 0), _key(some, -1), some,
                bits[first * width : end * width], codes[first * dim : end * dim],
            )  # fmt: skip
            self._tx.change(self._sql.add, chunk)


def find_damaged(tx: Transaction, sql: Queries) -> set[int]:
    """Find embeddings with a chunk whose parts don't agree."""
    found: set[int] = set()
    for embedding, dim, first, last, labels, bits, codes in tx.rows(sql.lengths):
        count = len(labels) // LABEL.size
        sound = (
            count > 0
            and len(labels) == count * LABEL.size
            and bits == count * bits_width(dim)
            and codes == count * dim
            and (_key(labels, 0), _key(labels, -1)) == (first, last)
        )
        if not sound:
            found.add(embedding)
    return found


def check_vectors(tx: Transaction, sql: Queries, *, repair: bool = False) -> list[Check]:
    """Report damaged vectors, or remove them, so that they are made again."""
    damaged = find_damaged(tx, sql)
    if repair and damaged:
        drop(tx, sql, damaged)
        return [report_ok("vectors", "the damaged ones are made again when needed")]
    return [report_problem("vectors", f"of {len(damaged)} models are damaged")] if damaged else []


def drop(tx: Transaction, sql: Queries, embeddings: Iterable[int]) -> None:
    """Remove embeddings with all their vectors, which are then made again."""
    for embedding in embeddings:
        tx.change(sql.drop_vectors, (embedding,))
        tx.change(sql.drop_embedding, (embedding,))


class Eraser(Store, ABC):
    """Overwrites the vectors of removed passages."""

    def erase(self, passage: int, ids: int, series: int) -> None:
        """Overwrite a passage's vectors of all models."""
        low, high = passage << PIECE_BITS, passage + ids << PIECE_BITS
        for embedding, dim in self._tx.rows(self._sql.every_embedding, (self._space.id,)):
            erased = False
            try:
                erased = self._erase_from(embedding, dim, series, low, high)
            except ValueError:
                # Damaged vectors are all deleted, so that none is left. They can be made again.
                drop(self._tx, self._sql, [embedding])
            if erased:
                self._tx.change(self._sql.count_erasure, (embedding,))

    def _erase_from(self, embedding: int, dim: int, series: int, low: int, high: int) -> bool:
        erased = False
        width = bits_width(dim)
        # All chunks of a series are full, except the last.
        most = 2 + (high - low) // CHUNK
        for chunk, first, _, labels in self._tx.rows(self._sql.holding, (embedding, series, low, most)):
            if first >= high:
                break
            for slot in range(len(labels) // LABEL.size):
                if low <= _key(labels, slot) < high:
                    self._overwrite("labels", chunk, (slot + 1) * LABEL.size - 1, bytes((ERASED,)))
                    self._overwrite("bits", chunk, slot * width, bytes(width))
                    self._overwrite("codes", chunk, slot * dim, bytes(dim))
                    erased = True
        return erased

    @abstractmethod
    def _overwrite(self, column: str, chunk: int, start: int, data: bytes) -> None: ...


def _key(labels: bytes, slot: int) -> int:
    position = slot * LABEL.size if slot >= 0 else len(labels) + slot * LABEL.size
    key: Any = LABEL.unpack_from(labels, position)[0]
    return int(key)
