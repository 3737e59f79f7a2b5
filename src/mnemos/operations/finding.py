"""Finding things in past conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from mnemos.errors import NotFound
from mnemos.operations.base import Operation, Progress, Result, Traits
from mnemos.operations.border import MOST
from mnemos.operations.moments import When, seconds, shown
from mnemos.operations.wording import counted

if TYPE_CHECKING:
    from mnemos.memory import Memory

Sort = Annotated[Literal["relevance", "newest", "oldest"], Meta(description="What comes first")]


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

    def run(self, memory: Memory, progress: Progress) -> ConversationsFound:  # noqa: ARG002
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
        if self.mode == "discovery":
            return self._discovered()
        if self.mode == "browse":
            lines = [f"{_title(s)}\n  {s['opening']}" for s in self.sessions]
            return "\n".join(lines) or "No conversations yet."
        lines = [_title(self.session or {}), *map(_line, self.messages)]
        if self.left_out:
            lines.append(f"… {counted(self.left_out, 'message')} left out …")
        return "\n".join([*lines, *map(_line, self.closing)])

    def _discovered(self) -> str:
        if not self.conversations:
            return "Nothing found. Try fewer or other words."
        lines = ["No message has all the words; these have most of them."] if self.partial else []
        for conversation in self.conversations:
            lines += _conversation(conversation)
        if self.more:
            lines.append(f"({counted(self.more, 'more conversation')} found)")
        return "\n".join(lines)


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

    def run(self, memory: Memory, progress: Progress) -> MessagesFound:  # noqa: ARG002
        hits = memory.sessions.search_messages(
            self.query,
            self.source,
            self.role,
            self.limit,
            self.offset,
            session_ids=None if self.session is None else _resolved(memory, self.session),
            exclude_session_ids=[_meant(memory, text) for text in self.exclude or ()],
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
            return f"Nothing found for {self.query!r}."
        lines = ["No message has all the words; these have most of them."] if self.partial else []
        for hit in self.hits:
            where = f"{shown(hit['timestamp'])}  {hit['role']}  message:{hit['id']}  {hit['session_id']}"
            lines += [where, f"  {' '.join(hit['snippet'].split())}"]
        return "\n".join(lines)


def _resolved(memory: Memory, sessions: list[str]) -> list[str]:
    return [memory.sessions.resolve_session(text) for text in sessions]


def _meant(memory: Memory, session: str) -> str:
    """What is to be left out need not be there: a host names the session it is about to begin."""
    try:
        return memory.sessions.resolve_session(session)
    except NotFound:
        return session


def _conversation(conversation: dict[str, Any]) -> list[str]:
    best = conversation["best"]
    lines = ["", _title(conversation), f"  {counted(conversation['hits'], 'hit')}, best: {best['snippet']}"]
    if conversation.get("summary"):
        lines.append(f"  summary (by a model): {conversation['summary']}")
    elif conversation.get("summary_failure"):
        lines.append(f"  (extract only: {conversation['summary_failure']})")
    lines += ["  began: " + m["content"] for m in conversation["opening"] if m["content"]]
    lines += [f"  {_line(message)}" for message in best["around"]]
    lines += ["  ended: " + m["content"] for m in conversation["closing"] if m["content"]]
    lines += [f"  also message {m['message_id']}: {m['snippet']}" for m in conversation["others"]]
    return lines


def _title(session: dict[str, Any]) -> str:
    name = f"{session.get('title')} " if session.get("title") else ""
    return (
        f"## {name}[{session.get('session_id')}] {shown(session.get('started_at'))}, "
        f"{session.get('source')}, {counted(session.get('messages', 0), 'message')}"
    )


def _line(message: dict[str, Any]) -> str:
    return f"[{message['message_id']}] {message['role']}: {message['content']}"
