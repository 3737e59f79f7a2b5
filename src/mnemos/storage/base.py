"""The contract between the parts and an engine.

A storage is opened in one space and reaches no other. All work happens in transactions: a part hands
``read`` or ``write`` a function, which gets the transaction's stores. A write is all or nothing. The
function may be run again when the engine could not commit through no fault of its own, so it must not
change anything but the transaction. Nothing slow belongs inside: no model, no network, no embedding.

Which rows come back is promised; their order only where a docstring says so. ``mnemos.testing`` holds
this contract as tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct

from mnemos.storage.entries import EntryReads, EntryWrites
from mnemos.storage.facts import FactReads, FactWrites
from mnemos.storage.imports import ImportReads, ImportWrites
from mnemos.storage.passages import PassageReads, PassageWrites, VectorReads, VectorWrites
from mnemos.text.query import Query

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


class NewMessage(NamedTuple):
    """A message to be stored: a tuple, because making a frozen object takes longer than all checks of it.

    ``content`` is plain text, or JSON when ``encoded``; ``tool_calls`` and ``metadata`` are JSON;
    ``calls`` is the number of calls in ``tool_calls``. No text holds a NUL or a lone surrogate.
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
    calls: int


class MessageRow(Struct, frozen=True):
    """A message as stored. A forgotten one keeps its place, its role and its time."""

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


class Glimpse(Struct, frozen=True):
    """The beginning of a message: role, and its content cut short unless it is ``encoded``."""

    role: str
    content: str | None
    encoded: bool
    forgotten: bool


class Hit(Struct, frozen=True):
    """A message with what a search shows beside it."""

    message: MessageRow
    source: str
    model: str | None
    session_started: float
    has_parent: bool
    before: Glimpse | None
    after: Glimpse | None


class Document(Struct, frozen=True):
    """The searchable parts of a message: its text, the tools it called, and the speaker's name."""

    said: str
    tool: str
    speaker: str = ""


class Filters(Struct, frozen=True):
    """Which messages a search looks at. None: no restriction. ``until`` is exclusive."""

    sources: Sequence[str] | None = None
    exclude_sources: Sequence[str] = ()
    roles: Sequence[str] | None = None
    session_ids: Sequence[str] | None = None
    exclude_session_ids: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    group: str | None = None
    """Only passages of this group; messages have none."""


class Found(Struct, frozen=True):
    """A hit: how many clauses of the query the message fulfils, and how well."""

    message_id: int
    matched: int
    score: float


class Results(Struct, frozen=True):
    """The hits in order. ``partial``: no message has all clauses, these have most of them."""

    hits: tuple[Found, ...]
    partial: bool


class AuditRow(Struct, frozen=True):
    id: int
    at: float
    actor: str
    operation: str
    ref: str
    before: str | None
    after: str | None
    undone_by: int | None


class Check(Struct, frozen=True):
    """One thing the doctor looked at."""

    name: str
    ok: bool
    detail: str


def passed(name: str, detail: str) -> Check:
    return Check(name, ok=True, detail=detail)


def failed(name: str, detail: str) -> Check:
    return Check(name, ok=False, detail=detail)


class Usage(Struct, frozen=True):
    """Disk usage, in bytes."""

    file_bytes: int
    wal_bytes: int
    free_bytes: int
    parts: dict[str, int]
    pending: int


class SessionReads(Protocol):
    def get(self, session_id: str) -> SessionRow | None: ...

    def titled(self, title: str, limit: int) -> list[SessionRow]:
        """Sessions with this title, case ignored, newest start first."""
        ...

    def beginning(self, text: str, limit: int) -> list[SessionRow]:
        """Sessions whose id begins with the text, newest start first."""
        ...

    def listed(
        self, *, source: str | None, archived: bool | None, limit: int, offset: int
    ) -> list[SessionRow]:
        """Newest start first; equal starts by id."""
        ...

    def page(self, *, source: str | None, after: str, limit: int) -> list[SessionRow]:
        """By id, ids above ``after``: for going through all of them in short reads."""
        ...

    def count(self, *, source: str | None, archived: bool | None) -> int: ...

    def children(self, session_id: str) -> list[SessionRow]:
        """Oldest start first."""
        ...

    def ended_before(self, moment: float, source: str | None) -> list[str]:
        """Ids of ended sessions whose last message (or else end) is before the moment."""
        ...

    def message_count(self, session_id: str | None) -> int: ...

    def messages(self, session_id: str, *, after: int, limit: int, last: bool = False) -> list[MessageRow]:
        """In the order they were appended, ids above ``after``; ``last``: the final ones instead."""
        ...

    def message(self, message_id: int) -> MessageRow | None: ...

    def hits(self, message_ids: Sequence[int], characters: int) -> list[Hit]:
        """These messages, in this order, with their neighbours' first characters; unknown ones not."""
        ...

    def around(self, message_id: int, *, before: int, after: int) -> list[MessageRow]:
        """The message and its neighbours in its session, in order; empty when unknown."""
        ...

    def by_source(self) -> list[tuple[str, int, int]]:
        """Source, sessions, messages; most messages first."""
        ...

    def search(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        """Messages that fulfil every clause, else, if there is none, those that fulfil most.

        Every message appended before the call can be found, by every opener. Relevance: best first;
        for a query of common words alone, the best of the newest few thousand. Newest and oldest:
        by the message's own time, exact. A message of more than 100,000 characters may be matched in
        pieces: words that are close to each other count together.
        """
        ...


class SessionWrites(SessionReads, Protocol):
    def create(self, session: SessionRow) -> bool:
        """Insert; False and no change when the id exists. An unknown parent raises NotFound."""
        ...

    def fill(self, session: SessionRow) -> None:
        """Set what is still empty in an existing session; overwrite nothing."""
        ...

    def end(self, session_id: str, reason: str, at: float) -> bool:
        """The first end stays. False when unknown."""
        ...

    def reopen(self, session_id: str) -> bool: ...

    def set_system_prompt(self, session_id: str, prompt: str | None) -> bool: ...

    def set_metadata(self, session_id: str, metadata: str | None) -> bool:
        """Replace the metadata, which is JSON."""
        ...

    def add_tokens(self, session_id: str, input_tokens: int, output_tokens: int) -> bool: ...

    def set_title(self, session_id: str, title: str | None) -> bool: ...

    def set_archived(self, session_id: str, *, archived: bool) -> bool: ...

    def set_parent(self, session_id: str, parent_session_id: str) -> bool:
        """False when the session is unknown; an unknown parent raises NotFound."""
        ...

    def append(self, session_id: str, messages: Sequence[NewMessage]) -> list[int]:
        """Ids ascending, never given twice; the session's counters move with them.

        An unknown session raises NotFound.
        """
        ...

    def begin_delete(self, session_id: str) -> bool:
        """From here on the session is gone for every reader; its children belong to its parent.

        The rows are removed by ``Storage.finish_deletes``. False when unknown.
        """
        ...

    def forget_message(self, message_id: int, *, tool_calls: str | None, at: float) -> None:
        """Erase text from row and index, keep place, role, time; ``tool_calls`` takes theirs.

        An unknown message changes nothing.
        """
        ...


class AuditReads(Protocol):
    def get(self, entry_id: int) -> AuditRow | None: ...

    def newest(self, limit: int, *, before: int | None = None) -> list[AuditRow]: ...

    def newest_on(self, ref: str) -> AuditRow | None:
        """The newest entry on this ref; what it says may be gone."""
        ...

    def backups(self) -> list[tuple[str, float]]:
        """Return the paths and times of backups."""
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
        """Erase what entries on this ref say; that something happened stays. How many said anything."""
        ...

    def clear(self, entry_id: int) -> None:
        """Erase what one entry says."""
        ...

    def expire(self, before: float, operations: str) -> None:
        """Drop the texts of entries older than the moment, of operations whose name begins so."""
        ...

    def note_backup(self, path: str, at: float) -> None: ...


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
        """The place of the data, for people."""
        ...

    def read(self, work: Callable[[Reads], T]) -> T:
        """Run work on one unchanging view of the data."""
        ...

    def write(self, work: Callable[[Writes], T], *, within: float | None = None) -> T:
        """Run work as one atomic change; an exception undoes all of it.

        Errors: Busy after the configured wait, or after ``within`` seconds; DiskFull, ReadOnly,
        SchemaChanged, Corrupt.
        """
        ...

    def finish_deletes(self) -> None:
        """Remove the rows of deleted sessions, in steps short enough not to hold up a writer."""
        ...

    def catch_up(self, seconds: float | None = None) -> int:
        """Index what was appended, in short steps, at most about this long; how much is left."""
        ...

    def optimize(self, seconds: float | None = None) -> None:
        """Clean up the index and the file, in short steps."""
        ...

    def without_background(self) -> AbstractContextManager[None]:
        """Pause background work, for callers that store much and call ``catch_up`` themselves.

        Two threads of one process would keep each other waiting, and the lock held for longer.
        """
        ...

    def when_idle(self, work: Callable[[], bool]) -> None:
        """Let the background thread do this too, when it is quiet after messages came or a ``wake``.

        It is called outside any transaction until it returns False.
        """
        ...

    def wake(self) -> None:
        """Let the background thread look for work soon; nothing happens in a read-only storage."""
        ...

    def scrub(self) -> bool:
        """Remove every trace of what was erased from the engine's files, in short steps.

        False while a reader still prevents it. A later call, or ``optimize``, completes it.
        """
        ...

    def usage(self) -> Usage: ...

    def backup(self, target: Path, progress: Callable[[float], None] | None = None) -> None:
        """Write a verified copy while in use; an existing file is not overwritten."""
        ...

    def restore(self, backup: Path) -> Path | None:
        """Replace all data (every space) by a verified backup; where the former data was put."""
        ...

    def examine(self, *, repair: bool) -> Iterator[Check]:
        """Check the data. With ``repair``, repair what can be, without losing anything readable."""
        ...

    def close(self) -> None:
        """Finish what is pending within a short time. Closing twice does no harm."""
        ...


Documents = Callable[[MessageRow], Document]
"""Returns what is searchable in a message: a rule of the sessions part, given to the engine."""
