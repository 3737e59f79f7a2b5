"""The working history of a session, which ``get_messages`` returns."""

from __future__ import annotations

from collections.abc import Sequence

from mnemos.errors import Conflict, NotFound
from mnemos.storage.base import MessageRow, Reads, Writes

_EVERYTHING = 1 << 62


def read_messages(
    tx: Reads, session_id: str, last: int | None = None, since: float | None = None
) -> list[MessageRow]:
    """Return a session's working history or its end. An unknown session raises NotFound."""
    if tx.sessions.get(session_id) is None:
        raise NotFound(f"There is no session {session_id!r}.")
    return tx.sessions.messages(
        session_id,
        after=0,
        limit=_EVERYTHING if last is None else last,
        last=last is not None,
        working=True,
        since=since,
    )


def hold_session(tx: Writes, session_id: str, if_revision: int | None = None) -> int:
    """Lock a session for writing in this transaction and return its revision.

    An unknown session raises NotFound, and a revision other than ``if_revision`` raises Conflict.
    """
    revision = tx.sessions.hold(session_id)
    if revision is None:
        raise NotFound(f"There is no session {session_id!r}.")
    if if_revision is not None and revision != if_revision:
        raise Conflict(
            f"session {session_id!r} has revision {revision}, not {if_revision!r}: someone changed it. "
            "Nothing was written. Read it again, then repeat the change."
        )
    return revision


def retire_messages(tx: Writes, session_id: str, first: int, keys: Sequence[str]) -> None:
    """Retire a session's messages from one on. A message of another session raises NotFound."""
    if first:
        message = tx.sessions.message(first)
        if message is None or message.session_id != session_id:
            raise NotFound(f"There is no message {first} in session {session_id!r}.")
    tx.sessions.retire(session_id, first, _EVERYTHING, free=keys)
