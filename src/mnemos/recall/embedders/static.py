"""The default embedder: one fixed vector per token, added up. No download, no model to run.

The model is potion-base-8M (MIT, see the NOTICE next to it), distilled from a transformer and quantised to
int8. ``scripts/quantise_embeddings.py`` makes the files, and documents how tokens are weighted and what that
was measured to improve.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.recall.embedders.wordpiece import WordPiece
from mnemos.settings import Model

SHIPPED = Path(__file__).with_name("assets") / "potion-base-8m"

VOCABULARY = "vocabulary.txt"
VECTORS = "vectors.int8"
SCALES = "scales.float32"
WEIGHTS = "weights.float32"
CHECKS = "checks.json"

_REMEDY = "Install mnemos again, or set embedder to none"


@dataclass(frozen=True, slots=True)
class Asset:
    """A vector, a scale and a weight for each token. Its id is its place in the vocabulary."""

    vocabulary: list[str]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    weights: NDArray[np.float32]


def read_asset(folder: Path) -> Asset:
    """Read the asset and check every byte. Missing or damaged files raise ModelUnavailable."""
    try:
        checks = json.loads((folder / CHECKS).read_bytes())
        files = {name: _map_file(folder / name) for name in (VOCABULARY, VECTORS, SCALES, WEIGHTS)}
        damaged = [name for name, data in files.items() if not _is_sound(data, checks[name])]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise ModelUnavailable(f"The static model in {folder} cannot be read: {exc}. {_REMEDY}.") from exc
    if damaged:
        raise ModelUnavailable(f"The static model in {folder} is damaged ({', '.join(damaged)}). {_REMEDY}.")
    vocabulary = bytes(files[VOCABULARY]).decode().split("\n")
    return Asset(
        vocabulary=vocabulary,
        vectors=np.frombuffer(files[VECTORS], np.int8).reshape(len(vocabulary), -1),
        scales=np.frombuffer(files[SCALES], "<f4"),
        weights=np.frombuffer(files[WEIGHTS], "<f4"),
    )


def _map_file(path: Path) -> mmap.mmap:
    """Map the file's bytes, which processes share."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _is_sound(data: mmap.mmap, check: dict[str, int]) -> bool:
    # A CRC detects accidental damage, in at most half the time of a SHA. An attacker who can change these
    # files can change this module, too.
    return len(data) == check["bytes"] and zlib.crc32(data) == check["crc32"]


def to_length_one(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale every row to length 1, in place. A row of zeros stays unchanged."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None]
    return rows


# Stored with the vectors, so it must change whenever any vector would.
NAME = "potion-base-8m-int8.1"

# A longer text is a file, and its mean carries no more information.
MAX_TOKENS = 5_000
_MAX_CHARACTERS = 10 * MAX_TOKENS


class StaticEmbedder:
    """Weighted sums of token vectors. Threads may share one, and it survives a fork.

    Making one reads and checks the files. Missing or damaged files raise ModelUnavailable.
    """

    name = NAME
    kind = "static"

    def __init__(self, folder: Path = SHIPPED) -> None:
        asset = read_asset(folder)
        self._pieces = WordPiece(asset.vocabulary)
        self._vectors = asset.vectors
        self._scales = asset.scales
        self._factors = asset.scales * asset.weights
        self.weights: NDArray[np.float32] = asset.weights
        """The weight of each token in a text, by id, from 0 (not a word) to 1."""
        self.dim = asset.vectors.shape[1]

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """Return a row of length 1 for each text, made from its first 5,000 tokens.

        The row is zero if no token is known. It depends only on the text.
        """
        rows = np.zeros((len(texts), self.dim), np.float32)
        start = 0
        while start < len(texts):
            start = self._add_tokens(rows, texts, start)
        return to_length_one(rows)

    def _add_tokens(self, rows: NDArray[np.float32], texts: list[str], start: int) -> int:
        """Sum up the token vectors of some texts at once; return the index of the next text."""
        ids: list[NDArray[np.int32]] = []
        count = 0
        while start + len(ids) < len(texts) and count < MAX_TOKENS:
            ids.append(self.token_ids(texts[start + len(ids)]))
            count += len(ids[-1])
        together = np.concatenate(ids)
        factors, vectors = self._factors[together], self._vectors[together].astype(np.float32)
        begin = 0
        for row, some in zip(rows[start:], ids, strict=False):
            end = begin + len(some)
            # Not a matrix product, because BLAS would start threads for long texts and wait for them.
            np.einsum("i,ij->j", factors[begin:end], vectors[begin:end], out=row)
            begin = end
        return start + len(ids)

    def token_ids(self, text: str) -> NDArray[np.int32]:
        """Return the ids of the first 5,000 tokens in order. Those of unknown words weigh 0."""
        packed = self._pieces.pack(text[:_MAX_CHARACTERS])
        return np.frombuffer(packed, np.intc, count=min(len(packed) // 4, MAX_TOKENS))

    def vectors_of(self, ids: NDArray[np.int32] | Sequence[int]) -> NDArray[np.float32]:
        """Return the raw token vectors, one row each, neither weighted nor normalized."""
        chosen = np.asarray(ids, np.intp)
        vectors: NDArray[np.float32] = self._vectors[chosen].astype(np.float32)
        vectors *= self._scales[chosen, None]
        return vectors


def make(model: Model) -> StaticEmbedder:
    """Return the shipped model, read once per process."""
    if model.model:
        raise InvalidInput(f"The static embedder has no model {model.model!r}. Use static.")
    return _load_shipped()


@cache
def _load_shipped() -> StaticEmbedder:
    return StaticEmbedder()
