"""Reader of the ``state.db`` of Hermes Agent, which may be running. Parents come before children."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mnemos.errors import InvalidInput, NotFound, StorageError, Unavailable
from mnemos.inputs import MAX_NAME, can_be_name
from mnemos.sessions.transcript import sort_parents_first
from mnemos.storage import HermesState, hermes_state
from mnemos.storage.imports import HermesSession
from mnemos.text.fences import strip_fences_in_content
from mnemos.transfer.foreign_files import clean_name, find_database, parse_count, parse_time
from mnemos.transfer.reader import (
    BEGINNING,
    Conversation,
    ImportedMessage,
    Item,
    Mark,
    Reader,
    Skipped,
    SourceFile,
    Unreadable,
)

_SPOKEN: Final = frozenset({"user", "assistant", "tool"})
# Hermes prefixes content other than plain text with this.
_ENCODED: Final = "\0json:"
_CUT: Final = "… [cut]"
# In a compacted session, a repeated text of this length is a copy. A shorter one may be said twice.
_LEAST_COPY: Final = 40
_ABOUT: Final = ("cwd", "git_branch", "display_name", "chat_id", "thread_id")
KIND: Final = "hermes"
# The limit of a message. The store's limit is lower.
_LONGEST: Final = 1 << 30
_LONGEST_PROMPT: Final = 100_000


def convert_session(found: HermesSession, *, before: float, longest: int) -> dict[str, Any]:
    """Convert a session for ``import_sessions``, with messages before a moment.

    Messages longer than ``longest`` characters are cut.
    """
    row = found.columns
    messages = [message for one in _drop_copies(found.messages) if (message := _message(one, longest))]
    said = [message for message in messages if message["timestamp"] < before]
    started = parse_time(row.get("started_at"))
    return {
        "id": row["id"],
        "source": clean_name(row.get("source")) or "hermes",
        "user_id": clean_name(row.get("user_id")),
        "model": clean_name(row.get("model")),
        "model_config": _decode(row.get("model_config")),
        "system_prompt": _prompt(row.get("system_prompt")),
        "parent_session_id": clean_name(row.get("parent_session_id")),
        "started_at": started
        if started is not None
        else min((message["timestamp"] for message in said), default=before),
        "ended_at": parse_time(row.get("ended_at")),
        "end_reason": clean_name(row.get("end_reason")),
        "input_tokens": parse_count(row.get("input_tokens")),
        "output_tokens": parse_count(row.get("output_tokens")),
        "title": clean_name(row.get("title")),
        "archived": bool(row.get("archived")),
        "metadata": {key: str(row[key])[:MAX_NAME] for key in _ABOUT if row.get(key)} or None,
        "messages": said,
    }


def _drop_copies(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield rows without undone messages and copies made by compaction in place."""
    rows = [row for row in rows if row.get("active", 1) != 0 or row.get("compacted")]
    if not any(row.get("compacted") for row in rows):
        yield from rows
        return
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = tuple(row.get(name) for name in ("role", "content", "tool_call_id", "tool_calls"))
        is_long = key[2] or key[3] or len(str(key[1] or "")) >= _LEAST_COPY
        if is_long and key in seen:
            continue
        seen.add(key)
        yield row


def _message(row: Mapping[str, Any], longest: int) -> dict[str, Any] | None:
    role = row.get("role")
    timestamp = parse_time(row.get("timestamp"))
    if role not in _SPOKEN or timestamp is None:
        return None
    content = _content(row.get("content"), longest)
    if role != "tool":
        # Fences identify results of the memory's own tools.
        content = strip_fences_in_content(content)
    calls = _decode(row.get("tool_calls"))
    if not content and not calls:
        return None
    fields = {
        # An import recognises the message by its row id.
        "id": row.get("id"),
        "role": role,
        "content": content or None,
        "tool_name": clean_name(row.get("tool_name")),
        "tool_calls": calls if isinstance(calls, list) else None,
        "tool_call_id": clean_name(row.get("tool_call_id")),
        "token_count": parse_count(row.get("token_count")) or None,
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
        parts = _decode(text.removeprefix(_ENCODED))
        if isinstance(parts, list) and len(text) <= longest:
            return parts
        if isinstance(parts, dict) and len(text) <= longest:
            return [parts]
        text = text.removeprefix(_ENCODED)
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


def _prompt(value: Any) -> str | None:
    content = _content(value, _LONGEST_PROMPT)
    return content if isinstance(content, str) and content.strip() else None


def _decode(text: Any) -> Any:
    """Decode JSON; None if it is not JSON."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:  # noqa: ARG001
    """Yield every session and a mark after each, always from the first one."""
    number = 0
    try:
        with hermes_state(source.path) as state:
            ids = sort_parents_first(state.parents(), allow_cycles=True)
            for number, session_id in enumerate(ids, start=1):
                yield from _read_session(state, session_id, number)
                # Yielded before the end, because only the last mark may say that everything was read.
                yield Mark(source.size * number // (len(ids) + 1), number)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{source.path} has text that is not UTF-8: {exc}") from exc
    except (NotFound, StorageError, Unavailable) as exc:
        raise InvalidInput(str(exc)) from exc
    yield Mark(source.size, number)


READER: Final = Reader(KIND, "Hermes Agent", find_database("state.db"), read, resumes=False)


def _read_session(state: HermesState, session_id: str, number: int) -> Iterator[Item]:
    if not isinstance(session_id, str) or not can_be_name("id", session_id):
        yield Unreadable(number, f"session {session_id!r:.100} has an invalid id")
        return
    try:
        found = state.session(session_id)
    except InvalidInput as exc:
        yield Unreadable(number, str(exc))
        return
    if found is None:
        # The session was deleted since the list was read.
        return
    session = convert_session(found, before=math.inf, longest=_LONGEST)
    said = session["messages"]
    left = len(found.messages) - len(said)
    if left:
        yield Skipped("messages that were undone, copied or empty", left)
    yield _make_conversation(session)
    tokens = (session["input_tokens"], session["output_tokens"])
    for message in said:
        fields = {name: value for name, value in message.items() if name != "id"}
        yield ImportedMessage(session_id, f"{session_id}/{message.get('id')}", fields, (), *tokens)
        tokens = (0, 0)


def _make_conversation(session: Mapping[str, Any]) -> Conversation:
    started = session["started_at"]
    same = "model title user_id model_config system_prompt end_reason ended_at archived".split()
    return Conversation(
        session["id"],
        session["source"],
        started_at=started if math.isfinite(started) else None,
        parent_id=session["parent_session_id"],
        metadata=(session["metadata"] or {}) | {"program": KIND},
        may_be_empty=True,
        **{name: session[name] for name in same},
    )
