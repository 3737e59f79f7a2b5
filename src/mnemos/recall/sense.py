"""A question as a vector."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from mnemos.recall.candidates import Asked, Gathered, Sense
from mnemos.recall.embedders.base import Embedder
from mnemos.recall.embedding import embedded
from mnemos.sessions.model import document_of
from mnemos.storage.passages import Near, Units
from mnemos.text.pieces import PIECE_CHARACTERS

if TYPE_CHECKING:
    from mnemos.recall.embedders.static import StaticEmbedder

# Words that questions are made of still say something about their meaning.
_LEAST_WEIGHT = 0.5


def sense_of(asked: Asked, embedder: Embedder, model: str) -> Sense | None:
    """The vector to compare with those stored under ``model``.

    None when the question says nothing that the model knows.
    """
    if hasattr(embedder, "vectors_of"):
        return _by_words(asked, cast("StaticEmbedder", embedder), model)
    vector = embedded(embedder, [asked.question.text])[0]
    return Sense(model, vector) if vector.any() else None


def _by_words(asked: Asked, embedder: StaticEmbedder, model: str) -> Sense | None:
    """The mean of the words' vectors, rare words counting more: here it is known how rare they are."""
    import numpy as np

    highest = math.log(1 + asked.total / 1.5)
    ids: list[int] = []
    weights: list[float] = []
    for word, count in zip(asked.question.words, asked.counts, strict=True):
        if any(map(str.isdigit, word.form)):
            # A number or a code means nothing but itself.
            continue
        idf = math.log(1 + (max(asked.total - count, 0) + 0.5) / (count + 0.5))
        weight = min(idf, highest) * max(word.weight, _LEAST_WEIGHT)
        # What is no token of the model weighs nothing, and means nothing.
        tokens = [token for token in embedder.token_ids(word.form).tolist() if embedder.weights[token]]
        ids += tokens
        weights += [weight] * len(tokens)
    if not ids:
        return None
    vector = np.einsum("i,ij->j", np.asarray(weights, np.float32), embedder.vectors_of(ids))
    length = float(np.sqrt(np.einsum("i,i->", vector, vector)))
    return Sense(model, vector / length) if length else None


def with_missing(gathered: Gathered, sense: Sense, embedder: Embedder) -> Gathered:
    """The same, with the cosines of what has no vectors yet: it was read anyway, and a static model is fast.

    Without them, what was said just now would seem to mean something else.
    """
    if embedder.kind != "static":
        return gathered
    texts = {
        row.id: document_of(row).said[:PIECE_CHARACTERS]
        for strip in gathered.strips
        for row in strip.messages
        if row.id not in gathered.cosines and not row.forgotten
    }
    texts |= {p.id: p.readable[:PIECE_CHARACTERS] for p in gathered.passages if p.id not in gathered.cosines}
    if not texts:
        return gathered
    import numpy as np

    vectors = embedded(embedder, list(texts.values()))
    cosines = np.einsum("ij,j->i", vectors, sense.vector).tolist()
    found = {passage: Near(passage, 0, cosine) for passage, cosine in zip(texts, cosines, strict=True)}
    units = Units(np.array(list(texts), np.int64), vectors)
    if gathered.units is not None and len(gathered.units.ids):
        units = Units(
            np.concatenate([gathered.units.ids, units.ids]), np.vstack([gathered.units.vectors, vectors])
        )
    return replace(gathered, cosines=gathered.cosines | found, units=units)
