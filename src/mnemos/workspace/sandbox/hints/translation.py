"""What sqlglot makes of a statement that SQLite cannot read, if it is one of another database."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

from apsw import keywords

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Text
from mnemos.workspace.sandbox.hints.trial import Trial
from mnemos.workspace.sandbox.lexer import Kind

# sqlglot reads about 100 kB a second, and this much for each dialect.
_LONGEST = 4_000
# It calls itself for every level of nesting.
_DEEPEST = 40
_POSTGRES = frozenset({"ILIKE", "RETURNING", "LATERAL", "SIMILAR", "DISTINCT", ":", "~", "INTERVAL", "ARRAY"})
_TSQL = frozenset({"TOP", "NOLOCK", "GETDATE", "ISNULL", "APPLY", "OUTPUT", "CONVERT", "DATEADD", "LEN"})
_TAKING = frozenset({"DELETE", "UPDATE", "DROP", "ALTER", "TRUNCATE", "MERGE", "REPLACE"})
NAMES = {"mysql": "MySQL", "postgres": "PostgreSQL", "tsql": "T-SQL", "duckdb": "DuckDB"}


def translated(text: Text, trial: Trial, schema: Schema) -> tuple[str, str] | None:
    """The statement in SQLite's dialect and the name of the one it was in.

    Only what SQLite can read (names may be unknown), what differs, and what has every string of the original
    in its place, and every number, table and column somewhere: sqlglot leaves out what it cannot say.
    """
    if len(text.sql) > _LONGEST or max(text.depths, default=0) > _DEEPEST:
        return None
    for dialect in _likely(set(text.words)):
        made = _transpiled(text.sql, dialect)
        if made is None or made.split() == text.sql.split() or not _keeps(text, Text(made), schema):
            continue
        left = trial.complaint(made)
        if left is None or (left.is_name and left.name.upper() in text.words):
            return made, NAMES[dialect]
    return None


def _likely(words: set[str]) -> Iterator[str]:
    """The dialects to try, the likeliest first. MySQL and T-SQL sort NULLs as SQLite does."""
    order = ["mysql", "tsql", "postgres", "duckdb"]
    if not words.isdisjoint(_TSQL):
        order.sort(key=lambda name: name != "tsql")
    elif not words.isdisjoint(_POSTGRES):
        order.sort(key=lambda name: name != "postgres")
    yield from order


def _transpiled(sql: str, dialect: str) -> str | None:
    # sqlglot: 150 ms to import, and only a statement that failed needs it.
    import sqlglot
    from sqlglot.errors import ErrorLevel, SqlglotError

    # What it says of statements it does not know would go to the worker's standard error.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        made = sqlglot.transpile(
            sql,
            read=dialect,
            write="sqlite",
            error_level=ErrorLevel.IMMEDIATE,
            unsupported_level=ErrorLevel.RAISE,
            comments=False,
        )
    except (SqlglotError, RecursionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        # The last five are how its parser stumbles over text that is no SQL at all.
        return None
    return "; ".join(made) if made and all(made) else None


def _keeps(before: Text, after: Text, schema: Schema) -> bool:
    rest = iter(after.words)
    strings = [token.text for token in before.tokens if token.kind is Kind.STRING]
    if not all(string in rest for string in strings):
        return False
    numbers = Counter(token.text for token in before.tokens if token.kind is Kind.NUMBER)
    names = {word.lower() for word in before.words} & _names(schema)
    if before.word(0) in _TAKING:
        # Nothing may be lost here: a condition less, and more rows are gone.
        names |= {word.lower() for word in before.words if word.isidentifier() and word not in keywords}
    return numbers <= Counter(after.words) and names <= {word.lower() for word in after.words}


def _names(schema: Schema) -> set[str]:
    return {*schema.tables, *(column.lower() for columns in schema.columns.values() for column in columns)}
