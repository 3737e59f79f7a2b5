"""Nearness in meaning that takes more than one vector: of a line with what is around it, of its sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mnemos.recall.embedding import embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mnemos.recall.candidates import Sense
    from mnemos.recall.embedders.base import Embedder
    from mnemos.storage.passages import Units

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SENTENCES = 12


class Surroundings:
    """The vectors of lines, to be added up with those of their neighbours."""

    def __init__(self, units: Units, sense: Sense) -> None:
        self._places = {passage: place for place, passage in enumerate(units.ids.tolist())}
        # The last row stands for lines without a vector.
        self._vectors = np.vstack([units.vectors, np.zeros((1, units.vectors.shape[1]), np.float32)])
        self._question = sense.vector

    def cosines(self, lines: Sequence[tuple[int, Sequence[tuple[float, int]]]]) -> list[float]:
        """For each line, given by its id and its neighbours' shares and ids: the cosine of their sum."""
        most = max((len(neighbours) for _, neighbours in lines), default=0)
        places = np.full((len(lines), 1 + most), len(self._places), np.int64)
        weights = np.zeros((len(lines), 1 + most), np.float32)
        place_of = self._places.get
        for row, (own, neighbours) in enumerate(lines):
            places[row, 0] = place_of(own, len(self._places))
            weights[row, 0] = 1.0
            for column, (share, neighbour) in enumerate(neighbours, start=1):
                places[row, column] = place_of(neighbour, len(self._places))
                weights[row, column] = share
        sums = np.einsum("rc,rcd->rd", weights, self._vectors[places])
        lengths = np.sqrt(np.einsum("rd,rd->r", sums, sums))
        found: list[float] = (np.einsum("rd,d->r", sums, self._question) / np.maximum(lengths, 1e-9)).tolist()
        return found


def best_sentences(embedder: Embedder, texts: Sequence[str], question: NDArray[np.float32]) -> list[float]:
    """The cosine of the sentence of each text that is nearest to the question."""
    sentences: list[str] = []
    starts: list[int] = []
    for text in texts:
        starts.append(len(sentences))
        sentences += [s for s in _SENTENCE.split(text)[:_SENTENCES] if s] or [text]
    cosines = np.einsum("ij,j->i", embedded(embedder, sentences), question)
    found: list[float] = np.maximum.reduceat(cosines, starts).tolist()
    return found
