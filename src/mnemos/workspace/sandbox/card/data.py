"""The card as data, of values that JSON has a form for."""

from __future__ import annotations

from typing import Any

from mnemos.workspace.sandbox.card.listing import folded
from mnemos.workspace.sandbox.card.model import Column, Described, Range, Reference, Seen
from mnemos.workspace.sandbox.card.showing import plain, short

_MOST_COLUMNS = 100
_MOST_TEXT = 200
_MOST_SQL = 6_000


def as_data(table: Described, *, in_full: bool) -> dict[str, Any]:
    """A table as an object. What is not known is not there, rather than empty."""
    listed, structure, contents = table.listed, table.structure, table.contents
    columns = structure.columns if in_full else structure.columns[:_MOST_COLUMNS]
    count = contents.count
    told: dict[str, Any] = {
        "name": short(listed.name),
        "kind": str(listed.sort),
        "columns": [_column(table, column) for column in columns],
        "column_count": len(structure.columns),
        "rows": count.rows if count else None,
        "rows_exact": bool(count and count.is_exact),
        "sampled_rows": contents.sampled,
        "sampled_all": contents.is_whole,
        "sample_columns": [short(name) for name in contents.columns],
        "sample": [[plain(cell) for cell in row] for row in contents.rows],
    }
    if count and not count.is_exact:
        told["rows_at_least"] = count.least
    said = {
        "comment": structure.comment,
        "not_read": structure.unread or contents.unread,
        "module": listed.module,
    }
    told |= {key: short(text) for key, text in said.items() if text}
    told |= {key: value for key, value in _rules(table).items() if value}
    if in_full:
        told["sql"] = listed.sql[:_MOST_SQL]
    return told


def _column(table: Described, column: Column) -> dict[str, Any]:
    structure = table.structure
    told: dict[str, Any] = {
        "name": short(column.name),
        "type": column.type[:_MOST_TEXT],
        "primary_key": bool(column.key),
        "not_null": column.not_null,
        "default": None if column.default is None else column.default[:_MOST_TEXT],
        "unique": structure.is_unique(column),
    }
    if column.generated:
        told["generated"] = column.generated
    if reference := next((one for one in structure.references if one.columns == (column.name,)), None):
        told["references"] = _reference(reference)
    if comment := structure.comments.get(folded(column.name)):
        told["comment"] = short(comment)
    if seen := table.contents.seen.get(column.name):
        told |= _seen(seen, is_whole=table.contents.is_whole)
    return told


def _seen(seen: Seen, *, is_whole: bool) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if seen.storage:
        told["stored"] = seen.storage
    if seen.kind:
        told["kind"] = seen.kind
    if seen.is_mostly:
        told["mostly"] = True
    if seen.fields:
        told["fields"] = [short(name) for name in seen.fields]
    if seen.range:
        told |= _range(seen.range)
    if seen.values:
        told |= {"values": [plain(value) for value in seen.values], "values_exact": is_whole}
    return told


def _range(found: Range) -> dict[str, Any]:
    return {"range": [plain(found.low), plain(found.high)], "range_exact": found.is_exact}


def _reference(reference: Reference) -> dict[str, Any]:
    return {
        "columns": [short(name) for name in reference.columns],
        "table": short(reference.table),
        "to": [short(name) for name in reference.to],
        "on_delete": reference.on_delete,
    }


def _rules(table: Described) -> dict[str, list[dict[str, Any]]]:
    structure = table.structure
    return {
        "indexes": [
            {
                "name": short(index.name),
                "columns": [short(name) for name in index.columns],
                "unique": index.is_unique,
                "partial": index.is_partial,
            }
            for index in structure.indexes
        ],
        "foreign_keys": [_reference(reference) for reference in structure.references],
        "triggers": [{"name": short(trigger.name), "event": trigger.event} for trigger in structure.triggers],
    }
