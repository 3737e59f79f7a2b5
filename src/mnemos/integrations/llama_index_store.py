"""A chat store for LlamaIndex: ``Memory.from_defaults(chat_store=…)``.

The messages of a key are one session: archived ones first, then the active ones. Messages that
are removed from the history are retired, so recall still finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mnemos.errors import Conflict
from mnemos.integrations.llama_index import SOURCE, as_message
from mnemos.integrations.shared.history import (
    History,
    copy_of,
    item_of,
    list_sessions,
    name_session,
    pair_calls,
)
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_store
from mnemos.memory.async_memory import AsyncMemory

with framework("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
    from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
    from pydantic import PrivateAttr

_ARCHIVED = "archived"
_Stored = dict[str, Any]


class MnemosChatStore(Opened, AsyncDBChatStore):
    """Conversations by key, in a memory shared with other agents and processes."""

    _memory: AsyncMemory = PrivateAttr()
    _owned: bool = PrivateAttr()
    _user_id: str | None = PrivateAttr()

    def __init__(
        self, memory: Source = None, *, user_id: str | None = None, private: bool = False, **flags: Any
    ) -> None:
        """``memory``: an open one, or a home or URL; ``flags``: settings; ``private``: store nothing."""
        super().__init__()
        self._memory, self._owned = open_store(memory, private=private, **flags)
        self._user_id = user_id

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        archived, active, _ = await self._read(key)
        chosen = {None: archived + active, MessageStatus.ARCHIVED: archived}.get(status, active)
        start = offset or 0
        return _as_items(chosen[start : None if limit is None else start + limit])

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        return len(await self.get_messages(key, status))

    async def add_message(
        self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        new = [as_message(message) for message in messages]
        if status is MessageStatus.ACTIVE:
            await self._history(key).append(new)
        else:
            await self._change(key, lambda archived, active: (archived + new, active))

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        new = [as_message(message) for message in messages]
        is_active = status is MessageStatus.ACTIVE
        await self._change(key, lambda *_: ([], new) if is_active else (new, []))

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete a message by the id that searches return."""
        archived, active, _ = await self._read(key)
        found = [one for one in archived + active if one["id"] == idx]
        if found:
            await self._change(
                key, lambda *parts: ([one for one in part if one["id"] != idx] for part in parts)
            )
        return _as_items(found)[0] if found else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Remove the messages of a status. Without one, delete the session (undoable)."""
        if status is None:
            await self._history(key).clear()
        elif status is MessageStatus.ACTIVE:
            await self._change(key, lambda archived, _: (archived, []))
        else:
            await self._change(key, lambda _, active: ([], active))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        _, active, _ = await self._change(key, lambda archived, active: (archived, active[n:]))
        return _as_items(active[:n])

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        _, active, _ = await self._change(key, lambda archived, active: (archived + active[:n], active[n:]))
        return _as_items(active[:n])

    async def get_keys(self) -> list[str]:
        start = name_session(SOURCE, self._user_id, "")
        sessions = await list_sessions(self._memory, SOURCE, user_id=self._user_id)
        names = [one["id"][len(start) :] for one in sessions if one["id"].startswith(start)]
        keys = [name.replace("%2F", "/").replace("%25", "%") for name in names]
        # A session without remaining messages is kept for searches.
        return [key for key in keys if await self._history(key).read(1)]

    @classmethod
    def class_name(cls) -> str:
        return "MnemosChatStore"

    def _history(self, key: str) -> History:
        return History(self._memory, key, SOURCE, user_id=self._user_id)

    async def _read(self, key: str) -> tuple[list[_Stored], list[_Stored], int | None]:
        """Return the archived and the active messages, and the revision of the session."""
        history = self._history(key)
        session = await history.memory.sessions.get_session(history.session_id)
        if session is None:
            return [], [], None
        messages = await history.read()
        count = int((session["metadata"] or {}).get(_ARCHIVED, 0))
        return messages[:count], messages[count:], session["revision"]

    async def _change(
        self, key: str, change: Callable[[list[_Stored], list[_Stored]], Any]
    ) -> tuple[list[_Stored], list[_Stored], int | None]:
        """Replace both lists in one transaction, retrying conflicts; return the old ones."""
        history = self._history(key)
        while True:
            archived, active, revision = before = await self._read(key)
            new_archived, new_active = change(archived, active)
            old, new = archived + active, new_archived + new_active
            if revision is None:
                if not new:
                    return before
                await history.memory.sessions.ensure_session(
                    history.session_id, SOURCE, user_id=self._user_id
                )
                continue
            kept = 0
            while kept < min(len(old), len(new)) and old[kept] is new[kept]:
                kept += 1
            # Searches find the earlier message. The copy is only for the history.
            tail = [copy_of(one) if "id" in one else one for one in new[kept:]]
            about: dict[str, Any] = {"metadata": {_ARCHIVED: len(new_archived)}, "if_revision": revision}
            try:
                if kept == len(old):
                    await history.memory.sessions.append_messages(history.session_id, tail, **about)
                else:
                    first = old[kept]["id"]
                    await history.memory.sessions.rewrite(history.session_id, tail, from_id=first, **about)
            except Conflict:
                continue
            return before


def _as_items(messages: Sequence[_Stored]) -> list[ChatMessage]:
    items = [ChatMessage.model_validate(item_of(message)) for message in messages]
    return pair_calls(items, _find_calls) if any(one.get("forgotten") for one in messages) else items


def _find_calls(message: ChatMessage) -> tuple[set[str], set[str]]:
    made = {str(block.tool_call_id) for block in message.blocks if isinstance(block, ToolCallBlock)}
    # For models that are older than these blocks.
    made |= {str(call["id"]) for call in message.additional_kwargs.get("tool_calls") or () if "id" in call}
    answered = str(message.additional_kwargs.get("tool_call_id", ""))
    return made, {answered} if message.role.value in {"tool", "function"} else set()
