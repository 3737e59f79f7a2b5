"""Providers for the Microsoft Agent Framework.

``Agent(…, context_providers=[MnemosHistoryProvider()])``. The history provider keeps the messages of a
session exactly. The context provider adds what the user's other sessions said about the coming message. The
session store keeps snapshots of sessions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from mnemos.entries.entry_namespaces import USUAL_USER
from mnemos.integrations.shared.history import History, item_of, message_of, pair_calls
from mnemos.integrations.shared.memory_source import Opened, Source, framework, open_source, open_store
from mnemos.integrations.shared.recall import recall_block

with framework("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, HistoryProvider, Message, SessionStore

if TYPE_CHECKING:
    from agent_framework import SessionContext

SOURCE = "agent-framework"
# Runs without a session share one history, as they do in the framework's own providers.
_NO_SESSION = "default"


class MnemosHistoryProvider(Opened, HistoryProvider):
    """The messages of each session, in a memory shared with other agents and processes."""

    def __init__(
        self,
        memory: Source = None,
        *,
        user_id: str | None = None,
        private: bool = False,
        source_id: str = "mnemos",
        settings: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL to open with ``settings``.

        ``private``: keep conversations in this process only. ``options`` are those of HistoryProvider.
        """
        super().__init__(source_id, **options)
        self._memory, self._owned = open_source(memory, **settings or {})
        self._about: dict[str, Any] = {"user_id": user_id, "private": private}

    async def get_messages(self, session_id: str | None, **_: Any) -> list[Message]:
        stored = await self._history(session_id).read()
        messages = [Message.from_dict(item_of(one, _read_text)) for one in stored]
        return pair_calls(messages, _find_calls) if any(one.get("forgotten") for one in stored) else messages

    async def save_messages(self, session_id: str | None, messages: Sequence[Message], **_: Any) -> None:
        await self._history(session_id).append([_as_message(message) for message in messages])

    def _history(self, session_id: str | None) -> History:
        return History(self._memory, session_id or _NO_SESSION, SOURCE, **self._about)


class MnemosContextProvider(Opened, ContextProvider):
    """Adds what the user's other sessions said about a message to the instructions."""

    def __init__(
        self,
        memory: Source = None,
        *,
        user_id: str | None = None,
        source_id: str = "mnemos-recall",
        **flags: Any,
    ) -> None:
        """``memory``: an open one, or the home or URL to open with settings as ``flags``."""
        super().__init__(source_id)
        self._memory, self._owned = open_source(memory, **flags)
        self._user_id = user_id

    async def before_run(self, *, context: SessionContext, **_: Any) -> None:
        asked = "\n".join(message.text for message in context.input_messages if message.role == "user")
        # The history provider already shows the model this session.
        own = History(self._memory, context.session_id or _NO_SESSION, SOURCE, user_id=self._user_id)
        block = await recall_block(
            self._memory, asked, user_id=self._user_id, exclude_session_ids=[own.session_id]
        )
        if block:
            context.extend_instructions(self.source_id, block)


with catch_warnings():
    # The framework warns that its SessionStore is experimental as soon as a class derives from it.
    simplefilter("ignore")

    class MnemosSessionStore(Opened, SessionStore):
        """Snapshots of sessions: entries in a namespace of the user, hidden from recall."""

        def __init__(self, memory: Source = None, *, user_id: str = USUAL_USER, **flags: Any) -> None:
            """``memory``: an open one, or the home or URL to open with settings as ``flags``."""
            super().__init__()
            self._memory, self._owned = open_store(memory, **flags)
            self._namespace = (user_id, SOURCE)

        async def get(self, session_id: str) -> AgentSession | None:
            SessionStore.validate_session_id(session_id)
            entry = await self._memory.entries.retrieve(self._namespace, session_id)
            return None if entry is None else AgentSession.from_dict(entry.value)

        async def set(self, session_id: str, session: AgentSession) -> None:
            SessionStore.validate_session_id(session_id)
            await self._memory.entries.put(self._namespace, session_id, session.to_dict(), fields=[])

        async def delete(self, session_id: str) -> None:
            SessionStore.validate_session_id(session_id)
            await self._memory.entries.delete(self._namespace, session_id)


def _read_text(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": stored["role"], "contents": [{"type": "text", "text": stored["content"]}]}


def _find_calls(message: Message) -> tuple[set[str], set[str]]:
    ids = [(content.type, content.call_id) for content in message.contents if content.call_id]
    answered = {call_id for kind, call_id in ids if kind == "function_result"}
    is_lost = message.role == "tool" and not answered
    return {one for kind, one in ids if kind == "function_call"}, {""} if is_lost else answered


def _as_message(message: Message) -> dict[str, Any]:
    return message_of(message.to_dict(), role="tool" if message.role == "tool" else "assistant")
