"""Every way a text may be meant: as it stands, decoded, and without its disguises, one inside the other.

Base64 may hold percent signs, and these a word in pieces. So whatever was read anew is looked at again, the
nearest readings first, until there is nothing new or enough was read.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from mnemos.text.threats import disguise, encoded, folding, misspelt, unseen
from mnemos.text.threats.folding import View
from mnemos.text.threats.pieces import humps

_DEEPEST: Final = 4
_MOST: Final = 40
# A text of the full length is read anew once, a short one as often as it takes.
_MOST_CHARACTERS: Final = 150_000

_LINE: Final = 160
_EXHIBIT: Final = re.compile(
    r"(?i)\b(?:scanner|detector|classifier|fixtures?|test (?:cases?|vectors?|strings?|inputs?)|unit tests?"
    r"|regression tests?|red[- ]team\w{0,4}|honeypots?|jailbreaks?|injections?|malware|phishing"
    r"|attack(?:er)?s?|(?:must|should|is|are|was|were|gets?) (?:be )?(?:caught|catch|flag(?:ged)?"
    r"|block(?:ed)?|reject(?:ed)?))\b"
)
_IN_CODE: Final = ", in code"
# How much speaks against what was encoded, and what was hidden.
_CODED: Final = 1.0
_UNSEEN: Final = 1.0

Span = Callable[[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read a text: folded, with what to add to a reason, and the way back to its places.

    ``suspicion`` says how much speaks against the text because somebody took the trouble to encode it; None
    where words may have lost their sense by the reading, so that only rules can judge it.
    """

    view: View
    note: str
    span: Span
    suspicion: float | None = 0.0


class _Found(NamedTuple):
    text: str
    note: str
    span: Span
    suspicion: float | None = 0.0


class Readings:
    """The readings of a text; the first is the text itself."""

    def __init__(self, text: str) -> None:
        self._seen: set[str] = set()
        self._left = _MOST_CHARACTERS
        self._waiting: deque[tuple[_Found, Span, int]] = deque()
        self._text = text

    def __iter__(self) -> Iterator[Reading]:
        plain = folding.folded(self._text)
        self._seen.add(plain.text)
        yield Reading(plain, "", _same)
        self._look_into(self._text, plain, _same, 0)
        while self._waiting and len(self._seen) <= _MOST:
            (text, note, inner, suspicion), outer, depth = self._waiting.popleft()
            view = folding.folded(text)
            if view.text in self._seen or self._left < len(text):
                continue
            self._seen.add(view.text)
            self._left -= len(text)
            span = _after(inner, outer)
            yield Reading(view, note, span, suspicion)
            if depth < _DEEPEST:
                self._look_into(text, view, span, depth)

    def _look_into(self, text: str, view: View, span: Span, depth: int) -> None:
        self._waiting.extend((found, span, depth + 1) for found in _within(text, view))


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


def _after(inner: Span, outer: Span) -> Span:
    return lambda start, end: outer(*inner(start, end))


def _always(start: int, end: int) -> Span:
    return lambda _start, _end: (start, end)


def _shifted(by: int, outer: Span) -> Span:
    return lambda start, end: outer(start + by, end + by)


def _is_exhibit(text: str, start: int, end: int) -> bool:
    """Whether the line of a code speaks of it as something to be found: a fixture, or an attack seen."""
    first = text.rfind("\n", max(0, start - _LINE), start) + 1
    last = text.find("\n", end, end + _LINE)
    around = text[max(first, start - _LINE) : start] + " " + text[end : last if last >= 0 else end + _LINE]
    return _EXHIBIT.search(around) is not None


def _within(text: str, view: View) -> Iterator[_Found]:
    """What can be read in ``text`` by taking one thing in it for a disguise."""
    for decoded, start, end in encoded.passages(text):
        if _is_exhibit(text, start, end):
            continue
        yield _Found(decoded, _IN_CODE, _always(start, end), _CODED)
    for decoded, start, end in encoded.parameters(text):
        yield _Found(decoded, _IN_CODE, _always(start, end))
    if (unwrapped := encoded.unwrapped(text)) is not None:
        rewritten, is_needless = unwrapped
        yield _Found(rewritten.text, _IN_CODE, rewritten.span, _CODED if is_needless else 0.0)
    if (parted := humps(text)) is not None:
        yield _Found(parted.text, "", parted.span)
    if (turned := disguise.upside_down(text)) is not None:
        yield _Found(turned, _IN_CODE, _always(0, len(text)), _CODED)
    for said, start in islice(unseen.unseen(view.text), _MOST):
        yield _Found(said, ", where people do not see it", _shifted(start, view.span), _UNSEEN)
    if (other := misspelt.respelt(view)) is not None:
        yield _Found(other.text, "", other.span)
    if (spaced := folding.unspaced(view.text)) is not None:
        yield _Found(spaced.text, "", _after(spaced.span, view.span))
    for reading in disguise.readings(view.text):
        if reading.rewritten is None:
            suspicion = 0.0 if reading.makes_sense else None
            yield _Found(reading.text, _IN_CODE, _always(0, max(1, len(text))), suspicion)
        else:
            yield _Found(reading.text, "", _after(reading.rewritten.span, view.span))
