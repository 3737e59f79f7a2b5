"""Lookup of sessions by id or title, and the lineage of sessions that form one conversation.

A conversation continues in a child session when its context was compressed. A delegated task is a child
session too, but a separate conversation.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemos.errors import Ambiguous, NotFound
from mnemos.inputs import name, suggest
from mnemos.projects import match_projects, name_project
from mnemos.sessions.titles import add_titles, find_by_short_id, shorten_ids
from mnemos.storage.base import Reads, SessionReads, SessionRow, Storage
from mnemos.text.stored_text import one_line
from mnemos.text.tables import format_time

_DELEGATED = frozenset({"subagent", "delegate", "delegation"})
COMPRESSED = "compress"
EXACTLY = "session:"
"""The prefix of an exact id, which is neither a title nor the beginning of an id."""
_MOST_MATCHES = 500
_SHOWN_PROJECTS = 8
_SHOWN_CANDIDATES = 8


def is_visible(session: SessionRow, user: str | None) -> bool:
    """True if a user may see a session: it belongs to that user or to nobody."""
    return user is None or session.user_id in (None, user)


def resolve_id(tx: Reads, text: str, user: str | None = None) -> str:
    """Return the session id for an id, a title or the beginning of an id, in this order.

    ``session:ID`` is that id and nothing else.
    """
    whole_id = text.removeprefix(EXACTLY)
    exact = tx.sessions.get(text) or (tx.sessions.get(whole_id) if whole_id != text else None)
    if exact is not None and is_visible(exact, user):
        return exact.id
    if whole_id != text:
        raise NotFound(f"There is no session {whole_id!r}.")
    titled = [row for row in tx.sessions.by_title(text, _MOST_MATCHES) if is_visible(row, user)]
    begun = () if titled else find_by_short_id(tx, text, _MOST_MATCHES)
    matches = titled or [row for row in begun if is_visible(row, user)]
    if not matches:
        raise NotFound(f"There is no session with the id or title {text!r}.")
    shortest = min(matches, key=lambda row: len(row.id))
    # The ids of delegated tasks begin with the id of their session.
    if not all(row.id.startswith(f"{shortest.id}:") for row in matches if row is not shortest):
        some = "\n".join(_list_candidates(tx, matches))
        raise Ambiguous(f"{text!r} matches several sessions. Type more of the id:\n{some}")
    return shortest.id


def _list_candidates(tx: Reads, rows: list[SessionRow]) -> Iterator[str]:
    """Yield the title, start and short id of each session, newest first."""
    newest = sorted(rows, key=lambda row: -row.started_at)[:_SHOWN_CANDIDATES]
    ids = shorten_ids(tx, [row.id for row in newest])
    for row in add_titles(tx, newest):
        yield f"  {one_line(row.title or '') or 'Untitled'}, {format_time(row.started_at)}, {ids[row.id]}"
    if len(rows) > len(newest):
        yield f"  and {len(rows) - len(newest)} more"


def resolve_projects(storage: Storage, text: str) -> list[str]:
    """Return the projects that a path or folder name refers to. Raises NotFound if there are none."""
    known = sorted(storage.read(lambda tx: tx.sessions.projects()))
    found = match_projects(name("project", text), known)
    if not found:
        folders = list(map(name_project, known))
        some = ", ".join(folders[:_SHOWN_PROJECTS]) or "none"
        meant = suggest(text, folders)
        raise NotFound(f"No session is about the project {text!r}.{meant} Projects here: {some}.")
    return list(found)


def find_root(sessions: SessionReads, session_id: str) -> str:
    """Return the first session of the conversation."""
    return list_ancestors(sessions, session_id)[0]


def list_ancestors(sessions: SessionReads, session_id: str) -> list[str]:
    """Return the sessions from the root to this one. An unknown session raises NotFound."""
    session = sessions.get(session_id)
    if session is None:
        raise NotFound(f"There is no session {session_id!r}.")
    line = [session.id]
    while session is not None and session.parent_session_id and not is_delegated(session):
        session = sessions.get(session.parent_session_id)
        if session is not None:
            line.insert(0, session.id)
    return line


def list_lineage(sessions: SessionReads, session_id: str) -> list[str]:
    """Return the sessions of the conversation from the root to the tip."""
    line = list_ancestors(sessions, session_id)
    while (following := _find_continuation(sessions, line[-1])) is not None:
        line.append(following)
    return line


def is_delegated(session: SessionRow) -> bool:
    return session.source.lower() in _DELEGATED


def _find_continuation(sessions: SessionReads, session_id: str) -> str | None:
    """Return the child that continues the conversation: after a compression, else the newest."""
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
