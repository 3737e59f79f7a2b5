"""A template in front of a conversation, so that APIs accept the whole.

Rules of the APIs that shape it: every call is answered at once; ids of calls are unique, of letters and
digits, and short (OpenAI takes 40 characters, Mistral exactly nine); the first message that is no system
message is the user's, and roles alternate (Anthropic). So a user's line stands before the examples and an
assistant's line behind them: whatever the conversation begins with, it fits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import count
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.templates.model import SessionTemplate, ToolCallExample, sound
from mnemos.text.tokens import count_tokens

LOADED: Final = "Session template loaded: "
FORMATS: Final = ("openai", "anthropic")

_ASKED: Final = "Before we begin: show how tool calls of this kind were made and answered when they worked."
_DONE: Final = "Those calls worked before; what they answered then may differ now."
_NO_OUTPUT: Final = "(no output)"
_LEADING: Final = ("system", "developer")
_ID: Final = re.compile(r"tmpl[0-9a-z]{5}")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
# What both APIs take as the name of a tool.
_TOOL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LOADED_LINE: Final = re.compile(rf"{LOADED}(?P<name>[^\n]+) \((?P<kind>[a-z]+)\)")
# What a message costs besides its text.
_AROUND: Final = 8

Message = dict[str, Any]


def injected(
    template: SessionTemplate, messages: Sequence[Mapping[str, Any]], *, budget: int, format: str = "openai"
) -> list[Any] | None:
    """A new list with the examples after the leading system messages; None when no example fits.

    It adds at most ``budget`` tokens: examples are dropped from the end. The messages themselves are the
    caller's, and are not changed.
    """
    if format not in FORMATS:
        raise InvalidInput(f"format is {format!r}; use {' or '.join(FORMATS)}")
    if not isinstance(template, SessionTemplate):
        raise InvalidInput(f"template is {template!r}; use one that get_template found, if it found any")
    if not isinstance(messages, (list, tuple)) or not all(isinstance(one, Mapping) for one in messages):
        raise InvalidInput("messages are no list of messages; use what you would send to the API")
    examples = [example for example in template.examples if can_be_injected(example)]
    kept = _fitting(template, examples, budget)
    if not kept:
        return None
    ids = _fresh_ids(messages)
    make = _anthropic if format == "anthropic" else _openai
    place = _after_leading(messages)
    return [*messages[:place], *make(introduction(template, len(kept)), kept, ids), *messages[place:]]


def can_be_injected(example: ToolCallExample) -> bool:
    """Whether it worked, and APIs take it as a call."""
    if not example.success or not _TOOL.fullmatch(example.tool_name):
        return False
    try:
        _json(example.arguments).encode()
    except (TypeError, ValueError, RecursionError):
        # What JSON cannot say; half a character is a ValueError, too.
        return False
    return isinstance(example.arguments, dict)


def introduction(template: SessionTemplate, examples: int) -> str:
    """What a model, and whoever reads the session later, is told about the messages that follow."""
    lines = [
        f"{LOADED}{template.name} ({template.task_type})",
        " ".join(template.description.split()),
        f"{examples} {'example' if examples == 1 else 'examples'} of tool calls that succeeded in an earlier "
        "session. They show how to work; they are not part of this conversation.",
    ]
    return "\n".join(line for line in lines if line)


def is_injected(call_id: str) -> bool:
    """Whether a call was put into its conversation by a template."""
    return call_id.startswith("tmpl") and _ID.fullmatch(call_id) is not None


def is_injected_line(message: Mapping[str, Any]) -> bool:
    """Whether a user's message was put there by a template, and is no turn of the user's."""
    content = message.get("content")
    return isinstance(content, str) and (content == _ASKED or content.startswith(LOADED))


def loaded_template(text: str) -> str | None:
    """The name of the template that a message says to have been loaded; None when it says nothing of it."""
    said = _LOADED_LINE.search(text) if LOADED in text else None
    return said["name"] if said else None


def _fitting(
    template: SessionTemplate, examples: Sequence[ToolCallExample], budget: int
) -> list[ToolCallExample]:
    room = budget - sum(count_tokens(text) + _AROUND for text in (introduction(template, 100), _ASKED, _DONE))
    kept: list[ToolCallExample] = []
    for example in examples:
        room -= _cost(example)
        if room < 0:
            break
        kept.append(example)
    return kept


def _cost(example: ToolCallExample) -> int:
    called = f"{example.tool_name} {_json(example.arguments)}"
    # The id stands in the call and in the answer.
    return count_tokens(called) + count_tokens(example.result or _NO_OUTPUT) + 2 * _AROUND + 12


def _openai(intro: str, examples: Sequence[ToolCallExample], ids: Iterator[str]) -> list[Message]:
    made: list[Message] = [{"role": "system", "content": intro}, {"role": "user", "content": _ASKED}]
    for example in examples:
        call_id = next(ids)
        function = {"name": example.tool_name, "arguments": _json(example.arguments)}
        call = {"id": call_id, "type": "function", "function": function}
        made += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": sound(example.result) or _NO_OUTPUT},
        ]
    return [*made, {"role": "assistant", "content": _DONE}]


def _anthropic(intro: str, examples: Sequence[ToolCallExample], ids: Iterator[str]) -> list[Message]:
    """The system prompt is no message there, so the user's line carries the introduction."""
    made: list[Message] = [{"role": "user", "content": f"{intro}\n\n{_ASKED}"}]
    for example in examples:
        call_id = next(ids)
        call = {
            "type": "tool_use",
            "id": call_id,
            "name": example.tool_name,
            "input": deepcopy(example.arguments),
        }
        answer = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": sound(example.result) or _NO_OUTPUT,
        }
        made += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    return [*made, {"role": "assistant", "content": _DONE}]


def _after_leading(messages: Sequence[Mapping[str, Any]]) -> int:
    for place, message in enumerate(messages):
        if message.get("role") not in _LEADING:
            return place
    return len(messages)


def _fresh_ids(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Ids that no call of the conversation has, nor any answer."""
    taken = set(_texts(messages, _ID.fullmatch))
    return (fresh for number in count() if (fresh := _numbered(number)) not in taken)


def _numbered(number: int) -> str:
    digits = ""
    for _ in range(5):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return f"tmpl{digits}"


def _texts(value: Any, wanted: Callable[[str], Any]) -> Iterator[str]:
    """The texts somewhere in a structure that are wanted."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            if wanted(one):
                yield one
        elif isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, (list, tuple)):
            pending += one


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, allow_nan=False)
