"""Operations on sessions and their messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from mnemos.errors import InvalidInput, NotFound
from mnemos.language.moments import read_moment
from mnemos.operations.arguments import (
    MOST,
    Offset,
    Project,
    Revision,
    Session,
    Since,
    Source,
    Until,
    User,
    is_elsewhere,
    up_to,
)
from mnemos.operations.base import Done, Info, Operation, Result, Traits, fill
from mnemos.operations.texts import list_some, message_text, plural, render_calls, render_time, render_title
from mnemos.sessions import session_types
from mnemos.text.stored_text import join_items, one_line, render_speaker

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.sessions.sessions import Sessions


class SessionInfo(Info, frozen=True, kw_only=True):
    """Everything stored about a session except its messages."""

    id: str
    title: str | None
    source: str
    model: str | None
    started_at: float
    ended_at: float | None
    end_reason: str | None
    message_count: int
    parent_session_id: str | None
    archived: bool
    project: str | None
    branch: str | None
    user_id: str | None
    model_config: Any
    tool_call_count: int
    input_tokens: int
    output_tokens: int
    metadata: Any
    updated_at: float = 0.0
    revision: int = 0
    """Number of writes to the session."""
    system_prompt: str | UnsetType | None = UNSET
    """Left out of lists, unless details are asked for."""
    short_id: str = ""
    """Beginning of the id that is enough to name the session."""
    elsewhere: bool = False
    """True if it is about another project than the current one."""


class SessionDetail(SessionInfo, frozen=True, kw_only=True):
    """A session with its details."""

    untitled: bool = False
    """True without a given title: ``title`` is then the first line that a user said."""


class MessageInfo(Info, frozen=True, kw_only=True):
    id: int
    session_id: str
    role: str
    content: str | list[Any] | None
    """Text, or a list of parts as the model's API had them."""
    tool_name: str | None
    tool_calls: Any
    tool_call_id: str | None
    token_count: int | None
    timestamp: float
    metadata: Any
    forgotten: bool | UnsetType = UNSET
    origin: str | UnsetType = UNSET
    """``memory`` if the message only repeats the memory."""
    key: str | UnsetType = UNSET
    """Id given by the program."""
    retired: bool | UnsetType = UNSET
    """True if a rewrite replaced it."""


class ListSessions(Operation, frozen=True, kw_only=True):
    """List sessions, newest first. With `query`, only those with its words in the title or the messages."""

    traits: ClassVar[Traits] = Traits(title="List sessions", read_only=True, example="--limit 5")

    query: Annotated[str | None, Meta(description="Words in the title or the messages")] = None
    source: Source = None
    archived: Annotated[bool | None, Meta(description="List archived sessions instead")] = False
    limit: Annotated[int, up_to(1000)] = 20
    offset: Offset = 0
    project: Project = None
    since: Since = None
    until: Until = None
    details: Annotated[bool, Meta(description="Include system prompts")] = False
    user_id: User = None
    parent: Annotated[str | None, Meta(description="Only the children of this session")] = None
    metadata: Annotated[
        dict[str, Any] | None, Meta(description="Only sessions whose metadata has these keys and values")
    ] = None
    sort: Annotated[
        Literal["started", "updated"], Meta(description="Sort by when they started or last changed")
    ] = "started"

    def run(self, memory: Memory) -> SessionList:
        chosen: dict[str, Any] = {
            "query": self.query or None,
            "since": self.since,
            "until": self.until,
            "archived": self.archived,
            "project": self.project or None,
            "user_id": self.user_id,
            "metadata": self.metadata,
            "parent": self.parent and memory.sessions.resolve_session(self.parent, user_id=self.user_id),
        }
        rows = memory.sessions.search_sessions(self.source, self.limit, self.offset, **chosen, sort=self.sort)
        total = memory.sessions.session_count(self.source, **chosen)
        infos = _list_infos(memory, rows)
        if not self.details:
            infos = [replace(one, system_prompt=UNSET) for one in infos]
        return SessionList(sessions=infos, total=total)


def _list_infos(memory: Memory, rows: Sequence[session_types.Session]) -> list[SessionInfo]:
    ids = memory.sessions.shorten_ids(row["id"] for row in rows)
    return [
        fill(
            SessionInfo,
            {**row, "short_id": ids[row["id"]], "elsewhere": is_elsewhere(memory, row["project"])},
        )
        for row in rows
    ]


class SessionList(Result, frozen=True, kw_only=True):
    sessions: list[SessionInfo]
    total: int

    def as_text(self) -> str:
        if not self.sessions:
            return "No sessions."
        return join_items([*map(_render_info, self.sessions), f"({len(self.sessions)} of {self.total})"])


def _render_info(one: SessionInfo) -> str:
    title = render_title(one.title, one.project, elsewhere=one.elsewhere)
    count = plural(one.message_count, "message")
    return f"{title}  {render_time(one.started_at)}  {one.source}, {count}  {one.short_id}"


class ShowSession(Operation, frozen=True, kw_only=True):
    """Show a session and its messages."""

    traits: ClassVar[Traits] = Traits(
        title="Show a session", read_only=True, positional=("session",), example="trip-to-lisbon"
    )

    session: Session
    tail: Annotated[int, up_to(MOST, "Only the last messages, up to this number")] | None = None
    since: Since = None

    def run(self, memory: Memory) -> SessionShown:
        session_id = memory.sessions.resolve_session(self.session)
        messages = memory.sessions.get_messages(session_id, last=self.tail, since=self.since)
        return show_messages(memory, session_id, messages)


def show_messages(memory: Memory, session_id: str, messages: Sequence[Mapping[str, Any]]) -> SessionShown:
    """Return a session with some of its messages."""
    session = memory.sessions.get_session(session_id)
    if session is None:
        raise NotFound(f"There is no session {session_id!r}.")
    short = memory.sessions.shorten_ids([session_id])[session_id]
    title, is_given = memory.sessions.find_title(session_id), session["title"] is not None
    about = {**session, "title": title, "untitled": not is_given, "short_id": short}
    return SessionShown(
        session=fill(SessionDetail, about), messages=[fill(MessageInfo, one) for one in messages]
    )


class SessionShown(Result, frozen=True, kw_only=True):
    session: SessionDetail
    messages: list[MessageInfo]

    def as_text(self) -> str:
        one = self.session
        lines = [render_title(one.title, one.project)]
        lines.append(f"{one.source}, {render_span(one)}, {one.short_id or one.id}")
        return join_items([*lines, *render_messages(self.messages)])


def render_messages(messages: Sequence[MessageInfo]) -> Iterator[str]:
    """Yield messages with their ids and speakers, and their tool calls."""
    for message in messages:
        yield f"[{message.id}] {render_speaker(message.role)}: {message_text(message.content)}"
        yield from (f"→ {call}" for call in render_calls(message.tool_calls))


def render_span(session: SessionInfo) -> str:
    """Render when a session began, and when and why it ended."""
    ended = f", ended {render_time(session.ended_at)} ({session.end_reason})" if session.ended_at else ""
    return f"{render_time(session.started_at)}{ended}"


class ShowLineage(Operation, frozen=True, kw_only=True):
    """Show all sessions of one conversation, from the first to the one that continues it."""

    traits: ClassVar[Traits] = Traits(
        title="Show a conversation's sessions",
        read_only=True,
        positional=("session",),
        example="trip-to-lisbon",
    )

    session: Session

    def run(self, memory: Memory) -> Lineage:
        ids = memory.sessions.get_lineage(memory.sessions.resolve_session(self.session))
        rows = [
            row | {"title": memory.sessions.find_title(one)}
            for one in ids
            if (row := memory.sessions.get_session(one)) is not None
        ]
        return Lineage(sessions=ids, shown=_list_infos(memory, rows))


class Lineage(Result, frozen=True, kw_only=True):
    sessions: list[str]
    shown: list[SessionInfo]

    def as_text(self) -> str:
        return join_items(map(_render_info, self.shown))


def name_session(memory: Memory, session_id: str) -> str:
    """Return the title of a session and its short id in brackets, or the id alone."""
    short = memory.sessions.shorten_ids([session_id])[session_id]
    title = one_line(memory.sessions.find_title(session_id) or "")
    return f"{title} ({short})" if title and title != short else short


class _Mark(Operation, frozen=True, kw_only=True):
    """Change the state of a session."""

    session: Session
    if_revision: Revision = None

    def run(self, memory: Memory) -> Done:
        session_id = memory.sessions.resolve_session(self.session)
        # Named before the change, which may set another title.
        name = name_session(memory, session_id)
        return Done(done=self.mark(memory.sessions, session_id, name))

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:
        """Make the change and return a sentence with the ``name`` of the session."""
        raise NotImplementedError


def _mark_traits(title: str) -> Traits:
    return Traits(title=title, idempotent=True, positional=("session",), example="trip-to-lisbon")


class EndSession(_Mark, frozen=True, kw_only=True):
    """Mark a session as ended. If it has ended already, its first reason is kept."""

    traits: ClassVar[Traits] = _mark_traits("End a session")

    reason: Annotated[str, Meta(description="Why it ended")] = "ended"

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:
        sessions.end_session(session_id, self.reason, if_revision=self.if_revision)
        return f"Ended {name}."


class ReopenSession(_Mark, frozen=True, kw_only=True):
    """Reopen a session that has ended."""

    traits: ClassVar[Traits] = _mark_traits("Reopen a session")

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:
        sessions.reopen_session(session_id, if_revision=self.if_revision)
        return f"Reopened {name}."


class TitleSession(_Mark, frozen=True, kw_only=True):
    """Set the title of a session; an empty title removes it. Can be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Set a session's title",
        idempotent=True,
        positional=("session", "title"),
        example='trip-to-lisbon "Moving the database"',
    )

    title: Annotated[str, Meta(description="New title; empty to remove it")]

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:  # noqa: ARG002
        sessions.set_title(session_id, self.title or None, if_revision=self.if_revision)
        # Don't name it, because its name was its title.
        short = sessions.shorten_ids([session_id])[session_id]
        if not self.title:
            return f"Removed the title of {short}."
        return f"Set the title of {short} to {self.title!r}."


class UpdateSession(_Mark, frozen=True, kw_only=True):
    """Change what is stored about a session: set keys of its metadata, replace its system prompt, or add to
    its token counts."""

    traits: ClassVar[Traits] = Traits(
        title="Change a session",
        positional=("session",),
        example='trip-to-lisbon --metadata \'{"mood": "good"}\'',
    )

    metadata: Annotated[dict[str, Any] | None, Meta(description="Keys to set; others are kept")] = None
    system_prompt: Annotated[str | None, Meta(description="New system prompt; empty to remove it")] = None
    input_tokens: Annotated[int, Meta(ge=0, le=MOST, description="Tokens to add")] = 0
    output_tokens: Annotated[int, Meta(ge=0, le=MOST, description="Tokens to add")] = 0

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:
        revision = self.if_revision
        if self.metadata is not None:
            sessions.update_metadata(session_id, self.metadata, if_revision=revision)
            revision = revision and revision + 1
        if self.system_prompt is not None:
            sessions.update_system_prompt(session_id, self.system_prompt or None, if_revision=revision)
            revision = revision and revision + 1
        if self.input_tokens or self.output_tokens:
            counts = self.input_tokens, self.output_tokens
            sessions.update_token_counts(session_id, *counts, if_revision=revision)
        return f"Changed {name}."


class ArchiveSession(_Mark, frozen=True, kw_only=True):
    """Hide a session from lists; searches still find it. Can be undone."""

    traits: ClassVar[Traits] = _mark_traits("Archive a session")

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:
        sessions.archive(session_id, if_revision=self.if_revision)
        return f"Archived {name}."


class UnarchiveSession(_Mark, frozen=True, kw_only=True):
    """Show an archived session in lists again."""

    traits: ClassVar[Traits] = _mark_traits("Unarchive a session")

    def mark(self, sessions: Sessions, session_id: str, name: str) -> str:
        sessions.unarchive(session_id, if_revision=self.if_revision)
        return f"Unarchived {name}."


class DeleteSession(Operation, frozen=True, kw_only=True):
    """Delete sessions and their messages. Can be undone for 30 days."""

    traits: ClassVar[Traits] = Traits(
        title="Delete a session", destructive=True, positional=("session",), example="trip-to-lisbon --yes"
    )

    session: Session | None = None
    sessions: Annotated[list[str] | None, Meta(description="Several sessions")] = None
    if_revision: Revision = None

    def run(self, memory: Memory) -> Done:
        if self.sessions and self.if_revision is not None:
            raise InvalidInput("if_revision only works with one session.")
        return Done(done="\n".join([_delete(memory, one, self.if_revision) for one in self._resolve(memory)]))

    def at_stake(self, memory: Memory) -> str:
        return list_some([describe_loss(memory, one) for one in self._resolve(memory)])

    def _resolve(self, memory: Memory) -> list[str]:
        """Return the ids of all: an unknown one raises NotFound before any is deleted."""
        if (self.session is None) == (not self.sessions):
            raise InvalidInput("Pass a session to delete, or several with --sessions.")
        named = [self.session] if self.session is not None else self.sessions or []
        return list(dict.fromkeys(memory.sessions.resolve_session(one) for one in named))


def _delete(memory: Memory, session_id: str, if_revision: int | None) -> str:
    name = name_session(memory, session_id)
    memory.sessions.delete_session(session_id, if_revision=if_revision)
    is_kept = any(row.ref == f"session:{session_id}" and row.before for row in memory.log(5))
    undo = "Undo restores it." if is_kept else "It was too large to keep for undo."
    return f"Deleted {name}. {undo}"


def describe_loss(memory: Memory, session_id: str) -> str:
    """Describe a session that is about to be deleted."""
    session = memory.sessions.get_session(session_id)
    messages = plural(session["message_count"] if session else 0, "message")
    return f"the session {name_session(memory, session_id)} with {messages}"


_KEPT_DAYS = 90.0


class PruneSessions(Operation, frozen=True, kw_only=True):
    """Delete ended sessions that are older than a number of days. Cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Delete old sessions", destructive=True, example="--older-than-days 365 --dry-run"
    )

    older_than_days: (
        Annotated[
            float,
            Meta(ge=0, le=100000, description="Days since the last message or the start [default: 90]"),
        ]
        | None
    ) = None
    before: Annotated[
        str | float | None,
        Meta(description="Delete sessions before this date instead: 2026-01-31, last month"),
    ] = None
    by: Annotated[Literal["last_message", "start"], Meta(description="Event that age counts from")] = (
        "last_message"
    )
    source: Source = None
    dry_run: Annotated[bool, Meta(description="Only count them; delete nothing")] = False

    def writes(self) -> bool:
        return not self.dry_run

    def run(self, memory: Memory) -> Pruned:
        return Pruned(sessions=self._prune(memory, dry_run=self.dry_run), dry_run=self.dry_run)

    def _prune(self, memory: Memory, *, dry_run: bool) -> int:
        days = self._count_days(memory)
        return memory.sessions.prune_sessions(days, self.source, dry_run=dry_run, by=self.by)

    def _count_days(self, memory: Memory) -> float:
        now = memory.clock()
        date = read_moment("before", self.before, now)
        if date is None:
            return _KEPT_DAYS if self.older_than_days is None else self.older_than_days
        if self.older_than_days is not None:
            raise InvalidInput("Pass either older_than_days or before, not both.")
        if date > now:
            raise InvalidInput(f"before is {self.before!r}, which is in the future.")
        return (now - date) / 86_400

    def at_stake(self, memory: Memory) -> str:
        if self.dry_run:
            return ""
        count = self._prune(memory, dry_run=True)
        age = f"older than {round(self._count_days(memory), 1):g} days"
        return f"{plural(count, 'ended session')} {age} permanently" if count else ""


class Pruned(Result, frozen=True, kw_only=True):
    sessions: int
    dry_run: bool

    def as_text(self) -> str:
        return f"{'Would delete' if self.dry_run else 'Deleted'} {plural(self.sessions, 'session')}."
