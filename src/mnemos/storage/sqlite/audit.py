"""The audit log in SQLite, inside the caller's transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from mnemos.storage.audit import AuditRow
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import Space, rows

SQL = Queries(Path(__file__).parent / "sql" / "audit.sql")


class SqliteAudit:
    def __init__(self, connection: apsw.Connection, space: Space) -> None:
        self._connection = connection
        self._space = space

    def get(self, entry_id: int) -> AuditRow | None:
        if not 0 < entry_id < 1 << 63:
            return None
        found = self._rows(SQL.get, (self._space.id, entry_id))
        return AuditRow(*found[0]) if found else None

    def newest(self, limit: int, *, before: int | None = None, since: float | None = None) -> list[AuditRow]:
        asked = {"space": self._space.id, "before": before, "since": since, "limit": limit}
        return [AuditRow(*row) for row in self._rows(SQL.newest, asked)]

    def newest_on(self, ref: str) -> AuditRow | None:
        found = self.on(ref, 1)
        return found[0] if found else None

    def on(self, ref: str, limit: int = 1_000) -> list[AuditRow]:
        return [AuditRow(*row) for row in self._rows(SQL.newest_on, (self._space.id, ref, limit))]

    def refs(self, kind: str) -> list[str]:
        return [ref for (ref,) in self._rows(SQL.refs, {"space": self._space.id, "kind": kind})]

    def backups(self) -> list[tuple[str, float]]:
        return self._rows(SQL.backups, ())

    def record(
        self,
        *,
        at: float,
        actor: str,
        operation: str,
        ref: str,
        before: str | None = None,
        after: str | None = None,
    ) -> int:
        entry = (self._space.id, at, actor, operation, ref, before, after)
        return int(self._rows(SQL.record, entry)[0][0])

    def mark_undone(self, entry_id: int, by: int) -> None:
        self._connection.execute(SQL.mark_undone, (by, self._space.id, entry_id))

    def scrub(self, ref: str) -> int:
        self._connection.execute(SQL.scrub, (self._space.id, ref))
        return self._connection.changes()

    def clear(self, entry_id: int) -> None:
        self._connection.execute(SQL.clear, (self._space.id, entry_id))

    def expire(self, before: float, operations: str) -> None:
        asked = {"space": self._space.id, "before": before, "operations": operations}
        self._connection.execute(SQL.expire, asked)

    def note_backup(self, path: str, at: float) -> None:
        self._connection.execute(SQL.note_backup, (path, at))

    def _rows(self, sql: str, bindings: Any) -> list[tuple[Any, ...]]:
        return rows(self._connection, sql, bindings)
