"""Tool calls of a conversation, matched with their results, and the examples made from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from mnemos.language.threats import scan
from mnemos.sessions.tool_names import is_own_tool, may_be_own_tool
from mnemos.templates.call_outcome import is_success
from mnemos.templates.template import TaskType, ToolCallExample, ToolSets, get_tool_name, replace_surrogates
from mnemos.templates.template_injection import can_inject, is_injected, is_injected_line
from mnemos.text.fences import strip_fences
from mnemos.text.secrets import redact, redact_value
from mnemos.text.tokens import cut_to_tokens

RESULT_TOKENS: Final = 300
# The text of a written file is an argument: an example needs only its beginning.
ARGUMENT_TOKENS: Final = 300
CUT_MARK: Final = " […cut]"
_MAX_FIELDS: Final = 40
_MAX_DEPTH: Final = 20


class Conversations(Protocol):
    """The part of a session store that templates read."""

    def get_session(self, session_id: str) -> Mapping[str, Any] | None: ...

    def get_lineage(self, session_id: str) -> list[str]: ...

    def get_messages(self, session_id: str) -> Sequence[Mapping[str, Any]]: ...

    def search_sessions(
        self, source: str | None = None, limit: int = 20, offset: int = 0, *, archived: bool | None = False
    ) -> Sequence[Mapping[str, Any]]: ...


# Not frozen: a long conversation has thousands, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class AnsweredCall:
    """A call and its result. ``turn`` is the number of user messages before it."""

    tool_name: str
    arguments: Any
    """As in the message: usually JSON text."""
    result: str
    flags: dict[str, Any] | None
    turn: int

    def is_success(self, tools: ToolSets) -> bool:
        shows_contents = tools.find_kind(self.tool_name) in (TaskType.FILE, TaskType.RESEARCH)
        return is_success(self.result, self.flags, shows_contents=shows_contents)


@dataclass(slots=True)
class _OpenCall:
    call: dict[str, Any]
    message: int
    turn: int


def read_lineage(sessions: Conversations, session_id: str) -> Iterator[Mapping[str, Any]]:
    """Yield every message of a session's lineage. An unknown session raises NotFound."""
    for one in sessions.get_lineage(session_id):
        yield from sessions.get_messages(one)


def match_calls(messages: Iterable[Mapping[str, Any]]) -> Iterator[AnsweredCall]:
    """Yield the calls that have a result, in the order of the results. Reads lazily.

    A result belongs to the newest call with its id, and to the first open one of a message that uses an id
    twice. Calls without a result, results without a call, calls of the memory, forgotten messages, injected
    examples and what a compressed session repeats of the one before are skipped.
    """
    open_calls: dict[str, list[_OpenCall]] = {}
    seen: set[tuple[str, ...]] = set()
    turn = 0
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == "assistant":
            for call_id, call in _find_calls(message):
                waiting = open_calls.get(call_id)
                if waiting is None or (waiting and waiting[0].message != number):
                    waiting = open_calls[call_id] = []
                waiting.append(_OpenCall(call, number, turn))
            continue
        results = _find_results(message)
        if role == "user" and not results and not is_injected_line(message):
            turn += 1
        for call_id, result, flags in results:
            if waiting := open_calls.get(call_id):
                open_call = waiting.pop(0)
                name, arguments = get_tool_name(open_call.call), _get_arguments(open_call.call)
                shown = arguments if isinstance(arguments, str) else repr(arguments)
                key = (call_id, name, shown, result)
                if key not in seen:
                    seen.add(key)
                    yield AnsweredCall(name, arguments, result, flags, open_call.turn)


def _find_calls(message: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the complete calls of a message with their ids, in OpenAI's and Anthropic's format."""
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
            if isinstance(call_id, str) and not is_injected(call_id) and _is_work(call, message):
                found.append((call_id, call))
    return found


def _is_work(call: dict[str, Any], message: Mapping[str, Any]) -> bool:
    """True if it calls a tool, other than those of the memory."""
    name = get_tool_name(call)
    is_of_memory = may_be_own_tool if message.get("origin") else is_own_tool
    return bool(name) and not is_of_memory(name)


def _find_results(message: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Return the call ids that a message answers, each with its result and flags."""
    content = message.get("content")
    if message.get("role") == "tool":
        call_id, metadata = message.get("tool_call_id"), message.get("metadata")
        if not isinstance(call_id, str) or message.get("forgotten"):
            return []
        return [(call_id, strip_fences(_to_text(content)), metadata if isinstance(metadata, dict) else None)]
    if not isinstance(content, list) or message.get("forgotten"):
        return []
    return [
        (part["tool_use_id"], strip_fences(_to_text(part.get("content"))), {"is_error": part.get("is_error")})
        for part in content
        if _is_part(part, "tool_result") and isinstance(part.get("tool_use_id"), str)
    ]


def _is_part(part: Any, kind: str) -> bool:
    return isinstance(part, dict) and part.get("type") == kind


def _get_arguments(call: dict[str, Any]) -> Any:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    return inner.get("arguments", inner.get("input"))


def _to_text(content: Any) -> str:
    """Return the text of a result, with the type in place of parts that are not text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            texts.append(text if isinstance(text, str) else f"[{part.get('type', 'part')}]")
    return "\n".join(texts)


def make_examples(calls: Iterable[AnsweredCall], tools: ToolSets, most: int) -> list[ToolCallExample]:
    """Return the first ``most`` successful calls, each once, redacted and with long texts cut.

    Calls that APIs would refuse are skipped, and so are results that give the model orders, such as the
    text of a hostile web page.
    """
    kept: dict[tuple[str, str], ToolCallExample] = {}
    for call in calls:
        if len(kept) >= most:
            break
        arguments = parse_arguments(call.arguments)
        if arguments is None or not call.is_success(tools):
            continue
        example = clean_example(
            ToolCallExample(call.tool_name, arguments, call.result, success=True, turn_number=call.turn)
        )
        if can_inject(example) and not scan(example.result):
            kept.setdefault((example.tool_name, json.dumps(example.arguments)), example)
    return list(kept.values())


def clean_example(example: ToolCallExample) -> ToolCallExample:
    """Redact secrets and cut long texts with a mark. Cleaning twice changes nothing more."""
    return ToolCallExample(
        redact(example.tool_name),
        _shorten(redact_value(example.arguments, redact), 0),
        cut_to_tokens(
            redact(replace_surrogates(example.result).replace("\0", "")), RESULT_TOKENS, mark=CUT_MARK
        ),
        example.success,
        example.turn_number,
    )


def parse_arguments(given: Any) -> dict[str, Any] | None:
    """Return the arguments of a call; None if they are not an object."""
    if isinstance(given, str):
        if not given.strip():
            return {}
        try:
            given = json.loads(given, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            return None
    if given is None:
        return {}
    return given if isinstance(given, dict) else None


def _shorten(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return cut_to_tokens(replace_surrogates(value), ARGUMENT_TOKENS, mark=CUT_MARK)
    if depth >= _MAX_DEPTH and isinstance(value, (dict, list, tuple)):
        return CUT_MARK.strip()
    if isinstance(value, dict):
        return dict(_shorten_fields(value, depth))
    if isinstance(value, (list, tuple)):
        kept = [_shorten(item, depth + 1) for item in value[:_MAX_FIELDS]]
        return kept if len(value) <= _MAX_FIELDS else [*kept, CUT_MARK.strip()]
    return value


def _shorten_fields(value: dict[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for number, (key, item) in enumerate(value.items()):
        if number >= _MAX_FIELDS:
            return
        yield replace_surrogates(str(key)), _shorten(item, depth + 1)


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
