"""Finding things in past conversations."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from msgspec import Meta, field

from mnemos.errors import NotFound
from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.border import MOST
from mnemos.operations.moments import When, seconds, shown
from mnemos.operations.wording import counted
from mnemos.sessions.message_search import cut

if TYPE_CHECKING:
    from mnemos.memory import Memory

Sort = Annotated[Literal["relevance", "newest", "oldest"], Meta(description="What comes first")]


PARTIAL = "No message has all the words; these have most of them."


class Kind(StrEnum):
    TEXT = "text"
    TITLE = "title"
    MATCH = "match"
    """A snippet, whose matches stand between ``>>>`` and ``<<<``."""


class Line(NamedTuple):
    """A line of an answer: what is said, and what introduces it."""

    text: str
    lead: str = ""
    kind: Kind = Kind.TEXT


class SessionSearch(Operation, frozen=True, kw_only=True):
    """Look into past conversations. With a query: the conversations that match, the best hit with what
    surrounds it. With around_message_id: more of what was said there. With session_id alone: its beginning
    and end. With nothing: recent conversations. Use it when the user refers to something said before."""

    traits: ClassVar[Traits] = Traits(
        title="Search past conversations",
        read_only=True,
        positional=("query",),
        example=("when did we move the database",),
    )

    query: Annotated[str | None, Meta(description='Words; "a phrase"; a OR b; -without; pre*')] = None
    session_id: Annotated[str | None, Meta(description="Only this conversation")] = None
    around_message_id: (
        Annotated[int, Meta(ge=0, le=MOST, description="A message_id from an earlier answer")] | None
    ) = None
    window: Annotated[int, Meta(ge=0, le=50, description="Messages shown on either side")] = 5
    limit: Annotated[int, Meta(ge=1, le=10, description="Conversations")] = 3
    role_filter: Annotated[str | None, Meta(description="user, assistant or tool")] = None
    sort: Sort = "relevance"
    since: When = None
    until: When = None
    exclude_session_ids: Annotated[list[str] | None, Meta(description="Not these")] = None
    source: Annotated[str | None, Meta(description="Where it came from, e.g. cli")] = None
    current_session_id: Annotated[str | None, Meta(description="The conversation you are in")] = None
    summarize: Annotated[bool, Meta(description="Let the configured model sum up each")] = False

    def run(self, memory: Memory) -> ConversationsFound:
        answer = memory.sessions.session_search(
            self.query,
            self.session_id and memory.sessions.resolve_session(self.session_id),
            self.around_message_id,
            self.window,
            self.limit,
            self.role_filter,
            self.sort,
            seconds("since", self.since),
            seconds("until", self.until),
            self.exclude_session_ids,
            self.source,
            current_session_id=self.current_session_id,
            summarize=self.summarize,
        )
        return ConversationsFound(**answer)


class ConversationsFound(Result, frozen=True, kw_only=True):
    mode: str
    query: str | None = None
    partial: bool = False
    conversations: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    session: dict[str, Any] | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    closing: list[dict[str, Any]] = field(default_factory=list)
    sessions: list[dict[str, Any]] = field(default_factory=list)

    def as_text(self) -> str:
        return "\n".join(line.lead + line.text for line in self.lines())

    def lines(self) -> Iterator[Line]:
        """The answer line by line, for a face that draws."""
        if self.mode == "discovery":
            return self._discovered()
        return self._browsed() if self.mode == "browse" else self._read()

    def _discovered(self) -> Iterator[Line]:
        if not self.conversations:
            yield Line("Nothing found. Try fewer or other words.")
        elif self.partial:
            yield Line(PARTIAL)
        for conversation in self.conversations:
            yield from _conversation(conversation)
        if self.more:
            yield Line(f"({counted(self.more, 'more conversation')} found)")

    def _browsed(self) -> Iterator[Line]:
        if not self.sessions:
            yield Line("No conversations.")
        for session in self.sessions:
            yield _title(session)
            yield Line(session["opening"], lead="  ")

    def _read(self) -> Iterator[Line]:
        yield _title(self.session or {})
        yield from map(_message, self.messages)
        if self.left_out:
            yield Line(f"… {counted(self.left_out, 'message')} left out …")
        yield from map(_message, self.closing)


class SearchMessages(Operation, frozen=True, kw_only=True):
    """Find messages that have all the words of a query, best first; if none has, those with most of them."""

    traits: ClassVar[Traits] = Traits(
        title="Search messages",
        read_only=True,
        positional=("query",),
        example=("what's up with gateway/run.py",),
    )

    query: Annotated[str, Meta(description='Words; "a phrase"; a OR b; -without; pre*')]
    source: Annotated[str | None, Meta(description="Only from this source")] = None
    role: Annotated[str | None, Meta(description="Only user, assistant or tool messages")] = None
    session: Annotated[list[str] | None, Meta(description="Only these sessions")] = None
    exclude: Annotated[list[str] | None, Meta(description="Not these sessions")] = None
    since: When = None
    until: When = None
    sort: Sort = "relevance"
    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many")] = 10
    offset: Annotated[int, Meta(ge=0, le=MOST, description="Pass over so many")] = 0

    def run(self, memory: Memory) -> MessagesFound:
        hits = memory.sessions.search_messages(
            self.query,
            self.source,
            self.role,
            self.limit,
            self.offset,
            session_ids=None if self.session is None else resolved(memory, self.session),
            exclude_session_ids=[meant(memory, text) for text in self.exclude or ()],
            since=seconds("since", self.since),
            until=seconds("until", self.until),
            sort=self.sort,
        )
        return MessagesFound(query=self.query, partial=any(hit["partial"] for hit in hits), hits=hits)


class MessagesFound(Result, frozen=True, kw_only=True):
    query: str
    partial: bool
    hits: list[dict[str, Any]]

    def as_text(self) -> str:
        if not self.hits:
            return f"Nothing found for {cut(self.query, 80)!r}."
        lines = [PARTIAL] if self.partial else []
        for hit in self.hits:
            where = f"{shown(hit['timestamp'])}  {hit['role']}  message:{hit['id']}  {hit['session_id']}"
            lines += [where, f"  {' '.join(hit['snippet'].split())}"]
        return "\n".join(lines)


def resolved(memory: Memory, sessions: list[str]) -> list[str]:
    return [memory.sessions.resolve_session(text) for text in sessions]


def meant(memory: Memory, session: str) -> str:
    """What is to be left out need not be there: a host names the session it is about to begin."""
    try:
        return memory.sessions.resolve_session(session)
    except NotFound:
        return session


def _conversation(conversation: dict[str, Any]) -> Iterator[Line]:
    best = conversation["best"]
    yield Line("")
    yield _title(conversation)
    yield Line(best["snippet"], f"  {counted(conversation['hits'], 'hit')}, best: ", Kind.MATCH)
    if conversation.get("summary"):
        yield Line(conversation["summary"], "  summary (by a model): ")
    elif conversation.get("summary_failure"):
        yield Line(f"(extract only: {conversation['summary_failure']})", "  ")
    yield from (Line(m["content"], "  began: ") for m in conversation["opening"] if m["content"])
    for message in best["around"]:
        line = _message(message)
        yield Line(line.text, f"  {line.lead}")
    yield from (Line(m["content"], "  ended: ") for m in conversation["closing"] if m["content"])
    for other in conversation["others"]:
        yield Line(other["snippet"], f"  also message {other['message_id']}: ", Kind.MATCH)


def _title(session: dict[str, Any]) -> Line:
    name = f"{session.get('title')} " if session.get("title") else ""
    return Line(
        f"{name}[{session.get('session_id')}] {shown(session.get('started_at'))}, "
        f"{session.get('source')}, {counted(session.get('messages', 0), 'message')}",
        "## ",
        Kind.TITLE,
    )


def _message(message: dict[str, Any]) -> Line:
    return Line(message["content"], f"[{message['message_id']}] {message['role']}: ")
