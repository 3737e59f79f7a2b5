"""Messages of the OpenAI and Anthropic SDKs, translated to the fields that sessions store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemos.errors import InvalidInput
from mnemos.inputs import make_plain, suggest
from mnemos.sessions.records import MESSAGE_FIELDS, encode_json

Fields = dict[str, Any]

_SAID = frozenset({"content", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"})
# Fields that are stored elsewhere, or hints that only apply to one request.
_NOT_KEPT = frozenset({"type", "id", "name", "input", "tool_use_id", "content", "cache_control"})
_RESPONSE_FIELDS = ("id", "model", "usage", "incomplete_details")
_NO_LIMIT = 1 << 62
# The roles whose messages can have Anthropic's tool blocks, and the fields needed to match them.
_TOOL_BLOCKS = {"assistant": ("tool_use", ("id", "name")), "user": ("tool_result", ("tool_use_id",))}


def read_messages(messages: Sequence[Any]) -> list[Fields]:
    """Return the messages to store, in order.

    One input may become several messages: each tool result in a user's message is stored as a message.
    """
    found: list[Fields] = []
    for number, message in enumerate(messages, start=1):
        if _is_ours(message):
            found.append(message)
            continue
        plain = make_plain(dict(message) if isinstance(message, Mapping) else message)
        if not isinstance(plain, dict):
            kind = type(message).__name__
            raise InvalidInput(f"message {number} must be a dict or a message of an SDK, not {kind}")
        for fields in _read(plain, number):
            if fields.pop("joins", False) and found and found[-1].get("role") == "assistant":
                calls = [*(found[-1].get("tool_calls") or ()), *fields["tool_calls"]]
                found[-1] = found[-1] | {"tool_calls": calls}
            else:
                found.append(fields)
    return found


def _is_ours(message: Any) -> bool:
    """True if a message needs no translation."""
    if not isinstance(message, dict) or "role" not in message or not message.keys() <= MESSAGE_FIELDS:
        return False
    content = message.get("content")
    return content is None or isinstance(content, str)


def _read(message: Fields, number: int) -> Iterator[Fields]:
    """Yield the messages of one input: a message, an item, or the response that contains one."""
    if "role" in message:
        yield from _split_blocks(_read_fields(message, number))
        return
    if isinstance(choices := message.get("choices"), list):
        if len(choices) != 1 or not isinstance(choices[0], dict):
            raise InvalidInput(f"message {number} has {len(choices)} choices. Append the one that you use.")
        message = {**_without(message, "choices", "object"), **choices[0]}
    if isinstance(inner := message.get("message"), dict):
        message = {**_without(message, "message"), **inner}
    items = [message]
    if message.get("object") == "response" and isinstance(output := message.get("output"), list):
        metadata = {key: message[key] for key in _RESPONSE_FIELDS if message.get(key)}
        items = [{**item, "metadata": metadata} for item in output if isinstance(item, dict)]
    for item in items:
        if "role" in item:
            yield from _split_blocks(_read_fields(item, number))
        else:
            yield _read_item(item, number)


def _read_item(item: Fields, number: int) -> Fields:
    """Read an item of OpenAI's Responses API that is not a message."""
    kind, metadata = str(item.get("type")), item.get("metadata")
    if kind in ("function_call", "custom_tool_call"):
        call = _make_call(item.get("call_id"), item.get("name"), item.get("arguments", item.get("input")))
        return {"role": "assistant", "tool_calls": [call], "metadata": metadata, "joins": True}
    if kind.endswith("_call_output"):
        output = {"tool_call_id": item.get("call_id"), "content": item.get("output")}
        return {"role": "tool", **output, "metadata": metadata}
    if kind == "reasoning" or kind.endswith("_call"):
        return {"role": "assistant", "content": [_without(item, "metadata")], "metadata": metadata}
    raise InvalidInput(f"message {number} has no role. Use user, assistant, system, developer or tool.")


def _read_fields(message: Fields, number: int) -> Fields:
    """Return the fields that sessions know, with the others in the metadata."""
    fields = {key: message[key] for key in message if key in MESSAGE_FIELDS}
    if len(fields) == len(message):
        return fields
    others = {key: value for key, value in message.items() if key not in MESSAGE_FIELDS}
    others = {key: value for key, value in others.items() if value not in (None, [], {})}
    if others and _SAID.isdisjoint(message):
        # A misspelt `content` must not become an empty message.
        unknown = min(map(str, others))
        raise InvalidInput(
            f"message {number} has no content, but the unknown field {unknown!r}."
            f"{suggest(unknown, MESSAGE_FIELDS)} Use {', '.join(sorted(MESSAGE_FIELDS))}."
        )
    if others.get("type") == "message":
        del others["type"]
    if fields["role"] in ("tool", "function") and fields.get("tool_name") is None and "name" in others:
        fields["tool_name"] = others.pop("name")
    if fields.get("content") is None:
        fields["content"] = _find_content(others)
    if others:
        given = fields.get("metadata")
        fields["metadata"] = others | (
            given if isinstance(given, dict) else {"metadata": given} if given else {}
        )
    return fields


def _find_content(others: Fields) -> Any:
    """Return the text of a message without content: OpenAI's refusal, or the transcript of audio."""
    if isinstance(others.get("refusal"), str):
        return [{"type": "refusal", "refusal": others.pop("refusal")}]
    audio = others.get("audio")
    return audio.get("transcript") if isinstance(audio, dict) else None


def _split_blocks(fields: Fields) -> Iterator[Fields]:
    """Yield a message, in order, with Anthropic's tool blocks as tool calls and tool messages."""
    role, content = fields.get("role"), fields.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    if not any(_is_tool_block(block, role) for block in blocks):
        yield fields
        return
    common: Fields = {key: fields[key] for key in fields if key in ("timestamp", "metadata", "origin")}
    split: list[Fields] = []
    for block in blocks:
        is_tool = _is_tool_block(block, role)
        if is_tool and role == "user":
            split.append(_read_result(block, common))
            continue
        if not split or split[-1]["role"] == "tool":
            split.append({**common, "role": role, "content": [], "tool_calls": []})
        if is_tool:
            call = _make_call(block["id"], block["name"], block.get("input"), _others(block))
            split[-1]["tool_calls"].append(call)
        else:
            split[-1]["content"].append(block)
    if role == "assistant" and isinstance(given := fields.get("tool_calls"), list):
        split[-1]["tool_calls"] += given
    split[-1]["token_count"] = fields.get("token_count")
    if (key := fields.get("key")) is not None:
        # Each gets its own key, which is the same if the message is appended again.
        for number, one in enumerate(split):
            one["key"] = f"{key}#{number}" if number else key
    yield from ({key: value for key, value in one.items() if value != []} for one in split)


def _is_tool_block(block: Any, role: Any) -> bool:
    if not isinstance(block, dict) or role not in tuple(_TOOL_BLOCKS):
        return False
    kind, needed = _TOOL_BLOCKS[role]
    return block.get("type") == kind and all(isinstance(block.get(key), str) for key in needed)


def _read_result(block: Fields, common: Fields) -> Fields:
    given, others = common.get("metadata"), _others(block)
    metadata = {**given, **others} if isinstance(given, dict) else others or given
    result = {"role": "tool", "tool_call_id": block["tool_use_id"], "content": block.get("content")}
    return common | result | {"metadata": metadata or None}


def _make_call(call_id: Any, name: Any, arguments: Any, others: Fields | None = None) -> Fields:
    if not isinstance(arguments, str):
        arguments = encode_json("the input of a tool", {} if arguments is None else arguments, str, _NO_LIMIT)
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function} | (others or {})


def _others(block: Fields) -> Fields:
    """Return a block's further fields, unless they only say that a tool was called directly or succeeded."""
    others = {key: value for key, value in block.items() if key not in _NOT_KEPT and value}
    return _without(others, "caller") if others.get("caller") == {"type": "direct"} else others


def _without(fields: Fields, *keys: str) -> Fields:
    return {key: value for key, value in fields.items() if key not in keys}
