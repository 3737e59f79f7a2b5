"""The log of changes: listing, undoing and erasing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.facts import fact_undo as fact_undo
from mnemos.facts.fact_writer import CONFIRM
from mnemos.inputs import Moment
from mnemos.language.moments import read_moment
from mnemos.language.threats.guard import ALLOW
from mnemos.notebook import note_changes as note_undo
from mnemos.sessions import session_upkeep as session_undo
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Writes

if TYPE_CHECKING:
    from mnemos.memory.erasure import Forgotten
    from mnemos.memory.memory import Memory

EXPORT: Final = "export"
FILE: Final = "file"
"""The kind of a logged reference to an exported file, whose URI is the reference."""

COMPACT: Final = "compact session"

# Operations that are about another change, or that changed no stored data.
_REMARKS: Final = frozenset({ALLOW, COMPACT, CONFIRM, EXPORT})
_PAGE = 200


class Changes:
    """The log of one memory's changes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def log(
        self, limit: int = 50, *, before: int | None = None, since: Moment | None = None
    ) -> list[AuditRow]:
        """List the newest changes first."""
        start = read_moment("since", since, self._memory.clock())
        return self._memory.storage.read(lambda tx: tx.audit.newest(limit, before=before, since=start))

    def undo(self, entry_id: int | None = None) -> str:
        """Undo a logged change, by default the newest, and return a description.

        Without an id, Refused is raised if the newest change can't be undone, or is an import, because
        undoing that deletes sessions.
        """
        memory = self._memory
        memory.settings.check_enabled()
        entry = self.find(entry_id)
        if entry_id is None and (loss := describe_loss(entry)):
            raise Refused(
                f"Nothing was undone: the newest change is entry {entry.id}, and undoing it deletes {loss}. "
                f"To do that, undo entry {entry.id} by its number."
            )
        if fact_undo.can_be_undone(entry):
            return fact_undo.undo_write(memory.storage, entry, memory.clock(), self._mark_undone)
        if note_undo.can_be_undone(entry):
            return memory.notebook.undo(entry)
        done = session_undo.undo_entry(memory.storage, entry, memory.clock())
        memory.storage.write(lambda tx: self._mark_undone(tx, entry))
        return done

    def select_undoable(self, entry_ids: Sequence[int]) -> list[int]:
        """Return the entries that can be undone, in the same order."""
        rows = self._memory.storage.read(lambda tx: [tx.audit.get(one) for one in entry_ids])
        return [row.id for row in rows if row is not None and can_be_undone(row)]

    def undo_notes(self) -> str:
        """Undo the newest undoable change of the notebook."""
        self._memory.notebook.log_manual_edits()
        return self.undo(self._newest(note_undo.can_be_undone, "change of the notebook").id)

    def forget(self, ref: str | Sequence[str], user_id: str | None = None) -> Forgotten:
        """Erase or withdraw; see ``Memory.forget``."""
        # Imported here, because few processes forget anything.
        from mnemos.memory.erasure import forget

        self._memory.settings.check_enabled()
        return forget(self._memory, ref, user_id)

    def record_export(self, path: Path) -> None:
        """Record an exported file, so that a later ``forget`` of its content can name it."""
        memory = self._memory
        if memory.storage.read_only:
            return
        now, actor, ref = memory.clock(), memory.settings.current_actor, path.as_uri()
        memory.storage.write(lambda tx: tx.audit.record(at=now, actor=actor, operation=EXPORT, ref=ref))

    def _mark_undone(self, tx: Writes, entry: AuditRow) -> None:
        by = tx.audit.record(
            at=self._memory.clock(),
            actor=self._memory.settings.current_actor,
            operation=f"undo {entry.operation}",
            ref=entry.ref,
        )
        tx.audit.mark_undone(entry.id, by)
        # A copy in the log would outlive the restored original if that is forgotten.
        tx.audit.clear(entry.id)

    def find(self, entry_id: int | None = None) -> AuditRow:
        """Find the entry that ``undo`` would undo. Raises NotFound and Refused as it does."""
        if entry_id is None:
            return self._find_newest()
        if isinstance(entry_id, bool) or not isinstance(entry_id, int):
            raise InvalidInput(f"entry_id must be the number of a log entry, not {entry_id!r}.")
        entry = self._memory.storage.read(lambda tx: tx.audit.get(entry_id))
        if entry is None:
            raise NotFound(f"There is no log entry {entry_id}. See `mnemos log`.")
        if entry.undone_by is not None:
            raise Refused(f"Entry {entry_id} was already undone, by entry {entry.undone_by}.")
        if not can_be_undone(entry):
            raise Refused(f"Entry {entry_id} ({self._name(entry)}) can't be undone.")
        return entry

    def _find_newest(self) -> AuditRow:
        newest = self._newest(_is_change, "change")
        if can_be_undone(newest):
            return newest
        # Undoing an older change instead would surprise a user who means the newest.
        problem = f"The newest change, entry {newest.id} ({self._name(newest)}), can't be undone."
        try:
            older = self._newest(can_be_undone, "change")
        except NotFound:
            raise Refused(f"{problem} Nor can the entries before it.") from None
        raise Refused(
            f"{problem} To undo entry {older.id} ({self._name(older)}) instead, pass its number: "
            f"`mnemos undo {older.id}`"
        )

    def _name(self, entry: AuditRow) -> str:
        # Imported here, because only errors need it.
        from mnemos.memory.change_words import describe_change, shorten_refs

        return describe_change(self._memory, entry, shorten_refs(self._memory, [entry]))

    def _newest(self, is_wanted: Callable[[AuditRow], bool], what: str) -> AuditRow:
        """Find the newest wanted entry that is not itself an undo."""
        before: int | None = None
        while page := self.log(_PAGE, before=before):
            for entry in page:
                if is_wanted(entry) and not entry.operation.startswith("undo "):
                    return entry
            before = page[-1].id
        raise NotFound(f"There is no {what} to undo.")


def can_be_undone(entry: AuditRow) -> bool:
    """True if ``Changes.undo`` would undo this entry."""
    return any(part.can_be_undone(entry) for part in (session_undo, fact_undo, note_undo))


def _is_change(entry: AuditRow) -> bool:
    return entry.undone_by is None and entry.operation not in _REMARKS


def describe_loss(entry: AuditRow) -> str:
    """Describe the sessions that undoing an entry deletes; "" if it deletes none."""
    if entry.operation != session_undo.IMPORT:
        return ""
    count = len(json.loads(entry.after or "{}"))
    return f"{count} imported session{'s' if count != 1 else ''}"
