"""Stored messages in the formats that the OpenAI and Anthropic SDKs accept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from mnemos.errors import InvalidInput
from mnemos.inputs import clean_name, suggest
from mnemos.sessions.message_text import text_of
from mnemos.sessions.records import content_of, dump_json, dump_plain, load_json
from mnemos.sessions.tool_names import call_name
from mnemos.storage.base import MessageRow

Format = Literal["openai", "anthropic"]
Part = dict[str, Any]

_ROLES_TO_SEND = frozenset({"system", "developer", "user", "assistant", "function"})
_TEXTS = ("text", "input_text", "output_text", None)
_THINKING = ("thinking", "redacted_thinking")
_IMAGES = ("image", "image_url", "input_image")
_MEDIA = (*_IMAGES, "document", "file", "input_file", "audio", "input_audio", "video")
# Parts that only Anthropic's format has. They can be sent back unchanged.
_OWN_PARTS = re.compile(r"search_result|container_upload|server_tool_use|(?!mcp_)\w+_tool_result")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


class Conversation(list[dict[str, Any]]):
    """Messages ready to send.

    ``system`` has the text of the system messages in Anthropic's format, where it is its own argument;
    it is empty in OpenAI's, where they are among the messages.
    """

    system = ""


def build_conversation(rows: Sequence[MessageRow], format: str) -> Conversation:
    """Return messages that the SDK accepts.

    APIs reject a tool call without a result and a result without a call. A killed process can leave both, so
    they are left out, as are empty or forgotten messages and roles that APIs don't know.
    """
    if format == "openai":
        messages = Conversation(_write_openai(rows))
    elif format == "anthropic":
        messages = _AnthropicTurns().add_all(rows)
    else:
        meant = suggest(format, get_args(Format))
        raise InvalidInput(f"Unknown format {format!r}.{meant} Use 'openai' or 'anthropic'.")
    try:
        dump_plain(messages)
    except UnicodeEncodeError:
        # A lone surrogate can be stored, but not sent.
        messages[:] = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return messages


# --- calls and their answers --------------------------------------------------------------------------


def _pair(rows: Sequence[MessageRow]) -> Iterator[tuple[MessageRow, Any, list[tuple[Part, MessageRow]]]]:
    """Yield each message to send, with its content and its calls, each paired with its answer."""
    for position, row in enumerate(rows):
        if row.role not in _ROLES_TO_SEND:
            # Tool answers are yielded with their calls.
            continue
        calls = []
        if row.tool_calls is not None and row.role == "assistant":
            answers = _find_answers(rows, position + 1)
            calls = [(call, answers[key]) for key, call in _list_calls(row).items() if key in answers]
        yield row, None if row.forgotten else content_of(row), calls


def _list_calls(row: MessageRow) -> dict[str | None, Part]:
    calls = load_json(row.tool_calls)
    if not isinstance(calls, list):
        return {}
    known = [call for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str)]
    return {clean_name(call["id"]): call for call in known}


def _find_answers(rows: Sequence[MessageRow], start: int) -> dict[str | None, MessageRow]:
    """Return the tool answers that directly follow, by call id. The first answer to a call wins."""
    answers: dict[str | None, MessageRow] = {}
    for row in rows[start:]:
        if row.role != "tool":
            break
        if row.tool_call_id is not None:
            answers.setdefault(row.tool_call_id, row)
    return answers


def _get_arguments(call: Part) -> str:
    function = call.get("function")
    holder = function if isinstance(function, Mapping) else call
    given = holder.get("arguments", holder.get("input"))
    return given if isinstance(given, str) else dump_json({} if given is None else given)


def _tool_name(call: Part) -> str:
    return _NOT_IN_NAMES.sub("_", call_name(call))[:_LONGEST_NAME] or "unknown"


# --- OpenAI -------------------------------------------------------------------------------------------


def _write_openai(rows: Sequence[MessageRow]) -> Iterator[Part]:
    for row, content, calls in _pair(rows):
        message = {"role": row.role, "content": _openai_content(row.role, content)}
        if row.role == "function":
            message |= {"name": row.tool_name or "unknown", "content": text_of(row) if content else None}
        if calls:
            message["tool_calls"] = [_openai_call(call) for call, _ in calls]
        if calls or message["content"]:
            yield message
        for call, answer in calls:
            said = _openai_content("tool", content_of(answer)) or ""
            yield {"role": "tool", "content": said, "tool_call_id": call["id"]}


def _openai_call(call: Part) -> Part:
    if call.get("type") == "custom" and isinstance(call.get("custom"), dict):
        return {key: call[key] for key in ("id", "type", "custom")}
    function = {"name": _tool_name(call), "arguments": _get_arguments(call)}
    return {"id": call["id"], "type": "function", "function": function}


def _openai_content(role: str, content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [part for given in content if (part := _openai_part(role, given))] or None


def _openai_part(role: str, part: Any) -> Part | None:
    if (text := _get_text(part)) is not None:
        if role == "assistant" and _kind(part) == "refusal":
            return {"type": "refusal", "refusal": text}
        return _text_part(text)
    if role != "user":
        return _describe(part)
    kind = _kind(part)
    if kind in _IMAGES and (url := _get_url(part)):
        detail = part["image_url"].get("detail") if isinstance(part.get("image_url"), dict) else None
        image = {"url": url} | ({"detail": detail} if detail in ("auto", "low", "high") else {})
        return {"type": "image_url", "image_url": image}
    held = part.get(kind) if kind in ("input_audio", "file") else None
    if isinstance(held, dict) and (_is_intact(held.get("data", held.get("file_id"))) or _get_url(part)):
        return {"type": str(kind), str(kind): held}
    if kind == "document" and (url := _get_url(part)) and url.startswith("data:"):
        return {"type": "file", "file": {"filename": part.get("title") or "document.pdf", "file_data": url}}
    return _describe(part)


# --- Anthropic ----------------------------------------------------------------------------------------


class _AnthropicTurns:
    """Alternating turns with unique tool ids, as Anthropic's API requires."""

    def __init__(self) -> None:
        self._turns = Conversation()
        self._ids: set[str] = set()

    def add_all(self, rows: Sequence[MessageRow]) -> Conversation:
        system: list[str] = []
        for row, content, calls in _pair(rows):
            if row.role in ("system", "developer"):
                system += [] if row.forgotten else [text_of(row)]
            elif row.role != "function":
                parts = content if isinstance(content, list) else [content]
                blocks = [block for part in parts if (block := _anthropic_block(row.role, part))]
                ids = [self._make_id(call["id"]) for call, _ in calls]
                used = [_anthropic_call(call, id) for (call, _), id in zip(calls, ids, strict=True)]
                self._add(row.role, [*blocks, *used])
                answers = [_anthropic_result(answer, id) for (_, answer), id in zip(calls, ids, strict=True)]
                self._add("user", answers)
        for turn in self._turns:
            if len(turn["content"]) == 1 and turn["content"][0]["type"] == "text":
                turn["content"] = turn["content"][0]["text"]
        self._turns.system = (
            "\n\n".join(text for text in system if text.strip()).encode("utf-8", "replace").decode()
        )
        return self._turns

    def _add(self, role: str, blocks: list[Part]) -> None:
        if all(block["type"] in _THINKING for block in blocks):
            # The API refuses a turn that ends with thinking, and there is nothing else to send.
            return
        if self._turns and self._turns[-1]["role"] == role:
            self._turns[-1]["content"] += blocks
        else:
            self._turns.append({"role": role, "content": blocks})

    def _make_id(self, call_id: str) -> str:
        """Return a unique id of allowed characters. Some models use call_0 in every turn."""
        clean = found = _NOT_IN_NAMES.sub("_", call_id)
        number = 1
        while found in self._ids:
            number += 1
            found = f"{clean}_{number}"
        self._ids.add(found)
        return found


def _anthropic_call(call: Part, id: str) -> Part:
    text = _get_arguments(call)
    given = load_json(text or "{}")
    more = {key: value for key, value in call.items() if key in ("caller", "toolset_name")}
    # The API requires an object, even if the model wrote something else.
    input = given if isinstance(given, dict) else {"arguments": text}
    return {"type": "tool_use", "id": id, "name": _tool_name(call), "input": input, **more}


def _anthropic_result(row: MessageRow, id: str) -> Part:
    content = content_of(row)
    parts = content if isinstance(content, list) else [content]
    blocks = [block for part in parts if (block := _anthropic_block("tool", part))]
    result: Part = {"type": "tool_result", "tool_use_id": id}
    metadata = load_json(row.metadata)
    if isinstance(metadata, dict) and metadata.get("is_error") is True:
        result["is_error"] = True
        blocks = blocks or [{"type": "text", "text": "[no output]"}]
    if blocks:
        is_text = len(blocks) == 1 and blocks[0]["type"] == "text"
        result["content"] = blocks[0]["text"] if is_text else blocks
    return result


def _anthropic_block(role: str, part: Any) -> Part | None:
    if (text := _get_text(part)) is not None:
        # The API refuses blank text.
        return _text_part(text) if text.strip() else None
    kind = _kind(part)
    if kind in _THINKING:
        proof = part.get("signature" if kind == "thinking" else "data")
        is_valid = role == "assistant" and _is_intact(proof) and (kind != "thinking" or "thinking" in part)
        return _drop_hints(part) if is_valid else None
    if kind and _OWN_PARTS.fullmatch(kind):
        return _drop_hints(part) if (role == "assistant") == (kind != "search_result") else None
    source = None if role == "assistant" else _get_source(part)
    if source is None:
        return _describe(part)
    if kind in _IMAGES:
        return {"type": "image", "source": source}
    more = {key: part[key] for key in ("title", "context") if isinstance(part.get(key), str)}
    return {"type": "document", "source": source, **more}


def _get_source(part: Any) -> Part | None:
    """Return the source of an image or a document."""
    kind = _kind(part)
    if kind not in (*_IMAGES, "document", "file"):
        return None
    given = part.get("source")
    if isinstance(given, dict) and given.get("type") in ("text", "content", "file"):
        return given
    url = _get_url(part)
    if url is None or not (data := _DATA_URL.match(url)):
        return {"type": "url", "url": url} if url and not url.startswith("data:") else None
    allowed = _IMAGE_TYPES if kind in _IMAGES else ("application/pdf",)
    if data.group(1) not in allowed:
        return None
    return {"type": "base64", "media_type": data.group(1), "data": url[data.end() :]}


def _drop_hints(part: Part) -> Part:
    return {key: value for key, value in part.items() if value is not None and key != "cache_control"}


# --- parts of either format ---------------------------------------------------------------------------


def _kind(part: Any) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else None


def _get_text(part: Any) -> str | None:
    """Return the text of a part; None if it is of another kind."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or _kind(part) not in (*_TEXTS, "refusal"):
        return None
    text = part.get("refusal" if _kind(part) == "refusal" else "text")
    return text if isinstance(text, str) else None


def _text_part(text: str) -> Part | None:
    return {"type": "text", "text": text} if text else None


def _describe(part: Any) -> Part | None:
    """Return a placeholder for an image or file that can't be sent; None for other parts."""
    kind = _kind(part)
    source = part.get("source") if kind == "document" else None
    if isinstance(source, dict) and source.get("type") == "text" and isinstance(source.get("data"), str):
        return _text_part(source["data"])
    if kind not in _MEDIA:
        return None
    named = next((part[key] for key in ("title", "name", "filename") if isinstance(part.get(key), str)), None)
    word = "image" if kind in _IMAGES else kind.removeprefix("input_") if kind else ""
    return {"type": "text", "text": f"[{word}: {named}]" if named else f"[{word}]"}


def _get_url(part: Part) -> str | None:
    """Return the URL of an image or a file; None if an import left out its bytes."""
    source = part.get("source")
    if isinstance(source, dict) and source.get("type") == "base64":
        url: Any = f"data:{source.get('media_type')};base64,{source.get('data')}"
    elif isinstance(source, dict):
        url = source.get("url")
    else:
        holder = part.get("image_url", part.get("file"))
        url = holder.get("url", holder.get("file_data")) if isinstance(holder, dict) else holder
    is_url = isinstance(url, str) and url.startswith(("https://", "http://", "data:")) and _is_intact(url)
    return url if is_url else None


def _is_intact(text: Any) -> bool:
    """True unless redaction or an import replaced part of the text by a remark in brackets."""
    return isinstance(text, str) and "[" not in text
