"""Values of JSON columns: decoded, typed, and converted for SQLite.

===================  ===========================================================================
true, false          1, 0
null, missing key    NULL
object, array        its JSON as text; ``{"$blob": "<base64>"}`` is a blob
integer              itself; one beyond 64 bits makes its column TEXT
"Infinity", NaN      the infinities as numbers in a column of numbers; NaN is NULL, as in SQLite
===================  ===========================================================================

Integers and decimal numbers together make a REAL column if floats can hold them. Other mixtures make a column
without a type, in which every value stays as it is.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import msgspec

from mnemos.workspace.formats.cells import Kind
from mnemos.workspace.formats.columns import Value

BLOB_KEY = "$blob"
INFINITIES = {"Infinity": inf, "-Infinity": -inf}
_CONSTANTS: dict[str, float | None] = {**INFINITIES, "NaN": None}

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

    __slots__ = ("_blobs", "_highest", "_infinities", "_lowest", "_other_objects", "_other_texts", "_types")

    def __init__(self) -> None:
        self._types: set[type] = set()
        self._lowest = 0
        self._highest = 0
        self._infinities = False
        self._other_texts = False
        self._blobs = False
        self._other_objects = False

    def feed(self, values: Sequence[Any]) -> None:
        types = set(map(type, values))
        self._types |= types
        if int in types:
            integers = values if types == {int} else [value for value in values if type(value) is int]
            self._lowest = min(self._lowest, min(integers))
            self._highest = max(self._highest, max(integers))
        if str in types and not self._other_texts:
            texts = {value for value in values if type(value) is str}
            self._infinities = self._infinities or not texts.isdisjoint(INFINITIES)
            self._other_texts = not texts <= INFINITIES.keys()
        if dict in types:
            blobs = {_decode_blob(value) is not None for value in values if type(value) is dict}
            self._blobs = self._blobs or True in blobs
            self._other_objects = self._other_objects or False in blobs

    @property
    def kind(self) -> Kind:
        types = self._types - {type(None)}
        if types and types <= _NUMBERS | ({str} if self._are_infinities else set()):
            return self._kind_of_numbers(types)
        if self._blobs:
            return Kind.BLOB if types == {dict} and not self._other_objects else Kind.ANY
        return Kind.TEXT if types and types <= _TEXTS else Kind.ANY

    @property
    def is_number(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.REAL)

    @property
    def converter(self) -> Callable[[Any], Value] | None:
        """The conversion of a value. None if SQLite takes all of them unchanged."""
        kind = self.kind
        if kind is Kind.REAL and self._infinities:
            return lambda value: INFINITIES.get(value, value) if type(value) is str else value
        if kind is Kind.TEXT and self._types & _NUMBERS:
            return lambda value: value if value is None else str(int(value) if type(value) is bool else value)
        if self._types & {dict, list} or self._has_big_integers:
            return storable
        return None

    @property
    def _are_infinities(self) -> bool:
        """True if there are decimal numbers, and all texts beside them stand for infinities."""
        return self._infinities and not self._other_texts and float in self._types

    @property
    def _has_big_integers(self) -> bool:
        return self._lowest < _SMALLEST or self._highest > _LARGEST

    def _kind_of_numbers(self, types: set[type]) -> Kind:
        if self._has_big_integers:
            return Kind.TEXT
        if not types & {float, str}:
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
