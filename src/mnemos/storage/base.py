"""The contract between the parts and an engine.

A storage is opened in one space and cannot reach another. All work happens in transactions: a part passes
a function to ``read`` or ``write`` and the function receives the transaction's stores. A write is all or
nothing. An engine may run the function again after a failed commit, so the function must change nothing
but the transaction. Nothing slow belongs inside: no model, no network, no embedding.

The contract promises which rows come back, and their order only where a docstring says so. Its tests are
in ``tests/contract``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct

from mnemos.storage.audit import AuditReads, AuditWrites
from mnemos.storage.entries import EntryReads, EntryWrites
from mnemos.storage.facts import FactReads, FactWrites
from mnemos.storage.imports import ImportReads, ImportWrites
from mnemos.storage.passages import PassageReads, PassageWrites, VectorReads, VectorWrites
from mnemos.storage.sessions import SessionReads, SessionWrites

T = TypeVar("T")


class Order(StrEnum):
    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"


class SessionRow(Struct, frozen=True):
    """A session as stored; ``model_config`` and ``metadata`` are JSON."""

    id: str
    source: str
    user_id: str | None
    model: str | None
    model_config: str | None
    system_prompt: str | None
    parent_session_id: str | None
    started_at: float
    ended_at: float | None
    end_reason: str | None
    message_count: int
    tool_call_count: int
    input_tokens: int
    output_tokens: int
    title: str | None
    metadata: str | None
    archived: bool
    project: str | None = None
    branch: str | None = None


class NewMessage(NamedTuple):
    """A message to store: a tuple, because creating a frozen object takes longer than checking it.

    ``content`` is plain text, or JSON when ``encoded``; ``tool_calls`` and ``metadata`` are JSON;
    ``origin`` is ``memory`` if it only repeats the memory; ``calls`` is the number of calls in
    ``tool_calls``. No text contains a NUL or a lone surrogate.
    """

    role: str
    timestamp: float
    tool_name: str | None
    tool_call_id: str | None
    token_count: int | None
    encoded: bool
    metadata: str | None
    tool_calls: str | None
    content: str | None
    origin: str | None
    calls: int


class MessageRow(Struct, frozen=True):
    """A message as stored. A forgotten message keeps its position, role and time."""

    id: int
    session_id: str
    role: str
    content: str | None
    encoded: bool
    tool_name: str | None
    tool_calls: str | None
    tool_call_id: str | None
    token_count: int | None
    timestamp: float
    metadata: str | None
    forgotten: bool
    origin: str | None = None


class Glimpse(Struct, frozen=True):
    """The beginning of a message. ``content`` is truncated unless it is ``encoded``."""

    role: str
    content: str | None
    encoded: bool
    forgotten: bool


class Hit(Struct, frozen=True):
    """A message with the context that a search shows beside it."""

    message: MessageRow
    source: str
    model: str | None
    session_started: float
    has_parent: bool
    before: Glimpse | None
    after: Glimpse | None
    title: str | None
    project: str | None


class Document(Struct, frozen=True):
    """The searchable text of a message: its content, its tool calls, and the speaker's name."""

    said: str
    tool: str
    speaker: str = ""


class Filters(Struct, frozen=True):
    """Restrict a search to some messages. None means no restriction; ``until`` is exclusive."""

    sources: Sequence[str] | None = None
    exclude_sources: Sequence[str] = ()
    roles: Sequence[str] | None = None
    session_ids: Sequence[str] | None = None
    exclude_session_ids: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    group: str | None = None
    """Only passages of this group. Messages belong to no group."""
    projects: Sequence[str] | None = None
    """Only messages of sessions about these projects."""
    user: str | None = None
    """Only what belongs to this user or to nobody."""


class Found(Struct, frozen=True):
    """A hit: the number of query clauses the message matches, and its score."""

    message_id: int
    matched: int
    score: float


class Results(Struct, frozen=True):
    """The hits in order. ``partial`` if no message matches all clauses and these match most."""

    hits: tuple[Found, ...]
    partial: bool


class Check(Struct, frozen=True):
    """The result of one check by the doctor."""

    name: str
    ok: bool
    detail: str


def report_ok(name: str, detail: str) -> Check:
    return Check(name, ok=True, detail=detail)


def report_problem(name: str, detail: str) -> Check:
    return Check(name, ok=False, detail=detail)


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


class Storage(Protocol):
    """An open database, in one space. Safe to use from several threads and after a fork."""

    @property
    def read_only(self) -> bool: ...

    @property
    def location(self) -> str:
        """The location of the data, to show to people."""
        ...

    @property
    def is_gone(self) -> bool:
        """True if the data is not where it was opened: calls raise DatabaseGone."""
        ...

    def read(self, work: Callable[[Reads], T]) -> T:
        """Run ``work`` on one consistent view of the data."""
        ...

    def write(self, work: Callable[[Writes], T], *, within: float | None = None) -> T:
        """Run ``work`` as one atomic change; an exception undoes all of it.

        Raises Busy after the configured wait, or after ``within`` seconds; DiskFull, ReadOnly,
        SchemaChanged, Corrupt; DatabaseGone if what it stores could not be found again.
        """
        ...

    def finish_deletes(self) -> None:
        """Remove the rows of deleted sessions, in steps too short to delay a writer."""
        ...

    def catch_up(self, seconds: float | None = None) -> int:
        """Index pending messages in short steps for up to ``seconds``; return how many are left."""
        ...

    def optimize(self, seconds: float | None = None) -> None:
        """Compact the index and clean up the file, in short steps."""
        ...

    def without_background(self) -> AbstractContextManager[None]:
        """Pause background work, for a caller that stores much and then calls ``catch_up``.

        Two threads of one process would slow each other down and hold the lock for longer.
        """
        ...

    def when_idle(self, work: Callable[[], bool]) -> None:
        """Also run ``work`` in the background thread, once new messages have stopped coming.

        It is called outside any transaction until it returns False: nothing left to do.
        """
        ...

    def wake(self) -> None:
        """Make the background thread look for work soon; a read-only storage does nothing."""
        ...

    def scrub(self) -> bool:
        """Remove all traces of erased data from the engine's files, in short steps.

        False if a reader still prevents it; a later call or ``optimize`` completes it.
        """
        ...

    def usage(self) -> Usage: ...

    def backup(self, target: Path, progress: Callable[[float], None] | None = None) -> None:
        """Write a verified copy while in use; never overwrite an existing file."""
        ...

    def restore(self, backup: Path) -> Path | None:
        """Replace all data, in every space, by a verified backup; return the copy of the old data."""
        ...

    def examine(self, *, repair: bool) -> Iterator[Check]:
        """Check the data; with ``repair``, fix what can be fixed without losing readable data."""
        ...

    def close(self) -> None:
        """Finish pending work within a short time and close. Closing twice is harmless."""
        ...


Documents = Callable[[MessageRow], Document]
"""Extracts the searchable text of a message: a rule of the sessions part, passed to the engine."""
