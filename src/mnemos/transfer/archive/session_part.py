"""Sessions in an archive: a line for the session, then one per message.

Messages are read and stored one by one, so that only little of a long session is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from mnemos.errors import InvalidInput, Refused
from mnemos.sessions import transcript
from mnemos.sessions.records import message_dict, new_session, session_dict
from mnemos.sessions.transcript import IncomingMessage, Outcome
from mnemos.storage.base import MessageRow, NewMessage, SessionFilters, SessionRow, Writes
from mnemos.text.secrets import redact
from mnemos.transfer.archive.manifest import MessagePlaces, PartComparison, PartReport

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

NAME: Final = "sessions"
FILE: Final = "sessions.jsonl"
# Index after this many messages, so that searches stay fast in the meantime.
_INDEX_EVERY: Final = 1_000
# These are counted again when a session is stored.
_COUNTED: Final = ("message_count", "tool_call_count", "revision")
_COMPARED: Final = tuple(field for field in NewMessage._fields if field not in ("calls", "origin"))


class SessionPart:
    name = NAME

    def __init__(self, memory: Memory, places: MessagePlaces, pointed_at: Callable[[], set[int]]) -> None:
        """``pointed_at`` returns the messages whose places an export needs."""
        self._storage = memory.storage
        self._clock = memory.clock
        self._places = places
        self._pointed_at = pointed_at
        settings = memory.settings
        self._rules: dict[str, Any] = {
            "redact": redact if settings.redact else str,
            "max_bytes": settings.max_message_bytes,
        }

    def size(self) -> int:
        return self._storage.read(
            lambda tx: tx.sessions.count(SessionFilters()) + tx.sessions.message_count(None)
        )

    def write(self, out: ArchiveFolder) -> None:
        self._places.ids = self._pointed_at()
        sessions = 0
        with out.lines(NAME, FILE) as lines:
            for row in self._read_rows():
                session = session_dict(row)
                lines.write(
                    {"session": {key: value for key, value in session.items() if key not in _COUNTED}}
                )
                sessions += 1
                # Only as many as there were: a busy writer can't prolong this, and no turn is cut in two.
                messages = islice(transcript.read_messages(self._storage, row.id), row.message_count)
                for number, message in enumerate(messages, start=1):
                    lines.write({"message": strip_message(message)})
                    self._places.note_export(message.id, row.id, number)
                    out.advance(1)
                out.advance(1)
        out.count("sessions", sessions)
        out.count("messages", lines.rows - sessions)

    def _read_rows(self) -> Iterator[SessionRow]:
        """Yield sessions by first message, so that an import numbers messages in order.

        Sessions without messages come first.
        """
        firsts = [(self._find_first(row.id), row.id) for row in transcript.read_sessions(self._storage)]
        for _, session_id in sorted(firsts):
            row = self._storage.read(lambda tx: tx.sessions.get(session_id))  # noqa: B023
            if row is not None:
                yield row

    def _find_first(self, session_id: str) -> int:
        found = self._storage.read(lambda tx: tx.sessions.messages(session_id, after=0, limit=1))
        return found[0].id if found else 0

    def check(self, archive: Archive) -> None:
        parents: dict[str, str | None] = {}
        for session, _ in self._read(archive):
            if session.id in parents:
                raise InvalidInput(f"{FILE}: the session {session.id!r} occurs twice")
            parents[session.id] = session.parent_session_id
        transcript.sort_parents_first(parents)

    def import_part(self, archive: Archive, report: PartReport) -> None:
        orphans: list[tuple[str, str]] = []
        pending = 0
        for session, messages in self._read(archive):
            outcome, added = transcript.store_session(
                self._storage,
                session,
                messages,
                now=self._clock(),
                placed=lambda number, message_id: self._places.note_import(session.id, number, message_id),  # noqa: B023
            )
            if outcome in (Outcome.COMPLETED, Outcome.SAME) and self._storage.write(
                lambda tx: _renew(tx, session)  # noqa: B023
            ):
                outcome = Outcome.COMPLETED
            _count(report, session.id, outcome)
            if session.parent_session_id is not None:
                orphans.append((session.id, session.parent_session_id))
            pending += added
            if pending > _INDEX_EVERY:
                self._storage.catch_up(transcript.INDEX_SECONDS)
                pending = 0
        for session_id, parent in orphans:
            try:
                self._storage.write(lambda tx: adopt(tx, session_id, parent))  # noqa: B023
            except Refused as exc:
                report.explain(f"session {session_id}: {exc}")
        self._storage.catch_up()

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        for session, messages in self._read(archive):
            row = self._storage.read(lambda tx: tx.sessions.get(session.id))  # noqa: B023
            is_same = None if row is None else self._has_all(row, session, messages)
            compared.add(f"session {session.id}", is_same)

    def _has_all(self, row: SessionRow, session: SessionRow, messages: Iterator[IncomingMessage]) -> bool:
        there = transcript.read_messages(self._storage, session.id)
        for number, incoming in enumerate(messages, start=1):
            message = next(there, None)
            if message is None or not _is_equal(message, incoming):
                return False
            self._places.note_import(session.id, number, message.id)
        local = {"message_count": 0, "tool_call_count": 0, "revision": session.revision}
        return replace(row, **local, updated_at=session.updated_at) == session

    def _read(self, archive: Archive) -> Iterator[tuple[SessionRow, Iterator[IncomingMessage]]]:
        """Yield sessions with their messages, checked and redacted."""
        number = 0

        def number_session(row: SessionRow | IncomingMessage) -> int:
            nonlocal number
            number += isinstance(row, SessionRow)
            return number

        for _, group in groupby(archive.read(FILE, self._parse), number_session):
            session = next(group)
            if not isinstance(session, SessionRow):
                raise InvalidInput(f"{FILE} starts with a message instead of a session")
            yield session, cast(Iterator[IncomingMessage], group)  # noqa: B031 - its rest

    def _parse(self, row: dict[str, Any]) -> SessionRow | IncomingMessage:
        if "message" in row:
            return transcript.check_message(row["message"], now=self._clock(), **self._rules)
        if isinstance(row.get("session"), dict):
            return new_session(row["session"], started=0.0, **self._rules)
        raise InvalidInput("it is neither a session nor a message")


def _renew(tx: Writes, session: SessionRow) -> bool:
    """Update a session that continued elsewhere. Returns False if nothing changed."""
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
    changed = tx.sessions.get(session.id) != here
    if changed:
        tx.sessions.revise(session.id, session.updated_at)
    return changed


def adopt(tx: Writes, session_id: str, parent: str) -> None:
    """Set the parent of a session without one, if it exists. A cycle raises Refused."""
    row = tx.sessions.get(session_id)
    if row is not None and row.parent_session_id is None and tx.sessions.get(parent) is not None:
        tx.sessions.fill(replace(row, parent_session_id=parent))


def strip_message(row: MessageRow) -> dict[str, Any]:
    """Return a message without its ids and empty fields."""
    message = message_dict(row)
    return {
        key: value
        for key, value in message.items()
        if key not in ("id", "session_id") and (value is not None or key == "content")
    }


def _is_equal(row: MessageRow, incoming: IncomingMessage) -> bool:
    if row.forgotten or incoming.forgotten:
        return transcript.is_same(row, incoming)
    new = incoming.message
    return row.retired == incoming.retired and all(
        getattr(row, field) == getattr(new, field) for field in _COMPARED
    )


def _count(report: PartReport, session_id: str, outcome: Outcome) -> None:
    match outcome:
        case Outcome.CREATED:
            report.imported += 1
        case Outcome.COMPLETED:
            report.updated += 1
        case Outcome.SAME | Outcome.LONGER:
            report.there += 1
        case Outcome.OTHER:
            report.refuse(f"session {session_id} exists here with other messages; it was left unchanged")
