"""A session store for the Claude Agent SDK.

``ClaudeAgentOptions(session_store=MnemosSessionStore())``. A session of the SDK is a session here, a
sub-agent a child of it, and a line of the transcript a message with the line's ``uuid`` as its key. The SDK's
summary is in the metadata of the session, written in the same transaction as the lines. Runs under asyncio
and trio.
"""

from __future__ import annotations

from typing import Any

from mnemos.errors import Conflict, NotFound
from mnemos.integrations.shared.history import item_of, list_sessions, message_of, name_session
from mnemos.integrations.shared.memory_source import OpenedStore, framework
from mnemos.sessions.session_types import Session
from mnemos.sessions.session_upkeep import DERIVED

with framework("claude-agent-sdk"):
    from claude_agent_sdk import fold_session_summary
    from claude_agent_sdk.types import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStore,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )

SOURCE = "claude-agent-sdk"


class MnemosSessionStore(OpenedStore, SessionStore):
    """Transcripts of the Claude Agent SDK in a memory, where recall finds them."""

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        messages = [_make_message(entry) for entry in entries]
        about = {"project_key": key["project_key"], "session_id": key["session_id"]}
        parent = _name({**key, "subpath": ""})
        await self._memory.sessions.ensure_session(parent, SOURCE, metadata=about)
        if key.get("subpath"):
            about["subpath"], session_id = key["subpath"], _name(key)
            await self._memory.sessions.ensure_session(
                session_id, SOURCE, parent_session_id=parent, metadata=about
            )
            await self._memory.sessions.append_messages(session_id, messages)
            return
        while not await self._append_main(parent, key, entries, messages):
            # Another writer was faster: continue from its summary.
            await self._memory.sessions.ensure_session(parent, SOURCE, metadata=about)

    async def _append_main(
        self, session_id: str, key: SessionKey, entries: list[SessionStoreEntry], messages: list[Any]
    ) -> bool:
        """Store lines with the SDK's summary of them; False if another writer was faster."""
        session = await self._memory.sessions.get_session(session_id)
        if session is None:
            return False
        # A summary of forgotten text is deleted. Make it again from the lines.
        known = session["metadata"].get(DERIVED, {}).get("summary")
        before = await self.load(key) if known is None and session["message_count"] else None
        summary = fold_session_summary(known, key, [*(before or ()), *entries])
        made = {DERIVED: {"summary": summary}}
        try:
            await self._memory.sessions.append_messages(
                session_id, messages, metadata=made, if_revision=session["revision"]
            )
        except (Conflict, NotFound):
            return False
        return True

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        try:
            messages = await self._memory.sessions.get_messages(_name(key))
        except NotFound:
            return None
        lines = [item_of(message, lambda _: None) for message in messages]
        for place, message in enumerate(messages):
            lines[place] = lines[place] or _make_line(message, lines[:place], lines[place + 1 :])
        return [line for line in lines if line] or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        return [
            {"session_id": session["metadata"]["session_id"], "mtime": int(session["updated_at"] * 1000)}
            for session in await self._list(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        found: list[SessionSummaryEntry] = []
        for session in await self._list(project_key):
            key = SessionKey(project_key=project_key, session_id=session["metadata"]["session_id"])
            known = session["metadata"].get(DERIVED, {}).get("summary")
            summary = known or fold_session_summary(None, key, await self.load(key) or [])
            found.append({**summary, "mtime": int(session["updated_at"] * 1000)})
        return found

    async def delete(self, key: SessionKey) -> None:
        session_id = _name(key)
        if not key.get("subpath"):
            for child in await self._memory.sessions.children(session_id):
                await self._memory.sessions.delete_session(child["id"])
        await self._memory.sessions.delete_session(session_id)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        children = await self._memory.sessions.children(_name({**key}))
        return [child["metadata"]["subpath"] for child in children if child["message_count"]]

    async def _list(self, project_key: str) -> list[Session]:
        """Return the sessions of a project that have lines, without sub-agents."""
        found = await list_sessions(self._memory, SOURCE, metadata={"project_key": project_key})
        return [one for one in found if one["message_count"] and "subpath" not in one["metadata"]]


def _name(key: Any) -> str:
    """Return the session of a key. The SDK's ids are only unique within a project."""
    labels = (key["project_key"], key["session_id"], key.get("subpath"))
    return name_session(SOURCE, *filter(None, labels))


def _make_message(entry: SessionStoreEntry) -> dict[str, Any]:
    kind = entry.get("type")
    message = {**message_of(dict(entry)), "role": kind, "key": entry.get("uuid")}
    if kind in ("user", "assistant"):
        return message
    # Lines that control the program, such as queue-operation, only repeat prompts.
    return message | {"role": "system", "origin": "memory"}


def _make_line(message: Any, before: list[Any], after: list[Any]) -> dict[str, Any] | None:
    """Return a line in place of a forgotten one, which later lines need as their parent.

    None if it controlled the program, or if no line of its kind is left to copy its fields from.
    """
    alike = [one for one in [*reversed(before), *after] if one and one.get("type") == message["role"]]
    if not alike or "key" not in message:
        return None
    uuids = [one["uuid"] for one in before if one and "uuid" in one]
    said = {"content": [{"type": "text", "text": message["content"]}], "id": message["key"]}
    about = {name: value for name, value in alike[0].items() if name != "toolUseResult"}
    chained = {"uuid": message["key"], "parentUuid": uuids[-1] if uuids else None}
    return {**about, **chained, "message": {**alike[0].get("message", {}), **said}}
