"""The storage port of the sessions part: sessions, their messages, and the search for messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from msgspec import Struct

from mnemos.text.query import Query


class Order(StrEnum):
    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"


class SessionRow(Struct, frozen=True):
    """A stored session. ``model_config`` and ``metadata`` are JSON."""

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
    revision: int = 1
    """Counts the writes to the session."""
    updated_at: float = 0.0
    """The time of the last write."""


class NewMessage(NamedTuple):
    """A message to store: a tuple, because creating a frozen object takes longer than checking it.

    ``content`` is plain text, or JSON if ``encoded``; ``tool_calls`` and ``metadata`` are JSON. ``origin`` is
    ``memory`` if it only repeats the memory. ``key`` is the host's own id of the message. ``calls`` counts
    the calls in ``tool_calls``. No text contains a NUL or a lone surrogate.
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
    key: str | None
    calls: int


class MessageRow(Struct, frozen=True):
    """A stored message. A forgotten one keeps its position, role, time and key.

    A ``retired`` message has left its session's working history. Searches still find it.
    """

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
    key: str | None = None
    retired: bool = False


class Glimpse(Struct, frozen=True):
    """The beginning of a message. ``content`` is truncated unless it is ``encoded``."""

    role: str
    content: str | None
    encoded: bool
    forgotten: bool


class AppendedMessage(Struct, frozen=True):
    """The beginning of a message, for followers of changes."""

    id: int
    session_id: str
    timestamp: float
    beginning: Glimpse


class CreatedSession(Struct, frozen=True):
    """A session, for followers of changes. Later sessions have a higher ``number``."""

    number: int
    id: str
    source: str
    title: str | None
    started_at: float


class Hit(Struct, frozen=True):
    """A message with the context that a search shows."""

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
    """Restrict a search to some messages. None means no restriction. ``until`` is exclusive."""

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


class SessionFilters(Struct, frozen=True):
    """Restrict a list to some sessions. None means no restriction."""

    source: str | None = None
    archived: bool | None = None
    projects: Sequence[str] | None = None
    user: str | None = None
    """Only sessions that belong to this user or to nobody."""
    since: float | None = None
    until: float | None = None
    """Only sessions that started at or after ``since`` and before ``until``."""
    parent: str | None = None
    metadata: str | None = None
    """A JSON object of scalars that the session's metadata must contain."""
    ids: Sequence[str] | None = None


class Found(Struct, frozen=True):
    """A matching message, with the number of clauses it matches and its score."""

    message_id: int
    matched: int
    score: float


class Results(Struct, frozen=True):
    """The hits in order. ``partial`` if no message matches all clauses, but these match most."""

    hits: tuple[Found, ...]
    partial: bool


class SessionReads(Protocol):
    def get(self, session_id: str) -> SessionRow | None: ...

    def by_title(self, title: str, limit: int) -> list[SessionRow]:
        """Sessions with this title, ignoring case, newest start first."""
        ...

    def by_id_prefix(self, text: str, limit: int) -> list[SessionRow]:
        """Sessions whose id starts with the text, newest start first."""
        ...

    def recent(
        self, filters: SessionFilters, *, limit: int, offset: int, by_update: bool = False
    ) -> list[SessionRow]:
        """Sessions, newest start first, equal ones by id. ``by_update`` sorts by the last write."""
        ...

    def page(
        self, *, source: str | None, after: str, limit: int, projects: Sequence[str] | None = None
    ) -> list[SessionRow]:
        """Sessions with ids above ``after``, by id, to go through all in short reads."""
        ...

    def count(self, filters: SessionFilters) -> int: ...

    def by_title_part(self, text: str, limit: int) -> list[str]:
        """Ids of sessions whose title contains the text, ignoring case, newest start first."""
        ...

    def projects(self) -> list[str]:
        """The distinct projects of all sessions."""
        ...

    def openings(self, session_ids: Sequence[str], *, characters: int) -> dict[str, list[Glimpse]]:
        """The first few texts of users in these sessions, for titles.

        Sessions without any are left out, as are forgotten and empty messages. Messages are in order.
        """
        ...

    def neighbours_of_id(self, session_id: str) -> tuple[str | None, str | None]:
        """The ids sorted directly before and after this one, to tell how far it can be shortened.

        Ids that begin with this one are left out.
        """
        ...

    def children(self, session_id: str) -> list[SessionRow]:
        """Sessions with this parent, oldest start first."""
        ...

    def last_seen(self) -> dict[str, float]:
        """The time of the newest message of each source."""
        ...

    def ended_before(self, moment: float, source: str | None, *, by_start: bool = False) -> list[str]:
        """Ids of ended sessions whose last message (or end, if none) is before a time.

        With ``by_start``, sessions that started before it, regardless of when they ended.
        """
        ...

    def message_count(self, session_id: str | None) -> int: ...

    def messages(
        self,
        session_id: str,
        *,
        after: int,
        limit: int,
        last: bool = False,
        working: bool = False,
        since: float | None = None,
    ) -> list[MessageRow]:
        """Messages with ids above ``after``, in append order: the first ``limit`` or the ``last``.

        ``working`` leaves out retired ones. ``since`` leaves out those with an earlier time.
        """
        ...

    def message(self, message_id: int) -> MessageRow | None: ...

    def message_at(self, session_id: str, position: int) -> int | None:
        """The id of a session's message at this position, counted from 0."""
        ...

    def position(self, session_id: str, message_id: int) -> int:
        """The number of the session's messages with lower ids."""
        ...

    def outline(self, session_id: str) -> list[tuple[int, str, int, float]]:
        """The id, role, size in bytes and time of each message, in order."""
        ...

    def find_call(self, session_id: str, call_id: str) -> MessageRow | None:
        """The last message with this tool call, among a session's last 64 messages."""
        ...

    def hits(self, message_ids: Sequence[int], characters: int) -> list[Hit]:
        """Messages in the given order, with the start of their neighbours. Unknown ids are skipped."""
        ...

    def around(self, message_id: int, *, before: int, after: int) -> list[MessageRow]:
        """A message and its neighbours in the session, in order; empty for an unknown id."""
        ...

    def newest_ids(self) -> tuple[int, int]:
        """The highest message id and session number ever assigned."""
        ...

    def first_since(self, at: float) -> tuple[int | None, int | None]:
        """The lowest message id and session number from a time on."""
        ...

    def messages_after(self, after: int, limit: int, characters: int) -> list[AppendedMessage]:
        """Messages of all sessions with ids above ``after``, in the order they were appended."""
        ...

    def sessions_after(self, after: int, limit: int) -> list[CreatedSession]:
        """Sessions with numbers above ``after``, in the order they were created."""
        ...

    def by_source(self) -> list[tuple[str, int, int]]:
        """Sources with their numbers of sessions and messages, most messages first."""
        ...

    def growth(self, since: float | None = None) -> list[tuple[str, str, int, int]]:
        """Numbers of sessions and messages by the local date of the start, then by source.

        Sessions with a start outside the calendar are left out.
        """
        ...

    def search(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        """Messages that match every clause or, if there are none, most clauses.

        Every message appended before the call can be found, by every process. ``RELEVANCE`` returns the best
        first; if a query only has common words, the best of the newest few thousand. ``NEWEST`` and
        ``OLDEST`` sort exactly, by the message's own time. A message of more than 100,000 characters may be
        matched in pieces, so words far apart in it may not count together.
        """
        ...


class SessionWrites(SessionReads, Protocol):
    def create(self, session: SessionRow) -> bool:
        """Insert a session. False, without a change, if the id exists. An unknown parent raises NotFound."""
        ...

    def fill(self, session: SessionRow) -> None:
        """Set the empty fields of an existing session. Overwrites nothing."""
        ...

    def end(self, session_id: str, reason: str, at: float) -> bool:
        """End a session, unless it has already ended. False if the session is unknown."""
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
        """Set the parent. False if the session is unknown. An unknown parent raises NotFound."""
        ...

    def hold(self, session_id: str) -> int | None:
        """Lock a session for writing until this transaction ends, and return its revision.

        None if the session is unknown.
        """
        ...

    def revise(self, session_id: str, at: float) -> bool:
        """Count a write: increment the revision, and set ``updated_at`` to ``at`` if that is later.

        Only ``append`` does this itself.
        """
        ...

    def append(self, session_id: str, messages: Sequence[NewMessage], at: float) -> list[int]:
        """Store messages, update the session's counters and ``revise`` it; return the ids.

        Ids ascend and are never reused. A message whose key the session or an earlier message in the sequence
        already has is not stored again: the id of the first is returned in its place. If nothing is stored,
        the revision doesn't change. An unknown session raises NotFound.
        """
        ...

    def retire(self, session_id: str, first: int, last: int, *, free: Sequence[str] = ()) -> None:
        """Retire a session's messages with ids from ``first`` to ``last``.

        They give up the keys in ``free``, which new messages may then use.
        """
        ...

    def pop(self, session_id: str) -> MessageRow | None:
        """Remove the newest message that isn't retired, from rows, index, vectors and counters.

        Returns the message, or None if the session has none.
        """
        ...

    def remove(self, message_ids: Sequence[int]) -> None:
        """Remove messages from rows, index, vectors and counters. Unknown ids are ignored."""
        ...

    def renew(self, session: SessionRow) -> None:
        """Overwrite a session's title, times, end, token counts and archive mark.

        ``updated_at`` is stored as given. An unknown session raises NotFound.
        """
        ...

    def set_origin(self, message_id: int, origin: str) -> None:
        """Set the origin of a message with tool calls, and index it accordingly."""
        ...

    def begin_delete(self, session_id: str) -> bool:
        """Hide the session from every reader and move its children to its parent.

        ``Storage.finish_deletes`` removes the rows. False if the session is unknown.
        """
        ...

    def forget_message(self, message_id: int, *, tool_calls: str | None, at: float) -> None:
        """Erase a message's text from row and index, but keep its position, role and time.

        ``tool_calls`` replaces its tool calls. An unknown message changes nothing.
        """
        ...


Documents = Callable[[MessageRow], Document]
"""Extracts the searchable text of a message. The sessions part passes it to the engine."""
