"""The rows of a statement: counted, cut to the room there is, or exported into a file as they come."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

import apsw
import msgspec

from mnemos.workspace.sandbox import failures
from mnemos.workspace.sandbox.database import Clockwork, Database
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.history import check_names
from mnemos.workspace.sandbox.lexer import statements

_encoder = msgspec.msgpack.Encoder()
_FIRST_BATCH = 4
_A_BATCH = 128
_BATCH_BYTES = 1_000_000
_SHOWN_BYTES = 16


@dataclass(slots=True)
class Room:
    """The room left for rows in a call's answer."""

    rows: int
    bytes: int
    cell: int | None
    """A longer text is cut in the middle and a blob described; None: values as they are."""
    given: int = 0
    """Bytes given so far, including a single row that did not fit."""

    def copy(self) -> Room:
        return Room(self.rows, self.bytes, self.cell, self.given)

    def count(self, values: Sequence[Any]) -> None:
        self.given += len(_encoder.encode(values))


@dataclass(frozen=True, slots=True)
class Fetched:
    rows: list[Sequence[Any]]
    more: bool
    """There were further rows than there was room for."""


def fetch(cursor: Iterator[Sequence[Any]], room: Room, *, skip: int, most: int) -> Fetched:
    """Fetch up to ``most`` rows after the first ``skip``, as many as fit, one at least."""
    for _ in islice(cursor, skip):
        pass
    rows: list[Sequence[Any]] = []
    most = min(most, room.rows)
    step = _FIRST_BATCH
    while len(rows) < most:
        batch = list(islice(cursor, min(step, most - len(rows))))
        if not batch:
            return Fetched(rows, more=False)
        if room.cell is not None:
            cell = max(min(room.cell, room.bytes // max(len(batch[0]), 1)), 24)
            batch = [[_show(value, cell) for value in row] for row in batch]
        given = room.given
        fitting = _count_fitting(batch, room, must=not rows)
        rows += batch[:fitting]
        # Long rows are taken few at a time: a batch of them is held twice.
        step = max(min(_A_BATCH, _BATCH_BYTES * len(batch) // (room.given - given + 1)), 1)
        room.rows -= fitting
        if fitting < len(batch):
            return Fetched(rows, more=True)
    return Fetched(rows, more=next(cursor, None) is not None)


def _count_fitting(batch: Sequence[Sequence[Any]], room: Room, *, must: bool) -> int:
    size = len(_encoder.encode(batch))
    if size <= room.bytes:
        room.bytes -= size
        room.given += size
        return len(batch)
    for place, row in enumerate(batch):
        size = len(_encoder.encode(row))
        if size > room.bytes and not (must and place == 0):
            return place
        room.bytes = max(room.bytes - size, 0)
        room.given += size
    return len(batch)


def _show(value: Any, most: int) -> Any:
    if isinstance(value, str) and len(value) > most:
        return shorten_middle(value, most)
    if isinstance(value, bytes):
        return describe_blob(value)
    return value


def shorten_middle(text: str, most: int) -> str:
    """Return the two ends of a text, with the number of bytes between them."""
    half = max((most - 24) // 2, 4)
    left_out = len(text[half:-half].encode("utf-8", "replace"))
    return f"{text[:half]}…[{left_out} bytes left out]…{text[-half:]}"


def describe_blob(blob: bytes) -> str:
    more = "…" if len(blob) > _SHOWN_BYTES else ""
    return f"<blob, {len(blob)} bytes: {blob[:_SHOWN_BYTES].hex()}{more}>"


def select_as_bytes(sql: str, columns: int) -> str:
    """Return a SELECT of types and bytes, for a result in which some text is not UTF-8."""
    names = [f"c{number}" for number in range(columns)]
    kinds = ", ".join(f"typeof({name})" for name in names)
    values = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names
    )
    return f"WITH given({', '.join(names)}) AS (\n{sql}\n) SELECT {kinds}, {values} FROM given"


def decode_rows(cursor: apsw.Cursor, columns: int) -> Iterator[list[Any]]:
    """Yield the rows of ``select_as_bytes`` as their values, with � for what is not UTF-8."""
    for row in cursor:
        kinds, values = row[:columns], row[columns:]
        yield [
            value.decode("utf-8", "replace") if kind == "text" and isinstance(value, bytes) else value
            for kind, value in zip(kinds, values, strict=True)
        ]


def name_columns(cursor: apsw.Cursor) -> list[str]:
    """Return the names of a statement's columns."""
    try:
        return [column[0] for column in cursor.get_description()]
    except UnicodeDecodeError as exc:
        raise failures.undecodable_failure() from exc


# --- export -------------------------------------------------------------------------------------

_EXPORTED_AT_ONCE = 500


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
    # formats: most calls export nothing.
    from mnemos.workspace.formats import write

    columns: list[str] = []
    count = 0

    def batches(rows: Iterator[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
        nonlocal count
        while batch := list(islice(rows, _EXPORTED_AT_ONCE)):
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
