"""The text of messages, as searches, recall and previews read it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from mnemos.inputs import MAX_NAME
from mnemos.sessions.records import ROLES, content_of, load_json
from mnemos.sessions.tool_names import call_name, may_be_own_tool
from mnemos.storage.base import Document, Glimpse, MessageRow
from mnemos.text.fences import strip_fences

_LONGEST_SPEAKER = 48
_NESTED = ("content", "contents", "output", "result", "message", "parts", "blocks")
_NAME_BEFORE_COLON = re.compile(r"([A-Z][\w'.-]+(?: [A-Z][\w'.-]*){0,2}): ")


def text_of(row: MessageRow | Glimpse) -> str:
    """Return the text of a message. If it has several parts, only text parts count."""
    return _join_text(content_of(row))


def document_of(row: MessageRow) -> Document:
    """Return the searchable text of a message, with the names and arguments of its tools.

    Recalled text and calls of the memory's tools, with their results, are left out.
    """
    if row.origin is not None and row.tool_calls is None:
        return Document("", "")
    said = strip_fences(text_of(row) if row.encoded else row.content or "")
    return Document(said, tools_of(row), _speaker(row, said))


def is_echo(row: MessageRow) -> bool:
    """True if a message only repeats what the memory returned."""
    if row.origin is None:
        return False
    document = document_of(row)
    return not document.said.strip() and not document.tool


def tools_of(row: MessageRow) -> str:
    """Return the names and arguments of a message's tool calls, without the memory's own tools."""
    if row.tool_calls is None:
        return "" if row.origin is not None else row.tool_name or ""
    made = load_json(row.tool_calls)
    if row.origin is not None:
        made = _drop_own_calls(made)
    calls = " ".join(_call_words(made))
    return f"{row.tool_name} {calls}" if row.tool_name else calls


def _drop_own_calls(calls: Any) -> list[Any]:
    """Return a message's calls of other tools than the memory's."""
    if not isinstance(calls, list):
        return []
    others = [call for call in calls if isinstance(call, dict) and not may_be_own_tool(call_name(call))]
    # A host may rename the tools.
    return others if len(others) < len(calls) else []


def names_speaker(row: MessageRow) -> bool:
    """True if the metadata of a message names the speaker."""
    return _speaker_in_metadata(row) != ""


def _speaker_in_metadata(row: MessageRow) -> str:
    if row.metadata is None or ('"speaker"' not in row.metadata and '"name"' not in row.metadata):
        return ""
    return _parse_speaker(row.metadata)


def _speaker(row: MessageRow, said: str) -> str:
    """Return the speaker that the metadata, the role or a name before a colon gives.

    In an assistant's answer, "Result: …" doesn't name a speaker.
    """
    named = _speaker_in_metadata(row)
    if named:
        return named
    if row.role not in ROLES:
        return row.role
    if row.role == "user" and ": " in said[:_LONGEST_SPEAKER]:
        before_colon = _NAME_BEFORE_COLON.match(said)
        if before_colon is not None:
            return before_colon.group(1)
    return ""


@lru_cache(maxsize=4_096)
def _parse_speaker(metadata: str) -> str:
    """Return the speaker in metadata. Cached, because a speaker's messages often share it."""
    known = load_json(metadata)
    if isinstance(known, dict):
        for key in ("speaker", "name"):
            if isinstance(known.get(key), str):
                return str(known[key])[:MAX_NAME]
    return ""


def _join_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _part_text(part)))
    return _part_text(content)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("refusal") if part.get("type") == "refusal" else part.get("text")
        if isinstance(text, str):
            return text
        # Frameworks nest messages and tool results in parts.
        return next((text for key in _NESTED if (text := _join_text(part.get(key)))), "")
    return ""


def _call_words(value: Any) -> list[str]:
    """Yield every string in nested calls, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [word for item in value for word in _call_words(item)]
    if isinstance(value, dict):
        return [
            word
            for key, item in value.items()
            if key not in ("id", "type", "index")
            for word in ([key] if key not in ("function", "name", "arguments") else []) + _call_words(item)
        ]
    return [] if value is None or isinstance(value, bool) else [str(value)]
