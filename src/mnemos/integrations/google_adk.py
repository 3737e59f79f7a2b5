"""A memory service for Google ADK: ``Runner(…, memory_service=…)``.

A session of ADK is a session here, and an event with text a message with the event's id as its key, so a
session may be added again and again. App and user are the user of the session, and a search sees nothing
else. ADK puts memories between its own tags as they are, so texts are handed out unable to close a tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mnemos.errors import NotFound
from mnemos.integrations.shared.history import name_session
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_source
from mnemos.integrations.shared.recall import find_passages
from mnemos.text.stored_text import escape_tags, render_speaker

with framework("google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

SOURCE = "google-adk"
_PREFIX = "message:"
# Sessions for events and memories whose session is unknown.
_EVENTS, _MEMORIES = "events", "memories"


class MnemosMemoryService(Opened, BaseMemoryService):
    """Memories of the users of ADK apps, found by meaning and separate for each user."""

    def __init__(self, memory: Source = None, *, limit: int = 10, **flags: Any) -> None:
        """``memory``: an open one, or the home to open; ``limit``: results per search."""
        self._memory, self._owned = open_source(memory, **flags)
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        await self._append(
            session.app_name, session.user_id, map(_read_event, session.events), "session", session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        **_: Any,
    ) -> None:
        name = (_EVENTS,) if session_id is None else ("session", session_id)
        await self._append(app_name, user_id, map(_read_event, events), *name)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry], **_: Any
    ) -> None:
        await self._append(app_name, user_id, map(_read_memory, memories), _MEMORIES)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        user = name_session(app_name, user_id)
        about: dict[str, Any] = {"source": SOURCE, "user_id": user, "all_projects": True}
        found = await find_passages(self._memory, query, limit=self._limit, kinds=["message"], **about)
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=f"{_PREFIX}{hit.ref}",
                    content=Content(
                        role="user" if hit.speaker == "user" else "model",
                        parts=[Part(text=escape_tags(hit.text))],
                    ),
                    author=escape_tags(render_speaker(hit.speaker)),
                    timestamp=datetime.fromtimestamp(hit.at, UTC).isoformat(),
                )
                for hit in found
            ]
        )

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Permanently erase a memory. Adding its session again doesn't restore it."""
        number = (memory_id or "").removeprefix(_PREFIX)
        if number.isascii() and number.isdigit():
            with suppress(NotFound):
                await self._memory.forget(f"{_PREFIX}{number}", user_id=name_session(app_name, user_id))

    async def _append(self, app_name: str, user_id: str, messages: Any, *name: str) -> None:
        said = [message for message in messages if message["content"]]
        if not said:
            return
        owner = name_session(app_name, user_id)
        session_id = name_session(SOURCE, app_name, user_id, *name)
        await self._memory.sessions.ensure_session(session_id, SOURCE, user_id=owner)
        await self._memory.sessions.append_messages(session_id, said)


def _read_event(event: Event) -> dict[str, Any]:
    return _make_message(event.content, event.author, key=event.id or None, timestamp=event.timestamp)


def _read_memory(memory: MemoryEntry) -> dict[str, Any]:
    at = None
    with suppress(ValueError):
        at = datetime.fromisoformat(memory.timestamp).timestamp() if memory.timestamp else None
    return _make_message(memory.content, memory.author or "user", key=memory.id, timestamp=at)


def _make_message(content: Content | None, author: str, **about: Any) -> dict[str, Any]:
    parts = (content.parts if content else None) or ()
    # A model's thoughts are not part of the conversation.
    text = "\n".join(part.text for part in parts if part.text and not part.thought)
    role = "user" if author == "user" else "assistant"
    return {"role": role, "content": text, "metadata": {"name": author}, **about}
