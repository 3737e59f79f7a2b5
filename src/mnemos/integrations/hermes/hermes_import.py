"""The first import of Hermes' older conversations and notes, which are only read.

It runs in the background, in steps, and resumes where it was interrupted. A marker in the home of Mnemos
records that it is done. Everything after its start comes from Hermes itself, turn by turn.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemos import files
from mnemos.errors import Busy, InvalidInput, MnemosError, NotADatabase, NotFound
from mnemos.integrations.hermes.host import Place
from mnemos.notebook.notes import Book, parse_entries
from mnemos.sessions.transcript import sort_parents_first
from mnemos.storage import HermesState, hermes_state
from mnemos.transfer.readers.hermes import convert_session

if TYPE_CHECKING:
    from mnemos.memory import Memory

log = logging.getLogger("mnemos.hermes")

STATE: Final = "state.db"
NOTES: Final = "memories"
_BATCH: Final = 20
_MOST_REFUSED: Final = 50
_BYTES_PER_CHARACTER: Final = 4


@dataclass(slots=True)
class Report:
    """The progress of an import; ``done_at`` is None until everything is imported."""

    hermes_home: str
    space: str
    begun_at: float
    done_at: float | None = None
    sessions: int = 0
    messages: int = 0
    notes: int = 0
    has_notes: bool = False
    """Notes are only imported once, because somebody may have changed them here."""
    refused: list[str] = field(default_factory=list)

    def refuse(self, what: str, why: Exception) -> None:
        log.warning("not imported from Hermes: %s: %s", what, why)
        if len(self.refused) < _MOST_REFUSED:
            self.refused.append(f"{what}: {why}")


class HermesImport:
    """The import from one Hermes into one memory. Thread-safe."""

    def __init__(self, hermes: Path, place: Place) -> None:
        self._hermes = hermes
        name = hashlib.sha256(f"{hermes.resolve()}\0{place.space}".encode()).hexdigest()[:12]
        self._marker = place.home / "imports" / f"hermes-{name}.json"
        self._space = place.space
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def report(self) -> Report | None:
        """Return the progress; None before the start, or if the marker is invalid."""
        try:
            known = json.loads(files.read(self._marker) or "")
            return Report(**{key: value for key, value in known.items() if key in Report.__slots__})
        except (ValueError, TypeError, AttributeError, InvalidInput):
            return None

    def start(self, now: float) -> bool:
        """Record the start once. Returns True if something is left to import."""
        known = self.report()
        if known is None:
            self._save(Report(str(self._hermes), self._space, now))
        return known is None or known.done_at is None

    def import_session(self, memory: Memory, session_id: str) -> None:
        """Import a session and its ancestors before anything is added to it."""
        report = self.report()
        if report is not None and report.done_at is None:
            with self._lock, self._open_state() as state:
                if state is not None:
                    self._store(memory, _list_lineage(session_id, state.parents()), state, report)

    def import_notes(self, memory: Memory) -> None:
        """Import the notes once, before Hermes changes its own."""
        with self._try_lock() as has_lock:
            report = self.report()
            if has_lock and report is not None and not report.has_notes and report.done_at is None:
                self._import_notes(memory, report)
                self._save(report)

    def import_all(self, memory: Memory) -> Report | None:
        """Import everything. Returns None if it was stopped."""
        with self._try_lock() as has_lock:
            report = self.report()
            if not has_lock or report is None or report.done_at is not None:
                return report
            refused = report.refused if report.has_notes else []
            report = replace(report, sessions=0, messages=0, refused=refused)
            if not report.has_notes:
                self._import_notes(memory, report)
            with self._open_state(report) as state:
                ids = [] if state is None else sort_parents_first(state.parents(), allow_cycles=True)
                for start in range(0, len(ids), _BATCH):
                    if self._stop.is_set() or state is None:
                        return None
                    with self._lock:
                        self._store(memory, ids[start : start + _BATCH], state, report)
            report.done_at = memory.clock()
            self._save(report)
            return report

    def stop(self) -> None:
        """Stop ``import_all`` after its current step; the next call resumes there."""
        self._stop.set()

    def _store(self, memory: Memory, ids: Sequence[str], state: HermesState, report: Report) -> None:
        longest = memory.settings.max_message_bytes // _BYTES_PER_CHARACTER
        sessions: dict[str, Mapping[str, Any]] = {}
        for session_id in ids:
            try:
                found = state.session(session_id)
            except InvalidInput as exc:
                report.refuse(f"session {session_id}", exc)
                continue
            session = convert_session(found, before=report.begun_at, longest=longest) if found else None
            if session is not None and session["started_at"] < report.begun_at:
                sessions[session_id] = session
        try:
            done = memory.sessions.import_sessions(list(sessions.values()))
        except InvalidInput as exc:
            if len(sessions) == 1:
                report.refuse(f"session {next(iter(sessions))}", exc)
                return
            # One message cannot be stored, but the others can.
            for one in sessions:
                self._store(memory, [one], state, report)
            return
        report.sessions += len(done["imported"])
        report.messages += done["messages"]

    def _import_notes(self, memory: Memory, report: Report) -> None:
        for book in map(Book, memory.settings.notebook_files):
            try:
                known = memory.notebook.entries(book)
                for entry in read_notes(self._hermes, book):
                    if entry not in known:
                        self._import_note(memory, book, entry, report)
            except MnemosError as exc:
                report.refuse(book.filename, exc)
        report.has_notes = True

    def _import_note(self, memory: Memory, book: Book, entry: str, report: Report) -> None:
        memory.notebook.begin_turn()
        try:
            memory.notebook.add(entry, target=book)
        except MnemosError as exc:
            # The next note may be accepted.
            report.refuse(f"a note of {book.filename}", exc)
        else:
            report.notes += 1

    @contextmanager
    def _open_state(self, report: Report | None = None) -> Iterator[HermesState | None]:
        """Open Hermes' database; None if it is missing or another kind of file."""
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
    def _try_lock(self) -> Iterator[bool]:
        """Yield True if no other process runs the same import."""
        with ExitStack() as stack:
            try:
                stack.enter_context(files.lock(self._marker.parent, f"{self._marker.stem}.lock", 0))
            except Busy:
                yield False
            else:
                yield True

    def _save(self, report: Report) -> None:
        text = json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n"
        files.replace(self._marker, text.encode())


def read_notes(hermes: Path, book: Book) -> list[str]:
    """Return the entries of MEMORY.md or USER.md of Hermes."""
    return parse_entries(files.read(hermes / NOTES / book.filename) or "")


def _list_lineage(session_id: str, parents: Mapping[str, str | None]) -> list[str]:
    """Return a session after its ancestors, oldest first."""
    line: dict[str, None] = {}
    above: str | None = session_id
    while above is not None and above in parents and above not in line:
        line[above] = None
        above = parents[above]
    return list(reversed(line))
