"""How a table is made: columns, keys, indexes, triggers, comments. No row is read."""

from __future__ import annotations

from itertools import islice
from typing import Any

import apsw

from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.card.comments import remarks
from mnemos.workspace.sandbox.card.listing import Listing, folded
from mnemos.workspace.sandbox.card.model import Column, Index, Listed, Reference, Sort, Structure
from mnemos.workspace.sandbox.card.pace import Pace
from mnemos.workspace.sandbox.card.views import Weights

_HIDDEN, _VIRTUAL, _STORED = 1, 2, 3
_MOST_INDEXES = 50
_MOST_REFERENCES = 200
_MOST_TEXT = 500
EXPRESSION = "(expression)"


def read(
    connection: apsw.Connection, one: Listed, listing: Listing, weights: Weights, pace: Pace
) -> Structure:
    """What the schema says of a table or view; a view that SQLite should not compile is left alone."""
    triggers = tuple(listing.triggers.get(folded(one.name), ()))
    unread = _why_not(one, weights, pace)
    if unread:
        return Structure(triggers=triggers, comment=remarks(one.sql, ()).table, unread=unread)
    with pace.agents() if one.sort is Sort.VIEW else pace.table():
        columns = _columns(connection, one.name)
        indexes = _indexes(connection, one.name) if one.sort is Sort.TABLE else []
        references = _references(connection, one.name) if one.sort is Sort.TABLE else []
    said = remarks(one.sql, (column.name for column in columns))
    return Structure(
        columns=tuple(columns),
        indexes=tuple(indexes[:_MOST_INDEXES]),
        more_indexes=max(len(indexes) - _MOST_INDEXES, 0),
        references=tuple(references),
        triggers=triggers,
        comment=said.table,
        comments=said.columns,
        unread="" if columns else "no columns are known",
    )


def _why_not(one: Listed, weights: Weights, pace: Pace) -> str:
    if one.sort is not Sort.VIEW:
        return ""
    if not weights.of(one).may_be_compiled:
        return "too large a view"
    return "no time left" if pace.agents_is_over else ""


def _columns(connection: apsw.Connection, name: str) -> list[Column]:
    return [
        Column(
            name=column,
            type=type_[:_MOST_TEXT],
            not_null=bool(not_null),
            default=None if default is None else str(default)[:_MOST_TEXT],
            key=key,
            generated={_VIRTUAL: "virtual", _STORED: "stored"}.get(hidden, ""),
        )
        for _, column, type_, not_null, default, key, hidden in _ask(connection, "table_xinfo", name)
        if hidden != _HIDDEN
    ]


def _indexes(connection: apsw.Connection, name: str) -> list[Index]:
    found = []
    for number, (_, index, unique, origin, partial) in enumerate(_ask(connection, "index_list", name)):
        columns: tuple[str, ...] = ()
        if number < _MOST_INDEXES:
            # Its own columns; those after them lead to the row.
            columns = tuple(row[2] or EXPRESSION for row in _ask(connection, "index_xinfo", index) if row[5])
        found.append(Index(index, columns, bool(unique), bool(partial), origin))
    return found


def _references(connection: apsw.Connection, name: str) -> list[Reference]:
    keys: dict[int, list[Any]] = {}
    for row in _ask(connection, "foreign_key_list", name, _MOST_REFERENCES):
        keys.setdefault(row[0], []).append(row)
    return [
        Reference(
            columns=tuple(row[3] for row in rows),
            table=rows[0][2],
            to=tuple(row[4] for row in rows if row[4] is not None),
            on_delete=rows[0][6],
        )
        for _, rows in sorted(keys.items(), reverse=True)
    ]


def _ask(connection: apsw.Connection, pragma: str, name: str, most: int | None = None) -> list[Any]:
    cursor = connection.execute(f"PRAGMA {pragma}({quote(name)})", can_cache=False)
    try:
        return list(islice(cursor, most))
    finally:
        cursor.close(force=True)
