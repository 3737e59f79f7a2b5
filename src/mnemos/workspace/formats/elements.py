"""JSON cut into the elements that rows are made of, without decoding or holding more than one of them.

A document is scanned by expressions that know strings, escapes and brackets and nothing else of JSON. Whether
an element is valid is for whoever decodes it; here only its end matters. Missing and surplus commas are
forgiven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mnemos.errors import InvalidInput
from mnemos.workspace.formats.lines import CUT, split
from mnemos.workspace.formats.model import BadLines

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = r'[^"\[\]{}]*+'


def _balanced(levels: int) -> str:
    """Text in which every bracket is closed again, as far as they are nested no deeper than that."""
    inner = rf"|[\[{{]{_balanced(levels - 1)}[\]}}]" if levels else ""
    return rf"{_PLAIN}(?:(?:{_STRING}{inner}){_PLAIN})*+"


# What is nested deeper is found bracket by bracket, which is slower.
_LEVELS = 3
_string = re.compile(_STRING, re.DOTALL).match
_string_inside = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL).match
_inside_brackets = re.compile(_balanced(_LEVELS), re.DOTALL).match
_simple = re.compile(rf"[\[{{]{_balanced(_LEVELS)}[\]}}]", re.DOTALL).match
_openings = re.compile(r"[\[{]++").match
_scalar = re.compile(r'[^\s,:"\[\]{}]+').match
_gap = re.compile(r"[ \t\r\n,]*+").match


@dataclass(frozen=True, slots=True)
class Elements:
    raws: list[str]
    line_of: Callable[[int], int]
    """The line of the file on which the element at a place begins."""


def lines(pieces: Iterator[str], limit: int, bad: BadLines) -> Iterator[Elements]:
    """JSON lines: what stands on each line that is not blank."""
    before = 0
    for piece in pieces:
        found = split(piece)
        kept = [place for place, line in enumerate(found, before + 1) if not line.isspace()]
        before += len(found)
        raws = [line for line in found if not line.isspace()] if len(kept) < len(found) else found
        if CUT in piece:
            raws, kept = _without_cut(raws, kept, limit, bad)
        yield Elements(raws, kept.__getitem__)


def _without_cut(raws: list[str], kept: list[int], limit: int, bad: BadLines) -> tuple[list[str], list[int]]:
    whole = [place for place, raw in enumerate(raws) if not raw.startswith(CUT)]
    for number, raw in zip(kept, raws, strict=True):
        if raw.startswith(CUT):
            bad.add(number, f"longer than {limit:,} characters")
    return [raws[place] for place in whole], [kept[place] for place in whole]


class Document:
    """One JSON value, scanned once from its beginning."""

    def __init__(self, pieces: Iterator[str], limit: int) -> None:
        self._pieces = pieces
        self._limit = limit
        self._text = ""
        self._at = 0
        self._lines_before = 0
        self._ended = False

    def ahead(self) -> str:
        """The next character that is neither blank nor comma, which is not consumed; empty at the end."""
        while True:
            self._at = _after(_gap, self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def line(self) -> int:
        return self._lines_before + self._text.count("\n", 0, self._at) + 1

    def members(self) -> Iterator[tuple[str, str]]:
        """The members of an object: each name as JSON, and how its value begins (``[[``: an array of arrays).

        The value has to be consumed, by ``take``, ``skip`` or ``elements``, before the next member.
        """
        self._at += 1
        while (character := self.ahead()) != "}":
            name = self.take() if character == '"' else None
            if name is None or self.ahead() != ":":
                raise InvalidInput(
                    f"line {self.line():,}: the JSON object breaks off, or is none; nothing was read"
                )
            self._at += 1
            opens = self.ahead()
            yield name, opens + (self._inside() if opens == "[" else "")
        self._at += 1

    def elements(self, bad: BadLines) -> Iterator[Elements]:
        """The elements of an array, as many at a time as have been read.

        Where the array breaks off, or something follows that is no element, is a bad line and the end.
        """
        self._at += 1
        while True:
            raws: list[str] = []
            starts: list[int] = []
            stopped = self._collect(raws, starts)
            if raws:
                yield self._numbered(raws, starts)
            if stopped == _CLOSED:
                self._at += 1
                return
            if stopped == _NOTHING:
                found = self._text[self._at]
                bad.add(self.line(), f"{found!r} where an element was expected; the rest was left out")
                return
            if len(self._text) - self._at > self._limit:
                bad.add(self.line(), f"an element is longer than {self._limit:,} characters")
                self.skip()
            elif not self._grow():
                bad.add(self.line(), "the file ends before its array is closed")
                return

    def take(self) -> str | None:
        """The value that begins here, consumed; None when it is too long, breaks off or is none."""
        while True:
            end = _end_of(self._text, self._at, is_all=self._ended)
            if end >= 0:
                raw = self._text[self._at : end]
                self._at = end
                return raw
            if len(self._text) - self._at > self._limit:
                self.skip()
                return None
            if end == _NOTHING or not self._grow():
                return None

    def skip(self) -> None:
        """Go behind the value that begins here, however long it is, holding none of it."""
        depth = 0
        while True:
            self._at = _after(_inside_brackets, self._text, self._at) if depth else self._at
            character = self._text[self._at : self._at + 1]
            if not character:
                if not self._more():
                    return
                continue
            if character == '"':
                self._skip_string()
            elif character in "[{":
                end = _after(_openings, self._text, self._at)
                depth += end - self._at
                self._at = end
            elif character in "]}":
                depth -= 1
                self._at += 1
            else:
                self._skip_scalar()
            if depth <= 0:
                return

    def _skip_string(self) -> None:
        self._at += 1
        while True:
            # Stops at the end of what is held, and before a backslash whose other half is not read yet.
            self._at = _after(_string_inside, self._text, self._at)
            if self._text.startswith('"', self._at):
                self._at += 1
                return
            if not self._more():
                self._at = len(self._text)
                return

    def _skip_scalar(self) -> None:
        scalar = _scalar(self._text, self._at)
        if scalar is None:
            self._at += 1
        while scalar:
            self._at = scalar.end()
            if self._at < len(self._text) or not self._more():
                return
            scalar = _scalar(self._text, self._at)

    def _collect(self, raws: list[str], starts: list[int]) -> int:
        """The elements that are wholly in what is held; why there are no more of them."""
        text = self._text
        at = self._at
        while True:
            at = _after(_gap, text, at)
            if at == len(text):
                stopped = _UNFINISHED
                break
            if text[at] == "]":
                stopped = _CLOSED
                break
            simple = _simple(text, at)
            end = simple.end() if simple else _end_of(text, at, is_all=self._ended)
            if end < 0:
                stopped = end
                break
            raws.append(text[at:end])
            starts.append(at)
            at = end
        self._at = at
        return stopped

    def _numbered(self, raws: list[str], starts: list[int]) -> Elements:
        text, before = self._text, self._lines_before
        return Elements(raws, lambda place: before + text.count("\n", 0, starts[place]) + 1)

    def _inside(self) -> str:
        """What an array begins with, of which nothing is consumed; empty beyond too many blanks."""
        while True:
            first = _after(_gap, self._text, self._at + 1)
            if first < len(self._text):
                return self._text[first]
            if first - self._at > self._limit or not self._grow():
                return ""

    def _more(self) -> bool:
        """Hold another piece, and no longer what is consumed."""
        piece = next(self._pieces, None)
        if piece is None:
            self._ended = True
            return False
        self._lines_before += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + piece
        self._at = 0
        return True

    def _grow(self) -> bool:
        """Hold twice as much, so that an element is looked at a few times and not once for every piece."""
        wanted = 2 * (len(self._text) - self._at)
        if not self._more():
            return False
        while len(self._text) < wanted and self._more():
            pass
        return True


_UNFINISHED, _NOTHING, _CLOSED = -1, -2, -3


def _after(pattern: Callable[[str, int], re.Match[str] | None], text: str, at: int) -> int:
    found = pattern(text, at)
    return found.end() if found else at


def _end_of(text: str, at: int, *, is_all: bool) -> int:
    """Where the value that begins here ends. _UNFINISHED: not in this text; _NOTHING: there is none."""
    if at == len(text):
        return _NOTHING if is_all else _UNFINISHED
    if text[at] == '"':
        string = _string(text, at)
        return string.end() if string else _UNFINISHED
    if text[at] in "[{":
        return _end_of_brackets(text, at)
    scalar = _scalar(text, at)
    if scalar is None:
        return _NOTHING
    return scalar.end() if is_all or scalar.end() < len(text) else _UNFINISHED


def _end_of_brackets(text: str, at: int) -> int:
    depth = 0
    while True:
        depth += 1 if text[at] in "[{" else -1
        at += 1
        if depth == 0:
            return at
        at = _after(_inside_brackets, text, at)
        if at == len(text) or text[at] == '"':
            return _UNFINISHED
