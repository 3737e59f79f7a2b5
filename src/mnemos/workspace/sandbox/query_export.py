"""Export of a query's rows into a file, as they come."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

import apsw

from mnemos.workspace.formats import write
from mnemos.workspace.sandbox import failures
from mnemos.workspace.sandbox.agent_call import name_columns
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.history import check_names
from mnemos.workspace.sandbox.lexer import statements
from mnemos.workspace.sandbox.result_rows import decode_rows, select_as_bytes

_A_BATCH = 500


def export(
    database: Database,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] | None,
    form: str,
    stream: BinaryIO,
    clock: Clockwork,
    most_bytes: int | None,
) -> tuple[int, int]:
    """Write the rows of one SELECT, up to ``most_bytes``; return the number of rows and bytes."""
    todo = statements(sql)
    if len(todo) != 1:
        raise Failure("invalid_input", f"query has {len(todo)} statements. An export takes one SELECT.")
    database.guard.begin_call()
    database.guard.begin_statement()
    try:
        with database.agents(read_only=True) as connection:
            try:
                rows = _write(connection, todo[0].text, parameters or (), form, stream, most_bytes)
            except UnicodeDecodeError:
                stream.seek(0)
                stream.truncate()
                rows = _write(
                    connection, todo[0].text, parameters or (), form, stream, most_bytes, undecodable=True
                )
            check_names(database)
        stream.flush()
    except OSError as exc:
        raise _of_file(exc) from exc
    except BaseException as exc:
        failure = failures.explain(exc, database, clock)
        failure.statement, failure.sql = 1, todo[0].text
        raise failure from exc
    database.note_use()
    return rows, stream.tell()


def _write(
    connection: apsw.Connection,
    sql: str,
    parameters: Any,
    form: str,
    stream: BinaryIO,
    most_bytes: int | None,
    *,
    undecodable: bool = False,
) -> int:
    columns: list[str] = []
    count = 0

    def batches(rows: Iterator[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
        nonlocal count
        while batch := list(islice(rows, _A_BATCH)):
            count += len(batch)
            yield batch

    def begins(cursor: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
        columns.extend(name_columns(cursor))
        return True

    cursor = connection.cursor()
    cursor.exec_trace = begins
    cursor.execute(sql, parameters, can_cache=False)
    try:
        if not columns:
            raise Failure("invalid_input", "The statement returns no rows. An export takes a SELECT.")
        given: Iterator[Sequence[Any]] = cursor
        if undecodable:
            cursor.close(force=True)
            cursor = connection.execute(select_as_bytes(sql, len(columns)), parameters, can_cache=False)
            given = decode_rows(cursor, len(columns))
        stream.writelines(_limit(write(form, columns, batches(given)), most_bytes))
    finally:
        cursor.close(force=True)
    return count


def _limit(chunks: Iterable[bytes], most_bytes: int | None) -> Iterator[bytes]:
    written = 0
    for chunk in chunks:
        written += len(chunk)
        if most_bytes is not None and written > most_bytes:
            raise Failure(
                "too_large",
                f"The export needs more than the {most_bytes:,} bytes that are left for exports. Nothing was "
                "exported. Select less, delete exports that are not needed, or raise exports_bytes in "
                "config.toml. `mnemos doctor` shows how much is used.",
            )
        yield chunk


def _of_file(exc: OSError) -> Failure:
    if exc.errno == errno.EFBIG:
        return Failure(
            "too_large", "The export would be many times as large as a database may be. Select less."
        )
    if exc.errno == errno.ENOSPC:
        return Failure("disk_full", "The disk is full. Nothing was exported.")
    return Failure("storage_error", f"the file cannot be written: {exc.strerror}")
