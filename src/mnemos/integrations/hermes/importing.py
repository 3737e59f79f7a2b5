"""What Hermes kept before Mnemos was there, brought in once: conversations and notes, which are only read.

It is done in the background, in steps, and goes on where it was interrupted. A marker in the home of Mnemos
says that it was done; what happens from the moment it was begun comes from Hermes itself, turn by turn.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemos import files
from mnemos.errors import InvalidInput, MnemosError, NotADatabase, NotFound
from mnemos.integrations.hermes.place import Place
from mnemos.notebook.notes import Book, parse_entries
from mnemos.storage import HermesState, hermes_state
from mnemos.transfer.readers.hermes import as_session

if TYPE_CHECKING:
    from mnemos.memory import Memory

try:
    import fcntl
except ImportError:  # Windows: one process at a time.
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger("mnemos.hermes")

STATE: Final = "state.db"
NOTES: Final = "memories"
_AT_ONCE: Final = 20
_MOST_REFUSED: Final = 50
_BYTES_A_CHARACTER: Final = 4


@dataclass(slots=True)
class Report:
    """What was brought in so far. ``done_at`` is None while something is missing."""

    hermes_home: str
    space: str
    begun_at: float
    done_at: float | None = None
    sessions: int = 0
    messages: int = 0
    notes: int = 0
    has_notes: bool = False
    """Notes were brought in. They are not looked at again: meanwhile somebody may have changed them here."""
    refused: list[str] = field(default_factory=list)

    def refuse(self, what: str, why: Exception) -> None:
        log.warning("not brought in from Hermes: %s: %s", what, why)
        if len(self.refused) < _MOST_REFUSED:
            self.refused.append(f"{what}: {why}")


class Belongings:
    """What one Hermes keeps, for one memory. Safe to use from several threads."""

    def __init__(self, hermes: Path, place: Place) -> None:
        self._hermes = hermes
        name = hashlib.sha256(f"{hermes.resolve()}\0{place.space}".encode()).hexdigest()[:12]
        self._marker = place.home / "imports" / f"hermes-{name}.json"
        self._space = place.space
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def report(self) -> Report | None:
        """What was brought in; None before it was begun. A marker that makes no sense counts as none."""
        try:
            known = json.loads(files.read(self._marker) or "")
            return Report(**{key: value for key, value in known.items() if key in Report.__slots__})
        except (ValueError, TypeError, AttributeError, InvalidInput):
            return None

    def begin(self, now: float) -> bool:
        """Whether there is something to bring in: note that it was begun, unless that is noted already."""
        known = self.report()
        if known is None:
            self._note(Report(str(self._hermes), self._space, now))
        return known is None or known.done_at is None

    def bring_session(self, memory: Memory, session_id: str) -> None:
        """Bring in a session, and those it follows, before anything is added; unless all was brought in."""
        report = self.report()
        if report is not None and report.done_at is None:
            with self._lock, self._opened_state() as state:
                if state is not None:
                    self._store(memory, _line(session_id, state.parents()), state, report)

    def bring_notes(self, memory: Memory) -> None:
        """Bring in the notes before Hermes goes on writing its own, unless that was done."""
        with self._alone() as is_alone:
            report = self.report()
            if is_alone and report is not None and not report.has_notes and report.done_at is None:
                self._bring_notes(memory, report)
                self._note(report)

    def bring_all(self, memory: Memory) -> Report | None:
        """Bring in everything; None when another process is about it, or it was stopped."""
        with self._alone() as is_alone:
            report = self.report()
            if not is_alone or report is None or report.done_at is not None:
                return report
            report = Report(
                report.hermes_home,
                report.space,
                report.begun_at,
                notes=report.notes,
                has_notes=report.has_notes,
                refused=report.refused if report.has_notes else [],
            )
            if not report.has_notes:
                self._bring_notes(memory, report)
            with self._opened_state(report) as state:
                ids = [] if state is None else _parents_first(state.parents())
                for start in range(0, len(ids), _AT_ONCE):
                    if self._stop.is_set() or state is None:
                        return None
                    with self._lock:
                        self._store(memory, ids[start : start + _AT_ONCE], state, report)
            report.done_at = memory.clock()
            self._note(report)
            return report

    def stop(self) -> None:
        """Let ``bring_all`` end after the step that it is at; the next call goes on from there."""
        self._stop.set()

    # --- inside -----------------------------------------------------------------------------

    def _store(self, memory: Memory, ids: Sequence[str], state: HermesState, report: Report) -> None:
        longest = memory.settings.max_message_bytes // _BYTES_A_CHARACTER
        sessions: dict[str, Mapping[str, Any]] = {}
        for session_id in ids:
            try:
                found = state.session(session_id)
            except InvalidInput as exc:
                report.refuse(f"session {session_id}", exc)
                continue
            session = as_session(found, before=report.begun_at, longest=longest) if found else None
            if session is not None and session["started_at"] < report.begun_at and session["messages"]:
                sessions[session_id] = session
        try:
            _count(report, memory.sessions.import_sessions(list(sessions.values())))
        except InvalidInput:
            # One of them cannot be stored: the others can.
            self._store_each(memory, sessions, report)

    def _store_each(self, memory: Memory, sessions: Mapping[str, Mapping[str, Any]], report: Report) -> None:
        for session_id, session in sessions.items():
            try:
                _count(report, memory.sessions.import_sessions([session]))
            except InvalidInput as exc:
                report.refuse(f"session {session_id}", exc)

    def _bring_notes(self, memory: Memory, report: Report) -> None:
        for book in map(Book, memory.settings.notebook_files):
            try:
                there = memory.notebook.entries(book)
                for entry in notes_of(self._hermes, book):
                    if entry not in there:
                        self._bring_note(memory, book, entry, report)
            except MnemosError as exc:
                report.refuse(book.filename, exc)
        report.has_notes = True

    def _bring_note(self, memory: Memory, book: Book, entry: str, report: Report) -> None:
        memory.notebook.begin_turn()
        try:
            memory.notebook.add(entry, target=book)
        except MnemosError as exc:
            # What one note says, or its length, is no reason to leave out the next.
            report.refuse(f"a note of {book.filename}", exc)
        else:
            report.notes += 1

    @contextmanager
    def _opened_state(self, report: Report | None = None) -> Iterator[HermesState | None]:
        """The database of Hermes; None where there is none, or a file that is something else."""
        with ExitStack() as stack:
            state = None
            try:
                state = stack.enter_context(hermes_state(self._hermes / STATE))
            except NotFound:
                pass
            except (InvalidInput, NotADatabase) as exc:
                if report is not None:
                    report.refuse(STATE, exc)
            yield state

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other process brings in the same."""
        files.make_private(self._marker.parent)
        lock = os.open(self._marker.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield _can_lock(lock)
        finally:
            os.close(lock)

    def _note(self, report: Report) -> None:
        told = json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n"
        files.replace(self._marker, told.encode())


def notes_of(hermes: Path, book: Book) -> list[str]:
    """The entries of MEMORY.md or USER.md as Hermes has them."""
    return parse_entries(files.read(hermes / NOTES / book.filename) or "")


def _count(report: Report, done: Mapping[str, Any]) -> None:
    report.sessions += len(done["imported"])
    report.messages += done["messages"]


def _parents_first(parents: Mapping[str, str | None]) -> list[str]:
    """The sessions in their order, but none before the one that it follows."""
    ordered: dict[str, None] = {}
    for session_id in parents:
        if session_id not in ordered:
            ordered |= dict.fromkeys(_line(session_id, parents))
    return list(ordered)


def _line(session_id: str, parents: Mapping[str, str | None]) -> list[str]:
    """A session after those that it follows, the first first."""
    line: dict[str, None] = {}
    above: str | None = session_id
    while above is not None and above in parents and above not in line:
        line[above] = None
        above = parents[above]
    return list(reversed(line))


def _can_lock(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
