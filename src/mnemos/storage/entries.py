"""The storage port of the entries part.

An entry is a key and a value that belong to a user. Storing an entry writes only its row. Its words and
vector follow in steps that any process may do: ``pending`` returns entries without them, the caller
prepares them, and ``settle`` stores them if the entry has not changed. Until then a search reads the entry
itself (``fresh``).

A method reaches only the user it is given. The exceptions are ``pending`` and ``page``, which can go
through all users.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


KIND = "entry"
USUAL_USER = "default"
"""The user whose entries recall shows if no user is given."""


def kind_of(user: str) -> str:
    """Return the kind of passage used for a user's entries.

    Each user except the default one has a kind of their own, so a search without a user cannot reach them.
    """
    return KIND if user == USUAL_USER else f"{KIND}:{user}"


class Place(IntFlag):
    """The parts of an entry that contain a word."""

    KEY = 1
    VALUE = 2
    BESIDE = 4
    """Only as the stem or the unsplit form of one of its words."""


class EntryRow(Struct, frozen=True):
    """An entry as stored; ``metadata`` is JSON. ``version`` counts its changes."""

    id: int
    user: str
    key: str
    value: str
    metadata: str | None
    created_at: float
    updated_at: float
    version: int


class Settled(Struct, frozen=True):
    """An entry's words, recall passage and, if there is one, its vector."""

    entry: EntryRow
    words: dict[str, int]
    text: str
    vector: bytes = b""
    """Signed bytes; empty for none."""
    bits: bytes = b""
    """Its sign bits, a multiple of 64."""


Posting = tuple[str, int, int]
"""A word, the id of an entry that contains it, and a ``Place``. A tuple, because there are thousands."""


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

    def keys(self, user: str) -> list[str]:
        """Keys, most recently updated first; of equal times, most recently created first."""
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

    def pending(self, limit: int, user: str | None = None) -> list[EntryRow]:
        """Entries whose words are not indexed yet, of one user or of all."""
        ...

    def fresh(self, user: str, limit: int) -> list[EntryRow]:
        """The user's pending entries, which a search must read itself."""
        ...

    def page(self, *, after: int, limit: int) -> list[EntryRow]:
        """Entries of all users by id, ids above ``after``: to go through all in short reads."""
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
        """A number that changes with the vocabulary; 0 for a user without entries."""
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
    def put(self, user: str, key: str, value: str, metadata: str | None, at: float) -> EntryRow:
        """Create or replace the user's entry of this key; its creation time stays."""
        ...

    def restore(self, entry: EntryRow) -> EntryRow:
        """Create or replace the user's entry of this key, keeping its times but not its id and version."""
        ...

    def delete(self, user: str, key: str) -> int | None:
        """Erase an entry, its words and its vector; return its id, or None if there is no entry."""
        ...

    def settle(self, entries: Sequence[Settled], model: str) -> int:
        """Store words and vectors of entries, except those that changed meanwhile; return how many.

        ``model`` made the vectors. A user whose vectors come from another model is indexed again.
        """
        ...
