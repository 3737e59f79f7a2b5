"""Import of a file into a table, all or nothing, with types known before the first row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import apsw

from mnemos.workspace import limits
from mnemos.workspace.formats import Column, Kind, Limits, Row, Table, open_table
from mnemos.workspace.identifiers import quote
from mnemos.workspace.sandbox import failures
from mnemos.workspace.sandbox.agent_call import MANY_ROWS
from mnemos.workspace.sandbox.card.table_description import TableSort
from mnemos.workspace.sandbox.card.tables import list_columns, list_tables
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.database_files import keep_snapshot
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.lexer import fold

# How many times larger than the database an unpacked file may be: much of it may be left out.
_TIMES_THE_DATABASE = 10
_TWICE = frozenset({apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request to import a file."""

    table: str
    mode: str
    key: Sequence[str]
    format: str | None
    header: bool | None
    name: str
    """Of the file, for messages and for its format."""


class Import:
    """One file on its way into one table."""

    def __init__(self, database: Database, wanted: Wanted, clock: Clockwork) -> None:
        self._database = database
        self._wanted = wanted
        self._clock = clock
        self._notes: list[str] = []
        self._untyped: frozenset[str] = frozenset()
        self._before = (0, 0)
        self._rows = 0

    def run(self, stream: BinaryIO, progress: Callable[[float], None]) -> dict[str, Any]:
        """Read the file once for its columns and types, then again for its rows, in one transaction."""
        most = Limits(
            size=_TIMES_THE_DATABASE * self._database.place.quota.database_bytes,
            item=limits.LENGTH.value,
            columns=limits.COLUMN.value,
        )
        self._before = _read_state(stream)
        try:
            source = open_table(
                stream,
                format=self._wanted.format,
                name=self._wanted.name,
                header=self._wanted.header,
                limits=most,
                on_progress=_watch_deadline(progress, self._clock),
            )
            created, rows = self._transaction(source, stream)
        except UnicodeDecodeError as exc:
            raise self._change_failure() from exc
        except apsw.ConstraintError as exc:
            raise self._explain_refusal(exc) from exc
        except BaseException as exc:
            raise failures.explain(exc, self._database, self._clock) from exc
        self._database.note_use()
        return {
            "table": self._wanted.table,
            "created": created,
            "rows": rows,
            "bad": [[line.number, line.reason] for line in source.bad],
            "bad_count": source.bad_total,
            "columns": [[column.name, str(column.type)] for column in source.columns],
            "notes": [*source.notes, *self._notes],
            "schema_changed": self._database.guard.changes_schema,
        }

    def _transaction(self, source: Table, stream: BinaryIO) -> tuple[bool, int]:
        self._database.guard.begin_call()
        self._database.guard.begin_statement()
        with self._database.agents(read_only=False) as connection:
            self._database.run("BEGIN IMMEDIATE")
            try:
                created = self._prepare(connection, source)
                statement = self._insert(source)
                for batch in source.batches():
                    connection.executemany(statement, self._count_rows(batch))
                if _read_state(stream) != self._before:
                    raise self._change_failure()
                updates_many = self._wanted.mode == "upsert" and self._rows >= MANY_ROWS
                if self._database.guard.drops or updates_many:
                    keep_snapshot(self._database, self._clock)
                self._database.run("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    self._database.run("ROLLBACK")
                raise
        return created, self._rows

    def _count_rows(self, batch: Sequence[Row]) -> Iterator[Row]:
        """Count the rows as they go in: SQLite's count includes those of triggers and indexes."""
        for row in batch:
            self._rows += 1
            yield row

    def _explain_refusal(self, exc: apsw.ConstraintError) -> Failure:
        """Return the failure for a row the table refuses, or a key that is not unique."""
        if not self._rows:
            key = ", ".join(self._wanted.key)
            return Failure(
                "sql_error",
                f"{exc}: rows of {self._wanted.table!r} have the same {key}. Nothing was changed. Delete all "
                "but one of them, or choose another key.",
            )
        # The stubs of apsw do not know what its errors carry.
        twice = getattr(exc, "extendedresult", 0) in _TWICE and self._wanted.mode != "upsert"
        advice = (
            "To update rows that are there, use mode upsert with a key" if twice else "Repair it in the file"
        )
        said = f"{exc}, by row {self._rows} of {self._wanted.name}. Nothing was changed."
        return Failure("sql_error", f"{said}. {advice}")

    def _change_failure(self) -> Failure:
        name = self._wanted.name
        return Failure(
            "busy", f"{name} changed while it was being read. Nothing was imported. Import it again."
        )

    # --- the table --------------------------------------------------------------------------

    def _prepare(self, connection: apsw.Connection, source: Table) -> bool:
        """Make the table ready for the rows; True if it is a new one."""
        table, mode = self._wanted.table, self._wanted.mode
        there = self._kind(connection)
        if there not in (None, "table"):
            raise Failure("refused", f"{table!r} is a {there}. Rows go into tables. Choose another name.")
        if there and mode == "create":
            raise Failure(
                "already_exists",
                f"There is a table {table!r} already. Nothing was changed. Use mode append, replace or "
                "upsert, or another name.",
            )
        if not source.columns:
            raise Failure("invalid_input", f"{self._wanted.name} holds no columns. Nothing was changed.")
        if there and mode == "replace":
            connection.execute(f"DROP TABLE {quote(table)}", can_cache=False)
            there = None
        if there is None:
            self._create(connection, source)
            return True
        self._match(connection, source)
        if mode == "upsert":
            self._make_unique(connection, source)
        return False

    def _kind(self, connection: apsw.Connection) -> str | None:
        with self._database.own():
            found = list_tables(connection).tables.get(fold(self._wanted.table))
        return None if found is None else "view" if found.sort is TableSort.VIEW else "table"

    def _create(self, connection: apsw.Connection, source: Table) -> None:
        self._check_key([column.name for column in source.columns])
        columns = [f"{quote(column.name)} {column.type}".rstrip() for column in source.columns]
        if self._wanted.key:
            columns.append(f"PRIMARY KEY ({_quote_all(self._wanted.key)})")
        connection.execute(
            f"CREATE TABLE {quote(self._wanted.table)} ({', '.join(columns)})", can_cache=False
        )

    def _match(self, connection: apsw.Connection, source: Table) -> None:
        with self._database.own():
            has = list_columns(connection, self._wanted.table)
            self._untyped = _find_untyped(connection, self._wanted.table)
        known = {name.lower() for name in has}
        missing = [column for column in source.columns if column.name.lower() not in known]
        if missing:
            table = quote(self._wanted.table)
            adding = "; ".join(
                f"ALTER TABLE {table} ADD COLUMN {quote(column.name)} {column.type}".rstrip()
                for column in missing[:5]
            )
            raise Failure(
                "invalid_input",
                f"{self._wanted.table!r} has no column {missing[0].name!r}. It has {', '.join(has[:20])}. "
                f"Nothing was changed. To add what is missing: {adding}.",
            )
        self._check_key(has)

    def _check_key(self, columns: Sequence[str]) -> None:
        known = {name.lower() for name in columns}
        for name in self._wanted.key:
            if name.lower() not in known:
                raise Failure(
                    "invalid_input", f"key names {name!r}. The columns are {', '.join(columns[:20])}."
                )

    def _make_unique(self, connection: apsw.Connection, source: Table) -> None:
        """Add a unique index for upsert where the table's key is not unique."""
        try:
            connection.execute(
                f"EXPLAIN {self._insert(source)}", [None] * len(source.columns), can_cache=False
            )
        except apsw.SQLError as exc:
            if "ON CONFLICT clause does not match" not in str(exc):
                raise
            name = quote(f"{self._wanted.table}_{'_'.join(self._wanted.key)}_key")
            columns = _quote_all(self._wanted.key)
            connection.execute(
                f"CREATE UNIQUE INDEX {name} ON {quote(self._wanted.table)} ({columns})", can_cache=False
            )
            self._notes.append(f"{', '.join(self._wanted.key)} was made unique, by the index {name}")

    def _insert(self, source: Table) -> str:
        names = [column.name for column in source.columns]
        values = ", ".join(self._value(column, source) for column in source.columns)
        statement = f"INSERT INTO {quote(self._wanted.table)} ({_quote_all(names)}) VALUES ({values})"
        if self._wanted.mode != "upsert":
            return statement
        key = {name.lower() for name in self._wanted.key}
        others = [quote(name) for name in names if name.lower() not in key]
        change = (
            "UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in others) if others else "NOTHING"
        )
        return f"{statement} ON CONFLICT ({_quote_all(self._wanted.key)}) DO {change}"

    def _value(self, column: Column, source: Table) -> str:
        """Return a parameter as the column takes it: numbers come as text, for it to convert."""
        value = "NULLIF(?, '')" if source.empty_is_null else "?"
        if column.name.lower() in self._untyped and column.type in (Kind.INTEGER, Kind.REAL):
            # This one converts nothing.
            return f"CAST({value} AS {column.type})"
        return value


def _quote_all(names: Sequence[str]) -> str:
    return ", ".join(map(quote, names))


def _read_state(stream: BinaryIO) -> tuple[int, int]:
    """Return a value that differs when the file was written in the meantime."""
    found = os.fstat(stream.fileno())
    return found.st_size, found.st_mtime_ns


def _find_untyped(connection: apsw.Connection, table: str) -> frozenset[str]:
    """Return the columns of a table that keep every value as it comes."""
    found = connection.execute(
        "SELECT lower(name) FROM pragma_table_info(?) WHERE type = '' OR type LIKE '%BLOB%'", (table,)
    )
    return frozenset(str(name) for (name,) in found)


def _watch_deadline(progress: Callable[[float], None], clock: Clockwork) -> Callable[[float], None]:
    """Return a progress callback that also checks the deadline, between statements."""
    last = -1.0

    def tell(share: float) -> None:
        nonlocal last
        if clock():
            raise failures.timeout_failure(clock.seconds)
        if share - last >= 0.01:
            last = share
            progress(share)

    return tell
