"""JSON read value by value, so that no more than one value is in memory.

NaN, infinities and half surrogate pairs, which some programs write, are read, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import msgspec

from mnemos.errors import InvalidInput

Element = tuple[int, int, Any]
"""The line on which a value begins, the number of characters it has there, and the value."""

# A value may be too long for a table. Up to this multiple of the limit, what follows it is still found.
_TIMES_THE_LIMIT = 4
# The most characters by which a number that ends with the text may go on: 1.5e+
_TAIL = 2
_CONSTANTS: dict[str, float | None] = {"Infinity": inf, "-Infinity": -inf, "NaN": None}
# A pair of surrogates, half of one, or any other escape: in \\ud800 the backslash is one.
_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
_blanks = re.compile(r"[ \t\r\n]*+").match
# Raises StopIteration where no value begins.
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(
    parse_constant=_CONSTANTS.__getitem__
).scan_once  # type: ignore[attr-defined]  # missing in the stubs
_decode_fast: Callable[[str], Any] = msgspec.json.Decoder().decode


class BadElement(ValueError):
    """An element is not usable. The message says why."""


def decode_line(raw: str) -> Any:
    """Decode JSON and what programs write beyond it: NaN, infinities, half surrogate pairs."""
    try:
        return _decode_fast(raw)
    except (msgspec.DecodeError, RecursionError) as exc:
        refused = exc
    text = raw.strip()
    try:
        value, end = _scan(text, 0)
    except (StopIteration, ValueError, RecursionError):
        raise BadElement(f"not JSON: {refused}") from refused
    if end < len(text):
        raise BadElement(f"not JSON: {refused}")
    return _repair(value, text)


def _repair(value: Any, raw: str) -> Any:
    """Return a value without half surrogate pairs, which SQLite cannot store."""
    return _scan(_ESCAPES.sub(_replace_half, raw), 0)[0] if "\\u" in raw else value


def _replace_half(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


class Document:
    """JSON read value by value. InvalidInput, with the line, where it is not JSON."""

    def __init__(self, pieces: Iterator[str], limit: int) -> None:
        self._pieces = pieces
        self._limit = limit
        self._text = ""
        self._at = 0
        self._lines = 1
        self._counted = 0

    def ahead(self) -> str:
        """Return the next character that is not blank, without consuming it. Empty at the end."""
        while True:
            if found := _blanks(self._text, self._at):
                self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def all_values(self) -> Iterator[Element]:
        """Yield the values up to the end."""
        while self.ahead():
            yield self._element()

    def elements(self) -> Iterator[Element]:
        """Yield the values of an array."""
        self._take("[")
        if self.ahead() == "]":
            self._at += 1
            return
        while True:
            yield self._element()
            if self._take(",]") == "]":
                return

    def members(self) -> Iterator[tuple[str, bool, Iterator[Element]]]:
        """Yield the members of an object: the name, whether the value is an array, and what it has."""
        self._take("{")
        if self.ahead() == "}":
            self._at += 1
            return
        while True:
            if self.ahead() != '"':
                raise self._broken("a name is missing")
            _, _, name = self._element()
            self._take(":")
            is_array = self.ahead() == "["
            inside = self.elements() if is_array else iter([self._element()])
            yield name, is_array, inside
            # The caller may have read only a part of it.
            for _ in inside:
                pass
            if self._take(",}") == "}":
                return

    def end(self) -> None:
        """Refuse a document that goes on."""
        if self.ahead():
            raise self._broken("something follows the end of the JSON")

    def _take(self, signs: str) -> str:
        """Consume one of these signs."""
        found = self.ahead()
        if not found or found not in signs:
            wanted = " or ".join(signs)
            raise self._broken(f"{wanted} is missing" + (f" before {found!r}" if found else " at the end"))
        self._at += 1
        return found

    def _element(self) -> Element:
        """Decode the value that begins here."""
        self.ahead()
        while True:
            text, at = self._text, self._at
            try:
                value, end = _scan(text, at)
            except RecursionError:
                raise self._broken("it is nested too deeply") from None
            except (StopIteration, ValueError) as exc:
                if self._grow():
                    continue
                self._at = exc.pos if isinstance(exc, json.JSONDecodeError) else at
                raise self._broken(getattr(exc, "msg", "a value is missing")) from exc
            if end + _TAIL < len(text) or not self._grow():
                break
        if text.find("\\u", at, end) >= 0:
            value = _repair(value, text[at:end])
        line, self._at = self._line(), end
        return line, end - at, value

    def _grow(self) -> bool:
        """Read as much again as there is of a value. False at the end of the file."""
        size = len(self._text) - self._at
        if size > _TIMES_THE_LIMIT * self._limit:
            raise self._broken(f"a value has more than {_TIMES_THE_LIMIT * self._limit:,} characters")
        has_more = False
        while len(self._text) - self._at <= 2 * size and self._read():
            has_more = True
        return has_more

    def _read(self) -> bool:
        """Read another piece, and drop the consumed text."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._line()
        self._text = self._text[self._at :] + piece
        self._at = self._counted = 0
        return True

    def _line(self) -> int:
        self._lines += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._lines

    def _broken(self, reason: str) -> InvalidInput:
        return InvalidInput(f"The JSON is broken on line {self._line():,}: {reason}. Nothing was imported.")
