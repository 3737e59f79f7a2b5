"""The forms of expressions of time, and the search for them in a text.

A form is the words that it may begin with, a reader of its match and an expression: a line of ``forms.txt``.
The search looks for the words first and tries forms only there. Every expression is bounded and nothing is
tried twice at a place, so that the time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from mnemos.language.times import dates, relative, time_words
from mnemos.language.times.stretches import Stretch
from mnemos.language.times.time_context import Found, Reading
from mnemos.language.times.time_words import BEFORE_A_WORD, SIGN, either
from mnemos.text.patterns import compile_lazily

# Two weeks before the end of May.
_DEEPEST: Final = 2

_Reader = Callable[..., Found | Stretch | None]


class _Form:
    """An expression that is compiled when first tried: together they take long to compile."""

    __slots__ = ("_expression", "match", "read")

    def __init__(self, expression: str, read: _Reader) -> None:
        self._expression = expression
        self.match: Callable[[str, int], re.Match[str] | None] = self._first_match
        self.read = read

    def _first_match(self, text: str, place: int) -> re.Match[str] | None:
        self.match = re.compile(self._expression).match
        return self.match(text, place)


_Table = dict[str, tuple[_Form, ...]]
"""Forms by their first word; a digit is ``0``."""
_MODULES: Final = {"dates": dates, "relative": relative}
_PART: Final = re.compile("<([A-Z_]+)>")


def _load() -> dict[str, _Table]:
    """Read both tables of ``forms.txt``, by their headings."""
    tables: dict[str, _Table] = {"[forms]": {}, "[beside]": {}}
    parts: dict[str, str] = {}

    def expand(text: str) -> str:
        return _PART.sub(lambda found: parts.get(found[1]) or either(vars(time_words)[found[1]]), text)

    for line in Path(__file__).with_name("forms.txt").read_text(encoding="utf-8").splitlines():
        if line in tables:
            table = tables[line]
        elif line.count("\t") == 2:
            words, reader, expression = line.split("\t")
            module, name = reader.split(".")
            form = _Form(expand(expression), getattr(_MODULES[module], name))
            starts = [
                start.partition(" ")[0]
                for word in words.split()
                for start in (vars(time_words)[word] if word.isupper() else (word,))
            ]
            table |= {start: (*table.get(start, ()), form) for start in dict.fromkeys(starts)}
        elif " = " in line and not line.startswith("#"):
            part, _, text = line.partition(" = ")
            parts[part] = expand(text)
    return tables


_BY_WORD, _BY_WORD_BESIDE = _load().values()
_START: Final = compile_lazily(
    rf"{BEFORE_A_WORD}(?<!\d[.,])"
    rf"(?P<word>{either(sorted({*_BY_WORD, *_BY_WORD_BESIDE} - {'0'}))}(?!\w)|\d)"
)
# The characters before its first sign that an expression may begin at: "a couple of ", "the second ".
_BEFORE_A_SIGN: Final = 40


def iterate_found(reading: Reading) -> Iterator[Found]:
    """Yield the times of a text in order, none inside another."""
    place = 0
    for sign in SIGN.finditer(reading.lower):
        if sign.end() <= place:
            continue
        place = max(place, sign.start() - _BEFORE_A_SIGN)
        # A form that begins after the sign belongs to the next one.
        while match := _START().search(reading.lower, place, sign.end()):
            found = _read(reading, match, depth=0)
            place = found.end if found else match.end()
            if found:
                reading.previous, reading.previous_end = found.stretch, found.end
                yield found
        place = max(place, sign.end())


def read_at(reading: Reading, place: int) -> Found | None:
    """Return the time whose first word begins at a place."""
    start = _START().match(reading.lower, place - 1)
    return _read(reading, start, depth=0) if start else None


def _read(reading: Reading, start: re.Match[str], *, depth: int) -> Found | None:
    word, place = start["word"], start.start("word")
    if word.isdigit():
        word = "0"
    if depth < _DEEPEST:
        for form in _BY_WORD_BESIDE.get(word, ()):
            match = form.match(reading.lower, place)
            if match and (found := _read_beside(reading, match, form.read, depth=depth + 1)):
                return found
    for form in _BY_WORD.get(word, ()):
        match = form.match(reading.lower, place)
        if match and (found := _answer(match, form.read, reading)):
            return found
    return None


def _read_beside(reading: Reading, match: re.Match[str], read: _Reader, *, depth: int) -> Found | None:
    start = _START().match(reading.lower, match.end() - 1)
    if start is None:
        return None
    reading.led_to = match.end()
    anchor = _read(reading, start, depth=depth)
    found = anchor and _answer(match, read, anchor.stretch)
    return Found(found.stretch, found.start, anchor.end, anchor.dated) if anchor and found else None


def _answer(match: re.Match[str], read: _Reader, about: Reading | Stretch) -> Found | None:
    try:
        said = read(match, about)
    except (ValueError, OverflowError):
        # 31 February, or beyond the stretches.
        return None
    return Found(said, match.start(), match.end()) if isinstance(said, Stretch) else said
