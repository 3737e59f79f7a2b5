"""Histories: a framework gets back exactly the items it stored.

An item is stored once, exactly, as the only part of a message's content. Searches find the text in it. With
memory switched off, a history is kept in this process: an agent must not lose its own last turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mnemos.errors import Disabled, InvalidInput, NotFound
from mnemos.integrations.shared.memory_source import keep_in_process, settings_of
from mnemos.memory.async_memory import AsyncMemory
from mnemos.sessions.session_types import Session

Item = Any
ReadItem = Callable[[Mapping[str, Any]], Item]
_PAGE = 500
_COPIED = ("role", "content", "key", "timestamp")
_ROLES = frozenset({"user", "assistant", "system", "developer"})


def name_session(source: str, *parts: str | None) -> str:
    """Return the session for a framework's own ids, such as a user and a thread.

    Different lists of ids have different sessions, which no other program's session is named like.
    """
    for part in parts:
        if part is not None and not isinstance(part, str):
            raise InvalidInput(f"The id of a user or a session must be a string, not {part!r}.")
    # Escape as little as possible: percent signs for every letter would exceed the longest name.
    return "/".join((source, *((part or "").replace("%", "%25").replace("/", "%2F") for part in parts)))


def read_text(message: Mapping[str, Any]) -> Item:
    """Convert a message of only text to an item of most frameworks."""
    return {"role": message["role"], "content": message["content"]}


def item_of(message: Mapping[str, Any], read_other: ReadItem = read_text) -> Item:
    """Return the item that a message holds.

    A forgotten message only has the text ``[forgotten]``, and another program's may only have text:
    ``read_other`` makes an item of these.
    """
    content = message["content"]
    return content[0] if isinstance(content, list) and content else read_other(message)


def message_of(item: Item, *, role: str = "assistant", **fields: Any) -> dict[str, Any]:
    """Convert an item to a message to append."""
    named = item.get("role") if isinstance(item, Mapping) else None
    return {"role": named if named in _ROLES else role, "content": [item], **fields}


def pair_calls(items: Sequence[Item], find_calls: Callable[[Item], tuple[set[str], set[str]]]) -> list[Item]:
    """Leave out calls without results and results without calls.

    Models refuse these. ``find_calls`` returns the ids of the calls that an item makes and of those that it
    answers. The last item may wait for its results.
    """
    found = [find_calls(item) for item in items]
    made, answered = ({one for each in found for one in each[side]} for side in (0, 1))
    answered |= found[-1][0] if found else set()
    kept = [item for item, ids in zip(items, found, strict=True) if ids[0] <= answered and ids[1] <= made]
    return kept if len(kept) == len(items) else pair_calls(kept, find_calls)


def copy_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a stored message to append. Searches only find the original."""
    return {name: message[name] for name in _COPIED if name in message} | {"origin": "memory"}


async def list_sessions(memory: AsyncMemory, source: str, **about: Any) -> list[Session]:
    """Return a source's sessions, archived ones too. ``about``: further filters."""
    found: list[Session] = []
    while page := await memory.sessions.search_sessions(source, _PAGE, len(found), archived=None, **about):
        found += page
    return found


class History:
    """A conversation's items, for one user of a framework."""

    def __init__(
        self, memory: AsyncMemory, session_id: str, source: str, *, private: bool = False, **about: Any
    ) -> None:
        """``session_id``: the host's own; ``about``: arguments of ``create_session``."""
        self.memory = memory
        """The memory with the session: this process's own, if nothing may be stored."""
        self.session_id = name_session(source, about.get("user_id"), session_id)
        """The session here. The same id has another session for another user or framework."""
        self._about = {"source": source} | about
        if private or settings_of(memory).disabled:
            self.memory = keep_in_process(memory)

    async def get_session(self) -> Session | None:
        return await self.memory.sessions.get_session(self.session_id)

    async def read(self, last: int | None = None) -> list[dict[str, Any]]:
        """Return all or the last messages; an unknown session has none."""
        with suppress(NotFound):
            messages = await self.memory.sessions.get_messages(self.session_id, last=last)
            return [dict(message) for message in messages]
        return []

    async def append(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Append messages, all or none. The first ones create the session."""
        if messages:
            await self._ensure()
            await self.memory.sessions.append_messages(self.session_id, list(messages))

    async def rewrite(self, messages: Sequence[Mapping[str, Any]], **where: Any) -> None:
        """Replace the messages from one on. Searches still find the old ones."""
        await self.memory.sessions.rewrite(self.session_id, list(messages), **where)

    async def pop(self, read_item: ReadItem = item_of, *, if_revision: int | None = None) -> Item | None:
        """Delete the newest message and return its item; None if there is none."""
        message = None
        with suppress(NotFound):
            message = await self.memory.sessions.pop_message(self.session_id, if_revision=if_revision)
        return None if message is None else read_item(message)

    async def clear(self) -> None:
        """Delete the session. Can be undone, unless it only exists in this process."""
        await self.memory.sessions.delete_session(self.session_id)

    async def _ensure(self) -> None:
        try:
            await self.memory.sessions.ensure_session(self.session_id, **self._about)
        except Disabled:
            # A server only reports this when it is asked to store something.
            self.memory = keep_in_process(self.memory)
            await self.memory.sessions.ensure_session(self.session_id, **self._about)
