r"""What the texts of a column are: integers, decimal numbers, blobs, or just text.

A number is only what comes back as it was written. ``007``, ``+5``, `` 5``, ``1_000``, ``1e3``, ``-0`` and
what has more digits than a float carries stay text, and so do telephone numbers and postal codes.

A whole batch of a column is matched at once, joined by line ends: a tenth of the cost of a test per cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

from mnemos.workspace.formats.model import Kind

QUOTED_EMPTY = "\ud800"
"""Stands for "" in a file that tells an empty text from no value."""

_SHORT_INTEGERS = re.compile(r"(?:-?[1-9][0-9]{0,14}\n|0?\n)*+")
_INTEGERS = re.compile(r"(?:-?[1-9][0-9]{0,18}\n|0?\n)*+")
# Nearly all decimal numbers, at half of the cost.
_SHORT_DECIMALS = re.compile(r"(?:-?(?:[1-9][0-9]{0,7}|0)(?:\.[0-9]{1,9})?\n|\n)*+")
# Up to 15 digits are exact as a float; up to 17 with a point are how floats are printed. An exponent needs
# its sign and two digits, as programs write it: 1e3 is more often a code. SQLite writes infinity as 9e999.
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


class Scan:
    """Narrows down what a column holds, batch by batch. Empty cells are any kind."""

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
        """Text stays text, whatever follows."""
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
            self._kind = self._narrowed(text)

    def _narrowed(self, text: str) -> Kind:
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
    """A number as people write it, which no header would be."""
    return _ANY_NUMBER.fullmatch(cell) is not None


def _are_decimals(text: str) -> bool:
    if _SHORT_DECIMALS.fullmatch(text) and "-0\n" not in text:
        return True
    return _DECIMALS.fullmatch(text) is not None and all(map(_is_in_range, _LONG_EXPONENT.findall(text)))


def _is_in_range(cell: str) -> bool:
    """Neither too large for a float nor so small that nothing is left of it."""
    number = float(cell)
    return isfinite(number) and (number != 0 or not cell.lower().partition("e")[0].strip("-0."))


def _fit_64_bits(text: str) -> bool:
    return all(_SMALLEST <= int(cell) <= _LARGEST for cell in text.split() if len(cell) >= 19)
