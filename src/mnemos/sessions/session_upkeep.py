"""Upkeep of sessions: changes that are logged, deletes, erasure, statistics, and undo."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from itertools import count
from typing import Any

from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.sessions import transcript
from mnemos.sessions.records import calls_without_arguments, dump_json
from mnemos.sessions.titles import shorten_ids
from mnemos.sessions.working_history import hold_session
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import MessageRow, Reads, Storage, Writes
from mnemos.storage.tombstones import Tombstone

OPERATIONS = "sessions."
"""The prefix of these operations. Their copies are large and expire."""

TITLE = "sessions.title"
ARCHIVE = "sessions.archive"
DELETE = "sessions.delete"
IMPORT = "sessions.import"
PRUNE = "sessions.prune"
FORGET = "forget"

DERIVED = "derived"
"""The metadata key of what programs derived from a session's messages. It may repeat their text."""

# A larger session can't be restored. The command warns before it deletes one.
KEEP_CHARACTERS = 20_000_000

_KEYS_AT_ONCE = 2_000
_NEAR = 1_000
_NAMED = 5

Log = Callable[[Writes, str, str, str | None, str | None], int]
"""Records an operation on a reference, with the values before and after."""


def ref(session_id: str) -> str:
    return f"session:{session_id}"


SESSION = "session"
MESSAGE = "message"
"""Kinds of removals that a sync carries to other machines."""


def bury_session(tx: Writes, session_id: str, at: float, *, forgotten: bool = False) -> bool:
    """Delete a session and record the removal; False if it is unknown."""
    tx.tombstones.put([Tombstone(SESSION, session_id, at, forgotten)])
    return tx.sessions.begin_delete(session_id)


def message_key(session_id: str, role: str, timestamp: float, place: int) -> str:
    """Return the key under which the removal of a message is recorded.

    ``place`` is its index among the session's messages with the same role and time, of which there is rarely
    more than one. Removed messages count too.
    """
    return dump_json([session_id, role, timestamp, place])


def find_places(tx: Reads, session_id: str, role: str, timestamp: float) -> dict[int, MessageRow]:
    """Return a session's messages with this role and time, by their places."""
    near = tx.sessions.messages(session_id, after=0, limit=_NEAR, since=timestamp)
    rows = iter([one for one in near if (one.role, one.timestamp) == (role, timestamp)])
    places: dict[int, MessageRow] = {}
    for place in count():
        if tx.tombstones.get(MESSAGE, message_key(session_id, role, timestamp, place)) is None:
            row = next(rows, None)
            if row is None:
                return places
            places[place] = row
    return places


def pop_message(tx: Writes, session_id: str, at: float) -> MessageRow | None:
    """Delete the newest message that is not retired, and record the removal."""
    newest = tx.sessions.messages(session_id, after=0, limit=1, last=True, working=True)
    for row in newest:
        places = find_places(tx, session_id, row.role, row.timestamp)
        place = next(place for place, one in places.items() if one.id == row.id)
        key = message_key(session_id, row.role, row.timestamp, place)
        tx.tombstones.put([Tombstone(MESSAGE, key, at)])
    return tx.sessions.pop(session_id)


def delete(
    storage: Storage,
    session_id: str,
    log: Log,
    kept_since: float,
    *,
    at: float,
    if_revision: int | None = None,
) -> bool:
    """Delete a session and keep a packed copy in the audit log; drop copies older than ``kept_since``."""
    session = transcript.export_session(storage, session_id)
    if session is None:
        return False
    children = storage.read(lambda tx: [child.id for child in tx.sessions.children(session_id)])
    packed = pack(session | {"children": children})

    def work(tx: Writes) -> bool:
        if if_revision is not None:
            hold_session(tx, session_id, if_revision)
        known = tx.sessions.get(session_id) is not None
        if known:
            bury_session(tx, session_id, at)
            tx.audit.expire(kept_since, OPERATIONS)
            log(tx, DELETE, ref(session_id), packed, None)
        return known

    known = storage.write(work)
    storage.finish_deletes()
    return known


def set_title(tx: Writes, session_id: str, title: str | None, log: Log) -> bool:
    before = tx.sessions.get(session_id)
    if before is None:
        return False
    log(tx, TITLE, ref(session_id), before.title, title)
    return tx.sessions.set_title(session_id, title)


def set_archived(tx: Writes, session_id: str, log: Log, *, archived: bool) -> bool:
    row = tx.sessions.get(session_id)
    if row is None:
        return False
    if row.archived is not archived:
        log(tx, ARCHIVE, ref(session_id), dump_json(row.archived), dump_json(archived))
    return tx.sessions.set_archived(session_id, archived=archived)


def prune(storage: Storage, session_ids: list[str], days: float, log: Log, now: float) -> None:
    """Delete sessions for good, in short transactions."""
    for session_id in session_ids:
        storage.write(lambda tx: bury_session(tx, session_id, now))  # noqa: B023
    if session_ids:
        what = f"{len(session_ids)} sessions older than {round(days, 1):g} days"
        storage.write(lambda tx: log(tx, PRUNE, "", None, what))
    storage.finish_deletes()


def forget_message(tx: Writes, message_id: int, now: float, log: Log) -> None:
    row = tx.sessions.message(message_id)
    if row is None:
        raise NotFound(f"There is no message {message_id}.")
    if not row.forgotten:
        tx.sessions.forget_message(message_id, tool_calls=calls_without_arguments(row), at=now)
        # A writer that has read the text must not write it again. This is not a use of the session, so its
        # time of last use doesn't change.
        tx.sessions.revise(row.session_id, 0.0)
        _drop_derived(tx, row.session_id)
        tx.audit.scrub(ref(row.session_id))
        log(tx, FORGET, f"message:{message_id}", None, None)


def _drop_derived(tx: Writes, session_id: str) -> None:
    session = tx.sessions.get(session_id)
    about = json.loads(session.metadata) if session and session.metadata else None
    if isinstance(about, dict) and about.pop(DERIVED, None) is not None:
        tx.sessions.set_metadata(session_id, dump_json(about))


def forget_session(tx: Writes, session_id: str, log: Log, now: float) -> None:
    known = bury_session(tx, session_id, now, forgotten=True)
    kept = tx.audit.scrub(ref(session_id))
    if not known and not kept:
        # Also undoes the removal that was recorded.
        raise NotFound(f"There is no session {session_id!r}.")
    log(tx, FORGET, ref(session_id), None, None)


def collect_stats(storage: Storage) -> dict[str, Any]:
    usage = storage.usage()
    sources = storage.read(lambda tx: tx.sessions.by_source())
    return {
        "sessions": sum(count for _, count, _ in sources),
        "messages": sum(count for _, _, count in sources),
        "by_source": [
            {"source": source, "sessions": sessions, "messages": messages}
            for source, sessions, messages in sources
        ],
        "file_bytes": usage.file_bytes,
        "log_bytes": usage.wal_bytes,
        "free_bytes": usage.free_bytes,
        "tables": usage.parts,
        "pending": usage.pending,
    }


def check_days(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise InvalidInput(f"older_than_days must be 0 or more, not {value!r}.")
    return float(value)


def check_age(by: Any) -> bool:
    """Return True if the age of a session is counted from its start."""
    if by not in ("last_message", "start"):
        raise InvalidInput(f"by must be last_message or start, not {by!r}.")
    return bool(by == "start")


def pack(session: dict[str, Any]) -> str | None:
    text = dump_json(session)
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
    # Setting the first title leaves an "after" but no "before".
    return entry.operation in (TITLE, ARCHIVE) and (entry.before or entry.after) is not None


def undo_entry(storage: Storage, entry: AuditRow, now: float) -> str:
    """Undo an entry and return a description for people. A later change raises Refused."""
    if entry.operation == DELETE and entry.before:
        return _restore(storage, entry.before, now)
    if entry.operation == IMPORT and entry.after:
        return _undo_import(storage, json.loads(entry.after), now)
    session_id = entry.ref.removeprefix("session:")
    shown = storage.read(lambda tx: shorten_ids(tx, [session_id]))[session_id]
    if entry.operation == TITLE:
        storage.write(lambda tx: _restore_title(tx, session_id, entry, now))
        if entry.before is None:
            return f"Removed the title of {shown}."
        return f"Restored the title of {shown}: {entry.before}."
    archived = json.loads(entry.before or "false")
    storage.write(lambda tx: _restore_archived(tx, session_id, now, archived=archived))
    return f"{'Archived' if archived else 'Unarchived'} {shown}."


def _restore(storage: Storage, packed: str, now: float) -> str:
    session = unpack(packed)
    incoming = transcript.check_sessions(
        [session], now=now, redact=lambda text: text, max_bytes=KEEP_CHARACTERS * 4
    )
    done = transcript.store(storage, incoming, now)
    if not done.sessions:
        raise Refused(f"A session {session['id']!r} exists again. Delete or rename it first.")
    storage.write(lambda tx: _reattach_children(tx, session, now))
    return f"Restored {session['id']} with {done.messages} messages, which have new ids."


def _reattach_children(tx: Writes, session: dict[str, Any], now: float) -> None:
    """Reattach the children that moved to the parent when the session was deleted."""
    # A time after the removal makes a sync restore it on other machines too.
    tx.sessions.revise(session["id"], now)
    for child in session.get("children", ()):
        row = tx.sessions.get(child)
        if row is not None and row.parent_session_id == session["parent_session_id"]:
            tx.sessions.set_parent(child, session["id"])


def _undo_import(storage: Storage, created: dict[str, int], now: float) -> str:
    def work(tx: Writes) -> None:
        continued = [
            session_id
            for session_id, count in created.items()
            if tx.sessions.get(session_id) and tx.sessions.message_count(session_id) != count
        ]
        if continued:
            raise Refused(_explain_continued(continued))
        for session_id in created:
            bury_session(tx, session_id, now)

    keys = storage.read(lambda tx: tx.imports.keys_of(list(created)))
    storage.write(work)
    storage.finish_deletes()
    _drop_keys(storage, keys)
    return f"Deleted {len(created)} imported session{'s' if len(created) != 1 else ''}."


def _explain_continued(session_ids: list[str]) -> str:
    # Import keys belong to sessions, not messages, so another import or an agent may have added them.
    named = ", ".join(repr(session_id) for session_id in session_ids[:_NAMED])
    more = f" and {len(session_ids) - _NAMED:,} more" if len(session_ids) > _NAMED else ""
    return (
        f"messages were added to {named}{more} since this import, and undoing it would delete them too. "
        "Nothing was changed. Delete those sessions with `mnemos sessions delete`, then undo this entry by "
        "its number: the other sessions are deleted and can be imported again"
    )


def _drop_keys(storage: Storage, keys: list[int]) -> None:
    """Forget the import keys, so that the sessions can be imported again."""
    if not keys:
        return
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        storage.write(lambda tx: tx.imports.drop(keys[start : start + _KEYS_AT_ONCE]))  # noqa: B023
    storage.write(lambda tx: tx.imports.drop_files())


def _restore_title(tx: Writes, session_id: str, entry: AuditRow, now: float) -> None:
    row = tx.sessions.get(session_id)
    if row is None:
        raise NotFound(f"There is no session {session_id!r}. It was deleted.")
    if row.title != entry.after:
        raise Refused(f"The title of {session_id} has since been changed to {row.title!r}.")
    tx.sessions.set_title(session_id, entry.before)
    tx.sessions.revise(session_id, now)


def _restore_archived(tx: Writes, session_id: str, now: float, *, archived: bool) -> None:
    if not tx.sessions.set_archived(session_id, archived=archived):
        raise NotFound(f"There is no session {session_id!r}. It was deleted.")
    tx.sessions.revise(session_id, now)
