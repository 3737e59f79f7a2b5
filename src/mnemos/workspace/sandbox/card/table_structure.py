"""Tables, columns, keys, indexes, triggers and comments, read from the schema. No row is read.

``PRAGMA table_list`` is not used: it compiles every view, which can be made to take SQLite seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw

from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.card.bounds import (
    Pace,
    Weights,
)
from mnemos.workspace.sandbox.card.table_description import (
    Column,
    Index,
    Reference,
    Structure,
    TableEntry,
    TableSort,
    Trigger,
)
from mnemos.workspace.sandbox.lexer import Kind, Token, fold, tokens, unquote

MOST_SQL = 20_000
"""Characters of a statement that are looked at."""
_MOST_TRIGGERS = 20

_ENTRIES = f"""
SELECT rowid, type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), rootpage,
    CAST(substr(sql, 1, {MOST_SQL + 1}) AS BLOB)
FROM sqlite_schema
WHERE type IN ('table', 'view', 'trigger')
"""
# The tables that a virtual table keeps its contents in.
_SHADOWS = {
    "fts5": ("data", "idx", "content", "docsize", "config"),
    "rtree": ("node", "rowid", "parent"),
    "rtree_i32": ("node", "rowid", "parent"),
}
# Where a statement says what it makes; a thousand may have long comments there.
_MOST_BEGIN = 1_000
_MADE_BY_MODULES = ("CREATE TABLE '", 'CREATE TABLE "')
_MODULE_TOKENS = 12
_EVENT_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Listing:
    """Every table and view by its folded name, newest first, and the triggers of each."""

    tables: Mapping[str, TableEntry]
    triggers: Mapping[str, Sequence[Trigger]]

    def sort_by_use(self, recent: Mapping[str, float]) -> list[TableEntry]:
        """Return recently used tables first, then the newest."""
        used = {fold(name): at for name, at in recent.items()}
        return sorted(self.tables.values(), key=lambda one: (-used.get(fold(one.name), 0.0), -one.number))


def list_tables(connection: apsw.Connection) -> Listing:
    """List the schema, without SQLite's own tables and those behind virtual ones."""
    tables: dict[str, TableEntry] = {}
    triggers: dict[str, list[Trigger]] = {}
    entries: list[Any] = connection.execute(_ENTRIES).fetchall()
    for number, type_, name_, table_, root, sql_ in entries:
        name, sql = _text(name_), _text(sql_)
        if "\0" in name:
            # Nothing in SQL can call it by that name.
            continue
        if type_ == "trigger":
            found = triggers.setdefault(fold(_text(table_)), [])
            if len(found) < _MOST_TRIGGERS:
                found.append(Trigger(name, _event(sql)))
        elif not fold(name).startswith("sqlite_"):
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
    return Listing(tables, triggers)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _shadows(tables: Iterable[TableEntry]) -> list[str]:
    return [
        f"{fold(table.name)}_{suffix}" for table in tables for suffix in _SHADOWS.get(fold(table.module), ())
    ]


def _words(sql: str, most: int) -> Iterable[Token]:
    begin = sql[:_MOST_BEGIN]
    return islice((token for token in tokens(begin) if token.kind is not Kind.COMMENT), most)


def _module(sql: str) -> str:
    """Return the module after USING."""
    before = ""
    for token in _words(sql, _MODULE_TOKENS):
        if before == "using":
            return unquote(token.text)
        before = fold(token.text) if token.kind is Kind.WORD else ""
    return ""


def _event(sql: str) -> str:
    """Return when a trigger runs, in SQLite's words."""
    said = []
    for place, token in enumerate(_words(sql, _EVENT_TOKENS)):
        word = fold(token.text)
        if token.kind is not Kind.WORD or place < 2:
            continue
        if word in ("before", "after", "instead"):
            said.append(word)
        elif word in ("insert", "delete", "update"):
            return " ".join([*said, word])
    return ""


# --- one table ----------------------------------------------------------------------------------

_HIDDEN, _VIRTUAL, _STORED = 1, 2, 3
_MOST_INDEXES = 50
_MOST_REFERENCES = 200
_LONGEST_TEXT = 500
EXPRESSION = "(expression)"


def read_structure(
    connection: apsw.Connection, one: TableEntry, listing: Listing, weights: Weights, pace: Pace
) -> Structure:
    """Read the structure of a table, or of a view that is safe to compile."""
    triggers = tuple(listing.triggers.get(fold(one.name), ()))
    unread = _why_not(one, weights, pace)
    if unread:
        return Structure(triggers=triggers, comment=read_comments(one.sql, ()).table, unread=unread)
    with pace.agents() if one.sort is TableSort.VIEW else pace.table():
        columns = _columns(connection, one.name)
        indexes = _indexes(connection, one.name) if one.sort is TableSort.TABLE else []
        references = _references(connection, one.name) if one.sort is TableSort.TABLE else []
    said = read_comments(one.sql, (column.name for column in columns))
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


def _why_not(one: TableEntry, weights: Weights, pace: Pace) -> str:
    if one.sort is not TableSort.VIEW:
        return ""
    if not weights.of(one).may_be_compiled:
        return "too large a view"
    return "no time left" if pace.agents_is_over else ""


def _columns(connection: apsw.Connection, name: str) -> list[Column]:
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


# --- comments -----------------------------------------------------------------------------------

LONGEST_COMMENT = 500
_MOST_TOKENS = 8_000


@dataclass(frozen=True, slots=True)
class Remarks:
    table: str
    columns: dict[str, str]
    """By folded name."""


def read_comments(sql: str, columns: Iterable[str]) -> Remarks:
    """Read the comments inside a CREATE TABLE, which SQLite keeps with the statement.

    A comment on the line of a column's definition is about that column, others are about the table.
    """
    if "--" not in sql and "/*" not in sql:
        return Remarks("", {})
    known = {fold(name) for name in columns}
    table: list[str] = []
    said: dict[str, list[str]] = {}
    column = None
    depth, end, begins = 0, 0, False
    for token in islice(tokens(sql), _MOST_TOKENS):
        if "\n" in sql[end : token.start] and depth == 1:
            column = None
        end = token.end
        if token.kind is Kind.COMMENT:
            if text := _meaning(token.text):
                (table if column is None or not depth else said.setdefault(column, [])).append(text)
        elif token.kind is Kind.OPERATOR and token.text in ("(", ")", ","):
            depth += {"(": 1, ")": -1, ",": 0}[token.text]
            begins = depth == 1 and token.text != ")"
        elif begins:
            begins = False
            name = fold(unquote(token.text))
            column = name if name in known else None
    return Remarks(_join(table), {name: _join(texts) for name, texts in said.items()})


def _meaning(comment: str) -> str:
    """Return a comment without the signs around it."""
    if comment.startswith("--"):
        inner = comment.lstrip("-")
    else:
        inner = " ".join(line.strip().lstrip("*") for line in comment[2:].removesuffix("*/").split("\n"))
    return " ".join(inner[: 2 * LONGEST_COMMENT].split())


def _join(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts))[:LONGEST_COMMENT]
