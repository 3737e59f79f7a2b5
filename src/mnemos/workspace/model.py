"""What the workspace answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class StatementResult:
    """What one statement of a call gave."""

    statement: str
    """Its text, of a long one the beginning."""
    columns: list[str]
    rows: list[Sequence[Any]]
    changes: int
    """Rows inserted, updated or deleted, by triggers too."""
    truncated: bool
    """There are further rows."""

    @property
    def row_count(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave. ``columns`` and ``rows`` are those of the last statement that returns rows."""

    results: list[StatementResult]
    changes: int
    elapsed_ms: float
    size_bytes: int
    offset: int = 0
    warnings: list[str] = field(default_factory=list)
    wrote: bool = False
    schema_changed: bool = False

    @property
    def last(self) -> StatementResult | None:
        return next((result for result in reversed(self.results) if result.columns), None)

    @property
    def columns(self) -> list[str]:
        return self.last.columns if self.last else []

    @property
    def rows(self) -> list[Sequence[Any]]:
        return self.last.rows if self.last else []

    @property
    def row_count(self) -> int:
        return len(self.rows)

    @property
    def truncated(self) -> bool:
        return any(result.truncated for result in self.results)

    @property
    def next_offset(self) -> int | None:
        """Where the next page begins; None when there is none, or when asking again would write again."""
        last = self.last
        if last is None or not last.truncated or self.wrote or last is not self.results[-1]:
            return None
        return self.offset + last.row_count


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    name: str
    size_bytes: int
    limit_bytes: int
    used_at: float
    """When its file last changed or was read by a call, whichever is known."""
    snapshots: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    name: str
    size_bytes: int
    made_at: float


@dataclass(frozen=True, slots=True)
class Card:
    """The schema card of a database: as text for a prompt, and as data."""

    text: str
    tables: list[dict[str, Any]]
    more: int = 0
    """Tables that found no room in it."""


@dataclass(frozen=True, slots=True)
class Exported:
    path: Path
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Imported:
    table: str
    created: bool
    rows: int
    """Rows that were inserted or updated."""
    bad: list[tuple[int, str]]
    """Lines that were left out, with the reason: the first of them."""
    bad_count: int
    columns: list[tuple[str, str]]
    """Names and types."""
    notes: list[str] = field(default_factory=list)
