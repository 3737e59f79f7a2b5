"""The log of changes: what was done, undoing it, and forgetting for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemos.errors import InvalidInput, NotFound, Refused, Unavailable
from mnemos.facts import fact_undo as fact_undo
from mnemos.inputs import optional_name
from mnemos.memory.home import check_enabled
from mnemos.notebook import note_changes as note_undo
from mnemos.sessions import session_upkeep as session_undo
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Writes

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory
    from mnemos.memory.withdrawal import Withdrawal

_PAGE = 200


class Changes:
    """The changes made to one memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def log(self, limit: int = 50, *, before: int | None = None) -> list[AuditRow]:
        """List the newest changes first."""
        return self._memory.storage.read(lambda tx: tx.audit.newest(limit, before=before))

    def undo(self, entry_id: int | None = None) -> str:
        """Undo a change of the log, by default the newest that can be undone; return what was done."""
        memory = self._memory
        check_enabled(memory.settings)
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

    def forget(self, ref: str, user_id: str | None = None) -> dict[str, Any]:
        """Erase what a reference names; see ``Memory.forget``."""
        memory = self._memory
        check_enabled(memory.settings)
        kind, _, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
        user = optional_name("user_id", user_id)
        if user is not None:
            self._check_owner(kind, name, user)
        templates = self._templates_from(kind, name)
        if kind == "message" and name.isascii() and name.isdecimal():
            memory.sessions.forget_message(int(name))
        elif kind == "session" and name:
            memory.sessions.forget_session(name)
        elif kind == "fact" and name:
            memory.facts.forget(name, user_id=user)
        elif kind == "note" and name:
            memory.notebook.forget(name)
        elif kind == "entry" and name:
            memory.entries.forget(name)
        elif kind == "template" and name:
            if not memory.templates.delete_template(name):
                raise NotFound(f"there is no template {name!r}; see `mnemos templates list`")
        else:
            raise InvalidInput(
                f"{ref!r} is not a reference; use message:ID, session:ID, fact:ID, note:ID, entry:ID or "
                "template:NAME"
            )
        done = self.scrub(ref)
        return done | {"copies": [*done["copies"], *templates]}

    def withdraw(self, request: str, *, user_id: str | None = None) -> Withdrawal:
        """Withdraw the fact or note that an id or words mean; ``undo`` restores it.

        If it is not clear what is meant, nothing is withdrawn and the candidates are returned. Nothing that
        fits raises NotFound. Facts of another user are never meant.
        """
        # Only withdrawal compares words with statements.
        from mnemos.memory.withdrawal import withdraw

        check_enabled(self._memory.settings)
        return withdraw(self._memory, request, user_id=user_id)

    def _check_owner(self, kind: str, name: str, user: str) -> None:
        """Raise NotFound for what belongs to another user."""
        sessions = self._memory.sessions
        if kind == "message" and name.isascii() and name.isdecimal():
            name = sessions.get_messages_around(int(name), 0, 0)[0]["session_id"]
        elif kind == "entry":
            raise Refused("an entry can't be forgotten for a user by its id; delete it by its key")
        elif kind != "session":
            return
        session = sessions.get_session(name)
        if session is None or session["user_id"] not in (None, user):
            raise NotFound(f"there is no {kind} {name!r}")

    def scrub(self, ref: str) -> dict[str, Any]:
        """Erase the bytes of what was just forgotten; return the answer of ``forget``."""
        memory = self._memory
        pending = not memory.storage.scrub()
        return {
            "ref": ref,
            "forgotten": True,
            "pending": pending,
            "copies": [*memory.home.backups(), *memory.notebook.copies()],
        }

    def _templates_from(self, kind: str, name: str) -> list[str]:
        """Find the templates that may hold what is about to be forgotten."""
        memory = self._memory
        try:
            if kind == "message" and name.isascii() and name.isdecimal():
                name = memory.sessions.get_messages_around(int(name), 0, 0)[0]["session_id"]
            elif kind != "session":
                return []
            return memory.templates.find_by_sessions([name, *memory.sessions.get_lineage(name)])
        except NotFound:
            return []
        except Unavailable:
            # A folder that can't be read keeps nobody from forgetting.
            return [str(memory.templates_folder)]

    def _mark_undone(self, tx: Writes, entry: AuditRow) -> None:
        by = tx.audit.record(
            at=self._memory.clock(),
            actor=self._memory.settings.actor,
            operation=f"undo {entry.operation}",
            ref=entry.ref,
        )
        tx.audit.mark_undone(entry.id, by)
        # A copy of what is back in its place would only outlive it.
        tx.audit.clear(entry.id)

    def _find(self, entry_id: int | None) -> AuditRow:
        if entry_id is None:
            return self._newest(_can_be_undone, "change")
        if isinstance(entry_id, bool) or not isinstance(entry_id, int):
            raise InvalidInput(f"entry_id is {entry_id!r}; use the number of an entry of the log")
        entry = self._memory.storage.read(lambda tx: tx.audit.get(entry_id))
        if entry is None:
            raise NotFound(f"the log has no entry {entry_id}; see `mnemos log`")
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
        raise NotFound(f"there is no {what} to undo")


def _can_be_undone(entry: AuditRow) -> bool:
    return any(part.can_be_undone(entry) for part in (session_undo, fact_undo, note_undo))
