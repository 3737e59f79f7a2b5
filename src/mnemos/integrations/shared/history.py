"""Histories: the items of a framework in, the same items out.

An item is stored once, exactly, as the only part of a message's content. Searches find the text in it. With
memory switched off, a history is kept in this process: an agent must not lose its own last turn.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from mnemos.errors import NotFound
from mnemos.memory.async_memory import AsyncMemory

log = logging.getLogger("mnemos.integrations")

Item = Any
_ROLES = frozenset({"user", "assistant", "system", "developer"})


def item_of(message: Mapping[str, Any]) -> Item:
    """Return the item that a message holds."""
    content = message["content"]
    return content[0] if isinstance(content, list) and content else content


def message_of(item: Item, *, role: str = "assistant", **fields: Any) -> dict[str, Any]:
    """Return an item as a message to append."""
    named = item.get("role") if isinstance(item, Mapping) else None
    return {"role": named if named in _ROLES else role, "content": [item], **fields}


class History:
    """The items of one session."""

    def __init__(self, memory: AsyncMemory, session_id: str, source: str, **about: Any) -> None:
        """``about``: what ``create_session`` takes besides."""
        self.memory = memory
        self.session_id = session_id
        self._about = {"source": source} | about
        self._kept: list[dict[str, Any]] | None = None
        if memory.settings.disabled:
            log.warning("Memory is switched off: the session %s is kept in this process only.", session_id)
            self._kept = []

    async def read(self, last: int | None = None) -> list[dict[str, Any]]:
        """Return the messages, or the last of them; none of an unknown session."""
        if self._kept is not None:
            return self._kept[:] if last is None else self._kept[len(self._kept) - last :]
        try:
            messages = await self.memory.sessions.get_messages(self.session_id, last=last)
        except NotFound:
            return []
        return [dict(message) for message in messages]

    async def append(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Append messages, all or none. The session is created with its first message."""
        if self._kept is not None:
            self._kept += map(dict, messages)
        elif messages:
            await self.memory.sessions.ensure_session(self.session_id, **self._about)
            await self.memory.sessions.append_messages(self.session_id, list(messages))

    async def rewrite(self, messages: Sequence[Mapping[str, Any]], *, from_id: int | None = None) -> None:
        """Replace the messages, or those from one on; searches still find them."""
        if self._kept is not None:
            self._kept = list(map(dict, messages))
        else:
            await self.memory.sessions.ensure_session(self.session_id, **self._about)
            await self.memory.sessions.rewrite(self.session_id, list(messages), from_id=from_id)

    async def pop(self) -> Item | None:
        """Delete the newest message and return its item; None if there is none."""
        if self._kept is not None:
            return item_of(self._kept.pop()) if self._kept else None
        try:
            message = await self.memory.sessions.pop_message(self.session_id)
        except NotFound:
            return None
        return None if message is None else item_of(message)

    async def clear(self) -> None:
        """Delete the session. Can be undone, unless it is kept in this process only."""
        if self._kept is not None:
            self._kept.clear()
        else:
            await self.memory.sessions.delete_session(self.session_id)
