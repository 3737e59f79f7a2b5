"""Messages as a conversation that a chat API accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemos.sessions.model import content_of, loaded
from mnemos.storage.base import MessageRow

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def conversation(rows: Sequence[MessageRow]) -> list[dict[str, Any]]:
    """In OpenAI's format, ready to send.

    APIs refuse a call without its answer and an answer without its call, which a killed process can
    leave behind: both are left out. So are messages in roles that APIs do not know.
    """
    answered = {row.tool_call_id for row in rows if row.role == "tool" and row.tool_call_id}
    asked: set[str] = set()
    messages: list[dict[str, Any]] = []
    for row in rows:
        if row.role not in _ROLES:
            continue
        message = {"role": row.role, "content": content_of(row)}
        if row.role == "tool":
            if row.tool_call_id not in asked:
                continue
            message["tool_call_id"] = row.tool_call_id
        elif row.tool_calls is not None:
            calls = _answered_calls(loaded(row.tool_calls), answered)
            asked |= {call["id"] for call in calls}
            if calls:
                message["tool_calls"] = calls
            elif not message["content"]:
                continue
        messages.append(message)
    return messages


def _answered_calls(calls: Any, answered: set[str]) -> list[dict[str, Any]]:
    if not isinstance(calls, list):
        return []
    return [
        call
        for call in calls
        if isinstance(call, dict) and isinstance(call.get("id"), str) and call["id"] in answered
    ]
