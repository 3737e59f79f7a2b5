"""Backups of a database in one file, while it is in use.

A file has a header, then the rows of each table of each space as the server copies them, each part with its
checksum. It has no words, which are made again from the texts. Spaces are copied one by one, because
row-level security shows only one.
"""

from __future__ import annotations

import json
import random
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import psycopg

from mnemos.errors import Corrupt, NotADatabase, NotFound, PermissionDenied
from mnemos.files import write_copy, write_error, zstd
from mnemos.storage.base import Documents
from mnemos.storage.postgres import schema
from mnemos.storage.postgres.connection import Connection, PostgresTransaction, Target
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.word_index import PostgresIndex
from mnemos.storage.space import space_of
from mnemos.storage.stores.passages import make_passage
from mnemos.text.words import RULE_VERSION

_KIND = "mnemos-postgres-backup"
_BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 16


def back_up(
    connection: Connection, target: Target, path: Path, progress: Callable[[float], None] | None
) -> None:
    """Write a copy from one snapshot, verify it, then give it its name."""
    try:
        with write_copy(path) as unfinished:
            with zstd().open(unfinished, "wb") as file:
                _write(connection, target, file, progress)
            for _ in _read_parts(unfinished):
                pass
    except OSError as exc:
        raise write_error(exc, path) from exc
    if progress is not None:
        progress(1.0)


def _write(
    connection: Connection, target: Target, file: IO[bytes], progress: Callable[[float], None] | None
) -> None:
    sql: Any = load("schema", target.schema)
    connection.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        tx = PostgresTransaction(connection)
        spaces = tx.rows(sql.spaces)
        header = {"kind": _KIND, "schema": schema.VERSION, "made_at": time.time(), "spaces": spaces}
        _write_line(file, header)
        for done, (number, _) in enumerate(spaces):
            tx.value(sql.set_space, (str(number),))
            for table in schema.TABLES:
                _copy_out(connection, target, file, table, number)
            if progress is not None:
                progress(done / len(spaces))
        _write_line(file, {"end": True})
    finally:
        connection.execute(b"ROLLBACK")


def _copy_out(connection: Connection, target: Target, file: IO[bytes], table: str, number: int) -> None:
    columns = ", ".join(_columns(connection, target, table))
    query = f'COPY (SELECT {columns} FROM "{target.schema}".{table} WHERE space = {number:d}) TO STDOUT'
    data = bytearray()
    part = 0
    with connection.cursor() as cursor, cursor.copy(query.encode()) as copy:
        for row in copy:
            data += row
            if len(data) >= _BLOCK:
                _write_part(file, table, number, columns, part, bytes(data))
                data.clear()
                part += 1
    if data:
        _write_part(file, table, number, columns, part, bytes(data))


def _write_part(file: IO[bytes], table: str, number: int, columns: str, part: int, data: bytes) -> None:
    header = {
        "table": table, "space": number, "columns": columns, "part": part, "size": len(data),
        "check": zlib.crc32(data),
    }  # fmt: skip
    _write_line(file, header)
    file.write(data)


def _write_line(file: IO[bytes], value: object) -> None:
    file.write(json.dumps(value).encode() + b"\n")


def _read_parts(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the header and each part of a backup. Raises NotFound, NotADatabase, Corrupt."""
    packing = zstd()
    try:
        with packing.open(path, "rb") as file:
            header = json.loads(file.readline(_LONGEST_HEADER * 64))
            if not isinstance(header, dict) or header.get("kind") != _KIND:
                raise NotADatabase(f"{path} is not a backup of a PostgreSQL memory.")
            yield header, b""
            while "end" not in (part := json.loads(file.readline(_LONGEST_HEADER))):
                data = file.read(part["size"])
                if zlib.crc32(data) != part["check"]:
                    raise Corrupt(f"{path} is damaged in {part['table']}. Nothing was restored.")
                yield part, data
    except FileNotFoundError as exc:
        raise NotFound(f"There is no backup {path}.") from exc
    except OSError as exc:
        raise NotADatabase(f"{path} cannot be read: {exc.strerror}.") from exc
    except (packing.ZstdError, ValueError, KeyError, TypeError, EOFError) as exc:
        raise NotADatabase(f"{path} is not a backup of a PostgreSQL memory, or it is cut off.") from exc


def check_backup(path: Path) -> None:
    """Read a whole backup, and raise if it cannot be restored."""
    for part, _ in _read_parts(path):
        if part.get("schema", schema.VERSION) != schema.VERSION:
            raise NotADatabase(
                f"{path} has schema {part['schema']}, but this version of Mnemos needs {schema.VERSION}."
            )


def restore(connection: Connection, target: Target, path: Path, documents: Documents) -> None:
    """Replace the rows of all spaces with those of a backup, in one transaction."""
    sql: Any = load("schema", target.schema)
    with connection.transaction():
        tx = PostgresTransaction(connection)
        tx.value(sql.lock, (target.schema,))
        tables = ", ".join(
            f'"{target.schema}".{table}' for table in (*schema.TABLES, *schema.DERIVED, "spaces")
        )
        try:
            connection.execute(f"TRUNCATE {tables}".encode())
        except psycopg.errors.InsufficientPrivilege as exc:
            raise PermissionDenied(
                f"Only the owner of the tables in {target.location} can restore a backup: it replaces "
                "every space."
            ) from exc
        numbers: list[int] = []
        for part, data in _read_parts(path):
            if "spaces" in part:
                for number, name in part["spaces"]:
                    tx.change(sql.put_space, (number, name))
                    numbers.append(number)
            else:
                tx.value(sql.set_space, (str(part["space"]),))
                _copy_in(connection, target, part, data)
        epoch = random.getrandbits(62)
        for number in numbers:
            tx.value(sql.set_space, (str(number),))
            tx.change(sql.set_epoch, (epoch, number))
            index_again(connection, target, number, documents)


def _copy_in(connection: Connection, target: Target, part: dict[str, Any], data: bytes) -> None:
    """Insert rows again. A table with row-level security only takes them from another table."""
    table, columns = part["table"], part["columns"]
    if table not in schema.TABLES or columns != ", ".join(_columns(connection, target, table)):
        raise NotADatabase(f"The backup has a table {table!r} that this version of Mnemos does not have.")
    copied = f"copied_{table}"
    connection.execute(f'CREATE TEMP TABLE {copied} (LIKE "{target.schema}".{table}) ON COMMIT DROP'.encode())
    with connection.cursor() as cursor, cursor.copy(f"COPY {copied} ({columns}) FROM STDIN".encode()) as copy:
        copy.write(data)
    connection.execute(
        f'INSERT INTO "{target.schema}".{table} ({columns}) SELECT {columns} FROM {copied}'.encode()
    )
    connection.execute(f"DROP TABLE {copied}".encode())


def _columns(connection: Connection, target: Target, table: str) -> list[str]:
    sql: Any = load("schema", target.schema)
    found = PostgresTransaction(connection).rows(sql.columns, (target.schema, table))
    return [f'"{name}"' for (name,) in found]


def index_again(connection: Connection, target: Target, number: int, documents: Documents) -> None:
    """Make the words of a space again, inside the caller's transaction."""
    words: Any = load("words", target.schema)
    passages: Any = load("passages", target.schema)
    space = space_of(number)
    tx = PostgresTransaction(connection, space)
    index = PostgresIndex(tx, space, documents, target.schema)
    tx.change(words.remove, (space.first, space.last_passage))
    tx.change(words.remove_long, (space.first, space.last_passage))
    for item in index.indexables(space.first - 1, space.last):
        index.add(item)
    for row in tx.rows(passages.every):
        index.add_passage(make_passage(row))
    tx.change(words.set_rule, (RULE_VERSION,))
