"""JSON cut into the elements that rows are made of: lines, an array, or an array inside of an object.

The text is scanned by expressions that know strings, escapes and brackets and nothing else of JSON. Only the
end of an element matters here, so that a broken element is reported with its line and the next one is still
found. Missing and surplus commas are tolerated. No more than one element is held, and none that exceeds the
limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mnemos.errors import InvalidInput
from mnemos.workspace.formats.columns import BadLines
from mnemos.workspace.formats.source import CUT, split_lines

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = r'[^"\[\]{}]*+'
_SCALAR = r'[^\s,:"\[\]{}]'


def _balanced(levels: int) -> str:
    """Return an expression for text whose brackets are all closed, nested up to ``levels`` deep."""
    inner = rf"|[\[{{]{_balanced(levels - 1)}[\]}}]" if levels else ""
    return rf"{_PLAIN}(?:(?:{_STRING}{inner}){_PLAIN})*+"


# Deeper nesting is followed bracket by bracket, which is slower.
_LEVELS = 6
_inside_brackets = re.compile(_balanced(_LEVELS), re.DOTALL).match
_whole_value = re.compile(rf"[\[{{]{_balanced(_LEVELS)}[\]}}]|{_STRING}|{_SCALAR}++(?=.)", re.DOTALL).match
# Stops at the end of the text, and before a backslash whose other half is not read yet.
_inside_string = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL).match
_openings = re.compile(r"[\[{]++").match
_scalar = re.compile(rf"{_SCALAR}*+").match
_gap = re.compile(r"[ \t\r\n,]*+").match
_NOT_AN_ELEMENT = ("", "]", "}", ":")


@dataclass(frozen=True, slots=True)
class Elements:
    raws: list[str]
    line_of: Callable[[int], int]
    """Returns the line of the file on which the element at a place begins."""


def find_on_lines(pieces: Iterator[str], limit: int, bad: BadLines) -> Iterator[Elements]:
    """Yield the content of each line that is not blank (JSON lines)."""
    before = 0
    for piece in pieces:
        raws: list[str] = []
        numbers: list[int] = []
        for number, line in enumerate(split_lines(piece), before + 1):
            before = number
            if line.startswith(CUT):
                bad.add(number, f"longer than {limit:,} characters")
            elif not line.isspace():
                raws.append(line)
                numbers.append(number)
        yield Elements(raws, numbers.__getitem__)


class Document:
    """One JSON value, scanned once from its beginning."""

    def __init__(self, pieces: Iterator[str], limit: int) -> None:
        self._pieces = pieces
        self._limit = limit
        self._text = ""
        self._at = 0
        self._lines = 1
        self._counted = 0
        self._held: list[str] | None = None
        """Earlier pieces of the element that is being taken; None while nothing is held."""
        self._held_size = 0
        self._start = 0

    def ahead(self) -> str:
        """Return the next character that is not blank or a comma, without consuming it. Empty at the end."""
        while True:
            self._move(_gap)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def line(self) -> int:
        """Return the number of the current line."""
        self._lines += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._lines

    def members(self) -> Iterator[tuple[str, str]]:
        """Yield the members of an object: each name as JSON, and how its value begins.

        ``[[`` is an array of arrays. The caller consumes the value with ``take``, ``skip`` or ``elements``.
        """
        self._at += 1
        while (character := self.ahead()) != "}":
            name = self.take() if character == '"' else None
            if name is None or self.ahead() != ":":
                raise InvalidInput(f"line {self.line():,}: the JSON object is broken; nothing was read")
            self._at += 1
            opens = self.ahead()
            yield name, opens + (self._peek_inside() if opens == "[" else "")
        self._at += 1

    def elements(self, bad: BadLines) -> Iterator[Elements]:
        """Yield the elements of an array, as many at a time as are in memory.

        Where the array breaks off, or something else follows, a bad line is added and the iteration ends.
        """
        self._at += 1
        raws: list[str] = []
        lines: list[int] = []
        broken_off = 0
        text = self._text
        while (following := self.ahead()) not in _NOT_AN_ELEMENT:
            if raws and self._text is not text:
                yield Elements(raws, lines.__getitem__)
                raws, lines = [], []
            text = self._text
            if self._collect_whole(raws, lines):
                continue
            line = self.line()
            raw = self.take()
            if raw is not None:
                raws.append(raw)
                lines.append(line)
            elif self.ahead():
                bad.add(line, f"an element is longer than {self._limit:,} characters")
            else:
                broken_off = line
        if raws:
            yield Elements(raws, lines.__getitem__)
        if following == "]":
            self._at += 1
        elif following:
            bad.add(self.line(), f"{following!r} where an element was expected; the rest was left out")
        else:
            bad.add(broken_off or self.line(), "the file ends before its array is closed")

    def _collect_whole(self, raws: list[str], lines: list[int]) -> bool:
        """Take the values that are all in memory and not deeply nested. False if there is none."""
        text, at, line = self._text, self._at, self.line()
        counted = at
        while found := _whole_value(text, at):
            line += text.count("\n", counted, at)
            counted = at
            raws.append(found[0])
            lines.append(line)
            at = found.end()
            if gap := _gap(text, at):
                at = gap.end()
        is_any, self._at = at > self._at, at
        return is_any

    def take(self) -> str | None:
        """Consume the value that begins here and return it. None if it is too long or breaks off."""
        self._held, self._held_size, self._start = [], 0, self._at
        is_whole = self.skip()
        held, self._held = self._held, None
        last = self._text[self._start : self._at]
        if held is None or not is_whole or self._held_size + len(last) > self._limit:
            return None
        return "".join([*held, last])

    def skip(self) -> bool:
        """Consume the value that begins here, however long it is. False if it breaks off."""
        depth = 0
        while True:
            if depth:
                self._move(_inside_brackets)
            character = self._text[self._at : self._at + 1]
            if not character:
                if not self._read():
                    return False
                continue
            if character == '"':
                if not self._skip_string():
                    return False
            elif character in "[{":
                opened = self._at
                depth += self._move(_openings) - opened
            elif character in "]}":
                depth -= 1
                self._at += 1
            else:
                self._skip_scalar()
            if depth <= 0:
                return True

    def _skip_string(self) -> bool:
        self._at += 1
        while True:
            self._move(_inside_string)
            if self._text.startswith('"', self._at):
                self._at += 1
                return True
            if not self._read():
                self._at = len(self._text)
                return False

    def _skip_scalar(self) -> None:
        before = self._at
        while self._move(_scalar) == len(self._text) and self._read():
            before = -1
        if self._at == before:
            # A stray colon.
            self._at += 1

    def _peek_inside(self) -> str:
        """Return the first character inside of an array, consuming nothing. Empty beyond too many blanks."""
        while True:
            found = _gap(self._text, self._at + 1)
            first = found.end() if found else self._at + 1
            if first < len(self._text):
                return self._text[first]
            if first - self._at > self._limit or not self._read():
                return ""

    def _move(self, pattern: Callable[[str, int], re.Match[str] | None]) -> int:
        """Go past what matches here."""
        found = pattern(self._text, self._at)
        if found:
            self._at = found.end()
        return self._at

    def _read(self) -> bool:
        """Read another piece. Only the unconsumed text, and what is held, stay in memory."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        if self._held is not None:
            self._held.append(self._text[self._start : self._at])
            self._held_size += self._at - self._start
            self._start = 0
            if self._held_size > self._limit:
                self._held = None
        self.line()
        self._text = self._text[self._at :] + piece
        self._at = self._counted = 0
        return True
