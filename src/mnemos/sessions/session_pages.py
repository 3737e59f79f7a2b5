"""Pages and outlines of sessions, for readers that show a part at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from mnemos.errors import InvalidInput, NotFound
from mnemos.inputs import whole
from mnemos.sessions.records import check_message_id, message_dict
from mnemos.sessions.session_types import Day, MessagePage, Outline
from mnemos.storage.base import MessageRow, Reads


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a session: a position, or before, after or around a message."""

    kind: str
    number: int

    @classmethod
    def check(cls, **given: int | None) -> Self:
        """Return the given place, by default the beginning. Several places raise InvalidInput."""
        named = {kind: number for kind, number in given.items() if number is not None}
        if len(named) > 1:
            raise InvalidInput(f"{' and '.join(named)} can't be combined. Use one of {', '.join(given)}.")
        for kind, number in named.items():
            return cls(kind, whole("at", number) if kind == "at" else check_message_id(number))
        return cls("at", 0)


def read_page(tx: Reads, session_id: str, place: Place, limit: int) -> MessagePage:
    """Read a page; an unknown session or message raises NotFound."""
    session = tx.sessions.get(session_id)
    if session is None:
        raise NotFound(f"There is no session {session_id!r}.")
    rows = _read_from(tx, session_id, place.number, limit) if place.kind == "at" else []
    if place.kind != "at":
        known = tx.sessions.message(place.number)
        if known is None or known.session_id != session_id:
            raise NotFound(f"Message {place.number} is not in session {session_id!r}.")
        if place.kind == "after":
            rows = tx.sessions.messages(session_id, after=place.number, limit=limit)
        elif place.kind == "before":
            rows = tx.sessions.around(place.number, before=limit, after=0)[:-1]
        else:
            before = max(limit - 1, 0) // 2
            rows = tx.sessions.around(place.number, before=before, after=max(limit - 1 - before, 0))
    # An empty page is before the first message or after the last one.
    end = 0 if place.kind == "before" else session.message_count
    start = tx.sessions.position(session_id, rows[0].id) if rows else end
    return {
        "session_id": session_id,
        "messages": [message_dict(row) for row in rows],
        "start": start,
        "total": session.message_count,
    }


def _read_from(tx: Reads, session_id: str, position: int, limit: int) -> list[MessageRow]:
    first = tx.sessions.message_at(session_id, position)
    return [] if first is None else tx.sessions.messages(session_id, after=first - 1, limit=limit)


def read_outline(tx: Reads, session_id: str) -> Outline:
    """Read all messages in columns; an unknown session raises NotFound."""
    if tx.sessions.get(session_id) is None:
        raise NotFound(f"There is no session {session_id!r}.")
    rows = tx.sessions.outline(session_id)
    names: dict[str, int] = {}
    return {
        "session_id": session_id,
        "steps": [row[0] - before for before, row in zip((0, *(row[0] for row in rows)), rows, strict=False)],
        "roles": [names.setdefault(row[1], len(names)) for row in rows],
        "sizes": [row[2] for row in rows],
        "role_names": list(names),
        "days": _list_days([row[3] for row in rows]),
    }


def _list_days(times: list[float]) -> list[Day]:
    """Return the first message of each day. An undated message belongs to the day of the one before."""
    days: list[Day] = []
    begins = ends = 0.0
    for position, moment in enumerate(times):
        if begins <= moment < ends:
            continue
        try:
            day = datetime.fromtimestamp(moment).replace(hour=0, minute=0, second=0, microsecond=0)
            begins, ends = day.timestamp(), (day + timedelta(days=1)).timestamp()
        except (ValueError, OverflowError, OSError):
            continue
        days.append({"position": position, "date": f"{day:%Y-%m-%d}"})
    return days
