"""The limit: apsw and nothing around it, storing the same columns and counters as Mnemos.

``raw`` writes rows only and ``raw+fts`` keeps a full-text index by triggers; loaded in bulk, both
build the index in one go. Run with ``python -m benchmarks.raw [fts]``.
"""

from __future__ import annotations

import sys
from typing import Any

import apsw
import msgspec

from benchmarks.corpus import Message
from benchmarks.worker import serve

TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    started_at REAL NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0,
    tool_call_count INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    role TEXT NOT NULL,
    timestamp REAL NOT NULL,
    tool_name TEXT,
    tool_call_id TEXT,
    token_count INTEGER,
    metadata TEXT,
    tool_calls TEXT,
    content TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS messages_by_session ON messages (session);
CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts5(
    content, tool_name, tool_calls, content='messages', content_rowid='id', tokenize='unicode61'
);
"""
TRIGGER = """
CREATE TRIGGER IF NOT EXISTS messages_indexed AFTER INSERT ON messages BEGIN
    INSERT INTO f (rowid, content, tool_name, tool_calls)
    VALUES (new.id, new.content, new.tool_name, new.tool_calls);
END;
"""
INSERT = """
INSERT INTO messages (
    session, role, timestamp, tool_name, tool_call_id, token_count, metadata, tool_calls, content
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
COUNT_UP = """
UPDATE sessions
SET message_count = message_count + ?, tool_call_count = tool_call_count + ?
WHERE id = ?
RETURNING key
"""
SEARCH = """
SELECT m.id, s.id, m.role, m.content, m.timestamp, m.tool_name, s.source, s.started_at
FROM f
JOIN messages m ON m.id = f.rowid
JOIN sessions s ON s.key = m.session
WHERE f MATCH ?
ORDER BY bm25(f)
LIMIT ?
"""


class Raw:
    def __init__(self, *, triggers: bool) -> None:
        self._triggers = triggers
        self._connection: apsw.Connection | None = None

    @property
    def _db(self) -> apsw.Connection:
        if self._connection is None:
            raise RuntimeError("the database is not open: call open() first")
        return self._connection

    def versions(self) -> dict[str, str]:
        return {"apsw": apsw.apsw_version(), "sqlite": apsw.sqlite_lib_version()}

    def open(self, path: str, durability: str) -> None:
        self._connection = apsw.Connection(path)
        self._db.set_busy_timeout(30_000)
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("synchronous", durability)
        # Mnemos gives its connections this much; the limit must not lose for want of memory.
        self._db.pragma("cache_size", -32 * 1024)
        self._db.execute(TABLES)
        if self._triggers:
            self._db.execute(TRIGGER)

    def create_session(self, session_id: str, source: str, started_at: float) -> None:
        self._db.execute(
            "INSERT INTO sessions (id, source, started_at) VALUES (?, ?, ?)",
            (session_id, source, started_at),
        )

    def append(self, session_id: str, message: Message) -> int:
        execute = self._db.execute
        execute("BEGIN IMMEDIATE")
        session = execute(COUNT_UP, (1, _calls(message), session_id)).get
        execute(INSERT, _row(session, message))
        execute("COMMIT")
        return self._db.last_insert_rowid()

    def append_many(self, session_id: str, messages: list[Message]) -> list[int]:
        db = self._db
        calls = sum(_calls(message) for message in messages)
        db.execute("BEGIN IMMEDIATE")
        session = db.execute(COUNT_UP, (len(messages), calls, session_id)).get
        db.executemany(INSERT, [_row(session, message) for message in messages])
        last = db.last_insert_rowid()
        db.execute("COMMIT")
        return list(range(last - len(messages) + 1, last + 1))

    def load(self, session_id: str, messages: list[Message]) -> list[int]:
        return self.append_many(session_id, messages)

    def finish_load(self) -> None:
        if not self._triggers:
            self._db.execute("INSERT INTO f(f) VALUES ('rebuild')")

    def search(self, query: str, limit: int) -> list[Any]:
        return self._db.execute(SEARCH, (_match(query), limit)).fetchall()

    def hit(self, row: Any) -> tuple[int, bool]:
        return row[0], False

    def counts(self, session_id: str) -> tuple[int, int]:
        counted = "SELECT message_count FROM sessions WHERE id = ?"
        there = "SELECT count(*) FROM messages WHERE session = (SELECT key FROM sessions WHERE id = ?)"
        key = (session_id,)
        # get is the single value of the first row, or None when there is no such session.
        return self._db.execute(counted, key).get or 0, self._db.execute(there, key).get

    def close(self) -> None:
        self._db.close()
        self._connection = None


def _row(session: int, message: Message) -> tuple[Any, ...]:
    calls = message.get("tool_calls")
    return (
        session,
        message["role"],
        message["timestamp"],
        message.get("tool_name"),
        message.get("tool_call_id"),
        None,
        None,
        msgspec.json.encode(calls).decode() if calls else None,
        message["content"],
    )


def _calls(message: Message) -> int:
    return len(message.get("tool_calls", ()))


def _match(query: str) -> str:
    """The benchmark's queries are words, one phrase in quotes, or a prefix with a star."""
    if query.startswith('"'):
        return query
    if query.endswith("*"):
        return f'"{query[:-1]}"*'
    return " ".join(f'"{word}"' for word in query.split())


if __name__ == "__main__":
    serve(Raw(triggers="fts" in sys.argv[1:]))
