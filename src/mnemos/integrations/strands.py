"""A memory store for Strands: ``MemoryManager(stores=[MnemosMemoryStore()])``.

It finds what was said in other conversations, and records those that the manager hands over. No model
extracts anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mnemos.integrations.shared.history import message_of, name_session
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_source
from mnemos.integrations.shared.recall import find_passages
from mnemos.text.stored_text import escape_tags

with framework("strands"):
    from strands.memory.types import MemoryEntry

if TYPE_CHECKING:
    from strands.memory.types import AddMessagesContext, Metadata, SearchOptions
    from strands.types.content import Message

SOURCE = "strands"
_MEMORIES = "memories"


class MnemosMemoryStore(Opened):
    """Finds what a user said and what was added, by words and meaning."""

    def __init__(
        self,
        memory: Source = None,
        *,
        user_id: str | None = None,
        name: str = "mnemos",
        description: str | None = "Past conversations and what was remembered from them.",
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: Any = True,
        **flags: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL to open with settings as ``flags``."""
        self.name, self.description = name, description
        self.max_search_results, self.writable, self.extraction = max_search_results, writable, extraction
        self._memory, self._owned = open_source(memory, **flags)
        self._user_id = user_id

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        most = (options or {}).get("max_search_results") or self.max_search_results or 10
        found = await find_passages(self._memory, query, limit=most, user_id=self._user_id)
        return [
            MemoryEntry(content=escape_tags(hit.text), metadata={"ref": hit.ref, "score": hit.score})
            for hit in found
        ]

    async def add(self, content: str, metadata: Metadata | None = None) -> None:
        await self._append([{"role": "assistant", "content": content, "metadata": dict(metadata or {})}])

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:  # noqa: ARG002 - nothing in it is needed
        await self._append([message_of(message) for message in messages])

    async def _append(self, messages: list[dict[str, Any]]) -> None:
        session_id = name_session(SOURCE, self._user_id, _MEMORIES)
        await self._memory.sessions.ensure_session(session_id, SOURCE, user_id=self._user_id)
        await self._memory.sessions.append_messages(session_id, messages)
