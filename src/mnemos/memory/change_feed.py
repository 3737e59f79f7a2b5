"""Changes in the order they were made, for programs that follow a memory.

A cursor is a place in three rows of ascending numbers: of messages, of sessions and of the log. Reading on
from the cursor of a change misses no later change and repeats none.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemos.errors import InvalidInput, NotFound
from mnemos.sessions.message_text import text_of
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Reads
from mnemos.storage.sessions import AppendedMessage, CreatedSession

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory

_CHARACTERS: Final = 200
_FORM: Final = re.compile("-".join(["([0-9]{1,16})"] * 3))
_KINDS: Final = {"notebook": "note"} | {
    kind: kind for kind in ("message", "session", "fact", "entry", "template")
}
"""The kind of a change by the first word of its ref in the log."""


class Cursor(NamedTuple):
    """The last message, session and entry of the log that a follower has seen."""

    message: int
    session: int
    entry: int

    def __str__(self) -> str:
        return "-".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Cursor:
        found = _FORM.fullmatch(text)
        if found is None:
            raise InvalidInput(
                f"since is {text[:80]!r}. Use the cursor of a change, or 0-0-0 for the beginning."
            )
        return cls(*map(int, found.groups()))


@dataclass(frozen=True, slots=True)
class Change:
    cursor: str
    """Read on from here to get what follows."""
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


def read_changes(memory: Memory, since: str | None, limit: int) -> Page:
    """Return up to ``limit`` changes after a cursor, in order; without one, the newest."""
    start = None if since is None else Cursor.parse(since)
    rows, end, more = memory.storage.read(lambda tx: _read(tx, start, limit))
    return Page([_describe(memory, row, cursor) for row, cursor in rows], str(end), more)


_Row = AppendedMessage | CreatedSession | AuditRow


def _read(tx: Reads, start: Cursor | None, limit: int) -> tuple[list[tuple[_Row, Cursor]], Cursor, bool]:
    newest = tx.audit.newest(1)
    end = Cursor(*tx.sessions.newest_ids(), newest[0].id if newest else 0)
    if start is None:
        begin = Cursor(*(max(0, last - limit) for last in end))
    else:
        # A cursor from before a restore may be ahead of what there is.
        begin = Cursor(*map(min, start, end))
    messages = tx.sessions.messages_after(begin.message, limit, _CHARACTERS)
    sessions = tx.sessions.sessions_after(begin.session, limit)
    entries = tx.audit.after(begin.entry, limit)
    merged = list(_merge(begin, deque(sessions), deque(messages), deque(entries)))
    if start is None:
        return merged[-limit:], end, False
    more = len(merged) > limit or limit in (len(messages), len(sessions), len(entries))
    shown = merged[:limit]
    return shown, shown[-1][1] if more else end, more


def _merge(cursor: Cursor, *queues: deque[Any]) -> Iterator[tuple[_Row, Cursor]]:
    """Yield rows by their time, those of one kind in their order, with the cursor after each."""
    while waiting := [queue for queue in queues if queue]:
        # Of equals the first: a session comes before its messages.
        row = min(waiting, key=lambda queue: _time_of(queue[0])).popleft()
        if isinstance(row, AppendedMessage):
            cursor = cursor._replace(message=row.id)
        elif isinstance(row, CreatedSession):
            cursor = cursor._replace(session=row.number)
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
    return row.after or "" if kind == "notebook" else ""


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
