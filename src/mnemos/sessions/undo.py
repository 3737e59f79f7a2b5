"""What the audit log says of sessions, and how to take it back."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any

from mnemos.errors import NotFound, Refused
from mnemos.sessions import transcripts
from mnemos.sessions.model import dumped
from mnemos.storage.base import AuditRow, Storage, Writes

OPERATIONS = "sessions."
"""How the names of what sessions note begin. Their copies are large and do not stay for ever."""

TITLE = "sessions.title"
ARCHIVE = "sessions.archive"
DELETE = "sessions.delete"
IMPORT = "sessions.import"
PRUNE = "sessions.prune"
FORGET = "forget"

# A larger session is deleted without a way back; the answer of the command says so beforehand.
KEEP_CHARACTERS = 20_000_000

_KEYS_AT_ONCE = 2_000
_NAMED = 5

Note = Callable[[Writes, str, str, str | None, str | None], int]


def ref(session_id: str) -> str:
    return f"session:{session_id}"


def delete(storage: Storage, session_id: str, note: Note, kept_since: float) -> bool:
    """Delete a session, keeping a packed copy in the audit log; copies from before then go."""
    session = transcripts.exported(storage, session_id)
    if session is None:
        return False
    children = storage.read(lambda tx: [child.id for child in tx.sessions.children(session_id)])
    packed = pack(session | {"children": children})

    def work(tx: Writes) -> bool:
        known = tx.sessions.begin_delete(session_id)
        if known:
            tx.audit.expire(kept_since, OPERATIONS)
            note(tx, DELETE, ref(session_id), packed, None)
        return known

    known = storage.write(work)
    storage.finish_deletes()
    return known


def pack(session: dict[str, Any]) -> str | None:
    text = dumped(session)
    if len(text) > KEEP_CHARACTERS:
        return None
    return base64.b85encode(zlib.compress(text.encode(), 6)).decode()


def unpack(packed: str) -> dict[str, Any]:
    session: dict[str, Any] = json.loads(zlib.decompress(base64.b85decode(packed)))
    return session


def can_be_undone(entry: AuditRow) -> bool:
    if entry.undone_by is not None:
        return False
    if entry.operation == DELETE:
        return entry.before is not None
    if entry.operation == IMPORT:
        return entry.after is not None
    # A title's "before" may be no title; its "after" is then there.
    return entry.operation in (TITLE, ARCHIVE) and (entry.before or entry.after) is not None


def take_back(storage: Storage, entry: AuditRow, now: float) -> str:
    """Undo an entry; what was done, for people. Refused when something else changed it since."""
    if entry.operation == DELETE and entry.before:
        return _undelete(storage, entry.before, now)
    if entry.operation == IMPORT and entry.after:
        return _unimport(storage, json.loads(entry.after))
    session_id = entry.ref.removeprefix("session:")
    if entry.operation == TITLE:
        storage.write(lambda tx: _retitle(tx, session_id, entry))
        return f"the title of {session_id} is {entry.before!r} again"
    archived = json.loads(entry.before or "false")
    storage.write(lambda tx: _rearchive(tx, session_id, archived=archived))
    return f"{session_id} is {'archived again' if archived else 'no longer archived'}"


def _undelete(storage: Storage, packed: str, now: float) -> str:
    session = unpack(packed)
    incoming = transcripts.checked(
        [session], now=now, redact=lambda text: text, max_bytes=KEEP_CHARACTERS * 4
    )
    done = transcripts.store(storage, incoming, now)
    if not done.sessions:
        raise Refused(f"session {session['id']!r} exists again; delete or rename it first")
    storage.write(lambda tx: _give_back(tx, session))
    return f"{session['id']} is back, with {done.messages} messages under new ids"


def _give_back(tx: Writes, session: dict[str, Any]) -> None:
    """Children that were adopted when the session went belong to it again."""
    for child in session.get("children", ()):
        row = tx.sessions.get(child)
        if row is not None and row.parent_session_id == session["parent_session_id"]:
            tx.sessions.set_parent(child, session["id"])


def _unimport(storage: Storage, created: dict[str, int]) -> str:
    def work(tx: Writes) -> None:
        continued = [
            session_id
            for session_id, count in created.items()
            if tx.sessions.get(session_id) and tx.sessions.message_count(session_id) != count
        ]
        if continued:
            raise Refused(_continued(continued))
        for session_id in created:
            tx.sessions.begin_delete(session_id)

    keys = storage.read(lambda tx: tx.imports.keys_of(list(created)))
    storage.write(work)
    storage.finish_deletes()
    _let_come_again(storage, keys)
    return f"{len(created)} imported session{'s are' if len(created) != 1 else ' is'} gone again"


def _continued(session_ids: list[str]) -> str:
    # Whose messages they are, another import's or an agent's, is not known: keys are those of a session.
    named = ", ".join(repr(session_id) for session_id in session_ids[:_NAMED])
    more = f" and {len(session_ids) - _NAMED:,} more" if len(session_ids) > _NAMED else ""
    return (
        f"since this import, messages were added to {named}{more}: nothing was taken back, because those "
        "would go too. Delete what may go (`mnemos sessions delete`), then undo this again by its number: "
        "the other sessions go, and can be imported again"
    )


def _let_come_again(storage: Storage, keys: list[int]) -> None:
    """What another program keeps can be imported again, once it is not known any more."""
    if not keys:
        return
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        storage.write(lambda tx: tx.imports.drop(keys[start : start + _KEYS_AT_ONCE]))  # noqa: B023
    storage.write(lambda tx: tx.imports.drop_files())


def _retitle(tx: Writes, session_id: str, entry: AuditRow) -> None:
    row = tx.sessions.get(session_id)
    if row is None:
        raise NotFound(f"there is no session {session_id!r} any more")
    if row.title != entry.after:
        raise Refused(f"the title of {session_id} was changed again since, to {row.title!r}")
    tx.sessions.set_title(session_id, entry.before)


def _rearchive(tx: Writes, session_id: str, *, archived: bool) -> None:
    if not tx.sessions.set_archived(session_id, archived=archived):
        raise NotFound(f"there is no session {session_id!r} any more")
