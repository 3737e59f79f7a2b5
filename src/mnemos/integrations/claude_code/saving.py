"""What was stated before a compaction, saved as facts; and told again to whoever goes on after it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.language.notation import Mark, format_line
from mnemos.storage.facts import FactRow, Wanted

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.storage.base import MessageRow, Reads, Storage, Writes

_OPERATION: Final = "compact session"
_A_PAGE: Final = 200
_MOST_TOLD: Final = 60


@dataclass(frozen=True, slots=True)
class Compacted:
    """What the log knows of the last compaction of a session: ids, and nothing that was said."""

    through: int = 0
    """The last message before it."""
    after: int = 0
    """Facts with higher ids, and not above ``until``, were saved before compactions of the session."""
    until: int = 0


def save_stated(parts: Memory, session_id: str) -> int:
    """Save what the messages since the last compaction state; how many facts hold that they state."""
    # A few hundred expressions: not before something is to be saved.
    from mnemos.integrations.providers import statements

    storage = parts.storage
    last = storage.read(lambda tx: _compacted(tx, session_id))
    rows = [row for page in _pages(storage, session_id, last.through) for row in page]
    if not rows:
        return 0
    before = storage.read(lambda tx: tx.facts.newest())
    said = [{"role": row.role, "content": row.content} for row in rows if not row.encoded]
    saved = statements.save(parts, session_id, statements.find_statements(parts, said))
    _note(parts, session_id, Compacted(rows[-1].id, last.after or before, 0))
    return len(saved)


def saved_before(storage: Storage, session_id: str) -> list[str]:
    """The facts that were saved before compactions of a session and still hold, the newest first."""

    def work(tx: Reads) -> list[FactRow]:
        last = _compacted(tx, session_id)
        if not last.until:
            return []
        return tx.facts.listed(Wanted(), after=last.after, through=last.until, limit=10 * _MOST_TOLD)

    rows = [row for row in storage.read(work) if row.session_id == session_id]
    return [format_line(Mark(row.mark), row.target, row.content) for row in reversed(rows[-_MOST_TOLD:])]


def _pages(storage: Storage, session_id: str, after: int) -> Iterator[list[MessageRow]]:
    def work(tx: Reads) -> list[MessageRow]:
        return tx.sessions.messages(session_id, after=after, limit=_A_PAGE)

    while page := storage.read(work):
        yield page
        after = page[-1].id


def _compacted(tx: Reads, session_id: str) -> Compacted:
    entry = tx.audit.newest_on(_ref(session_id))
    if entry is None or not entry.after:
        return Compacted()
    known = json.loads(entry.after)
    return Compacted(known["through"], known["after"], known["until"])


def _note(parts: Memory, session_id: str, done: Compacted) -> None:
    def work(tx: Writes) -> None:
        tx.audit.record(
            at=parts.clock(),
            actor=parts.settings.actor,
            operation=_OPERATION,
            ref=_ref(session_id),
            after=json.dumps({"through": done.through, "after": done.after, "until": tx.facts.newest()}),
        )

    parts.storage.write(work)


def _ref(session_id: str) -> str:
    return f"compaction:{session_id}"
