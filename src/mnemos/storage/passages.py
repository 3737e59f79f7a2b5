"""Passages, the words they have and their vectors, as an engine stores them for recall.

A passage is a piece of text that recall can return. Every message is one, found through the same index as
by a search; other parts feed theirs with ``put``, in the transaction of the change they describe. Ids of
passages and of messages never collide.

A long passage has several vectors, one for each of its pieces. Vectors are made outside transactions:
``pending`` returns passages without them, the caller embeds, ``add`` stores them if nothing was erased
in the meantime.
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

# Keys of vectors: the passage's id and the number of the piece.
PIECE_BITS = 7
MAX_PIECES = 1 << PIECE_BITS
# A longer text has its vectors in parts of about this many characters, each with its own pieces.
PART_CHARACTERS = 100_000
# A message that is proposed itself is read up to here.
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
    """Words it is found by besides its text, such as the long form of an abbreviation; never shown."""
    group: str | None = None
    """The group that a search can be narrowed to, such as the scope of a fact."""
    user_id: str | None = None
    """The user it belongs to; None: everybody."""

    @property
    def readable(self) -> str:
        """Everything it is found by."""
        return f"{self.text}\n{self.also}" if self.also else self.text


class Seed(Struct, frozen=True):
    """A passage proposed by words. Scores of different searches do not compare."""

    id: int
    score: float


class Near(Struct, frozen=True):
    """A passage whose piece lies near the question."""

    id: int
    piece: int
    cosine: float


class Units(Struct, frozen=True):
    """Vectors of length 1, a row for each passage."""

    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]


class Compared(Struct, frozen=True):
    """Passages compared with a question."""

    best: dict[int, Near]
    """The best piece of each."""
    firsts: Units
    """The vector of the first piece of each."""


class Strip(Struct, frozen=True):
    """Neighbouring messages of one session, in order; long ones cut short."""

    session_id: str
    title: str | None
    project: str | None
    messages: tuple[MessageRow, ...]


class Unembedded(Struct, frozen=True):
    """Passages without vectors, in order. ``state`` is what the engine checks on ``add``."""

    state: tuple[int, ...]
    passages: tuple[tuple[int, str], ...]
    """Id and text. A long text has several ids after each other, as in the index."""
    through: int
    """With these done, every passage up to this id is."""
    series: int
    """0 for messages, 1 for other passages."""
    done: tuple[int, int] = (0, 0)
    """The last message and the last other passage that have their vectors."""
    era: tuple[int, ...] = ()
    """Another one once something was removed or the file replaced: ids seen before may be gone."""


class NewVectors(Struct, frozen=True):
    """Vectors ready to be stored: of each, its key, ``dim`` signed bytes and ``dim`` sign bits."""

    keys: Sequence[int]
    codes: bytes
    bits: bytes


class Coverage(Struct, frozen=True):
    """The passages that have vectors of a model, out of all there are, counted by id."""

    model: str
    dim: int
    done: int
    total: int

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


def are_of_messages(filters: Filters) -> bool:
    """True if only messages can match: nothing else has a source, a role, a session or a project."""
    bound = (filters.sources, filters.roles, filters.session_ids, filters.projects)
    return bound != (None, None, None, None)


class PassageReads(Protocol):
    def count(self, filters: Filters | None = None, kinds: Sequence[str] | None = None) -> int:
        """Count the passages, messages included, that match the filters; an estimate, rather too high."""
        ...

    def weigh(self, clauses: Sequence[Clause], *, messages: bool = True) -> list[int]:
        """Count the passages that have each clause, with or without messages; common ones are estimated."""
        ...

    def speakers(self, words: Sequence[str]) -> set[str]:
        """Return those of these folded words that are names of speakers, or parts of names."""
        ...

    def sessions_with(self, speakers: Sequence[str]) -> list[str]:
        """Return the ids of sessions in which one of these spoke, as their newest few thousand lines show."""
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
        """Find passages that have rare ones of these clauses, best first; those of ``speakers`` first.

        Every passage stored before the call can be found. For clauses that are all common, the best of
        the newest few thousand. Without clauses: the newest messages of a limited time.
        """
        ...

    def strips(self, message_ids: Sequence[int], *, reach: int, characters: int) -> list[Strip]:
        """Return these messages with ``reach`` neighbours, at least one, on either side.

        Overlapping neighbourhoods are one strip; texts of neighbours are cut at ``characters``.
        """
        ...

    def sizes(self, message_ids: Sequence[int]) -> dict[int, int]:
        """Return the size in bytes of the text of each of these messages; other passages are left out."""
        ...

    def get(self, ids: Sequence[int]) -> list[Passage]:
        """Return passages that are not messages, in any order; unknown ones are left out."""
        ...

    def find(self, kind: str, ref: str) -> Passage | None: ...

    def of_kind(self, kind: str) -> list[Passage]:
        """Return all of a kind, sorted by ref: for kinds that have few."""
        ...

    def version(self) -> tuple[int, ...]:
        """A value that changes whenever passages are added or removed, or the file is replaced."""
        ...

    def within(self, ids: Sequence[int], filters: Filters, *, kinds: Sequence[str] | None) -> dict[int, int]:
        """The passage that each of these ids belongs to, without those that the filters leave out.

        A long message has several ids; forgotten and deleted messages are left out.
        """
        ...

    def present(self, ids: Sequence[int]) -> set[int]:
        """Return those of these passages, messages included, that exist and are not forgotten."""
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
        """Make or replace the passage of this kind and ref."""
        ...

    def outdate(self, kind: str, ref: str) -> bool:
        """Mark the passage as superseded; False when there is none."""
        ...

    def remove(self, kind: str, ref: str) -> bool:
        """Remove the passage from rows, index and vectors; False when there is none."""
        ...


class VectorReads(Protocol):
    def coverage(self) -> list[Coverage]:
        """Return the coverage of every model that has vectors here, the one begun last first."""
        ...

    def has_others(self, model: str) -> bool:
        """True if there are vectors of any other model."""
        ...

    def pending(self, model: str, *, characters: int, after: Sequence[int] = (0, 0)) -> Unembedded | None:
        """The next passages without vectors of this model, up to about this much text; None when all have.

        ``after``: the last message and the last other passage to skip. Nothing beyond them: no passages.
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
        """Find the pieces with the highest cosine, best first; each passage at most once."""
        ...

    def compare(self, model: str, vector: NDArray[np.float32], ids: Sequence[int]) -> Compared:
        """Compare these passages with a vector; those without vectors of their own are left out."""
        ...


class VectorWrites(VectorReads, Protocol):
    def add(self, model: str, dim: int, done: Unembedded, vectors: NewVectors) -> bool:
        """Store vectors; False and no change when something moved since ``pending``."""
        ...

    def drop_others(self, model: str, count: int) -> bool:
        """Hide every other model and remove some of its vectors; False when none is left."""
        ...
