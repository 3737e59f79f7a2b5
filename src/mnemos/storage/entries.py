"""The storage port of the entries part.

An entry is a key and a value in a namespace: a user, or several labels whose first is the owner. The contract
takes a namespace as one text, made by ``join_labels``, which is the ``user`` of the methods.

Storing an entry only writes its row. Its words and vector follow in steps that any process may do:
``pending`` returns entries without them, the caller prepares them, and ``settle`` stores them if the entry
has not changed. Until then, a search reads the entry itself (``fresh``).

A method only reaches the given user. The exceptions are ``pending``, ``page`` and ``find_expired``, which go
through all users, and ``select`` and ``users_below``, which may include the namespaces below one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import IntFlag
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from mnemos.text.json_text import collect_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


KIND = "entry"
USUAL_USER = "default"
"""The user whose entries recall shows if no user is given."""


# Separates the labels of a namespace. Namespaces below another are one range of names: from this to a blank.
_BETWEEN = "\x1f"
_ESCAPE = "\x1e"


def join_labels(labels: Sequence[str]) -> str:
    """Join labels into one text. A single label isn't changed, unless it has joining signs."""
    return _BETWEEN.join(
        label.replace(_ESCAPE, _ESCAPE + "e").replace(_BETWEEN, _ESCAPE + "b") for label in labels
    )


def split_labels(user: str) -> tuple[str, ...]:
    return tuple(
        label.replace(_ESCAPE + "b", _BETWEEN).replace(_ESCAPE + "e", _ESCAPE)
        for label in user.split(_BETWEEN)
    )


def owner_of(user: str) -> str:
    """Return the owner of a namespace, which is its first label."""
    return split_labels(user)[0]


def kind_of(user: str) -> str:
    """Return the kind of passage for the entries of a user and of the namespaces below.

    Each user except the default one has their own kind, so a search without a user cannot reach them.
    """
    owner = owner_of(user)
    return KIND if owner == USUAL_USER else f"{KIND}:{owner}"


class Place(IntFlag):
    """The parts of an entry that contain a word."""

    KEY = 1
    VALUE = 2
    BESIDE = 4
    """Only as the stem or the unsplit form of a word."""


def read_text(value: str, fields: str | None, *, encoded: bool) -> str:
    """Return the searched text of a stored value."""
    if not encoded and fields is None:
        return value
    paths = None if fields is None else json.loads(fields)
    return collect_text(json.loads(value) if encoded else value, paths)


class EntryRow(Struct, frozen=True):
    """A stored entry. ``metadata`` is JSON, and ``version`` counts the changes.

    ``value`` is a text, or JSON if ``encoded``. ``fields`` is a JSON list of the searched paths in it, or
    None for the whole value.
    """

    id: int
    user: str
    key: str
    value: str
    metadata: str | None
    created_at: float
    updated_at: float
    version: int
    encoded: bool = False
    fields: str | None = None
    expires_at: float | None = None

    @property
    def readable(self) -> str:
        """The text that searches read."""
        return read_text(self.value, self.fields, encoded=self.encoded)

    @property
    def is_searched(self) -> bool:
        """False if the entry has no searched fields: it is only listed."""
        return self.fields != "[]"


class EntryFilters(Struct, frozen=True):
    """Restrict a list to some entries. None means no restriction."""

    user: str | None = None
    """Only this namespace and those below it."""
    below: bool = True
    """False excludes the namespaces below."""
    conditions: str | None = None
    """Alternatives of conditions that all hold, as JSON: ``[[{path, op, value, not}, …], …]``.

    ``path`` is a JSON path. ``op`` is ``eq``, or ``gt``, ``gte``, ``lt``, ``lte``, which only compare two
    numbers or two texts. ``not`` is 1 if the condition must not hold. A missing field equals null. Without
    any alternative, nothing matches.
    """
    now: float | None = None
    """Excludes entries that expire at this time or before."""
    ids: Sequence[int] | None = None


class Settled(Struct, frozen=True):
    """An entry's words, recall passage and, if there is one, its vector."""

    entry: EntryRow
    words: dict[str, int]
    text: str
    vector: bytes = b""
    """Signed bytes, empty without a vector."""
    bits: bytes = b""
    """The vector's sign bits, a multiple of 64."""


Posting = tuple[str, int, int]
"""A word, the id of an entry with it, and a ``Place``. A tuple, because there are thousands."""


class Likeness(Struct, frozen=True):
    """The similarity of an entry to a question, as a cosine."""

    entry: int
    cosine: float


class EntryReads(Protocol):
    def get(self, user: str, key: str) -> EntryRow | None: ...

    def of_ids(self, user: str, ids: Sequence[int]) -> list[EntryRow]:
        """The entries with these ids that belong to the user, in any order."""
        ...

    def owner(self, entry_id: int) -> tuple[str, str] | None:
        """The user and key of an entry."""
        ...

    def keys(self, user: str, now: float | None = None) -> list[str]:
        """Keys, most recently updated first; for equal times, most recently created first.

        ``now`` excludes entries that expire at this time or before.
        """
        ...

    def count(self) -> int:
        """The number of entries of all users in the space."""
        ...

    def users(self, limit: int) -> dict[str, int]:
        """Users with entries, sorted by name."""
        ...

    def has_others(self, user: str) -> bool:
        """True if any other user has entries."""
        ...

    def select(self, filters: EntryFilters, *, limit: int, offset: int) -> list[EntryRow]:
        """Entries, most recently updated first; for equal times, most recently created first."""
        ...

    def users_below(self, user: str | None) -> list[str]:
        """The sorted namespaces with entries: this one and those below it, or all for None."""
        ...

    def find_expired(self, now: float, limit: int) -> list[tuple[int, str, str]]:
        """The id, user and key of entries in the space that expire at this time or before."""
        ...

    def pending(self, limit: int, user: str | None = None) -> list[EntryRow]:
        """Entries whose words are not indexed yet, of one user or all."""
        ...

    def fresh(self, user: str, limit: int) -> list[EntryRow]:
        """The user's pending entries, which a search must read itself."""
        ...

    def page(self, *, after: int, limit: int) -> list[EntryRow]:
        """Entries of all users with ids above ``after``, by id, to go through all in short reads."""
        ...

    def counts(self, user: str, words: Sequence[str]) -> dict[str, int]:
        """The number of entries that contain each word; unknown words are left out."""
        ...

    def postings(self, user: str, words: Sequence[str]) -> list[Posting]:
        """Entries that contain any of these words, which should be rare."""
        ...

    def newest_with(self, user: str, word: str, limit: int) -> list[Posting]:
        """Entries that contain a word, most recently created first."""
        ...

    def among(self, user: str, words: Sequence[str], ids: Sequence[int]) -> list[Posting]:
        """The given entries that contain one of the words."""
        ...

    def vocabulary_mark(self, user: str) -> int:
        """A number that changes with the vocabulary, or 0 for a user without entries."""
        ...

    def vocabulary(self, user: str) -> str:
        """All words of the user's entries, one per line."""
        ...

    def holding(self, user: str, text: str, limit: int) -> list[EntryRow]:
        """Entries whose key or value contains this exact text, most recently created first."""
        ...

    def nearest(
        self, user: str, model: str, vector: NDArray[np.float32], *, limit: int, least: float
    ) -> list[Likeness]:
        """Entries nearest to a vector of length 1, best first, with a cosine of at least ``least``."""
        ...


class EntryWrites(EntryReads, Protocol):
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
        """Create or replace the user's entry with this key. The time of creation is kept."""
        ...

    def set_expiry(self, user: str, key: str, expires_at: float | None) -> bool:
        """Change only when an entry expires. False if there is no entry."""
        ...

    def restore(self, entry: EntryRow) -> EntryRow:
        """Create or replace an entry with the given times, but with a new id and version."""
        ...

    def delete(self, user: str, key: str) -> int | None:
        """Erase an entry with its words and vector; return its id, or None if there was none."""
        ...

    def settle(self, entries: Sequence[Settled], model: str) -> int:
        """Store words and vectors of entries that haven't changed since; return how many.

        ``model`` made the vectors. If a user's vectors come from another model, the user is indexed again.
        """
        ...
