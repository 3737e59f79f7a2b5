"""Databases of other programs, read and never written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from mnemos.errors import InvalidInput, NotADatabase, NotFound
from mnemos.storage.foreign import HermesFact
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import DRIVER_ERRORS, patience, rows, translated, value

SQL = Queries(Path(__file__).parent / "sql" / "foreign.sql")

_WAIT_SECONDS = 10.0


def hermes_memory(path: Path) -> list[HermesFact]:
    """Every fact of a hermes-memory database, oldest first, as it was at one moment."""
    with _opened(path) as connection:
        if not value(connection, SQL.has_hermes_memory):
            raise InvalidInput(f"{path} is no database of hermes-memory: it does not have its tables")
        return [HermesFact(*row) for row in rows(connection, SQL.hermes_memory)]


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    if not path.is_file():
        raise NotFound(f"there is no file {path}; name a database")
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_handler(patience(_WAIT_SECONDS))
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
    except apsw.NotADBError as exc:
        raise NotADatabase(f"{path} is no SQLite database") from exc
    except DRIVER_ERRORS as exc:
        raise translated(exc, str(path)) from exc
