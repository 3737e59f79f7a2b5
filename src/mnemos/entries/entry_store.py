"""Entries in the storage of a memory: ``memory.entries`` and the local backend."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mnemos.entries import entry_ranking
from mnemos.entries.backend import (
    SEMANTIC,
    WORDS,
    MemoryBackend,
    MemoryEntry,
    NewEntry,
    check_key,
    check_limit,
    check_query,
    check_value,
    encode_fields,
    encode_metadata,
    encode_value,
)
from mnemos.entries.entry_filters import compile_filter
from mnemos.entries.entry_namespaces import (
    Namespace,
    check_namespace,
    check_prefix,
    literal_prefix,
    select_namespaces,
)
from mnemos.errors import Conflict, NotFound, ReadOnly, Unavailable
from mnemos.inputs import in_range, moment, whole
from mnemos.language.threats.guard import admit
from mnemos.settings import Settings
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.entries import KIND, EntryFilters, EntryRow, Likeness, Settled, read_text, split_labels
from mnemos.storage.tombstones import Tombstone, make_key
from mnemos.text.secrets import redact, refuse_secret

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors = Callable[[list[str]], "NDArray[np.float32]"]

# Above this cosine, an entry is relevant more often than not, as measured with the questions of the
# evaluation and with unrelated ones.
_LEAST_COSINE = 0.3
_MAX_SEMANTIC = 5
# The weight of the key in the vector of an entry. The value weighs 1.
_KEY_WEIGHT = 1.5
# The number of entries indexed in one step. A query reads up to _MAX_FRESH entries not indexed yet.
_STEP = 40
_MAX_FRESH = 24
_PASSAGE_CHARACTERS = 100_000
_EMBEDDED_CHARACTERS = 2_000
_NO_MODEL = ""
MAX_FOUND = 10_000
"""The maximum number of entries in an answer of ``find``."""
# The number of entries that a question ranks before a filter narrows them.
_MOST_MATCHES = 10_000
SET = "entries.set"
"""The logged operation that records who set an entry."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """An embedding model, with the name that its vectors are stored under."""

    model: str
    embed: Vectors
    quantise: Callable[[Any], tuple[bytes, bytes]]


class Entries(MemoryBackend):
    """The entries of one space of a home.

    ``meaning`` is called on first use and returns the embedding model, or None for keyword search only.
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
        user_id: Namespace,
        key: str,
        value: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        allow: bool = False,
    ) -> bool:
        """Set the value of a key, with secrets redacted.

        An entry that looks like a prompt injection raises Refused, unless a person passes ``allow``.
        """
        text = check_value(value, self._settings.max_message_bytes)
        self.put(user_id, key, text, metadata=metadata, allow=allow)
        return True

    def put(
        self,
        namespace: Namespace,
        key: str,
        value: Any,
        *,
        metadata: Mapping[str, Any] | None = None,
        fields: Sequence[str] | None = None,
        expires_at: float | None = None,
        allow: bool = False,
    ) -> None:
        """Set the value of a key in a namespace: text or any JSON value. Secrets are redacted.

        A namespace is a user, or several labels whose first is the owner. ``fields`` are the searched paths
        in the value, such as ``notes[*].text``: None for the whole value, ``[]`` for nothing. The entry
        expires at ``expires_at``. If a searched text looks like a prompt injection, Refused is raised, unless
        a person passes ``allow``.
        """
        self.write(namespace, [NewEntry(key, value, metadata, fields, expires_at)], allow=allow)

    def write(
        self,
        namespace: Namespace,
        put: Sequence[NewEntry] = (),
        *,
        delete: Sequence[str] = (),
        if_revisions: Mapping[str, str | None] | None = None,
        allow: bool = False,
    ) -> None:
        """Delete and set entries of a namespace in one transaction, as ``delete`` and ``put`` do.

        ``if_revisions`` maps keys to the revisions that were read before, or to None if there was no entry.
        If one has changed since, Conflict is raised and nothing is stored.
        """
        self._settings.check_enabled()
        user, now = check_namespace(namespace), self._clock()
        refuse_secret("namespace", " ".join(split_labels(user)), self._redact)
        new = [self._encode(one) for one in put]
        gone = [check_key(key) for key in delete]
        # Only searched texts enter a prompt unasked.
        read = (read_text(one["value"], one["fields"], encoded=one["encoded"]) for one in new)
        texts = [*(one["key"] for one in new), *read]
        admit(self._storage, "entry", texts, allow=allow, at=now, actor=self._settings.current_actor)

        def work(tx: Writes) -> None:
            self._erase_expired(tx, now)
            for key, revision in (if_revisions or {}).items():
                row = tx.entries.get(user, check_key(key))
                if (None if row is None or _is_expired(row, now) else _revision(row)) != revision:
                    raise Conflict(f"The entry {key!r} was changed by another writer. Read it again.")
            for key in gone:
                self._erase(tx, user, key)
            for one in new:
                self._record_author(tx, tx.entries.put(user, at=now, **one).id)

        self._storage.write(work)

    def retrieve(self, user_id: Namespace, key: str) -> MemoryEntry | None:
        user, key, now = check_namespace(user_id), check_key(key), self._clock()
        row = self._storage.read(lambda tx: tx.entries.get(user, key))
        return None if row is None or _is_expired(row, now) else _make_entry(row)

    def query(self, user_id: Namespace, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """Return entries that share a word, stem or part of a word with the question, best first.

        Entries that are only similar in meaning come last and are marked ``semantic``.
        """
        user, question, limit = check_namespace(user_id), check_query(query_text), check_limit(limit)
        return self._search([user], question, limit)[:limit] if question else []

    def find(
        self,
        prefix: Namespace = (),
        *,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[MemoryEntry]:
        """Return the entries of a namespace and those below it, by default of all namespaces.

        Without a question, the most recently changed come first. With one, matching entries come best first,
        each with a ``score``. ``filter`` restricts them by their values; see ``entry_filters``.
        """
        user, now = check_prefix(prefix), self._clock()
        conditions = None if not filter else compile_filter(filter)
        filters = EntryFilters(user=user, conditions=conditions, now=now)
        start, most = whole("offset", offset), in_range("limit", limit, MAX_FOUND)
        question = check_query(query or "")
        if not question:
            rows = self._storage.read(lambda tx: tx.entries.select(filters, limit=most, offset=start))
            return [_make_entry(row) for row in rows]
        users = self._storage.read(lambda tx: tx.entries.users_below(user))
        found = self._search(users, question, _MOST_MATCHES if filter else most + start)
        ids = [entry.number for entry in found]
        narrow = replace(filters, ids=ids)
        rows = self._storage.read(lambda tx: tx.entries.select(narrow, limit=len(ids), offset=0))
        wanted = {row.id for row in rows}
        return [entry for entry in found if entry.number in wanted][start : start + most]

    def namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Return the sorted namespaces that have entries and match this prefix and suffix.

        ``*`` in ``prefix`` and ``suffix`` stands for any one label. Namespaces are cut to ``max_depth``
        labels.
        """
        depth = None if max_depth is None else max(whole("max_depth", max_depth), 1)
        start, most = whole("offset", offset), whole("limit", limit)
        names = self._storage.read(lambda tx: tx.entries.users_below(literal_prefix(prefix)))
        return select_namespaces(names, prefix, suffix, depth)[start : start + most]

    def set_expiry(self, namespace: Namespace, key: str, expires_at: float | None) -> bool:
        """Change only when an entry expires; None for never. Returns False if there is no entry."""
        self._settings.check_enabled()
        user, key = check_namespace(namespace), check_key(key)
        expiry = None if expires_at is None else moment("expires_at", expires_at)
        return self._storage.write(lambda tx: tx.entries.set_expiry(user, key, expiry))

    def list_keys(self, user_id: Namespace) -> list[str]:
        user, now = check_namespace(user_id), self._clock()
        return self._storage.read(lambda tx: tx.entries.keys(user, now))

    def delete(self, user_id: Namespace, key: str) -> bool:
        self._settings.check_enabled()
        user, key = check_namespace(user_id), check_key(key)
        return self._storage.write(lambda tx: self._erase(tx, user, key))

    def close(self) -> None:
        """Close the storage if it was opened only for these entries."""
        if self._when_closed is not None:
            self._when_closed()

    def count(self) -> int:
        return self._storage.read(lambda tx: tx.entries.count())

    def users(self, limit: int = 1_000) -> list[str]:
        """Return the users of this space that have entries, sorted by name."""
        return list(self._storage.read(lambda tx: tx.entries.users(limit)))

    def forget(self, ref: str) -> None:
        """Erase an entry by its number. ``Memory.forget`` erases its bytes afterwards."""
        self._settings.check_enabled()
        number = int(ref) if ref.isascii() and ref.isdecimal() and len(ref) < 16 else 0

        def work(tx: Writes) -> bool:
            owner = tx.entries.owner(number)
            return owner is not None and self._erase(tx, *owner, forgotten=True)

        if not self._storage.write(work):
            raise NotFound(
                f"There is no entry {ref!r} in this space. `mnemos recall` shows the ids of entries."
            )

    def settle(self, seconds: float | None = None, *, user: str | None = None) -> bool:
        """Index all stored entries, or a user's. False if the time runs out first."""
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
        """Index a few entries. False if none are left."""
        now = self._clock()
        if self._storage.read(lambda tx: tx.entries.find_expired(now, 1)):
            self._storage.write(lambda tx: self._erase_expired(tx, now))
        rows = self._storage.read(lambda tx: tx.entries.pending(_STEP, user))
        if not rows:
            return False
        meaning = self._meaning()
        prepared = _prepare(rows, meaning)
        model = meaning.model if meaning else _NO_MODEL
        self._storage.write(lambda tx: tx.entries.settle(prepared, model))
        return len(rows) == _STEP

    def _search(self, users: Sequence[str], question: str, limit: int) -> list[MemoryEntry]:
        """Return matching entries of these namespaces, best first: by words, then by meaning."""
        now = self._clock()
        matches = (one for user in users for one in self._find_by_words(user, question, limit))
        by_words = sorted((one for one in matches if not _is_expired(one[0], now)), key=lambda one: -one[1])
        # Matches by words score 0.5 or more, and entries that are only similar score less.
        found = [_make_entry(row, WORDS, 0.5 + 0.5 * score / (score + 2)) for row, score in by_words[:limit]]
        if len(found) < limit:
            most = min(limit - len(found), _MAX_SEMANTIC)
            found += self._find_similar(users, question, most, {row.id for row, _ in by_words})
        return [entry for entry in found if entry.expires_at is None or entry.expires_at > now]

    def _find_by_words(self, user: str, question: str, limit: int) -> list[tuple[EntryRow, float]]:
        backlog = self._storage.read(lambda tx: tx.entries.fresh(user, _MAX_FRESH + 1))
        if len(backlog) > _MAX_FRESH:
            # If the storage can't be written now, the query reads these entries itself.
            self.settle(user=user)

        def work(tx: Reads) -> list[tuple[EntryRow, float]]:
            fresh = [row for row in tx.entries.fresh(user, 1_000_000) if row.is_searched]
            return entry_ranking.find_matches(tx.entries, user, question, fresh, limit, self._vocabularies)

        return self._storage.read(work)

    def _find_similar(
        self, users: Sequence[str], question: str, limit: int, known: set[int]
    ) -> list[MemoryEntry]:
        meaning = self._meaning()
        vector = None if meaning is None else meaning.embed([question])[0]
        if meaning is None or vector is None or not vector.any():
            return []
        found = [entry for user in users for entry in self._find_near(user, meaning, vector, limit, known)]
        return sorted(found, key=lambda entry: -(entry.score or 0.0))[:limit]

    def _find_near(
        self, user: str, meaning: Meaning, vector: NDArray[np.float32], limit: int, known: set[int]
    ) -> list[MemoryEntry]:
        def work(tx: Reads) -> tuple[list[Likeness], dict[int, EntryRow]]:
            fresh = [
                row for row in tx.entries.fresh(user, _MAX_FRESH) if row.id not in known and row.is_searched
            ]
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
        return [_make_entry(rows[one.entry], SEMANTIC, 0.5 * one.cosine) for one in best if one.entry in rows]

    def _erase_expired(self, tx: Writes, now: float) -> None:
        for _, user, key in tx.entries.find_expired(now, _STEP):
            # It expires on every machine, so no removal needs to be synced.
            self._erase(tx, user, key, recorded=False)

    def _record_author(self, tx: Writes, number: int) -> None:
        """Record who set an entry, unless the log already says so, because entries may change often."""
        ref, actor = f"entry:{number}", self._settings.current_actor
        last = tx.audit.newest_on(ref)
        if last is None or last.actor != actor:
            tx.audit.record(at=self._clock(), actor=actor, operation=SET, ref=ref)

    def _erase(
        self, tx: Writes, user: str, key: str, *, forgotten: bool = False, recorded: bool = True
    ) -> bool:
        """Delete an entry and record only that it existed."""
        row = tx.entries.get(user, key)
        number = tx.entries.delete(user, key)
        if row is None or number is None:
            return False
        if recorded:
            tx.tombstones.put([Tombstone(KIND, removal_key(row), self._clock(), forgotten)])
        tx.audit.record(
            at=self._clock(),
            actor=self._settings.current_actor,
            operation="entries.delete",
            ref=f"entry:{number}",
        )
        return True

    def _encode(self, new: NewEntry) -> dict[str, Any]:
        """Encode an entry for storage, without secrets."""
        key = check_key(new.key)
        refuse_secret("key of an entry", key, self._redact)
        text, encoded = encode_value(key, new.value, self._settings.max_message_bytes, self._redact)
        about = encode_metadata(new.metadata)
        return {
            "key": key,
            "value": text,
            "metadata": None if about is None else self._redact(about),
            "encoded": encoded,
            "fields": encode_fields(new.fields),
            "expires_at": None if new.expires_at is None else moment("expires_at", new.expires_at),
        }

    def _redact(self, text: str) -> str:
        return redact(text) if self._settings.redact else text


def removal_key(row: EntryRow) -> str:
    """Return the key for recording a removal. It doesn't reveal the value."""
    return make_key(row.user, row.key, row.created_at)


def _is_expired(row: EntryRow, now: float) -> bool:
    return row.expires_at is not None and row.expires_at <= now


def _revision(row: EntryRow) -> str:
    # Ids are never reused, so an entry that was deleted and set again has a different one.
    return f"{row.id}.{row.version}"


def _prepare(rows: Sequence[EntryRow], meaning: Meaning | None) -> list[Settled]:
    vectors: list[tuple[bytes, bytes]] = [(b"", b"")] * len(rows)
    if meaning is not None:
        made = _embed(rows, meaning)
        codes, bits = meaning.quantise(made)
        width, signs = len(codes) // len(rows), len(bits) // len(rows)
        vectors = [
            (codes[at * width : (at + 1) * width], bits[at * signs : (at + 1) * signs])
            if made[at].any() and rows[at].is_searched
            else (b"", b"")
            for at in range(len(rows))
        ]
    return [
        Settled(
            row,
            entry_ranking.list_words(row.key, row.readable) if row.is_searched else {},
            entry_ranking.render(row)[:_PASSAGE_CHARACTERS] if row.is_searched else "",
            *vector,
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]


def _embed(rows: Sequence[EntryRow], meaning: Meaning) -> NDArray[np.float32]:
    """Return vectors of length 1, or zeros for text without meaning. Keys weigh as much as long values."""
    # Imported here, because numpy is slow to import and storing doesn't need it.
    import numpy as np

    keys = meaning.embed([entry_ranking.name_of(row).replace("_", " ") for row in rows])
    summed = _KEY_WEIGHT * keys + meaning.embed([row.readable[:_EMBEDDED_CHARACTERS] for row in rows])
    lengths = np.sqrt((summed * summed).sum(axis=1, keepdims=True))
    made: NDArray[np.float32] = (summed / np.maximum(lengths, 1e-9)).astype(np.float32)
    return made


def _compare(rows: Sequence[EntryRow], meaning: Meaning, vector: NDArray[np.float32]) -> list[Likeness]:
    """Compute the similarity of entries without a stored vector."""
    if not rows:
        return []
    cosines = (_embed(rows, meaning) * vector).sum(axis=1).tolist()
    return [
        Likeness(row.id, cosine) for row, cosine in zip(rows, cosines, strict=True) if cosine >= _LEAST_COSINE
    ]


def _make_entry(row: EntryRow, match: str = "", score: float | None = None) -> MemoryEntry:
    labels = split_labels(row.user)
    return MemoryEntry(
        row.key,
        json.loads(row.value) if row.encoded else row.value,
        labels[0],
        row.created_at,
        row.updated_at,
        json.loads(row.metadata) if row.metadata else {},
        match,
        labels,
        row.expires_at,
        score,
        row.id,
        _revision(row),
    )
