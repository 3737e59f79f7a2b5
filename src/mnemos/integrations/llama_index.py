"""A memory block for LlamaIndex: ``Memory.from_defaults(memory_blocks=[…])``.

It adds what other conversations said about the last message, and records the messages that leave the
short-term memory.
"""

from __future__ import annotations

from typing import Any

from mnemos.integrations.shared.history import History, message_of, name_session
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_source
from mnemos.integrations.shared.recall import recall_block
from mnemos.memory.async_memory import AsyncMemory
from mnemos.text.fences import CLOSE

with framework("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from pydantic import PrivateAttr

SOURCE = "llama-index"


class MnemosMemoryBlock(Opened, BaseMemoryBlock[str]):
    """A fenced block of what the user's other conversations said about a message."""

    _memory: AsyncMemory = PrivateAttr()
    _owned: bool = PrivateAttr()
    _user_id: str | None = PrivateAttr()
    _record: bool = PrivateAttr()

    def __init__(
        self,
        memory: Source = None,
        *,
        user_id: str | None = None,
        record: bool = True,
        name: str = "mnemos",
        flags: dict[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL to open with the settings ``flags``.

        ``record``: store messages that leave the short-term memory. Pass False if a MnemosChatStore has them.
        """
        super().__init__(name=name, **fields)
        self._memory, self._owned = open_source(memory, **flags or {})
        self._user_id, self._record = user_id, record

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = next((one.content for one in reversed(messages or []) if one.role.value == "user"), "")
        key = block_kwargs.get("session_id")
        own = [] if key is None else [name_session(SOURCE, self._user_id, str(key))]
        block = await recall_block(self._memory, asked or "", user_id=self._user_id, exclude_session_ids=own)
        inside, end, _ = block.rpartition(CLOSE)
        # LlamaIndex puts the text between its own tags without escaping it.
        return inside.replace("</", "‹/") + end

    async def _aput(self, messages: list[ChatMessage]) -> None:
        if not self._record:
            return
        by_key: dict[str, list[dict[str, Any]]] = {}
        for message in messages:
            key = str(message.additional_kwargs.get("session_id", self.name))
            by_key.setdefault(key, []).append(as_message(message))
        for key, new in by_key.items():
            await History(self._memory, key, SOURCE, user_id=self._user_id).append(new)


def as_message(message: ChatMessage) -> dict[str, Any]:
    """Convert a message of LlamaIndex to one to append."""
    role = "tool" if message.role.value in {"tool", "function"} else "assistant"
    return message_of(message.model_dump(mode="json"), role=role)
