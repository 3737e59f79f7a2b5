"""One call of the agent: its statements in one transaction, all or nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any

import apsw
import msgspec

from mnemos.workspace import limits
from mnemos.workspace.sandbox import failures
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.database_files import keep_snapshot
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.guard import VACUUM
from mnemos.workspace.sandbox.hints import warnings
from mnemos.workspace.sandbox.history import check_names
from mnemos.workspace.sandbox.lexer import Kind, Statement, statements, tokens
from mnemos.workspace.sandbox.result_rows import (
    Fetched,
    Room,
    decode_rows,
    fetch,
    name_columns,
    select_as_bytes,
)

# A call that deletes or changes this many rows gets a snapshot before.
MANY_ROWS = 100
# Statements that begin and end transactions, in all their forms.
_FRAMING = re.compile(r"(?:BEGIN(?: DEFERRED| IMMEDIATE| EXCLUSIVE)?|COMMIT|END|ROLLBACK)(?: TRANSACTION)?")
_LONGEST_FRAMING = 4
_MAY_FRAME = re.compile(r"(?i:BEGIN|COMMIT|END|ROLLBACK|VACUUM)\b")
_ONLY_READS = re.compile(r"(?i:SELECT|VALUES)\b")
# INSERT OR REPLACE and REPLACE INTO delete rows, of which SQLite tells the guard nothing.
_MAY_REPLACE = re.compile(r"(?i:\bREPLACE\b)")
_REPLACING = frozenset({("OR", "REPLACE"), ("REPLACE", "INTO")})
# Errors caused by the values of one row.
_OF_A_ROW = (apsw.BindingsError, apsw.ConstraintError, KeyError, OverflowError)
# Agents ask the same again and again, with other values.
_REMEMBERED = 256
_LONGEST_REMEMBERED = 4_000
_NOT_UTF8 = "some text is not UTF-8; � replaces what cannot be read"


class Call(msgspec.Struct, frozen=True):
    """A request of the agent."""

    sql: str
    params: list[Any] | dict[str, Any] | None
    rows: list[Any] | None
    max_rows: int
    max_bytes: int
    max_cell: int | None
    offset: int
    read_only: bool


class Run:
    """A call at work on a database."""

    def __init__(self, database: Database, call: Call, clock: Clockwork) -> None:
        self._database = database
        self._call = call
        self._clock = clock
        self._room = Room(call.max_rows, call.max_bytes, call.max_cell)
        self._results: list[dict[str, Any]] = []
        self._warnings: list[str] = []
        self._removed = 0
        self._writes = False
        self._used = 0
        self._row: int | None = None

    def answer(self) -> dict[str, Any]:
        """Run everything. After a failure nothing is kept, and Failure is raised."""
        began = time.perf_counter()
        if len(self._call.sql) > limits.SQL_LENGTH.value:
            raise failures.too_long_failure()
        todo = _statements(self._call.sql)
        self._check(todo)
        try:
            self._transaction(todo, immediate=self._call.rows is not None)
        except Failure as failure:
            if failure.code != "busy" or self._call.read_only:
                raise
            # It read before it wrote, and somebody else wrote in between: once more, with the lock from the
            # beginning. Nothing of the first try was kept.
            self._reset()
            self._transaction(todo, immediate=True)
        self._database.note_use()
        return {
            "results": self._results,
            "warnings": list(dict.fromkeys(self._warnings)),
            "changes": sum(result["changes"] for result in self._results),
            "wrote": self._writes,
            "schema_changed": self._database.guard.changes_schema,
            "size_bytes": self._database.size(),
            "offset": self._call.offset,
            "elapsed_ms": round((time.perf_counter() - began) * 1000, 3),
        }

    def _check(self, todo: Sequence[Statement]) -> None:
        if not todo:
            raise Failure("invalid_input", "query contains no statement. Write SQL, such as SELECT 1.")
        if len(todo) > limits.STATEMENTS.value:
            raise Failure(
                "too_large",
                f"query holds more than {limits.STATEMENTS.value} statements, the most that go in one call. "
                "To insert many rows, pass one INSERT and rows",
            )
        if self._call.rows is not None and len(todo) != 1:
            raise Failure(
                "invalid_input", f"rows needs one statement, such as an INSERT, but query has {len(todo)}"
            )
        if self._call.rows is not None and self._call.params:
            raise Failure(
                "invalid_input", "params and rows cannot be used together. Put every value into rows."
            )

    def _reset(self) -> None:
        self._results.clear()
        self._warnings.clear()
        self._removed = self._used = 0
        self._room = Room(self._call.max_rows, self._call.max_bytes, self._call.max_cell)

    def _transaction(self, todo: Sequence[Statement], *, immediate: bool) -> None:
        self._database.guard.begin_call()
        # One SELECT sees one moment and changes nothing without a transaction around it. This is set outside
        # of the transaction: SQLite does not change it within one.
        only_reads = len(todo) == 1 and self._call.rows is None and bool(_ONLY_READS.match(todo[0].text))
        with self._database.agents(read_only=self._call.read_only or only_reads) as connection:
            if not only_reads:
                self._database.run("BEGIN IMMEDIATE" if immediate and not self._call.read_only else "BEGIN")
            try:
                for number, statement in enumerate(todo, 1):
                    self._run_statement(connection, statement, number, is_last=number == len(todo))
                self._check_parameters()
                self._check_tables()
                check_names(self._database)
                if self._database.guard.drops or self._removed >= MANY_ROWS:
                    keep_snapshot(self._database, self._clock)
                if connection.in_transaction:
                    self._database.run("COMMIT")
            except BaseException as exc:
                failure = self._failure(exc)
                self._roll_back()
                raise failure from exc

    def _roll_back(self) -> None:
        if self._database.connection.in_transaction:
            self._database.run("ROLLBACK")

    def _run_statement(
        self, connection: apsw.Connection, statement: Statement, number: int, *, is_last: bool
    ) -> None:
        self._at = (number, statement)
        if _MAY_FRAME.match(statement.text):
            words = _words(statement.text)
            if _FRAMING.fullmatch(" ".join(words)):
                self._skip_framing(words[0])
                return
            if words[0] == "VACUUM":
                raise Failure("refused", VACUUM)
        guard = self._database.guard
        guard.begin_statement()
        changes = connection.total_changes()
        if self._call.rows is not None:
            result = self._run_many(connection, statement.text, self._call.rows)
        else:
            result = self._run_single(connection, statement.text, is_last=is_last)
        changed = connection.total_changes() - changes
        if changed and (guard.removes or _replaces(statement.text)):
            self._removed += changed
        self._results.append({"statement": statement.text[:200], "changes": changed, **result})
        self._room.count(result["columns"])
        if self._room.given > limits.ANSWER.value:
            raise Failure(
                "too_large",
                f"The answer has more than {limits.ANSWER.value} bytes. Nothing was changed. Ask for fewer "
                "rows or columns, page, or export them.",
            )
        self._warnings += warnings(statement.text)

    def _skip_framing(self, word: str) -> None:
        if word == "ROLLBACK":
            self._roll_back()
            self._database.run("BEGIN")
            self._warnings.append("ROLLBACK undid everything that this call did before it")
            for result in self._results:
                result["changes"] = 0
            self._removed = 0
            self._database.guard.begin_call()
        else:
            self._warnings.append(f"{word} was left out: a call is one transaction already, all or nothing")
        self._results.append({"statement": word, "changes": 0, "columns": [], "rows": [], "truncated": False})

    def _run_many(self, connection: apsw.Connection, sql: str, rows: Sequence[Any]) -> dict[str, Any]:
        columns: list[str] = []
        cursor = connection.cursor()
        cursor.exec_trace = self._tracer(columns)
        cursor.executemany(sql, self._number_rows(rows), can_cache=False)
        fetched = fetch(cursor, self._room, skip=0, most=self._room.rows)
        for _ in cursor:
            # Rows of RETURNING that don't fit must still be processed.
            pass
        return {"columns": columns, "rows": fetched.rows, "truncated": fetched.more}

    def _number_rows(self, rows: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows and remember which, so that one that does not fit can be named."""
        for number, row in enumerate(rows):
            self._row = number
            yield row

    def _run_single(self, connection: apsw.Connection, sql: str, *, is_last: bool) -> dict[str, Any]:
        columns: list[str] = []
        cursor = connection.cursor()
        cursor.exec_trace = self._tracer(columns)
        bindings = self._bindings(sql)
        skip = self._call.offset if is_last else 0
        # Statements before the last leave room for it: its rows are mostly what was wanted.
        most = self._room.rows if is_last else max(self._room.rows // 2, 1)
        before = self._room.copy()
        try:
            cursor.execute(sql, bindings, can_cache=False)
            fetched = fetch(cursor, self._room, skip=skip, most=most)
        except UnicodeDecodeError:
            cursor.close(force=True)
            self._room = before
            fetched = self._fetch_undecodable(connection, sql, bindings, len(columns), skip=skip, most=most)
        finally:
            cursor.close(force=True)
        return {"columns": columns, "rows": fetched.rows, "truncated": fetched.more}

    def _fetch_undecodable(
        self, connection: apsw.Connection, sql: str, bindings: Any, columns: int, *, skip: int, most: int
    ) -> Fetched:
        if _words(sql)[:1] not in (("SELECT",), ("WITH",), ("VALUES",)) or self._database.guard.removes:
            raise Failure(
                "sql_error",
                "The statement returns text that is not UTF-8. Return hex(column) instead.",
            )
        self._warnings.append(_NOT_UTF8)
        cursor = connection.execute(select_as_bytes(sql, columns), bindings, can_cache=False)
        try:
            return fetch(decode_rows(cursor, columns), self._room, skip=skip, most=most)
        finally:
            cursor.close(force=True)

    def _tracer(self, columns: list[str]) -> Any:
        def begins(cursor: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
            if not columns:
                columns.extend(name_columns(cursor))
            self._writes |= not cursor.is_readonly
            return True

        return begins

    # --- parameters -------------------------------------------------------------------------

    def _bindings(self, sql: str) -> Any:
        """Return the parameters of one statement: by name all of them, by position the next."""
        given = self._call.params
        if given is None or isinstance(given, Mapping):
            return given or ()
        count, highest = (
            _count_parameters if len(sql) <= _LONGEST_REMEMBERED else _count_parameters.__wrapped__
        )(sql)
        if highest:
            self._used = max(self._used, highest)
            return given[:highest]
        first, self._used = self._used, self._used + count
        return given[first : self._used]

    def _check_parameters(self) -> None:
        given = self._call.params
        if given is None or isinstance(given, Mapping) or self._call.rows is not None:
            return
        if len(given) > self._used:
            raise Failure(
                "invalid_input", f"params has {len(given)} values and the statements take {self._used}"
            )

    # --- what a failure says ------------------------------------------------------------------

    def _failure(self, exc: BaseException) -> Failure:
        number, statement = self._at
        failure = failures.explain(exc, self._database, self._clock)
        failure.statement, failure.sql = number, statement.text
        if self._row is not None and isinstance(exc, _OF_A_ROW):
            failure.message += f" (row {self._row} of rows)"
        return failure

    def _check_tables(self) -> None:
        if not self._database.guard.changes_schema:
            return
        count = self._database.value("SELECT count(*) FROM sqlite_schema")
        if count > limits.TABLES.value:
            raise Failure(
                "too_large",
                f"The database would have {count} tables, indexes, views and triggers. At most "
                f"{limits.TABLES.value} are allowed. Nothing was changed: keep things apart by a column, "
                "not by a table.",
            )


def _replaces(sql: str) -> bool:
    """True if inserted rows may replace others."""
    if not _MAY_REPLACE.search(sql):
        return False
    words = (token.text.upper() for token in tokens(sql) if token.kind is not Kind.COMMENT)
    return any(pair in _REPLACING for pair in pairwise(words))


@lru_cache(_REMEMBERED)
def _count_parameters(sql: str) -> tuple[int, int]:
    """Return the number of parameters without a number, and the highest number of the others."""
    here = [token.text for token in tokens(sql) if token.kind is Kind.PARAMETER]
    numbered = [int(text[1:]) for text in here if text[0] == "?" and text[1:]]
    return here.count("?") or len(set(here)), max(numbered, default=0)


@lru_cache(_REMEMBERED)
def _short_statements(sql: str) -> list[Statement]:
    return statements(sql)


def _statements(sql: str) -> list[Statement]:
    if len(sql) <= _LONGEST_REMEMBERED:
        return _short_statements(sql)
    return statements(sql, limits.STATEMENTS.value + 1)


def _words(sql: str) -> tuple[str, ...]:
    """The first tokens of a statement, in capitals: enough to know a statement that frames a transaction."""
    found = (token.text.upper() for token in tokens(sql) if token.kind is not Kind.COMMENT)
    return tuple(islice(found, _LONGEST_FRAMING))
