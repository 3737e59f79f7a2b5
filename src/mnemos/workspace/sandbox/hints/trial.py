"""Whether SQLite would take a statement, asked of SQLite itself before the statement is offered.

The statement is compiled and never run, in a database of its own in memory that has the tables and columns of
the real one and none of its rows. The agent's SQL may be hostile here too: pragmas, which act while they are
compiled, are refused but for those that tell of tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import apsw

from mnemos.workspace.functions import catalog
from mnemos.workspace.identifiers import quote as quoted
from mnemos.workspace.sandbox.hints.known import BUILT_IN, Schema, bare
from mnemos.workspace.sandbox.lexer import Kind, statements, tokens

_MOST_TABLES = 50
_TELLING = frozenset(
    {"table_info", "table_xinfo", "table_list", "index_list", "foreign_key_list", "index_info"}
)
_WORDS = re.compile(r"\w+")
_MALFORMED = re.compile(r'near ".*": syntax error|unrecognized token: ".*"|incomplete input', re.DOTALL)
_IN_THE_WAY = re.compile(r"(?:table|view|index|trigger) (.+) already exists", re.DOTALL)
# What cannot be judged without the real tables: their keys, and which of them are views.
_ONLY_HERE = ("ON CONFLICT clause does not match", "no such index", "no such constraint", "use DROP ")


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why SQLite does not take a statement."""

    message: str
    offset: int | None
    """Where, in bytes of UTF-8 as SQLite counts; None where it does not say."""

    @property
    def is_syntax(self) -> bool:
        return bool(_MALFORMED.fullmatch(self.message))

    @property
    def is_name(self) -> bool:
        return self.message.startswith("no such ")

    @property
    def name(self) -> str:
        """Of a message about a name, the name, without the table or schema in front."""
        return self.message.partition(": ")[2].rpartition(".")[2]


class Trial:
    """A place to try statements that mention some of the same tables and functions as a failed one."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self._connection = apsw.Connection(":memory:")
        for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
            self._connection.config(option, 0)
        self._add_tables(sql, schema)
        self._functions = set(schema.functions - BUILT_IN)
        """Those that no statement has needed yet: there are many, and a statement needs few."""
        self._connection.authorizer = _allow
        self._connection.exec_trace = _stop

    def _add_tables(self, sql: str, schema: Schema) -> None:
        for name in [name for name in _mentioned(sql) if name in schema.tables][:_MOST_TABLES]:
            different = {column.lower(): column for column in schema.columns[name]}
            columns = ", ".join(map(quoted, different.values()))
            if columns and not name.startswith("sqlite_"):
                self._connection.execute(f"CREATE TABLE {quoted(schema.tables[name])} ({columns})")

    def _add_function(self, name: str) -> bool:
        """Under a name that is known; how many arguments it takes is known of our own functions."""
        if name not in self._functions:
            return False
        self._functions.remove(name)
        function = next((one for one in catalog.FUNCTIONS if one.name.lower() == name), None)
        for count in function.arity if function else (-1,):
            if function and not function.call:
                self._connection.create_window_function(name, _Nothing, count)
            else:
                self._connection.create_scalar_function(name, _nothing, count)
        return True

    def complaint(self, sql: str) -> Complaint | None:
        """What SQLite has against the first statement that it does not take; None if it takes them all."""
        before: set[str] = set()
        for statement in statements(sql):
            complaint = self._one(statement.text)
            # Nothing is run, so that what an earlier statement makes is not there for a later one.
            if complaint and not _is_of(complaint, before):
                return complaint
            before.update(_mentioned(statement.text))
        return None

    def _one(self, sql: str) -> Complaint | None:
        try:
            self._connection.execute(sql)
        except (apsw.ExecTraceAbort, apsw.BindingsError, apsw.AuthError):
            return None
        except apsw.Error as exc:
            message = str(exc)
            if message.startswith("no such function: ") and self._add_function(message[18:].lower()):
                return self._one(sql)
            if message.startswith(_ONLY_HERE):
                return None
            offset = getattr(exc, "error_offset", -1)
            return Complaint(message, offset if offset >= 0 else None)
        return None


def _is_of(complaint: Complaint, before: set[str]) -> bool:
    """Whether something is missing, or in the way, only because the statements before were not run."""
    if match := _IN_THE_WAY.fullmatch(complaint.message):
        return match[1].strip('"').lower() in before
    return complaint.is_name and complaint.name.lower() in before


def _mentioned(sql: str) -> dict[str, None]:
    """What may be names in a text, in lower case, in order: also within quotes that are not closed."""
    return dict.fromkeys(
        name.lower()
        for token in tokens(sql)
        if token.kind in (Kind.WORD, Kind.NAME, Kind.STRING, Kind.ILLEGAL)
        for name in (_WORDS.findall(token.text) if token.kind is Kind.ILLEGAL else [bare(token.text)])
    )


class _Nothing:
    """A window function that is never run."""

    def step(self, *_values: Any) -> None: ...

    def final(self) -> None: ...

    def inverse(self, *_values: Any) -> None: ...

    def value(self) -> None: ...


def _nothing(*_values: Any) -> None: ...


def _allow(action: int, one: str | None, _two: str | None, _database: str | None, _within: str | None) -> int:
    if action in (apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH):
        return apsw.SQLITE_DENY
    if action == apsw.SQLITE_PRAGMA and (one or "").lower() not in _TELLING:
        return apsw.SQLITE_DENY
    return apsw.SQLITE_OK


def _stop(_cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
    return False
