"""Columns, rows and bad lines of a file, and the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from mnemos.errors import TooLarge
from mnemos.workspace.formats.cells import Kind, resembles_number

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
    whole: int = 8_000_000
    """Characters of a JSON object of columns, which has to be in memory at once."""


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
            f"the file has {columns:,} columns; a table has at most {limits.columns:,}: leave some "
            "out, or turn columns into rows"
        )
    return columns


def looks_like_header(
    first: Sequence[str], are_numbers: Sequence[bool], following: Sequence[Sequence[str]]
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


def _recur(first: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
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
