"""A session of Hermes as one of ours: what was said, by whom and when, without what a program added."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mnemos.inputs import MAX_NAME
from mnemos.storage.foreign import HermesSession
from mnemos.text.fences import strip_fences_in_content

_SPOKEN: Final = frozenset({"user", "assistant", "tool"})
# How Hermes marks content that is not plain text.
_ENCODED: Final = "\0json:"
_CUT: Final = "… [cut]"
# A text of this length that comes again in a compacted session is a copy; a shorter one may be said twice.
_SURELY_A_COPY: Final = 40
_ABOUT: Final = ("cwd", "git_branch", "display_name", "chat_id", "thread_id")


def as_session(found: HermesSession, *, before: float, longest: int) -> dict[str, Any]:
    """The session as an import takes it, without what was said from that moment on.

    ``longest``: the characters that a message may have; more are cut.
    """
    row = found.columns
    messages = [message for one in _kept(found.messages) if (message := _message(one, longest))]
    said = [message for message in messages if message["timestamp"] < before]
    started = _moment(row.get("started_at"))
    return {
        "id": row["id"],
        "source": _name(row.get("source")) or "hermes",
        "user_id": _name(row.get("user_id")),
        "model": _name(row.get("model")),
        "model_config": _decoded(row.get("model_config")),
        "parent_session_id": _name(row.get("parent_session_id")),
        "started_at": started if started is not None else min(_times(said), default=before),
        "ended_at": _moment(row.get("ended_at")),
        "end_reason": _name(row.get("end_reason")),
        "input_tokens": _count(row.get("input_tokens")),
        "output_tokens": _count(row.get("output_tokens")),
        "title": _name(row.get("title")),
        "archived": bool(row.get("archived")),
        "metadata": {key: str(row[key])[:MAX_NAME] for key in _ABOUT if row.get(key)} or None,
        "messages": said,
    }


def _kept(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Without what the user took back, and without the copies that compacting a session in place leaves."""
    rows = [row for row in rows if row.get("active", 1) != 0 or row.get("compacted")]
    if not any(row.get("compacted") for row in rows):
        yield from rows
        return
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = tuple(row.get(name) for name in ("role", "content", "tool_call_id", "tool_calls"))
        is_telling = key[2] or key[3] or len(str(key[1] or "")) >= _SURELY_A_COPY
        if is_telling and key in seen:
            continue
        seen.add(key)
        yield row


def _message(row: Mapping[str, Any], longest: int) -> dict[str, Any] | None:
    role = row.get("role")
    timestamp = _moment(row.get("timestamp"))
    if role not in _SPOKEN or timestamp is None:
        return None
    content = strip_fences_in_content(_content(row.get("content"), longest))
    calls = _decoded(row.get("tool_calls"))
    if not content and not calls:
        return None
    fields = {
        # Of the row, by which an import knows the message again.
        "id": row.get("id"),
        "role": role,
        "content": content or None,
        "tool_name": _name(row.get("tool_name")),
        "tool_calls": calls if isinstance(calls, list) else None,
        "tool_call_id": _name(row.get("tool_call_id")),
        "token_count": _count(row.get("token_count")) or None,
        "timestamp": timestamp,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _content(value: Any, longest: int) -> str | list[Any] | None:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if value is None:
        return None
    text = str(value)
    if text.startswith(_ENCODED):
        parts = _decoded(text.removeprefix(_ENCODED))
        if isinstance(parts, list) and len(text) <= longest:
            return parts
        if isinstance(parts, dict) and len(text) <= longest:
            return [parts]
        text = text.removeprefix(_ENCODED)
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


def _decoded(text: Any) -> Any:
    """What a JSON text says; None for one that is none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _name(value: Any) -> str | None:
    """A short text on one line, or nothing."""
    if value is None:
        return None
    line = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    return line[:MAX_NAME] or None


def _moment(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else 0


def _times(messages: Iterable[Mapping[str, Any]]) -> Iterator[float]:
    return (message["timestamp"] for message in messages)
