"""Answers of the workspace, and the replies of a worker that they are made of.

A reply is checked against its shape: the host believes nothing else that comes out of a sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import msgspec


@dataclass(frozen=True, slots=True)
class StatementResult:
    """Result of one statement of a call."""

    statement: str
    """Text of the statement; only the beginning of a long one."""
    columns: list[str]
    rows: list[Sequence[Any]]
    changes: int
    """Rows inserted, updated or deleted, including those changed by triggers."""
    truncated: bool
    """There are further rows."""

    @property
    def row_count(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a call. ``columns`` and ``rows`` are those of the last statement that returns rows."""

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
        """Offset of the next page. None if there is none, or if asking again would write again."""
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
    """Time of the last change of its files."""
    snapshots: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    name: str
    size_bytes: int
    made_at: float


class Card(msgspec.Struct, frozen=True):
    """Schema card of a database, as text for a prompt and as data."""

    text: str
    tables: list[dict[str, Any]]
    more: int = 0
    """Number of tables left out for lack of room."""


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
    """Rows inserted or updated."""
    bad: list[tuple[int, str]]
    """The first lines that were left out, with the reason for each."""
    bad_count: int
    columns: list[tuple[str, str]]
    """Names and types."""
    notes: list[str] = field(default_factory=list)
    schema_changed: bool = False


class FailureReply(msgspec.Struct, frozen=True):
    """A failure: a code of the error tree, and for a failed statement which one and SQLite's message."""

    code: str
    message: str
    statement: int | None = None
    sql: str = ""
    said: str = ""
    offset: int | None = None


class TableNames(TypedDict):
    """A table or view with its columns and comments."""

    kind: str
    name: str
    columns: list[str]
    comments: list[str]
