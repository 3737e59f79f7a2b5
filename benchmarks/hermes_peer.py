"""hermes-agent's SessionDB, in its own environment: ``python -m benchmarks.hermes_peer``."""

from __future__ import annotations

import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hermes_state import SessionDB

from benchmarks.corpus import Message
from benchmarks.worker import serve


class Hermes:
    """It has one durability, SQLite's default: an fsync for every commit ("full")."""

    def __init__(self) -> None:
        self._db: Any = None
        self._loaded = 0

    def versions(self) -> dict[str, str]:
        return {"hermes-agent": version("hermes-agent"), "sqlite": sqlite3.sqlite_version}

    def open(self, path: str, durability: str) -> None:  # noqa: ARG002  it offers no choice
        self._db = SessionDB(Path(path))

    def create_session(self, session_id: str, source: str, started_at: float) -> None:  # noqa: ARG002
        self._db.create_session(session_id, source)

    def append(self, session_id: str, message: Message) -> object:
        return self._db.append_message(session_id, **message)

    def append_many(self, session_id: str, messages: list[Message]) -> None:
        # The only call that writes several messages in one transaction; on a session that has
        # none it appends.
        self._db.replace_messages(session_id, messages)

    def load(self, session_id: str, messages: list[Message]) -> list[int]:
        self.append_many(session_id, messages)
        first = self._loaded + 1
        self._loaded += len(messages)
        return list(range(first, self._loaded + 1))

    def finish_load(self) -> None:
        self._db.optimize_fts()

    def search(self, query: str, limit: int) -> list[Any]:
        rows: list[Any] = self._db.search_messages(query, limit=limit)
        return rows

    def hit(self, row: Any) -> tuple[int, bool]:
        return row["id"], False

    def counts(self, session_id: str) -> tuple[int, int]:
        session = self._db.get_session(session_id) or {"message_count": 0}
        return session["message_count"], len(self._db.get_messages(session_id))

    def close(self) -> None:
        self._db.close()


if __name__ == "__main__":
    serve(Hermes())
