"""The log of changes: listing, undoing, and erasing permanently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.facts import fact_undo as fact_undo
from mnemos.inputs import Moment
from mnemos.language.moments import read_moment
from mnemos.notebook import note_changes as note_undo
from mnemos.sessions import session_upkeep as session_undo
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Writes

if TYPE_CHECKING:
    from mnemos.memory.erasure import Forgotten
    from mnemos.memory.memory import Memory

EXPORT: Final = "export"
FILE: Final = "file"
"""The kind of a reference in the log to a file that something was exported to, which is its URI."""

_PAGE = 200


class Changes:
    """The changes made to one memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def log(
        self, limit: int = 50, *, before: int | None = None, since: Moment | None = None
    ) -> list[AuditRow]:
        """List the newest changes first."""
        start = read_moment("since", since, self._memory.clock())
        return self._memory.storage.read(lambda tx: tx.audit.newest(limit, before=before, since=start))

    def undo(self, entry_id: int | None = None) -> str:
        """Undo a change of the log, by default the newest that can be undone; return a description."""
        memory = self._memory
        memory.settings.check_enabled()
        entry = self._find(entry_id)
        if fact_undo.can_be_undone(entry):
            return fact_undo.undo_write(memory.storage, entry, memory.clock(), self._mark_undone)
        if note_undo.can_be_undone(entry):
            return memory.notebook.undo(entry)
        done = session_undo.undo_entry(memory.storage, entry, memory.clock())
        memory.storage.write(lambda tx: self._mark_undone(tx, entry))
        return done

    def undo_notes(self) -> str:
        """Undo the newest change of the notebook that can be undone."""
        self._memory.notebook.log_manual_edits()
        return self.undo(self._newest(note_undo.can_be_undone, "change of the notebook").id)

    def forget(self, ref: str | Sequence[str], user_id: str | None = None) -> Forgotten:
        """Erase or withdraw; see ``Memory.forget``."""
        # Few processes forget anything.
        from mnemos.memory.erasure import forget

        self._memory.settings.check_enabled()
        return forget(self._memory, ref, user_id)

    def record_export(self, path: Path) -> None:
        """Record a file that something was exported to: it is named when that is forgotten later."""
        memory = self._memory
        if memory.storage.read_only:
            return
        now, actor, ref = memory.clock(), memory.settings.actor, path.as_uri()
        memory.storage.write(lambda tx: tx.audit.record(at=now, actor=actor, operation=EXPORT, ref=ref))

    def _mark_undone(self, tx: Writes, entry: AuditRow) -> None:
        by = tx.audit.record(
            at=self._memory.clock(),
            actor=self._memory.settings.actor,
            operation=f"undo {entry.operation}",
            ref=entry.ref,
        )
        tx.audit.mark_undone(entry.id, by)
        # A copy in the log would outlive the restored original.
        tx.audit.clear(entry.id)

    def _find(self, entry_id: int | None) -> AuditRow:
        if entry_id is None:
            return self._newest(_can_be_undone, "change")
        if isinstance(entry_id, bool) or not isinstance(entry_id, int):
            raise InvalidInput(f"entry_id is {entry_id!r}. Use the number of an entry of the log.")
        entry = self._memory.storage.read(lambda tx: tx.audit.get(entry_id))
        if entry is None:
            raise NotFound(f"The log has no entry {entry_id}. See `mnemos log`.")
        if not _can_be_undone(entry):
            raise Refused(f"entry {entry_id} ({entry.operation}) can't be undone (again)")
        return entry

    def _newest(self, is_wanted: Callable[[AuditRow], bool], what: str) -> AuditRow:
        """Find the newest entry that is wanted and is not itself an undo."""
        before: int | None = None
        while page := self.log(_PAGE, before=before):
            for entry in page:
                if is_wanted(entry) and not entry.operation.startswith("undo "):
                    return entry
            before = page[-1].id
        raise NotFound(f"There is no {what} to undo.")


def _can_be_undone(entry: AuditRow) -> bool:
    return any(part.can_be_undone(entry) for part in (session_undo, fact_undo, note_undo))
