"""Entries, as an engine stores them.

An entry is a key and a value of a user. Storing one writes its row and nothing else; what it is found by
comes later, in steps that any process may do: ``pending`` says what lacks it, the caller prepares it,
``settle`` stores it if the entry is still the same. Until then a search reads the entry itself (``fresh``).

No method reaches another user than the one it is asked about, but those that go through all: ``pending``
and ``page``.
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
"""The user whose entries recall shows by default."""


def kind_of(user: str) -> str:
    """The kind of passage that a user's entries are.

    Each user but the usual one has a kind of their own, so a search without a user cannot reach them.
    """
    return KIND if user == USUAL_USER else f"{KIND}:{user}"


class Place(IntFlag):
    """The places where an entry has a word."""

    KEY = 1
    VALUE = 2
    BESIDE = 4
    """Only as the stem or the whole of one of its words."""


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
    """What finds an entry: its words, its passage of recall, and its vector if it has one."""

    entry: EntryRow
    words: dict[str, int]
    text: str
    vector: bytes = b""
    """Signed bytes; empty for none."""
    bits: bytes = b""
    """Its signs; a multiple of 64 of them."""


Posting = tuple[str, int, int]
"""A word, an entry that has it, and where (a ``Place``). Plain, because there are thousands."""


class Likeness(Struct, frozen=True):
    """The nearness of an entry to a question, as a cosine."""

    entry: int
    cosine: float


class EntryReads(Protocol):
    def get(self, user: str, key: str) -> EntryRow | None: ...

    def of_ids(self, user: str, ids: Sequence[int]) -> list[EntryRow]:
        """Those of these entries that are this user's, in any order."""
        ...

    def owner(self, entry_id: int) -> tuple[str, str] | None:
        """The user and the key of an entry."""
        ...

    def keys(self, user: str) -> list[str]:
        """The most recently updated first; of those updated at once, the one made last."""
        ...

    def count(self) -> int:
        """Count the entries of all users of the space."""
        ...

    def users(self, limit: int) -> list[str]:
        """Users that have entries, by name."""
        ...

    def has_others(self, user: str) -> bool:
        """True if anybody but this user has entries."""
        ...

    def pending(self, limit: int, user: str | None = None) -> list[EntryRow]:
        """Entries that are not found by words yet, of one user or of all."""
        ...

    def fresh(self, user: str, limit: int) -> list[EntryRow]:
        """Of those the user's, as a search must read them itself."""
        ...

    def page(self, *, after: int, limit: int) -> list[EntryRow]:
        """By id, of all users, ids above ``after``: for going through all of them in short reads."""
        ...

    def counts(self, user: str, words: Sequence[str]) -> dict[str, int]:
        """Count the entries that have each word; unknown words are left out."""
        ...

    def postings(self, user: str, words: Sequence[str]) -> list[Posting]:
        """The entries that have any of these words, which should be rare ones."""
        ...

    def newest_with(self, user: str, word: str, limit: int) -> list[Posting]:
        """The entries that have a word, those made last first."""
        ...

    def among(self, user: str, words: Sequence[str], ids: Sequence[int]) -> list[Posting]:
        """Of these entries, those that have one of the words."""
        ...

    def vocabulary_mark(self, user: str) -> int:
        """Return a number that changes with the vocabulary; 0 for a user without entries."""
        ...

    def vocabulary(self, user: str) -> str:
        """Return every word of the user's entries, one per line."""
        ...

    def holding(self, user: str, text: str, limit: int) -> list[EntryRow]:
        """Return entries whose key or value contains exactly this text, those made last first."""
        ...

    def nearest(
        self, user: str, model: str, vector: NDArray[np.float32], *, limit: int, least: float
    ) -> list[Likeness]:
        """The entries nearest to a vector of length 1, best first, none below ``least``."""
        ...


class EntryWrites(EntryReads, Protocol):
    def put(self, user: str, key: str, value: str, metadata: str | None, at: float) -> EntryRow:
        """Make or replace the user's entry of this key; the time it was made stays."""
        ...

    def restore(self, entry: EntryRow) -> EntryRow:
        """Make or replace the user's entry of this key, with the times it has; id and version are ours."""
        ...

    def delete(self, user: str, key: str) -> int | None:
        """Erase an entry with everything it is found by, at once; its id, None when there is none."""
        ...

    def settle(self, entries: Sequence[Settled], model: str) -> int:
        """Index entries; return how many. One that changed meanwhile is left as it is.

        ``model``: who made the vectors. Where others did, a user's vectors are made anew.
        """
        ...
