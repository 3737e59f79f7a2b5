"""Operations on the database as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import NotFound
from mnemos.operations.base import Done, LongOperation, Operation, Result, Traits
from mnemos.operations.border import file_named
from mnemos.operations.wording import counted
from mnemos.progress import Progress

if TYPE_CHECKING:
    from mnemos.memory import Memory


class ShowStats(Operation, frozen=True, kw_only=True):
    """Show how much is stored and where the space goes: by source, by table."""

    traits: ClassVar[Traits] = Traits(title="Show statistics", read_only=True)

    def run(self, memory: Memory) -> Stats:
        return Stats(location=memory.storage.location, facts=memory.facts.count(), **memory.sessions.stats())


class Stats(Result, frozen=True, kw_only=True):
    location: str
    sessions: int
    messages: int
    facts: int
    by_source: list[dict[str, Any]]
    file_bytes: int
    log_bytes: int
    free_bytes: int
    tables: dict[str, int]
    pending: int

    def as_text(self) -> str:
        lines = [
            f"{self.location}: {size(self.file_bytes)}, {size(self.free_bytes)} of it free",
            f"{counted(self.sessions, 'session')}, {counted(self.messages, 'message')}, "
            f"{counted(self.facts, 'fact')}, {self.pending} waiting to be indexed",
        ]
        lines += [
            f"  {s['source']}: {counted(s['sessions'], 'session')}, {counted(s['messages'], 'message')}"
            for s in self.by_source
        ]
        largest = sorted(self.tables.items(), key=lambda item: -item[1])[:5]
        return "\n".join(
            [*lines, "largest: " + ", ".join(f"{name} {size(count)}" for name, count in largest)]
        )


class Optimize(LongOperation, frozen=True, kw_only=True):
    """Tidy the index and make the vectors that are missing, in short steps; nobody has to wait meanwhile."""

    traits: ClassVar[Traits] = Traits(title="Tidy the index", idempotent=True, example=("--seconds", "10"))

    seconds: Annotated[float, Meta(gt=0, description="At most about so long")] | None = None

    def work(self, memory: Memory, progress: Progress) -> Done:
        memory.sessions.optimize(self.seconds)
        if memory.embedding.is_wanted:
            memory.embedding.catch_up(self.seconds, progress)
        return Done(done="The index is tidy.")


class Examine(Operation, frozen=True, kw_only=True):
    """Check the database: integrity, index, counters, privacy; with repair, mend what can be mended."""

    traits: ClassVar[Traits] = Traits(title="Check the database", idempotent=True, example=("--repair",))

    repair: Annotated[bool, Meta(description="Mend what can be mended; nothing readable is lost")] = False

    def writes(self) -> bool:
        return self.repair

    def run(self, memory: Memory) -> Examined:
        checks = [
            {"name": check.name, "ok": check.ok, "detail": check.detail}
            for check in memory.doctor(repair=self.repair)
        ]
        # A repair looks again at what it mended.
        last = {check["name"]: check["ok"] for check in checks}
        found = last.values() if self.repair else [check["ok"] for check in checks]
        return Examined(healthy=all(found), checks=checks)


class Examined(Result, frozen=True, kw_only=True):
    healthy: bool
    checks: list[dict[str, Any]]

    def succeeded(self) -> bool:
        return self.healthy

    def as_text(self) -> str:
        lines = [f"{'ok  ' if c['ok'] else 'BAD '} {c['name']}: {c['detail']}" for c in self.checks]
        return "\n".join([*lines, "Healthy." if self.healthy else "Not healthy; try: mnemos doctor --repair"])


class BackUp(LongOperation, frozen=True, kw_only=True):
    """Write a verified copy of the database to a file, while it is in use."""

    traits: ClassVar[Traits] = Traits(
        title="Back up", local=True, positional=("path",), example=("mnemos-backup.db",)
    )

    path: Annotated[str, Meta(description="The file to write; it must not exist")]

    def work(self, memory: Memory, progress: Progress) -> BackedUp:
        path = memory.backup(file_named(self.path), progress)
        return BackedUp(path=str(path), bytes=path.stat().st_size)


class BackedUp(Result, frozen=True, kw_only=True):
    path: str
    bytes: int

    def as_text(self) -> str:
        return f"Backed up to {self.path} ({size(self.bytes)}), and verified."


class Restore(Operation, frozen=True, kw_only=True):
    """Replace everything by a backup, in every space; the present data is put aside first."""

    traits: ClassVar[Traits] = Traits(
        title="Restore a backup",
        destructive=True,
        begins=True,
        local=True,
        positional=("path",),
        example=("mnemos-backup.db", "--yes"),
    )

    path: Annotated[str, Meta(description="A file that backup wrote")]

    def run(self, memory: Memory) -> Restored:
        return Restored(former_data=str(memory.restore(self._backup())))

    def at_stake(self, memory: Memory) -> str:
        self._backup()
        if not memory.database.exists():
            return ""
        count = counted(memory.sessions.message_count(), "message")
        return f"everything in {memory.storage.location} ({count} in this space)"

    def _backup(self) -> Path:
        path = file_named(self.path)
        try:
            there = path.exists()
        except OSError:
            there = False
        if not there:
            raise NotFound(f"there is no file {path}; name one that `mnemos backup` wrote")
        return path


class Restored(Result, frozen=True, kw_only=True):
    former_data: str

    def as_text(self) -> str:
        return f"Restored. What was there before is in {self.former_data}"


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""
