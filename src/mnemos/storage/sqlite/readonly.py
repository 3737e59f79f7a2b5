"""Databases opened only for reading, outside a storage: other programs' and, for SQL, our own history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from mnemos.errors import InvalidInput, NotADatabase, NotFound
from mnemos.storage.imports import HermesFact, HermesSession
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import DRIVER_ERRORS, patience, rows, sweep_log, translate_error, value

SQL = Queries(Path(__file__).parent / "sql" / "readonly.sql")

_WAIT_SECONDS = 10.0

HISTORY_COLUMNS: Final = {
    "sessions": (
        "id source model title parent_session_id started_at ended_at end_reason message_count "
        "tool_call_count "
        "input_tokens output_tokens archived"
    ).split(),
    "messages": "id session_id role content tool_name tool_calls token_count timestamp".split(),
    "facts": "id type target content scope state hot recorded_at ended_at uses session_id".split(),
}
"""The columns of each part, in the order of its query."""


def read_history(database: Path, space: str, part: str, user: str | None = None) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a part as they are now; none where there is no memory yet.

    ``user``: only what belongs to this user or to nobody. The database is held open, for reading, until the
    last row or the end of the iterator.
    """
    if not database.exists():
        return
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(1_000)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        yield from connection.execute(getattr(SQL, part), {"space": space, "user": user})
    finally:
        connection.close(force=True)
        sweep_log(database)


def hermes_memory(path: Path) -> list[HermesFact]:
    """Return every fact of a hermes-memory database, oldest first, from one snapshot."""
    with _open(path) as connection:
        if not value(connection, SQL.has_hermes_memory):
            raise InvalidInput(f"{path} is not a database of hermes-memory: its tables are missing")
        return [HermesFact(*row) for row in rows(connection, SQL.hermes_memory)]


class HermesState:
    """The ``state.db`` of Hermes Agent, of its first version or any later one.

    Each read sees one moment; none lasts, because its owner may be writing.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def parents(self) -> dict[str, str | None]:
        """Map the ids of all sessions, oldest first, to the session each one follows."""
        return dict(rows(self._connection, SQL.hermes_parents))

    def session(self, session_id: str) -> HermesSession | None:
        """Return a session with its messages; None if unknown. Raises InvalidInput if not UTF-8."""
        with self._connection:
            try:
                found = _dicts(self._connection, SQL.hermes_session, (session_id,))
                messages = _dicts(self._connection, SQL.hermes_messages, (session_id,))
            except UnicodeDecodeError as exc:
                raise InvalidInput(f"session {session_id!r} contains text that is not UTF-8: {exc}") from exc
        return HermesSession(found[0], messages) if found else None


@contextmanager
def hermes_state(path: Path) -> Iterator[HermesState]:
    """Open the ``state.db`` of a Hermes Agent, even a running one.

    A database without its tables raises InvalidInput.
    """
    with _open(path) as connection:
        if not value(connection, SQL.has_hermes_state):
            raise InvalidInput(f"{path} is not a database of Hermes Agent: its tables are missing")
        connection.execute("COMMIT")
        yield HermesState(connection)


class AgentDatabase:
    """The database of another agent program, which may be running. Each read sees one moment."""

    def __init__(self, connection: apsw.Connection, program: str) -> None:
        self._connection = connection
        self._program = program

    def sessions(self) -> list[dict[str, Any]]:
        """Return all sessions with their columns, and ``changed``, which grows with each change."""
        return _dicts(self._connection, getattr(SQL, f"{self._program}_sessions"), {})

    def rows(self, what: str, session_id: str) -> list[dict[str, Any]]:
        """Return the rows of a session."""
        return _dicts(self._connection, getattr(SQL, f"{self._program}_{what}"), {"session": session_id})


@contextmanager
def agent_database(path: Path, program: str) -> Iterator[AgentDatabase]:
    """Open the database of another agent program; without the known columns it raises InvalidInput."""
    with _open(path) as connection:
        if not value(connection, getattr(SQL, f"has_{program}")):
            raise InvalidInput(f"{path} has an unknown schema: tables or columns are missing")
        connection.execute("COMMIT")
        yield AgentDatabase(connection, program)


def _dicts(connection: apsw.Connection, sql: str, bindings: Any) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, bindings)
    return [dict(zip((column[0] for column in cursor.description), row, strict=True)) for row in cursor]


@contextmanager
def _open(path: Path) -> Iterator[apsw.Connection]:
    if not path.is_file():
        raise NotFound(f"There is no file {path}. Give the path of a database.")
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_handler(patience(_WAIT_SECONDS))
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
            sweep_log(path)
    except apsw.NotADBError as exc:
        raise NotADatabase(f"{path} is not a SQLite database") from exc
    except DRIVER_ERRORS as exc:
        raise translate_error(exc, str(path)) from exc
