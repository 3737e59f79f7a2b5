"""What a file of rows looks like to an import: columns, batches of values, and the lines left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

Value = None | int | float | str | bytes
Row = Sequence[Value]
OnProgress = Callable[[float], None]


class Kind(StrEnum):
    """The type that a column is declared with. ANY: values of several types, each kept as it is."""

    INTEGER = "INTEGER"
    REAL = "REAL"
    TEXT = "TEXT"
    BLOB = "BLOB"
    ANY = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold. Whoever opens it passes what the database behind it can take."""

    size: int = 500_000_000
    """Bytes, once unpacked."""
    item: int = 4_000_000
    """Bytes of a line, a cell, a row or a JSON element: longer ones are bad lines."""
    columns: int = 2_000
    name: int = 128
    """Characters of a column's name; longer ones are cut."""
    whole: int = 8_000_000
    """Bytes of a JSON object that has to be held at once, because its columns follow each other."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Kind


@dataclass(frozen=True, slots=True)
class BadLine:
    """A record that was left out. ``number``: the line of the file on which it begins, from 1."""

    number: int
    reason: str


@dataclass(slots=True)
class BadLines:
    """The first bad lines, and how many there were."""

    kept: list[BadLine] = field(default_factory=list)
    total: int = 0

    MOST = 20

    def add(self, number: int, reason: str) -> None:
        self.total += 1
        if len(self.kept) < self.MOST:
            self.kept.append(BadLine(number, reason))


class Table(Protocol):
    """A file whose columns, types, rows and bad lines are known, because all of it was read once."""

    format: str
    encoding: str
    columns: tuple[Column, ...]
    rows: int
    """How many rows ``batches`` will give."""
    bad: list[BadLine]
    """The first 20 records that were left out, in the order of the file."""
    bad_total: int
    notes: list[str]
    """What was decided that the file does not say, in sentences for people."""
    empty_is_null: bool
    """An empty text in ``batches`` stands for NULL: insert ``NULLIF(?, '')`` and not ``?``.

    Texts of INTEGER and REAL columns are left for the column's affinity to convert, which is several
    times faster than Python.
    """

    def batches(self) -> Iterator[Sequence[Row]]:
        """The rows in the order of the file, some hundred kilobytes at a time.

        Each call reads the file again from its beginning; only one may be under way.
        """


def row_size(row: Row) -> int:
    """About the bytes that a row takes in a table, and not less."""
    return 10 * len(row) + sum(
        len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else len(value)
        for value in row
        if isinstance(value, str | bytes)
    )
