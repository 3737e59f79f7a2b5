"""A session repository for Strands Agents.

``RepositorySessionManager("chat-1", MnemosSessionRepository())`` keeps sessions,
the agents in them, and the messages of each agent as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mnemos.errors import AlreadyExists, Conflict, NotFound
from mnemos.integrations.shared.history import copy_of, item_of, message_of, name_session
from mnemos.integrations.shared.memory_source import OpenedSync, Source, framework, open_store
from mnemos.integrations.strands import SOURCE

with framework("strands"):
    from strands.session.session_repository import SessionRepository
    from strands.types.exceptions import SessionException
    from strands.types.session import Session, SessionAgent, SessionMessage

if TYPE_CHECKING:
    from strands.multiagent import MultiAgentBase

_TEAM = "multi_agent/"


class MnemosSessionRepository(OpenedSync, SessionRepository):
    """Sessions, their agents as child sessions, and each agent's messages."""

    def __init__(
        self, memory: Source = None, *, user_id: str | None = None, private: bool = False, **flags: Any
    ) -> None:
        """``memory``: an open one, or a home or URL; ``flags``: settings; ``private``: store nothing."""
        self._memory, self._owned = open_store(memory, private=private, **flags)
        self._user_id = user_id

    def create_session(self, session: Session, **_: Any) -> Session:
        try:
            self._create(self._name(session.session_id), session.to_dict())
        except AlreadyExists as exc:
            raise SessionException(f"Session {session.session_id} already exists") from exc
        return session

    def read_session(self, session_id: str, **_: Any) -> Session | None:
        known = self._read(self._name(session_id))
        return None if known is None else Session.from_dict(known)

    def delete_session(self, session_id: str, **_: Any) -> None:
        name = self._name(session_id)
        self._check(name, f"Session {session_id} does not exist")
        for child in self._sync.sessions.children(name):
            self._sync.sessions.delete_session(child["id"])
        self._sync.sessions.delete_session(name)

    def create_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        parent = self._name(session_id)
        self._check(parent, f"Session {session_id} does not exist")
        name = self._name(session_id, session_agent.agent_id)
        try:
            self._create(name, session_agent.to_dict(), parent_session_id=parent)
        except AlreadyExists:
            self._sync.sessions.update_metadata(name, {SOURCE: session_agent.to_dict()})

    def read_agent(self, session_id: str, agent_id: str, **_: Any) -> SessionAgent | None:
        known = self._read(self._name(session_id, agent_id))
        return None if known is None else SessionAgent.from_dict(known)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        name = self._name(session_id, session_agent.agent_id)
        known = self._check(name, f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        session_agent.created_at = known["created_at"]
        self._sync.sessions.update_metadata(name, {SOURCE: session_agent.to_dict()})

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any
    ) -> None:
        """Store a message once. Another one with its index raises SessionException."""
        name = self._name(session_id, agent_id)
        self._check(name, f"Agent {agent_id} in session {session_id} does not exist")
        [stored] = self._sync.sessions.append_messages(name, [_as_message(session_message)])
        [known] = self._sync.sessions.get_messages_around(stored, 0, 0)
        if item_of(known, _read_text)["created_at"] != session_message.created_at:
            raise SessionException(
                f"Message {session_message.message_id} of agent {agent_id} exists: another process continued "
                f"session {session_id}. Nothing was stored. Load the session again."
            )

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **_: Any
    ) -> SessionMessage | None:
        for message in self._read_messages(self._name(session_id, agent_id)):
            if message.get("key") == str(message_id):
                return _read_message(message)
        return None

    def update_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any
    ) -> None:
        """Erase and replace a message, so that no crash keeps text that was redacted."""
        name = self._name(session_id, agent_id)
        while True:
            session, messages = self._sync.sessions.get_session(name), self._read_messages(name)
            places = [
                n for n, one in enumerate(messages) if one.get("key") == str(session_message.message_id)
            ]
            if session is None or not places:
                raise SessionException(f"Message {session_message.message_id} does not exist")
            old, later = messages[places[0]], messages[places[0] + 1 :]
            if not old.get("forgotten"):
                session_message.created_at = item_of(old, _read_text)["created_at"]
                self._sync.forget(f"message:{old['id']}")
                continue
            # Searches find later messages in their old place and not their copies.
            changed = [_as_message(session_message), *map(copy_of, later)]
            with suppress(Conflict):
                self._sync.sessions.rewrite(name, changed, from_id=old["id"], if_revision=session["revision"])
                return

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **_: Any
    ) -> list[SessionMessage]:
        end = None if limit is None else offset + limit
        messages = self._read_messages(self._name(session_id, agent_id))[offset:end]
        return [_read_message(message) for message in messages]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **_: Any) -> None:
        name = self._name(session_id)
        self._check(name, f"Session {session_id} does not exist")
        self._sync.sessions.update_metadata(name, {_TEAM + multi_agent.id: multi_agent.serialize_state()})

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **_: Any) -> dict[str, Any] | None:
        session = self._sync.sessions.get_session(self._name(session_id))
        return None if session is None else (session["metadata"] or {}).get(_TEAM + multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **_: Any) -> None:
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(f"MultiAgent {multi_agent.id} in session {session_id} does not exist")
        self.create_multi_agent(session_id, multi_agent)

    def _name(self, *ids: str) -> str:
        return name_session(SOURCE, self._user_id, *ids)

    def _create(self, name: str, known: Mapping[str, Any], **about: Any) -> None:
        self._sync.sessions.create_session(
            name, SOURCE, user_id=self._user_id, metadata={SOURCE: dict(known)}, **about
        )

    def _read(self, name: str) -> dict[str, Any] | None:
        session = self._sync.sessions.get_session(name)
        return None if session is None else (session["metadata"] or {}).get(SOURCE)

    def _check(self, name: str, problem: str) -> dict[str, Any]:
        known = self._read(name)
        if known is None:
            raise SessionException(problem)
        return known

    def _read_messages(self, name: str) -> list[Any]:
        with suppress(NotFound):
            return list(self._sync.sessions.get_messages(name))
        return []


def _read_message(stored: Mapping[str, Any]) -> SessionMessage:
    return SessionMessage.from_dict(item_of(stored, _read_text))


def _read_text(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "message": {"role": stored["role"], "content": [{"text": stored["content"]}]},
        "message_id": int(stored.get("key", stored["id"])),
        "created_at": datetime.fromtimestamp(stored["timestamp"], UTC).isoformat(),
    }


def _as_message(message: SessionMessage) -> dict[str, Any]:
    unsearched = {"origin": "memory"} if message.redact_message is not None else {}
    role = message.message["role"]
    return message_of(message.to_dict(), role=role, key=str(message.message_id), **unsearched)
