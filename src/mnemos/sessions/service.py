"""Sessions: every conversation, kept and found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any

from mnemos.errors import InvalidInput, NotFound
from mnemos.inputs import can_be_name, name, names, optional_name, span, whole
from mnemos.sessions import discovery, lineage, search, transcripts, undo
from mnemos.sessions.model import calls_without_arguments, dumped, session_dict
from mnemos.sessions.model import message_id as as_message_id
from mnemos.sessions.recording import Recording
from mnemos.storage.base import Filters, Order, Results, Writes
from mnemos.text.query import is_plain


class Sessions(Recording):
    """The conversations of one space: recorded, searched, followed, exported, tidied."""

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
        since: float | None = None,
        until: float | None = None,
        sort: str = "relevance",
    ) -> list[dict[str, Any]]:
        """Messages that have all words of the query, best first; if none has, those with most.

        An empty query finds nothing. ``until`` is exclusive.
        """
        asked = search.asked(
            query,
            filters=self._filters(source_filter, role_filter, session_ids, exclude_session_ids, since, until),
            sort=sort,
            limit=limit,
            offset=offset,
        )
        if not asked.query.clauses:
            return []
        return self._storage.read(lambda tx: search.described(tx, asked.query, search.find(tx, asked)))

    def session_search(
        self,
        query: str | None = None,
        session_id: str | None = None,
        around_message_id: int | None = None,
        window: int = 5,
        limit: int = 3,
        role_filter: str | Sequence[str] | None = None,
        sort: str = "relevance",
        since: float | None = None,
        until: float | None = None,
        exclude_session_ids: Sequence[str] | None = None,
        source: str | None = None,
        *,
        current_session_id: str | None = None,
        summarize: bool = False,
        budget: int = discovery.BUDGET,
    ) -> dict[str, Any]:
        """Past conversations for a model, within ``budget`` tokens; ``mode`` says what was understood.

        ``around_message_id``: what was said around it. ``query``: conversations that match.
        ``session_id`` alone: its beginning and end. Nothing: recent sessions. What the current session
        holds is in the model's context already and is left out; what compression took out is not.
        """
        whole("budget", budget)
        if around_message_id is not None:
            around = whole("around_message_id", around_message_id)
            return self._storage.read(
                lambda tx: discovery.scroll(tx, around, window=whole("window", window), budget=budget)
            )
        if not isinstance(query, str | None):
            raise InvalidInput(f"query is a {type(query).__name__}; use a text")
        asks = query is not None and bool(query.strip())
        if session_id is not None and not asks:
            return self._storage.read(lambda tx: discovery.read(tx, session_id, budget=budget))
        excluded = names("exclude_session_ids", exclude_session_ids) or []
        filters = self._filters(
            source,
            role_filter,
            None if session_id is None else [session_id],
            excluded if current_session_id is None else [*excluded, current_session_id],
            since,
            until,
        )
        if query is None or not asks:
            return self._storage.read(
                lambda tx: discovery.browse(tx, filters, limit=whole("limit", limit), budget=budget)
            )
        order = search.order(sort)
        asked = discovery.Discovery(
            query,
            filters,
            order,
            whole("limit", limit),
            whole("window", window),
            budget,
            self._ranking_of(query) if order is Order.RELEVANCE else None,
        )
        answer = self._storage.read(lambda tx: discovery.discover(tx, asked))
        if not summarize:
            return answer
        return discovery.with_summaries(self._storage, self._settings.llm, asked, answer)

    def _ranking_of(self, query: str) -> Callable[[Filters], Results] | None:
        """For a question in plain words; none for one that uses the signs of the query language."""
        if self._ranking is None or not is_plain(query):
            return None
        return partial(self._ranking, query)

    def search_sessions(
        self,
        source: str | None = None,
        limit: int = 20,
        offset: int = 0,
        *,
        archived: bool | None = False,
    ) -> list[dict[str, Any]]:
        """Sessions, newest first. ``archived``: False leaves them out, True only them, None all."""
        optional_name("source", source)
        rows = self._storage.read(
            lambda tx: tx.sessions.listed(
                source=source,
                archived=archived,
                limit=whole("limit", limit),
                offset=whole("offset", offset),
            )
        )
        return [session_dict(row) for row in rows]

    def session_count(self, source: str | None = None, *, archived: bool | None = False) -> int:
        optional_name("source", source)
        return self._storage.read(lambda tx: tx.sessions.count(source=source, archived=archived))

    # --- lineage ----------------------------------------------------------------------------

    def get_lineage(self, session_id: str) -> list[str]:
        """The sessions of this conversation, root to tip. Unknown raises NotFound."""
        name("session_id", session_id)
        return self._storage.read(lambda tx: lineage.whole(tx.sessions, session_id))

    def get_tip(self, session_id: str) -> str:
        """The session in which this conversation goes on now; itself when it was never split."""
        return self.get_lineage(session_id)[-1]

    # --- export, import, upkeep ---------------------------------------------------------------

    def export_session(self, session_id: str) -> dict[str, Any]:
        """A session with its messages. Unknown raises NotFound."""
        name("session_id", session_id)
        session = transcripts.exported(self._storage, session_id)
        if session is None:
            raise NotFound(f"there is no session {session_id!r}")
        return session

    def export_all(self, source: str | None = None) -> Iterator[dict[str, Any]]:
        """Every session with its messages, one after the other; reads in short pages."""
        optional_name("source", source)
        return transcripts.all_exported(self._storage, source)

    def export_jsonl(self, stream: IO[str], source: str | None = None) -> int:
        """Write every session as a line of JSON; how many."""
        return self.write_jsonl(self.export_all(source), stream)

    def write_jsonl(self, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
        """Write exported sessions as lines of JSON; how many."""
        return transcripts.write_lines(sessions, stream)

    def import_sessions(
        self,
        sessions: Iterable[Mapping[str, Any]],
        *,
        progress: Callable[[float], None] | None = None,
    ) -> dict[str, Any]:
        """Store exported sessions: all are checked before any is written.

        A session that is there already is skipped, one that an interrupted import left unfinished is
        completed. Answers ``imported`` and ``skipped`` (ids) and ``messages`` (a number). Long sessions
        take several short transactions. Can be undone.
        """
        incoming = transcripts.checked(
            sessions,
            now=self._clock(),
            redact=self._redact,
            max_bytes=self._settings.max_message_bytes,
        )
        if self._settings.disabled:
            return {"imported": [], "skipped": [], "messages": 0, "disabled": True}
        done = transcripts.store(self._storage, incoming, self._clock(), progress)
        if done.created:
            what = dumped(done.created)
            self._storage.write(lambda tx: self._note(tx, undo.IMPORT, "", None, what))
        return {
            "imported": list(done.sessions),
            "skipped": list(done.skipped),
            "messages": done.messages,
        }

    def import_jsonl(
        self, stream: Iterable[str], *, progress: Callable[[float], None] | None = None
    ) -> dict[str, Any]:
        """Import what ``export_jsonl`` wrote."""
        return self.import_sessions(transcripts.read_lines(stream), progress=progress)

    def delete_session(self, session_id: str) -> bool:
        """Remove a session and its messages; False when unknown. Can be undone for some weeks.

        Its children belong to its parent from now on. Long sessions take several short transactions;
        no reader sees the session after the first.
        """
        if not can_be_name("session_id", session_id) or self._settings.disabled:
            return False
        kept_since = self._clock() - self._settings.audit_days * 86400.0
        return undo.delete(self._storage, session_id, self._note, kept_since)

    def prune_sessions(
        self, older_than_days: float = 90, source: str | None = None, *, dry_run: bool = False
    ) -> int:
        """Remove ended sessions whose last message is older; how many. Cannot be undone."""
        optional_name("source", source)
        if isinstance(older_than_days, bool) or not isinstance(older_than_days, (int, float)):
            raise InvalidInput(f"older_than_days is {older_than_days!r}; use a number of days")
        if not 0 <= older_than_days < 1e6:
            raise InvalidInput(f"older_than_days is {older_than_days!r}; use a number of days from 0")
        before = self._clock() - older_than_days * 86400.0
        old = self._storage.read(lambda tx: tx.sessions.ended_before(before, source))
        if dry_run:
            return len(old)
        if self._settings.disabled:
            return 0
        for session_id in old:
            self._storage.write(lambda tx: tx.sessions.begin_delete(session_id))  # noqa: B023
        if old:
            what = f"{len(old)} sessions older than {older_than_days:g} days"
            self._storage.write(lambda tx: self._note(tx, undo.PRUNE, "", None, what))
        self._storage.finish_deletes()
        return len(old)

    def forget_message(self, message_id: int) -> None:
        """Erase what a message says, for ever; its place stays.

        Copies that the audit log kept of its session go too. Unknown raises NotFound.
        """
        self._check_enabled()
        wanted = as_message_id(message_id)
        now = self._clock()

        def work(tx: Writes) -> None:
            row = tx.sessions.message(wanted)
            if row is None:
                raise NotFound(f"there is no message {wanted}")
            if not row.forgotten:
                calls = calls_without_arguments(row)
                tx.sessions.forget_message(wanted, tool_calls=calls, at=now)
                tx.audit.scrub(undo.ref(row.session_id))
                self._note(tx, undo.FORGET, f"message:{wanted}", None, None)

        self._storage.write(work)

    def forget_session(self, session_id: str) -> None:
        """Erase a session, its messages and what the audit log kept of it. Unknown raises NotFound."""
        self._check_enabled()
        name("session_id", session_id)

        def work(tx: Writes) -> None:
            known = tx.sessions.begin_delete(session_id)
            kept = tx.audit.scrub(undo.ref(session_id))
            if not known and not kept:
                raise NotFound(f"there is no session {session_id!r}")
            self._note(tx, undo.FORGET, undo.ref(session_id), None, None)

        self._storage.write(work)
        self._storage.finish_deletes()

    def stats(self) -> dict[str, Any]:
        """How much there is, and where the space goes."""
        usage = self._storage.usage()
        sources = self._storage.read(lambda tx: tx.sessions.by_source())
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

    def optimize(self, seconds: float | None = None) -> None:
        """Tidy the index, in short steps, for at most about so many seconds."""
        if self._settings.disabled:
            return
        kept_since = self._clock() - self._settings.audit_days * 86400.0
        self._storage.write(lambda tx: tx.audit.expire(kept_since, undo.OPERATIONS))
        self._storage.optimize(seconds)

    # --- inside -----------------------------------------------------------------------------

    @staticmethod
    def _filters(
        sources: str | Sequence[str] | None,
        roles: str | Sequence[str] | None,
        session_ids: Sequence[str] | None,
        exclude_session_ids: Sequence[str] | None,
        since: float | None,
        until: float | None,
    ) -> Filters:
        start, end = span(since, until)
        return Filters(
            sources=names("source", sources),
            roles=names("role_filter", roles),
            session_ids=names("session_ids", session_ids),
            exclude_session_ids=names("exclude_session_ids", exclude_session_ids) or (),
            since=start,
            until=end,
        )
