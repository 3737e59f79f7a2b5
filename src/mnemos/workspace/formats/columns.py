r"""Columns of a file: their types and names, the guard against formulas, limits and bad lines.

A number is only what can be written back unchanged. ``007``, ``+5``, `` 5``, ``1_000``, ``1e3``, ``-0`` and
numbers with more digits than a float holds stay text, and so do telephone numbers and postal codes. A whole
batch of a column is matched at once, joined by line ends, at a tenth of the cost of a test per cell.

A spreadsheet would run a text that begins with ``=``, ``+``, ``-`` or ``@`` (also as full-width forms, and
after blanks and invisible characters), or with a tab or a line end. Such a text is written with an
apostrophe before it, which spreadsheets take for "this is text". Numbers are not texts and stay unchanged.
Reading removes one apostrophe again. To make this exact, texts that already begin with apostrophes before
such a character get one more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from math import isfinite
from typing import Any, Protocol

from mnemos.errors import TooLarge

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
_ANY_NUMBER = re.compile(r"[-+]?[0-9][0-9.,_ ]*(?:[eE][-+]?[0-9]+)?%?")

SMALLEST, LARGEST = -(2**63), 2**63 - 1

_BLANKS = (
    "\\x00-\\x20\\x7f-\\xa0\\xad\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u2064\\u3000\\ufeff"
)
_FORMULA = f"[\\t\\r\\n]|[{_BLANKS}]*[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_GUARDED = re.compile(f"'++(?:{_FORMULA})")

wants_guard = re.compile(f"'*+(?:{_FORMULA})").match
"""Matches a text that needs an apostrophe before it."""

Value = None | int | float | str | bytes
Row = Sequence[Value]

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
# Dates, times, e-mail and web addresses are values, not names.
_VALUE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}:\d\d.*|[^@\s]+@[^@\s]+\.\w+|\w+://.*", re.DOTALL
)
_YEAR = re.compile(r"(?:19|20)\d\d")
# A longer first cell is prose.
_LONGEST_NAME = 100
# Records after the first that are compared with it, and characters of their cells.
FOLLOWING = 200
COMPARED = _LONGEST_NAME + 1


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
        if text.count("\n") != len(text):
            self._kind = self._narrow(text)

    def _narrow(self, text: str) -> Kind:
        if self._kind in (None, Kind.INTEGER):
            if _SHORT_INTEGERS.fullmatch(text):
                return Kind.INTEGER
            if _INTEGERS.fullmatch(text) and _fit_64_bits(text):
                self._has_long_integers = True
                return Kind.INTEGER
        if not self._has_long_integers and _are_decimals(text):
            return Kind.REAL
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
    return all(SMALLEST <= int(cell) <= LARGEST for cell in text.split() if len(cell) >= 19)


def remove_guard(cell: str) -> str:
    """Return the text without the apostrophe that guards it."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def find_guards(delimiter: str) -> re.Pattern[str]:
    """Return an expression that finds guarded cells in a text. A quote inside of a cell may mislead it,
    harmlessly."""
    before = re.escape(delimiter) + '"\\n\\r'
    return re.compile(f"'(?<![^{before}]')'*+(?:{_FORMULA})")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a file, from what the database can take."""

    size: int = 500_000_000
    """Bytes after decompression."""
    item: int = 4_000_000
    """Bytes of a line, a cell, a row or a JSON element. Longer ones are bad lines."""
    columns: int = 2_000
    name: int = 128
    """Characters of a column name. Longer ones are cut."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Kind


@dataclass(frozen=True, slots=True)
class BadLine:
    """A record that was left out. ``number`` is the line on which it begins, from 1."""

    number: int
    reason: str


@dataclass(slots=True)
class BadLines:
    """The first bad lines, and how many there are."""

    kept: list[BadLine] = field(default_factory=list)
    total: int = 0

    MOST = 20

    def add(self, number: int, reason: str) -> None:
        self.total += 1
        if len(self.kept) < self.MOST:
            self.kept.append(BadLine(number, reason))


class Table(Protocol):
    """A file that was read once, so that its columns, types, rows and bad lines are known."""

    format: str
    encoding: str
    columns: tuple[Column, ...]
    rows: int
    """Number of rows that ``batches`` yields."""
    bad: list[BadLine]
    """The first 20 records that were left out, in the order of the file."""
    bad_total: int
    notes: list[str]
    """Sentences for people about what was guessed."""
    empty_is_null: bool
    """True if an empty text in ``batches`` is NULL: insert ``NULLIF(?, '')`` and not ``?``.

    Numbers in INTEGER and REAL columns may be texts. The column's affinity converts them several times
    faster than Python.
    """

    def batches(self) -> Iterator[Sequence[Row]]:
        """Yield the rows in the order of the file, some hundred kilobytes at a time.

        Each call reads the file again from its beginning. Only one call may be under way.
        """


def row_size(row: Row) -> int:
    """Return about the bytes that a row takes in a table, and not less."""
    return 10 * len(row) + sum(
        len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else len(value)
        for value in row
        if isinstance(value, str | bytes)
    )


def clean_names(names: Iterable[str], limits: Limits) -> list[str]:
    """Return distinct, stripped and bounded names. An empty one becomes ``column_3``.

    SQLite ignores the case of names, so ``ID`` after ``id`` becomes ``ID_2``.
    """
    given = list(names)
    check_count(len(given), limits)
    plain = [
        " ".join(_UNPRINTABLE.sub(" ", name[: limits.name * 4]).split())[: limits.name] for name in given
    ]
    return make_distinct(
        [name.strip() or f"column_{place}" for place, name in enumerate(plain, 1)], longest=limits.name
    )


def make_distinct(names: Iterable[str], *, longest: int = 1_000) -> list[str]:
    """Return names that differ in more than case: ``name``, ``name_2``, ``name_3``."""
    taken: dict[str, int] = {}
    return [_add_number(name, taken, longest) for name in names]


def check_count(columns: int, limits: Limits) -> int:
    if columns > limits.columns:
        raise TooLarge(
            f"The file has {columns:,} columns. A table has at most {limits.columns:,}: leave some "
            "out, or turn columns into rows."
        )
    return columns


class Survey:
    """Results of the first pass: how many rows, their types, and whether the first one names the columns.

    With ``may_name``, the first row is held back until that is known.
    """

    def __init__(self, new_scan: Callable[[], Any], *, may_name: bool) -> None:
        self._new_scan = new_scan
        self._may_name = may_name
        self.scans: list[Any] = []
        self.count = 0
        self.first: Sequence[Any] = ()
        self._following: list[list[str | None]] = []

    def feed(self, rows: list[Any]) -> None:
        self.count += len(rows)
        if self._may_name:
            if rows and not self.first:
                self.first = rows.pop(0)
            some = rows[: FOLLOWING - len(self._following)]
            self._following += [
                [cell[:COMPARED] if isinstance(cell, str) else None for cell in row] for row in some
            ]
        self._scan(rows)

    def find_header(self, *, asked: bool | None, read: Callable[[str], str] = str) -> list[str] | None:
        """Return the names in the first row, or None if it is data. ``read`` gives the text of a cell."""
        if not self._may_name:
            return None
        texts = [read(cell) if isinstance(cell, str) else cell for cell in self.first]
        if asked if asked is not None else self._looks_like_header(texts, read):
            return ["" if text is None else str(text) for text in texts]
        self._scan([self.first])
        return None

    def _looks_like_header(self, texts: Sequence[Any], read: Callable[[str], str]) -> bool:
        following = [[cell and read(cell) for cell in row] for row in self._following]
        are_numbers = [scan.is_number for scan in self.scans]
        are_texts = all(isinstance(text, str) for text in texts)
        return are_texts and looks_like_header(texts, are_numbers, following)

    def _scan(self, rows: Sequence[Sequence[Any]]) -> None:
        width = len(rows[0]) if rows else len(self.first)
        self.scans += [self._new_scan() for _ in range(width - len(self.scans))]
        for scan, cells in zip(self.scans, zip(*rows, strict=True), strict=False):
            if not scan.is_settled:
                scan.feed(cells)


def looks_like_header(
    first: Sequence[str], are_numbers: Sequence[bool], following: Sequence[Sequence[str | None]]
) -> bool:
    """True if a record names the columns under it.

    ``are_numbers`` says for each column whether all values below are numbers. ``following`` are the next
    records.
    """
    cells = [cell.strip() for cell in first]
    named = [cell for cell in cells if cell]
    if not named:
        return False
    if any(
        is_number and cell and not resembles_number(cell)
        for cell, is_number in zip(cells, are_numbers, strict=True)
    ):
        return True
    figures = [cell for cell in named if resembles_number(cell)]
    if figures:
        return len(figures) < len(named) and _are_years(figures)
    if any(len(cell) > _LONGEST_NAME or _VALUE.fullmatch(cell) for cell in named):
        return False
    if len({cell.lower() for cell in named}) < len(named):
        return False
    return not _recur(first, following)


def _recur(first: Sequence[str], following: Sequence[Sequence[str | None]]) -> bool:
    """True if more than half of the cells are values further down, so that they are values here, too."""
    again = sum(
        bool(cell) and any(record[place] == cell for record in following) for place, cell in enumerate(first)
    )
    return again * 2 > len(first)


def _are_years(cells: Sequence[str]) -> bool:
    """True for the columns of a table over several years."""
    if not all(map(_YEAR.fullmatch, cells)):
        return False
    years = [int(cell) for cell in cells]
    steps = {after - before for before, after in pairwise(years)}
    return len(steps) == 1 and steps != {0}


def _add_number(name: str, taken: dict[str, int], longest: int) -> str:
    """Return a name that is not taken yet. ``taken`` has the last number tried for each name."""
    key = name.lower()
    if key not in taken:
        taken[key] = 1
        return name
    while True:
        taken[key] += 1
        ending = f"_{taken[key]}"
        candidate = name[: longest - len(ending)] + ending
        if candidate.lower() not in taken:
            taken[candidate.lower()] = 1
            return candidate
