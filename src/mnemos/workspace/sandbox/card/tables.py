"""Tables, columns, keys and comments, read from the schema. No row is read.

``PRAGMA table_list`` is not used: it compiles every view, which can be made to take SQLite seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest
from math import prod
from typing import Any

import apsw

from mnemos.workspace import functions
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
from mnemos.workspace.sandbox.hints.nearest import Known
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
# Where a statement names its module; a thousand may have long comments there.
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


# --- views --------------------------------------------------------------------------------------

# Columns of all views that are compiled for one answer, written out: about 5 µs each.
_MOST_COMPILED = 5_000
_WIDEST = 2_000
_DEEPEST = 40
# Characters of all views that are read: a thousand long ones take seconds.
_MOST_VIEWS = 300_000
_TOO_MUCH = 1_000_000
_NAMING = frozenset({Kind.WORD, Kind.NAME, Kind.STRING})


class ViewCosts:
    """Judges by its text what it costs to compile a view: too much rather than too little.

    SQLite cannot be interrupted while it compiles, and a view of views of a wide table takes it seconds.
    """

    def __init__(self, tables: Mapping[str, TableEntry]) -> None:
        self._tables = tables
        self._known: dict[str, int] = {}
        self._left = _MOST_COMPILED
        self._unread = _MOST_VIEWS

    def allow(self, view: TableEntry) -> bool:
        """True if SQLite may be asked for the columns of a view, which takes its part of what is left."""
        cost = self._cost(view, 0)
        if cost > self._left:
            return False
        self._left -= cost
        return True

    def _cost(self, one: TableEntry, depth: int) -> int:
        """Return about how many columns SQLite handles when a view is written out."""
        name = fold(one.name)
        if name not in self._known:
            # A view that is in itself, which SQLite refuses, meets this on the way.
            self._known[name] = _TOO_MUCH
            self._known[name] = self._estimate(one, depth)
        return self._known[name]

    def _estimate(self, one: TableEntry, depth: int) -> int:
        if one.sort is not TableSort.VIEW:
            return _WIDEST if one.is_cut else min(one.sql.count(",") + 1, _WIDEST)
        self._unread -= len(one.sql)
        if one.is_cut or depth > _DEEPEST or self._unread < 0:
            return _TOO_MUCH
        words = [
            fold(unquote(token.text) if token.kind in _NAMING else token.text)
            for token in tokens(one.sql)
            if token.kind is not Kind.COMMENT
        ]
        below = 0
        for name in _find_names(words):
            found = self._tables.get(name)
            if found is not None and found is not one:
                below += self._cost(found, depth + 1)
            if below > _MOST_COMPILED:
                return _TOO_MUCH
        cost = (below + one.sql.count(",") + 1) * words.count("select") + below * len(words) // 1_000
        if "natural" in words or "using" in words:
            # Each name is looked for among the columns of all tables.
            cost += below * (below + len(words)) // 100
        return cost * _count_repeats(words)


def _find_names(words: Sequence[str]) -> Iterator[str]:
    """Yield what may be a table or view; a word before a point is not."""
    for word, after in zip_longest(words, words[1:]):
        if after != ".":
            yield word


def _count_repeats(words: Sequence[str]) -> int:
    """Return how often parts of a WITH are written out at most: as often as they are named."""
    if "with" not in words:
        return 1
    parts = {
        name
        for before, name, after in zip(words, words[1:], words[2:], strict=False)
        if before in ("with", "recursive", ",") and after in ("as", "(")
    }
    named = Counter(word for word in _find_names(words) if word in parts)
    # The definition is not a use.
    return min(prod(max(times - 1, 1) for times in named.values()), _MOST_COMPILED)


# --- one table ----------------------------------------------------------------------------------

_HIDDEN, _VIRTUAL, _STORED = 1, 2, 3
_MOST_INDEXES = 50
_MOST_REFERENCES = 200
_LONGEST_TEXT = 500


def read_structure(connection: apsw.Connection, one: TableEntry, costs: ViewCosts) -> Structure:
    """Read the structure of a table, or of a view that is safe to compile."""
    comment = "; ".join(dict.fromkeys(find_comments(one.sql)))[:_LONGEST_TEXT]
    if one.sort is TableSort.VIEW and not costs.allow(one):
        return Structure(comment=comment, unread="too large a view")
    columns = tuple(_read_columns(connection, one.name))
    is_table = one.sort is TableSort.TABLE
    return Structure(
        columns=columns,
        unique=tuple(_read_unique(connection, one.name)) if is_table else (),
        references=tuple(_read_references(connection, one.name)) if is_table else (),
        comment=comment,
        unread="" if columns else "no columns are known",
    )


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
    """Yield the columns of which no two rows have the same values, beside the primary key."""
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
    """Describe tables and views, the last used first: columns and comments."""
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


def know_names(database: Database) -> Known:
    """Return the names for a hint; some of them if there are very many tables."""
    with database.own() as connection:
        tables = {one.name: columns for one, columns in _list_with_columns(connection, database)}
    signatures = {function.name: function.signature for function in functions.FUNCTIONS}
    return Known(tables=tables, functions=list(signatures), signatures=signatures)


def list_columns(connection: apsw.Connection, table: str) -> list[str]:
    """List a table's columns, generated ones too; none for a view that no longer works."""
    try:
        return [column.name for column in _read_columns(connection, table)]
    except (apsw.SQLError, UnicodeDecodeError):
        return []


def _list_with_columns(
    connection: apsw.Connection, database: Database
) -> Iterator[tuple[TableEntry, list[str]]]:
    """Yield tables with their columns; views that take long to compile have none."""
    listing = list_tables(connection)
    costs = ViewCosts(listing.tables)
    for one in islice(listing.sort_by_use(database.recent), _MOST_TABLES):
        is_cheap = one.sort is not TableSort.VIEW or costs.allow(one)
        yield one, list_columns(connection, one.name) if is_cheap else []
