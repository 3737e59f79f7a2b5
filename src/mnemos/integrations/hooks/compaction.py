"""Compaction: saves statements as facts before it, and shows them afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.language.notation import Mark, format_line
from mnemos.memory.changes import COMPACT
from mnemos.sessions.message_text import document_of
from mnemos.storage.facts import FactRow, Wanted

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.storage.base import MessageRow, Reads, Storage, Writes

_PAGE: Final = 200
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Compacted:
    """The last compaction of a session, as the audit log has it: ids and no text."""

    through: int = 0
    """The last message before it."""
    after: int = 0
    """Facts with ids above this and up to ``until`` were saved before compactions of the session."""
    until: int = 0


def save_statements(memory: Memory, session_id: str) -> int:
    """Save the statements since the last compaction. Returns how many facts now hold."""
    # Imported here, because it compiles a few hundred patterns.
    from mnemos.integrations.providers import stated_facts

    storage = memory.storage
    last = storage.read(lambda tx: _read_last(tx, session_id))
    rows = [row for page in _pages(storage, session_id, last.through) for row in page]
    if not rows:
        return 0
    before = storage.read(lambda tx: tx.facts.newest())
    messages = [{"role": row.role, "content": document_of(row).said} for row in rows if not row.encoded]
    saved = stated_facts.save(memory, session_id, stated_facts.find_statements(memory, messages))
    _record(memory, session_id, Compacted(rows[-1].id, last.after or before, 0))
    return len(saved)


def find_saved(storage: Storage, session_id: str) -> list[str]:
    """Return the facts saved at compactions that are still true, newest first."""

    def work(tx: Reads) -> list[FactRow]:
        last = _read_last(tx, session_id)
        if not last.until:
            return []
        return tx.facts.select(Wanted(), after=last.after, through=last.until, limit=10 * _MOST_SHOWN)

    rows = [row for row in storage.read(work) if row.session_id == session_id]
    return [format_line(Mark(row.mark), row.target, row.content) for row in reversed(rows[-_MOST_SHOWN:])]


def _pages(storage: Storage, session_id: str, after: int) -> Iterator[list[MessageRow]]:
    def work(tx: Reads) -> list[MessageRow]:
        return tx.sessions.messages(session_id, after=after, limit=_PAGE)

    while page := storage.read(work):
        yield page
        after = page[-1].id


def _read_last(tx: Reads, session_id: str) -> Compacted:
    entry = tx.audit.newest_on(_ref(session_id))
    if entry is None or not entry.after:
        return Compacted()
    return Compacted(**json.loads(entry.after))


def _record(memory: Memory, session_id: str, done: Compacted) -> None:
    def work(tx: Writes) -> None:
        tx.audit.record(
            at=memory.clock(),
            actor=memory.settings.current_actor,
            operation=COMPACT,
            ref=_ref(session_id),
            after=json.dumps({"through": done.through, "after": done.after, "until": tx.facts.newest()}),
        )

    memory.storage.write(work)


def _ref(session_id: str) -> str:
    return f"compaction:{session_id}"
