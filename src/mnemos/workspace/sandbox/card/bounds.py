"""Limits on building a card: time, and whether the agent's own code may be compiled and run.

SQLite cannot be interrupted while it compiles, nor within one call of a function. A view of views of a wide
table takes it seconds to resolve, ``instr`` of two long texts minutes to run. Such code is left alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from math import prod

import apsw

from mnemos.workspace.sandbox.card.table_description import (
    TableEntry,
    TableSort,
)
from mnemos.workspace.sandbox.database import Clockwork
from mnemos.workspace.sandbox.lexer import Kind, fold, tokens, unquote


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on reading. Counts make an ordinary card fast, seconds stop what is not ordinary."""

    seconds: float = 1.0
    table_seconds: float = 0.1
    agent_seconds: float = 0.05
    """One view."""
    all_agent_seconds: float = 0.15
    whole_rows: int = 300
    """A table of no more rows is read whole."""
    sampled_rows: int = 200
    view_rows: int = 50
    cells: int = 20_000
    """Cells of a table that are read: in a wide one, those of fewer rows."""
    shown_rows: int = 3
    columns: int = 100
    """Columns of a table whose contents are looked at."""
    counted_pages: int = 75_000
    """Pages of a database in which counting every row is cheap: SQLite walks pages, not rows."""
    counted_rows: int = 10_000
    """In a larger database, rows are counted up to here."""


CARD = Bounds()
ONE_TABLE = Bounds(
    seconds=2.0, table_seconds=1.0, agent_seconds=0.2, all_agent_seconds=0.4, shown_rows=10, columns=500
)

# Instructions between two looks: a single one may handle megabytes.
LOOK_EVERY = 100
# Seconds of the call's own time reserved for writing the card.
_KEPT_BACK = 0.25


class Pace:
    """Stops a statement whose time is up; SQLite asks it while the statement runs."""

    def __init__(self, bounds: Bounds, clock: Clockwork) -> None:
        self.bounds = bounds
        self._clock = clock
        self._end = time.monotonic() + min(bounds.seconds, clock.left() * (1 - _KEPT_BACK))
        self._until = self._end
        self._agents_left = bounds.all_agent_seconds

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
    def agents_is_over(self) -> bool:
        return self.is_over or self._agents_left <= 0

    @property
    def call_is_over(self) -> bool:
        """The call as a whole was stopped: nobody waits for a card."""
        return self._clock.passed or self._clock.left() <= 0

    @contextmanager
    def table(self) -> Iterator[None]:
        """Around the reading of one table."""
        with self._within(self.bounds.table_seconds):
            yield

    @contextmanager
    def agents(self) -> Iterator[None]:
        """Around what the agent's code computes: views share one allowance."""
        began = time.monotonic()
        try:
            with self._within(min(self.bounds.agent_seconds, self._agents_left)):
                yield
        finally:
            self._agents_left -= time.monotonic() - began

    @contextmanager
    def _within(self, seconds: float) -> Iterator[None]:
        before = self._until
        self._until = min(before, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._until = before


# --- views --------------------------------------------------------------------------------------

# About 5 µs each.
_MOST_COLUMNS = 5_000
# The planner's work grows faster than their number.
_MOST_JOINED = 20
_DEEPEST = 40
_MOST_INSTRUCTIONS = 5_000
_WIDEST = 2_000
# Characters of all views that are read for a card: a thousand long ones take seconds.
_MOST_SQL = 300_000

# Functions whose time is in proportion to what they are given.
_LINEAR = frozenset(
    """-> ->> abs avg ceil ceiling coalesce concat count cume_dist date datetime dense_rank first_value floor
    group_concat hex ifnull iif json_array_length json_extract json_type json_valid julianday lag last_value
    lead length lower max min mod nth_value ntile nullif octet_length percent_rank pow power quote rank round
    row_number sign sqrt strftime string_agg substr substring sum time total trunc typeof unicode unixepoch
    upper""".split()
)
_CALLS = frozenset({"Function", "PureFunc", "AggStep", "AggStep1", "AggInverse", "AggValue", "AggFinal"})
_VIRTUAL = frozenset({"VOpen", "VFilter"})
_NAMING = frozenset({Kind.WORD, Kind.NAME, Kind.STRING})


@dataclass(frozen=True, slots=True)
class Weight:
    """The size of a view when all views in it are written out."""

    columns: int
    joined: int

    @property
    def may_be_compiled(self) -> bool:
        return self.columns <= _MOST_COLUMNS

    @property
    def may_be_run(self) -> bool:
        return self.may_be_compiled and self.joined <= _MOST_JOINED


_TOO_MUCH = Weight(_MOST_COLUMNS + 1, _MOST_JOINED + 1)


class Weights:
    """The weight of each view, judged by its statement: too much rather than too little."""

    def __init__(self, tables: Mapping[str, TableEntry]) -> None:
        self._tables = tables
        self._known: dict[str, tuple[Weight, int]] = {}
        self._unread = _MOST_SQL

    def of(self, view: TableEntry) -> Weight:
        return self._of(view, 0)[0]

    def _of(self, one: TableEntry, depth: int) -> tuple[Weight, int]:
        """Return the weight, and how many columns the view or table may have itself."""
        name = fold(one.name)
        if name not in self._known:
            # A view that is in itself, which SQLite refuses, meets this on the way.
            self._known[name] = (_TOO_MUCH, _WIDEST)
            self._known[name] = self._weigh(one, depth)
        return self._known[name]

    def _weigh(self, one: TableEntry, depth: int) -> tuple[Weight, int]:
        width = one.sql.count(",") + 1
        if one.sort is not TableSort.VIEW:
            return Weight(1, 1), _WIDEST if one.is_cut else min(width, _WIDEST)
        self._unread -= len(one.sql)
        if one.is_cut or depth > _DEEPEST or self._unread < 0:
            return _TOO_MUCH, _WIDEST
        words = _words(one.sql)
        columns, joined, below = 0, 0, 0
        for name in _find_names(words):
            found = self._tables.get(name)
            if found is None or found is one:
                continue
            weight, wide = self._of(found, depth + 1)
            columns, joined, below = columns + weight.columns, joined + weight.joined, below + wide
            if columns > _MOST_COLUMNS:
                return _TOO_MUCH, _WIDEST
        width = min(width + below * ("*" in words), _WIDEST)
        columns += width * words.count("select") + _lookup_cost(words, below)
        times = _count_repeats(words)
        return Weight(columns * times, joined * times), width


def _words(sql: str) -> list[str]:
    """Return names and signs; of a text in quotes, what a table would be called."""
    return [
        fold(unquote(token.text) if token.kind in _NAMING else token.text)
        for token in tokens(sql)
        if token.kind is not Kind.COMMENT
    ]


def _find_names(words: Sequence[str]) -> Iterator[str]:
    """Yield what may be a table or view; a word before a point is not."""
    for word, after in zip_longest(words, words[1:]):
        if after != ".":
            yield word


def _lookup_cost(words: Sequence[str], below: int) -> int:
    """Return the cost of looking for names among the columns of all tables."""
    if "natural" in words or "using" in words:
        return below * (below + len(words)) // 100
    return below * len(words) // 1_000


def _count_repeats(words: Sequence[str]) -> int:
    """Return how often parts of a WITH are written out at most: as often as they are named."""
    if "with" not in words:
        return 1
    parts = {
        name
        for before, name, after in zip(words, words[1:], words[2:], strict=False)
        if before in ("with", "recursive", ",") and after in ("as", "(")
    }
    named = Counter(word for word in _find_names(words) if word in parts)
    return min(prod(named.values()), _MOST_COLUMNS)


def find_obstacle(connection: apsw.Connection, select: str) -> str:
    """Return why a SELECT must not run; empty if SQLite keeps looking at the clock in it."""
    for number, row in enumerate(connection.execute(f"EXPLAIN {select}", can_cache=False)):
        opcode, operand = row[1], row[5]
        if number > _MOST_INSTRUCTIONS:
            return "it is too long"
        if opcode in _CALLS:
            function = str(operand).partition("(")[0]
            if fold(function) not in _LINEAR:
                return f"it calls {function}()"
        elif opcode in _VIRTUAL:
            return "it reads a virtual table"
    return ""
