"""A turn of the host's as messages of a session."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from mnemos.text.fences import strip_fences, strip_fences_in_content

_CUT = "… [cut]"


def turn_of(
    user: Any, assistant: Any, messages: Any, *, began: float, now: float, longest: int
) -> list[dict[str, Any]]:
    """What was said in a turn, in order, ready to be appended; empty when nothing was.

    With the conversation at hand, the calls of tools since the user's last message and their answers come
    between the two. Recalled text that was put into a message is taken out again. ``longest``: the characters
    that a message may have.
    """
    said = [{"role": "user", "content": user, "timestamp": began}]
    said += [message | {"timestamp": now} for message in _since_the_user(messages)]
    answer = strip_fences_in_content(assistant)
    if answer and (said[-1]["role"] != "assistant" or said[-1].get("content") != answer):
        said.append({"role": "assistant", "content": answer, "timestamp": now})
    return [kept for message in said if (kept := _kept(message, longest))]


def plain_turn(turn: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The first and the last that was said, for when what came between cannot be stored."""
    spoken = [message for message in turn if message["role"] != "tool" and message.get("content")]
    return [
        {key: message[key] for key in ("role", "content", "timestamp")}
        for message in (spoken[:1] + spoken[-1:] if len(spoken) > 1 else spoken)
    ]


def text_of(content: Any) -> str:
    """What a message of the host's says, without recalled text; of several parts, the texts."""
    if isinstance(content, str):
        return strip_fences(content)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(strip_fences(text) for text in texts if isinstance(text, str))
    return ""


def _since_the_user(messages: Any) -> list[dict[str, Any]]:
    """What assistant and tools said since the user's last message."""
    if not isinstance(messages, list | tuple):
        return []
    since: list[dict[str, Any]] = []
    for message in reversed(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role == "user":
            return since[::-1]
        if role in ("assistant", "tool") and isinstance(message, Mapping):
            since.append(_copied(message))
    # No message of the user's: this is not the conversation of the turn.
    return []


def _copied(message: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that sessions know; the host may go on changing its own."""
    fields = {
        "role": message["role"],
        "content": strip_fences_in_content(copy.deepcopy(message.get("content"))),
        "tool_calls": copy.deepcopy(message.get("tool_calls")) or None,
        "tool_call_id": message.get("tool_call_id") or None,
        "tool_name": message.get("tool_name") or (message.get("name") if message["role"] == "tool" else None),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _kept(message: dict[str, Any], longest: int) -> dict[str, Any] | None:
    content = strip_fences_in_content(message.get("content"))
    if isinstance(content, str) and len(content) > longest:
        content = content[: longest - len(_CUT)] + _CUT
    if not isinstance(content, str | list):
        content = None
    if not content and not message.get("tool_calls"):
        return None
    return message | {"content": content or None}
