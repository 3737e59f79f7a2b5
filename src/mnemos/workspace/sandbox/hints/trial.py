"""Compiling a statement before it is offered.

The statement is compiled and never run, in a database in memory that has the tables and columns of the real
one and none of its rows. The agent's SQL may be hostile here too: pragmas act while they are compiled, so all
but those that describe tables are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import apsw

from mnemos.workspace.functions import catalog
from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox.hints.nearest import Schema
from mnemos.workspace.sandbox.lexer import Kind, statements, tokens, unquote

_MOST_TABLES = 50
_DESCRIBING = frozenset(
    {"table_info", "table_xinfo", "table_list", "index_list", "foreign_key_list", "index_info"}
)
_WORDS = re.compile(r"\w+")
_MALFORMED = re.compile(r'near ".*": syntax error|unrecognized token: ".*"|incomplete input', re.DOTALL)
_IN_THE_WAY = re.compile(r"(?:table|view|index|trigger) (.+) already exists", re.DOTALL)
# Complaints that depend on the real tables: their keys, and which of them are views.
_ONLY_HERE = (
    "ON CONFLICT clause does not match",
    "no such index",
    "no such trigger",
    "no such constraint",
    "use DROP ",
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """SQLite's refusal of a statement."""

    message: str
    offset: int | None
    """The place in bytes of UTF-8; None where SQLite doesn't say."""

    @property
    def is_syntax(self) -> bool:
        return bool(_MALFORMED.fullmatch(self.message))


class Trial:
    """A database to compile statements in that use the tables of a failed one."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self._connection = apsw.Connection(":memory:")
        for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
            self._connection.config(option, 0)
        self._add_tables(sql, schema)
        catalog.register(self._connection)
        self._connection.authorizer = _authorize
        self._connection.exec_trace = lambda *_: False

    def _add_tables(self, sql: str, schema: Schema) -> None:
        for name in [name for name in _find_names(sql) if name in schema.tables][:_MOST_TABLES]:
            columns = ", ".join(map(quote, {name.lower(): name for name in schema.columns[name]}.values()))
            if columns and not name.startswith("sqlite_"):
                self._connection.execute(f"CREATE TABLE {quote(schema.tables[name])} ({columns})")

    def compile(self, sql: str) -> Complaint | None:
        """Return the complaint about the first statement that is refused; None if all compile."""
        before: set[str] = set()
        for statement in statements(sql):
            complaint = self._compile_one(statement.text)
            # Nothing is run, so what an earlier statement creates is missing in a later one.
            if complaint and not _concerns(complaint.message, before):
                return complaint
            before.update(_find_names(statement.text))
        return None

    def _compile_one(self, sql: str) -> Complaint | None:
        try:
            self._connection.execute(sql)
        except (apsw.ExecTraceAbort, apsw.BindingsError, apsw.AuthError):
            return None
        except apsw.Error as exc:
            message = str(exc)
            if message.startswith(_ONLY_HERE):
                return None
            offset = getattr(exc, "error_offset", -1)
            return Complaint(message, offset if offset >= 0 else None)
        return None


def _concerns(message: str, names: set[str]) -> bool:
    """True if something is missing, or in the way, only because earlier statements were not run."""
    if match := _IN_THE_WAY.fullmatch(message):
        return match[1].strip('"').lower() in names
    missing = message.partition(": ")[2].rpartition(".")[2]
    return message.startswith("no such ") and missing.lower() in names


def _find_names(sql: str) -> dict[str, None]:
    """Return what may be names, in lower case and in order, also in quotes that are not closed."""
    return dict.fromkeys(
        name.lower()
        for token in tokens(sql)
        if token.kind in (Kind.WORD, Kind.NAME, Kind.STRING, Kind.ILLEGAL)
        for name in (_WORDS.findall(token.text) if token.kind is Kind.ILLEGAL else [unquote(token.text)])
    )


def _authorize(action: int, one: str | None, *_rest: str | None) -> int:
    is_pragma = action == apsw.SQLITE_PRAGMA and (one or "").lower() not in _DESCRIBING
    is_refused = is_pragma or action in (apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH)
    return apsw.SQLITE_DENY if is_refused else apsw.SQLITE_OK
