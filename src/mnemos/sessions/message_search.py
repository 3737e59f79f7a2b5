"""Message search and its results as hosts see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnemos.errors import InvalidInput
from mnemos.inputs import Moment, in_range, names, optional_name, suggest, whole
from mnemos.language.moments import read_span
from mnemos.projects import name_project
from mnemos.sessions.lineage import find_root
from mnemos.sessions.message_text import document_of, text_of
from mnemos.sessions.session_types import ContextMessage, MessageHit, Session
from mnemos.sessions.titles import find_titles
from mnemos.storage.base import Filters, Glimpse, Hit, MessageRow, Order, Reads
from mnemos.text.fences import strip_cut_fences
from mnemos.text.highlight import OPEN, Finder
from mnemos.text.query import Query, parse
from mnemos.text.tables import Table, format_time

CONTEXT_CHARACTERS = 200
MAX_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class MessageSearch:
    """A checked search: query, filters, order and page."""

    query: Query
    filters: Filters
    order: Order
    limit: int
    offset: int


def check_search(
    query: str,
    *,
    filters: Filters,
    sort: str,
    limit: int,
    offset: int,
) -> MessageSearch:
    if not isinstance(query, str):
        raise InvalidInput(f"query must be a string, not {type(query).__name__}")
    most = in_range("limit", limit, MAX_LIMIT)
    return MessageSearch(parse(query), filters, parse_order(sort), most, whole("offset", offset))


def parse_order(sort: str) -> Order:
    try:
        return Order(sort)
    except ValueError:
        meant = suggest(sort, ("relevance", "newest", "oldest"))
        raise InvalidInput(f"Unknown sort {sort!r}.{meant} Use relevance, newest or oldest.") from None


def find_messages(tx: Reads, search: MessageSearch) -> list[MessageHit]:
    """Return the hits of a search with their context and the root of their conversation."""
    results = tx.sessions.search(
        search.query, search.filters, order=search.order, limit=search.limit, offset=search.offset
    )
    finder = Finder(search.query.loosen() if results.partial else search.query)
    scores = {found.message_id: found.matched + found.score for found in results.hits}
    hits = tx.sessions.hits(list(scores), CONTEXT_CHARACTERS + 1)
    titles = find_titles(tx, list({hit.message.session_id for hit in hits if hit.title is None}))
    return MessageHits(
        _describe(tx, finder, hit, scores[hit.message.id], titles, partial=results.partial) for hit in hits
    )


def find_sessions(tx: Reads, query: str) -> list[str]:
    """Return ids of sessions with the text in the title, or all its words in one message.

    Only the newest 1,000 matching messages are considered.
    """
    if not isinstance(query, str):
        raise InvalidInput(f"query must be a string, not {type(query).__name__}")
    ids = tx.sessions.by_title_part(query.strip(), MAX_LIMIT) if query.strip() else []
    words = parse(query)
    if words.clauses:
        results = tx.sessions.search(words, Filters(), order=Order.NEWEST, limit=MAX_LIMIT, offset=0)
        found = [] if results.partial else [hit.message_id for hit in results.hits]
        ids += [hit.message.session_id for hit in tx.sessions.hits(found, 1)]
    return list(dict.fromkeys(ids))


def _describe(
    tx: Reads, finder: Finder, hit: Hit, score: float, titles: Mapping[str, str], *, partial: bool
) -> MessageHit:
    row = hit.message
    said: ContextMessage = {"role": row.role, "content": cut(document_of(row).said)}
    return {
        "id": row.id,
        "session_id": row.session_id,
        "role": row.role,
        "snippet": make_snippet(row, finder),
        "timestamp": row.timestamp,
        "tool_name": row.tool_name,
        "title": hit.title or titles.get(row.session_id),
        "project": hit.project,
        "source": hit.source,
        "model": hit.model,
        "session_started": hit.session_started,
        "context": [*_render_glimpse(hit.before), said, *_render_glimpse(hit.after)],
        "root_session_id": find_root(tx.sessions, row.session_id) if hit.has_parent else row.session_id,
        "score": round(score, 4),
        "partial": partial,
    }


def _render_glimpse(glimpse: Glimpse | None) -> list[ContextMessage]:
    if glimpse is None:
        return []
    return [{"role": glimpse.role, "content": cut(strip_cut_fences(text_of(glimpse)))}]


def make_snippet(row: MessageRow, finder: Finder, *, width: int = 240) -> str:
    document = document_of(row)
    said = finder.snippet(document.said, width)
    if OPEN in said or not document.tool:
        return said
    tool = finder.snippet(document.tool, width)
    return tool if OPEN in tool or not said else said


class MessageHits(Table[MessageHit]):
    """Search results that render as a table in notebooks."""

    columns = ("title", "when", "role", "snippet", "id")

    def cells(self, item: MessageHit) -> Sequence[object]:
        return item["title"], format_time(item["timestamp"]), item["role"], item["snippet"], item["id"]


class SessionList(Table[Session]):
    """Sessions that render as a table in notebooks."""

    columns = ("title", "project", "started", "source", "messages", "id")

    def cells(self, item: Session) -> Sequence[object]:
        started, project = format_time(item["started_at"]), item["project"]
        shown = None if project is None else name_project(project)
        return item["title"], shown, started, item["source"], item["message_count"], item["id"]


def cut(text: str, characters: int = CONTEXT_CHARACTERS) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def make_filters(
    sources: str | Sequence[str] | None,
    roles: str | Sequence[str] | None,
    session_ids: Sequence[str] | None,
    exclude_session_ids: Sequence[str] | None,
    since: Moment | None,
    until: Moment | None,
    now: float,
    *,
    latest: float | None = None,
    projects: Sequence[str] | None = None,
    user_id: str | None = None,
) -> Filters:
    start, end = read_span(since, until, now, latest)
    return Filters(
        sources=names("source", sources),
        roles=names("role_filter", roles),
        session_ids=names("session_ids", session_ids),
        exclude_session_ids=names("exclude_session_ids", exclude_session_ids) or (),
        since=start,
        until=end,
        projects=projects,
        user=optional_name("user_id", user_id),
    )
