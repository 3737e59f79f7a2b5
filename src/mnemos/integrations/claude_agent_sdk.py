"""A session store for the Claude Agent SDK: ``ClaudeAgentOptions(session_store=MnemosSessionStore())``.

A session of the SDK is a session here, a sub-agent a child of it, and a line of the transcript a message with
the line's ``uuid`` as its key. The summary that the SDK folds is in the metadata of the session, written in
the same transaction as the lines. Runs under asyncio and trio.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from mnemos.errors import NotFound
from mnemos.integrations.shared.history import item_of, message_of
from mnemos.integrations.shared.memory_source import Source, open_source
from mnemos.sessions.session_types import Session

SOURCE = "claude-agent-sdk"
_PAGE = 500


class MnemosSessionStore(SessionStore):
    """Transcripts of the Claude Agent SDK in a memory: found by recall, resumed from anywhere."""

    def __init__(self, memory: Source = None, **flags: Any) -> None:
        """``memory``: one that is open, or the home to open; ``flags``: settings, such as ``space``."""
        self._memory, self._owned = open_source(memory, **flags)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        session_id, parent = _name(key), None
        about = {"project_key": key["project_key"], "session_id": key["session_id"]}
        if key.get("subpath"):
            parent = _name({**key, "subpath": ""})
            await self._memory.sessions.ensure_session(parent, SOURCE, metadata=about)
            about["subpath"] = key["subpath"]
        await self._memory.sessions.ensure_session(
            session_id, SOURCE, parent_session_id=parent, metadata=about
        )
        await self._memory.sessions.append_messages(
            session_id,
            [_make_message(entry) for entry in entries],
            metadata=None if parent else _fold(key, entries),
        )

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        try:
            messages = await self._memory.sessions.get_messages(_name(key))
        except NotFound:
            return None
        return [item_of(message) for message in messages] or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        return [
            {"session_id": session["metadata"]["session_id"], "mtime": _mtime(session)}
            for session in await self._list(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        return [
            {**session["metadata"]["summary"], "mtime": _mtime(session)}
            for session in await self._list(project_key)
            if "summary" in session["metadata"]
        ]

    async def delete(self, key: SessionKey) -> None:
        session_id = _name(key)
        if not key.get("subpath"):
            for child in await self._memory.sessions.children(session_id):
                await self._memory.sessions.delete_session(child["id"])
        await self._memory.sessions.delete_session(session_id)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        children = await self._memory.sessions.children(_name({**key}))
        return [child["metadata"]["subpath"] for child in children if child["message_count"]]

    async def close(self) -> None:
        """Close the memory, if it was opened here."""
        if self._owned:
            await self._memory.close()

    async def _list(self, project_key: str) -> list[Session]:
        """Return the sessions of a project that have lines, without sub-agents."""
        found: list[Session] = []
        while len(found) % _PAGE == 0:
            page = await self._memory.sessions.search_sessions(
                SOURCE, _PAGE, len(found), archived=None, metadata={"project_key": project_key}
            )
            if not page:
                break
            found += page
        return [one for one in found if one["message_count"] and "subpath" not in one["metadata"]]


def _name(key: Any) -> str:
    """Return the session of a key. Ids of the SDK are only unique in their project."""
    return "/".join(filter(None, (key["project_key"], key["session_id"], key.get("subpath"))))


def _make_message(entry: SessionStoreEntry) -> dict[str, Any]:
    kind = entry.get("type")
    role = kind if kind in ("user", "assistant") else "system"
    return {**message_of(dict(entry)), "role": role, "key": entry.get("uuid")}


def _fold(key: SessionKey, entries: list[SessionStoreEntry]) -> Callable[[Any], Any]:
    """Return the change of the session's metadata: the SDK's summary goes on with these lines."""

    def change(metadata: Any) -> Any:
        known = metadata.get("summary")
        return {**metadata, "summary": fold_session_summary(known, key, entries)}

    return change


def _mtime(session: Session) -> int:
    return int(session["updated_at"] * 1000)
