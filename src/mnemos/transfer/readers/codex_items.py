"""Lines and items of Codex rollouts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from mnemos.transfer.foreign_files import clean_name, decode_json, decode_object, drop_empty
from mnemos.transfer.readers.injected_text import split_injected

# Tags that Codex, its editors and skills inject into a user's message.
_INJECTED: Final = frozenset(
    """
    environment_context user_instructions turn_aborted skill skills_instructions user_action model_switch
    subagent_notification collaboration_mode multi_agent_mode apps_instructions plugins_instructions
    recommended_plugins personality_spec hook_prompt goal_context memory_citation realtime_conversation
    user_shell_command
    """.split()
)
# Tags around other text: a repository's instructions, and output of commands.
_FOREIGN: Final = tuple(
    frozenset({tag}) for tag in ("user_instructions", "user_shell_command", "skill", "subagent_notification")
)
_CITATIONS: Final = frozenset({"oai-mem-citation"})
# Whole texts that are injected: beginning, end, name.
_WHOLE: Final = (
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", "AGENTS.md"),
    ("<permissions instructions>", "</permissions instructions>", "permissions"),
    ("# Context from my IDE setup:", "## My request for Codex:", "ide_context"),
)
_RESULT: Final = '{"output":'
_PIECE: Final = 1 << 20

Payload = Mapping[str, Any]
"""An item or an event. The other fields depend on ``type``."""


def parse_line(data: bytes) -> tuple[str, Any, Payload | None]:
    """Return a line's type, time and payload. ValueError if it is not Codex's.

    Since September 2025, Codex writes an envelope around each payload. The oldest lines have no type.
    """
    found = decode_object(data)
    kind, payload = found.get("type", ""), found.get("payload")
    if payload is None and found.get("record_type"):
        return "", None, None
    if payload is None:
        kind, payload = "", found
    inner = payload.get("type", "") if isinstance(payload, dict) else None
    if not isinstance(kind, str) or not isinstance(inner, str):
        raise ValueError("its type is not text")  # noqa: TRY004 - it is about the text
    return kind, found.get("timestamp"), payload


@dataclass(slots=True)
class Words:
    """A message's text, separated from injected blocks."""

    text: str = ""
    injected: list[tuple[str, str]] = field(default_factory=list)
    images: int = 0


def extract_words(role: str, content: Any) -> Words:
    """Return a message's text. ValueError if the content can't be one."""
    words = Words()
    texts: list[str] = []
    for part in list_content_parts(content):
        text = part.get("text")
        if isinstance(text, str):
            if part.get("type") == "input_text" and _is_frame(text):
                continue
            texts.append(_separate(role, text, words))
        elif "image" in str(part.get("type")):
            words.images += 1
    words.text = "\n".join(filter(None, texts))
    return words


def list_content_parts(content: Any) -> list[dict[str, Any]]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [
            {"type": "text", "text": part} if isinstance(part, str) else part
            for part in content
            if isinstance(part, dict | str)
        ]
    raise ValueError(f"its content is of type {type(content).__name__}")


def hash_text(text: str) -> str:
    """Return a hash that ignores white space."""
    digest = blake2b(digest_size=8)
    # In pieces, because a list of a long text's words takes many times its memory.
    for start in range(0, len(text), _PIECE):
        digest.update("".join(text[start : start + _PIECE].split()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def extract_thoughts(payload: Payload) -> list[str]:
    """Return the summary of the reasoning, or the reasoning unless it is encrypted."""
    for parts in (payload.get("summary"), payload.get("content")):
        found = [
            part["text"]
            for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
        ] if isinstance(parts, list) else []  # fmt: skip
        if found:
            return found
    return []


def get_call(payload: Payload) -> tuple[str, Any] | None:
    """Return the tool and arguments of a call; None for other items."""
    kind = payload.get("type", "")
    if kind == "function_call":
        name = clean_name(payload.get("name")) or "unknown"
        space = clean_name(payload.get("namespace"))
        return f"{space}.{name}" if space else name, payload.get("arguments")
    if kind == "custom_tool_call":
        return clean_name(payload.get("name")) or "unknown", payload.get("input")
    if kind == "local_shell_call":
        return "local_shell", payload.get("action")
    if kind == "web_search_call":
        return "web_search", payload.get("action")
    if kind == "tool_search_call":
        return "tool_search", payload.get("arguments")
    if kind == "image_generation_call":
        return "image_generation", drop_empty(prompt=payload.get("revised_prompt"))
    return None


def extract_result(payload: Payload) -> tuple[str, dict[str, Any], int]:
    """Return a tool's output, its metadata, and its number of images."""
    output = payload.get("output") if payload.get("output") is not None else payload.get("tools")
    if isinstance(output, str) and output.startswith(_RESULT):
        try:
            found = decode_json(output)
        except ValueError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("output"), str):
            about = found.get("metadata")
            code = about.get("exit_code") if isinstance(about, dict) else None
            return found["output"], drop_empty(exit_code=code if isinstance(code, int) else None), 0
    if isinstance(output, str):
        return output, {}, 0
    if isinstance(output, dict):
        success = output.get("success")
        text, images = _to_text(output.get("content", output.get("output")))
        return text, drop_empty(is_error=True if success is False else None), images
    text, images = _to_text(output)
    return text, {}, images


def _to_text(content: Any) -> tuple[str, int]:
    if content is None:
        return "", 0
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        return _dump(content), 0
    parts = [part for part in content if isinstance(part, dict)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    images = sum("image" in str(part.get("type")) for part in parts)
    return "\n".join(texts) if texts or images else _dump(content), images


def _dump(value: Any) -> str:
    """Encode a value as JSON; empty if it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def _separate(role: str, text: str, words: Words) -> str:
    if role == "assistant":
        if "<" not in text:
            return text
        apart = split_injected(text, _CITATIONS)
        words.injected.extend(apart.injected)
        return apart.text
    text = text.strip()
    for beginning, ending, name in _WHOLE:
        if text.startswith(beginning) and (end := text.rfind(ending)) >= 0:
            end += len(ending)
            words.injected.append((name, text[:end]))
            text = text[end:].strip()
    apart = split_injected(text, _INJECTED, _FOREIGN)
    words.injected.extend(apart.injected)
    return apart.text


def _is_frame(text: str) -> bool:
    """True if the text only frames an image."""
    return len(text) < 200 and (text.startswith("<image") or text == "</image>")
