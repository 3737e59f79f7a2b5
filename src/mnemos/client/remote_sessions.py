"""The sessions of a memory on a server."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, cast

from mnemos.client.remote_part import (
    Answer,
    RemotePart,
    Via,
    drop_none,
    make_method,
    make_part,
    name_exactly,
)
from mnemos.errors import Disabled, InvalidInput, NotFound
from mnemos.inputs import Moment, make_plain, whole
from mnemos.sessions.chat_format import Conversation, Format, build_conversation
from mnemos.sessions.message_search import MessageHits, SessionList
from mnemos.sessions.records import MESSAGE_FIELDS, check_message_id, dump_json
from mnemos.sessions.session_types import ExportedSession, Message, MessageHit, MessagePage, Outline, Session
from mnemos.sessions.sessions import Sessions
from mnemos.sessions.transcript import write_lines
from mnemos.storage.base import MessageRow

_SESSION = {"session_id": "=session"}
_SESSION_KEYS = tuple(Session.__annotations__)
_HIT_KEYS = tuple(MessageHit.__annotations__)
_STATS = ("sessions", "messages", "by_source", "file_bytes", "log_bytes", "free_bytes", "tables", "pending")
_PAGE, _OUTLINE = tuple(MessagePage.__annotations__), tuple(Outline.__annotations__)
_NEW = {"parent_session_id": "=parent_session_id"}


def _pick(keys: Iterable[str], found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in keys}


def _read_hits(answer: Answer) -> list[MessageHit]:
    return MessageHits(cast(MessageHit, _pick(_HIT_KEYS, hit)) for hit in answer["hits"])


def _read_sessions(answer: Answer) -> list[Session]:
    return SessionList(cast(Session, _pick(_SESSION_KEYS, one)) for one in answer["sessions"])


def _read_ids(answer: Answer) -> list[int]:
    ids: list[int] = answer["message_ids"]
    return ids


def _make_plain(messages: Any) -> list[Any]:
    """Convert messages, including SDK objects, to JSON data."""
    if not isinstance(messages, (list, tuple)):
        raise InvalidInput(f"messages must be a list of messages, not {type(messages).__name__}")
    return [make_plain(dict(one) if isinstance(one, Mapping) else one) for one in messages]


_append = make_method(
    "memory.sessions.append_messages",
    inspect.signature(Sessions.append_messages),
    Via(
        "sessions_append", {"session_id": "=session_id"}, answer=_read_ids, convert={"messages": _make_plain}
    ),
)
_SEARCH = Via(
    "sessions_search",
    {
        "source_filter": "source",
        "role_filter": "role",
        "session_ids": "=session",
        "exclude_session_ids": "=exclude",
    },
    answer=_read_hits,
)

_VIA = {
    "children": Via(
        "sessions_list",
        {"session_id": "=parent"},
        {"details": True, "archived": None, "limit": 1000},
        lambda answer: list(reversed(_read_sessions(answer))),
        absent=[],
    ),
    "create_session": Via("sessions_create", _NEW, answer=lambda answer: answer["session_id"]),
    "ensure_session": Via("sessions_create", _NEW, {"ensure": True}, lambda answer: answer["session_id"]),
    "archive": Via("sessions_archive", _SESSION),
    "delete_session": Via("sessions_delete", _SESSION, answer=lambda _: True, absent=False),
    "end_session": Via("sessions_end", _SESSION | {"end_reason": "reason"}),
    "find_title": Via(
        "sessions_show",
        _SESSION,
        {"tail": 1},
        lambda answer: answer["session"]["title"],
        absent=None,
    ),
    "get_lineage": Via("sessions_lineage", _SESSION, answer=lambda answer: answer["sessions"]),
    "get_tip": Via("sessions_lineage", _SESSION, answer=lambda answer: answer["sessions"][-1]),
    "get_outline": Via("sessions_outline", _SESSION, answer=lambda answer: _pick(_OUTLINE, answer)),
    "get_page": Via("sessions_messages", _SESSION, answer=lambda answer: _pick(_PAGE, answer)),
    "get_messages": Via(
        "sessions_show", _SESSION | {"last": "tail"}, answer=lambda answer: answer["messages"]
    ),
    "pop_message": Via("sessions_pop", _SESSION, answer=lambda answer: answer["message"]),
    "rewrite": Via("sessions_rewrite", _SESSION, answer=_read_ids, convert={"messages": _make_plain}),
    "set_title": Via("sessions_title", _SESSION, convert={"title": lambda title: title or ""}),
    "update_system_prompt": Via(
        "sessions_update", _SESSION, convert={"system_prompt": lambda prompt: prompt or ""}
    ),
    "prune_sessions": Via("sessions_prune", answer=lambda answer: answer["sessions"]),
    "reopen_session": Via("sessions_reopen", _SESSION),
    "resolve_session": Via(
        "sessions_read",
        {"id_prefix_or_title": "session"},
        answer=lambda answer: answer["session"]["session_id"],
    ),
    "search_messages": _SEARCH,
    "search_sessions": Via("sessions_list", fixed={"details": True}, answer=_read_sessions),
    "session_count": Via("sessions_list", fixed={"limit": 1}, answer=lambda answer: answer["total"]),
    "stats": Via("stats", answer=lambda answer: _pick(_STATS, answer)),
    "unarchive": Via("sessions_unarchive", _SESSION),
    "update_metadata": Via("sessions_update", _SESSION),
    "update_token_counts": Via("sessions_update", _SESSION),
}

_ADVICE = {
    "forget_message": 'Use memory.forget("message:ID"), which also empties the log.',
    "forget_session": 'Use memory.forget("session:ID"), which also empties the log.',
    "session_search": 'Use memory.call("session_search", …) or memory.recall.',
    "optimize": 'Use memory.call("optimize").',
    "import_sessions": 'Use memory.call("sessions_import", {"text": …}) with the owner\'s token.',
    "import_jsonl": 'Use memory.call("sessions_import", {"text": …}) with the owner\'s token.',
    "shorten_ids": 'memory.call("sessions_list") has a short_id for each session.',
    "resolve_projects": 'memory.call("sessions_list") names the project of each session.',
}


class RemoteSessions(RemotePart):
    """The sessions of a memory on a server, named by whole ids as in Python."""

    def append_message(
        self, session_id: str, role: str, content: Any = None, tool_name: str | None = None,
        tool_calls: Any = None, tool_call_id: str | None = None, token_count: int | None = None, *,
        if_revision: int | None = None, **further: Any,
    ) -> int:  # fmt: skip
        """Store one message and return its id; see ``Sessions.append_message``."""
        if unknown := further.keys() - MESSAGE_FIELDS:
            raise TypeError(f"append_message() got an unexpected keyword argument {min(unknown)!r}")
        message = {
            "role": role, "content": content, "tool_name": tool_name, "tool_calls": tool_calls,
            "tool_call_id": tool_call_id, "token_count": token_count, **further,
        }  # fmt: skip
        return self.append_messages(session_id, [drop_none(message)], if_revision=if_revision)[-1]

    def append_messages(self, session_id: str, messages: Sequence[Any], **further: Any) -> list[int]:
        """Store several messages, all or none; see ``Sessions.append_messages``."""
        try:
            ids: list[int] = _append(self, session_id, messages, **further)
        except Disabled:
            return [0] * len(messages)
        return ids

    def get_session(self, session_id: str) -> Session | None:
        given = {"session": name_exactly("session_id", session_id), "tail": 1}
        try:
            found = self._memory.ask("sessions_show", given)["session"]
        except NotFound:
            return None
        return cast(Session, _pick(_SESSION_KEYS, found) | ({"title": None} if found["untitled"] else {}))

    def message_count(self, session_id: str | None = None) -> int:
        """Count the messages of a session or of the space; 0 for an unknown session."""
        if session_id is None:
            return int(self._memory.ask("stats", {})["messages"])
        session = self.get_session(session_id)
        return 0 if session is None else session["message_count"]

    def export_session(self, session_id: str) -> ExportedSession:
        """Return a session with its messages; NotFound if it is unknown."""
        given = {"session": [name_exactly("session_id", session_id)]}
        (found,) = self._memory.read_lines("sessions_export", given)
        return cast(ExportedSession, found)

    def export_all(
        self,
        source: str | None = None,
        project: str | None = None,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> Iterator[ExportedSession]:
        """Yield every session with its messages, as the server sends them."""
        given = drop_none({"source": source, "project": project, "since": since, "until": until})
        return cast(Iterator[ExportedSession], self._memory.read_lines("sessions_export", given))

    def export_jsonl(self, stream: IO[str], source: str | None = None, project: str | None = None) -> int:
        """Write one session per line of JSON and return how many."""
        return self.write_jsonl(self.export_all(source, project), stream)

    def write_jsonl(self, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
        """Write exported sessions as lines of JSON and return how many."""
        return write_lines(sessions, stream)

    def get_messages_around(self, message_id: int, before: int = 5, after: int = 5) -> list[Message]:
        """Return a message with its neighbours, in order; NotFound if it is unknown."""
        counts = whole("before", before), whole("after", after)
        given = {"id": f"message:{check_message_id(message_id)}", "around": max(counts)}
        messages: list[Message] = self._memory.ask("show", given)["session"]["messages"]
        place = next(at for at, one in enumerate(messages) if one["id"] == message_id)
        return messages[max(place - before, 0) : place + after + 1]

    def conversation(self, session_id: str, *, format: Format = "openai") -> Conversation:
        """Return messages ready to send with the OpenAI or the Anthropic SDK."""
        given = {"session": name_exactly("session_id", session_id)}
        messages: list[Message] = self._memory.ask("sessions_show", given)["messages"]
        return build_conversation(list(map(_make_row, messages)), format)

    def get_messages_as_conversation(self, session_id: str, format: Format = "openai") -> Conversation:
        """Return the same as ``conversation``."""
        return self.conversation(session_id, format=format)


def _make_row(message: Message) -> MessageRow:
    """Return a message as an engine stores it."""
    content = message["content"]
    is_encoded = content is not None and not isinstance(content, str)
    calls, metadata = message["tool_calls"], message["metadata"]
    return MessageRow(
        message["id"],
        message["session_id"],
        message["role"],
        dump_json(content) if is_encoded else content,
        is_encoded,
        message["tool_name"],
        None if calls is None else dump_json(calls),
        message["tool_call_id"],
        message["token_count"],
        message["timestamp"],
        None if metadata is None else dump_json(metadata),
        message.get("forgotten", False),
        message.get("origin"),
    )


PART = make_part("sessions", Sessions, RemoteSessions, _VIA, _ADVICE)
