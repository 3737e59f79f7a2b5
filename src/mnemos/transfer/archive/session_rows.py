"""Sessions as they were elsewhere, message by message: of a long one, little is held at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Final

from msgspec.structs import replace

from mnemos.sessions.transcript import BATCH
from mnemos.storage.base import MessageRow, NewMessage, SessionRow, Storage, Writes

# A batch is one short write, also of long messages; a page is read in parts of about this size.
_BATCH_CHARACTERS: Final = 200_000
_PAGE_CHARACTERS: Final = 2_000_000
_LONGEST_PAGE: Final = 500

Placed = Callable[[int, int], None]
"""Told where a message is: its number within the session, from 1, and its id here."""


class Outcome(StrEnum):
    CREATED = "created"
    COMPLETED = "completed"
    """It was there with its first messages, and has all of them now, or as it was before it ended."""
    THERE = "there"
    """It was there with all of them, perhaps with more."""
    OTHER = "other"
    """A session of this id is there, with other messages; it is left as it is."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A checked message. ``forgotten``: it says nothing, and is to say that."""

    message: NewMessage
    forgotten: bool = False


class Pages:
    """Goes through the messages of sessions in short reads, shorter ones where messages are long."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._limit = 8

    def of(self, session_id: str) -> Iterator[MessageRow]:
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


def bring_in(
    storage: Storage,
    session: SessionRow,
    messages: Iterable[Incoming],
    *,
    now: float,
    placed: Placed,
) -> tuple[Outcome, int]:
    """Store a session as it was, or what it lacks; what became of it and how many messages were added.

    In short transactions. Interrupted, it goes on where it was when it is called again. A parent that is not
    there (yet) is left out: see ``adopt``.
    """
    coming = iter(messages)
    first = _batch(coming)
    ids = storage.write(lambda tx: _begin(tx, session, first, now))
    if ids is not None:
        _tell(placed, 0, ids)
        added = _append_all(storage, session.id, coming, len(ids), now, placed)
        # Somebody writes to the session already: what is left is not ours to mix in.
        return (Outcome.OTHER, len(ids)) if added is None else (Outcome.CREATED, len(ids) + added)
    return _complete(storage, session, chain(first, coming), now, placed)


def adopt(storage: Storage, session_id: str, parent: str) -> None:
    """Give a session its parent, where it has none and the parent is there; a circle raises Refused."""

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
    """Whether a stored message is this one; one that was forgotten, here or there, is told by its place."""
    new = incoming.message
    if (row.role, row.timestamp) != (new.role, new.timestamp):
        return False
    return row.forgotten or incoming.forgotten or row.content == new.content


# --- inside ---------------------------------------------------------------------------------


def _begin(tx: Writes, session: SessionRow, first: list[Incoming], now: float) -> list[int] | None:
    """Create the session with its first messages; None when there is one of its id."""
    parent = session.parent_session_id
    if parent is not None and tx.sessions.get(parent) is None:
        session = replace(session, parent_session_id=None)
    return _append(tx, session.id, first, now) if tx.sessions.create(session) else None


def _complete(
    storage: Storage, session: SessionRow, messages: Iterator[Incoming], now: float, placed: Placed
) -> tuple[Outcome, int]:
    there = Pages(storage).of(session.id)
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
    # With more messages it went on here, and not there.
    went_on = next(there, None) is None and storage.write(lambda tx: _renew(tx, session))
    return Outcome.COMPLETED if went_on else Outcome.THERE, 0


def _renew(tx: Writes, session: SessionRow) -> bool:
    """What a session that went on elsewhere has become there: filled in, counted on, ended.

    False when it was all that before.
    """
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
    """Append what is left after so many messages; how many, None when somebody else appended meanwhile."""
    added = 0
    while batch := _batch(messages):
        ids = storage.write(lambda tx: _append_after(tx, session_id, batch, number + added, now))  # noqa: B023
        if ids is None:
            return None
        _tell(placed, number + added, ids)
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


def _batch(messages: Iterator[Incoming]) -> list[Incoming]:
    """The next messages: a few hundred at most, and fewer of long ones."""
    batch: list[Incoming] = []
    characters = 0
    for incoming in islice(messages, BATCH):
        batch.append(incoming)
        characters += _length(incoming.message)
        if characters > _BATCH_CHARACTERS:
            break
    return batch


def _tell(placed: Placed, number: int, ids: list[int]) -> None:
    for position, message_id in enumerate(ids, number + 1):
        placed(position, message_id)


def _length(message: MessageRow | NewMessage) -> int:
    return len(message.content or "") + len(message.tool_calls or "") + len(message.metadata or "")
