"""How often the words of a question stand in a text, found fast in many texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemos.recall.question import Word
from mnemos.text.words import fold, stem

# Word forms and their stems, met so far.
_stems: dict[str, str] = {}
_STEMS = 50_000


class Matcher:
    """The words of a question, made ready to be counted."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._probes = [_probe(word.stem) for word in words]
        self._stems = [word.stem for word in words]
        self._patterns = [_pattern(probe) for probe in self._probes]
        self._pairs = [
            (first, first + 1, _pair(self._probes[first], self._probes[first + 1]))
            for first in range(len(words) - 1)
        ]

    def counts(self, folded: str) -> dict[int, int]:
        """Of each word that the folded text has, how often; words by their number."""
        found: dict[int, int] = {}
        for number, probe in enumerate(self._probes):
            # Most texts lack most words; looking for a piece of text is many times faster than a pattern.
            if probe in folded:
                count = self._count(number, folded)
                if count:
                    found[number] = count
        return found

    def pairs(self, folded: str, counts: dict[int, int]) -> list[tuple[int, int]]:
        """Words of the question that follow each other there, and in the text with at most one between."""
        return [
            (first, second)
            for first, second, pattern in self._pairs
            if first in counts and second in counts and pattern.search(folded)
        ]

    def forms(self, folded: str) -> list[str]:
        """The words of the question as the text has them, each once."""
        found: dict[str, None] = {}
        for number, pattern in enumerate(self._patterns):
            if pattern is None:
                found |= {self._probes[number]: None} if self._probes[number] in folded else {}
            else:
                here = (form for form in pattern.findall(folded) if _stem_of(form) == self._stems[number])
                found |= dict.fromkeys(list(here)[:1])
        return list(found)

    @property
    def all_pairs(self) -> list[tuple[int, int]]:
        return [(first, second) for first, second, _ in self._pairs]

    def _count(self, number: int, folded: str) -> int:
        pattern = self._patterns[number]
        if pattern is None:
            return folded.count(self._probes[number])
        wanted = self._stems[number]
        return sum(1 for form in pattern.findall(folded) if _stem_of(form) == wanted)


def cover(weights: Sequence[float], counts: dict[int, int]) -> float:
    """The share of the question's weight that a text has."""
    total = sum(weights)
    return sum(weights[number] for number in counts) / total if total else 0.0


def _probe(stemmed: str) -> str:
    """What every form of the word begins with: a stem's last letter may be its own."""
    return stemmed[:-1] if len(stemmed) > 3 and stemmed[-1] in "ie" and stemmed.isascii() else stemmed


def _pattern(probe: str) -> re.Pattern[str] | None:
    """None: the word may stand anywhere, in a script that puts no blanks between words."""
    if not probe.isascii():
        return None
    return re.compile(rf"(?<![a-z0-9]){re.escape(probe)}[a-z0-9+#]*")


def _pair(first: str, second: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(first)}\w*\W+(?:\w+\W+)?{re.escape(second)}")


def _stem_of(form: str) -> str:
    known = _stems.get(form)
    if known is None:
        if len(_stems) >= _STEMS:
            _stems.clear()
        known = _stems[form] = stem(fold(form))
    return known
