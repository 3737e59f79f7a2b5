"""The contents of a table, read within bounds: how many rows, some of them, and what they hold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw

from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.card.table_description import (
    Blob,
    Cell,
    Column,
    Contents,
    Structure,
    TableEntry,
)
from mnemos.workspace.sandbox.card.value_kinds import LONGEST as LONGEST_VALUE
from mnemos.workspace.sandbox.card.value_kinds import summarize_column
from mnemos.workspace.sandbox.database import Clockwork
from mnemos.workspace.sandbox.lexer import fold
from mnemos.workspace.sandbox.result_rows import decode_rows, select_as_bytes

_ROWID = ("rowid", "_rowid_", "oid")
_ROWS_A_PROBE = 4
# Seconds of the call's own time reserved for writing the card.
_KEPT_BACK = 0.25


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on reading. Counts make an ordinary card fast, seconds stop what is not ordinary."""

    seconds: float = 1.0
    table_seconds: float = 0.1
    whole_rows: int = 300
    """A table of no more rows is read whole."""
    sampled_rows: int = 200
    cells: int = 20_000
    """Cells of a table that are read: in a wide one, those of fewer rows."""
    shown_rows: int = 3
    columns: int = 100
    """Columns of a table whose contents are looked at."""


CARD = Bounds()
ONE_TABLE = Bounds(seconds=2.0, table_seconds=1.0, shown_rows=10, columns=500)


class Pace:
    """Stops a statement whose time is up; SQLite asks it while the statement runs."""

    def __init__(self, bounds: Bounds, clock: Clockwork) -> None:
        self.bounds = bounds
        self._clock = clock
        self._end = time.monotonic() + min(bounds.seconds, clock.left() * (1 - _KEPT_BACK))
        self._until = self._end

    def __call__(self) -> bool:
        return time.monotonic() > self._until

    def check(self) -> None:
        """Between rows: a statement of few instructions ends before SQLite asks."""
        if self():
            raise apsw.InterruptError("interrupted")

    @property
    def is_over(self) -> bool:
        """No time is left for any further table."""
        return time.monotonic() > self._end

    @property
    def call_is_over(self) -> bool:
        """The call as a whole was stopped: nobody waits for a card."""
        return self._clock.passed or self._clock.left() <= 0

    @contextmanager
    def table(self) -> Iterator[None]:
        """Around the reading of one table."""
        self._until = min(self._end, time.monotonic() + self.bounds.table_seconds)
        try:
            yield
        finally:
            self._until = self._end


def pick_spread(rows: Sequence[Any], most: int) -> list[Any]:
    """Return rows from all over, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[place * (len(rows) - 1) // max(most - 1, 1)] for place in range(most)]


_Rows = list[tuple[Cell, ...]]


class TableReader:
    """Reads an ordinary table, without the columns that the agent's code computes."""

    def __init__(
        self, connection: apsw.Connection, one: TableEntry, structure: Structure, pace: Pace
    ) -> None:
        self._connection = connection
        self._structure = structure
        self._bounds = pace.bounds
        self._pace = pace
        self._table = quote(one.name)
        stored = [column for column in structure.columns if column.generated != "virtual"]
        self._columns = stored[: pace.bounds.columns]

    def read(self) -> Contents:
        if not self._columns:
            return Contents(unread="all columns are computed")
        whole = self._at_most(self._bounds.whole_rows)
        count: int = self._connection.execute(f"SELECT count(*) FROM {self._table}").get
        rows = self._read_first(whole) if count <= whole else self._sample()
        return Contents(
            count=count,
            sampled=len(rows),
            is_whole=len(rows) == count,
            seen={
                column.name: summarize_column(column, [row[place] for row in rows])
                for place, column in enumerate(self._columns)
            },
            rows=tuple(pick_spread(rows, self._bounds.shown_rows)),
            columns=tuple(column.name for column in self._columns),
        )

    def _at_most(self, rows: int) -> int:
        """Return how many rows to read: fewer of a wide table."""
        return min(rows, max(self._bounds.cells // len(self._columns), self._bounds.shown_rows))

    def _read_first(self, most: int) -> _Rows:
        select = f"SELECT {_names(self._columns)} FROM {self._table} LIMIT {most}"
        return self._read_until_stopped(_fetch(self._connection, self._pace, select, len(self._columns)))

    def _read_until_stopped(self, rows: Iterator[tuple[Cell, ...]]) -> _Rows:
        """Return the rows that can be read in time, one at least."""
        found = []
        try:
            for row in rows:
                found.append(row)
        except apsw.InterruptError:
            if not found or self._pace.call_is_over:
                raise
        return found

    def _rowid(self) -> str:
        """Return the name of the row number in this table; empty when rows have none."""
        taken = {fold(column.name) for column in self._structure.columns}
        name = next((name for name in _ROWID if name not in taken), "")
        if name:
            try:
                self._connection.execute(f"SELECT {name} FROM {self._table} LIMIT 0")
            except apsw.SQLError:
                return ""
        return name

    def _sample(self) -> _Rows:
        """Read rows from all over the table in its order, or the first where rows have no number."""
        most = self._at_most(self._bounds.sampled_rows)
        rowid = self._rowid()
        if not rowid:
            return self._read_first(most)
        ask = f"SELECT (SELECT min({rowid}) FROM {self._table}), (SELECT max({rowid}) FROM {self._table})"
        ((low, high),) = self._connection.execute(ask).fetchall()
        if not isinstance(low, int) or not isinstance(high, int):
            # A damaged table may have fewer rows than its indexes.
            return self._read_first(most)
        probes = max(most // _ROWS_A_PROBE, 2)
        high = max(high - _ROWS_A_PROBE + 1, low)
        select = (
            f"SELECT {rowid}, {_names(self._columns)} FROM {self._table} WHERE {rowid} >= ? "
            f"ORDER BY {rowid} LIMIT {_ROWS_A_PROBE}"
        )
        width = len(self._columns) + 1
        at = (low + (high - low) * probe // (probes - 1) for probe in range(probes))
        found = self._read_until_stopped(
            row for start in at for row in _fetch(self._connection, self._pace, select, width, (start,))
        )
        # Where numbers are far apart, two probes find the same rows.
        return list({row[0]: row[1:] for row in found}.values())


def _fetch(
    connection: apsw.Connection, pace: Pace, select: str, columns: int, bindings: Sequence[Any] = ()
) -> Iterator[tuple[Cell, ...]]:
    """Yield rows with long texts cut and blobs measured, one at a time: a row may have megabytes."""
    given = 0
    try:
        for row in _run(connection, pace, select, bindings):
            yield tuple(map(_short, row))
            given += 1
    except UnicodeDecodeError:
        cursor = _run(connection, pace, select_as_bytes(select, columns), bindings)
        for values in islice(decode_rows(cursor, columns), given, None):
            yield tuple(map(_short, values))


def _run(connection: apsw.Connection, pace: Pace, select: str, bindings: Sequence[Any]) -> Any:
    cursor = connection.execute(select, bindings)
    try:
        for row in cursor:
            yield row
            pace.check()
    finally:
        cursor.close(force=True)


def _short(value: Any) -> Cell:
    if isinstance(value, str):
        return value[:LONGEST_VALUE]
    cell: Cell = Blob(len(value)) if isinstance(value, bytes) else value
    return cell


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(quote(column.name) for column in columns)
