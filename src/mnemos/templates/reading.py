"""The tool calls of a conversation with their answers, matched by the ids that they carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from mnemos.templates.injection import is_injected, is_injected_line
from mnemos.templates.judging import succeeded
from mnemos.templates.kinds import ToolSets, called
from mnemos.templates.model import TaskType

_ASSISTANT = "assistant"
_USER = "user"
_TOOL = "tool"


class Conversations(Protocol):
    """What is asked of a store of sessions."""

    def get_session(self, session_id: str) -> dict[str, Any] | None: ...

    def get_lineage(self, session_id: str) -> list[str]: ...

    def get_messages(self, session_id: str) -> list[dict[str, Any]]: ...

    def search_sessions(
        self, source: str | None = None, limit: int = 20, offset: int = 0, *, archived: bool | None = False
    ) -> list[dict[str, Any]]: ...


# Not frozen: a long conversation has thousands, and freezing makes each three times as dear.
@dataclass(slots=True)
class Answered:
    """A call, and what it answered. ``turn`` counts the user's messages before it."""

    tool_name: str
    arguments: Any
    """As the message has them: mostly a text with JSON."""
    result: str
    flags: dict[str, Any] | None
    turn: int

    def succeeded(self, tools: ToolSets) -> bool:
        kind = tools.kind_of(self.tool_name)
        shows = kind in (TaskType.FILE, TaskType.RESEARCH)
        return succeeded(self.result, self.flags, shows_contents=shows)


@dataclass(slots=True)
class _Waiting:
    call: dict[str, Any]
    message: int
    turn: int


def whole_conversation(sessions: Conversations, session_id: str) -> Iterator[dict[str, Any]]:
    """Every message of the lineage that a session belongs to. An unknown session raises NotFound."""
    for one in sessions.get_lineage(session_id):
        yield from sessions.get_messages(one)


def answered_calls(messages: Iterable[dict[str, Any]]) -> Iterator[Answered]:
    """The calls that were answered, in the order of the answers, read as far as they are asked for.

    An answer belongs to the newest call of its id; of calls that share one in the same message, to the
    first that is open. Calls without an answer, answers without a call, what was forgotten, and what a
    template brought in are left out. So is what a compressed session repeats of the one before.
    """
    open_calls: dict[str, list[_Waiting]] = {}
    seen: set[tuple[str, ...]] = set()
    turn = 0
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == _ASSISTANT:
            for call_id, call in _calls(message):
                waiting = open_calls.get(call_id)
                if waiting is None or (waiting and waiting[0].message != number):
                    waiting = open_calls[call_id] = []
                waiting.append(_Waiting(call, number, turn))
            continue
        answers = _answers(message)
        if role == _USER and not answers and not is_injected_line(message):
            turn += 1
        for call_id, result, flags in answers:
            if waiting := open_calls.get(call_id):
                asked = waiting.pop(0)
                name, arguments = called(asked.call), _arguments(asked.call)
                shown = arguments if isinstance(arguments, str) else repr(arguments)
                key = (call_id, name, shown, result)
                if key not in seen:
                    seen.add(key)
                    yield Answered(name, arguments, result, flags, asked.turn)


def _calls(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a message that have an id and are whole, in OpenAI's and in Anthropic's shape."""
    made, content = message.get("tool_calls"), message.get("content")
    several = made if isinstance(made, list) else [made] if isinstance(made, dict) else []
    if isinstance(content, list):
        several = [*several, *(part for part in content if _is_part(part, "tool_use"))]
    if not several or message.get("forgotten"):
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    for call in several:
        if isinstance(call, dict):
            call_id = call.get("id") or call.get("call_id")
            if isinstance(call_id, str) and not is_injected(call_id) and called(call):
                found.append((call_id, call))
    return found


def _answers(message: dict[str, Any]) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Whom a message answers, with what, and what a host stored beside it."""
    content = message.get("content")
    if message.get("role") == _TOOL:
        call_id, metadata = message.get("tool_call_id"), message.get("metadata")
        if not isinstance(call_id, str) or message.get("forgotten"):
            return []
        return [(call_id, _text(content), metadata if isinstance(metadata, dict) else None)]
    if not isinstance(content, list) or message.get("forgotten"):
        return []
    return [
        (part["tool_use_id"], _text(part.get("content")), {"is_error": part.get("is_error")})
        for part in content
        if _is_part(part, "tool_result") and isinstance(part.get("tool_use_id"), str)
    ]


def _is_part(part: Any, kind: str) -> bool:
    return isinstance(part, dict) and part.get("type") == kind


def _arguments(call: dict[str, Any]) -> Any:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    return inner.get("arguments", inner.get("input"))


def _text(content: Any) -> str:
    """What an answer says; of what is no text, what it is."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    said: list[str] = []
    for part in content:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            said.append(text if isinstance(text, str) else f"[{part.get('type', 'part')}]")
    return "\n".join(said)
