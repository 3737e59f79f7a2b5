"""Search results as hosts see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mnemos.errors import InvalidInput
from mnemos.inputs import whole
from mnemos.sessions import lineage
from mnemos.sessions.model import text_of, tools_of
from mnemos.storage.base import Filters, Glimpse, Hit, MessageRow, Order, Reads, Results
from mnemos.text.highlight import OPEN, Finder
from mnemos.text.query import Query, parse

CONTEXT_CHARACTERS = 200
MAX_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as asked: the query, what it looks at, and how much it returns."""

    query: Query
    filters: Filters
    order: Order
    limit: int
    offset: int


def asked(
    query: str,
    *,
    filters: Filters,
    sort: str,
    limit: int,
    offset: int,
) -> Asked:
    if not isinstance(query, str):
        raise InvalidInput(f"query is a {type(query).__name__}; use a text")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"limit is {limit!r}; use 1 to {MAX_LIMIT}")
    return Asked(parse(query), filters, order(sort), limit, whole("offset", offset))


def order(sort: str) -> Order:
    try:
        return Order(sort)
    except ValueError:
        raise InvalidInput(f"sort is {sort!r}; use relevance, newest or oldest") from None


def find(tx: Reads, search: Asked) -> Results:
    return tx.sessions.search(
        search.query,
        search.filters,
        order=search.order,
        limit=search.limit,
        offset=search.offset,
    )


def described(tx: Reads, query: Query, results: Results) -> list[dict[str, Any]]:
    """The hits with what surrounds them and the conversation they belong to."""
    finder = Finder(query.loosened() if results.partial else query)
    scores = {found.message_id: found.matched + found.score for found in results.hits}
    return [
        _described(tx, finder, hit, scores[hit.message.id], partial=results.partial)
        for hit in tx.sessions.hits(list(scores), CONTEXT_CHARACTERS + 1)
    ]


def _described(tx: Reads, finder: Finder, hit: Hit, score: float, *, partial: bool) -> dict[str, Any]:
    row = hit.message
    said = {"role": row.role, "content": cut(text_of(row))}
    return {
        "id": row.id,
        "session_id": row.session_id,
        "role": row.role,
        "snippet": snippet_of(row, finder),
        "timestamp": row.timestamp,
        "tool_name": row.tool_name,
        "source": hit.source,
        "model": hit.model,
        "session_started": hit.session_started,
        "context": [*_glimpsed(hit.before), said, *_glimpsed(hit.after)],
        "root_session_id": lineage.root(tx.sessions, row.session_id) if hit.has_parent else row.session_id,
        "score": round(score, 4),
        "partial": partial,
    }


def _glimpsed(glimpse: Glimpse | None) -> list[dict[str, Any]]:
    if glimpse is None:
        return []
    return [{"role": glimpse.role, "content": cut(text_of(glimpse))}]


def snippet_of(row: MessageRow, finder: Finder, *, width: int = 240) -> str:
    said = finder.snippet(text_of(row), width)
    if OPEN in said or (row.tool_calls is None and not row.tool_name):
        return said
    tool = finder.snippet(tools_of(row), width)
    return tool if OPEN in tool or not said else said


def cut(text: str, characters: int = CONTEXT_CHARACTERS) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
