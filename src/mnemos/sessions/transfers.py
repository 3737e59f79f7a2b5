"""Sessions exported and imported: the part of ``memory.sessions`` that reads and writes whole ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BufferedReader
from typing import IO, Any

from mnemos.errors import NotFound
from mnemos.inputs import Moment, name, optional_name
from mnemos.language.moments import read_span
from mnemos.sessions import session_upkeep, transcript
from mnemos.sessions.message_log import MessageLog
from mnemos.sessions.records import dump_json
from mnemos.sessions.session_types import ExportedSession, ImportedSessions
from mnemos.storage.base import Writes


class Transfers(MessageLog):
    """Exports and imports of the sessions of one space."""

    def export_session(self, session_id: str) -> ExportedSession:
        """Return a session with its messages. An unknown one raises NotFound."""
        name("session_id", session_id)
        session = transcript.export_session(self._storage, session_id)
        if session is None:
            raise NotFound(f"There is no session {session_id!r}.")
        return session

    def export_all(
        self,
        source: str | None = None,
        project: str | None = None,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> Iterator[ExportedSession]:
        """Yield every session with its messages, read in short pages; ``since`` and ``until`` are starts."""
        optional_name("source", source)
        span = read_span(since, until, self._clock())
        return transcript.iterate_sessions(self._storage, source, self._projects(project), span)

    def export_jsonl(self, stream: IO[str], source: str | None = None, project: str | None = None) -> int:
        """Write one session per line of JSON and return their number."""
        return self.write_jsonl(self.export_all(source, project), stream)

    def write_jsonl(self, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
        """Write exported sessions as lines of JSON and return their number."""
        return transcript.write_lines(sessions, stream)

    def import_sessions(
        self,
        sessions: Iterable[Mapping[str, Any]],
        *,
        progress: Callable[[float], None] | None = None,
    ) -> ImportedSessions:
        """Store exported sessions. All are checked before any is written.

        An existing session is skipped; one that an interrupted import left unfinished is completed.
        Returns ``imported`` and ``skipped`` (ids) and ``messages`` (a number). Long sessions take several
        short transactions. Can be undone.
        """
        most, now = self._settings.max_message_bytes, self._clock()
        incoming = transcript.check_sessions(sessions, now=now, redact=self._redact, max_bytes=most)
        if self._settings.disabled:
            return {"imported": [], "skipped": [], "messages": 0, "disabled": True}
        done = transcript.store(self._storage, incoming, now, progress)
        if done.created:
            created = dump_json(done.created)
            self._storage.write(lambda tx: self._log(tx, session_upkeep.IMPORT, "", None, created))
        return {"imported": list(done.sessions), "skipped": list(done.skipped), "messages": done.messages}

    def import_jsonl(
        self, stream: Iterable[str] | BufferedReader, *, progress: Callable[[float], None] | None = None
    ) -> ImportedSessions:
        """Import the lines that ``export_jsonl`` wrote.

        A file opened in binary mode is read twice, which takes less memory: one session at a time.
        """
        if isinstance(stream, BufferedReader):
            return self.import_sessions(transcript.SessionLines(stream), progress=progress)
        return self.import_sessions(transcript.read_lines(stream), progress=progress)

    # --- inside -----------------------------------------------------------------------------

    def _log(self, tx: Writes, operation: str, ref: str, before: str | None, after: str | None) -> int:
        now, actor = self._clock(), self._settings.current_actor
        return tx.audit.record(at=now, actor=actor, operation=operation, ref=ref, before=before, after=after)
