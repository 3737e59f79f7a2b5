"""Trees of entries: histories that branch and fork, each entry with its parent.

The line up to the head is a session's working history. Lines that were left are retired, and recall still
finds them. A line that is used again, by a fork or after a change of branches, is copied, and recall does not
find the copy. So each session has all of its entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from mnemos.errors import NotFound
from mnemos.integrations.shared.history import copy_of, list_sessions
from mnemos.memory.async_memory import AsyncMemory
from mnemos.sessions.session_types import Session

_PLACES = 10_000


class Entry(NamedTuple):
    """A message under its own id and its parent's, stored or to be stored."""

    id: str
    parent_id: str | None
    message: Mapping[str, Any]


class EntryTree:
    """The entries in all sessions of a source."""

    def __init__(self, memory: AsyncMemory, source: str) -> None:
        self._memory = memory
        self._source = source
        # Sessions by the ends of their lines, because hosts ask for a history by its head alone.
        self._places: dict[str, str] = {}

    def note_place(self, session_id: str, ends: Iterable[str | None]) -> None:
        """Note where entries are, so that reading them takes one query."""
        if len(self._places) > _PLACES:
            self._places.clear()
        self._places |= {end: session_id for end in ends if end is not None}

    async def read(self, head_id: str | None, limit: int | None = None) -> list[Entry]:
        """Return the last entries up to a head. An unknown head raises LookupError."""
        if head_id is None or limit == 0:
            return []
        place = self._places.get(head_id)
        if place is not None:
            with suppress(LookupError, NotFound):
                return _walk(await self._memory.sessions.get_messages(place, last=limit), head_id, limit)
            with suppress(LookupError, NotFound):
                return await self._read_all(place, head_id, limit)
        for session in await list_sessions(self._memory, self._source):
            with suppress(LookupError, NotFound):
                return await self._read_all(session["id"], head_id, limit)
        raise LookupError(f"There is no entry {head_id!r}.")

    async def write(
        self, session: Session, heads: tuple[str | None, str | None], new: Sequence[Entry], metadata: Any
    ) -> None:
        """Store entries and metadata, and move the head from the first of ``heads``.

        A session that was changed since it was read raises Conflict, an unknown head LookupError.
        """
        before, head = heads
        root = new[0].parent_id if any(entry.id == head for entry in new) else head
        messages = [{**entry.message, "key": json.dumps(entry[:2])} for entry in new]
        change: dict[str, Any] = {"metadata": metadata, "if_revision": session["revision"]}
        if root == before:
            await self._memory.sessions.append_messages(session["id"], messages, **change)
            return
        line = [entry.message for entry in await self.read(root)]
        working = await self._memory.sessions.get_messages(session["id"])
        kept = 0
        while kept < min(len(line), len(working)) and line[kept]["key"] == working[kept].get("key"):
            kept += 1
        # A rewrite can reuse keys of retired messages, but must replace at least one message.
        kept -= kept > 0 and kept == len(working)
        copies = [copy_of(one) for one in line[kept:]]
        first = working[kept]["id"] if working else None
        await self._memory.sessions.rewrite(session["id"], copies + messages, from_id=first, **change)

    async def _read_all(self, session_id: str, head_id: str, limit: int | None) -> list[Entry]:
        """Read a line of a session, which may have been left."""
        exported = await self._memory.sessions.export_session(session_id)
        return _walk(exported["messages"], head_id, limit)


def _walk(messages: Iterable[Any], head_id: str, limit: int | None) -> list[Entry]:
    known = {}
    for message in messages:
        if "key" in message:
            entry_id, parent_id = json.loads(message["key"])
            known[entry_id] = Entry(entry_id, parent_id, message)
    line: list[Entry] = []
    at: str | None = head_id
    while at is not None and (limit is None or len(line) < limit):
        line.append(known[at])
        at = line[-1].parent_id
    return line[::-1]
