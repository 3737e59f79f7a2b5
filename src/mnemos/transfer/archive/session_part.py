"""Sessions in an archive: a line for the session, then one for each message.

Messages are read and stored one by one, so that little of a long session is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from mnemos.errors import InvalidInput, Refused
from mnemos.sessions import transcript
from mnemos.sessions.records import message_dict, new_session, session_dict
from mnemos.sessions.transcript import BATCH
from mnemos.storage.base import MessageRow, NewMessage, SessionRow, Storage, Writes
from mnemos.text.secrets import redact
from mnemos.transfer.archive.manifest import MessagePlaces, PartComparison, PartReport

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

# A batch is one short write; a page is one short read.
_BATCH_CHARACTERS: Final = 200_000
_PAGE_CHARACTERS: Final = 2_000_000
_LONGEST_PAGE: Final = 500
Placed = Callable[[int, int], None]
"""Called with the number of a message within its session, from 1, and its id here."""
NAME: Final = "sessions"
FILE: Final = "sessions.jsonl"
_PAGE: Final = 200
# Messages between two rounds of indexing, so that searches stay fast meanwhile.
_INDEX_EVERY: Final = 1_000
# Counted again when a session is stored.
_COUNTED: Final = ("message_count", "tool_call_count")
Numbered = tuple[str, dict[str, Any]]


class Outcome(StrEnum):
    CREATED = "created"
    COMPLETED = "completed"
    """It had the first messages and now has all, or it ended meanwhile."""
    THERE = "there"
    """It had all messages, perhaps more."""
    OTHER = "other"
    """A session of this id has other messages; it is left unchanged."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A checked message. A ``forgotten`` one is empty and marked as such."""

    message: NewMessage
    forgotten: bool = False


class Pages:
    """Reads the messages of sessions in short pages, shorter ones where messages are long."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._limit = 8

    def read(self, session_id: str) -> Iterator[MessageRow]:
        after = 0
        while True:
            limit = self._limit
            page = self._storage.read(
                lambda tx: tx.sessions.messages(session_id, after=after, limit=limit)  # noqa: B023
            )
            yield from page
            if len(page) < limit:
                return
            after = page[-1].id
            long = max(1, sum(map(_length, page)))
            self._limit = max(1, min(_LONGEST_PAGE, limit * _PAGE_CHARACTERS // long))


def store_session(
    storage: Storage,
    session: SessionRow,
    messages: Iterable[Incoming],
    *,
    now: float,
    placed: Placed,
) -> tuple[Outcome, int]:
    """Store a session or what is missing of it; return the outcome and the number of added messages.

    Transactions are short, and a repeated call resumes an interrupted one. A parent that does not exist yet
    is left out: see ``adopt``.
    """
    coming = iter(messages)
    first = _take_batch(coming)
    ids = storage.write(lambda tx: _begin(tx, session, first, now))
    if ids is not None:
        _report_places(placed, 0, ids)
        added = _append_all(storage, session.id, coming, len(ids), now, placed)
        # Another process writes to the session already, so the rest is not mixed in.
        return (Outcome.OTHER, len(ids)) if added is None else (Outcome.CREATED, len(ids) + added)
    return _complete(storage, session, chain(first, coming), now, placed)


def adopt(storage: Storage, session_id: str, parent: str) -> None:
    """Set the parent of a session without one, if it exists; a cycle raises Refused."""

    def work(tx: Writes) -> None:
        row = tx.sessions.get(session_id)
        if row is not None and row.parent_session_id is None and tx.sessions.get(parent) is not None:
            bare = replace(
                row,
                user_id=None,
                model=None,
                title=None,
                model_config=None,
                system_prompt=None,
                metadata=None,
            )
            tx.sessions.fill(replace(bare, parent_session_id=parent))

    storage.write(work)


def is_same(row: MessageRow, incoming: Incoming) -> bool:
    """True if a stored message is this one. A forgotten one is only compared by role and time."""
    new = incoming.message
    if (row.role, row.timestamp) != (new.role, new.timestamp):
        return False
    return row.forgotten or incoming.forgotten or row.content == new.content


def _begin(tx: Writes, session: SessionRow, first: list[Incoming], now: float) -> list[int] | None:
    """Create the session with its first messages; None if the id exists."""
    parent = session.parent_session_id
    if parent is not None and tx.sessions.get(parent) is None:
        session = replace(session, parent_session_id=None)
    return _append(tx, session.id, first, now) if tx.sessions.create(session) else None


def _complete(
    storage: Storage, session: SessionRow, messages: Iterator[Incoming], now: float, placed: Placed
) -> tuple[Outcome, int]:
    there = Pages(storage).read(session.id)
    for number, incoming in enumerate(messages, start=1):
        row = next(there, None)
        if row is None:
            added = _append_all(storage, session.id, chain([incoming], messages), number - 1, now, placed)
            if added is None:
                return Outcome.OTHER, 0
            storage.write(lambda tx: _renew(tx, session))
            return Outcome.COMPLETED, added
        if not is_same(row, incoming):
            return Outcome.OTHER, 0
        placed(number, row.id)
    # With more messages it continued here, not there.
    renewed = next(there, None) is None and storage.write(lambda tx: _renew(tx, session))
    return Outcome.COMPLETED if renewed else Outcome.THERE, 0


def _renew(tx: Writes, session: SessionRow) -> bool:
    """Update the title, tokens and end of a session that continued elsewhere; False if none changed."""
    here = tx.sessions.get(session.id)
    if here is None:
        return False
    tx.sessions.fill(replace(session, parent_session_id=None))
    more = [
        max(0, session.input_tokens - here.input_tokens),
        max(0, session.output_tokens - here.output_tokens),
    ]
    if any(more):
        tx.sessions.add_tokens(session.id, *more)
    if session.ended_at is not None and here.ended_at is None:
        tx.sessions.end(session.id, session.end_reason or "", session.ended_at)
    return tx.sessions.get(session.id) != here


def _append_all(
    storage: Storage,
    session_id: str,
    messages: Iterator[Incoming],
    number: int,
    now: float,
    placed: Placed,
) -> int | None:
    """Append the rest and return how many; None if another process appended meanwhile."""
    added = 0
    while batch := _take_batch(messages):
        ids = storage.write(lambda tx: _append_after(tx, session_id, batch, number + added, now))  # noqa: B023
        if ids is None:
            return None
        _report_places(placed, number + added, ids)
        added += len(ids)
    return added


def _append_after(
    tx: Writes, session_id: str, batch: list[Incoming], number: int, now: float
) -> list[int] | None:
    return _append(tx, session_id, batch, now) if tx.sessions.message_count(session_id) == number else None


def _append(tx: Writes, session_id: str, batch: list[Incoming], now: float) -> list[int]:
    if not batch:
        return []
    ids = tx.sessions.append(session_id, [incoming.message for incoming in batch])
    for message_id, incoming in zip(ids, batch, strict=True):
        if incoming.forgotten:
            tx.sessions.forget_message(message_id, tool_calls=incoming.message.tool_calls, at=now)
    return ids


def _take_batch(messages: Iterator[Incoming]) -> list[Incoming]:
    """Take the next messages: up to a few hundred, fewer long ones."""
    batch: list[Incoming] = []
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


class SessionPart:
    name = NAME

    def __init__(self, memory: Memory, places: MessagePlaces, pointed_at: Callable[[], set[int]]) -> None:
        """``pointed_at`` returns the messages whose places an export has to note."""
        self._memory = memory
        self._storage = memory.storage
        self._places = places
        self._pointed_at = pointed_at

    def size(self) -> int:
        return self._storage.read(
            lambda tx: tx.sessions.count(source=None, archived=None) + tx.sessions.message_count(None)
        )

    def write(self, out: ArchiveFolder) -> None:
        self._places.ids = self._pointed_at()
        pages = Pages(self._storage)
        sessions = 0
        with out.lines(NAME, FILE) as lines:
            for row in self._sessions():
                session = session_dict(row)
                lines.write({"session": {key: session[key] for key in session if key not in _COUNTED}})
                sessions += 1
                # Only as many as it had: a writer can't keep us busy forever, and no turn is cut in two.
                messages = islice(pages.read(row.id), row.message_count)
                for number, message in enumerate(messages, start=1):
                    lines.write({"message": _strip_message(message)})
                    self._places.note_export(message.id, row.id, number)
                    out.advance(1)
                out.advance(1)
        out.count("sessions", sessions)
        out.count("messages", lines.rows - sessions)

    def _sessions(self) -> Iterator[SessionRow]:
        after = ""
        while page := self._storage.read(
            lambda tx: tx.sessions.page(source=None, after=after, limit=_PAGE)  # noqa: B023
        ):
            yield from page
            after = page[-1].id

    def check(self, archive: Archive) -> dict[str, int]:
        rows = 0
        parents: dict[str, str] = {}
        seen: set[str] = set()
        for place, session, messages in self._read(archive):
            rows += 1
            if session.id in seen:
                raise InvalidInput(f"{place}: the session {session.id!r} occurs twice")
            seen.add(session.id)
            if session.parent_session_id is not None:
                parents[session.id] = session.parent_session_id
            rows += sum(1 for _ in messages)
        _check_cycles(parents)
        return {FILE: rows}

    def import_part(self, archive: Archive, report: PartReport) -> None:
        orphans: list[tuple[str, str]] = []
        pending = messages_in = 0
        for _, session, messages in self._read(archive):
            outcome, added = store_session(
                self._storage,
                session,
                messages,
                now=self._memory.clock(),
                placed=lambda number, message_id: self._places.note_import(session.id, number, message_id),  # noqa: B023
            )
            _count(report, session.id, outcome)
            if session.parent_session_id is not None:
                orphans.append((session.id, session.parent_session_id))
            pending += added
            messages_in += added
            if pending > _INDEX_EVERY:
                self._storage.catch_up(transcript.INDEX_SECONDS)
                pending = 0
        for session_id, parent in orphans:
            self._adopt(session_id, parent, report)
        self._storage.catch_up()

    def _adopt(self, session_id: str, parent: str, report: PartReport) -> None:
        row = self._storage.read(lambda tx: tx.sessions.get(session_id))
        if row is None or row.parent_session_id is not None:
            return
        try:
            adopt(self._storage, session_id, parent)
        except Refused as exc:
            report.explain(f"session {session_id}: {exc}")

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        pages = Pages(self._storage)
        for _, session, messages in self._read(archive):
            what = f"session {session.id}"
            row = self._storage.read(lambda tx: tx.sessions.get(session.id))  # noqa: B023
            if row is None:
                compared.add_missing(what)
                continue
            there = pages.read(session.id)
            same = replace(row, message_count=0, tool_call_count=0) == session
            for number, incoming in enumerate(messages, start=1):
                message = next(there, None)
                if message is None or not _is_equal(message, incoming):
                    same = False
                    break
                self._places.note_import(session.id, number, message.id)
            if same:
                compared.same += 1
            else:
                compared.add_different(what)

    def _read(self, archive: Archive) -> Iterator[tuple[str, SessionRow, Iterator[Incoming]]]:
        """Yield sessions with their messages, checked and redacted."""
        rows = _Peekable(archive.rows(FILE))
        while rows.current is not None:
            place, row = rows.current
            if not isinstance(row.get("session"), dict):
                raise InvalidInput(f"{place} is a message without a session before it")
            rows.move()
            try:
                session = new_session(row["session"], started=0.0, **self._rules())
            except InvalidInput as exc:
                raise type(exc)(f"{place}: {exc}") from exc
            messages = self._messages(rows)
            yield place, session, messages
            # Skip messages that the caller did not read.
            for _ in messages:
                pass

    def _messages(self, rows: _Peekable) -> Iterator[Incoming]:
        number = 0
        while rows.current is not None and "message" in rows.current[1]:
            place, row = rows.current
            number += 1
            try:
                message = transcript.check_message(
                    row["message"], number, now=self._memory.clock(), **self._rules()
                )
            except InvalidInput as exc:
                raise type(exc)(f"{place}: {exc}") from exc
            rows.move()
            yield Incoming(message, row["message"].get("forgotten") is True)

    def _rules(self) -> dict[str, Any]:
        settings = self._memory.settings
        return {"redact": redact if settings.redact else str, "max_bytes": settings.max_message_bytes}


class _Peekable:
    """Rows with a look at the next one."""

    def __init__(self, rows: Iterator[Numbered]) -> None:
        self._rows = rows
        self.current: Numbered | None = next(rows, None)

    def move(self) -> None:
        self.current = next(self._rows, None)


def _strip_message(row: MessageRow) -> dict[str, Any]:
    """Return a message without its ids and empty fields."""
    message = message_dict(row)
    return {
        key: value
        for key, value in message.items()
        if key not in ("id", "session_id") and (value is not None or key == "content")
    }


def _is_equal(row: MessageRow, incoming: Incoming) -> bool:
    new = incoming.message
    if row.forgotten or incoming.forgotten:
        return is_same(row, incoming)
    stored = (
        row.role, row.content, row.encoded, row.tool_name, row.tool_calls, row.tool_call_id, row.token_count,
        row.timestamp, row.metadata,
    )  # fmt: skip
    return stored == (
        new.role, new.content, new.encoded, new.tool_name, new.tool_calls, new.tool_call_id, new.token_count,
        new.timestamp, new.metadata,
    )  # fmt: skip


def _count(report: PartReport, session_id: str, outcome: Outcome) -> None:
    match outcome:
        case Outcome.CREATED:
            report.imported += 1
        case Outcome.COMPLETED:
            report.updated += 1
        case Outcome.THERE:
            report.there += 1
        case Outcome.OTHER:
            report.refuse(f"session {session_id} exists here with other messages; it was left unchanged")


def _check_cycles(parents: dict[str, str]) -> None:
    """Raise if a session is its own ancestor."""
    cleared: set[str] = set()
    for first in parents:
        line: set[str] = set()
        above: str | None = first
        while above is not None and above not in cleared:
            if above in line:
                raise InvalidInput(f"{FILE}: the session {above!r} is its own ancestor; nothing was imported")
            line.add(above)
            above = parents.get(above)
        cleared |= line
