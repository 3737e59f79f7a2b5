"""Sessions with tool calls, recorded as hosts record them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mnemos.sessions.sessions import Sessions

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def call(call_id: Any, tool: Any = "terminal", **arguments: Any) -> Message:
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def calls(*made: Any) -> Message:
    """An assistant's message with tool calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def answer(call_id: str | None, text: Any = "ok", **more: Any) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text, **more}


def step(call_id: str, tool: str, text: Any = "ok", **arguments: Any) -> list[Message]:
    """A call and its answer."""
    return [calls(call(call_id, tool, **arguments)), answer(call_id, text)]


def record(
    sessions: Sessions, session_id: str, messages: Sequence[Message], *, ended: str = "", **options: Any
) -> str:
    sessions.create_session(session_id, **({"source": "cli"} | options))
    sessions.append_messages(session_id, messages)
    if ended:
        sessions.end_session(session_id, ended)
    return session_id
