"""A table as the card knows it: how it is made, what was seen in it, and both as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

Value = None | int | float | str


class TableSort(StrEnum):
    TABLE = "table"
    VIEW = "view"
    VIRTUAL = "virtual table"


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob, of which only the size is shown."""

    size: int


Cell = Value | Blob


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table or view as the schema lists it."""

    name: str
    sort: TableSort
    sql: str
    """Of a long one the beginning."""
    is_cut: bool
    number: int
    """Later ones have a higher number."""
    module: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    """As declared; empty when it was not."""
    not_null: bool = False
    default: str | None = None
    key: int = 0
    """Its place in the primary key, from 1; 0 outside of it."""
    generated: str = ""
    """``virtual`` or ``stored`` when it is computed."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key."""

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]
    """Empty when the primary key is meant."""


@dataclass(frozen=True, slots=True)
class Structure:
    columns: tuple[Column, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    """Columns of which no two rows have the same values, other than the primary key."""
    references: tuple[Reference, ...] = ()
    comment: str = ""
    definition: str = ""
    """The SELECT of a view, whose columns are not known."""
    unread: str = ""
    """The reason why the columns are not known."""

    def is_unique(self, column: Column) -> bool:
        """True if a column alone tells rows apart, other than as the primary key."""
        return (column.name,) in self.unique


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column in the rows that were read."""

    storage: str = ""
    """``integer``, ``real``, ``text``, ``blob``; ``mixed``; empty when there was only NULL."""
    kind: str = ""
    range: tuple[Value, Value] | None = None
    """The smallest and the largest value."""
    values: tuple[Value, ...] = ()
    """All that were seen, when they are few."""


@dataclass(frozen=True, slots=True)
class Contents:
    count: int | None = None
    """Of rows; None if they were not counted."""
    sampled: int = 0
    """Rows that were read to tell kinds, ranges and values."""
    is_whole: bool = False
    """These were all."""
    seen: dict[str, ColumnSummary] = field(default_factory=dict)
    """By column; what was not read is not there."""
    rows: tuple[tuple[Cell, ...], ...] = ()
    """To be shown, spread over the table."""
    columns: tuple[str, ...] = ()
    """Of these rows."""
    unread: str = ""
    """The reason why there is nothing, or less."""
    is_hurried: bool = False
    """Only for want of time: another call may read more."""


@dataclass(frozen=True, slots=True)
class TableDescription:
    listed: TableEntry
    structure: Structure
    contents: Contents


# --- as JSON ------------------------------------------------------------------------------------

_NAME = 300
_CELL = 200
_MOST_COLUMNS = 100
_MOST_SQL = 6_000


def to_data(table: TableDescription, *, in_full: bool) -> dict[str, Any]:
    """Return a table as JSON data. Unknown values are left out rather than empty."""
    entry, structure, contents = table.listed, table.structure, table.contents
    known: dict[str, Any] = {
        "comment": structure.comment,
        "definition": structure.definition,
        "not_read": structure.unread or contents.unread,
        "module": entry.module,
        "unique": structure.unique,
        "foreign_keys": [asdict(reference) for reference in structure.references],
    }
    columns = structure.columns if in_full else structure.columns[:_MOST_COLUMNS]
    data: dict[str, Any] = _shorten(
        {
            "name": entry.name,
            "kind": str(entry.sort),
            "columns": [_column_to_data(table, column) for column in columns],
            "column_count": len(structure.columns),
            "rows": contents.count,
            "rows_exact": contents.count is not None,
            "sampled_rows": contents.sampled,
            "sampled_all": contents.is_whole,
            "sample_columns": contents.columns,
            "sample": [[to_json_value(cell) for cell in row] for row in contents.rows],
            **{key: value for key, value in known.items() if value},
        }
    )
    return data | {"sql": entry.sql[:_MOST_SQL]} if in_full else data


def _shorten(data: Any) -> Any:
    """Return data with lists for tuples, and with names cut that may be as long as a sentence."""
    if isinstance(data, str):
        return data if len(data) <= _NAME else data[: _NAME - 1] + "…"
    if isinstance(data, dict):
        return {key: _shorten(value) for key, value in data.items()}
    return [_shorten(value) for value in data] if isinstance(data, list | tuple) else data


def _column_to_data(table: TableDescription, column: Column) -> dict[str, Any]:
    structure, contents = table.structure, table.contents
    reference = next((one for one in structure.references if one.columns == (column.name,)), None)
    summary = contents.seen.get(column.name, ColumnSummary())
    known: dict[str, Any] = {
        "generated": column.generated,
        "references": asdict(reference) if reference else None,
        "stored": summary.storage,
        "kind": summary.kind,
        "range": [to_json_value(end) for end in summary.range or ()],
        "values": [to_json_value(value) for value in summary.values],
    }
    return {
        "name": column.name,
        "type": column.type,
        "primary_key": bool(column.key),
        "not_null": column.not_null,
        "default": column.default,
        "unique": structure.is_unique(column),
        **{key: value for key, value in known.items() if value},
        **({"range_exact": contents.is_whole} if summary.range else {}),
        **({"values_exact": contents.is_whole} if summary.values else {}),
    }


def write_number(value: int | float) -> str:
    if isinstance(value, float):
        return f"{value:.10g}" if math.isfinite(value) else "-Infinity" if value < 0 else "Infinity"
    return str(value)


def to_json_value(value: Cell) -> Any:
    """Return a value that JSON has a form for."""
    if isinstance(value, Blob):
        return f"<blob, {value.size} bytes>"
    if isinstance(value, str):
        return value if len(value) <= _CELL else value[: _CELL - 1] + "…"
    if isinstance(value, float) and not math.isfinite(value):
        return write_number(value)
    return value
