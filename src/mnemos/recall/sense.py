"""A question as a vector."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mnemos.recall.candidates import Asked, Sense
from mnemos.recall.embedders.base import Embedder

if TYPE_CHECKING:
    from mnemos.recall.embedders.static import StaticEmbedder

# Words that questions are made of still say something about their meaning.
_LEAST_WEIGHT = 0.5


def sense_of(asked: Asked, embedder: Embedder, model: str) -> Sense | None:
    """The vector to compare with those stored under ``model``.

    None when the question says nothing that the model knows.
    """
    if embedder.kind == "static":
        return _by_words(asked, embedder, model)  # type: ignore[arg-type]
    vector = embedder.embed([asked.question.text])[0]
    return Sense(model, vector) if vector.any() else None


def _by_words(asked: Asked, embedder: StaticEmbedder, model: str) -> Sense | None:
    """The mean of the words' vectors, rare words counting more: here it is known how rare they are."""
    import numpy as np

    highest = math.log(1 + asked.total / 1.5)
    ids: list[int] = []
    weights: list[float] = []
    for word, count in zip(asked.question.words, asked.counts, strict=True):
        idf = math.log(1 + (max(asked.total - count, 0) + 0.5) / (count + 0.5))
        weight = min(idf, highest) * max(word.weight, _LEAST_WEIGHT)
        tokens = embedder.token_ids(word.form)
        ids += tokens.tolist()
        weights += [weight] * len(tokens)
    if not ids:
        return None
    vector = np.asarray(weights, np.float32) @ embedder.vectors_of(ids)
    length = float(np.sqrt(vector @ vector))
    return Sense(model, vector / length) if length else None
