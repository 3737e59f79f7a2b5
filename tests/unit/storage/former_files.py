"""Files as former versions left them, written in their own SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from contract.storage.openers import NOW
from mnemos.storage.sqlite import schema
from mnemos.storage.sqlite.connection import APPLICATION_ID

_SESSION = """
INSERT INTO sessions (key, space, id, source, started_at, message_count)
VALUES (1, 0, 's', 'cli', ?, ?)
"""
_MESSAGE = """
INSERT INTO messages (id, session, role, timestamp, content, tool_name, tool_calls, tool_call_id)
VALUES (:id, 1, :role, :timestamp, :content, :tool_name, :tool_calls, :tool_call_id)
"""
_EMPTY = {"role": "user", "timestamp": NOW} | dict.fromkeys(
    ("content", "tool_name", "tool_calls", "tool_call_id")
)


def write_former_file(path: Path, version: int, messages: Sequence[str | Mapping[str, Any]]) -> list[int]:
    """Write a file of an earlier schema, with a session ``s`` of these messages; return their ids."""
    path.touch(mode=0o600)
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    columns = [{"content": one} if isinstance(one, str) else one for one in messages]
    with connection:
        for file in schema._FILES[:version]:
            connection.execute(file.read_text(encoding="utf-8"))
        connection.execute("INSERT INTO properties (name, value) VALUES ('words', '1')")
        connection.execute(_SESSION, (NOW, len(columns)))
        for number, own in enumerate(columns, start=1):
            connection.execute(_MESSAGE, _EMPTY | {"id": number, **own})
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return list(range(1, len(columns) + 1))
