"""The files of the static model, as ``scripts/quantise_embeddings.py`` writes them."""

from __future__ import annotations

import json
import mmap
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import ModelUnavailable

SHIPPED = Path(__file__).with_name("assets") / "potion-base-8m"

VOCABULARY = "vocabulary.txt"
VECTORS = "vectors.int8"
SCALES = "scales.float32"
WEIGHTS = "weights.float32"
CHECKS = "checks.json"

_REMEDY = "install mnemos again, or set embedder to none to do without"


@dataclass(frozen=True, slots=True)
class Asset:
    """A vector, a scale and a pooling weight for each token; its place in the vocabulary is its id."""

    vocabulary: list[str]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    weights: NDArray[np.float32]


def read(folder: Path) -> Asset:
    """The asset, every byte checked. One that is missing or damaged raises ModelUnavailable."""
    try:
        checks = json.loads((folder / CHECKS).read_bytes())
        files = {name: _mapped(folder / name) for name in (VOCABULARY, VECTORS, SCALES, WEIGHTS)}
        damaged = [name for name, data in files.items() if not _is_sound(data, checks[name])]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise ModelUnavailable(f"the static model in {folder} cannot be read: {exc}; {_REMEDY}") from exc
    if damaged:
        raise ModelUnavailable(f"the static model in {folder} is damaged ({', '.join(damaged)}); {_REMEDY}")
    vocabulary = bytes(files[VOCABULARY]).decode().split("\n")
    return Asset(
        vocabulary=vocabulary,
        vectors=np.frombuffer(files[VECTORS], np.int8).reshape(len(vocabulary), -1),
        scales=np.frombuffer(files[SCALES], "<f4"),
        weights=np.frombuffer(files[WEIGHTS], "<f4"),
    )


def _mapped(path: Path) -> mmap.mmap:
    """The file's bytes, shared with every other process that has them."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _is_sound(data: mmap.mmap, check: dict[str, int]) -> bool:
    # A CRC finds accidents, and takes half as long as a SHA at best. Whoever can change these files on
    # purpose can change this module too.
    return len(data) == check["bytes"] and zlib.crc32(data) == check["crc32"]
