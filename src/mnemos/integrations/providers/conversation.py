"""A host's conversation: turns are written into sessions in the background."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemos.errors import InvalidInput, NotFound
from mnemos.integrations.small_talk import is_trivial
from mnemos.text.fences import strip_fences, strip_fences_in_content

if TYPE_CHECKING:
    from mnemos.memory import Memory

DELEGATED: Final = "subagent"
COMPRESSED: Final = "compressed"
ENDED: Final = "ended"
_CUT: Final = "… [cut]"


# --- turns ----------------------------------------------------------------------------------------


def build_turn(
    user: Any, assistant: Any, messages: Any, *, began: float, now: float, longest: int
) -> list[dict[str, Any]]:
    """Return the messages of a turn, ready to append; empty if nothing was said.

    Given the conversation, tool calls and results since the user's last message come between the two.
    Recalled text is stripped, except from results of tools, which are recognised by it. ``longest``: the
    maximum number of characters of a message.
    """
    turn = [{"role": "user", "content": user, "timestamp": began}]
    turn += [message | {"timestamp": now} for message in _messages_since_user(messages)]
    answer = strip_fences_in_content(assistant)
    if answer and (turn[-1]["role"] != "assistant" or turn[-1].get("content") != answer):
        turn.append({"role": "assistant", "content": answer, "timestamp": now})
    return [trimmed for message in turn if (trimmed := _trim(message, longest))]


def reduce_turn(turn: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the first and the last text, if the messages between can't be stored."""
    spoken = [message for message in turn if message["role"] != "tool" and message.get("content")]
    return [
        {key: message[key] for key in ("role", "content", "timestamp")}
        for message in (spoken[:1] + spoken[-1:] if len(spoken) > 1 else spoken)
    ]


def extract_text(content: Any) -> str:
    """Return the text of a message's content, without recalled text."""
    if isinstance(content, str):
        return strip_fences(content)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(strip_fences(text) for text in texts if isinstance(text, str))
    return ""


def list_messages(messages: Any) -> list[Mapping[str, Any]]:
    """Return the messages that a host passed, skipping anything else."""
    given = messages if isinstance(messages, list | tuple) else ()
    return [message for message in given if isinstance(message, Mapping)]


def extract_question(query: Any) -> str:
    """Return a message without recalled text; empty if it is trivial."""
    text = strip_fences(query).strip() if isinstance(query, str) else ""
    return "" if is_trivial(text) else text


def _messages_since_user(messages: Any) -> list[dict[str, Any]]:
    since: list[dict[str, Any]] = []
    for message in reversed(list_messages(messages)):
        role = message.get("role")
        if role == "user":
            return since[::-1]
        if role in ("assistant", "tool"):
            since.append(_copy(message))
    # Without a message from the user, these messages are not this turn's conversation.
    return []


def _copy(message: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the fields that sessions know, because the host may change its own."""
    fields = {
        "role": message["role"],
        "content": copy.deepcopy(message.get("content")),
        "tool_calls": copy.deepcopy(message.get("tool_calls")) or None,
        "tool_call_id": message.get("tool_call_id") or None,
        "tool_name": message.get("tool_name") or (message.get("name") if message["role"] == "tool" else None),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _trim(message: dict[str, Any], longest: int) -> dict[str, Any] | None:
    content = message.get("content")
    if message["role"] != "tool":
        content = strip_fences_in_content(content)
    if isinstance(content, str) and len(content) > longest:
        content = content[: longest - len(_CUT)] + _CUT
    if not isinstance(content, str | list):
        content = None
    if not content and not message.get("tool_calls"):
        return None
    return message | {"content": content or None}


# --- sessions -------------------------------------------------------------------------------------


class Conversation:
    """A host's sessions, each created with its first turn and linked to the last one.

    All methods run on the background worker, in order.
    """

    def __init__(self, memory: Memory, *, source: str | None, user_id: str | None) -> None:
        self._memory = memory
        self._source = source
        self._user_id = user_id
        self._known: set[str] = set()
        self._parents: dict[str, str] = {}

    def link(self, session_id: str, parent_session_id: str) -> None:
        """Make a session the child of another one once it is created."""
        self._parents[session_id] = parent_session_id

    def store_turn(self, session_id: str, turn: Sequence[dict[str, Any]]) -> None:
        """Append a turn or, if it cannot be stored, its first and last text."""
        self._ensure(session_id)
        try:
            self._memory.sessions.append_messages(session_id, turn)
        except NotFound:
            # The session was deleted since.
            self._known.discard(session_id)
            self._ensure(session_id)
            self._memory.sessions.append_messages(session_id, turn)
        except InvalidInput:
            reduced = reduce_turn(turn)
            if not reduced or reduced == list(turn):
                raise
            self._memory.sessions.append_messages(session_id, reduced)

    def exists(self, session_id: str) -> bool:
        return self._memory.sessions.get_session(session_id) is not None

    def end(self, session_id: str, reason: str = ENDED) -> None:
        """Close a session, if anything was said in it."""
        if self.exists(session_id):
            self._memory.sessions.end_session(session_id, reason)
        self._known.discard(session_id)

    def store_child(self, session_id: str, child_session_id: str, task: str, result: str, at: float) -> None:
        """Store a task that another agent did as a child session."""
        self._ensure(session_id)
        identity = f"{session_id}\0{task}\0{result}\0{at}".encode("utf-8", "replace")
        child = child_session_id or f"task-{hashlib.sha256(identity).hexdigest()[:16]}"
        sessions = self._memory.sessions
        sessions.ensure_session(child, DELEGATED, parent_session_id=session_id, user_id=self._user_id)
        if not sessions.message_count(child):
            # An agent with its own memory has already stored it.
            turn = [("user", task), ("assistant", result)]
            messages = [{"role": role, "content": text, "timestamp": at} for role, text in turn if text]
            sessions.append_messages(child, messages)
        sessions.end_session(child, ENDED)

    def _ensure(self, session_id: str) -> None:
        if session_id in self._known:
            return
        sessions = self._memory.sessions
        found = sessions.get_session(session_id)
        if found is None:
            parent = self._parents.pop(session_id, None)
            linked = parent if parent and self.exists(parent) else None
            sessions.ensure_session(session_id, self._source, user_id=self._user_id, parent_session_id=linked)
        elif found["ended_at"] is not None:
            sessions.reopen_session(session_id)
        self._known.add(session_id)
