"""What an agent may read of its own history in SQL: sessions, messages and facts of its space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw

from mnemos.storage.queries import Queries

SQL = Queries(Path(__file__).parent / "sql" / "history.sql")

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


def read_history(database: Path, space: str, part: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a part as they are now; none where there is no memory yet.

    The database is held open, for reading, until the last row or the end of the iterator.
    """
    if not database.exists():
        return
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(1_000)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        yield from connection.execute(getattr(SQL, part), (space,))
    finally:
        connection.close(force=True)
