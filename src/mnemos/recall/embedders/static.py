"""The default embedder: one fixed vector per token, added up. No download, no model to run.

The model is potion-base-8M (MIT, see the NOTICE beside it), distilled from a transformer and quantised to
int8. How its tokens are weighed, and what that was measured to bring, is told in
``scripts/quantise_embeddings.py``, which makes the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import InvalidInput
from mnemos.recall.embedders import asset
from mnemos.recall.embedders.rows import to_length_one
from mnemos.recall.embedders.wordpiece import WordPiece
from mnemos.settings import Model

# Stored with the vectors: it must change when any vector would.
NAME = "potion-base-8m-int8.1"

# Beyond this a text is a file, and its mean says nothing more for being longer.
MAX_TOKENS = 5_000
_MAX_CHARACTERS = 10 * MAX_TOKENS


class StaticEmbedder:
    """Weighted sums of token vectors. Threads may share one, and it survives a fork.

    Making one reads and checks the files: missing or damaged ones raise ModelUnavailable.
    """

    name = NAME
    kind = "static"

    def __init__(self, folder: Path = asset.SHIPPED) -> None:
        read = asset.read(folder)
        self._pieces = WordPiece(read.vocabulary)
        self._vectors = read.vectors
        self._scales = read.scales
        self._factors = read.scales * read.weights
        self.weights: NDArray[np.float32] = read.weights
        """How much each token counts in a text, by id: from 0 for what is no word to 1."""
        self.dim = read.vectors.shape[1]

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text, from its first 5,000 tokens.

        The row is zero where no token is known. It depends on nothing but the text.
        """
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            ids = self.token_ids(text)
            # Not a matrix product: BLAS would start threads for long texts, and wait for them.
            np.einsum("i,ij->j", self._factors[ids], self._vectors[ids].astype(np.float32), out=row)
        return to_length_one(rows)

    def token_ids(self, text: str) -> NDArray[np.int32]:
        """The ids of the first 5,000 tokens in order; those of unknown words weigh 0."""
        packed = self._pieces.packed(text[:_MAX_CHARACTERS])
        return np.frombuffer(packed, np.intc, count=min(len(packed) // 4, MAX_TOKENS))

    def vectors_of(self, ids: NDArray[np.int32] | Sequence[int]) -> NDArray[np.float32]:
        """The token vectors themselves, a row each: neither weighed nor of length 1."""
        chosen = np.asarray(ids, np.intp)
        vectors: NDArray[np.float32] = self._vectors[chosen].astype(np.float32)
        vectors *= self._scales[chosen, None]
        return vectors


def make(model: Model) -> StaticEmbedder:
    """The shipped model, read once per process."""
    if model.model:
        raise InvalidInput(f"the static embedder has one model and not {model.model!r}; say static")
    return _shipped()


@cache
def _shipped() -> StaticEmbedder:
    return StaticEmbedder()
