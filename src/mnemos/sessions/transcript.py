"""Transcripts: whole sessions exported and imported, as dictionaries and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.sessions.records import (
    MESSAGE_FIELDS,
    dump_json,
    message_dict,
    new_message,
    new_session,
    session_dict,
)
from mnemos.storage.base import NewMessage, SessionRow, Storage, Writes
from mnemos.text.secrets import Redact

# A page of an export is one short read; a batch of an import is one short write.
PAGE = 500
BATCH = 200
# Time to index pending messages after each batch, so that searches stay fast meanwhile.
INDEX_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Incoming:
    """A checked session. ``forgotten`` are the positions of erased messages."""

    session: SessionRow
    messages: Sequence[NewMessage]
    forgotten: frozenset[int]


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import. ``skipped`` sessions existed already.

    ``created`` maps the sessions that are entirely its own to their number of messages.
    """

    sessions: tuple[str, ...]
    messages: int
    skipped: tuple[str, ...]
    created: dict[str, int]


def export_session(storage: Storage, session_id: str) -> dict[str, Any] | None:
    """Return a session with its messages; None if it is unknown."""
    row = storage.read(lambda tx: tx.sessions.get(session_id))
    if row is None:
        return None
    return session_dict(row) | {"messages": list(_messages(storage, session_id))}


def iterate_sessions(storage: Storage, source: str | None) -> Iterator[dict[str, Any]]:
    """Yield every session by id; no transaction stays open between them."""
    after = ""
    while True:
        page = storage.read(
            lambda tx: tx.sessions.page(source=source, after=after, limit=PAGE)  # noqa: B023
        )
        for row in page:
            yield session_dict(row) | {"messages": list(_messages(storage, row.id))}
        if len(page) < PAGE:
            return
        after = page[-1].id


def check_sessions(
    sessions: Iterable[Mapping[str, Any]], *, now: float, redact: Redact, max_bytes: int
) -> list[Incoming]:
    """Check every session and message; parents come before children, the first mistake raises."""
    if not isinstance(sessions, Iterable) or isinstance(sessions, (str, bytes, Mapping)):
        raise InvalidInput(f"sessions must be a list, not {type(sessions).__name__}; nothing was imported")
    incoming: dict[str, Incoming] = {}
    for number, item in enumerate(sessions, start=1):
        try:
            one = _check_session(item, now=now, redact=redact, max_bytes=max_bytes)
        except InvalidInput as exc:
            raise type(exc)(f"session {number}: {exc}; nothing was imported") from exc
        if one.session.id in incoming:
            raise InvalidInput(f"session {number}: {one.session.id!r} occurs twice; nothing was imported")
        incoming[one.session.id] = one
    return _sort_parents_first(incoming)


def store(
    storage: Storage,
    incoming: Sequence[Incoming],
    now: float,
    progress: Callable[[float], None] | None = None,
) -> Imported:
    """Store checked sessions in short transactions; existing ones are completed or skipped."""
    done: list[str] = []
    skipped: list[str] = []
    created: dict[str, int] = {}
    count = 0
    for number, one in enumerate(incoming):
        if progress:
            progress(number / len(incoming))
        there = storage.write(lambda tx: _begin(tx, one))  # noqa: B023
        if there is None:
            skipped.append(one.session.id)
            continue
        for start in range(there, len(one.messages), BATCH):
            storage.write(lambda tx: _append(tx, one, start, now))  # noqa: B023
            storage.catch_up(INDEX_SECONDS)
        done.append(one.session.id)
        if there == 0:
            created[one.session.id] = len(one.messages)
        count += len(one.messages) - there
    storage.catch_up()
    return Imported(tuple(done), count, tuple(skipped), created)


def _append(tx: Writes, one: Incoming, start: int, now: float) -> None:
    batch = one.messages[start : start + BATCH]
    ids = tx.sessions.append(one.session.id, batch)
    for position, (message_id, message) in enumerate(zip(ids, batch, strict=True), start):
        if position in one.forgotten:
            tx.sessions.forget_message(message_id, tool_calls=message.tool_calls, at=now)


def _begin(tx: Writes, one: Incoming) -> int | None:
    """Create the session and return the number of messages it has; None if nothing is missing."""
    parent = one.session.parent_session_id
    session = one.session
    if parent is not None and tx.sessions.get(parent) is None:
        # Exported without its parent.
        session = replace(session, parent_session_id=None)
    if tx.sessions.create(session):
        return 0
    there = tx.sessions.messages(session.id, after=0, limit=len(one.messages))
    same = all(
        (row.role, row.timestamp, row.content) == (new.role, new.timestamp, new.content)
        for row, new in zip(there, one.messages, strict=False)
    )
    return len(there) if same and len(there) < len(one.messages) else None


def write_lines(sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
    """Write one session per line and return their number."""
    count = 0
    for session in sessions:
        stream.write(dump_json(session) + "\n")
        count += 1
    return count


def read_lines(stream: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the sessions of a JSONL text; an invalid line raises InvalidInput with its number."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            # Not msgspec: it refuses the lone surrogates that an export may hold.
            session = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise InvalidInput(f"line {number} is not JSON: {exc}; nothing was imported") from exc
        if not isinstance(session, dict):
            raise InvalidInput(f"line {number} is not a session; nothing was imported")
        yield session


def _messages(storage: Storage, session_id: str) -> Iterator[dict[str, Any]]:
    after = 0
    while True:
        page = storage.read(
            lambda tx: tx.sessions.messages(session_id, after=after, limit=PAGE)  # noqa: B023
        )
        yield from map(message_dict, page)
        if len(page) < PAGE:
            return
        after = page[-1].id


def _check_session(item: Mapping[str, Any], *, now: float, redact: Redact, max_bytes: int) -> Incoming:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"a {type(item).__name__} is not a session")
    messages = item.get("messages", [])
    if not isinstance(messages, list):
        raise InvalidInput("messages must be a list")
    checked_messages = [
        check_message(message, number, now=now, redact=redact, max_bytes=max_bytes)
        for number, message in enumerate(messages, start=1)
    ]
    started = checked_messages[0].timestamp if checked_messages else now
    forgotten = frozenset(
        position for position, message in enumerate(messages) if message.get("forgotten") is True
    )
    session = new_session(item, started=started, redact=redact, max_bytes=max_bytes)
    return Incoming(session, checked_messages, forgotten)


def check_message(message: Any, number: int, *, now: float, redact: Redact, max_bytes: int) -> NewMessage:
    """Check a message of an export; a forgotten one has no content."""
    if not isinstance(message, Mapping):
        raise InvalidInput(f"message {number} must be a dict, not {type(message).__name__}")
    unknown = set(message) - MESSAGE_FIELDS - {"id", "session_id", "forgotten"}
    if unknown:
        raise InvalidInput(f"message {number} has the unknown field {sorted(unknown)[0]!r}")
    if message.get("forgotten") is True:
        message = {**message, "content": None}
    try:
        return new_message(message, now=now, redact=redact, max_bytes=max_bytes)
    except InvalidInput as exc:
        raise type(exc)(f"message {number}: {exc}") from exc


def _sort_parents_first(incoming: dict[str, Incoming]) -> list[Incoming]:
    ordered: dict[str, Incoming] = {}
    for session_id in incoming:
        line: dict[str, Incoming] = {}
        above: str | None = session_id
        while above is not None and above in incoming and above not in ordered:
            if above in line:
                raise InvalidInput(f"session {above!r} is its own ancestor; nothing was imported")
            line[above] = incoming[above]
            above = incoming[above].session.parent_session_id
        ordered |= dict(reversed(line.items()))
    return list(ordered.values())
