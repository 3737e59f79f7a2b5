"""Make the asset of the static embedder from a potion-base-8M model: the same bytes every time.

    python scripts/quantise_embeddings.py MODEL_DIR [OUT_DIR]

MODEL_DIR holds ``model.safetensors`` and ``tokenizer.json``; OUT_DIR is the asset in the source tree
unless another is named. Written are the matrix as int8 with one scale a row, the vocabulary in the order
of its ids, a pooling weight for every token, and the length and CRC of each of these files. Whenever they
change, so must the name in ``mnemos/recall/embedders/static.py``, because vectors of both do not compare.

Why a stop word and a mark weigh 0.1 and everything else 1. Dense vectors alone, compared by cosine, with
stop words and speaker names taken out of the question: the share of evidence turns among the ten best of
a LoCoMo conversation (five conversations, 786 questions), the share of evidence sessions among the five
best of LongMemEval (46 questions, 96 sessions, each as good as its best turn), and how often the first
session is one of them. In float32; int8 gives the same figures for the line that is shipped.

    pooling                                             LoCoMo@10   LME@5   LME any@1
    plain mean                                               60.4    88.3        87.0
    ln of the place in the vocabulary                        59.4    88.3        82.6
    place/(place + 100)                                      60.6    88.3        82.6
    idf from LongMemEval (other half of the questions)       58.7    91.1        80.4
    the same, damped: ln(1 + N/(df + 30))                    60.1    90.0        84.8
    stop words 0                                             61.5    89.4        84.8
    stop words and marks 0.1  (shipped)                      61.3    89.4        89.1
    idf of the very corpus, not known when embedding         61.5    91.1        80.4

Potion's vectors already carry a weight in their length (0.6 to 30 for marks and function words, 70 to 90
in the middle of the vocabulary), so a second one adds little: the 95% interval of a difference to the
plain mean is about 1.3 either way on LoCoMo, and one LongMemEval question is 2.2 points. The shipped line
was picked among some forty on these very questions, so its lead over the plain mean is not established;
it needs no corpus and costs nothing. Not 0, so that a text with only stop words still has a
direction. With the speakers' names left in the question the shipped line falls to 42.4; weighing the
question's tokens, and only those, by the idf of the corpus then brings 56.8.
"""

from __future__ import annotations

import argparse
import json
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemos.recall.embedders import static
from mnemos.recall.embedders.wordpiece import SPECIAL

WEIGHT_OF_COMMON = 0.1
# Its own list: when a search learns to pass over another word, the vectors stay what they are.
COMMON = frozenset(
    """
    a about after again all also am an and any are as at be because been before being both but by
    can could d did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just ll m me more most my myself no nor not
    now of off on once only or other our ours out over own re s same she should so some such t than
    that the their theirs them then there these they this those through to too under until up us ve
    very was we were what when where which while who whom why will with would you your yours
    """.split()
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the asset of the static embedder.")
    parser.add_argument("model", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("out", type=Path, nargs="?", default=static.SHIPPED, help="where to write it")
    asked = parser.parse_args()
    vocabulary = read_vocabulary(asked.model / "tokenizer.json")
    vectors, scales = quantise(read_matrix(asked.model / "model.safetensors"))
    write(asked.out, vocabulary, vectors, scales, pooling_weights(vocabulary))


def read_vocabulary(path: Path) -> list[str]:
    """The tokens in the order of their ids; a tokenizer that WordPiece does not speak for is refused."""
    read = json.loads(path.read_text(encoding="utf-8"))
    ids: dict[str, int] = read["model"]["vocab"]
    rules = (read["model"]["type"], read["normalizer"]["lowercase"], read["normalizer"]["strip_accents"])
    if rules != ("WordPiece", True, None) or sorted(ids.values()) != list(range(len(ids))):
        raise SystemExit(f"{path} is not the lower-casing WordPiece tokenizer of potion-base-8M")
    return sorted(ids, key=ids.__getitem__)


def read_matrix(path: Path) -> NDArray[np.float32]:
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    about = json.loads(data[8:start])["embeddings"]
    first, last = about["data_offsets"]
    if about["dtype"] != "F32":
        raise SystemExit(f"{path} holds {about['dtype']} and not F32")
    return np.frombuffer(data[start + first : start + last], "<f4").reshape(about["shape"])


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as int8 and what to multiply each with: its largest number becomes 127."""
    scales = np.abs(matrix).max(axis=1) / np.float32(127)
    divisors = np.where(scales == 0, np.float32(1), scales)
    return np.rint(matrix / divisors[:, None]).astype(np.int8), scales.astype(np.float32)


def pooling_weights(vocabulary: list[str]) -> NDArray[np.float32]:
    return np.array([_weight(token) for token in vocabulary], np.float32)


def _weight(token: str) -> float:
    if token in SPECIAL:
        return 0.0
    is_mark = len(token) == 1 and not token.isalnum()
    return WEIGHT_OF_COMMON if is_mark or token in COMMON else 1.0


def write(
    folder: Path,
    vocabulary: list[str],
    vectors: NDArray[np.int8],
    scales: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        static.VOCABULARY: "\n".join(vocabulary).encode(),
        static.VECTORS: vectors.tobytes(),
        static.SCALES: scales.astype("<f4").tobytes(),
        static.WEIGHTS: weights.astype("<f4").tobytes(),
    }
    checks = {name: {"bytes": len(data), "crc32": zlib.crc32(data)} for name, data in files.items()}
    files[static.CHECKS] = json.dumps(checks, indent=2).encode() + b"\n"
    for name, data in files.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
