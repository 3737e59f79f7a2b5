"""A conversation store for Pydantic AI: ``store = MnemosConversationStore()``.

A conversation is a session and its record is in the session's metadata, written in the same transaction as
the entries. A branch that was left is still found by recall. A fork has copies of the entries it shares, so
deleting one of the two conversations leaves the other whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mnemos.errors import Conflict, NotFound
from mnemos.integrations.shared.entry_tree import Entry, EntryTree
from mnemos.integrations.shared.history import item_of, list_sessions, message_of
from mnemos.integrations.shared.memory_source import OpenedStore, Source, framework
from mnemos.integrations.shared.recall import recall_block
from mnemos.sessions.session_types import Session

with framework("pydantic-ai"):
    from pydantic import TypeAdapter
    from pydantic_ai import RunContext
    from pydantic_ai.conversation_store import (
        ConversationConflict,
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
    from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest

SOURCE = "pydantic-ai"
_RECORD = TypeAdapter(ConversationRecord)


class MnemosConversationStore(OpenedStore, ConversationStore):
    """Conversations in a memory shared with other agents and processes."""

    def __init__(self, memory: Source = None, *, private: bool = False, **flags: Any) -> None:
        super().__init__(memory, private=private, **flags)
        self._tree = EntryTree(self._memory, SOURCE)

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        return self._find_record(await self._memory.sessions.get_session(_name(conversation_id)))

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        sessions = await list_sessions(self._memory, SOURCE, user_id=scope or None)
        found = [self._find_record(one) for one in sessions]
        records = [one for one in found if one is not None and scope in (None, one.scope)]
        return sorted(records, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        session = await self._memory.sessions.get_session(_name(record.conversation_id))
        known = self._find_record(session)
        if (known.revision if known else None) != expected_revision:
            raise ConversationConflict(record.conversation_id)
        try:
            if session is None or (known is None and session["user_id"] != (record.scope or None)):
                session = await self._begin(session, record)
            await self._tree.write(
                session,
                (known.head_id if known else None, record.head_id),
                [_make_entry(entry) for entry in new_entries],
                {"record": _RECORD.dump_python(record, mode="json")},
            )
        except (Conflict, NotFound, LookupError) as exc:
            raise ConversationConflict(record.conversation_id) from exc

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        session = await self._memory.sessions.get_session(_name(conversation_id))
        known = self._find_record(session)
        if session is None or known is None or known.revision != expected_revision:
            raise ConversationConflict(conversation_id)
        try:
            await self._memory.sessions.delete_session(session["id"], if_revision=session["revision"])
        except (Conflict, NotFound) as exc:
            raise ConversationConflict(conversation_id) from exc

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        return (await self.read_history(entry_id, limit=1))[-1]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        return [
            ConversationEntry(id=entry.id, parent_id=entry.parent_id, message=_read_message(entry.message))
            for entry in await self._tree.read(head_id, limit)
        ]

    async def _begin(self, left: Session | None, record: ConversationRecord) -> Session:
        """Create a record's session, in place of one that a crash left without record."""
        session_id = _name(record.conversation_id)
        if left is not None:
            await self._memory.sessions.delete_session(session_id, if_revision=left["revision"])
        await self._memory.sessions.ensure_session(session_id, SOURCE, user_id=record.scope or None)
        session = await self._memory.sessions.get_session(session_id)
        if session is None or self._find_record(session) is not None:
            raise ConversationConflict(record.conversation_id)
        return session

    def _find_record(self, session: Session | None) -> ConversationRecord | None:
        stored = (session["metadata"] or {}).get("record") if session else None
        if session is None or stored is None:
            return None
        record = _RECORD.validate_python(stored)
        self._tree.note_place(session["id"], (record.head_id, *record.branches))
        return record


def recall_instructions(
    store: MnemosConversationStore, *, scope: str | None = None
) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Return instructions for an agent: what other conversations say about the prompt."""

    async def add(context: RunContext[Any]) -> str:
        seen = [_name(context.conversation_id)] if context.conversation_id else []
        asked = read_prompt(context)
        return await recall_block(store._memory, asked, user_id=scope, exclude_session_ids=seen)

    return add


def read_prompt(context: RunContext[Any]) -> str:
    """Return the text of the prompt of a run."""
    parts = [context.prompt] if isinstance(context.prompt, str) else context.prompt or ()
    return "\n".join(part for part in parts if isinstance(part, str))


def _name(conversation_id: str) -> str:
    return f"{SOURCE}/{conversation_id}"


def _make_entry(entry: ConversationEntry) -> Entry:
    message = entry.message
    item = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    kinds = {part.part_kind for part in message.parts}
    role = "user" if "user-prompt" in kinds else "tool" if "tool-return" in kinds else "system"
    at = message.timestamp.timestamp() if message.timestamp else None
    role = role if isinstance(message, ModelRequest) else "assistant"
    return Entry(entry.id, entry.parent_id, message_of(item, role=role, timestamp=at))


def _read_message(message: Mapping[str, Any]) -> ModelMessage:
    return ModelMessagesTypeAdapter.validate_python([item_of(message, _read_text)])[0]


def _read_text(message: Mapping[str, Any]) -> dict[str, Any]:
    if message["role"] == "assistant":
        return {"kind": "response", "parts": [{"part_kind": "text", "content": message["content"]}]}
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": message["content"]}]}
