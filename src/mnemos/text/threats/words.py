"""The words of a folded text, and fields of meaning that are looked up in them.

A field is a list of words for one idea: ``_`` joins words that have to follow each other, and ``n't`` stands
for any word that ends so. All fields are found in one pass, at the cost of a look-up a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final


class Words:
    """The words of a text in order; where they stand is worked out when somebody asks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.list: list[str] = _WORD.findall(text)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(self.text)]


_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Hit:
    """Words of a field: which field, the words, where they stand, and the number of the first."""

    field: str
    text: str
    start: int
    end: int
    at: int


class Lexicon:
    """Fields by name; ``find`` yields what stands in a text, in order, the longest form of each place."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._index: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for name, listed in fields.items():
            for form in listed.split():
                first, *rest = form.split("_")
                self._index.setdefault(first, []).append((name, tuple(rest)))
        for forms in self._index.values():
            forms.sort(key=lambda form: len(form[1]), reverse=True)

    def find(self, words: Words) -> Iterator[Hit]:
        index = self._index
        for at, word in enumerate(words.list):
            forms = index.get(word)
            if forms is None and word.endswith(_NOT):
                forms = index.get(_NOT)
            if forms is not None:
                yield from _hits(words, at, forms)


_NOT: Final = "n't"
# What may stand between words that belong together.
_BETWEEN: Final = frozenset((" ", "-", "\n", "  ", " - ", ", "))


def _hits(words: Words, at: int, forms: list[tuple[str, tuple[str, ...]]]) -> Iterator[Hit]:
    start, end = words.spans[at]
    if _is_part_of_a_name(words.text, start, end):
        return
    seen: set[str] = set()
    for name, rest in forms:
        if name not in seen and (not rest or _follow(words, at, rest)):
            seen.add(name)
            end = words.spans[at + len(rest)][1]
            yield Hit(name, words.text[start:end], start, end, at)


def _follow(words: Words, at: int, rest: tuple[str, ...]) -> bool:
    if tuple(words.list[at + 1 : at + 1 + len(rest)]) != rest:
        return False
    spans = words.spans[at : at + 1 + len(rest)]
    return all(words.text[before[1] : after[0]] in _BETWEEN for before, after in pairwise(spans))


def _is_part_of_a_name(text: str, start: int, end: int) -> bool:
    """``rules`` in ``.cursor/rules``, ``key`` in ``app.key``: part of a path or an address."""
    if start and text[start - 1] in "./@_$":
        return True
    after = text[end : end + 2]
    return bool(after) and (after[0] in "/@_" or (after[0] == "." and after[1:].isalnum()))
