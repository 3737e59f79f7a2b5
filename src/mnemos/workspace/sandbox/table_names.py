"""Names of tables and columns, read without looking at a row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import apsw

from mnemos.workspace.functions import catalog
from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.card.bounds import Weights
from mnemos.workspace.sandbox.card.table_description import TableEntry, TableSort
from mnemos.workspace.sandbox.card.table_structure import Listing, list_tables
from mnemos.workspace.sandbox.database import Database
from mnemos.workspace.sandbox.hints.nearest import Known
from mnemos.workspace.sandbox.lexer import Kind, tokens

_MOST_TABLES = 300
_MOST_COLUMNS = 200
# How SQLite marks the columns of a virtual table that are its own business.
_HIDDEN = 1
# Columns of all views that are compiled, written out: some tens of milliseconds.
_MOST_COMPILED = 5_000


def describe_tables(database: Database) -> list[dict[str, Any]]:
    """Describe tables and views, the last used first: columns and comments."""
    with database.own() as connection:
        return [
            {
                "kind": "view" if one.sort is TableSort.VIEW else "table",
                "name": one.name,
                "columns": columns[:_MOST_COLUMNS],
                "comments": _comments(one.sql),
            }
            for one, columns in _with_columns(connection, list_tables(connection), database)
        ]


def know_names(database: Database) -> Known:
    """Return the names for a hint; some of them if there are very many tables."""
    with database.own() as connection:
        tables = {
            one.name: columns for one, columns in _with_columns(connection, list_tables(connection), database)
        }
    signatures = {function.name: function.signature for function in catalog.FUNCTIONS}
    return Known(tables=tables, functions=list(signatures), signatures=signatures)


def list_columns(connection: apsw.Connection, table: str) -> list[str]:
    """List a table's columns, generated ones too; none for a view that no longer works."""
    try:
        found = connection.execute(f"PRAGMA table_xinfo({quote(table)})")
        return [str(row[1]) for row in found if row[6] != _HIDDEN]
    except (apsw.SQLError, UnicodeDecodeError):
        return []


def _with_columns(
    connection: apsw.Connection, listing: Listing, database: Database
) -> Iterator[tuple[TableEntry, list[str]]]:
    """Yield tables with their columns; views that take long to compile have none."""
    weights = Weights(listing.tables)
    left = _MOST_COMPILED
    for one in islice(listing.sort_by_use(database.recent), _MOST_TABLES):
        if one.sort is TableSort.VIEW:
            weight = weights.of(one).columns
            if weight > left:
                yield one, []
                continue
            left -= weight
        yield one, list_columns(connection, one.name)


def _comments(sql: str) -> list[str]:
    found = (token.text for token in tokens(sql) if token.kind is Kind.COMMENT)
    said = (" ".join(text.strip("-/* \t\r\n").split()) for text in found)
    return [text for text in said if text]
