"""Changes in the order they were made, for programs that follow a memory.

A cursor is a position in three ascending sequences: messages, sessions and the log. Reading on from the
cursor of a change neither misses nor repeats a later change.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemos.errors import InvalidInput, NotFound
from mnemos.language.moments import read_moment
from mnemos.memory.change_words import describe_change, find_entry
from mnemos.memory.recall_log import KEPT
from mnemos.sessions.message_text import text_of
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Reads
from mnemos.storage.recalls import RecallRow
from mnemos.storage.sessions import AppendedMessage, CreatedSession

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory

_CHARACTERS: Final = 200
_FORM: Final = re.compile("-".join(["([0-9]{1,16})"] * 3) + "(?:-([0-9]{1,16}))?")
_NOT_FOLLOWED: Final = -1
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_KINDS: Final = {"notebook": "note"} | {
    kind: kind for kind in ("message", "session", "fact", "entry", "template")
}
"""The kind of a change, by the first word of its reference in the log."""


class Cursor(NamedTuple):
    """The last message, session and log entry that a follower has seen."""

    message: int
    session: int
    entry: int
    recall: int = _NOT_FOLLOWED
    """The last question, if questions are followed."""

    def __str__(self) -> str:
        text = "-".join(str(last) for last in self if last != _NOT_FOLLOWED)
        # A leading zero tells this from a date such as 2026-10-15.
        return f"0{text}" if _DATE.fullmatch(text) else text

    @classmethod
    def parse(cls, text: str) -> Cursor:
        numbers = _FORM.fullmatch(text)
        if numbers is None:
            raise InvalidInput(
                f"{text[:80]!r} is not a cursor. Use the cursor of a change, or 0-0-0 for all changes."
            )
        return cls(*(int(last) for last in numbers.groups() if last is not None))


@dataclass(frozen=True, slots=True)
class Change:
    cursor: str
    """Pass this to get the changes that follow."""
    kind: str
    """message, session, fact, note, entry, template or log."""
    ref: str
    at: float
    action: str
    """append, create, or the operation in the log."""
    actor: str | None
    session_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """Changes, and the cursor after the last of them."""

    changes: list[Change]
    cursor: str
    more: bool


def read_changes(memory: Memory, since: str | None, limit: int, *, recalls: bool = False) -> Page:
    """Return up to ``limit`` changes after a cursor or a time, in order, by default the newest.

    ``recalls`` includes the questions asked, if the cursor was returned by such a call.
    """
    start = None
    if since is not None and _FORM.fullmatch(since) and not _DATE.fullmatch(since):
        start = Cursor.parse(since)
    elif since is not None:
        at = read_moment("since", since, memory.clock()) or 0.0
        start = memory.storage.read(lambda tx: _find_start(tx, at))
    rows, end, more = memory.storage.read(lambda tx: _read(tx, start, limit, recalls=recalls))
    return Page([_describe(memory, row, cursor) for row, cursor in rows], str(end), more)


def _find_end(tx: Reads) -> Cursor:
    newest = tx.audit.newest(1)
    return Cursor(*tx.sessions.newest_ids(), newest[0].id if newest else 0)


def _find_start(tx: Reads, at: float) -> Cursor:
    """Return the cursor before the first message, session and log entry since a time."""
    firsts = (*tx.sessions.first_since(at), tx.audit.first_since(at))
    ends = _find_end(tx)[:3]
    return Cursor(*(end if first is None else first - 1 for first, end in zip(firsts, ends, strict=True)))


_Row = AppendedMessage | CreatedSession | AuditRow | RecallRow


def _read(
    tx: Reads, start: Cursor | None, limit: int, *, recalls: bool
) -> tuple[list[tuple[_Row, Cursor]], Cursor, bool]:
    asked = tx.recalls.newest(1) if recalls else []
    last_asked = (asked[0].id if asked else 0) if recalls else _NOT_FOLLOWED
    end = _find_end(tx)._replace(recall=last_asked)
    if start is None:
        begin = Cursor(*(max(0, last - limit) for last in end))._replace(recall=last_asked)
    else:
        # After a restore, a cursor may be ahead of the data. A cursor without recalls begins with new ones.
        begin = Cursor(*map(min, start, end))
        begin = begin._replace(recall=last_asked if start.recall == _NOT_FOLLOWED else begin.recall)
    messages = tx.sessions.messages_after(begin.message, limit, _CHARACTERS)
    sessions = tx.sessions.sessions_after(begin.session, limit)
    entries = tx.audit.after(begin.entry, limit)
    questions = _list_recalls(tx, begin.recall, limit) if begin.recall < last_asked else []
    merged = list(_merge(begin, deque(sessions), deque(messages), deque(entries), deque(questions)))
    if start is None:
        return merged[-limit:], end, False
    more = len(merged) > limit or limit in (len(messages), len(sessions), len(entries), len(questions))
    shown = merged[:limit]
    return shown, shown[-1][1] if more else end, more


def _list_recalls(tx: Reads, after: int, limit: int) -> list[RecallRow]:
    """Return the first questions after a number. Few are kept, so all can be read."""
    return [row for row in reversed(tx.recalls.newest(KEPT)) if row.id > after][:limit]


def _merge(cursor: Cursor, *queues: deque[Any]) -> Iterator[tuple[_Row, Cursor]]:
    """Yield rows by time, keeping the order within each kind, with the cursor after each row."""
    while waiting := [queue for queue in queues if queue]:
        # At equal times the first kind wins, so a session comes before its messages.
        row = min(waiting, key=lambda queue: _time_of(queue[0])).popleft()
        if isinstance(row, AppendedMessage):
            cursor = cursor._replace(message=row.id)
        elif isinstance(row, CreatedSession):
            cursor = cursor._replace(session=row.number)
        elif isinstance(row, RecallRow):
            cursor = cursor._replace(recall=row.id)
        else:
            cursor = cursor._replace(entry=row.id)
        yield row, cursor


def _time_of(row: _Row) -> float:
    if isinstance(row, AppendedMessage):
        return row.timestamp
    return row.started_at if isinstance(row, CreatedSession) else row.at


def _describe(memory: Memory, row: _Row, cursor: Cursor) -> Change:
    place, at = str(cursor), _time_of(row)
    if isinstance(row, AppendedMessage):
        said = f"{row.beginning.role}: {text_of(row.beginning)}"
        ref, session_id = f"message:{row.id}", row.session_id
        return Change(place, "message", ref, at, "append", None, session_id, _cut(said))
    if isinstance(row, CreatedSession):
        text = _cut(row.title or row.source)
        return Change(place, "session", f"session:{row.id}", at, "create", None, row.id, text)
    if isinstance(row, RecallRow):
        text = _cut(row.query)
        return Change(place, "recall", f"recall:{row.id}", at, "ask", row.actor, row.session_id, text)
    kind, _, name = row.ref.partition(":")
    about = name if kind == "session" else None
    text = _cut(_describe_entry(memory, kind, name, row))
    return Change(place, _KINDS.get(kind, "log"), row.ref, at, row.operation, row.actor, about, text)


def _describe_entry(memory: Memory, kind: str, name: str, row: AuditRow) -> str:
    if kind == "fact":
        try:
            return str(memory.facts.get(name))
        except NotFound:
            return ""
    if kind == "entry":
        return find_entry(memory, row.ref)
    return row.after or "" if kind == "notebook" else describe_change(memory, row, {})


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
