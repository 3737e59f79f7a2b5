"""The ``state.db`` of Hermes Agent, which may be running: sessions one by one, those of parents first."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mnemos.errors import InvalidInput, NotFound, StorageError, Unavailable
from mnemos.inputs import MAX_NAME, can_be_name
from mnemos.storage import HermesState, hermes_state
from mnemos.storage.foreign import HermesSession
from mnemos.text.fences import strip_fences_in_content
from mnemos.transfer.foreign_files import Tell, filled, is_folder, source_of
from mnemos.transfer.reader import BEGINNING, Conversation, Item, Left, Mark, Reader, Said, Source, Unread

_SPOKEN: Final = frozenset({"user", "assistant", "tool"})
# How Hermes marks content that is not plain text.
_ENCODED: Final = "\0json:"
_CUT: Final = "… [cut]"
# A text of this length that comes again in a compacted session is a copy; a shorter one may be said twice.
_SURELY_A_COPY: Final = 40
_ABOUT: Final = ("cwd", "git_branch", "display_name", "chat_id", "thread_id")
KIND: Final = "hermes"
_STATE: Final = "state.db"
_LOG: Final = "-wal"
# Of a message. What a store takes is less, and is its business.
_LONGEST: Final = 1 << 30


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


def find(path: Path, tell: Tell) -> Iterator[Source]:
    """A ``state.db``, or the one in a folder."""
    file = path / _STATE if is_folder(path) else path
    source = source_of(file, tell)
    if source is None:
        return
    log = file.with_name(file.name + _LOG)
    try:
        # What was written last stands beside it, as long as Hermes runs.
        found = log.stat()
    except OSError:
        yield source
    else:
        changed = max(source.changed_ns, found.st_mtime_ns)
        yield replace(source, size=source.size + found.st_size, changed_ns=changed)


def read(source: Source, mark: Mark = BEGINNING) -> Iterator[Item]:  # noqa: ARG001
    """Every session, a mark after each; where reading begins is not asked, it begins at the first."""
    number = 0
    try:
        with hermes_state(source.path) as state:
            ids = parents_first(state.parents())
            for number, session_id in enumerate(ids, start=1):
                yield from _session(state, session_id, number)
                # Before the end: only the last mark says that all was read.
                yield Mark(source.size * number // (len(ids) + 1), number)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{source.path} holds text that is not UTF-8: {exc}") from exc
    except (NotFound, StorageError, Unavailable) as exc:
        raise InvalidInput(str(exc)) from exc
    yield Mark(source.size, number)


READER: Final = Reader(KIND, "Hermes Agent", find, read, resumes=False)


def parents_first(parents: Mapping[str, str | None]) -> list[str]:
    """The sessions in their order, but none before the one that it follows."""
    ordered: dict[str, None] = {}
    for session_id in parents:
        line: list[str] = []
        above: str | None = session_id
        while above is not None and above in parents and above not in ordered and above not in line:
            line.append(above)
            above = parents[above]
        ordered |= dict.fromkeys(reversed(line))
    return list(ordered)


def _session(state: HermesState, session_id: str, number: int) -> Iterator[Item]:
    if not isinstance(session_id, str) or not can_be_name("id", session_id):
        yield Unread(number, f"session {session_id!r:.100} has an id that none can have")
        return
    try:
        found = state.session(session_id)
    except InvalidInput as exc:
        yield Unread(number, str(exc))
        return
    if found is None:
        # Gone since the list was read.
        return
    session = as_session(found, before=math.inf, longest=_LONGEST)
    said = session["messages"]
    left = len(found.messages) - len(said)
    if left:
        yield Left("messages that were taken back, copied or empty", left)
    if not said:
        return
    yield _conversation(session)
    tokens = (session["input_tokens"], session["output_tokens"])
    for message in said:
        fields = {name: value for name, value in message.items() if name != "id"}
        yield Said(session_id, f"{session_id}/{message.get('id')}", fields, (), *tokens)
        tokens = (0, 0)


def _conversation(session: Mapping[str, Any]) -> Conversation:
    metadata = session["metadata"] or {}
    return Conversation(
        session["id"],
        session["source"],
        started_at=session["started_at"] if math.isfinite(session["started_at"]) else None,
        model=session["model"],
        title=session["title"],
        parent_id=session["parent_session_id"],
        user_id=session["user_id"],
        model_config=session["model_config"],
        end_reason=session["end_reason"],
        metadata=metadata | filled(program=KIND),
        ended_at=session["ended_at"],
        archived=session["archived"],
    )
