"""JSON cut into the elements that rows are made of: lines, an array, or an array inside of an object.

The text is scanned by expressions that know strings, escapes and brackets and nothing else of JSON. Only the
end of an element matters here, so that a broken element is reported with its line and the next one is still
found. Missing and surplus commas are tolerated. No more than one element is held, and none that exceeds the
limit.

Values in the table:

===================  ===========================================================================
true, false          1, 0
null, missing key    NULL
object, array        its JSON as text; ``{"$blob": "<base64>"}`` is a blob
integer              itself; one beyond 64 bits makes its column TEXT
Infinity, NaN        the infinities as numbers, NULL
===================  ===========================================================================

Integers and decimal numbers together make a REAL column if floats can hold them. Other mixtures make a column
without a type, in which values are not changed.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import msgspec

from mnemos.errors import InvalidInput
from mnemos.workspace.formats.columns import BadLines, Kind, Value
from mnemos.workspace.formats.source import CUT, split_lines

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = r'[^"\[\]{}]*+'
_SCALAR = r'[^\s,:"\[\]{}]'


def _nest(levels: int) -> str:
    """Return an expression for text whose brackets are all closed, nested up to ``levels`` deep."""
    inner = rf"|[\[{{]{_nest(levels - 1)}[\]}}]" if levels else ""
    return rf"{_PLAIN}(?:(?:{_STRING}{inner}){_PLAIN})*+"


# Deeper nesting is followed bracket by bracket, which is slower.
_LEVELS = 6
_inside_brackets = re.compile(_nest(_LEVELS), re.DOTALL).match
_whole_value = re.compile(rf"[\[{{]{_nest(_LEVELS)}[\]}}]|{_STRING}|{_SCALAR}++(?=.)", re.DOTALL).match
# Stops at the end of the text, and before a backslash whose other half is not read yet.
_inside_string = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL).match
_openings = re.compile(r"[\[{]++").match
_scalar = re.compile(rf"{_SCALAR}*+").match
_gap = re.compile(r"[ \t\r\n,]*+").match
_NOT_AN_ELEMENT = ("", "]", "}", ":")

BLOB_KEY = "$blob"
_CONSTANTS: dict[str, float | None] = {"Infinity": inf, "-Infinity": -inf, "NaN": None}

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_EXACT = 2**53
_NUMBERS = {int, float, bool}
_TEXTS = {str, list, dict}

# A pair of surrogates, half of one, or any other escape: in \\ud800 the backslash is one.
_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]|[\]}]', re.DOTALL)
# Python's own stack ends soon after 900.
_DEEPEST = 400

_decode: Callable[[str], Any] = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


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
                raise InvalidInput(f"line {self.line():,}: the JSON object is broken. Nothing was read.")
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


class BadElement(ValueError):
    """An element is not usable. The message says why."""


def decode_all(raws: Sequence[str]) -> list[Any]:
    """Decode all quickly. BadElement if one is bad or needs ``decode_leniently``."""
    if max(map(len, raws)) > 2 * _DEEPEST and any(map(_is_deep, raws)):
        raise BadElement
    try:
        return list(map(_decode, raws))
    except (msgspec.DecodeError, RecursionError) as exc:
        raise BadElement from exc


def decode_leniently(raw: str) -> Any:
    """Decode JSON and what programs write beyond it: NaN, infinities, half surrogate pairs."""
    if _is_deep(raw):
        raise BadElement(f"nested more than {_DEEPEST} levels deep")
    try:
        return _decode(raw)
    except (msgspec.DecodeError, RecursionError) as exc:
        refused = exc
    try:
        return json.loads(_ESCAPES.sub(_replace_half, raw), parse_constant=_CONSTANTS.__getitem__)
    except (ValueError, RecursionError):
        raise BadElement(f"not JSON: {refused}") from refused


def _replace_half(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def _is_deep(raw: str) -> bool:
    if len(raw) <= 2 * _DEEPEST or raw.count("[") + raw.count("{") <= _DEEPEST:
        return False
    depth = 0
    for found in _BRACKETS.finditer(raw):
        character = found[0][0]
        if character != '"':
            depth += 1 if character in "[{" else -1
            if depth > _DEEPEST:
                return True
    return False


class ValueScan:
    """Narrows down the type of a column, batch by batch."""

    __slots__ = ("_blobs", "_highest", "_lowest", "_other_objects", "_types")

    def __init__(self) -> None:
        self._types: set[type] = set()
        self._lowest = 0
        self._highest = 0
        self._blobs = False
        self._other_objects = False

    def feed(self, values: Sequence[Any]) -> None:
        types = set(map(type, values))
        self._types |= types
        if int in types:
            integers = values if types == {int} else [value for value in values if type(value) is int]
            self._lowest = min(self._lowest, min(integers))
            self._highest = max(self._highest, max(integers))
        if dict in types:
            blobs = {_decode_blob(value) is not None for value in values if type(value) is dict}
            self._blobs = self._blobs or True in blobs
            self._other_objects = self._other_objects or False in blobs

    @property
    def kind(self) -> Kind:
        types = self._types - {type(None)}
        if types and types <= _NUMBERS:
            return self._kind_of_numbers(types)
        if self._blobs:
            return Kind.BLOB if types == {dict} and not self._other_objects else Kind.ANY
        return Kind.TEXT if types and types <= _TEXTS else Kind.ANY

    @property
    def is_number(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.REAL)

    @property
    def is_settled(self) -> bool:
        return False

    @property
    def converter(self) -> Callable[[Any], Value] | None:
        """The conversion of a value. None if SQLite takes all of them unchanged."""
        if self.kind is Kind.TEXT and self._types & _NUMBERS:
            return lambda value: value if value is None else str(int(value) if type(value) is bool else value)
        if self._types & {dict, list} or self._has_big_integers:
            return storable
        return None

    @property
    def _has_big_integers(self) -> bool:
        return self._lowest < _SMALLEST or self._highest > _LARGEST

    def _kind_of_numbers(self, types: set[type]) -> Kind:
        if self._has_big_integers:
            return Kind.TEXT
        if float not in types:
            return Kind.INTEGER
        return Kind.REAL if max(self._highest, -self._lowest) <= _EXACT else Kind.ANY


def _decode_blob(value: dict[str, Any]) -> bytes | None:
    """Return the blob that an object stands for. None for any other object."""
    text = value.get(BLOB_KEY) if len(value) == 1 else None
    if type(text) is not str:
        return None
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return None


def storable(value: Any) -> Value:
    """Return a JSON value as SQLite stores it."""
    if type(value) is dict:
        blob = _decode_blob(value)
        return _encode(value).decode() if blob is None else blob
    if type(value) is list:
        return _encode(value).decode()
    if type(value) is int and not _SMALLEST <= value <= _LARGEST:
        return str(value)
    return value  # type: ignore[no-any-return]
