"""The audit log as an engine stores it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class AuditRow(Struct, frozen=True):
    id: int
    at: float
    actor: str
    operation: str
    ref: str
    before: str | None
    after: str | None
    undone_by: int | None


class AuditReads(Protocol):
    def get(self, entry_id: int) -> AuditRow | None: ...

    def newest(
        self, limit: int, *, before: int | None = None, since: float | None = None
    ) -> list[AuditRow]: ...

    def after(self, entry_id: int, limit: int) -> list[AuditRow]:
        """Entries with ids above this one, in the order they were recorded."""
        ...

    def first_since(self, at: float) -> int | None:
        """The lowest id of an entry recorded at or after a time."""
        ...

    def newest_on(self, ref: str) -> AuditRow | None:
        """The newest entry on this reference. Its texts may have been erased."""
        ...

    def on(self, ref: str, limit: int = 1_000) -> list[AuditRow]:
        """The newest entries on this reference, newest first."""
        ...

    def refs(self, kind: str) -> list[str]:
        """The distinct references of a kind, such as all that begin with ``file:``."""
        ...

    def backups(self) -> list[tuple[str, float]]:
        """The path and time of each backup."""
        ...


class AuditWrites(AuditReads, Protocol):
    def record(
        self,
        *,
        at: float,
        actor: str,
        operation: str,
        ref: str,
        before: str | None = None,
        after: str | None = None,
    ) -> int: ...

    def mark_undone(self, entry_id: int, by: int) -> None: ...

    def scrub(self, ref: str) -> int:
        """Erase the texts of entries on this reference, but not the entries; return how many had any."""
        ...

    def clear(self, entry_id: int) -> None:
        """Erase the texts of one entry."""
        ...

    def expire(self, before: float, operations: str) -> None:
        """Erase texts of entries before a time whose operation starts with ``operations``."""
        ...

    def note_backup(self, path: str, at: float) -> None: ...
