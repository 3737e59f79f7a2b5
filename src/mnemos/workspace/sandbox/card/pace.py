"""How long the card may take: over all, for one table, and for what the agent's own code does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import apsw

from mnemos.workspace.sandbox.database import Clockwork


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read. Counts make an ordinary card fast; seconds stop what is not ordinary."""

    seconds: float = 1.0
    table_seconds: float = 0.1
    agent_seconds: float = 0.05
    """One view, or the computed columns of one table."""
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
# What is left of the call's own time for writing the card down.
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
        """Around what the agent's code computes: views and generated columns share one allowance."""
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
