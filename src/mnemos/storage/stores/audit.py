"""The audit log inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mnemos.storage.audit import AuditRow
from mnemos.storage.transaction import Store

_collected: ContextVar[list[int] | None] = ContextVar("collected", default=None)


@contextmanager
def collect_entries() -> Iterator[list[int]]:
    """Collect, in order, the ids of the entries that this thread records in this context."""
    ids: list[int] = []
    before = _collected.set(ids)
    try:
        yield ids
    finally:
        _collected.reset(before)


def _note(entry_id: int) -> int:
    if (ids := _collected.get()) is not None:
        ids.append(entry_id)
    return entry_id


class StoredAudit(Store):
    def get(self, entry_id: int) -> AuditRow | None:
        if not 0 < entry_id < 1 << 63:
            return None
        found = self._tx.rows(self._sql.get, (self._space.id, entry_id))
        return AuditRow(*found[0]) if found else None

    def newest(self, limit: int, *, before: int | None = None, since: float | None = None) -> list[AuditRow]:
        asked = {"space": self._space.id, "before": before, "since": since, "limit": limit}
        return [AuditRow(*row) for row in self._tx.rows(self._sql.newest, asked)]

    def after(self, entry_id: int, limit: int) -> list[AuditRow]:
        asked = {"space": self._space.id, "after": entry_id, "limit": limit}
        return [AuditRow(*row) for row in self._tx.rows(self._sql.after, asked)]

    def first_since(self, at: float) -> int | None:
        ((first,),) = self._tx.rows(self._sql.first_since, {"space": self._space.id, "at": at})
        return None if first is None else int(first)

    def newest_on(self, ref: str) -> AuditRow | None:
        found = self.on(ref, 1)
        return found[0] if found else None

    def on(self, ref: str, limit: int = 1_000) -> list[AuditRow]:
        return [AuditRow(*row) for row in self._tx.rows(self._sql.newest_on, (self._space.id, ref, limit))]

    def refs(self, kind: str) -> list[str]:
        return [ref for (ref,) in self._tx.rows(self._sql.refs, {"space": self._space.id, "kind": kind})]

    def backups(self) -> list[tuple[str, float]]:
        return self._tx.rows(self._sql.backups, ())

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
        return _note(int(self._tx.rows(self._sql.record, entry)[0][0]))

    def mark_undone(self, entry_id: int, by: int) -> None:
        self._tx.change(self._sql.mark_undone, (by, self._space.id, entry_id))

    def scrub(self, ref: str) -> int:
        return self._tx.change(self._sql.scrub, (self._space.id, ref))

    def clear(self, entry_id: int) -> None:
        self._tx.change(self._sql.clear, (self._space.id, entry_id))

    def expire(self, before: float, operations: str) -> None:
        asked = {"space": self._space.id, "before": before, "operations": operations}
        self._tx.change(self._sql.expire, asked)

    def note_backup(self, path: str, at: float) -> None:
        self._tx.change(self._sql.note_backup, (path, at))
