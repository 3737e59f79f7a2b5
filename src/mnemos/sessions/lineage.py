"""Which sessions are one conversation.

A conversation goes on in a child session when its context was compressed; a delegated task is a child
session too, but a conversation of its own.
"""

from __future__ import annotations

from mnemos.errors import NotFound
from mnemos.storage.base import SessionReads, SessionRow

_DELEGATED = frozenset({"subagent", "delegate", "delegation"})
COMPRESSED = "compress"


def root(sessions: SessionReads, session_id: str) -> str:
    """The first session of the conversation this one belongs to."""
    return ancestors(sessions, session_id)[0]


def ancestors(sessions: SessionReads, session_id: str) -> list[str]:
    """From the root down to the session itself."""
    session = sessions.get(session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id!r}")
    line = [session.id]
    while session is not None and session.parent_session_id and not is_delegated(session):
        session = sessions.get(session.parent_session_id)
        if session is not None:
            line.insert(0, session.id)
    return line


def whole(sessions: SessionReads, session_id: str) -> list[str]:
    """From the root over the session to the tip."""
    line = ancestors(sessions, session_id)
    while (following := _continuation(sessions, line[-1])) is not None:
        line.append(following)
    return line


def is_delegated(session: SessionRow) -> bool:
    return session.source.lower() in _DELEGATED


def _continuation(sessions: SessionReads, session_id: str) -> str | None:
    """The child in which the conversation went on: after a compression, else the newest."""
    children = [child for child in sessions.children(session_id) if not is_delegated(child)]
    if not children:
        return None
    parent = sessions.get(session_id)
    if parent is not None and parent.ended_at is not None and _is_compressed(parent):
        after = [child for child in children if child.started_at >= parent.ended_at]
        return (after or children)[0].id
    return children[-1].id


def _is_compressed(session: SessionRow) -> bool:
    return (session.end_reason or "").lower().startswith(COMPRESSED)
