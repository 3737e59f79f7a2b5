"""The storage port of recall: passages, their words and their vectors.

A passage is a piece of text that recall can return. Every message is one, and is found through the index that
searches use. Other parts store theirs with ``put``, in the same transaction as the change they describe. Ids
of passages and messages never collide.

A long passage has a vector for each of its pieces. Vectors are made outside transactions: ``pending`` returns
passages without them, the caller embeds these, and ``add`` stores the vectors if nothing was erased in the
meantime.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from mnemos.text.query import Clause

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemos.storage.base import Filters, MessageRow

# The kind of a passage that is a message.
MESSAGE = "message"

# The key of a vector: the passage's id and the number of the piece.
PIECE_BITS = 7
MAX_PIECES = 1 << PIECE_BITS
# A longer text is embedded in parts of about this many characters, each with its own pieces.
PART_CHARACTERS = 100_000
# A proposed message is read up to this many characters.
LONGEST = 1_000_000


class Passage(Struct, frozen=True):
    """A passage that is not a message."""

    id: int
    kind: str
    ref: str
    session_id: str | None
    speaker: str | None
    at: float
    live: bool
    text: str
    also: str = ""
    """Further words that find it, such as the long form of an abbreviation. Never shown."""
    group: str | None = None
    """A group that a search can be restricted to, such as the scope of a fact."""
    user_id: str | None = None
    """The user it belongs to, or None for everybody."""

    @property
    def readable(self) -> str:
        """The text and words that find it."""
        return f"{self.text}\n{self.also}" if self.also else self.text


class Seed(Struct, frozen=True):
    """A passage proposed by words. Scores of different searches can't be compared."""

    id: int
    score: float


class Near(Struct, frozen=True):
    """A passage with a piece that is near the question."""

    id: int
    piece: int
    cosine: float


class Units(Struct, frozen=True):
    """Vectors of length 1, one row per passage."""

    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]


class Compared(Struct, frozen=True):
    """Passages compared with a question."""

    best: dict[int, Near]
    """The best piece of each passage."""
    firsts: Units
    """The vector of each passage's first piece."""


class Strip(Struct, frozen=True):
    """Neighbouring messages of one session, in order. Long ones are truncated."""

    session_id: str
    title: str | None
    project: str | None
    messages: tuple[MessageRow, ...]


class Unembedded(Struct, frozen=True):
    """Passages without vectors, in order. ``add`` checks ``state``."""

    state: tuple[int, ...]
    passages: tuple[tuple[int, str], ...]
    """Ids and texts. A long text has several consecutive ids, as in the index."""
    through: int
    """When these are done, so is every passage up to this id."""
    series: int
    """0 for messages, 1 for other passages."""
    done: tuple[int, int] = (0, 0)
    """The last message and the last other passage that have vectors."""
    era: tuple[int, ...] = ()
    """Changes when something was removed or the file was replaced, as known ids may be gone."""


class NewVectors(Struct, frozen=True):
    """Vectors to store, each with its key, ``dim`` signed bytes and ``dim`` sign bits."""

    keys: Sequence[int]
    codes: bytes
    bits: bytes


class Coverage(Struct, frozen=True):
    """The number of passages with a model's vectors, out of all, counted by id."""

    model: str
    dim: int
    done: int
    total: int

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


def are_of_messages(filters: Filters) -> bool:
    """True if only messages can match, as nothing else has a source, role, session or project."""
    bound = (filters.sources, filters.roles, filters.session_ids, filters.projects)
    return bound != (None, None, None, None)


class PassageReads(Protocol):
    def count(self, filters: Filters | None = None, kinds: Sequence[str] | None = None) -> int:
        """Estimate, rather too high, how many passages match the filters, messages included."""
        ...

    def weigh(self, clauses: Sequence[Clause], *, messages: bool = True) -> list[int]:
        """Count the passages with each clause, with or without messages; common ones are estimated."""
        ...

    def speakers(self, words: Sequence[str]) -> set[str]:
        """Return those of these folded words that are speakers' names or parts of them."""
        ...

    def sessions_with(self, speakers: Sequence[str]) -> list[str]:
        """Return ids of sessions in which one of these spoke, by their newest few thousand lines."""
        ...

    def best(
        self,
        clauses: Sequence[Clause],
        counts: Sequence[int],
        filters: Filters,
        *,
        kinds: Sequence[str] | None,
        limit: int,
        speakers: Sequence[str] = (),
    ) -> list[Seed]:
        """Find passages with rare clauses among these, best first, those of ``speakers`` first.

        Every passage stored before the call can be found. If all clauses are common, it is the best of the
        newest few thousand; without clauses, the newest messages of a limited time.
        """
        ...

    def strips(self, message_ids: Sequence[int], *, reach: int, characters: int) -> list[Strip]:
        """Return these messages with ``reach`` neighbours (at least one) on either side.

        Overlapping neighbourhoods are joined. Neighbours' texts are cut at ``characters``.
        """
        ...

    def sizes(self, message_ids: Sequence[int]) -> dict[int, int]:
        """Return the text size of each of these messages in bytes; other passages are left out."""
        ...

    def get(self, ids: Sequence[int]) -> list[Passage]:
        """Return passages that are not messages, in any order. Unknown ones are left out."""
        ...

    def find(self, kind: str, ref: str) -> Passage | None: ...

    def of_kind(self, kind: str) -> list[Passage]:
        """Return all passages of a kind, sorted by reference, for kinds with few passages."""
        ...

    def version(self) -> tuple[int, ...]:
        """Return a value that changes when passages are added or removed, or the file is replaced."""
        ...

    def within(self, ids: Sequence[int], filters: Filters, *, kinds: Sequence[str] | None) -> dict[int, int]:
        """Return the passage of each of these ids, without those that the filters exclude.

        A long message has several ids; forgotten and deleted messages are left out.
        """
        ...

    def present(self, ids: Sequence[int]) -> set[int]:
        """Return the ids among these, messages included, that exist and are not forgotten."""
        ...


class PassageWrites(PassageReads, Protocol):
    def put(
        self,
        kind: str,
        ref: str,
        *,
        text: str,
        at: float,
        session_id: str | None = None,
        speaker: str | None = None,
        live: bool = True,
        also: str = "",
        group: str | None = None,
        user_id: str | None = None,
    ) -> int:
        """Create or replace the passage with this kind and reference."""
        ...

    def outdate(self, kind: str, ref: str) -> bool:
        """Mark the passage as superseded. False if there is none."""
        ...

    def remove(self, kind: str, ref: str) -> bool:
        """Remove the passage from rows, index and vectors. False if there is none."""
        ...


class VectorReads(Protocol):
    def coverage(self) -> list[Coverage]:
        """Return the coverage of every model with vectors here, the most recent model first."""
        ...

    def has_others(self, model: str) -> bool:
        """True if there are vectors of any other model."""
        ...

    def pending(self, model: str, *, characters: int, after: Sequence[int] = (0, 0)) -> Unembedded | None:
        """Return the next passages without this model's vectors, with about this much text.

        None if all have them. ``after``: the last message and the last other passage to skip. If nothing
        follows them, no passages are returned.
        """
        ...

    def nearest(
        self,
        model: str,
        vector: NDArray[np.float32],
        filters: Filters,
        *,
        kinds: Sequence[str] | None,
        limit: int,
    ) -> list[Near]:
        """Find the pieces with the highest cosine, best first, at most one per passage."""
        ...

    def compare(self, model: str, vector: NDArray[np.float32], ids: Sequence[int]) -> Compared:
        """Compare these passages with a vector. Those without stored vectors are left out."""
        ...


class VectorWrites(VectorReads, Protocol):
    def add(self, model: str, dim: int, done: Unembedded, vectors: NewVectors) -> bool:
        """Store vectors. False, without a change, if the state has changed since ``pending``."""
        ...

    def drop_others(self, model: str, count: int) -> bool:
        """Hide all other models and remove some of their vectors. False if none are left."""
        ...
