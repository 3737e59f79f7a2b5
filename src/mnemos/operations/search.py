"""Operations that search past conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from msgspec import UNSET, Meta, UnsetType, field

from mnemos.errors import InvalidInput
from mnemos.operations.arguments import (
    MOST,
    AllProjects,
    Offset,
    OnlyProject,
    Project,
    Since,
    Source,
    Until,
    User,
    is_elsewhere,
    resolve_exclusions,
    resolve_sessions,
    up_to,
)
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.texts import cut, plural, render_time, render_title
from mnemos.text.highlight import snippet
from mnemos.text.query import parse
from mnemos.text.stored_text import join_items, one_line, render_speaker

if TYPE_CHECKING:
    from mnemos.memory import Memory

Sort = Annotated[Literal["relevance", "newest", "oldest"], Meta(description="Order of results")]
_QUERY = 'Words; "a phrase"; a OR b; -without; pre*'

RenderTime = Callable[[float], str]
# Recall's own limit.
_MOST_OTHERS = 200
PARTIAL = "No message has all the words; these have most of them."


class Kind(StrEnum):
    TEXT = "text"
    TITLE = "title"
    MATCH = "match"
    """A snippet whose matches are between ``>>>`` and ``<<<``."""


class Line(NamedTuple):
    """A line of an answer: its text, a label before it, and what follows a title."""

    text: str
    lead: str = ""
    kind: Kind = Kind.TEXT
    tail: str = ""


class SessionHeading(Info, frozen=True, kw_only=True):
    """A session above its messages. ``messages`` is their number."""

    session_id: str
    title: str | None
    project: str | None
    source: str
    started_at: float
    messages: int
    short_id: str = ""
    """Beginning of ``session_id`` that is enough to name it."""
    elsewhere: bool = False
    """True if it is about another project than the current one."""


class RecentSession(SessionHeading, frozen=True, kw_only=True):
    opening: str
    """Beginning of what the user said first."""


class MessageExcerpt(Info, frozen=True, kw_only=True):
    """A message, cut to fit."""

    message_id: int
    role: str
    content: str
    at: float | UnsetType = UNSET


class MessageMatch(Info, frozen=True, kw_only=True):
    """The part of a message that matches."""

    message_id: int
    role: str
    snippet: str


class BestMatch(MessageMatch, frozen=True, kw_only=True):
    at: float
    around: list[MessageExcerpt]


class ConversationInfo(SessionHeading, frozen=True, kw_only=True):
    """A conversation that matches, with its best hit."""

    root_session_id: str
    hits: int
    best: BestMatch
    opening: list[MessageExcerpt]
    closing: list[MessageExcerpt]
    others: list[MessageMatch]
    summary: str | UnsetType = UNSET
    summary_by: str | UnsetType = UNSET
    """``model``, or ``extract`` if there is no summary."""
    summary_failure: str | UnsetType | None = UNSET


class SessionSearch(Operation, frozen=True, kw_only=True):
    """Search past conversations. With `query`: the conversations that match, each with its best hit and the
    messages around it. With `around_message_id`: the messages around that one. With `session_id` alone: its
    beginning and end. Without any of these: recent conversations. Use it when the user refers to something
    said before."""

    traits: ClassVar[Traits] = Traits(
        title="Search past conversations",
        help="Search past conversations and show the best hit of each with the messages around it. Without a "
        "query, list recent conversations or read one of them.",
        read_only=True,
        positional=("query",),
        words=True,
        example="when did we move the database",
    )

    query: Annotated[str | None, Meta(description=_QUERY)] = None
    session_id: Annotated[str | None, Meta(description="Only this conversation")] = None
    around_message_id: (
        Annotated[int, Meta(ge=0, le=MOST, description="A message_id from a result")] | None
    ) = None
    window: Annotated[int, Meta(ge=0, le=50, description="Messages to show before and after")] = 5
    limit: Annotated[int, up_to(10, "Maximum number of conversations")] = 3
    role_filter: Annotated[str | None, Meta(description="user, assistant or tool")] = None
    sort: Sort = "relevance"
    since: Since = None
    until: Until = None
    exclude_session_ids: Annotated[list[str] | None, Meta(description="Conversations to leave out")] = None
    source: Source = None
    current_session_id: Annotated[str | None, Meta(description="Conversation in progress")] = None
    summarize: Annotated[bool, Meta(description="Summarize each with the configured model")] = False
    project: OnlyProject = None
    all_projects: AllProjects = False
    user_id: User = None

    def run(self, memory: Memory) -> ConversationsFound:
        answer = memory.sessions.session_search(
            self.query,
            self.session_id and memory.sessions.resolve_session(self.session_id, user_id=self.user_id),
            self.around_message_id,
            self.window,
            self.limit,
            self.role_filter,
            self.sort,
            self.since,
            self.until,
            resolve_exclusions(memory, self.exclude_session_ids, self.user_id),
            self.source,
            current_session_id=self.current_session_id,
            summarize=self.summarize,
            project=self.project or None,
            all_projects=self.all_projects,
            user_id=self.user_id,
        )
        return _fill(answer, memory)


def _fill(answer: dict[str, Any], memory: Memory) -> ConversationsFound:
    """Add short ids and whether a session is about another project."""
    headings = [*answer.get("conversations", ()), *answer.get("sessions", ())]
    headings += [answer["session"]] if "session" in answer else []
    ids = memory.sessions.shorten_ids(one["session_id"] for one in headings)
    for one in headings:
        one["short_id"] = ids[one["session_id"]]
        one["elsewhere"] = is_elsewhere(memory, one["project"])
    return fill(ConversationsFound, answer)


class ReadConversation(Operation, frozen=True, kw_only=True):
    """Read more of a past conversation. With `around`: the messages before and after one that recall
    returned. With `session`: the beginning and the end of a conversation. Without either: recent
    conversations. To search, use recall."""

    traits: ClassVar[Traits] = Traits(
        title="Read a conversation",
        help="Read a conversation within a token budget: the messages around one, or the beginning and end "
        "of a session. Without either, list recent conversations.",
        read_only=True,
        positional=("session",),
        example="--around 42",
    )

    session: Annotated[str | None, Meta(description="Id or its beginning, or title")] = None
    around: Annotated[int, Meta(ge=0, le=MOST, description="Id of a message, e.g. 42")] | None = None
    window: Annotated[int, Meta(ge=1, le=50, description="Messages to show before and after")] = 8
    limit: Annotated[int, up_to(50, "Maximum number of recent conversations")] = 10
    user_id: User = None

    def run(self, memory: Memory) -> ConversationsFound:
        # Models pass an empty text for an argument that they don't mean to set.
        session = self.session or None
        answer = memory.sessions.session_search(
            session_id=session and memory.sessions.resolve_session(session, user_id=self.user_id),
            around_message_id=self.around,
            window=self.window,
            limit=self.limit,
            user_id=self.user_id,
        )
        return _fill(answer, memory)


class ConversationsFound(Result, frozen=True, kw_only=True):
    """The conversations found. ``mode`` decides which fields are filled."""

    mode: str
    query: str | None = None
    partial: bool = False
    conversations: list[ConversationInfo] = field(default_factory=list)
    more: int = 0
    session: SessionHeading | None = None
    messages: list[MessageExcerpt] = field(default_factory=list)
    left_out: int = 0
    closing: list[MessageExcerpt] = field(default_factory=list)
    sessions: list[RecentSession] = field(default_factory=list)

    def as_text(self) -> str:
        return join_items(line.lead + line.text + line.tail for line in self.lines())

    def lines(self, when: RenderTime = render_time) -> Iterator[Line]:
        """Yield the answer line by line, for a face that renders its own times."""
        if self.mode == "discovery":
            return self._matches(when)
        return self._recent(when) if self.mode == "browse" else self._transcript(when)

    def _matches(self, when: RenderTime) -> Iterator[Line]:
        if not self.conversations:
            yield Line("Nothing found. Try fewer or other words.")
        elif self.partial:
            yield Line(PARTIAL)
        for conversation in self.conversations:
            yield from _conversation(conversation, when)
        if self.more:
            yield Line(f"({plural(self.more, 'more conversation')} found)")

    def _recent(self, when: RenderTime) -> Iterator[Line]:
        if not self.sessions:
            yield Line("No conversations.")
        for session in self.sessions:
            yield _title(session, when)
            yield Line(session.opening, lead="  ")

    def _transcript(self, when: RenderTime) -> Iterator[Line]:
        if self.session is not None:
            yield _title(self.session, when)
        yield from map(_message, self.messages)
        if self.left_out:
            yield Line(f"… {plural(self.left_out, 'message')} left out …")
        yield from map(_message, self.closing)


class SearchMessages(Operation, frozen=True, kw_only=True):
    """Find messages that contain all words of a query, best first. If there are none, find those that contain
    most of the words. Use `kind` to search facts, notes, entries, templates or tables instead."""

    traits: ClassVar[Traits] = Traits(
        title="Search messages",
        help="Find messages that contain all words of a query, best first. If there are none, find those "
        "that contain most of the words. --kind searches facts, notes, entries, templates or tables "
        "instead. To ask a question by meaning, use `mnemos recall`.",
        read_only=True,
        positional=("query",),
        words=True,
        example="database monday --sort newest",
    )

    query: Annotated[str, Meta(description=_QUERY)]
    kind: Annotated[
        Literal["message", "fact", "note", "entry", "template", "table"], Meta(description="What to search")
    ] = "message"
    source: Source = None
    role: Annotated[str | None, Meta(description="Only user, assistant or tool messages")] = None
    session: Annotated[list[str] | None, Meta(description="Only these sessions")] = None
    exclude: Annotated[list[str] | None, Meta(description="Sessions to leave out")] = None
    since: Since = None
    until: Until = None
    sort: Sort = "relevance"
    limit: Annotated[int, up_to(1000)] = 10
    offset: Offset = 0
    project: Project = None
    user_id: User = None

    def run(self, memory: Memory) -> MessagesFound:
        if self.kind != "message":
            return self._search_others(memory)
        hits = memory.sessions.search_messages(
            self.query,
            self.source,
            self.role,
            self.limit,
            self.offset,
            session_ids=None
            if self.session is None
            else resolve_sessions(memory, self.session, self.user_id),
            exclude_session_ids=resolve_exclusions(memory, self.exclude, self.user_id),
            since=self.since,
            until=self.until,
            sort=self.sort,
            project=self.project or None,
            user_id=self.user_id,
        )
        ids = memory.sessions.shorten_ids(hit["session_id"] for hit in hits)
        return MessagesFound(
            query=self.query,
            partial=any(hit["partial"] for hit in hits),
            hits=[
                fill(
                    MessageHit,
                    hit
                    | {
                        "short_id": ids[hit["session_id"]],
                        "elsewhere": is_elsewhere(memory, hit["project"]),
                    },
                )
                for hit in hits
            ],
        )

    def _search_others(self, memory: Memory) -> MessagesFound:
        if (
            self.source
            or self.role
            or self.session
            or self.exclude
            or self.offset
            or self.sort != "relevance"
        ):
            raise InvalidInput(
                "source, role, session, exclude, sort and offset only apply to messages. Omit them, or omit "
                "kind."
            )
        found = memory.recall(
            self.query,
            limit=min(self.limit, _MOST_OTHERS),
            budget=0,
            kinds=[self.kind],
            since=self.since,
            until=self.until,
            words_only=True,
            project=self.project or None,
            user_id=self.user_id,
        )
        words = parse(self.query).loosen()
        others = [
            OtherHit(kind=hit.kind, ref=hit.ref, snippet=snippet(hit.text, words), at=hit.at)
            for hit in found.hits
        ]
        return MessagesFound(query=self.query, partial=False, hits=[], others=others)


class ContextLine(Info, frozen=True, kw_only=True):
    role: str
    content: str


class MessageHit(Info, frozen=True, kw_only=True):
    """A message that matches, with its neighbours in ``context``."""

    id: int
    session_id: str
    role: str
    snippet: str
    timestamp: float
    tool_name: str | None
    title: str | None
    """Title of the conversation."""
    project: str | None
    source: str
    model: str | None
    session_started: float
    context: list[ContextLine]
    root_session_id: str
    score: float
    partial: bool
    short_id: str
    """Beginning of ``session_id`` that is enough to name it."""
    elsewhere: bool = False
    """True if it is about another project than the current one."""


class OtherHit(Info, frozen=True, kw_only=True):
    """A fact, note, entry, template or table that matches."""

    kind: str
    ref: int | str
    snippet: str
    at: float

    def render_heading(self) -> str:
        return f"{render_time(self.at)}  {self.kind}:{self.ref}"


class MessagesFound(Result, frozen=True, kw_only=True):
    query: str
    partial: bool
    hits: list[MessageHit]
    others: list[OtherHit] = field(default_factory=list)
    """Hits that are not messages, if another kind was searched."""

    def as_text(self) -> str:
        if not self.hits and not self.others:
            return f"Nothing found for {cut(self.query, 80)!r}."
        lines = [PARTIAL] if self.partial else []
        for hit in self.hits:
            where = (
                f"{render_time(hit.timestamp)}  {render_speaker(hit.role)}  message:{hit.id}  {hit.short_id}"
            )
            title = render_title(hit.title, hit.project, elsewhere=hit.elsewhere)
            lines += [f"{title}  {where}", f"  {one_line(hit.snippet)}"]
        for other in self.others:
            lines += [other.render_heading(), f"  {one_line(other.snippet)}"]
        return join_items(lines)


def _conversation(conversation: ConversationInfo, when: RenderTime) -> Iterator[Line]:
    best = conversation.best
    yield Line("")
    yield _title(conversation, when)
    yield Line(best.snippet, f"  {plural(conversation.hits, 'hit')}, best: ", Kind.MATCH)
    if conversation.summary:
        yield Line(conversation.summary, "  summary (by a model): ")
    elif conversation.summary_failure:
        yield Line(f"(no summary: {conversation.summary_failure})", "  ")
    yield from (Line(one.content, "  began: ") for one in conversation.opening if one.content)
    for message in best.around:
        line = _message(message)
        yield Line(line.text, f"  {line.lead}")
    yield from (Line(one.content, "  ended: ") for one in conversation.closing if one.content)
    for other in conversation.others:
        yield Line(other.snippet, f"  also message {other.message_id}: ", Kind.MATCH)


def _title(session: SessionHeading, when: RenderTime) -> Line:
    name = render_title(session.title, session.project, elsewhere=session.elsewhere)
    about = (
        f", {when(session.started_at)}, {session.source}, "
        f"{plural(session.messages, 'message')}, session {session.short_id or session.session_id}"
    )
    return Line(one_line(name), "## ", Kind.TITLE, one_line(about))


def _message(message: MessageExcerpt) -> Line:
    return Line(message.content, f"[{message.message_id}] {render_speaker(message.role)}: ")
