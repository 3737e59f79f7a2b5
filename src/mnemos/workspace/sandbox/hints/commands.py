"""Whole statements that SQLite does not have: what to say instead."""

from __future__ import annotations

from collections.abc import Iterable

from mnemos.workspace.identifiers import quote as quoted
from mnemos.workspace.sandbox.hints.known import Schema, bare
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
_EVERY_COLUMN = (
    "SELECT m.name AS table_name, c.name AS column_name, c.type AS data_type "
    "FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'"
)


def _of(name: str) -> str:
    return f"PRAGMA table_info({quoted(name)})"


def _bare(text: Text, index: int) -> str:
    """The name at a token, without quotes and without the schema before it."""
    if index >= len(text):
        return ""
    while text.word(index + 1) == "." and index + 2 < len(text):
        index += 2
    return bare(text.tokens[index].text)


def showing(text: Text, _schema: Schema) -> Iterable[Change]:
    """SHOW, DESCRIBE, ``\\d``, ``.tables``, sp_help."""
    word, second = text.word(0), text.word(1)
    why = "SQLite tells of tables by SELECT and PRAGMA (the tool sqlite_schema tells more)"
    whole = (0, len(text))
    if word == "SHOW":
        made = _shown(text)
        yield Change(why, (Edit(*whole, made),) if made else ())
    elif word in ("DESCRIBE", "DESC"):
        name = _bare(text, 1 + (second in ("TABLE", "EXTENDED", "FORMATTED")))
        yield Change(why, (Edit(*whole, _of(name)),) if name else ())
    elif word == "\\" or (word == "." and text.kind(1) is Kind.WORD):
        last = _bare(text, 2)
        tables = second.startswith(("DT", "D", "L", "TABLES", "SCHEMA")) and not last
        yield Change(why, (Edit(*whole, _TABLES if tables else _of(last)),) if tables or last else ())
    elif word in ("EXEC", "EXECUTE", "CALL") and second in _PROCEDURES:
        yield Change(why, (Edit(*whole, _procedure(text, 1)),))
    elif word in _PROCEDURES:
        yield Change(why, (Edit(*whole, _procedure(text, 0)),))


_PROCEDURES = frozenset({"SP_HELP", "SP_COLUMNS", "SP_TABLES"})


def _procedure(text: Text, index: int) -> str:
    name = _bare(text, index + 1)
    return _of(name) if name and text.word(index) != "SP_TABLES" else _TABLES


def _shown(text: Text) -> str | None:
    second = text.word(1 + (text.word(1) in ("FULL", "EXTENDED", "ALL")))
    of = next((index for index, word in enumerate(text.words) if word in ("FROM", "IN")), None)
    name = _bare(text, of + 1) if of is not None else ""
    if second == "TABLES":
        return _TABLES
    if second in ("COLUMNS", "FIELDS"):
        return _of(name) if name else None
    if second in ("INDEX", "INDEXES", "KEYS"):
        return f"PRAGMA index_list({quoted(name)})" if name else None
    if second == "VIEWS":
        return "SELECT name FROM sqlite_schema WHERE type = 'view'"
    if second == "CREATE" and len(text) > 3:
        return f"SELECT sql FROM sqlite_schema WHERE name = '{_bare(text, 3).replace(chr(39), chr(39) * 2)}'"
    return None


_CATALOGUES = frozenset(
    {
        "INFORMATION_SCHEMA",
        "PG_TABLES",
        "PG_CATALOG",
        "PG_CLASS",
        "SYS",
        "SYSOBJECTS",
        "ALL_TABLES",
        "USER_TABLES",
    }
)


def catalogues(text: Text, schema: Schema) -> Iterable[Change]:
    """Tables about tables: INFORMATION_SCHEMA, pg_tables, sys.tables."""
    if text.word(0) not in ("SELECT", "WITH"):
        return
    for index, word in enumerate(text.words):
        if word not in _CATALOGUES or text.word(index - 1) not in ("FROM", "JOIN", ","):
            continue
        if word.lower() in schema.tables:
            continue
        what = text.word(index + 2) if text.word(index + 1) == "." else word
        named = _asked(text)
        if what in ("COLUMNS", "PG_ATTRIBUTE"):
            made = _of(named.strip("'")) if named else _EVERY_COLUMN
        elif what in (
            "TABLES",
            "PG_TABLES",
            "SYSOBJECTS",
            "ALL_TABLES",
            "USER_TABLES",
            "OBJECTS",
            "PG_CLASS",
        ):
            made = f"{_TABLES} AND name = {named}" if named else _TABLES
        elif what == "VIEWS":
            made = "SELECT name FROM sqlite_schema WHERE type = 'view'"
        elif what in ("INDEXES", "PG_INDEXES", "STATISTICS"):
            made = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index'"
        else:
            made = ""
        why = "SQLite tells of tables in sqlite_schema, and of their columns by PRAGMA table_info"
        yield Change(why, (Edit(0, len(text), made),) if made else ())
        return


def _asked(text: Text) -> str:
    """The string that ``table_name = 'x'`` compares with."""
    for index, word in enumerate(text.words):
        if word in ("TABLE_NAME", "TABLENAME", "RELNAME") and text.word(index + 1) == "=":
            return text.word(index + 2) if text.kind(index + 2) is Kind.STRING else ""
    return ""


def truncations(text: Text, _schema: Schema) -> Iterable[Change]:
    if text.word(0) != "TRUNCATE":
        return
    first = 1 + (text.word(1) == "TABLE")
    ends = [(begun, text.operand_after(begun)) for begun, _ in text.parts(first, len(text))]
    made = "; ".join(f"DELETE FROM {text.source(begun, last)}" for begun, last in ends if last is not None)
    why = "SQLite has no TRUNCATE; DELETE without WHERE empties a table"
    yield Change(why, (Edit(0, len(text), made),) if made else ())


_ONE_TRANSACTION = "each call is one transaction already, all or nothing: leave it out"
_NO_PROCEDURES = (
    "SQLite has no procedures, functions or blocks: send the statements themselves, separated by semicolons"
)
_NO_VARIABLES = (
    "SQLite has no variables; pass values as params (:name), or keep them in a WITH clause or a table"
)
_DATABASES = (
    "each database here is a file of its own: give its name as the argument database, made on first use"
)
_OPTIMIZE = "PRAGMA optimize does what there is to do"
_NO_USERS = "this database has no users or rights: it is the agent's own"
_SAID = {
    ("CREATE", "DATABASE"): _DATABASES,
    ("DROP", "DATABASE"): f"{_DATABASES}; `mnemos workspace` deletes one",
    ("CREATE", "SCHEMA"): f"SQLite has no schemas: put the name in front of the tables', or: {_DATABASES}",
    ("USE",): _DATABASES,
    ("GRANT",): _NO_USERS,
    ("REVOKE",): _NO_USERS,
    ("CREATE", "USER"): _NO_USERS,
    ("CREATE", "ROLE"): _NO_USERS,
    ("CREATE", "PROCEDURE"): _NO_PROCEDURES,
    ("CREATE", "FUNCTION"): _NO_PROCEDURES,
    ("CREATE", "SEQUENCE"): "SQLite has no sequences: a column `id INTEGER PRIMARY KEY` numbers its rows",
    (
        "CREATE",
        "TYPE",
    ): "SQLite has no types of one's own: TEXT with CHECK (x IN ('a', 'b')) is an enumeration",
    ("CREATE", "DOMAIN"): "SQLite has no domains: put the CHECK into the table",
    (
        "CREATE",
        "EXTENSION",
    ): "nothing can be loaded here; the tool sqlite_schema lists the functions there are",
    ("DELIMITER",): _NO_PROCEDURES,
    ("DECLARE",): _NO_VARIABLES,
    ("SET",): _NO_VARIABLES,
    ("EXEC",): _NO_PROCEDURES,
    ("EXECUTE",): _NO_PROCEDURES,
    ("CALL",): _NO_PROCEDURES,
    ("DO",): _NO_PROCEDURES,
    ("IF",): f"{_NO_PROCEDURES}; CASE and WHERE EXISTS (...) decide within a statement",
    ("WHILE",): f"{_NO_PROCEDURES}; WITH RECURSIVE repeats within a statement",
    ("PRINT",): "SELECT 'text' shows something",
    ("RETURN",): _NO_PROCEDURES,
    ("RAISE",): "RAISE(ABORT, 'text') stands in triggers only",
    ("GO",): "GO is no SQL: leave it out; statements end with a semicolon",
    ("LOCK",): _ONE_TRANSACTION,
    ("UNLOCK",): _ONE_TRANSACTION,
    ("START",): _ONE_TRANSACTION,
    ("BEGIN", "TRAN"): _ONE_TRANSACTION,
    ("BEGIN", "WORK"): _ONE_TRANSACTION,
    ("COMMIT",): _ONE_TRANSACTION,
    ("ROLLBACK",): "an error takes the whole call back by itself: leave it out",
    ("REFRESH",): "SQLite has no materialized views: a VIEW is computed anew each time",
    ("VACUUM",): "`mnemos workspace compact` gives unused space back",
    ("BEGIN",): f"{_NO_PROCEDURES}; {_ONE_TRANSACTION}",
    ("OPTIMIZE",): _OPTIMIZE,
    ("LOAD",): "the tool sqlite_import reads files into a table",
    ("COPY",): "the tool sqlite_import reads files into a table, the tool sqlite_export writes them",
    ("BULK",): "the tool sqlite_import reads files into a table",
    ("COMMENT",): "SQLite keeps comments as they are in CREATE TABLE: /* ... */ beside the column",
    ("HELP",): "the tool sqlite_schema tells of tables and functions",
    ("FLUSH",): "there is nothing to flush",
    ("KILL",): "there is nothing to kill",
}


def sayings(text: Text, _schema: Schema) -> Iterable[Change]:
    said = _SAID.get((text.word(0), text.word(1))) or _SAID.get((text.word(0),))
    if said and text.word(1) not in _PROCEDURES:
        yield Change(said, is_all=True)


def analyses(text: Text, _schema: Schema) -> Iterable[Change]:
    if text.has(0, "ANALYZE", "TABLE"):
        yield Change("the name follows ANALYZE", (Edit(1, 2, ""),))
    elif text.has(0, "EXPLAIN", "ANALYZE") or text.has(0, "EXPLAIN", "EXTENDED"):
        yield Change("SQLite says EXPLAIN QUERY PLAN", (Edit(1, 2, "QUERY PLAN"),))
    elif text.has(0, "EXPLAIN", "PLAN", "FOR"):
        yield Change("SQLite says EXPLAIN QUERY PLAN", (Edit(1, 3, "QUERY PLAN"),))
    elif text.has(0, "OPTIMIZE", "TABLE"):
        yield Change(_OPTIMIZE, (Edit(0, len(text), "PRAGMA optimize"),))


def variables(text: Text, _schema: Schema) -> Iterable[Change]:
    """``SELECT @x := 5`` and ``@@ROWCOUNT``."""
    for index, token in enumerate(text.tokens):
        if token.kind is Kind.PARAMETER and text.word(index + 1) == ":" and text.word(index + 2) == "=":
            yield Change(_NO_VARIABLES, is_all=True)
        elif text.word(index) == "@" and text.word(index + 1).upper() in _GLOBALS:
            made = _GLOBALS[text.word(index + 1).upper()]
            yield Change(f"SQLite has {made} for that", (Edit(index, index + 2, made),))


_GLOBALS = {
    "@ROWCOUNT": "changes()",
    "@IDENTITY": "last_insert_rowid()",
    "@VERSION": "sqlite_version()",
}


def series(text: Text, schema: Schema) -> Iterable[Change]:
    """``FROM generate_series(1, 10)``, which SQLite has in its shell only."""
    for index in text.places("GENERATE_SERIES", "("):
        if text.word(index - 1) not in ("FROM", "JOIN", ",") or "generate_series" in schema.tables:
            continue
        arguments = [text.source(*argument) for argument in text.arguments(index + 1)]
        if len(arguments) not in (2, 3):
            continue
        start, stop, step = (*arguments, "1")[:3]
        made = (
            f"(WITH RECURSIVE n(value) AS (SELECT {start} UNION ALL SELECT value + {step} FROM n "
            f"WHERE value + {step} <= {stop}) SELECT value FROM n)"
        )
        why = "generate_series is not there; WITH RECURSIVE counts"
        yield Change(why, (Edit(index, text.closes[index + 1] + 1, made),))


RULES = (
    (frozenset({"SHOW", "DESCRIBE", "DESC", "\\", ".", "EXEC", "EXECUTE", "CALL"}) | _PROCEDURES, showing),
    (_CATALOGUES, catalogues),
    (frozenset({"TRUNCATE"}), truncations),
    (frozenset({"ANALYZE", "OPTIMIZE", "EXPLAIN"}), analyses),
    (frozenset({"GENERATE_SERIES"}), series),
    (frozenset({":", "@"}), variables),
    (frozenset(words[0] for words in _SAID), sayings),
)
