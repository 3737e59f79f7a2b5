"""Transcripts: export and import of whole sessions, as dictionaries and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from io import BufferedReader
from itertools import chain, islice
from typing import IO, Any

import msgspec
from msgspec.structs import replace

from mnemos.errors import InvalidInput, TooLarge
from mnemos.inputs import suggest
from mnemos.sessions import echoes
from mnemos.sessions.records import (
    MESSAGE_FIELDS,
    dump_json,
    message_dict,
    new_message,
    new_session,
    session_dict,
)
from mnemos.sessions.session_types import ExportedSession
from mnemos.storage.base import MessageRow, NewMessage, SessionRow, Storage, Writes
from mnemos.text.secrets import Redact

# A page is one short read and a batch one short write. Both are smaller if messages are long.
PAGE = 500
_PAGE_CHARACTERS = 2_000_000
BATCH = 200
_BATCH_CHARACTERS = 200_000
# Seconds spent on indexing after each batch, so that searches stay fast during an import.
INDEX_SECONDS = 0.2
LONGEST_LINE = 40 << 20
"""The maximum size of a session in a JSONL file. Reading one takes three times as much memory."""

Placed = Callable[[int, int], None]
"""Called with the number of a message in its session, from 1, and its new id."""


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A checked message. A ``forgotten`` one is empty and marked as such."""

    message: NewMessage
    forgotten: bool = False
    retired: bool = False


@dataclass(frozen=True, slots=True)
class IncomingSession:
    session: SessionRow
    messages: Iterable[IncomingMessage]


Check = Callable[[Mapping[str, Any]], IncomingSession]


class Outcome(StrEnum):
    """The result of storing a session."""

    CREATED = "created"
    COMPLETED = "completed"
    """It had only the first messages, and now has all."""
    SAME = "same"
    """It had all messages."""
    LONGER = "longer"
    """It had all messages, and more."""
    OTHER = "other"
    """It has different messages and is left unchanged."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import. ``skipped`` sessions existed already.

    ``created`` maps each session that this import created to its number of messages.
    """

    sessions: tuple[str, ...]
    messages: int
    skipped: tuple[str, ...]
    created: dict[str, int]


def export_session(storage: Storage, session_id: str) -> ExportedSession | None:
    """Return a session with its messages, or None if it is unknown."""
    row = storage.read(lambda tx: tx.sessions.get(session_id))
    if row is None:
        return None
    return _export(storage, row)


def iterate_sessions(
    storage: Storage,
    source: str | None,
    projects: Sequence[str] | None = None,
    span: tuple[float | None, float | None] = (None, None),
) -> Iterator[ExportedSession]:
    """Yield the sessions that started in a span, by id, with no transaction open between them."""
    since, until = span
    for row in read_sessions(storage, source, projects):
        if (since is None or row.started_at >= since) and (until is None or row.started_at < until):
            yield _export(storage, row)


def read_sessions(
    storage: Storage, source: str | None = None, projects: Sequence[str] | None = None
) -> Iterator[SessionRow]:
    """Yield the rows of all sessions by id, without their messages."""
    after = ""
    while page := storage.read(
        lambda tx: tx.sessions.page(source=source, after=after, limit=PAGE, projects=projects)  # noqa: B023
    ):
        yield from page
        after = page[-1].id


def read_messages(storage: Storage, session_id: str) -> Iterator[MessageRow]:
    """Yield the messages of a session, read in short pages."""
    after, limit = 0, 16
    while True:
        page = storage.read(
            lambda tx: tx.sessions.messages(session_id, after=after, limit=limit)  # noqa: B023
        )
        yield from page
        if len(page) < limit:
            return
        after = page[-1].id
        characters = max(1, sum(map(_length, page)))
        limit = max(1, min(PAGE, limit * _PAGE_CHARACTERS // characters))


def _export(storage: Storage, row: SessionRow) -> ExportedSession:
    session = session_dict(row)
    # A revision is only meaningful in this home.
    del session["revision"]
    return {**session, "messages": list(map(message_dict, read_messages(storage, row.id)))}


def check_sessions(
    sessions: Iterable[Mapping[str, Any]], *, now: float, redact: Redact, max_bytes: int
) -> list[IncomingSession]:
    """Check all sessions and return them with parents first. The first mistake raises InvalidInput."""
    if not isinstance(sessions, Iterable) or isinstance(sessions, (str, bytes, Mapping)):
        raise InvalidInput(f"sessions must be a list, not {type(sessions).__name__}. Nothing was imported.")
    incoming: dict[str, IncomingSession] = {}
    for number, item in enumerate(sessions, start=1):
        try:
            one = _check_session(item, now=now, redact=redact, max_bytes=max_bytes)
        except InvalidInput as exc:
            raise type(exc)(f"session {number}: {str(exc).rstrip('.')}. Nothing was imported.") from exc
        if one.session.id in incoming:
            raise InvalidInput(f"session {number}: {one.session.id!r} occurs twice. Nothing was imported.")
        if isinstance(sessions, SessionLines):
            again = sessions.reread(partial(_check_session, now=now, redact=redact, max_bytes=max_bytes))
            one = IncomingSession(one.session, again)
        incoming[one.session.id] = one
    parents = {session_id: one.session.parent_session_id for session_id, one in incoming.items()}
    return [incoming[session_id] for session_id in sort_parents_first(parents)]


def store(
    storage: Storage,
    incoming: Sequence[IncomingSession],
    now: float,
    progress: Callable[[float], None] | None = None,
) -> Imported:
    """Store checked sessions in short transactions. Existing ones are completed or skipped."""
    done: list[str] = []
    skipped: list[str] = []
    created: dict[str, int] = {}
    messages = 0
    for number, one in enumerate(incoming):
        if progress:
            progress(number / len(incoming))
        outcome, added = store_session(storage, one.session, one.messages, now=now)
        messages += added
        (done if outcome in (Outcome.CREATED, Outcome.COMPLETED) else skipped).append(one.session.id)
        if outcome is Outcome.CREATED:
            created[one.session.id] = added
        storage.catch_up(INDEX_SECONDS)
    storage.catch_up()
    return Imported(tuple(done), messages, tuple(skipped), created)


def store_session(
    storage: Storage,
    session: SessionRow,
    messages: Iterable[IncomingMessage],
    *,
    now: float,
    placed: Placed = lambda _number, _id: None,
) -> tuple[Outcome, int]:
    """Store a session or its missing messages; return the outcome and how many were added.

    Transactions are short, and calling it again resumes an interrupted import. An unknown parent is left out.
    """
    coming = iter(messages)
    first = take_batch(coming)
    ids = storage.write(lambda tx: _create(tx, session, first, now))
    if ids is not None:
        _report_places(placed, 0, ids)
        added = _append_rest(storage, session.id, coming, len(ids), now, placed)
        # Another process is writing to the session, so the rest would mix with its messages.
        return (Outcome.OTHER, len(ids)) if added is None else (Outcome.CREATED, len(ids) + added)
    there = read_messages(storage, session.id)
    coming = chain(first, coming)
    retired: list[int] = []
    for number, one in enumerate(coming, start=1):
        row = next(there, None)
        if row is None:
            _retire(storage, session.id, retired)
            added = _append_rest(storage, session.id, chain([one], coming), number - 1, now, placed)
            return (Outcome.OTHER, 0) if added is None else (Outcome.COMPLETED, added)
        if not is_same(row, one):
            return Outcome.OTHER, 0
        placed(number, row.id)
        if one.retired and not row.retired:
            retired.append(row.id)
    if next(there, None) is not None:
        return Outcome.LONGER, 0
    _retire(storage, session.id, retired)
    return Outcome.COMPLETED if retired else Outcome.SAME, 0


def _retire(storage: Storage, session_id: str, message_ids: Sequence[int]) -> None:
    """Retire the messages that were retired in the exported session."""

    def work(tx: Writes, some: Sequence[int]) -> None:
        for message_id in some:
            tx.sessions.retire(session_id, message_id, message_id)

    for start in range(0, len(message_ids), BATCH):
        storage.write(partial(work, some=message_ids[start : start + BATCH]))


def is_same(row: MessageRow, incoming: IncomingMessage) -> bool:
    """True if a stored message equals an incoming one. A forgotten one is compared by role and time."""
    new = incoming.message
    if (row.role, row.timestamp) != (new.role, new.timestamp):
        return False
    return row.forgotten or incoming.forgotten or row.content == new.content


def _create(tx: Writes, session: SessionRow, first: list[IncomingMessage], now: float) -> list[int] | None:
    """Create the session with its first messages, or return None if the id exists."""
    parent = session.parent_session_id
    if parent is not None and tx.sessions.get(parent) is None:
        session = replace(session, parent_session_id=None)
    return append_batch(tx, session.id, first, now) if tx.sessions.create(session) else None


def _append_rest(
    storage: Storage,
    session_id: str,
    messages: Iterator[IncomingMessage],
    number: int,
    now: float,
    placed: Placed,
) -> int | None:
    """Append the rest and return the number, or None if another process appended since."""
    before = number
    while batch := take_batch(messages):
        ids = storage.write(
            lambda tx: (
                append_batch(tx, session_id, batch, now)
                if tx.sessions.message_count(session_id) == number  # noqa: B023
                else None
            )
        )
        if ids is None:
            return None
        _report_places(placed, number, ids)
        number += len(ids)
        storage.catch_up(INDEX_SECONDS)
    return number - before


def append_batch(tx: Writes, session_id: str, batch: Sequence[IncomingMessage], now: float) -> list[int]:
    """Append checked messages, keep them forgotten or retired if marked so, and return their ids."""
    if not batch:
        return []
    # An import doesn't change the session's time of last write.
    ids = echoes.append(tx, session_id, [incoming.message for incoming in batch], 0.0)
    for message_id, incoming in zip(ids, batch, strict=True):
        if incoming.forgotten:
            tx.sessions.forget_message(message_id, tool_calls=incoming.message.tool_calls, at=now)
        if incoming.retired:
            tx.sessions.retire(session_id, message_id, message_id)
    return ids


def take_batch(messages: Iterator[IncomingMessage]) -> list[IncomingMessage]:
    """Take the messages that fit into one short transaction."""
    batch: list[IncomingMessage] = []
    characters = 0
    for incoming in islice(messages, BATCH):
        batch.append(incoming)
        characters += _length(incoming.message)
        if characters > _BATCH_CHARACTERS:
            break
    return batch


def _report_places(placed: Placed, number: int, ids: list[int]) -> None:
    for position, message_id in enumerate(ids, number + 1):
        placed(position, message_id)


def _length(message: MessageRow | NewMessage) -> int:
    return len(message.content or "") + len(message.tool_calls or "") + len(message.metadata or "")


def write_lines(sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
    """Write one session per line and return their number."""
    count = 0
    for session in sessions:
        stream.write(dump_json(session) + "\n")
        count += 1
    return count


def read_lines(stream: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the sessions of a JSONL stream. An invalid line raises InvalidInput with its number."""
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield _decode_line(line, number)


class SessionLines:
    """The sessions of a JSONL file, which is read twice to keep only one in memory at a time."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._place = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        number = 0
        while line := self._file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise TooLarge(
                    f"line {number} has more than {LONGEST_LINE >> 20} MB. Nothing was imported. "
                    "Move sessions of this size in an archive, with mnemos export and mnemos import."
                )
            if line.strip():
                yield _decode_line(line, number)
            self._place = self._file.tell()

    def reread(self, check: Check) -> Iterable[IncomingMessage]:
        """Return the messages of the current session, read as they are iterated."""
        return _Reread(self._file, self._place, check)


@dataclass(frozen=True, slots=True)
class _Reread:
    file: BufferedReader
    place: int
    check: Check

    def __iter__(self) -> Iterator[IncomingMessage]:
        self.file.seek(self.place)
        yield from self.check(_decode_line(self.file.readline(LONGEST_LINE), 1)).messages


def _decode_line(line: str | bytes, number: int) -> dict[str, Any]:
    try:
        session = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            # An export may contain lone surrogates, which msgspec refuses.
            session = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise InvalidInput(f"line {number} is not JSON: {exc}. Nothing was imported.") from exc
    if not isinstance(session, dict):
        raise InvalidInput(f"line {number} is not a session. Nothing was imported.")
    return session


def _check_session(item: Mapping[str, Any], *, now: float, redact: Redact, max_bytes: int) -> IncomingSession:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"A {type(item).__name__} is not a session.")
    listed = item.get("messages", [])
    if not isinstance(listed, list):
        raise InvalidInput("messages must be a list")
    messages = []
    for number, message in enumerate(listed, start=1):
        try:
            messages.append(check_message(message, now=now, redact=redact, max_bytes=max_bytes))
        except InvalidInput as exc:
            raise type(exc)(f"message {number}: {exc}") from exc
    started = messages[0].message.timestamp if messages else now
    session = new_session(item, started=started, redact=redact, max_bytes=max_bytes)
    if item.get("updated_at") is None:
        latest = max((one.message.timestamp for one in messages), default=started)
        session = replace(session, updated_at=max(session.updated_at, session.started_at, latest))
    return IncomingSession(session, messages)


def check_message(message: Any, *, now: float, redact: Redact, max_bytes: int) -> IncomingMessage:
    """Check a message of an export. A forgotten message has no content."""
    if not isinstance(message, Mapping):
        raise InvalidInput(f"it must be a dict, not {type(message).__name__}")
    unknown = set(message) - MESSAGE_FIELDS - {"id", "session_id", "forgotten", "retired"}
    if unknown:
        first = min(map(str, unknown))
        raise InvalidInput(f"it has the unknown field {first!r}.{suggest(first, MESSAGE_FIELDS)}".rstrip("."))
    forgotten = message.get("forgotten") is True
    if forgotten:
        message = {**message, "content": None}
    return IncomingMessage(
        new_message(message, now=now, redact=redact, max_bytes=max_bytes, any_role=True),
        forgotten,
        retired=message.get("retired") is True,
    )


def sort_parents_first(parents: Mapping[str, str | None], *, allow_cycles: bool = False) -> list[str]:
    """Return the sessions in order, but each after its parent. A cycle raises InvalidInput."""
    ordered: dict[str, None] = {}
    for session_id in parents:
        line: dict[str, None] = {}
        above: str | None = session_id
        while above is not None and above in parents and above not in ordered:
            if above in line:
                if allow_cycles:
                    break
                raise InvalidInput(f"session {above!r} is its own ancestor. Nothing was imported.")
            line[above] = None
            above = parents[above]
        ordered |= dict.fromkeys(reversed(line))
    return list(ordered)
