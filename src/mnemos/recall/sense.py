"""Similarity in meaning between a question and lines, as vectors.

A static model is fast enough to embed passages without stored vectors in memory: the newest ones (``Tail``),
hand-edited ones, and any others that are judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from mnemos.recall.candidates import Asked, Gathered, Sense
from mnemos.recall.embedders import Embedder
from mnemos.recall.embedding import embed, embed_pieces
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Reads
from mnemos.storage.passages import PIECE_BITS, Near, Passage, Unembedded, Units
from mnemos.text.pieces import PIECE_CHARACTERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemos.recall.embedders.static import StaticEmbedder

# Words common in questions still contribute to the meaning.
_LEAST_WEIGHT = 0.5
# Characters that one question embeds in memory, in some tens of milliseconds, and pieces kept in total.
TAIL_CHARACTERS = 60_000
_MOST_PIECES = 4_000
# The number of hand-edited passages whose vectors are kept for the next question.
_MOST_KEPT = 1_000


def make_sense(asked: Asked, embedder: Embedder, model: str) -> Sense | None:
    """Make the question's vector, to compare with those stored under ``model``.

    Returns None if the model knows none of the question's words.
    """
    if hasattr(embedder, "vectors_of"):
        return _add_words(asked, cast("StaticEmbedder", embedder), model)
    vector = embed(embedder, [asked.question.text])[0]
    return Sense(model, vector) if vector.any() else None


def _add_words(asked: Asked, embedder: StaticEmbedder, model: str) -> Sense | None:
    """Average the vectors of the words. Rare words count more."""
    import numpy as np

    highest = math.log(1 + asked.total / 1.5)
    ids: list[int] = []
    weights: list[float] = []
    for word, count in zip(asked.question.words, asked.counts, strict=True):
        if any(map(str.isdigit, word.form)):
            # A number or a code has no meaning besides itself.
            continue
        idf = math.log(1 + (max(asked.total - count, 0) + 0.5) / (count + 0.5))
        weight = min(idf, highest) * max(word.weight, _LEAST_WEIGHT)
        # A token that the model doesn't know has no weight and no meaning.
        tokens = [token for token in embedder.token_ids(word.form).tolist() if embedder.weights[token]]
        ids += tokens
        weights += [weight] * len(tokens)
    if not ids:
        return None
    vector = np.einsum("i,ij->j", np.asarray(weights, np.float32), embedder.vectors_of(ids))
    length = float(np.sqrt(np.einsum("i,i->", vector, vector)))
    return Sense(model, vector / length) if length else None


# --- passages without stored vectors --------------------------------------------------------


class Tail(Struct, frozen=True):
    """Vectors in memory, made by this process, of passages that have none in the storage."""

    ends: tuple[int, int] = (0, 0)
    """The last message and the last other passage covered."""
    era: tuple[int, ...] = ()
    keys: NDArray[np.int64] | None = None
    vectors: NDArray[np.float32] | None = None

    def find_next(self, tx: Reads, model: str) -> list[Unembedded] | None:
        """Read some passages without vectors beyond this tail, or return None if there are none."""
        found: list[Unembedded] = []
        ends, characters = self.ends, TAIL_CHARACTERS
        while characters > 0:
            todo = tx.vectors.pending(model, characters=characters, after=ends)
            if todo is None:
                return None
            if ends != (0, 0) and not found and not self._fits(todo):
                ends = (0, 0)
                continue
            found.append(todo)
            if not todo.passages or self._is_full:
                break
            ends = _move(ends, todo)
            characters -= sum(len(text) for _, text in todo.passages)
        return found

    def extend(self, todo: Sequence[Unembedded] | None, embedder: Embedder) -> Tail:
        """Embed these passages too. The tail is empty if the storage has all vectors."""
        import numpy as np

        if not todo:
            return Tail()
        tail = self if self._fits(todo[0]) else Tail(era=todo[0].era)
        for some in todo:
            if not some.passages or tail._is_full:
                break
            keys, vectors = embed_pieces(embedder, some.passages)
            tail = Tail(
                _move(tail.ends, some),
                some.era,
                np.array(keys) if tail.keys is None else np.concatenate([tail.keys, keys]),
                vectors if tail.vectors is None else np.vstack([tail.vectors, vectors]),
            )
        return tail

    def count_beyond(self, done: tuple[int, int]) -> int:
        """Count the covered passages for which the storage has no vectors."""
        return sum(max(0, end - stored) for end, stored in zip(self.ends, done, strict=True))

    def rank(self, sense: Sense) -> list[Near]:
        """Return the pieces, nearest first. Each part of a long message has its own id."""
        import numpy as np

        if self.keys is None or self.vectors is None:
            return []
        cosines = np.einsum("ij,j->i", self.vectors, sense.vector)
        order = np.argsort(-cosines)
        piece = (1 << PIECE_BITS) - 1
        return [
            Near(key >> PIECE_BITS, key & piece, cosine)
            for key, cosine in zip(self.keys[order].tolist(), cosines[order].tolist(), strict=True)
        ]

    def units(self, ids: Iterable[int]) -> Units | None:
        """Return the vector of the first piece of each covered passage."""
        import numpy as np

        if self.keys is None or self.vectors is None:
            return None
        slots = np.flatnonzero(np.isin(self.keys, [number << PIECE_BITS for number in ids]))
        return Units(self.keys[slots] >> PIECE_BITS, self.vectors[slots])

    @property
    def _is_full(self) -> bool:
        return self.keys is not None and len(self.keys) >= _MOST_PIECES

    def _fits(self, todo: Unembedded) -> bool:
        """False if ids may have changed meaning, or if a full tail covers nothing still missing."""
        return todo.era == self.era and not (self._is_full and self.count_beyond(todo.done) == 0)


EMPTY_TAIL = Tail()


def _move(ends: tuple[int, int], todo: Unembedded) -> tuple[int, int]:
    return (todo.through, ends[1]) if todo.series == 0 else (ends[0], todo.through)


class Kept:
    """A cache of vectors for hand-edited passages, which every question compares."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def compare(self, passages: Sequence[Passage], sense: Sense, embedder: Embedder) -> dict[int, Near]:
        """Compute the cosine of each passage."""
        if embedder.kind != "static" or not passages:
            return {}
        import numpy as np

        texts = {passage.id: passage.readable[:PIECE_CHARACTERS] for passage in passages}
        known = self._vectors
        unknown = [text for text in dict.fromkeys(texts.values()) if (sense.model, text) not in known]
        made = dict(zip(unknown, embed(embedder, unknown), strict=True)) if unknown else {}
        rows = np.stack([made[t] if t in made else known[sense.model, t] for t in texts.values()])
        if len(known) + len(made) > _MOST_KEPT:
            self._vectors = known = {}
        known.update({(sense.model, text): row for text, row in list(made.items())[:_MOST_KEPT]})
        cosines = np.einsum("ij,j->i", rows, sense.vector).tolist()
        return {number: Near(number, 0, cosine) for number, cosine in zip(texts, cosines, strict=True)}


def add_missing(gathered: Gathered, sense: Sense, embedder: Embedder, tail: Tail) -> Gathered:
    """Add missing cosines and vectors of candidates, from the tail or by embedding them now.

    Without them, the newest messages would seem unrelated to the question.
    """
    if embedder.kind != "static":
        return gathered
    cosines = dict(gathered.cosines)
    rows = [row for strip in gathered.strips for row in strip.messages if not row.forgotten]
    for near in tail.rank(sense):
        cosines.setdefault(near.id, near)
    texts = {row.id: document_of(row).said[:PIECE_CHARACTERS] for row in rows if row.id not in cosines}
    texts |= {p.id: p.readable[:PIECE_CHARACTERS] for p in gathered.passages if p.id not in cosines}
    found = [units for units in (gathered.units, tail.units([row.id for row in rows])) if units is not None]
    if texts:
        import numpy as np

        vectors = embed(embedder, list(texts.values()))
        fresh = np.einsum("ij,j->i", vectors, sense.vector).tolist()
        cosines |= {number: Near(number, 0, cosine) for number, cosine in zip(texts, fresh, strict=True)}
        found.append(Units(np.array(list(texts), np.int64), vectors))
    return replace(gathered, cosines=cosines, units=_join(found))


def _join(found: Sequence[Units]) -> Units | None:
    """Join collections of vectors. If several have a passage, its first vector counts."""
    import numpy as np

    kept = [units for units in found if len(units.ids)]
    if len(kept) < 2:
        return kept[0] if kept else None
    ids, first = np.unique(np.concatenate([units.ids for units in kept]), return_index=True)
    return Units(ids, np.vstack([units.vectors for units in kept])[first])


# --- more than one vector -------------------------------------------------------------------


class Surroundings:
    """The vectors of lines, which are added to those of their neighbours."""

    def __init__(self, units: Units, sense: Sense) -> None:
        import numpy as np

        self._places = {passage: place for place, passage in enumerate(units.ids.tolist())}
        # The last row is for lines without a vector.
        self._vectors = np.vstack([units.vectors, np.zeros((1, units.vectors.shape[1]), np.float32)])
        self._question = sense.vector

    def cosines(self, lines: Sequence[tuple[int, Sequence[tuple[float, int]]]]) -> list[float]:
        """Return the cosine of each line summed with its neighbours, which ids and shares give."""
        import numpy as np

        if not lines:
            return []
        most = max(len(neighbours) for _, neighbours in lines)
        nowhere = len(self._places)
        place_of = self._places.get
        rows = [
            [place_of(own, nowhere), *[place_of(number, nowhere) for _, number in near]]
            + [nowhere] * (most - len(near))
            for own, near in lines
        ]
        shares = [[1.0, *[share for share, _ in near]] + [0.0] * (most - len(near)) for _, near in lines]
        places, weights = np.array(rows, np.intp), np.array(shares, np.float32)
        sums = np.einsum("rc,rcd->rd", weights, self._vectors[places])
        lengths = np.sqrt(np.einsum("rd,rd->r", sums, sums))
        found: list[float] = (np.einsum("rd,d->r", sums, self._question) / np.maximum(lengths, 1e-9)).tolist()
        return found
