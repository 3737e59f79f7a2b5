"""How often a text has the words of a question, or words that may stand for them; fast, in many texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mnemos.recall.question import Word
from mnemos.text.words import is_unspaced, split_runs, stem

_MOST_STEMS = 100_000


class _Stems(dict[str, str]):
    """Word forms and their stems; it learns those that it is asked for."""

    def __missing__(self, form: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        stemmed = self[form] = stem(form)
        return stemmed


_STEMS = _Stems()

# A longer text is only read where it may have a word at all.
_SHORT = 20_000
_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class Matcher:
    """The words of a question, made ready to be found; ``related``: for each, what may stand for it."""

    def __init__(self, words: Sequence[Word], related: Sequence[Mapping[str, float]]) -> None:
        # Scripts without blanks: the word may stand anywhere.
        self._anywhere = [(number, word.stem) for number, word in enumerate(words) if is_unspaced(word.stem)]
        self._by_stem: dict[str, list[tuple[int, float]]] = {}
        for number, (word, others) in enumerate(zip(words, related, strict=True)):
            self._by_stem.setdefault(word.stem, []).append((number, 1.0))
            for other, strength in others.items():
                self._by_stem.setdefault(other, []).append((number, strength))
        self._beginnings = sorted({_beginning(stem) for stem in self._by_stem})
        spaced = "|".join([re.escape(one) for one in self._beginnings if one.isascii()])
        # In a text whose words are parted by single blanks; those that begin otherwise are not even read.
        self._find_forms = re.compile(f" (?:{spaced})[a-z0-9]*".encode()).findall if spaced else None

    def find(self, folded: str) -> tuple[dict[int, int], dict[int, float]]:
        """How often a folded text has each word; and how strongly at least by what may stand for it."""
        counts: dict[int, int] = {}
        strengths: dict[int, float] = {}
        by_stem = self._by_stem
        # No loop of Python's own over words that nobody asked for: most of a question's time goes by here.
        for stemmed in filter(by_stem.__contains__, map(_STEMS.__getitem__, self._forms_of(folded))):
            for word, strength in by_stem[stemmed]:
                if strength == 1.0:
                    counts[word] = counts.get(word, 0) + 1
                elif strength > strengths.get(word, 0.0):
                    strengths[word] = strength
        for word, text in self._anywhere:
            if text in folded:
                counts[word] = folded.count(text)
        strengths.update(counts)
        return counts, strengths

    def forms(self, folded: str) -> list[str]:
        """The words of the question as the text has them, each once, in the order of the question."""
        found = {word: text for word, text in self._anywhere if text in folded}
        for form in self._forms_of(folded):
            for word, strength in self._by_stem.get(_STEMS[form], ()):
                if strength == 1.0:
                    found.setdefault(word, form)
        return list(dict.fromkeys(found[word] for word in sorted(found)))

    def _forms_of(self, folded: str) -> list[str]:
        """The words of a text that may be forms of those asked for; maybe others too."""
        if folded.isascii() and "+" not in folded and "#" not in folded:
            if self._find_forms is None:
                return []
            blanked = b" " + folded.encode().translate(_LETTERS_AND_DIGITS)
            return [form[1:].decode() for form in self._find_forms(blanked)]
        if len(folded) > _SHORT and not any(beginning in folded for beginning in self._beginnings):
            return []
        forms = split_runs(folded)
        if "+" not in folded and "#" not in folded:
            return forms
        # C++ is a word of its own, and C as well.
        return forms + [form.rstrip("+#") for form in forms if form[-1] in "+#"]


def shares(weights: Sequence[float]) -> tuple[float, ...]:
    """The share of each word in what a question weighs."""
    total = sum(weights) or 1.0
    return tuple(weight / total for weight in weights)


def _beginning(stemmed: str) -> str:
    """What every form of a word begins with: the end of a stem may be its own, as in *tri* for *try*."""
    return stemmed[:3] if len(stemmed) > 3 else stemmed[:1]
