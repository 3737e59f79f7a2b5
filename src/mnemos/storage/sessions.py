"""Sessions and messages, as an engine stores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from mnemos.text.query import Query

if TYPE_CHECKING:
    from mnemos.storage.base import (
        Filters,
        Glimpse,
        Hit,
        MessageRow,
        NewMessage,
        Order,
        Results,
        SessionRow,
    )


class SessionReads(Protocol):
    def get(self, session_id: str) -> SessionRow | None: ...

    def by_title(self, title: str, limit: int) -> list[SessionRow]:
        """Sessions with this title, ignoring case, newest start first."""
        ...

    def by_id_prefix(self, text: str, limit: int) -> list[SessionRow]:
        """Sessions whose id starts with the text, newest start first."""
        ...

    def recent(
        self,
        *,
        source: str | None,
        archived: bool | None,
        limit: int,
        offset: int,
        projects: Sequence[str] | None = None,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> list[SessionRow]:
        """Sessions by start, newest first; equal starts by id. ``user``: that user's, and nobody's.

        Their start is from ``since`` to before ``until``.
        """
        ...

    def page(
        self, *, source: str | None, after: str, limit: int, projects: Sequence[str] | None = None
    ) -> list[SessionRow]:
        """Sessions by id, ids above ``after``: to go through all of them in short reads."""
        ...

    def count(
        self,
        *,
        source: str | None,
        archived: bool | None,
        projects: Sequence[str] | None = None,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> int: ...

    def projects(self) -> list[str]:
        """The projects of all sessions, each once."""
        ...

    def openings(self, session_ids: Sequence[str], *, characters: int) -> dict[str, list[Glimpse]]:
        """The first few things that users said in these sessions, for a title.

        A session without any is left out. Messages are in order; forgotten and empty ones are left out.
        """
        ...

    def neighbours_of_id(self, session_id: str) -> tuple[str | None, str | None]:
        """The ids before and after this one in the order of ids, to tell how much of it is needed.

        Ids that begin with this one are left out.
        """
        ...

    def children(self, session_id: str) -> list[SessionRow]:
        """Sessions with this parent, oldest start first."""
        ...

    def ended_before(self, moment: float, source: str | None, *, by_start: bool = False) -> list[str]:
        """Ids of ended sessions whose last message (or else end) is before the moment.

        With ``by_start``, of those that started before it, whenever they ended.
        """
        ...

    def message_count(self, session_id: str | None) -> int: ...

    def messages(self, session_id: str, *, after: int, limit: int, last: bool = False) -> list[MessageRow]:
        """Messages in append order with ids above ``after``, the first ``limit`` or the ``last``."""
        ...

    def message(self, message_id: int) -> MessageRow | None: ...

    def message_at(self, session_id: str, position: int) -> int | None:
        """The id of the message after this many others of its session."""
        ...

    def position(self, session_id: str, message_id: int) -> int:
        """The number of messages of the session with smaller ids."""
        ...

    def outline(self, session_id: str) -> list[tuple[int, str, int, float]]:
        """Id, role, size in bytes and time of each message, in order."""
        ...

    def find_call(self, session_id: str, call_id: str) -> MessageRow | None:
        """The last message whose tool calls have this id, of the last 64 messages of a session."""
        ...

    def hits(self, message_ids: Sequence[int], characters: int) -> list[Hit]:
        """These messages in this order, with the start of their neighbours. Unknown ids are skipped."""
        ...

    def around(self, message_id: int, *, before: int, after: int) -> list[MessageRow]:
        """The message and its neighbours in its session, in order; empty for an unknown id."""
        ...

    def by_source(self) -> list[tuple[str, int, int]]:
        """Each source with its number of sessions and messages, most messages first."""
        ...

    def growth(self, since: float | None = None) -> list[tuple[str, str, int, int]]:
        """Sessions and their messages by local date of their start and by source, in this order.

        Sessions that no calendar has a date for are left out.
        """
        ...

    def search(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        """Messages that match every clause or, if there are none, those that match most.

        Every message appended before the call can be found, by every opener. ``RELEVANCE`` returns the
        best first; for a query of common words only, the best of the newest few thousand. ``NEWEST`` and
        ``OLDEST`` sort exactly, by the message's own time. A message of more than 100,000 characters may
        be matched in pieces, so words far apart in it may not count together.
        """
        ...


class SessionWrites(SessionReads, Protocol):
    def create(self, session: SessionRow) -> bool:
        """Insert a session; False and no change if the id exists. An unknown parent raises NotFound."""
        ...

    def fill(self, session: SessionRow) -> None:
        """Set the empty fields of an existing session; overwrite nothing."""
        ...

    def end(self, session_id: str, reason: str, at: float) -> bool:
        """End a session; an earlier end stays. False if the session is unknown."""
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
        """Set the parent; False if the session is unknown. An unknown parent raises NotFound."""
        ...

    def append(self, session_id: str, messages: Sequence[NewMessage]) -> list[int]:
        """Store messages and update the session's counters. Ids ascend and are never reused.

        An unknown session raises NotFound.
        """
        ...

    def set_origin(self, message_id: int, origin: str) -> None:
        """Set the origin of a message that calls tools, and index it accordingly."""
        ...

    def begin_delete(self, session_id: str) -> bool:
        """Hide the session from every reader and give its children to its parent.

        ``Storage.finish_deletes`` removes the rows. False if the session is unknown.
        """
        ...

    def forget_message(self, message_id: int, *, tool_calls: str | None, at: float) -> None:
        """Erase a message's text from row and index; its position, role and time stay.

        ``tool_calls`` replaces its tool calls. An unknown message changes nothing.
        """
        ...
