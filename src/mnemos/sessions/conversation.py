"""Messages as a conversation that a chat API accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemos.sessions.model import content_of, loaded
from mnemos.storage.base import MessageRow

_ROLES = frozenset({"system", "developer", "user", "assistant", "function"})


def conversation(rows: Sequence[MessageRow]) -> list[dict[str, Any]]:
    """In OpenAI's format, ready to send.

    APIs refuse a call whose answer does not follow it, and an answer without its call, which a killed
    process can leave behind: both are left out. So are messages in roles that APIs do not know.
    """
    messages: list[dict[str, Any]] = []
    for position, row in enumerate(rows):
        if row.role not in _ROLES:
            # The answers of tools come with their calls.
            continue
        message = {"role": row.role, "content": content_of(row)}
        if row.tool_calls is None:
            messages.append(message)
            continue
        answers = _answers(rows, position + 1)
        calls = [call for call in _calls(row) if call["id"] in answers]
        if calls:
            message["tool_calls"] = calls
        if calls or message["content"]:
            messages.append(message)
            messages += [answers[call["id"]] for call in calls]
    return messages


def _calls(row: MessageRow) -> list[dict[str, Any]]:
    calls = loaded(row.tool_calls)
    if not isinstance(calls, list):
        return []
    known = {call["id"]: call for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str)}
    return list(known.values())


def _answers(rows: Sequence[MessageRow], start: int) -> dict[str, dict[str, Any]]:
    """The answers that directly follow, the first to each call."""
    answers: dict[str, dict[str, Any]] = {}
    for row in rows[start:]:
        if row.role != "tool":
            break
        if row.tool_call_id is not None:
            answer = {"role": "tool", "content": content_of(row), "tool_call_id": row.tool_call_id}
            answers.setdefault(row.tool_call_id, answer)
    return answers
