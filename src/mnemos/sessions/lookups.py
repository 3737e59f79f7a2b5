"""Lookups and lists of sessions: the part of ``memory.sessions`` that finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, Literal

from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.inputs import Moment, can_be_name, name, optional_name, whole
from mnemos.language.moments import read_span
from mnemos.sessions.lineage import list_lineage, resolve_id, resolve_projects
from mnemos.sessions.message_search import SessionList, find_sessions
from mnemos.sessions.records import dump_json, session_dict
from mnemos.sessions.session_types import Session
from mnemos.sessions.titles import add_titles, shorten_ids
from mnemos.settings import Settings
from mnemos.storage.base import Reads, SessionFilters, SessionRow, Storage
from mnemos.text.secrets import Redact, redact

Clock = Callable[[], float]


class Lookups:
    """Lookups and lists of the sessions of one space."""

    def __init__(self, storage: Storage, settings: Settings, clock: Clock) -> None:
        self._storage = storage
        self._settings = settings
        self._clock = clock
        self._redact: Redact = redact if settings.redact else str

    def get_session(self, session_id: str) -> Session | None:
        if not can_be_name("session_id", session_id):
            return None
        row = self._storage.read(lambda tx: tx.sessions.get(session_id))
        return session_dict(row) if row else None

    def find_title(self, session_id: str) -> str | None:
        """Return the title of a session, or the first line that the user wrote."""
        name("session_id", session_id)

        def work(tx: Reads) -> list[SessionRow]:
            row = tx.sessions.get(session_id)
            return add_titles(tx, [row]) if row else []

        return next((row.title for row in self._storage.read(work)), None)

    def resolve_session(self, id_prefix_or_title: str, *, user_id: str | None = None) -> str:
        """Return the session id for an id, the beginning of an id, or a title.

        An exact id comes before a title, a title before the beginning of an id. Several matches raise
        Ambiguous, none raises NotFound. ``user_id``: other users' sessions do not match.
        """
        text, user = name("session", id_prefix_or_title), optional_name("user_id", user_id)
        return self._storage.read(lambda tx: resolve_id(tx, text, user))

    def resolve_projects(self, project: str) -> list[str]:
        """Return the projects that a path or folder name refers to. Raises NotFound if there are none."""
        return resolve_projects(self._storage, project)

    def shorten_ids(self, session_ids: Iterable[str]) -> dict[str, str]:
        """Return the shortest beginning of each id that still identifies the session."""
        return self._storage.read(lambda tx: shorten_ids(tx, session_ids))

    def search_sessions(
        self,
        source: str | None = None,
        limit: int = 20,
        offset: int = 0,
        *,
        archived: bool | None = False,
        project: str | None = None,
        user_id: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        parent: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        sort: Literal["started", "updated"] = "started",
        query: str | None = None,
    ) -> list[Session]:
        """List sessions, newest first.

        ``archived``: False hides archived sessions, True lists only those, None lists all. ``since`` and
        ``until`` (exclusive) limit when they began. ``parent`` lists the children of that session, and
        ``metadata`` the sessions with these keys and values. ``sort="updated"`` lists the most recently
        changed first. ``query`` matches text in the title or words in recent messages.

        A session without a title is listed with the first line that the user wrote.
        """
        filters = self._choose(source, project, user_id, since, until, archived, parent, metadata)
        page = {"limit": whole("limit", limit), "offset": whole("offset", offset)}
        by_update = _is_by_update(sort)

        def work(tx: Reads) -> list[SessionRow]:
            chosen = _narrow(tx, filters, query)
            return add_titles(tx, tx.sessions.recent(chosen, by_update=by_update, **page))

        return SessionList(map(session_dict, self._storage.read(work)))

    def session_count(
        self,
        source: str | None = None,
        *,
        archived: bool | None = False,
        project: str | None = None,
        user_id: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        parent: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        query: str | None = None,
    ) -> int:
        filters = self._choose(source, project, user_id, since, until, archived, parent, metadata)
        return self._storage.read(lambda tx: tx.sessions.count(_narrow(tx, filters, query)))

    def children(self, session_id: str) -> list[Session]:
        """Return the children of a session, oldest first; none for an unknown session."""
        name("session_id", session_id)
        return [session_dict(row) for row in self._storage.read(lambda tx: tx.sessions.children(session_id))]

    def get_lineage(self, session_id: str) -> list[str]:
        """Return the sessions of a conversation, root to tip. An unknown session raises NotFound."""
        name("session_id", session_id)
        return self._storage.read(lambda tx: list_lineage(tx.sessions, session_id))

    def get_tip(self, session_id: str) -> str:
        """Return the session in which a conversation continues: itself if it was never split."""
        return self.get_lineage(session_id)[-1]

    def _projects(self, project: str | None) -> list[str] | None:
        return None if project is None else resolve_projects(self._storage, project)

    def _choose(
        self,
        source: str | None,
        project: str | None,
        user_id: str | None,
        since: Moment | None,
        until: Moment | None,
        archived: bool | None,  # noqa: FBT001 - passed on
        parent: str | None,
        metadata: Mapping[str, Any] | None,
    ) -> SessionFilters:
        """Check the filters of a list."""
        start, end = read_span(since, until, self._clock())
        return SessionFilters(
            source=optional_name("source", source),
            archived=archived,
            projects=self._projects(project),
            user=optional_name("user_id", user_id),
            since=start,
            until=end,
            parent=optional_name("parent", parent),
            metadata=None if metadata is None else _encode_filter(metadata),
        )


def _narrow(tx: Reads, filters: SessionFilters, query: str | None) -> SessionFilters:
    return filters if query is None else replace(filters, ids=find_sessions(tx, query))


def _encode_filter(metadata: Any) -> str:
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a mapping, not {type(metadata).__name__}")
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, (str, int, float, NoneType)):
            raise InvalidInput(
                f"Sessions can't be filtered by metadata {key!r}: {value!r}. "
                "Use a string, a number, true, false or null."
            )
    return dump_json(dict(metadata))


def _is_by_update(sort: Any) -> bool:
    if sort not in ("started", "updated"):
        raise InvalidInput(f"Unknown sort {sort!r}. Use started or updated.")
    return bool(sort == "updated")
