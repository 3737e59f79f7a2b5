"""Injection of a template into a conversation, in a form that APIs accept.

The APIs require that every call is answered at once, that call ids are unique, alphanumeric and short (OpenAI
allows 40 characters, Mistral exactly nine), that the first message after the system messages is the user's,
and that roles alternate (Anthropic). So the examples are between a user's and an assistant's message, which
fits whatever the conversation begins with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import count
from typing import Any, Final, get_args

from mnemos.errors import InvalidInput
from mnemos.inputs import suggest
from mnemos.sessions.chat_format import Format
from mnemos.templates.template import SessionTemplate, ToolCallExample, replace_surrogates
from mnemos.text.stored_text import one_line
from mnemos.text.tokens import count_tokens

LOADED: Final = "Session template loaded: "
FORMATS: Final = get_args(Format)

_ASKED: Final = "Before we begin: show how tool calls of this kind were made and answered when they worked."
_DONE: Final = "Those calls worked before; what they answered then may differ now."
_NO_OUTPUT: Final = "(no output)"
_LEADING: Final = ("system", "developer")
_ID: Final = re.compile(r"tmpl[0-9a-z]{5}")
# Tool names that both APIs accept.
_TOOL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LOADED_LINE: Final = re.compile(rf"{LOADED}(?P<name>[^\n]+) \((?P<kind>[a-z]+)\)")
# Tokens of a message besides its text.
_OVERHEAD: Final = 8

Message = dict[str, Any]


def inject(
    template: SessionTemplate,
    messages: Sequence[Mapping[str, Any]],
    *,
    budget: int,
    format: Format = "openai",
) -> list[Any] | None:
    """Return a new list with the examples after the leading system messages; None if no example fits.

    At most ``budget`` tokens are added: examples are dropped from the end. The caller's messages are not
    changed.
    """
    if format not in FORMATS:
        raise InvalidInput(
            f"Unknown format {format!r}.{suggest(format, FORMATS)} Use {' or '.join(FORMATS)}."
        )
    if not isinstance(template, SessionTemplate):
        raise InvalidInput(f"template must be a SessionTemplate, as get_template returns, not {template!r}.")
    if not isinstance(messages, (list, tuple)) or not all(isinstance(one, Mapping) for one in messages):
        raise InvalidInput("messages must be a list of messages, as you would send it to the API")
    examples = [example for example in template.examples if can_inject(example)]
    kept = _select_fitting(template, examples, budget)
    if not kept:
        return None
    ids = _generate_ids(messages)
    render = _render_anthropic if format == "anthropic" else _render_openai
    place = _count_leading(messages)
    return [*messages[:place], *render(introduce(template, len(kept)), kept, ids), *messages[place:]]


def can_inject(example: ToolCallExample) -> bool:
    """True if it succeeded and APIs accept it as a call."""
    if not example.success or not _TOOL.fullmatch(example.tool_name):
        return False
    try:
        _json(example.arguments).encode()
    except (TypeError, ValueError, RecursionError):
        # Not JSON; a lone surrogate is a ValueError, too.
        return False
    return isinstance(example.arguments, dict)


def introduce(template: SessionTemplate, examples: int) -> str:
    """Return the text that explains the following messages to the model and to later readers."""
    lines = [
        f"{LOADED}{one_line(template.name)} ({template.task_type})",
        one_line(template.description),
        f"{examples} {'example' if examples == 1 else 'examples'} of tool calls that succeeded in an earlier "
        "session. They show how to work; they are not part of this conversation.",
    ]
    return "\n".join(line for line in lines if line)


def is_injected(call_id: str) -> bool:
    """True if a template added this call to its conversation."""
    return call_id.startswith("tmpl") and _ID.fullmatch(call_id) is not None


def is_injected_line(message: Mapping[str, Any]) -> bool:
    """True if a template added this user message, so that it is not a turn of the user."""
    content = message.get("content")
    return isinstance(content, str) and (content == _ASKED or content.startswith(LOADED))


def find_loaded_template(text: str) -> str | None:
    """Return the name of the template that a message announces, if any."""
    match = _LOADED_LINE.search(text) if LOADED in text else None
    return match["name"] if match else None


def _select_fitting(
    template: SessionTemplate, examples: Sequence[ToolCallExample], budget: int
) -> list[ToolCallExample]:
    room = budget - sum(count_tokens(text) + _OVERHEAD for text in (introduce(template, 100), _ASKED, _DONE))
    kept: list[ToolCallExample] = []
    for example in examples:
        room -= _cost(example)
        if room < 0:
            break
        kept.append(example)
    return kept


def _cost(example: ToolCallExample) -> int:
    call = f"{example.tool_name} {_json(example.arguments)}"
    # The id is in the call and in the result.
    return count_tokens(call) + count_tokens(example.result or _NO_OUTPUT) + 2 * _OVERHEAD + 12


def _render_openai(intro: str, examples: Sequence[ToolCallExample], ids: Iterator[str]) -> list[Message]:
    made: list[Message] = [{"role": "system", "content": intro}, {"role": "user", "content": _ASKED}]
    for example in examples:
        call_id = next(ids)
        function = {"name": example.tool_name, "arguments": _json(example.arguments)}
        call = {"id": call_id, "type": "function", "function": function}
        made += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": call_id,
                "content": replace_surrogates(example.result) or _NO_OUTPUT,
            },
        ]
    return [*made, {"role": "assistant", "content": _DONE}]


def _render_anthropic(intro: str, examples: Sequence[ToolCallExample], ids: Iterator[str]) -> list[Message]:
    """Put the introduction into the user's message: Anthropic has no system messages."""
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
            "content": replace_surrogates(example.result) or _NO_OUTPUT,
        }
        made += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    return [*made, {"role": "assistant", "content": _DONE}]


def _count_leading(messages: Sequence[Mapping[str, Any]]) -> int:
    for place, message in enumerate(messages):
        if message.get("role") not in _LEADING:
            return place
    return len(messages)


def _generate_ids(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield ids that the conversation does not use."""
    taken = set(_find_ids(messages))
    return (fresh for number in count() if (fresh := f"tmpl{number:05x}") not in taken)


def _find_ids(value: Any) -> Iterator[str]:
    """Yield strings anywhere in a structure that look like our ids."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            if _ID.fullmatch(one):
                yield one
        elif isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, (list, tuple)):
            pending += one


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, allow_nan=False)
