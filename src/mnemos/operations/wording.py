"""Words that several operations share: for what they take, and for what they answer."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Session = Annotated[str, msgspec.Meta(description="A session: its id, the beginning of its id, or its title")]


def counted(number: int, thing: str) -> str:
    """``1 session``, ``1,024 sessions``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def traces(copies: list[str], *, pending: bool) -> list[str]:
    """Where something that was forgotten may still be."""
    lines = (
        ["Another program is reading: traces in the log go when it lets go (mnemos optimize)."]
        if pending
        else []
    )
    if copies:
        lines.append(f"These copies were made before and may still hold it: {', '.join(copies)}")
    return lines


def spoken(content: Any) -> str:
    """What a message says; of several parts, the texts, and of what sort the others are."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(_part(part) for part in parts)


def called(call: Any) -> str:
    """A tool call as its name and its arguments."""
    if not isinstance(call, dict):
        return _json(call)
    function = call.get("function")
    named = function if isinstance(function, dict) else call
    if not isinstance(named.get("name"), str):
        return _json(call)
    arguments = named.get("arguments", named.get("input", ""))
    return f"{named['name']} {arguments if isinstance(arguments, str) else _json(arguments)}".rstrip()


def calls(message: dict[str, Any]) -> list[str]:
    """The tool calls of a message, one text each."""
    made = message["tool_calls"]
    return [called(call) for call in (made if isinstance(made, list) else [made] if made else [])]


def cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text")
        return text if isinstance(text, str) else f"[{part.get('type', 'part')}]"
    return _json(part)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
