"""A session store for the Microsoft Agent Framework: snapshots of sessions, for any process.

The framework calls its ``SessionStore`` experimental and warns when this module is imported.
"""

from __future__ import annotations

from typing import Any

from mnemos.integrations.agent_framework import SOURCE
from mnemos.integrations.shared.extras import framework
from mnemos.integrations.shared.memory_source import Opened, Source, open_store
from mnemos.storage.entries import USUAL_USER

with framework("agent-framework"):
    from agent_framework import AgentSession, SessionStore


class MnemosSessionStore(Opened, SessionStore):
    """Snapshots of sessions: entries of a namespace of the user, which recall does not find."""

    def __init__(self, memory: Source = None, *, user_id: str = USUAL_USER, **flags: Any) -> None:
        """``memory``: one that is open, or the home or URL to open; ``flags``: settings like ``space``."""
        super().__init__()
        self._memory, self._owned = open_store(memory, **flags)
        self._namespace = (user_id, SOURCE)

    async def get(self, session_id: str) -> AgentSession | None:
        SessionStore.validate_session_id(session_id)
        entry = await self._memory.entries.retrieve(self._namespace, session_id)
        return None if entry is None else AgentSession.from_dict(entry.value)

    async def set(self, session_id: str, session: AgentSession) -> None:
        SessionStore.validate_session_id(session_id)
        await self._memory.entries.put(self._namespace, session_id, session.to_dict(), fields=[], allow=True)

    async def delete(self, session_id: str) -> None:
        SessionStore.validate_session_id(session_id)
        await self._memory.entries.delete(self._namespace, session_id)
