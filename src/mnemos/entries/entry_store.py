"""Entries in the storage of a memory: ``memory.entries`` and the local backend."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mnemos.entries import entry_ranking
from mnemos.entries.backend import (
    SEMANTIC,
    WORDS,
    MemoryBackend,
    MemoryEntry,
    check_key,
    check_limit,
    check_query,
    check_user,
    check_value,
    encode_metadata,
    redact_entry,
)
from mnemos.errors import NotFound, ReadOnly, Unavailable
from mnemos.language.threats.guard import admit
from mnemos.settings import Settings
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.entries import EntryRow, Likeness, Settled
from mnemos.text.secrets import redact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors = Callable[[list[str]], "NDArray[np.float32]"]

# Above this cosine an entry is relevant more often than not: measured with the questions of the evaluation
# and with unrelated ones.
_LEAST_COSINE = 0.3
_MAX_SEMANTIC = 5
# The weight of a key in the vector of an entry; its value weighs 1.
_KEY_WEIGHT = 1.5
# Entries indexed in one step. A query reads up to _MAX_FRESH entries that are not indexed yet.
_STEP = 40
_MAX_FRESH = 24
_PASSAGE_CHARACTERS = 100_000
_EMBEDDED_CHARACTERS = 2_000
_NO_MODEL = ""
SET = "entries.set"
"""The operation in the audit log that names who set an entry."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """An embedding model, with the name its vectors are stored under."""

    model: str
    embed: Vectors
    quantise: Callable[[Any], tuple[bytes, bytes]]


class Entries(MemoryBackend):
    """The entries of one space of a home.

    ``meaning`` returns the embedding model, or None for keyword search only. It is called on first use.
    """

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        clock: Callable[[], float],
        meaning: Callable[[], Meaning | None],
        when_closed: Callable[[], None] | None = None,
    ) -> None:
        self._storage = storage
        self._settings = settings
        self._clock = clock
        self._meaning = meaning
        self._when_closed = when_closed
        self._vocabularies = entry_ranking.Vocabularies()

    @property
    def backend_name(self) -> str:
        return "local (SQLite)"

    @property
    def is_cloud(self) -> bool:
        return False

    @property
    def location(self) -> str:
        return self._storage.location

    def is_available(self) -> bool:
        return True

    def store(
        self,
        user_id: str,
        key: str,
        value: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        allow: bool = False,
    ) -> bool:
        """Set the value of a key, with secrets redacted.

        An entry that reads like an order to a model raises Refused, unless a person passes ``allow``.
        """
        self._settings.check_enabled()
        user, key = check_user(user_id), check_key(key)
        value = redact_entry(user, key, check_value(value, self._settings.max_message_bytes), self._redact)
        now, actor = self._clock(), self._settings.actor
        admit(self._storage, "entry", [key, value], allow=allow, at=now, actor=actor)
        about = encode_metadata(metadata)
        if about is not None:
            about = self._redact(about)

        def work(tx: Writes) -> None:
            self._record_author(tx, tx.entries.put(user, key, value, about, now).id)

        self._storage.write(work)
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        user, key = check_user(user_id), check_key(key)
        row = self._storage.read(lambda tx: tx.entries.get(user, key))
        return None if row is None else _make_entry(row)

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """Return entries that share a word, stem or part of a word with the question, best first.

        Entries that are only similar in meaning come last, marked ``semantic``.
        """
        user, question, limit = check_user(user_id), check_query(query_text), check_limit(limit)
        if not question:
            return []
        backlog = self._storage.read(lambda tx: tx.entries.fresh(user, _MAX_FRESH + 1))
        if len(backlog) > _MAX_FRESH:
            # If nothing can be written now, the query reads these entries itself.
            self.settle(user=user)

        def work(tx: Reads) -> list[EntryRow]:
            fresh = tx.entries.fresh(user, 1_000_000)
            return entry_ranking.find_matches(tx.entries, user, question, fresh, limit, self._vocabularies)

        rows = self._storage.read(work)
        found = [_make_entry(row, WORDS) for row in rows]
        if len(found) < limit:
            most = min(limit - len(found), _MAX_SEMANTIC)
            found += self._find_similar(user, question, most, {row.id for row in rows})
        return found

    def list_keys(self, user_id: str) -> list[str]:
        user = check_user(user_id)
        return self._storage.read(lambda tx: tx.entries.keys(user))

    def delete(self, user_id: str, key: str) -> bool:
        self._settings.check_enabled()
        user, key = check_user(user_id), check_key(key)
        return self._storage.write(lambda tx: self._erase(tx, user, key))

    def close(self) -> None:
        """Close storage that was opened for these entries alone."""
        if self._when_closed is not None:
            self._when_closed()

    def count(self) -> int:
        return self._storage.read(lambda tx: tx.entries.count())

    def users(self, limit: int = 1_000) -> list[str]:
        """Return the users of this space that have entries, by name."""
        return list(self._storage.read(lambda tx: tx.entries.users(limit)))

    def forget(self, ref: str) -> None:
        """Erase an entry by its number; ``Memory.forget`` erases its bytes afterwards."""
        self._settings.check_enabled()
        number = int(ref) if ref.isascii() and ref.isdecimal() and len(ref) < 16 else 0

        def work(tx: Writes) -> bool:
            owner = tx.entries.owner(number)
            return owner is not None and self._erase(tx, *owner)

        if not self._storage.write(work):
            raise NotFound(f"There is no entry {ref!r} in this space. `mnemos recall` shows their numbers.")

    def settle(self, seconds: float | None = None, *, user: str | None = None) -> bool:
        """Index all stored entries, or those of a user; False when the time is up before."""
        if self._storage.read_only or self._settings.disabled:
            return True
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while self.step(user):
                if deadline is not None and time.monotonic() > deadline:
                    return False
        except (Unavailable, ReadOnly):
            return False
        return True

    def step(self, user: str | None = None) -> bool:
        """Index a few entries; False when none is left."""
        rows = self._storage.read(lambda tx: tx.entries.pending(_STEP, user))
        if not rows:
            return False
        meaning = self._meaning()
        prepared = _prepare(rows, meaning)
        model = meaning.model if meaning else _NO_MODEL
        self._storage.write(lambda tx: tx.entries.settle(prepared, model))
        return len(rows) == _STEP

    def _find_similar(self, user: str, question: str, limit: int, known: set[int]) -> list[MemoryEntry]:
        meaning = self._meaning()
        if meaning is None:
            return []
        vector = meaning.embed([question])[0]
        if not vector.any():
            return []

        def work(tx: Reads) -> tuple[list[Likeness], dict[int, EntryRow]]:
            fresh = [row for row in tx.entries.fresh(user, _MAX_FRESH) if row.id not in known]
            found = _compare(fresh, meaning, vector)
            stale = known | {row.id for row in fresh}
            most = limit + len(known) + len(fresh)
            for one in tx.entries.nearest(user, meaning.model, vector, limit=most, least=_LEAST_COSINE):
                if one.entry not in stale:
                    found.append(one)
            found.sort(key=lambda one: (-one.cosine, -one.entry))
            best = found[:limit]
            return best, {row.id: row for row in tx.entries.of_ids(user, [one.entry for one in best])}

        best, rows = self._storage.read(work)
        return [_make_entry(rows[one.entry], SEMANTIC) for one in best if one.entry in rows]

    def _record_author(self, tx: Writes, number: int) -> None:
        """Record who set an entry, unless the log says so already: entries may change often."""
        ref, actor = f"entry:{number}", self._settings.actor
        last = tx.audit.newest_on(ref)
        if last is None or last.actor != actor:
            tx.audit.record(at=self._clock(), actor=actor, operation=SET, ref=ref)

    def _erase(self, tx: Writes, user: str, key: str) -> bool:
        """Delete an entry and record only that there was one."""
        number = tx.entries.delete(user, key)
        if number is None:
            return False
        tx.audit.record(
            at=self._clock(), actor=self._settings.actor, operation="entries.delete", ref=f"entry:{number}"
        )
        return True

    def _redact(self, text: str) -> str:
        return redact(text) if self._settings.redact else text


def _prepare(rows: Sequence[EntryRow], meaning: Meaning | None) -> list[Settled]:
    vectors: list[tuple[bytes, bytes]] = [(b"", b"")] * len(rows)
    if meaning is not None:
        made = _embed(rows, meaning)
        codes, bits = meaning.quantise(made)
        width, signs = len(codes) // len(rows), len(bits) // len(rows)
        vectors = [
            (codes[at * width : (at + 1) * width], bits[at * signs : (at + 1) * signs])
            if made[at].any()
            else (b"", b"")
            for at in range(len(rows))
        ]
    return [
        Settled(
            row,
            entry_ranking.list_words(row.key, row.value),
            f"{row.key}: {row.value}"[:_PASSAGE_CHARACTERS],
            *vector,
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]


def _embed(rows: Sequence[EntryRow], meaning: Meaning) -> NDArray[np.float32]:
    """Return vectors of length 1, or 0 for text without meaning. A long value does not drown its key."""
    # numpy takes long to import, and storing needs none of it.
    import numpy as np

    keys = meaning.embed([row.key.replace("_", " ") for row in rows])
    summed = _KEY_WEIGHT * keys + meaning.embed([row.value[:_EMBEDDED_CHARACTERS] for row in rows])
    lengths = np.sqrt((summed * summed).sum(axis=1, keepdims=True))
    made: NDArray[np.float32] = (summed / np.maximum(lengths, 1e-9)).astype(np.float32)
    return made


def _compare(rows: Sequence[EntryRow], meaning: Meaning, vector: NDArray[np.float32]) -> list[Likeness]:
    """Return the similarity of entries without a stored vector."""
    if not rows:
        return []
    cosines = (_embed(rows, meaning) * vector).sum(axis=1).tolist()
    return [
        Likeness(row.id, cosine) for row, cosine in zip(rows, cosines, strict=True) if cosine >= _LEAST_COSINE
    ]


def _make_entry(row: EntryRow, match: str = "") -> MemoryEntry:
    metadata = json.loads(row.metadata) if row.metadata else {}
    return MemoryEntry(row.key, row.value, row.user, row.created_at, row.updated_at, metadata, match)
