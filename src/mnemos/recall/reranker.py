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
from mnemos.recall.lines import Line
from mnemos.text.words import STOP_WORDS, runs, stem

# The maximum tokens of a question and a line together, and words of a question, as in training.
_LONGEST = 96
_QUESTION = 40
# The number of tokens read for a question. One core reads about 9,000 per second.
_MOST_TOKENS = 1_440
# The maximum characters of the line itself, and of the lines before and after it.
LINE = 200
AROUND = 48
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")

Said = tuple[str, str]
"""The speaker and the text of a line."""


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
    return load().rate(query, [_render(candidate, words) for candidate in candidates])


def _render(candidate: Candidate, words: frozenset[str]) -> str:
    line, stretch, place = candidate.line, candidate.stretch, candidate.position
    before = after = None
    if stretch is not None:
        before = stretch.lines[place - 1] if place else None
        after = stretch.lines[place + 1] if place + 1 < len(stretch.lines) else None
    return render((line.speaker, line.text), _quote(before), _quote(after), words)


def _quote(line: Line | None) -> Said | None:
    return None if line is None else (line.speaker, line.text)


def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    return frozenset(stem(form) for run in runs(text) for form in run.forms if form not in STOP_WORDS)


def render(line: Said, before: Said | None, after: Said | None, words: frozenset[str]) -> str:
    """Render a line for the model: its speaker, its most relevant part, and a little context."""
    parts = [f"{line[0]}: {_cut(line[1], words)}"]
    if before is not None:
        parts.append(f"< {before[0]}: {before[1][-AROUND:]}")
    if after is not None:
        parts.append(f"> {after[0]}: {after[1][:AROUND]}")
    return " ".join(parts)


def _cut(text: str, words: frozenset[str]) -> str:
    """Cut a long text to the sentence with most words of the question, and the following text."""
    if len(text) <= LINE:
        return text
    best, found = 0, -1
    at = 0
    for part in _SENTENCE.split(text):
        at = text.find(part, at)
        count = len(words_of(part) & words)
        if count > found:
            best, found = at, count
        at += len(part)
    return text[best : best + LINE]
