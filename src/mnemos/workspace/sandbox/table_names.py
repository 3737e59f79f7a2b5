"""What the tables of a database are called and consist of, without looking at a row."""

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


def described(database: Database) -> list[dict[str, Any]]:
    """Tables and views, the last used first, with their columns and what comments in their SQL say."""
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


def known(database: Database) -> Known:
    """The names there are, for a hint; of very many tables, some."""
    with database.own() as connection:
        tables = {
            one.name: columns for one, columns in _with_columns(connection, list_tables(connection), database)
        }
    signatures = {function.name: function.signature for function in catalog.FUNCTIONS}
    return Known(tables=tables, functions=list(signatures), signatures=signatures)


def columns_of(connection: apsw.Connection, table: str) -> list[str]:
    """The names of a table's columns, generated ones too; none of a view of what is no longer there."""
    try:
        found = connection.execute(f"PRAGMA table_xinfo({quote(table)})")
        return [str(row[1]) for row in found if row[6] != _HIDDEN]
    except (apsw.SQLError, UnicodeDecodeError):
        return []


def _with_columns(
    connection: apsw.Connection, listing: Listing, database: Database
) -> Iterator[tuple[TableEntry, list[str]]]:
    """Views that would take long to compile, alone or together, have no columns here."""
    weights = Weights(listing.tables)
    left = _MOST_COMPILED
    for one in islice(listing.ordered(database.recent), _MOST_TABLES):
        if one.sort is TableSort.VIEW:
            weight = weights.of(one).columns
            if weight > left:
                yield one, []
                continue
            left -= weight
        yield one, columns_of(connection, one.name)


def _comments(sql: str) -> list[str]:
    found = (token.text for token in tokens(sql) if token.kind is Kind.COMMENT)
    said = (" ".join(text.strip("-/* \t\r\n").split()) for text in found)
    return [text for text in said if text]
