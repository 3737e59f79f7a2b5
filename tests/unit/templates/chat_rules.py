"""The rules of OpenAI's and Anthropic's chat APIs for messages, from their documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_ROLES = ("system", "developer", "user", "assistant", "tool")
_OPENAI_ID = 40
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")

Message = dict[str, Any]


def openai_complaints(messages: Sequence[Message]) -> list[str]:
    """Return the reason why Chat Completions would refuse these messages; empty if it would not."""
    return list(_openai(messages))


def anthropic_complaints(messages: Sequence[Message]) -> list[str]:
    """Return the reason why the Messages API would refuse these, which have no system prompt."""
    return list(_anthropic(messages))


def as_anthropic(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """OpenAI's messages as hosts turn them into Anthropic's: the system prompt, and the rest.

    Messages of one role that follow each other become one, as the API itself does.
    """
    system: list[str] = []
    turned: list[Message] = []
    for message in messages:
        role = message["role"]
        if role in ("system", "developer"):
            system.append(message["content"])
            continue
        blocks = list(_blocks(message))
        role = "assistant" if role == "assistant" else "user"
        if turned and turned[-1]["role"] == role:
            turned[-1]["content"] += blocks
        elif blocks:
            turned.append({"role": role, "content": blocks})
    return "\n\n".join(system), turned


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    if message["role"] == "tool":
        yield {
            "type": "tool_result",
            "tool_use_id": message["tool_call_id"],
            "content": message["content"],
        }
        return
    if message.get("content"):
        yield {"type": "text", "text": message["content"]}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield {
            "type": "tool_use",
            "id": call["id"],
            "name": function["name"],
            "input": json.loads(function["arguments"]),
        }


def _openai(messages: Sequence[Message]) -> Iterator[str]:
    open_calls: set[str] = set()
    seen: set[str] = set()
    for number, message in enumerate(messages):
        role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
        if role not in _ROLES:
            yield f"{number}: unknown role {role!r}"
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield f"{number}: answers no call that is open"
            open_calls.discard(message.get("tool_call_id", ""))
        elif open_calls:
            yield f"{number}: calls {sorted(open_calls)} were not answered"
            open_calls = set()
        if not isinstance(content, str) and not (content is None and calls):
            yield f"{number}: content is {content!r}"
        if calls is not None and (role != "assistant" or not calls):
            yield f"{number}: tool_calls are out of place or empty"
        for call in calls or ():
            yield from (f"{number}: {complaint}" for complaint in _openai_call(call, seen))
            open_calls.add(call["id"])
            seen.add(call["id"])
        yield from _unsendable(number, message)
    if open_calls:
        yield f"at the end: calls {sorted(open_calls)} were not answered"


def _openai_call(call: dict[str, Any], seen: set[str]) -> Iterator[str]:
    if call.get("type") != "function":
        yield f"a call of type {call.get('type')!r}"
    if not isinstance(call.get("id"), str) or not 0 < len(call["id"]) <= _OPENAI_ID:
        yield f"the id {call.get('id')!r}"
    if call.get("id") in seen:
        yield f"the id {call['id']!r} a second time"
    if not _TOOL_NAME.fullmatch(call["function"]["name"]):
        yield f"the name {call['function']['name']!r}"
    if not isinstance(call["function"]["arguments"], str) or not isinstance(
        json.loads(call["function"]["arguments"], parse_constant=_refuse), dict
    ):
        yield "arguments that are no text with a JSON object"


def _anthropic(messages: Sequence[Message]) -> Iterator[str]:
    if not messages:
        yield "no messages"
        return
    if messages[0].get("role") != "user":
        yield "the first message is not the user's"
    seen: set[str] = set()
    due: list[str] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant"):
            yield f"{number}: role {role!r}"
        if number and messages[number - 1].get("role") == role:
            yield f"{number}: roles do not alternate"
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        results = [block for block in blocks if block["type"] == "tool_result"]
        if due and sorted(block["tool_use_id"] for block in results) != sorted(due):
            yield f"{number}: tool_use {due} was not answered at once, or not just once"
        if results and not due:
            yield f"{number}: tool_result without its tool_use"
        if results and blocks[: len(results)] != results:
            yield f"{number}: tool_result blocks are not first"
        due = []
        for block in blocks:
            if block["type"] == "tool_use":
                if role != "assistant" or not isinstance(block["input"], dict):
                    yield f"{number}: tool_use by {role} with input {block['input']!r}"
                if not _ANTHROPIC_ID.fullmatch(block["id"]) or block["id"] in seen:
                    yield f"{number}: the id {block['id']!r}"
                if not _TOOL_NAME.fullmatch(block["name"]):
                    yield f"{number}: the name {block['name']!r}"
                seen.add(block["id"])
                due.append(block["id"])
            elif block["type"] == "text" and not block["text"].strip():
                yield f"{number}: an empty text"
        yield from _unsendable(number, message)
    if due:
        yield f"at the end: tool_use {due} was not answered"


def _unsendable(number: int, message: Message) -> Iterator[str]:
    try:
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as exc:
        yield f"{number}: {exc}"


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
