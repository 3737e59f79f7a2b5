"""Many expressions looked for at once, each only where the words stand that it begins with.

Trying a hundred alternatives at every character of a long text is slow; finding a fixed word is not. So each
form has to begin with fixed characters, and is matched where they are found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

Span = tuple[int, int]


class Forms:
    """Expressions, one a line; a line that begins with blanks goes on with the one before.

    A form without a fixed beginning raises ValueError. ``find`` is in order of place, and what overlaps an
    earlier find is left out.
    """

    __slots__ = ("_by_head",)

    def __init__(self, listed: str) -> None:
        self._by_head: dict[str, list[re.Pattern[str]]] = {}
        for form in re.sub(r"\n\s+", "", listed.strip("\n")).split("\n"):
            expression = re.compile(form)
            for head in heads(form):
                self._by_head.setdefault(head, []).append(expression)

    def find(self, text: str) -> list[Span]:
        found = sorted(self._all(text), key=lambda span: (span[0], -span[1]))
        kept = found[:1]
        for start, end in found[1:]:
            if start >= kept[-1][1]:
                kept.append((start, end))
        return kept

    def _all(self, text: str) -> Iterator[Span]:
        for head in filter(text.__contains__, self._by_head):
            expressions = self._by_head[head]
            at = text.find(head)
            while at >= 0:
                for expression in expressions:
                    match = expression.match(text, at)
                    if match is not None:
                        yield match.span()
                        break
                at = text.find(head, at + len(head))


class Seen:
    """A text and where forms stand in it, each looked for once."""

    __slots__ = ("_found", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[int, tuple[list[Span], list[int]]] = {}

    def spans(self, forms: Forms) -> list[Span]:
        return self._look(forms)[0]

    def within(self, forms: Forms, start: int, end: int) -> Iterator[Span]:
        """What begins between two places."""
        spans, starts = self._look(forms)
        at = bisect_left(starts, start)
        while at < len(spans) and starts[at] < end:
            yield spans[at]
            at += 1

    def has(self, forms: Forms, start: int, end: int) -> bool:
        return next(self.within(forms, start, end), None) is not None

    def _look(self, forms: Forms) -> tuple[list[Span], list[int]]:
        found = self._found.get(id(forms))
        if found is None:
            spans = forms.find(self.text)
            found = self._found[id(forms)] = (spans, [start for start, _ in spans])
        return found


_ASSERTION: Final = re.compile(r"\\b|\(\?<?[!=]")
_PLAIN: Final = re.compile(r"\\[^a-zA-Z0-9]|[^\\()\[\]{}|?*+.^$]")


def heads(form: str) -> list[str]:
    """The fixed characters a form begins with, one for each way it may begin."""
    found = _begin(form)
    if not all(found):
        raise ValueError(f"the form has no fixed beginning: {form}")
    return found


def _begin(form: str) -> list[str]:
    while (assertion := _ASSERTION.match(form)) is not None:
        form = form[assertion.end() :] if assertion[0] == "\\b" else _options(form)[1]
    fixed, at = "", 0
    while (plain := _PLAIN.match(form, at)) is not None:
        fixed += plain[0][-1]
        at = plain.end()
    if form[at : at + 1] in _PERHAPS:
        return [fixed[:-1]]
    if form.startswith("(?:", at):
        options, rest = _options(form[at:])
        if rest[:1] not in _PERHAPS:
            return [fixed + more for option in options for more in _begin(option)]
    return [fixed]


_PERHAPS: Final = ("?", "*", "{")


# What stands for itself where groups are counted: an escaped character and a class.
_WHOLE: Final = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|.", re.S)


def _options(form: str) -> tuple[list[str], str]:
    """The ways a group at the beginning of a form may read, and what follows the group."""
    depth, cuts = 0, [2]
    for part in _WHOLE.finditer(form):
        depth += (part[0] == "(") - (part[0] == ")")
        if (depth == 1 and part[0] == "|") or depth == 0:
            cuts.append(part.start())
        if depth == 0:
            return [form[before + 1 : after] for before, after in pairwise(cuts)], form[part.end() :]
    raise ValueError(f"the group never ends: {form}")
