"""The reranker of deep recall: a small transformer that rates leading candidates.

Its weights come with the extra ``mnemos[deep]``. The folder ``reranker`` documents its training and results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

from mnemos.recall.embedders.transformer import Transformer, import_library, split_batches
from mnemos.recall.features import Candidate
from mnemos.text.words import STOP_WORDS, runs, stem

# The maximum tokens of a question and a line together, and words of a question, as in training.
_LONGEST = 96
_QUESTION = 40
# The number of tokens read for a question. One core reads at least 9,000 per second.
_MOST_TOKENS = 1_700
# The maximum characters of the line itself, and of the lines before and after it.
LINE = 200
_AROUND = 48
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Reranker:
    """Rates how well lines answer a question. Missing packages or files raise ModelUnavailable."""

    def __init__(self, folder: Path) -> None:
        # With a batch this small, two threads double the CPU time and are hardly faster.
        self._transformer = Transformer(folder, extra="deep", longest=_LONGEST, threads=1)

    def rate(self, question: str, lines: Sequence[str]) -> list[float]:
        """Return a rating per rendered line. A higher one means a better answer.

        If there are many long lines, only the first are rated, so that the time is bounded.
        """
        asked = " ".join(question.split()[:_QUESTION])
        encoded = self._transformer.encode([(asked, line) for line in lines])
        spent = accumulate(len(one.ids) for one in encoded)
        encoded = [one for one, tokens in zip(encoded, spent, strict=True) if tokens <= _MOST_TOKENS]
        rated = [0.0] * len(encoded)
        for batch in split_batches(encoded, range(len(encoded))):
            found, _ = self._transformer.run([encoded[place] for place in batch])
            for place, value in zip(batch, found.reshape(-1).tolist(), strict=True):
                rated[place] = value
        return rated


@cache
def load() -> Reranker:
    """Load the reranker of the extra once per process."""
    return Reranker(Path(import_library("mnemos_deep", "deep").FOLDER))


def rate(query: str, candidates: Sequence[Candidate]) -> list[float]:
    """Rate the first candidates, as many as there is time for, with the extra's reranker."""
    words = words_of(query)
    return load().rate(query, [render(candidate, words) for candidate in candidates])


def render(candidate: Candidate, words: frozenset[str]) -> str:
    """Render a line for the model: its speaker, its most relevant part, and a little context."""
    line, stretch, place = candidate.line, candidate.stretch, candidate.position
    parts = [f"{line.speaker}: {_cut(line.text, words)}"]
    if stretch is not None:
        for before in stretch.lines[max(0, place - 1) : place]:
            parts.append(f"< {before.speaker}: {before.text[-_AROUND:]}")
        for after in stretch.lines[place + 1 : place + 2]:
            parts.append(f"> {after.speaker}: {after.text[:_AROUND]}")
    return " ".join(parts)


def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    return frozenset(stem(form) for run in runs(text) for form in run.forms if form not in STOP_WORDS)


def _cut(text: str, words: frozenset[str]) -> str:
    """Cut a long text to the sentence with most words of the question, and the following text."""
    if len(text) <= LINE:
        return text
    at, best, found = 0, 0, -1
    for part in _SENTENCE.split(text):
        at = text.find(part, at)
        count = len(words_of(part) & words)
        if count > found:
            best, found = at, count
        at += len(part)
    return text[best : best + LINE]
