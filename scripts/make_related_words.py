"""Make the table of related words from the static model: the same bytes every time.

    python scripts/make_related_words.py [OUT_FILE]

For every whole word of the model's vocabulary, the words whose vectors lie near its own: a cosine of at least
0.5, at most sixty, those with a common stem as one. A line is the word, a tab, and ``stem:cosine`` in
hundredths, nearest first. Recall lets such words count in part where the question's own are missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from mnemos.recall.embedders import static
from mnemos.recall.embedders.static import StaticEmbedder
from mnemos.recall.question import RELATED
from mnemos.text.words import STOP_WORDS, stem

LEAST = 0.5
MOST = 60
_ROWS = 1_000


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else RELATED
    vocabulary = static.read_asset(static.SHIPPED).vocabulary
    ids = [
        number
        for number, word in enumerate(vocabulary)
        if word.isascii() and word.isalpha() and len(word) > 2 and word not in STOP_WORDS
    ]
    words = [vocabulary[number] for number in ids]
    stems = [stem(word) for word in words]
    vectors = StaticEmbedder().vectors_of(ids).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lines: list[str] = []
    for first in range(0, len(ids), _ROWS):
        for offset, row in enumerate(vectors[first : first + _ROWS] @ vectors.T):
            own = first + offset
            # Rounded before they are compared, so that every machine makes the same table.
            hundredths = np.rint(row * 100).astype(int)
            near = sorted(np.flatnonzero(hundredths >= LEAST * 100), key=lambda n: (-hundredths[n], n))
            found: dict[str, int] = {}
            for number in near[: MOST + 1]:
                if stems[number] != stems[own]:
                    found.setdefault(stems[number], int(hundredths[number]))
            if found:
                lines.append(
                    f"{words[own]}\t{' '.join(f'{word}:{value}' for word, value in found.items())}\n"
                )
    target.parent.mkdir(exist_ok=True)
    target.write_text("".join(sorted(lines)), encoding="ascii")
    sys.stdout.write(f"{len(lines)} words, {target.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
