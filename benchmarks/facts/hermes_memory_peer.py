"""hermes-memory in its own environment: ``python -m benchmarks.facts.hermes_memory_peer``.

Its calls are made through the function its server hands every tool call to, without the protocol:
so they do what its users' calls do, pressure checks included, and nothing else.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hermes_memory.core import db, facts
from hermes_memory.mcp import server

from benchmarks.facts.made import MadeScope
from benchmarks.facts.worker import Found, serve

DATABASE = "memory.db"


class HermesMemory:
    def __init__(self) -> None:
        self._db: sqlite3.Connection | None = None

    def versions(self) -> dict[str, str]:
        return {
            "hermes-memory": version("hermes-memory"),
            "mcp": version("mcp"),
            "sqlite": sqlite3.sqlite_version,
        }

    def open(self, folder: str) -> None:
        # As the server opens it: one connection for the thread, kept in its own module.
        self._db = db.get_connection(Path(folder) / DATABASE)
        server._local.conn = self._db

    def fill(self, scopes: Iterable[MadeScope]) -> None:
        """Into its tables, as its closing of scopes leaves them: scope and facts cold.

        Its own calls cannot do it: at 85% of 10,000 characters they archive what is cold, and an
        archived fact is never found again.
        """
        assert self._db is not None
        at = db.now() - 90 * 86_400
        for scope in scopes:
            scope_id = str(uuid.uuid4())
            at += 60
            self._db.execute(
                "INSERT INTO scopes (id, label, status, last_referenced, current_turn, created_at, closed_at)"
                " VALUES (?, ?, 'cold', ?, 0, ?, ?)",
                (scope_id, scope.label, at, at, at + 60),
            )
            self._db.executemany(
                "INSERT INTO facts (id, content, type, target, scope_id, status, created_at, updated_at,"
                " source_hash) VALUES (?, ?, ?, ?, ?, 'cold', ?, ?, ?)",
                [_row(fact.line, scope_id, at) for fact in scope.facts],
            )
        self._db.commit()

    def write(self, line: str, scope: str) -> object:
        text = _call("memory_write", {"content": line, "scope": scope} if scope else {"content": line})
        if not text.startswith("stored"):
            raise RuntimeError(f"the write of {line!r} was refused: {text}")
        return text

    def search(self, query: str, limit: int) -> list[Any]:
        # The rows behind the text of its tool, which names no scope.
        rows: list[Any] = facts.search(self._db, query, limit=limit)
        return rows

    def tick(self, turn: int, message: str) -> object:
        return _call("memory_tick", {"turn": turn, "message": message})

    def status(self) -> object:
        return _call("memory_status", {})

    def found(self, row: Any) -> Found:
        assert self._db is not None
        scope = self._db.execute("SELECT label FROM scopes WHERE id = ?", (row["scope_id"],)).fetchone()
        return facts.TYPE_DISPLAY[row["type"]], row["target"], scope["label"] if scope else "", row["content"]

    def findable(self) -> int:
        assert self._db is not None
        query = "SELECT count(*) FROM facts WHERE status IN ('active', 'cold')"
        return int(self._db.execute(query).fetchone()[0])

    def bring_back(self) -> None:
        assert self._db is not None
        self._db.execute("UPDATE facts SET status = 'cold' WHERE status = 'archived'")
        self._db.commit()

    def close(self) -> None:
        assert self._db is not None
        self._db.close()
        server._local.conn = None


def _call(name: str, arguments: dict[str, Any]) -> str:
    """Run its tool to the end; it never waits for anything, so no event loop is needed."""
    running = server.call_tool(name, arguments)
    try:
        running.send(None)
    except StopIteration as ended:
        text: str = ended.value[0].text
        return text
    raise RuntimeError(f"{name} waited for something; it must be run in an event loop")


def _row(line: str, scope_id: str, at: int) -> tuple[Any, ...]:
    kind, target, content = facts.parse_notation(line)
    return str(uuid.uuid4()), content, kind, target, scope_id, at, at, facts._source_hash(line)


if __name__ == "__main__":
    serve(HermesMemory())
