"""Mnemos itself, through its public API alone: ``python -m benchmarks.product``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

import mnemos
from benchmarks.corpus import Message
from benchmarks.worker import serve


class Product:
    def __init__(self) -> None:
        self._db: Any = None
        self._memory: Any = None
        self._path = Path()

    def versions(self) -> dict[str, str]:
        # Asked for first: an installation without the store is reported before anything runs.
        if not hasattr(mnemos, "SessionDB"):
            raise RuntimeError("mnemos has no SessionDB yet")
        return {
            "mnemos": mnemos.__version__,
            "apsw": apsw.apsw_version(),
            "sqlite": apsw.sqlite_lib_version(),
        }

    def open(self, path: str, durability: str) -> None:
        self._path = Path(path)
        self._db = mnemos.SessionDB(path, durability=durability)

    def create_session(self, session_id: str, source: str, started_at: float) -> None:
        self._db.create_session(session_id, source, started_at=started_at)

    def append(self, session_id: str, message: Message) -> object:
        return self._db.append_message(session_id, **message)

    def append_many(self, session_id: str, messages: list[Message]) -> object:
        return self._db.append_messages(session_id, messages)

    def load(self, session_id: str, messages: list[Message]) -> list[int]:
        ids: list[int] = self._db.append_messages(session_id, messages)
        return ids

    def finish_load(self) -> None:
        """Nothing: closing catches the index up, and that is all a user would do."""

    def search(self, query: str, limit: int) -> list[Any]:
        rows: list[Any] = self._db.search_messages(query, limit=limit)
        return rows

    def hit(self, row: Any) -> tuple[int, bool]:
        return row["id"], bool(row.get("partial", False))

    def embed(self) -> int:
        """Make all vectors; how many passages have theirs."""
        self._memory = mnemos.Memory(mnemos.Settings.load(self._path.parent), database=self._path)
        self._memory.embedding.catch_up()
        done: int = self._memory.embedding.coverage().done
        return done

    def recall(self, query: str, words_only: bool) -> list[Any]:
        return list(self._memory.recall(query, limit=10, words_only=words_only).hits)

    def counts(self, session_id: str) -> tuple[int, int]:
        session = self._db.get_session(session_id) or {"message_count": 0}
        return session["message_count"], len(self._db.get_messages(session_id))

    def close(self) -> None:
        self._db.close()
        if self._memory is not None:
            self._memory.close()


if __name__ == "__main__":
    serve(Product())
