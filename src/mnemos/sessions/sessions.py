"""``memory.sessions``: records, searches, exports and deletes conversations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from typing import IO, Any, Literal

from mnemos.errors import AlreadyExists, InvalidInput, NotFound
from mnemos.inputs import Moment, can_be_name, name, names, optional_name, whole
from mnemos.language.moments import read_span
from mnemos.sessions import session_search, session_upkeep, transcript
from mnemos.sessions.lookups import Clock
from mnemos.sessions.message_log import MessageLog
from mnemos.sessions.message_search import check_search, find_messages, make_filters
from mnemos.sessions.records import check_message_id, check_text, dump_json, new_session
from mnemos.sessions.session_types import ExportedSession, ImportedSessions, MessageHit, MetadataChange, Sort
from mnemos.sessions.working_history import hold_session
from mnemos.settings import Settings
from mnemos.storage.base import SessionRow, Storage, Writes
from mnemos.text.secrets import refuse_secret

log = logging.getLogger("mnemos.sessions")

_DAY = 86400.0
# The fields that identify a session in audit entries.
_IDS = {"session id": "id", "user_id": "user_id", "parent_session_id": "parent_session_id"}


class Sessions(MessageLog):
    """The sessions and messages of one space.

    Times are Unix seconds. Every method is one transaction unless it says otherwise. With
    ``MNEMOS_DISABLED`` set, and for private sessions, writes change nothing; ``append_message`` then
    returns 0, which is never the id of a message.
    """

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        clock: Clock,
        ranking: session_search.Ranking | None = None,
        called: Collection[str] = (),
    ) -> None:
        """``ranking`` ranks messages for a question. ``called``: tools that the host has called."""
        super().__init__(storage, settings, clock, called)
        self._ranking = ranking
        if settings.disabled:
            log.warning("MNEMOS_DISABLED is set: nothing is stored")

    # --- lifecycle --------------------------------------------------------------------------

    def create_session(
        self,
        session_id: str,
        source: str | None = None,
        model: str | None = None,
        model_config: Any = None,
        system_prompt: str | None = None,
        user_id: str | None = None,
        parent_session_id: str | None = None,
        *,
        title: str | None = None,
        started_at: float | None = None,
        metadata: Any = None,
        private: bool = False,
        project: str | None = None,
        branch: str | None = None,
    ) -> str:
        """Store a new session and return its id.

        An id in use raises AlreadyExists, an unknown parent NotFound. A ``private`` session, and the messages
        appended to it through this object, are never stored. ``project`` is a repository or folder, by
        default the one in the settings.
        """
        session = self._new_session(locals())
        if self._is_off(session.id, private=private):
            return session.id
        if not self._storage.write(lambda tx: tx.sessions.create(session)):
            raise AlreadyExists(f"Session {session.id!r} already exists. Choose another id, or append to it.")
        return session.id

    def ensure_session(
        self,
        session_id: str,
        source: str | None = None,
        model: str | None = None,
        model_config: Any = None,
        system_prompt: str | None = None,
        user_id: str | None = None,
        parent_session_id: str | None = None,
        *,
        title: str | None = None,
        started_at: float | None = None,
        metadata: Any = None,
        private: bool = False,
        project: str | None = None,
        branch: str | None = None,
    ) -> str:
        """Create a session, or fill in the empty fields of an existing one. Overwrites nothing."""
        session = self._new_session(locals())

        def work(tx: Writes) -> None:
            if not tx.sessions.create(session):
                before = tx.sessions.get(session.id)
                tx.sessions.fill(session)
                if tx.sessions.get(session.id) != before:
                    tx.sessions.revise(session.id, self._clock())

        if not self._is_off(session.id, private=private):
            self._storage.write(work)
        return session.id

    def end_session(self, session_id: str, end_reason: str, *, if_revision: int | None = None) -> None:
        """Mark a session as ended. If it has already ended, its reason and time are kept."""
        reason = self._redact(name("end_reason", end_reason))
        now = self._clock()
        self._change(session_id, lambda tx: tx.sessions.end(session_id, reason, now), if_revision)

    def reopen_session(self, session_id: str, *, if_revision: int | None = None) -> None:
        self._change(session_id, lambda tx: tx.sessions.reopen(session_id), if_revision)

    def update_system_prompt(
        self, session_id: str, system_prompt: str | None, *, if_revision: int | None = None
    ) -> None:
        prompt = check_text("system_prompt", system_prompt, self._settings.max_message_bytes)
        clean = None if prompt is None else self._redact(prompt)
        self._change(session_id, lambda tx: tx.sessions.set_system_prompt(session_id, clean), if_revision)

    def update_metadata(
        self, session_id: str, metadata: MetadataChange, *, if_revision: int | None = None
    ) -> None:
        """Set these keys of a session's metadata and keep the others.

        Metadata that is not an object raises Refused. Instead of keys you can pass a function that takes the
        metadata, or None, and returns the new metadata. It runs inside the transaction, possibly more than
        once, so it must be quick and have no side effects.
        """
        if not isinstance(metadata, Mapping) and not callable(metadata):
            raise InvalidInput(f"metadata must be a mapping or a function, not {type(metadata).__name__}")
        self._change(session_id, lambda tx: self._set_metadata(tx, session_id, metadata), if_revision)

    def update_token_counts(
        self,
        session_id: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        *,
        if_revision: int | None = None,
    ) -> None:
        """Add to the session's token counts."""
        counts = whole("input_tokens", input_tokens), whole("output_tokens", output_tokens)
        self._change(session_id, lambda tx: tx.sessions.add_tokens(session_id, *counts), if_revision)

    def set_title(self, session_id: str, title: str | None, *, if_revision: int | None = None) -> None:
        """Set the title of the session, or remove it with None. Can be undone."""
        checked = optional_name("title", title)
        new = None if checked is None else self._redact(checked)
        self._change(
            session_id, lambda tx: session_upkeep.set_title(tx, session_id, new, self._log), if_revision
        )

    def archive(self, session_id: str, *, if_revision: int | None = None) -> None:
        """Hide the session from lists; searches still find it. Can be undone."""
        self._change(
            session_id,
            lambda tx: session_upkeep.set_archived(tx, session_id, self._log, archived=True),
            if_revision,
        )

    def unarchive(self, session_id: str, *, if_revision: int | None = None) -> None:
        self._change(
            session_id,
            lambda tx: session_upkeep.set_archived(tx, session_id, self._log, archived=False),
            if_revision,
        )

    # --- search -----------------------------------------------------------------------------

    def search_messages(
        self,
        query: str,
        source_filter: str | Sequence[str] | None = None,
        role_filter: str | Sequence[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        *,
        session_ids: Sequence[str] | None = None,
        exclude_session_ids: Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        sort: Sort = "relevance",
        project: str | None = None,
        user_id: str | None = None,
    ) -> list[MessageHit]:
        """Find messages with all words of the query, or else with most of them, best first.

        An empty query finds nothing. ``until`` is exclusive. ``user_id`` excludes other users' messages.
        """
        search = check_search(
            query,
            filters=make_filters(
                source_filter,
                role_filter,
                session_ids,
                exclude_session_ids,
                since,
                until,
                self._clock(),
                projects=self._projects(project),
                user_id=user_id,
            ),
            sort=sort,
            limit=limit,
            offset=offset,
        )
        if not search.query.clauses:
            return []
        return self._storage.read(lambda tx: find_messages(tx, search))

    def session_search(
        self,
        query: str | None = None,
        session_id: str | None = None,
        around_message_id: int | None = None,
        window: int = 5,
        limit: int = 3,
        role_filter: str | Sequence[str] | None = None,
        sort: Sort = "relevance",
        since: Moment | None = None,
        until: Moment | None = None,
        exclude_session_ids: Sequence[str] | None = None,
        source: str | None = None,
        *,
        current_session_id: str | None = None,
        summarize: bool = False,
        budget: int = session_search.BUDGET,
        project: str | None = None,
        all_projects: bool = False,
        user_id: str | None = None,
    ) -> dict[str, Any]:
        """Return past conversations for a model, within ``budget`` tokens.

        ``around_message_id`` returns the messages around it, ``query`` the matching conversations,
        ``session_id`` alone the beginning and end of that session, and no argument recent sessions. ``mode``
        in the answer names which. The current session is excluded, except for the part that compression
        removed from the model's context. The current project is preferred unless ``project`` names another or
        ``all_projects`` is set. ``user_id`` excludes other users' sessions.
        """
        own = None if session_id is None else [session_id]
        is_preferred = project is None and not all_projects and self._settings.prefer_project
        excluded = names("exclude_session_ids", exclude_session_ids) or []
        if current_session_id is not None:
            excluded = [*excluded, current_session_id]
        return session_search.answer(
            self._storage,
            query=query,
            session_id=session_id,
            around_message_id=around_message_id,
            filters=make_filters(
                source,
                role_filter,
                own,
                excluded,
                since,
                until,
                self._clock(),
                projects=self._projects(project),
                user_id=user_id,
            ),
            sort=sort,
            limit=whole("limit", limit),
            window=whole("window", window),
            budget=whole("budget", budget),
            ranking=self._ranking,
            project=(self._settings.project if is_preferred else "") or None,
            summarizer=self._settings.llm if summarize else None,
        )

    # --- export and import ---------------------------------------------------------------------

    def export_session(self, session_id: str) -> ExportedSession:
        """Return a session with its messages. An unknown session raises NotFound."""
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
        """Yield every session, read in short pages. ``since`` and ``until`` limit when they started."""
        optional_name("source", source)
        span = read_span(since, until, self._clock())
        return transcript.iterate_sessions(self._storage, source, self._projects(project), span)

    def export_jsonl(self, stream: IO[str], source: str | None = None, project: str | None = None) -> int:
        """Write one session per line as JSON and return the number of sessions."""
        return self.write_jsonl(self.export_all(source, project), stream)

    def write_jsonl(self, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
        """Write exported sessions as JSON lines and return their number."""
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

        A file opened in binary mode is read twice, so that only one session is in memory at a time.
        """
        if isinstance(stream, BufferedReader):
            return self.import_sessions(transcript.SessionLines(stream), progress=progress)
        return self.import_sessions(transcript.read_lines(stream), progress=progress)

    # --- delete and clean up ------------------------------------------------------------------

    def delete_session(self, session_id: str, *, if_revision: int | None = None) -> bool:
        """Delete a session and its messages; False if it is unknown. Can be undone for 30 days.

        Its children move to its parent. A long session takes several short transactions, but no reader sees
        it after the first.
        """
        if not can_be_name("session_id", session_id) or self._settings.disabled:
            return False
        return session_upkeep.delete(
            self._storage,
            session_id,
            self._log,
            self._oldest_kept(),
            at=self._clock(),
            if_revision=if_revision,
        )

    def prune_sessions(
        self,
        older_than_days: float = 90,
        source: str | None = None,
        *,
        dry_run: bool = False,
        by: Literal["last_message", "start"] = "last_message",
    ) -> int:
        """Delete ended sessions whose last message is older; return their number. Can't be undone.

        ``by="start"`` uses the time they started instead.
        """
        optional_name("source", source)
        days = session_upkeep.check_days(older_than_days)
        before, by_start = self._clock() - days * _DAY, session_upkeep.check_age(by)
        old = self._storage.read(lambda tx: tx.sessions.ended_before(before, source, by_start=by_start))
        if dry_run:
            return len(old)
        if self._settings.disabled:
            return 0
        session_upkeep.prune(self._storage, old, days, self._log, self._clock())
        return len(old)

    def forget_message(self, message_id: int) -> None:
        """Permanently erase the content of a message. Its place in the session is kept.

        Copies of its session in the audit log are also erased. An unknown message raises NotFound.
        """
        self._settings.check_enabled()
        wanted, now = check_message_id(message_id), self._clock()
        self._storage.write(lambda tx: session_upkeep.forget_message(tx, wanted, now, self._log))

    def forget_session(self, session_id: str) -> None:
        """Permanently erase a session, its messages and audit entries. An unknown one raises NotFound."""
        self._settings.check_enabled()
        name("session_id", session_id)
        now = self._clock()
        self._storage.write(lambda tx: session_upkeep.forget_session(tx, session_id, self._log, now))
        self._storage.finish_deletes()

    def stats(self) -> dict[str, Any]:
        """Return counts by source, and disk space by table and index."""
        return session_upkeep.collect_stats(self._storage)

    def optimize(self, seconds: float | None = None, *, deep: bool = False) -> None:
        """Clean up the index in short steps, for up to about ``seconds``.

        ``deep`` also erases the words of forgotten texts from a server's index.
        """
        if self._settings.disabled:
            return
        self._storage.write(lambda tx: tx.audit.expire(self._oldest_kept(), session_upkeep.OPERATIONS))
        self._storage.optimize(seconds, deep=deep)

    # --- internals --------------------------------------------------------------------------

    def _new_session(self, given: Mapping[str, Any]) -> SessionRow:
        fields = {**given, "id": given["session_id"], "source": given["source"] or self._settings.source}
        fields["project"] = given["project"] or self._settings.project or None
        most = self._settings.max_message_bytes
        for label, key in _IDS.items():
            refuse_secret(label, optional_name(label, fields[key]), self._redact)
        return new_session(fields, started=self._clock(), redact=self._redact, max_bytes=most)

    def _change(
        self, session_id: str, work: Callable[[Writes], object], if_revision: int | None = None
    ) -> None:
        """Change a session and count it as a write. An unknown session raises NotFound."""

        def change(tx: Writes) -> None:
            hold_session(tx, session_id, if_revision)
            work(tx)
            tx.sessions.revise(session_id, self._clock())

        if not self._is_off(session_id):
            self._storage.write(change)

    def _oldest_kept(self) -> float:
        return self._clock() - self._settings.audit_days * _DAY

    def _log(self, tx: Writes, operation: str, ref: str, before: str | None, after: str | None) -> int:
        now, actor = self._clock(), self._settings.current_actor
        return tx.audit.record(at=now, actor=actor, operation=operation, ref=ref, before=before, after=after)
