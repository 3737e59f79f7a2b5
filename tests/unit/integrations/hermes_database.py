"""A ``state.db`` as Hermes Agent writes it: of its first version, of 0.19, and of a later one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

FIRST = {
    "sessions": "id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, "
    "system_prompt TEXT, parent_session_id TEXT REFERENCES sessions(id), started_at REAL NOT NULL, "
    "ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, "
    "input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0",
    "messages": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), "
    "role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, "
    "timestamp REAL NOT NULL, token_count INTEGER",
}
OF_0_19 = {
    "sessions": FIRST["sessions"]
    + ", session_key TEXT, chat_id TEXT, display_name TEXT, cwd TEXT, git_branch TEXT, "
    "title TEXT, archived INTEGER NOT NULL DEFAULT 0, rewind_count INTEGER NOT NULL DEFAULT 0",
    "messages": FIRST["messages"] + ", finish_reason TEXT, reasoning TEXT, observed INTEGER DEFAULT 0, "
    "active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT",
}
LATER = {
    "sessions": OF_0_19["sessions"]
    + ", system_prompt_hash TEXT, pinned INTEGER NOT NULL DEFAULT 0, tool_names TEXT",
    "messages": OF_0_19["messages"] + ", display_kind TEXT, display_metadata TEXT",
}
VERSIONS = {"first": FIRST, "0.19": OF_0_19, "later": LATER}

BEGAN = 1_760_000_000.0


class Database:
    """Open as its owner has it, with a write-ahead log."""

    def __init__(self, path: Path, version: str = "0.19") -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = apsw.Connection(str(path))
        self.connection.execute("PRAGMA journal_mode = WAL")
        for table, columns in VERSIONS[version].items():
            self.connection.execute(f"CREATE TABLE {table} ({columns})")
        self.connection.execute("CREATE INDEX idx_messages_session ON messages (session_id, timestamp)")

    def session(
        self, session_id: str, *, started_at: float = BEGAN, source: str = "cli", **columns: Any
    ) -> None:
        self._insert("sessions", {"id": session_id, "source": source, "started_at": started_at, **columns})

    def message(self, session_id: str, role: str, content: Any, *, at: float = 1.0, **columns: Any) -> None:
        """``at``: seconds after the first session began."""
        if isinstance(content, list):
            content = "\0json:" + json.dumps(content)
        self._insert(
            "messages",
            {"session_id": session_id, "role": role, "content": content, "timestamp": BEGAN + at, **columns},
        )

    def close(self) -> None:
        self.connection.close()

    def _insert(self, table: str, row: dict[str, Any]) -> None:
        marks = ", ".join("?" * len(row))
        self.connection.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )
