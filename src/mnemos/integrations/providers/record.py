"""The conversation of a host, written into sessions. Everything here runs in the background, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemos.errors import InvalidInput, NotFound
from mnemos.integrations.providers import keeping
from mnemos.integrations.providers.turns import plain_turn

if TYPE_CHECKING:
    from mnemos.memory import Memory

DELEGATED: Final = "subagent"
COMPRESSED: Final = "compressed"
ENDED: Final = "ended"


class Record:
    """Sessions as they come into being: each is made with its first turn, and linked to what it follows."""

    def __init__(self, memory: Memory, *, source: str | None, user_id: str | None) -> None:
        self._memory = memory
        self._source = source
        self._user_id = user_id
        self._known: set[str] = set()
        self._parents: dict[str, str] = {}

    def follows(self, session_id: str, parent_session_id: str) -> None:
        """When this session is made, it is a child of that one. One that is there already stays as it is."""
        self._parents[session_id] = parent_session_id

    def store_turn(self, session_id: str, turn: Sequence[dict[str, Any]]) -> None:
        """Append a turn, all of it or, where that cannot be stored, the first and the last that was said."""
        self._make(session_id)
        try:
            self._memory.sessions.append_messages(session_id, turn)
        except NotFound:
            # Deleted since.
            self._known.discard(session_id)
            self._make(session_id)
            self._memory.sessions.append_messages(session_id, turn)
        except InvalidInput:
            plain = plain_turn(turn)
            if not plain or plain == list(turn):
                raise
            self._memory.sessions.append_messages(session_id, plain)

    def end(self, session_id: str, reason: str) -> None:
        """Close a session; one that nothing was said in is not there."""
        if self._is_there(session_id):
            self._memory.sessions.end_session(session_id, reason)
        self._known.discard(session_id)

    def finish(self, session_id: str, messages: Any) -> None:
        """Note what may be worth keeping of a conversation that is over, and close it."""
        found = keeping.candidates(self._memory, session_id, messages) if self._is_there(session_id) else None
        # What cannot be noted is told in the log; the session is over all the same.
        self.end(session_id, ENDED)
        if found:
            self._memory.sessions.update_metadata(session_id, {"candidates": found})

    def store_child(self, session_id: str, child_session_id: str, task: str, result: str, at: float) -> None:
        """A task that another agent did, as a session of its own below this one."""
        self._make(session_id)
        told = f"{session_id}\0{task}\0{result}\0{at}"
        child = child_session_id or f"task-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:16]}"
        sessions = self._memory.sessions
        sessions.ensure_session(child, DELEGATED, parent_session_id=session_id, user_id=self._user_id)
        if not sessions.message_count(child):
            # Where the other agent has a memory itself, it is written down already.
            turn = [("user", task), ("assistant", result)]
            said = [{"role": role, "content": text, "timestamp": at} for role, text in turn if text]
            sessions.append_messages(child, said)
        sessions.end_session(child, ENDED)

    def _make(self, session_id: str) -> None:
        if session_id in self._known:
            return
        sessions = self._memory.sessions
        there = sessions.get_session(session_id)
        if there is None:
            parent = self._parents.pop(session_id, None)
            linked = parent if parent and sessions.get_session(parent) is not None else None
            sessions.ensure_session(session_id, self._source, user_id=self._user_id, parent_session_id=linked)
        elif there["ended_at"] is not None:
            sessions.reopen_session(session_id)
        self._known.add(session_id)

    def _is_there(self, session_id: str) -> bool:
        return self._memory.sessions.get_session(session_id) is not None
