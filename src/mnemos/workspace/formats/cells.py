r"""Cells of delimited text: their types, and the guard against formulas.

A number is only what can be written back unchanged. ``007``, ``+5``, `` 5``, ``1_000``, ``1e3``, ``-0`` and
numbers with more digits than a float holds stay text, and so do telephone numbers and postal codes. A whole
batch of a column is matched at once, joined by line ends, at a tenth of the cost of a test per cell.

A spreadsheet would run a text that begins with ``=``, ``+``, ``-`` or ``@`` (also as full-width forms, and
after blanks and invisible characters), or with a tab or a line end. Such a text is written with an
apostrophe before it, which spreadsheets take for "this is text". Numbers are not texts and stay unchanged.
Reading removes one apostrophe again. To make this exact, texts that already begin with apostrophes before
such a character get one more, and so do texts that look like a blob (``x'00ff'``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from math import isfinite

QUOTED_EMPTY = "\ud800"
"""Marks a quoted empty cell, which is an empty text and not NULL."""

_SHORT_INTEGERS = re.compile(r"(?:-?[1-9][0-9]{0,14}\n|0?\n)*+")
_INTEGERS = re.compile(r"(?:-?[1-9][0-9]{0,18}\n|0?\n)*+")
# Nearly all decimal numbers, at half the cost.
_SHORT_DECIMALS = re.compile(r"(?:-?(?:[1-9][0-9]{0,7}|0)(?:\.[0-9]{1,9})?\n|\n)*+")
# Floats hold 15 digits exactly, and are printed with up to 17. An exponent needs its sign and two digits, as
# programs write it, because 1e3 is more often a code. SQLite writes infinity as 9e999.
_DECIMAL = (
    r"-?(?:(?:0|[1-9][0-9]{0,14})"
    r"|(?=[0-9.]{3,18}\n)[1-9][0-9]*+\.[0-9]++"
    r"|0\.0{0,20}(?:[1-9][0-9]{0,16})?(?<!\.)"
    r"|[0-9](?:\.[0-9]{1,16})?[eE][+-][0-9]{2,3}"
    r"|9e999)"
)
_DECIMALS = re.compile(rf"(?:(?!-0\n)(?:{_DECIMAL})?\n)*+")
_LONG_EXPONENT = re.compile(r"(?m)^.*[eE][+-][0-9]{3}$")
_BLOBS = re.compile(r"(?:(?:x'(?:[0-9a-f]{2})*+')?\n)*+")
_ANY_NUMBER = re.compile(r"[-+]?[0-9][0-9.,_ ]*(?:[eE][-+]?[0-9]+)?%?")

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Kind(StrEnum):
    """Declared type of a column. ANY is for values of several types, each kept as it is."""

    INTEGER = "INTEGER"
    REAL = "REAL"
    TEXT = "TEXT"
    BLOB = "BLOB"
    ANY = ""


class Scan:
    """Narrows down the type of a column, batch by batch. Empty cells fit any type."""

    __slots__ = ("_has_long_integers", "_kind")

    def __init__(self) -> None:
        self._kind: Kind | None = None
        self._has_long_integers = False

    @property
    def kind(self) -> Kind:
        return self._kind or Kind.TEXT

    @property
    def has_values(self) -> bool:
        return self._kind is not None

    @property
    def is_settled(self) -> bool:
        """True if nothing that follows can change the type."""
        return self._kind is Kind.TEXT

    @property
    def is_number(self) -> bool:
        return self._kind in (Kind.INTEGER, Kind.REAL)

    def feed(self, cells: Sequence[str]) -> None:
        text = "\n".join(cells) + "\n"
        if text.count("\n") != len(cells):
            self._kind = Kind.TEXT
            return
        if QUOTED_EMPTY in text:
            text = text.replace(QUOTED_EMPTY, "")
        if text.count("\n") != len(text):
            self._kind = self._narrow(text)

    def _narrow(self, text: str) -> Kind:
        if self._kind in (None, Kind.INTEGER):
            if _SHORT_INTEGERS.fullmatch(text):
                return Kind.INTEGER
            if _INTEGERS.fullmatch(text) and _fit_64_bits(text):
                self._has_long_integers = True
                return Kind.INTEGER
        if self._kind is not Kind.BLOB and not self._has_long_integers and _are_decimals(text):
            return Kind.REAL
        if self._kind in (None, Kind.BLOB) and _BLOBS.fullmatch(text):
            return Kind.BLOB
        return Kind.TEXT


def resembles_number(cell: str) -> bool:
    """True for a number as people write it, which is never a header."""
    return _ANY_NUMBER.fullmatch(cell) is not None


def _are_decimals(text: str) -> bool:
    if _SHORT_DECIMALS.fullmatch(text) and "-0\n" not in text:
        return True
    return _DECIMALS.fullmatch(text) is not None and all(map(_is_in_range, _LONG_EXPONENT.findall(text)))


def _is_in_range(cell: str) -> bool:
    """True unless the number is too large for a float, or so small that it becomes 0."""
    number = float(cell)
    return isfinite(number) and (number != 0 or not cell.lower().partition("e")[0].strip("-0."))


def _fit_64_bits(text: str) -> bool:
    return all(_SMALLEST <= int(cell) <= _LARGEST for cell in text.split() if len(cell) >= 19)


_BLANKS = (
    "\\x00-\\x20\\x7f-\\xa0\\xad\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u2064\\u3000\\ufeff"
)
_FORMULA = f"[\\t\\r\\n]|[{_BLANKS}]*[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_BLOB = "x'(?:[0-9a-f]{2})*'"
_DANGER = f"(?:{_FORMULA}|{_BLOB}\\Z)"
_GUARDED = re.compile(f"'++{_DANGER}")

wants_guard = re.compile(f"'*+{_DANGER}").match
"""Matches a text that needs an apostrophe before it."""


def remove_guard(cell: str) -> str:
    """Return the text without the apostrophe that guards it."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def find_guards(delimiter: str) -> re.Pattern[str]:
    """Return an expression that finds guarded cells in a text. A quote inside of a cell may mislead it,
    harmlessly."""
    before = re.escape(delimiter) + '"\\n\\r'
    return re.compile(f"'(?<![^{before}]')'*+(?:{_FORMULA}|{_BLOB})")
