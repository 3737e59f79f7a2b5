"""Operations on sessions and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import NotFound
from mnemos.operations.base import Done, Operation, Result, Traits
from mnemos.operations.border import MOST
from mnemos.operations.moments import shown
from mnemos.operations.wording import Session, calls, counted, spoken

if TYPE_CHECKING:
    from mnemos.memory import Memory


class ListSessions(Operation, frozen=True, kw_only=True):
    """List sessions, newest first."""

    traits: ClassVar[Traits] = Traits(title="List sessions", read_only=True, example=("--limit", "5"))

    source: Annotated[str | None, Meta(description="Only from this source")] = None
    archived: Annotated[bool, Meta(description="Archived sessions instead")] = False
    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many")] = 20
    offset: Annotated[int, Meta(ge=0, le=MOST, description="Pass over so many")] = 0

    def run(self, memory: Memory) -> SessionList:
        rows = memory.sessions.search_sessions(self.source, self.limit, self.offset, archived=self.archived)
        return SessionList(
            sessions=[{key: row[key] for key in _LISTED} for row in rows],
            total=memory.sessions.session_count(self.source, archived=self.archived),
        )


_LISTED = (
    "id", "title", "source", "model", "started_at", "ended_at", "end_reason", "message_count",
    "parent_session_id", "archived",
)  # fmt: skip


class SessionList(Result, frozen=True, kw_only=True):
    sessions: list[dict[str, Any]]
    total: int

    def as_text(self) -> str:
        if not self.sessions:
            return "No sessions."
        lines = [
            f"{shown(s['started_at'])}  {s['id']}  {s['source']}  {counted(s['message_count'], 'message')}"
            f"  {s['title'] or ''}".rstrip()
            for s in self.sessions
        ]
        return "\n".join([*lines, f"({len(self.sessions)} of {self.total})"])


class ShowSession(Operation, frozen=True, kw_only=True):
    """Show a session and its messages."""

    traits: ClassVar[Traits] = Traits(
        title="Show a session", read_only=True, positional=("session",), example=("SESSION",)
    )

    session: Session
    tail: Annotated[int, Meta(ge=1, le=MOST, description="Only the last so many messages")] | None = None

    def run(self, memory: Memory) -> SessionShown:
        session_id = memory.sessions.resolve_session(self.session)
        session = memory.sessions.get_session(session_id)
        if session is None:
            raise NotFound(f"there is no session {session_id!r}")
        messages = memory.sessions.get_messages(session_id)
        return SessionShown(session=session, messages=messages[-self.tail :] if self.tail else messages)


class SessionShown(Result, frozen=True, kw_only=True):
    session: dict[str, Any]
    messages: list[dict[str, Any]]

    def as_text(self) -> str:
        s = self.session
        ended = f", ended {shown(s['ended_at'])} ({s['end_reason']})" if s["ended_at"] else ""
        lines = [f"{s['id']}  {s['title'] or ''}".rstrip(), f"{s['source']}, {shown(s['started_at'])}{ended}"]
        lines += [f"[{m['id']}] {m['role']}: {_said(m)}" for m in self.messages]
        return "\n".join(lines)


def _said(message: dict[str, Any]) -> str:
    made = [f"→ {call}" for call in calls(message)]
    return "\n".join([*filter(None, [spoken(message["content"])]), *made])


class ShowLineage(Operation, frozen=True, kw_only=True):
    """Show the sessions of one conversation, from its first to the one in which it goes on."""

    traits: ClassVar[Traits] = Traits(
        title="Show a conversation's sessions", read_only=True, positional=("session",), example=("SESSION",)
    )

    session: Session

    def run(self, memory: Memory) -> Lineage:
        return Lineage(sessions=memory.sessions.get_lineage(memory.sessions.resolve_session(self.session)))


class Lineage(Result, frozen=True, kw_only=True):
    sessions: list[str]

    def as_text(self) -> str:
        return " -> ".join(self.sessions)


class CreateSession(Operation, frozen=True, kw_only=True):
    """Begin a session."""

    traits: ClassVar[Traits] = Traits(
        title="Begin a session",
        begins=True,
        positional=("session_id",),
        example=("trip-to-lisbon", "--title", "Lisbon"),
    )

    session_id: Annotated[str, Meta(description="An id of your choice, not in use")]
    source: Annotated[str | None, Meta(description="Where it comes from; default: the setting")] = None
    model: Annotated[str | None, Meta(description="The model that takes part")] = None
    system_prompt: Annotated[str | None, Meta(description="What the model was told first")] = None
    user_id: Annotated[str | None, Meta(description="Who takes part")] = None
    parent_session_id: Annotated[str | None, Meta(description="The session it continues")] = None
    title: Annotated[str | None, Meta(description="A name for people")] = None

    def run(self, memory: Memory) -> Created:
        session_id = memory.sessions.create_session(
            self.session_id,
            self.source,
            self.model,
            None,
            self.system_prompt,
            self.user_id,
            self.parent_session_id,
            title=self.title,
        )
        return Created(session_id=session_id)


class Created(Result, frozen=True, kw_only=True):
    session_id: str

    def as_text(self) -> str:
        return f"Session {self.session_id} begun."


class AppendMessage(Operation, frozen=True, kw_only=True):
    """Append a message to a session."""

    traits: ClassVar[Traits] = Traits(
        title="Append a message",
        positional=("session_id", "role", "content"),
        stdin="content",
        example=("trip-to-lisbon", "user", "Book the morning train"),
    )

    session_id: Annotated[str, Meta(description="The id of an existing session")]
    role: Annotated[str, Meta(description="user, assistant, system or tool")]
    content: Annotated[str | None, Meta(description="The text; - reads standard input")] = None
    tool_name: Annotated[str | None, Meta(description="The tool that answers")] = None
    tool_call_id: Annotated[str | None, Meta(description="The call it answers")] = None

    def run(self, memory: Memory) -> Appended:
        message_id = memory.sessions.append_message(
            self.session_id, self.role, self.content, self.tool_name, None, self.tool_call_id
        )
        return Appended(message_id=message_id)


class Appended(Result, frozen=True, kw_only=True):
    message_id: int

    def as_text(self) -> str:
        return f"message:{self.message_id} stored."


class DeleteSession(Operation, frozen=True, kw_only=True):
    """Delete a session and its messages. Can be undone for some weeks; `forget` cannot."""

    traits: ClassVar[Traits] = Traits(
        title="Delete a session", destructive=True, positional=("session",), example=("SESSION", "--yes")
    )

    session: Session

    def run(self, memory: Memory) -> Done:
        session_id = memory.sessions.resolve_session(self.session)
        memory.sessions.delete_session(session_id)
        kept = any(row.ref == f"session:{session_id}" and row.before for row in memory.log(5))
        way_back = "`mnemos undo` brings it back" if kept else "it was too large to be kept for undo"
        return Done(done=f"{session_id} is deleted; {way_back}.")

    def at_stake(self, memory: Memory) -> str:
        session_id = memory.sessions.resolve_session(self.session)
        session = memory.sessions.get_session(session_id) or {}
        title = session.get("title") or "no title"
        messages = counted(session.get("message_count", 0), "message")
        return f"session {session_id} ({title}) with {messages}"


class PruneSessions(Operation, frozen=True, kw_only=True):
    """Delete ended sessions whose last message is older than so many days. Cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Delete old sessions", destructive=True, example=("--older-than-days", "365", "--dry-run")
    )

    older_than_days: Annotated[float, Meta(ge=0, le=100000, description="Days since the last message")] = 90.0
    source: Annotated[str | None, Meta(description="Only from this source")] = None
    dry_run: Annotated[bool, Meta(description="Only count them")] = False

    def writes(self) -> bool:
        return not self.dry_run

    def run(self, memory: Memory) -> Pruned:
        count = memory.sessions.prune_sessions(self.older_than_days, self.source, dry_run=self.dry_run)
        return Pruned(sessions=count, dry_run=self.dry_run)

    def at_stake(self, memory: Memory) -> str:
        if self.dry_run:
            return ""
        count = memory.sessions.prune_sessions(self.older_than_days, self.source, dry_run=True)
        if not count:
            return ""
        return f"{counted(count, 'ended session')} older than {self.older_than_days:g} days, for good"


class Pruned(Result, frozen=True, kw_only=True):
    sessions: int
    dry_run: bool

    def as_text(self) -> str:
        were = "would be" if self.dry_run else "was" if self.sessions == 1 else "were"
        return f"{counted(self.sessions, 'session')} {were} deleted."
