"""What a worker may answer, by shape: a host believes nothing else of what comes out of a sandbox."""

from __future__ import annotations

from typing import Any

import msgspec


class FailureTold(msgspec.Struct, frozen=True):
    """What went wrong: a code of the error tree, and of a failed statement which one and SQLite's words."""

    code: str
    message: str
    statement: int | None = None
    sql: str = ""
    said: str = ""
    offset: int | None = None


class ResultTold(msgspec.Struct, frozen=True):
    statement: str
    columns: list[str]
    rows: list[list[Any]]
    changes: int
    more: bool


class QueryTold(msgspec.Struct, frozen=True):
    results: list[ResultTold]
    warnings: list[str]
    changes: int
    wrote: bool
    schema_changed: bool
    size_bytes: int
    elapsed_ms: float


class HintTold(msgspec.Struct, frozen=True):
    hint: str | None


class CardTold(msgspec.Struct, frozen=True):
    text: str
    tables: list[dict[str, Any]]
    more: int = 0


class TableTold(msgspec.Struct, frozen=True):
    kind: str
    name: str
    columns: list[str]
    comments: list[str]


class TablesTold(msgspec.Struct, frozen=True):
    tables: list[TableTold]


class ImportTold(msgspec.Struct, frozen=True):
    created: bool
    rows: int
    bad: list[tuple[int, str]]
    bad_count: int
    columns: list[tuple[str, str]]
    notes: list[str]
    schema_changed: bool


class ExportTold(msgspec.Struct, frozen=True):
    rows: int
    bytes: int


class SizesTold(msgspec.Struct, frozen=True):
    before: int
    after: int


class CopyTold(msgspec.Struct, frozen=True):
    size_bytes: int


class RestoreTold(msgspec.Struct, frozen=True):
    restored: str
    former: str | None


class CheckTold(msgspec.Struct, frozen=True):
    problems: list[str]
