"""The contents of a table, read within bounds: how many rows, some of them, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import apsw

from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.card.bounds import (
    Pace,
    Weights,
    find_obstacle,
)
from mnemos.workspace.sandbox.card.card_text import (
    pick_spread,
)
from mnemos.workspace.sandbox.card.table_description import (
    Blob,
    Cell,
    Column,
    Contents,
    Count,
    Structure,
    TableEntry,
    TableSort,
)
from mnemos.workspace.sandbox.card.value_kinds import LONGEST as LONGEST_VALUE
from mnemos.workspace.sandbox.card.value_kinds import summarize_column
from mnemos.workspace.sandbox.lexer import fold
from mnemos.workspace.sandbox.result_rows import decode_rows, select_as_bytes

NO_TIME = "no time left"
_ROWID = ("rowid", "_rowid_", "oid")
_ROWS_A_PROBE = 4
_READABLE = frozenset({"fts5", "rtree", "rtree_i32"})
# FTS5 takes any beginning of `content`, which may name a view: reading that runs it.
_CONTENT_ELSEWHERE = re.compile(r"\bc\w*\s*=", re.IGNORECASE)


_Rows = list[tuple[Cell, ...]]


class Reader:
    """Reads the contents of tables one after the other, in one transaction."""

    def __init__(self, connection: apsw.Connection, weights: Weights, pace: Pace) -> None:
        self._connection = connection
        self._weights = weights
        self._pace = pace
        self._counts_all = connection.execute("PRAGMA page_count").get <= pace.bounds.counted_pages

    def read(self, one: TableEntry, structure: Structure) -> Contents:
        """Read everything about the rows of a table; SQLite's errors are raised."""
        unread = structure.unread or self._why_not(one)
        if unread:
            return Contents(unread=unread, is_hurried=unread == NO_TIME)
        if one.sort is TableSort.TABLE:
            with self._pace.table():
                table = _Table(self._connection, one, structure, self._pace)
                return table.read(counts_all=self._counts_all)
        with self._pace.agents() if one.sort is TableSort.VIEW else self._pace.table():
            return self._read_computed(one, structure)

    def _why_not(self, one: TableEntry) -> str:
        if self._pace.is_over or (one.sort is TableSort.VIEW and self._pace.agents_is_over):
            return NO_TIME
        if one.sort is TableSort.VIEW and not self._weights.of(one).may_be_run:
            return "too large a view"
        if one.sort is TableSort.VIRTUAL:
            if fold(one.module) not in _READABLE:
                return "a virtual table"
            if _CONTENT_ELSEWHERE.search(one.sql) or one.is_cut:
                return "its contents are elsewhere"
        return ""

    def _read_computed(self, one: TableEntry, structure: Structure) -> Contents:
        """Read the first rows of a view or virtual table; further ones are not counted."""
        bounds = self._pace.bounds
        columns = structure.columns[: bounds.columns]
        most = bounds.view_rows
        select = f"SELECT {_names(columns)} FROM {quote(one.name)} LIMIT {most + 1}"
        if one.sort is TableSort.VIEW and (why := find_obstacle(self._connection, select)):
            return Contents(unread=why)
        rows = list(_Fetch(self._connection, self._pace, len(columns)).rows(select))
        is_whole = len(rows) <= most
        if is_whole:
            count = Count(len(rows), is_exact=True)
        elif one.sort is TableSort.VIRTUAL:
            count = _count_up_to(self._connection, one.name, bounds.counted_rows)
        else:
            count = Count(most + 1, is_exact=False)
        return _summarize(columns, rows[:most], count, bounds.shown_rows, is_whole=is_whole)


class _Table:
    """An ordinary table being read, without the columns that the agent's code computes."""

    def __init__(
        self, connection: apsw.Connection, one: TableEntry, structure: Structure, pace: Pace
    ) -> None:
        self._connection = connection
        self._structure = structure
        self._bounds = pace.bounds
        self._pace = pace
        self._name = one.name
        self._table = quote(one.name)
        stored = [column for column in structure.columns if column.generated != "virtual"]
        self._columns = stored[: pace.bounds.columns]
        self._fetch = _Fetch(connection, pace, len(self._columns))

    def read(self, *, counts_all: bool) -> Contents:
        if not self._columns:
            return Contents(unread="all columns are computed")
        shown = self._bounds.shown_rows
        whole = self._at_most(self._bounds.whole_rows)
        if (count := _count_up_to(self._connection, self._name, whole)).is_exact:
            rows = self._first(whole)
            return _summarize(self._columns, rows, count, shown, is_whole=len(rows) == count.least)
        count = self._count(counts_all=counts_all)
        return _summarize(self._columns, self._sample(), count, shown, is_whole=False)

    def _at_most(self, rows: int) -> int:
        """Return how many rows to read: fewer of a wide table."""
        return min(rows, max(self._bounds.cells // len(self._columns), self._bounds.shown_rows))

    def _first(self, most: int) -> _Rows:
        select = f"SELECT {_names(self._columns)} FROM {self._table} LIMIT {most}"
        return self._read_until_stopped(self._fetch.rows(select))

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

    def _count(self, *, counts_all: bool) -> Count:
        if counts_all:
            return Count(self._connection.execute(f"SELECT count(*) FROM {self._table}").get, is_exact=True)
        return _count_up_to(self._connection, self._name, self._bounds.counted_rows)

    def _sample(self) -> _Rows:
        """Read rows from all over the table in its order, or the first where rows have no number."""
        most = self._at_most(self._bounds.sampled_rows)
        rowid = self._rowid()
        if not rowid:
            return self._first(most)
        ask = f"SELECT (SELECT min({rowid}) FROM {self._table}), (SELECT max({rowid}) FROM {self._table})"
        ((low, high),) = self._connection.execute(ask).fetchall()
        if not isinstance(low, int) or not isinstance(high, int):
            # A damaged table may have fewer rows than its indexes.
            return self._first(most)
        probes = max(most // _ROWS_A_PROBE, 2)
        high = max(high - _ROWS_A_PROBE + 1, low)
        fetch = _Fetch(self._connection, self._pace, len(self._columns) + 1)
        select = (
            f"SELECT {rowid}, {_names(self._columns)} FROM {self._table} WHERE {rowid} >= ? "
            f"ORDER BY {rowid} LIMIT {_ROWS_A_PROBE}"
        )
        at = (low + (high - low) * probe // (probes - 1) for probe in range(probes))
        found = self._read_until_stopped(row for start in at for row in fetch.rows(select, (start,)))
        # Where numbers are far apart, two probes find the same rows.
        return list({row[0]: row[1:] for row in found}.values())


class _Fetch:
    """Rows with long texts cut and blobs measured, one at a time: a row may have megabytes."""

    def __init__(self, connection: apsw.Connection, pace: Pace, columns: int) -> None:
        self._connection = connection
        self._pace = pace
        self._columns = columns
        self._is_undecodable = False

    def rows(self, select: str, bindings: Sequence[Any] = ()) -> Iterator[tuple[Cell, ...]]:
        given = 0
        if not self._is_undecodable:
            try:
                for row in self._run(select, bindings):
                    yield tuple(map(_short, row))
                    given += 1
            except UnicodeDecodeError:
                self._is_undecodable = True
            else:
                return
        cursor = self._run(select_as_bytes(select, self._columns), bindings)
        for values in islice(decode_rows(cursor, self._columns), given, None):
            yield tuple(map(_short, values))

    def _run(self, select: str, bindings: Sequence[Any]) -> Any:
        cursor = self._connection.execute(select, bindings)
        try:
            for row in cursor:
                yield row
                self._pace.check()
        finally:
            cursor.close(force=True)


def _short(value: Any) -> Cell:
    if isinstance(value, str):
        return value[:LONGEST_VALUE]
    cell: Cell = Blob(len(value)) if isinstance(value, bytes) else value
    return cell


def _count_up_to(connection: apsw.Connection, table: str, most: int) -> Count:
    found = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM {quote(table)} LIMIT {most + 1})").get
    return Count(found, is_exact=found <= most)


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(quote(column.name) for column in columns)


def _summarize(
    columns: Sequence[Column], rows: _Rows, count: Count, shown: int, *, is_whole: bool
) -> Contents:
    return Contents(
        count=count,
        sampled=len(rows),
        is_whole=is_whole,
        seen={
            column.name: summarize_column(column, [row[place] for row in rows])
            for place, column in enumerate(columns)
        },
        rows=tuple(pick_spread(rows, shown)),
        columns=tuple(column.name for column in columns),
    )
