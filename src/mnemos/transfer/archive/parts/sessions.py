"""Sessions with their messages: a line for the session, then one for each message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from mnemos.errors import InvalidInput, Refused
from mnemos.sessions import transcript
from mnemos.sessions.records import message_dict, new_session, session_dict
from mnemos.storage.base import MessageRow, SessionRow
from mnemos.text.secrets import redact
from mnemos.transfer.archive import session_rows
from mnemos.transfer.archive.model import Brought, Compared
from mnemos.transfer.archive.places import Places
from mnemos.transfer.archive.session_rows import Incoming, Outcome

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.reading import Source
    from mnemos.transfer.archive.writing import Out

NAME: Final = "sessions"
FILE: Final = "sessions.jsonl"

_PAGE: Final = 200
# After so many messages, what they left pending is indexed, so that searches stay quick meanwhile.
_INDEX_EVERY: Final = 1_000
# Counted again wherever a session is stored.
_COUNTED: Final = ("message_count", "tool_call_count")

Numbered = tuple[str, dict[str, Any]]


class SessionPart:
    name = NAME

    def __init__(self, memory: Memory, places: Places, pointed_at: Callable[[], set[int]]) -> None:
        """``pointed_at``: the messages whose places are to be remembered, asked before an export."""
        self._memory = memory
        self._storage = memory.storage
        self._places = places
        self._pointed_at = pointed_at

    # --- out --------------------------------------------------------------------------------

    def size(self) -> int:
        return self._storage.read(
            lambda tx: tx.sessions.count(source=None, archived=None) + tx.sessions.message_count(None)
        )

    def write(self, out: Out) -> None:
        self._places.ids = self._pointed_at()
        pages = session_rows.Pages(self._storage)
        sessions = 0
        with out.lines(NAME, FILE) as lines:
            for row in self._sessions():
                session = session_dict(row)
                lines.write({"session": {key: session[key] for key in session if key not in _COUNTED}})
                sessions += 1
                # As many as it had: who goes on writing does not keep us for ever, and no turn is cut in two.
                messages = islice(pages.of(row.id), row.message_count)
                for number, message in enumerate(messages, start=1):
                    lines.write({"message": _plain(message)})
                    self._places.leaves(message.id, row.id, number)
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

    # --- in ---------------------------------------------------------------------------------

    def check(self, source: Source) -> dict[str, int]:
        rows = 0
        parents: dict[str, str] = {}
        seen: set[str] = set()
        for place, session, messages in self._read(source):
            rows += 1
            if session.id in seen:
                raise InvalidInput(f"{place}: the session {session.id!r} occurs twice")
            seen.add(session.id)
            if session.parent_session_id is not None:
                parents[session.id] = session.parent_session_id
            rows += sum(1 for _ in messages)
        _check_circles(parents)
        return {FILE: rows}

    def bring_in(self, source: Source, brought: Brought) -> None:
        orphans: list[tuple[str, str]] = []
        pending = messages_in = 0
        for _, session, messages in self._read(source):
            outcome, added = session_rows.bring_in(
                self._storage,
                session,
                messages,
                now=self._memory.clock(),
                placed=lambda number, message_id: self._places.arrives(session.id, number, message_id),  # noqa: B023
            )
            _count(brought, session.id, outcome)
            if session.parent_session_id is not None:
                orphans.append((session.id, session.parent_session_id))
            pending += added
            messages_in += added
            if pending > _INDEX_EVERY:
                self._storage.catch_up(transcript.INDEX_SECONDS)
                pending = 0
        for session_id, parent in orphans:
            self._adopt(session_id, parent, brought)
        self._storage.catch_up()

    def _adopt(self, session_id: str, parent: str, brought: Brought) -> None:
        row = self._storage.read(lambda tx: tx.sessions.get(session_id))
        if row is None or row.parent_session_id is not None:
            return
        try:
            session_rows.adopt(self._storage, session_id, parent)
        except Refused as exc:
            brought.tell(f"session {session_id}: {exc}")

    # --- beside -----------------------------------------------------------------------------

    def compare(self, source: Source, compared: Compared) -> None:
        pages = session_rows.Pages(self._storage)
        for _, session, messages in self._read(source):
            what = f"session {session.id}"
            row = self._storage.read(lambda tx: tx.sessions.get(session.id))  # noqa: B023
            if row is None:
                compared.miss(what)
                continue
            there = pages.of(session.id)
            same = replace(row, message_count=0, tool_call_count=0) == session
            for number, incoming in enumerate(messages, start=1):
                message = next(there, None)
                if message is None or not _is_equal(message, incoming):
                    same = False
                    break
                self._places.arrives(session.id, number, message.id)
            if same:
                compared.same += 1
            else:
                compared.differ(what)

    # --- inside -----------------------------------------------------------------------------

    def _read(self, source: Source) -> Iterator[tuple[str, SessionRow, Iterator[Incoming]]]:
        """Sessions with their messages, checked, and without the secrets that are not stored here."""
        rows = _Peekable(source.rows(FILE))
        while rows.current is not None:
            place, row = rows.current
            if not isinstance(row.get("session"), dict):
                raise InvalidInput(f"{place} is no session, and no session stands before it")
            rows.move()
            try:
                session = new_session(row["session"], started=0.0, **self._rules())
            except InvalidInput as exc:
                raise type(exc)(f"{place}: {exc}") from exc
            messages = self._messages(rows)
            yield place, session, messages
            # What nobody asked for stands before the next session all the same.
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
    """Rows of which the next can be looked at."""

    def __init__(self, rows: Iterator[Numbered]) -> None:
        self._rows = rows
        self.current: Numbered | None = next(rows, None)

    def move(self) -> None:
        self.current = next(self._rows, None)


def _plain(row: MessageRow) -> dict[str, Any]:
    """A message without what only this home knows; fields that say nothing are left out."""
    message = message_dict(row)
    return {
        key: value
        for key, value in message.items()
        if key not in ("id", "session_id") and (value is not None or key == "content")
    }


def _is_equal(row: MessageRow, incoming: Incoming) -> bool:
    new = incoming.message
    if row.forgotten or incoming.forgotten:
        return session_rows.is_same(row, incoming)
    stored = (
        row.role, row.content, row.encoded, row.tool_name, row.tool_calls, row.tool_call_id, row.token_count,
        row.timestamp, row.metadata,
    )  # fmt: skip
    return stored == (
        new.role, new.content, new.encoded, new.tool_name, new.tool_calls, new.tool_call_id, new.token_count,
        new.timestamp, new.metadata,
    )  # fmt: skip


def _count(brought: Brought, session_id: str, outcome: Outcome) -> None:
    match outcome:
        case Outcome.CREATED:
            brought.imported += 1
        case Outcome.COMPLETED:
            brought.updated += 1
        case Outcome.THERE:
            brought.there += 1
        case Outcome.OTHER:
            brought.refuse(f"session {session_id} is here with other messages; it is left as it is")


def _check_circles(parents: dict[str, str]) -> None:
    """No session may be its own ancestor."""
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
