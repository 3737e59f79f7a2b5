"""Entries in the storage of a memory: what ``memory.entries`` and the local backend do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mnemos.entries import ranking
from mnemos.entries.contract import (
    SEMANTIC,
    WORDS,
    MemoryBackend,
    MemoryEntry,
    known_key,
    known_limit,
    known_query,
    known_user,
    known_value,
    metadata_json,
)
from mnemos.errors import Disabled, NotFound, ReadOnly, Unavailable
from mnemos.settings import Settings
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.entries import EntryRow, Likeness, Settled
from mnemos.text.secrets import redact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors = Callable[[list[str]], "NDArray[np.float32]"]

# A cosine from which on an entry is about what is asked more often than not, and how many such are shown at
# most: measured with the questions of the evaluation, and with others that have nothing to do with any entry.
NEAR = 0.3
_MOST_NEAR = 5
# How much a key counts in the vector of an entry, against its value: it says what the entry is about.
_KEY_WEIGHT = 1.5
# Entries whose words are made known in one step, and how many of them a question reads itself instead.
_STEP = 40
_READ_FRESH = 24
_PASSAGE_CHARACTERS = 100_000
_EMBEDDED_CHARACTERS = 2_000
# What stands for a model where there is none.
_NO_MODEL = ""


class Meaning:
    """What makes vectors of texts, with the name that vectors are stored under."""

    def __init__(self, model: str, embed: Vectors, quantise: Callable[[Any], tuple[bytes, bytes]]) -> None:
        self.model = model
        self.embed = embed
        self.quantise = quantise


class Entries(MemoryBackend):
    """The entries of one space of a home. Users never see each other.

    ``meaning``: asked for when it is first needed; None for words alone.
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
        self._vocabularies = ranking.Vocabularies()

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

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """Keep a value under a key, in place of the one before. Secrets in it are redacted, as everywhere."""
        self._check_enabled()
        user, key = known_user(user_id), known_key(key)
        value = self._redacted(known_value(value, self._settings.max_message_bytes))
        about = metadata_json(metadata)
        if about is not None:
            about = self._redacted(about)
        at = self._clock()
        self._storage.write(lambda tx: tx.entries.put(user, key, value, about, at))
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        user, key = known_user(user_id), known_key(key)
        row = self._storage.read(lambda tx: tx.entries.get(user, key))
        return None if row is None else _entry(row)

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """Entries that share a word, a stem or a part of a word with the question, best first; then those
        near in meaning, marked as such."""
        user, question, limit = known_user(user_id), known_query(query_text), known_limit(limit)
        if not question:
            return []
        self._settle_many(user)

        def work(tx: Reads) -> list[EntryRow]:
            fresh = tx.entries.fresh(user, 1_000_000)
            return ranking.matching(tx.entries, user, question, fresh, limit, self._vocabularies)

        rows = self._storage.read(work)
        found = [_entry(row, WORDS) for row in rows]
        if len(found) < limit:
            most = min(limit - len(found), _MOST_NEAR)
            found += self._near(user, question, most, {row.id for row in rows})
        return found

    def list_keys(self, user_id: str) -> list[str]:
        user = known_user(user_id)
        return self._storage.read(lambda tx: tx.entries.keys(user))

    def delete(self, user_id: str, key: str) -> bool:
        self._check_enabled()
        user, key = known_user(user_id), known_key(key)
        return self._storage.write(lambda tx: self._erase(tx, user, key))

    def close(self) -> None:
        """Close what was opened for these entries alone; those of a memory are closed with it."""
        if self._when_closed is not None:
            self._when_closed()

    # --- beyond the interface ---------------------------------------------------------------

    def count(self) -> int:
        return self._storage.read(lambda tx: tx.entries.count())

    def users(self, limit: int = 1_000) -> list[str]:
        """Users of this space that have entries, by name."""
        return self._storage.read(lambda tx: tx.entries.users(limit))

    def forget(self, ref: str) -> None:
        """Erase the entry of that number; ``Memory.forget`` reaches its bytes afterwards."""
        self._check_enabled()
        number = int(ref) if ref.isascii() and ref.isdecimal() and len(ref) < 16 else 0

        def work(tx: Writes) -> bool:
            owner = tx.entries.owner(number)
            return owner is not None and self._erase(tx, *owner)

        if not self._storage.write(work):
            raise NotFound(f"there is no entry {ref!r} in this space; `mnemos recall` names them")

    def settle(self, seconds: float | None = None) -> bool:
        """Let everything that was stored be found by its words; False when that takes longer than this."""
        if self._storage.read_only or self._settings.disabled:
            return True
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while self.step():
                if deadline is not None and time.monotonic() > deadline:
                    return False
        except (Unavailable, ReadOnly):
            return False
        return True

    def step(self, user: str | None = None) -> bool:
        """Do a little of that; False when nothing is left."""
        rows = self._storage.read(lambda tx: tx.entries.pending(_STEP, user))
        if not rows:
            return False
        meaning = self._meaning()
        prepared = _prepared(rows, meaning)
        model = meaning.model if meaning else _NO_MODEL
        self._storage.write(lambda tx: tx.entries.settle(prepared, model))
        return len(rows) == _STEP

    # --- inside -----------------------------------------------------------------------------

    def _settle_many(self, user: str) -> None:
        """A question reads a few fresh entries itself; more of them are indexed first."""
        if self._storage.read_only or self._settings.disabled:
            return
        if len(self._storage.read(lambda tx: tx.entries.fresh(user, _READ_FRESH + 1))) > _READ_FRESH:
            try:
                while self.step(user):
                    pass
            except (Unavailable, ReadOnly):
                # Somebody else is writing, or nobody can: what is not indexed is read as it is.
                return

    def _near(self, user: str, question: str, limit: int, known: set[int]) -> list[MemoryEntry]:
        meaning = self._meaning()
        if meaning is None:
            return []
        vector = meaning.embed([question])[0]
        if not vector.any():
            return []

        def work(tx: Reads) -> tuple[list[Likeness], dict[int, EntryRow]]:
            fresh = [row for row in tx.entries.fresh(user, _READ_FRESH) if row.id not in known]
            found = _likely(fresh, meaning, vector)
            stale = known | {row.id for row in fresh}
            most = limit + len(known) + len(fresh)
            for one in tx.entries.nearest(user, meaning.model, vector, limit=most, least=NEAR):
                if one.entry not in stale:
                    found.append(one)
            found.sort(key=lambda one: (-one.cosine, -one.entry))
            best = found[:limit]
            return best, {row.id: row for row in tx.entries.of_ids(user, [one.entry for one in best])}

        best, rows = self._storage.read(work)
        return [_entry(rows[one.entry], SEMANTIC) for one in best if one.entry in rows]

    def _erase(self, tx: Writes, user: str, key: str) -> bool:
        """Leave nothing of an entry but that there was one."""
        number = tx.entries.delete(user, key)
        if number is None:
            return False
        tx.audit.record(
            at=self._clock(), actor=self._settings.actor, operation="entries.delete", ref=f"entry:{number}"
        )
        return True

    def _redacted(self, text: str) -> str:
        return redact(text) if self._settings.redact else text

    def _check_enabled(self) -> None:
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")


def _prepared(rows: Sequence[EntryRow], meaning: Meaning | None) -> list[Settled]:
    said = [_said(row) for row in rows]
    vectors: list[tuple[bytes, bytes]] = [(b"", b"")] * len(rows)
    if meaning is not None:
        made = _vectors(rows, meaning)
        codes, bits = meaning.quantise(made)
        width, signs = len(codes) // len(rows), len(bits) // len(rows)
        vectors = [
            (codes[at * width : (at + 1) * width], bits[at * signs : (at + 1) * signs])
            if made[at].any()
            else (b"", b"")
            for at in range(len(rows))
        ]
    return [
        Settled(row, ranking.words_of(row.key, row.value), text[:_PASSAGE_CHARACTERS], *vector)
        for row, text, vector in zip(rows, said, vectors, strict=True)
    ]


def _vectors(rows: Sequence[EntryRow], meaning: Meaning) -> NDArray[np.float32]:
    """Vectors of length 1, or 0 for what says nothing; a long value does not drown its key."""
    # Not at the top: numpy takes long to import, and whoever only stores needs none of it.
    import numpy as np

    keys = meaning.embed([row.key.replace("_", " ") for row in rows])
    summed = _KEY_WEIGHT * keys + meaning.embed([row.value[:_EMBEDDED_CHARACTERS] for row in rows])
    lengths = np.sqrt((summed * summed).sum(axis=1, keepdims=True))
    made: NDArray[np.float32] = (summed / np.maximum(lengths, 1e-9)).astype(np.float32)
    return made


def _likely(rows: Sequence[EntryRow], meaning: Meaning, vector: NDArray[np.float32]) -> list[Likeness]:
    """How near entries without a stored vector are."""
    if not rows:
        return []
    cosines = (_vectors(rows, meaning) * vector).sum(axis=1).tolist()
    return [Likeness(row.id, cosine) for row, cosine in zip(rows, cosines, strict=True) if cosine >= NEAR]


def _said(row: EntryRow) -> str:
    """An entry as a passage: its key in words, and its value."""
    return f"{row.key}: {row.value}"


def _entry(row: EntryRow, match: str = "") -> MemoryEntry:
    metadata = json.loads(row.metadata) if row.metadata else {}
    return MemoryEntry(row.key, row.value, row.user, row.created_at, row.updated_at, metadata, match)
