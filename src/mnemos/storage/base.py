"""The contract between the parts and an engine.

A storage is opened in one space and cannot reach another. All work happens in transactions: a part passes a
function to ``read`` or ``write``, and the function receives the transaction's stores. A write is atomic. An
engine may run the function again after a failed commit, so the function must have no other effects. Slow
work, such as a model, the network or embedding, must happen outside.

The contract promises which rows are returned, but their order only if a docstring says so. Its tests are in
``tests/contract``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec import Struct

from mnemos.storage.audit import AuditReads, AuditWrites
from mnemos.storage.entries import EntryReads, EntryWrites
from mnemos.storage.facts import FactReads, FactWrites
from mnemos.storage.imports import ImportReads, ImportWrites
from mnemos.storage.passages import PassageReads, PassageWrites, VectorReads, VectorWrites
from mnemos.storage.recalls import RecallReads, RecallWrites
from mnemos.storage.sessions import (
    Document,
    Documents,
    Filters,
    Found,
    Glimpse,
    Hit,
    MessageRow,
    NewMessage,
    Order,
    Results,
    SessionFilters,
    SessionReads,
    SessionRow,
    SessionWrites,
)
from mnemos.storage.texts import Texts
from mnemos.storage.tombstones import TombstoneReads, TombstoneWrites

__all__ = [
    "Check",
    "Document",
    "Documents",
    "Filters",
    "Found",
    "Glimpse",
    "Hit",
    "MessageRow",
    "NewMessage",
    "Order",
    "Reads",
    "Results",
    "SessionFilters",
    "SessionReads",
    "SessionRow",
    "SessionWrites",
    "Storage",
    "Usage",
    "Writes",
    "check_count",
    "report_ok",
    "report_problem",
]

T = TypeVar("T")


class Check(Struct, frozen=True):
    """The result of one check by the doctor."""

    name: str
    ok: bool
    detail: str


def report_ok(name: str, detail: str) -> Check:
    return Check(name, ok=True, detail=detail)


def report_problem(name: str, detail: str) -> Check:
    return Check(name, ok=False, detail=detail)


def check_count(name: str, count: int, what: str) -> Check:
    """Report a count of problems, or success for 0."""
    return Check(name, ok=not count, detail=f"{count} {what}" if count else "no problems")


class Usage(Struct, frozen=True):
    """Disk usage in bytes, and the number of messages waiting to be indexed."""

    file_bytes: int
    wal_bytes: int
    free_bytes: int
    parts: dict[str, int]
    pending: int


class Reads(Protocol):
    @property
    def sessions(self) -> SessionReads: ...

    @property
    def passages(self) -> PassageReads: ...

    @property
    def vectors(self) -> VectorReads: ...

    @property
    def facts(self) -> FactReads: ...

    @property
    def entries(self) -> EntryReads: ...

    @property
    def imports(self) -> ImportReads: ...

    @property
    def audit(self) -> AuditReads: ...

    @property
    def recalls(self) -> RecallReads: ...

    @property
    def tombstones(self) -> TombstoneReads: ...


class Writes(Protocol):
    @property
    def sessions(self) -> SessionWrites: ...

    @property
    def passages(self) -> PassageWrites: ...

    @property
    def vectors(self) -> VectorWrites: ...

    @property
    def facts(self) -> FactWrites: ...

    @property
    def entries(self) -> EntryWrites: ...

    @property
    def imports(self) -> ImportWrites: ...

    @property
    def audit(self) -> AuditWrites: ...

    @property
    def recalls(self) -> RecallWrites: ...

    @property
    def tombstones(self) -> TombstoneWrites: ...


class Storage(Protocol):
    """An open database in one space. Safe to use from several threads and after a fork."""

    @property
    def read_only(self) -> bool: ...

    @property
    def location(self) -> str:
        """The location of the data, for people."""
        ...

    @property
    def texts(self) -> Texts | None:
        """The texts in the database, or None if notebook and templates are files."""
        ...

    @property
    def is_gone(self) -> bool:
        """True if the data is no longer where it was opened, so that calls raise DatabaseGone."""
        ...

    def read(self, work: Callable[[Reads], T]) -> T:
        """Run ``work`` on a consistent view of the data."""
        ...

    def write(self, work: Callable[[Writes], T], *, within: float | None = None) -> T:
        """Run ``work`` as one atomic change. An exception undoes all of it.

        Raises Busy after the configured wait or ``within`` seconds, DiskFull, ReadOnly, SchemaChanged,
        Corrupt, or DatabaseGone if the stored data could not be found again.
        """
        ...

    def watch(self) -> AbstractContextManager[Callable[[], object]]:
        """Return a function whose result changes with each commit of any process, in any space.

        A call takes microseconds. Only one thread may call it at a time.
        """
        ...

    def finish_deletes(self) -> None:
        """Remove the rows of deleted sessions, in steps too short to delay a writer."""
        ...

    def catch_up(self, seconds: float | None = None) -> int:
        """Index pending messages in short steps for up to ``seconds``; return the number left."""
        ...

    def optimize(self, seconds: float | None = None, *, deep: bool = False) -> None:
        """Compact the index and clean up the file, in short steps.

        ``deep`` also rebuilds what keeps erased words for longer, which may take long.
        """
        ...

    def without_background(self) -> AbstractContextManager[None]:
        """Pause background work for a caller that stores a lot and then calls ``catch_up``.

        Two threads of a process would slow each other down and hold the lock for longer.
        """
        ...

    def when_idle(self, work: Callable[[], bool]) -> None:
        """Run ``work`` in the background thread whenever no new messages arrive.

        It is called outside any transaction until it returns False, when nothing is left to do.
        """
        ...

    def wake(self) -> None:
        """Make the background thread look for work soon. Does nothing in a read-only storage."""
        ...

    def scrub(self) -> bool:
        """Remove all traces of erased data from the engine's files, in short steps.

        Returns False if a reader prevents it. A later call or ``optimize`` completes it.
        """
        ...

    def usage(self) -> Usage: ...

    def spaces(self) -> list[tuple[str, int, int]]:
        """Return the sorted names of all spaces, with their numbers of sessions and messages.

        This is for the database's owner, and the only call that reaches beyond one space.
        """
        ...

    def backup(self, target: Path, progress: Callable[[float], None] | None = None) -> None:
        """Write a verified copy while in use. Never overwrites an existing file."""
        ...

    def restore(self, backup: Path) -> Path | None:
        """Replace the data of all spaces with a verified backup; return a copy of the old data."""
        ...

    def examine(self, *, repair: bool) -> Iterator[Check]:
        """Check the data; with ``repair``, fix what can be fixed without losing readable data."""
        ...

    def close(self) -> None:
        """Finish pending work within a short time, then close. Closing twice is harmless."""
        ...
