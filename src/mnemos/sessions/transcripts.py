"""Sessions leaving and entering whole: as dictionaries, and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.inputs import moment, name, optional_moment, optional_name, whole
from mnemos.sessions.model import (
    MESSAGE_FIELDS,
    dumped,
    message_dict,
    new_message,
    optional_json,
    optional_text,
    session_dict,
)
from mnemos.sessions.redaction import Redact
from mnemos.storage.base import NewMessage, SessionRow, Storage, Writes

# A page of an export is one short read; a batch of an import one short write.
PAGE = 500
BATCH = 200
# After each batch, what it left pending is indexed, so that searches stay quick meanwhile.
INDEX_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Incoming:
    """A checked session, ready to be stored. ``forgotten``: positions of messages that say nothing."""

    session: SessionRow
    messages: Sequence[NewMessage]
    forgotten: frozenset[int]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. ``skipped`` sessions were there already.

    ``created``: the sessions that are wholly its own, with how many messages they have.
    """

    sessions: tuple[str, ...]
    messages: int
    skipped: tuple[str, ...]
    created: dict[str, int]


def exported(storage: Storage, session_id: str) -> dict[str, Any] | None:
    """A session with its messages; None when unknown."""
    row = storage.read(lambda tx: tx.sessions.get(session_id))
    if row is None:
        return None
    return session_dict(row) | {"messages": list(_messages(storage, session_id))}


def all_exported(storage: Storage, source: str | None) -> Iterator[dict[str, Any]]:
    """Every session, by id; no transaction stays open while the caller works."""
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


def checked(
    sessions: Iterable[Mapping[str, Any]], *, now: float, redact: Redact, max_bytes: int
) -> list[Incoming]:
    """Every session and message checked, parents before children; the first mistake raises."""
    if not isinstance(sessions, Iterable) or isinstance(sessions, (str, bytes, Mapping)):
        raise InvalidInput(f"a {type(sessions).__name__} is no list of sessions; nothing was imported")
    incoming: dict[str, Incoming] = {}
    for number, item in enumerate(sessions, start=1):
        try:
            one = _incoming(item, now=now, redact=redact, max_bytes=max_bytes)
        except InvalidInput as exc:
            raise type(exc)(f"session {number}: {exc}; nothing was imported") from exc
        if one.session.id in incoming:
            raise InvalidInput(f"session {number}: {one.session.id!r} occurs twice; nothing was imported")
        incoming[one.session.id] = one
    return _parents_first(incoming)


def store(
    storage: Storage,
    incoming: Sequence[Incoming],
    now: float,
    progress: Callable[[float], None] | None = None,
) -> Imported:
    """Write checked sessions, each in short transactions; existing ones are completed or skipped."""
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
    """Create the session, or find how far an interrupted import got; None: nothing is missing."""
    parent = one.session.parent_session_id
    session = one.session
    if parent is not None and tx.sessions.get(parent) is None:
        # Exported without its parent: a session alone is better than none.
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
    """One session a line; how many."""
    count = 0
    for session in sessions:
        stream.write(dumped(session) + "\n")
        count += 1
    return count


def read_lines(stream: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The sessions of a JSONL text; a line that is none raises InvalidInput with its number."""
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


def _incoming(item: Mapping[str, Any], *, now: float, redact: Redact, max_bytes: int) -> Incoming:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"a {type(item).__name__} is not a session")
    messages = item.get("messages", [])
    if not isinstance(messages, list):
        raise InvalidInput("messages must be a list")
    checked_messages = [
        incoming_message(message, number, now=now, redact=redact, max_bytes=max_bytes)
        for number, message in enumerate(messages, start=1)
    ]
    started = checked_messages[0].timestamp if checked_messages else now
    forgotten = frozenset(
        position for position, message in enumerate(messages) if message.get("forgotten") is True
    )
    session = incoming_session(item, started=started, redact=redact, max_bytes=max_bytes)
    return Incoming(session, checked_messages, forgotten)


def incoming_session(
    item: Mapping[str, Any], *, started: float, redact: Redact, max_bytes: int
) -> SessionRow:
    """A session without its messages, checked; ``started`` stands in where it does not say when it began."""
    began = item.get("started_at")
    return SessionRow(
        id=name("id", item.get("id")),
        source=name("source", item.get("source", "import")),
        user_id=optional_name("user_id", item.get("user_id")),
        model=optional_name("model", item.get("model")),
        model_config=optional_json("model_config", item.get("model_config"), redact, max_bytes),
        system_prompt=_redacted(optional_text("system_prompt", item.get("system_prompt"), max_bytes), redact),
        parent_session_id=optional_name("parent_session_id", item.get("parent_session_id")),
        started_at=moment("started_at", started if began is None else began),
        ended_at=optional_moment("ended_at", item.get("ended_at")),
        end_reason=optional_name("end_reason", item.get("end_reason")),
        message_count=0,
        tool_call_count=0,
        input_tokens=whole("input_tokens", item.get("input_tokens", 0)),
        output_tokens=whole("output_tokens", item.get("output_tokens", 0)),
        title=_redacted(optional_name("title", item.get("title")), redact),
        metadata=optional_json("metadata", item.get("metadata"), redact, max_bytes),
        archived=bool(item.get("archived", False)),
    )


def incoming_message(message: Any, number: int, *, now: float, redact: Redact, max_bytes: int) -> NewMessage:
    """A message of a session, checked; one that was forgotten says nothing."""
    if not isinstance(message, Mapping):
        raise InvalidInput(f"message {number} is a {type(message).__name__}")
    unknown = set(message) - MESSAGE_FIELDS - {"id", "session_id", "forgotten"}
    if unknown:
        raise InvalidInput(f"message {number} has the unknown field {sorted(unknown)[0]!r}")
    if message.get("forgotten") is True:
        message = {**message, "content": None}
    try:
        return new_message(message, now=now, redact=redact, max_bytes=max_bytes)
    except InvalidInput as exc:
        raise type(exc)(f"message {number}: {exc}") from exc


def _parents_first(incoming: dict[str, Incoming]) -> list[Incoming]:
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


def _redacted(text: str | None, redact: Redact) -> str | None:
    return None if text is None else redact(text)
