"""Tables, columns, keys and comments, read from the schema. No row is read.

``PRAGMA table_list`` is not used: it compiles every view, which can be made to take SQLite seconds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import apsw

from mnemos.workspace.answers import TableNames
from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.card.table_description import (
    Column,
    Reference,
    Structure,
    TableEntry,
    TableSort,
)
from mnemos.workspace.sandbox.database import Database
from mnemos.workspace.sandbox.lexer import Kind, fold, tokens, unquote

MOST_SQL = 20_000
"""Characters of a statement that are looked at."""

_ENTRIES = f"""
SELECT rowid, type, CAST(name AS BLOB), rootpage, CAST(substr(sql, 1, {MOST_SQL + 1}) AS BLOB)
FROM sqlite_schema
WHERE type IN ('table', 'view')
"""
# The tables that a virtual table keeps its contents in.
_SHADOWS = {
    "fts5": ("data", "idx", "content", "docsize", "config"),
    "rtree": ("node", "rowid", "parent"),
    "rtree_i32": ("node", "rowid", "parent"),
}
# Characters in which a statement names its module, and of a view that are shown.
_MOST_BEGIN = 1_000
_MADE_BY_MODULES = ("CREATE TABLE '", 'CREATE TABLE "')


@dataclass(frozen=True, slots=True)
class Listing:
    """Every table and view by its folded name, newest first."""

    tables: Mapping[str, TableEntry]

    def sort_by_use(self, recent: Mapping[str, float]) -> list[TableEntry]:
        """Return recently used tables first, then the newest."""
        used = {fold(name): at for name, at in recent.items()}
        return sorted(self.tables.values(), key=lambda one: (-used.get(fold(one.name), 0.0), -one.number))


def list_tables(connection: apsw.Connection) -> Listing:
    """List the schema, without SQLite's own tables and those behind virtual ones."""
    tables: dict[str, TableEntry] = {}
    entries: list[Any] = connection.execute(_ENTRIES).fetchall()
    for number, type_, name_, root, sql_ in entries:
        name, sql = _text(name_), _text(sql_)
        # Nothing in SQL can call a table by a name with a NUL.
        if "\0" not in name and not fold(name).startswith("sqlite_"):
            is_virtual = type_ == "table" and not root
            tables[fold(name)] = TableEntry(
                name=name,
                sort=TableSort.VIRTUAL if is_virtual else TableSort(type_),
                sql=sql[:MOST_SQL],
                is_cut=len(sql) > MOST_SQL,
                number=number,
                module=_module(sql) if is_virtual else "",
            )
    for shadow in _shadows(tables.values()):
        # The module puts its names in quotes. Somebody else's table may be called so.
        if shadow in tables and tables[shadow].sql.startswith(_MADE_BY_MODULES):
            del tables[shadow]
    return Listing(tables)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _shadows(tables: Iterable[TableEntry]) -> list[str]:
    return [
        f"{fold(table.name)}_{suffix}" for table in tables for suffix in _SHADOWS.get(fold(table.module), ())
    ]


def _module(sql: str) -> str:
    """Return the module after USING."""
    words = [token for token in tokens(sql[:_MOST_BEGIN]) if token.kind is not Kind.COMMENT]
    pairs = pairwise(words)
    return next((unquote(after.text) for word, after in pairs if fold(word.text) == "using"), "")


# --- one table ----------------------------------------------------------------------------------

_HIDDEN, _VIRTUAL, _STORED = 1, 2, 3
_MOST_INDEXES = 50
_MOST_REFERENCES = 200
_LONGEST_TEXT = 500


def read_structure(connection: apsw.Connection, one: TableEntry) -> Structure:
    """Read the structure of a table. A view is only known by its statement.

    SQLite cannot be interrupted while it compiles, and a view of views of a wide table takes it seconds.
    """
    comment = "; ".join(dict.fromkeys(find_comments(one.sql)))[:_LONGEST_TEXT]
    if one.sort is TableSort.VIEW:
        return Structure(comment=comment, definition=_find_definition(one.sql))
    columns = tuple(_read_columns(connection, one.name))
    is_table = one.sort is TableSort.TABLE
    return Structure(
        columns=columns,
        unique=tuple(_read_unique(connection, one.name)) if is_table else (),
        references=tuple(_read_references(connection, one.name)) if is_table else (),
        comment=comment,
        unread="" if columns else "no columns are known",
    )


def _find_definition(sql: str) -> str:
    """Return the SELECT of a view on one line, without comments."""
    found = [token for token in tokens(sql[:_MOST_BEGIN]) if token.kind is not Kind.COMMENT]
    begins = next((place for place, token in enumerate(found) if fold(token.text) == "as"), 0) + 1
    pieces = [
        " " * (token.start > before.end) + token.text
        for before, token in zip(found[begins - 1 :], found[begins:], strict=False)
    ]
    return "".join(pieces).strip()


def _read_columns(connection: apsw.Connection, name: str) -> list[Column]:
    return [
        Column(
            name=column,
            type=type_[:_LONGEST_TEXT],
            not_null=bool(not_null),
            default=None if default is None else str(default)[:_LONGEST_TEXT],
            key=key,
            generated={_VIRTUAL: "virtual", _STORED: "stored"}.get(hidden, ""),
        )
        for _, column, type_, not_null, default, key, hidden in _ask(connection, "table_xinfo", name)
        if hidden != _HIDDEN
    ]


def _read_unique(connection: apsw.Connection, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the columns of which no two rows have the same values, besides the primary key."""
    for _, index, is_unique, origin, is_partial in _ask(connection, "index_list", name)[:_MOST_INDEXES]:
        if is_unique and not is_partial and origin != "pk":
            columns = [row[2] for row in _ask(connection, "index_info", index)]
            # An expression has no name.
            if None not in columns:
                yield tuple(columns)


def _read_references(connection: apsw.Connection, name: str) -> list[Reference]:
    keys: dict[int, list[Any]] = {}
    for row in _ask(connection, "foreign_key_list", name)[:_MOST_REFERENCES]:
        keys.setdefault(row[0], []).append(row)
    return [
        Reference(
            columns=tuple(row[3] for row in rows),
            table=rows[0][2],
            to=tuple(row[4] for row in rows if row[4] is not None),
        )
        for _, rows in sorted(keys.items(), reverse=True)
    ]


def _ask(connection: apsw.Connection, pragma: str, name: str) -> list[Any]:
    return connection.execute(f"PRAGMA {pragma}({quote(name)})", can_cache=False).fetchall()


def find_comments(sql: str) -> list[str]:
    """Return the comments in a CREATE TABLE, which SQLite keeps, without the signs around them."""
    if "--" not in sql and "/*" not in sql:
        return []
    found = (token.text[: 2 * _LONGEST_TEXT] for token in tokens(sql) if token.kind is Kind.COMMENT)
    said = (" ".join(line.strip("-/* \t\r") for line in text.split("\n")) for text in found)
    return [text for text in (" ".join(text.split()) for text in said) if text]


# --- names for recall and for hints -------------------------------------------------------------

_MOST_TABLES = 300
_MOST_COLUMNS = 200


def describe_tables(database: Database) -> list[TableNames]:
    """Describe tables with their columns, and views, the last used first, with their comments."""
    with database.own() as connection:
        return [
            TableNames(
                kind="view" if one.sort is TableSort.VIEW else "table",
                name=one.name,
                columns=columns[:_MOST_COLUMNS],
                comments=find_comments(one.sql),
            )
            for one, columns in _list_with_columns(connection, database)
        ]


def know_names(database: Database, sql: str) -> dict[str, list[str]]:
    """Return tables with their columns for a hint on a statement; some of them if there are very many."""
    named = {fold(unquote(token.text)) for token in tokens(sql)}
    with database.own() as connection:
        return {one.name: columns for one, columns in _list_with_columns(connection, database, named)}


def list_columns(connection: apsw.Connection, table: str) -> list[str]:
    """List a table's columns, generated ones too; none for a view that no longer works."""
    try:
        return [column.name for column in _read_columns(connection, table)]
    except (apsw.SQLError, UnicodeDecodeError):
        return []


def _list_with_columns(
    connection: apsw.Connection, database: Database, named: Container[str] = ()
) -> Iterator[tuple[TableEntry, list[str]]]:
    """Yield tables with their columns, and views; only those in ``named`` are compiled to have columns."""
    for one in islice(list_tables(connection).sort_by_use(database.recent), _MOST_TABLES):
        is_known = one.sort is not TableSort.VIEW or fold(one.name) in named
        yield one, list_columns(connection, one.name) if is_known else []
