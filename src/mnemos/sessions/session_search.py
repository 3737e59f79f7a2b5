"""``session_search``: past conversations for a model, within a token budget.

The arguments choose the mode: a query discovers conversations, a message id scrolls around it, a session id
reads its beginning and end, and no argument lists recent sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from msgspec.structs import replace

from mnemos.errors import InvalidInput, NotFound
from mnemos.inputs import whole
from mnemos.sessions.lineage import find_root, is_visible, list_lineage
from mnemos.sessions.message_search import parse_order
from mnemos.sessions.message_text import document_of, is_echo
from mnemos.sessions.titles import add_titles
from mnemos.sessions.token_budget import (
    Budget,
    describe_session,
    fit_messages,
    fit_previews,
    fit_snippet,
    fit_snippets,
    render_text,
)
from mnemos.settings import Model
from mnemos.storage.base import (
    Filters,
    MessageRow,
    Order,
    Reads,
    Results,
    SessionFilters,
    SessionRow,
    Storage,
)
from mnemos.text.highlight import Finder
from mnemos.text.query import Query, is_plain, parse
from mnemos.text.stored_text import join_items, render_speaker

BUDGET = 2_000

# Tokens reserved for the other fields of an answer, such as the number of results left out.
_FRAME = 40
_OTHERS = 3
_ENDS = 2
_PREVIEW = 48
# The share of a conversation's tokens for the snippet, and the share of the rest for messages around the hit.
_SHARE_OF_SNIPPET = 1 / 4
_SHARE_AROUND = 5 / 8
_PAGE = 200
# Characters of a transcript on either side of the best hit. Searching a million of them takes about a second.
_SIDE = 150_000

# Hits per search. A conversation that fills a search is left out of the next, so that it can't hide others.
_HITS = 60
# If a search has fewer hits than this, there are no further conversations.
MANY = 30
_SEARCHES = 6
# People seldom ask about scheduled runs.
_SCHEDULED = ("cron", "schedule", "heartbeat", "job")

Search = Callable[[Filters], Results]
"""Find matching messages, best first."""
Ranking = Callable[[str, str | None, Filters], Results]
"""Return messages that answer a question, best first. Messages of a project may be preferred."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """A checked question about past conversations."""

    query: str
    filters: Filters
    order: Order
    limit: int
    window: int
    budget: int
    ranking: Search | None = None
    """Finds messages by meaning as well as by words, if given."""


def answer(
    storage: Storage,
    *,
    query: Any,
    session_id: str | None,
    around_message_id: Any,
    filters: Filters,
    sort: str,
    limit: int,
    window: int,
    budget: int,
    ranking: Ranking | None,
    project: str | None,
    summarizer: Model | None,
) -> dict[str, Any]:
    """Answer in the mode that the arguments select. A ranking prefers ``project``."""
    user = filters.user
    if around_message_id is not None:
        around = whole("around_message_id", around_message_id)
        return storage.read(lambda tx: scroll(tx, around, window=window, budget=budget, user=user))
    if not isinstance(query, str | None):
        raise InvalidInput(f"query must be a string, not {type(query).__name__}")
    if query is None or not query.strip():
        if session_id is not None:
            return storage.read(lambda tx: read(tx, session_id, budget=budget, user=user))
        return storage.read(lambda tx: browse(tx, filters, limit=limit, budget=budget))
    order = parse_order(sort)
    is_ranked = ranking is not None and order is Order.RELEVANCE and is_plain(query)
    search = partial(ranking, query, project) if ranking is not None and is_ranked else None
    asked = Discovery(query, filters, order, limit, window, budget, search)
    found = storage.read(lambda tx: discover(tx, asked))
    return found if summarizer is None else add_summaries(storage, summarizer, asked, found)


def discover(tx: Reads, asked: Discovery) -> dict[str, Any]:
    """Return matching conversations, best first, scheduled ones last.

    The first gets half of the budget. ``more`` counts further matches and is a lower bound. An unknown
    session in the filters raises NotFound.
    """
    for session_id in asked.filters.session_ids or ():
        _get_session(tx, session_id, asked.filters.user)
    query = parse(asked.query)
    search = asked.ranking or search_words(tx, query, asked.order)
    gathered = gather(tx, search, asked.filters, asked.order, asked.limit + 1)
    finder = Finder(query.loosen() if gathered.partial else query)
    wanted = gathered.conversations[: asked.limit]
    budget = Budget(asked.budget - _FRAME)
    shown: list[dict[str, Any]] = []
    for position, conversation in enumerate(wanted):
        waiting = len(wanted) - position
        part = budget.part(budget.left // (2 if position == 0 and waiting > 1 else waiting))
        described = _describe_conversation(tx, finder, conversation, 1 if shown else asked.window, part)
        budget.give_back(part)
        if shown and budget.left < 0:
            break
        shown.append(described)
    return {
        "mode": "discovery",
        "query": asked.query,
        "partial": gathered.partial,
        "conversations": shown,
        "more": len(gathered.conversations) - len(shown),
    }


def add_summaries(storage: Storage, model: Model, asked: Discovery, answer: dict[str, Any]) -> dict[str, Any]:
    """Add a model's summary to each conversation, or the reason why it is missing.

    The model is called outside any transaction.
    """
    # Imported here because it loads the model's client, which nothing else needs.
    from mnemos.sessions import summary

    conversations = answer["conversations"]
    if not model.is_configured:
        reason = "no model is configured: set [llm] base_url and model in config.toml"
        made = [summary.Summary(None, reason) for _ in conversations]
    else:
        texts = [
            storage.read(lambda tx: render_transcript(tx, c["session_id"], c["best"]["message_id"]))  # noqa: B023
            for c in conversations
        ]
        made = summary.summarize(model, asked.query, texts, parse(asked.query))
    return answer | {
        "conversations": [
            c | {"summary": s.text, "summary_by": "model"}
            if s.text
            else c | {"summary_by": "extract", "summary_failure": s.failure}
            for c, s in zip(conversations, made, strict=True)
        ]
    }


def scroll(
    tx: Reads, message_id: int, *, window: int, budget: int, user: str | None = None
) -> dict[str, Any]:
    """Return the messages around one. Another user's message raises NotFound."""
    rows = tx.sessions.around(message_id, before=window, after=window)
    row = tx.sessions.get(rows[0].session_id) if rows else None
    if row is None or not is_visible(row, user):
        raise NotFound(f"There is no message {message_id}.")
    tokens = Budget(budget - _FRAME)
    session = describe_session(add_titles(tx, [row])[0], tokens)
    return {"mode": "scroll", "session": session, "messages": fit_messages(rows, tokens, keep=message_id)}


def read(tx: Reads, session_id: str, *, budget: int, user: str | None = None) -> dict[str, Any]:
    """Return a session, or as much of its beginning and end as fits."""
    session = _get_session(tx, session_id, user)
    tokens = Budget(budget - _FRAME)
    described = describe_session(session, tokens)
    head, tail = _read_ends(tx, session_id, max(4, budget // 60))
    beginning = fit_messages(head, Budget(tokens.left)) if not tail else []
    closing: list[dict[str, Any]] = []
    if len(beginning) < len(head):
        if not tail:
            middle = (len(head) + 1) // 2
            head, tail = head[:middle], head[middle:]
        beginning = fit_messages(head, tokens.part(tokens.left // 2))
        closing = fit_messages(tail[::-1], tokens)[::-1]
    return {
        "mode": "read",
        "session": described,
        "messages": beginning,
        "left_out": session.message_count - len(beginning) - len(closing),
        "closing": closing,
    }


def browse(tx: Reads, filters: Filters, *, limit: int, budget: int) -> dict[str, Any]:
    """Return recent sessions. ``since`` and ``until`` limit when they started."""
    tokens = Budget(budget)
    sessions: list[dict[str, Any]] = []
    for row in _iterate_recent(tx, filters):
        if len(sessions) == limit:
            break
        described = describe_session(add_titles(tx, [row])[0], tokens)
        if sessions and tokens.left < 0:
            break
        opening = tx.sessions.messages(row.id, after=0, limit=_ENDS)
        asked = next((document_of(message).said for message in opening if message.role == "user"), "")
        sessions.append(described | {"opening": tokens.fit(asked, _PREVIEW)})
    return {"mode": "browse", "sessions": sessions}


def render_transcript(tx: Reads, session_id: str, around: int = 0) -> str:
    """Render a session as text for a model to summarise. Of a long one, only the part near a message."""
    rows = [row for row in tx.sessions.messages(session_id, after=0, limit=1 << 40) if not is_echo(row)]
    before = _take(_SIDE, [_render_message(row) for row in reversed(rows) if row.id < around])
    after = _take(
        2 * _SIDE - sum(map(len, before)), [_render_message(row) for row in rows if row.id >= around]
    )
    return "\n\n".join([*reversed(before), *after])


def _render_message(row: MessageRow) -> str:
    return join_items([f"{render_speaker(row.role)}: {render_text(row)}"])


def _take(characters: int, texts: list[str]) -> list[str]:
    """Return the first texts, at least one, with about that many characters in total."""
    ends = accumulate(map(len, texts))
    return [text for text, end in zip(texts, ends, strict=True) if end - len(text) < characters]


def _get_session(tx: Reads, session_id: str, user: str | None) -> SessionRow:
    session = tx.sessions.get(session_id)
    if session is None or not is_visible(session, user):
        raise NotFound(f"There is no session {session_id!r}. Leave session_id out to list recent ones.")
    return add_titles(tx, [session])[0]


def _read_ends(tx: Reads, session_id: str, count: int) -> tuple[list[MessageRow], list[MessageRow]]:
    """Return the first messages of a session, and the last of the remaining ones."""
    head = tx.sessions.messages(session_id, after=0, limit=count)
    if len(head) < count:
        return head, []
    return head, tx.sessions.messages(session_id, after=head[-1].id, limit=count, last=True)


def _iterate_recent(tx: Reads, filters: Filters) -> Iterator[SessionRow]:
    """Yield sessions within the filters, newest first."""
    source = filters.sources[0] if filters.sources and len(filters.sources) == 1 else None
    chosen = SessionFilters(
        source=source,
        archived=False,
        projects=filters.projects,
        user=filters.user,
        since=filters.since,
        until=filters.until,
    )
    offset = 0
    while page := tx.sessions.recent(chosen, limit=_PAGE, offset=offset):
        for row in page:
            is_wanted = filters.sources is None or row.source in filters.sources
            if is_wanted and row.id not in filters.exclude_session_ids:
                yield row
        offset += _PAGE


def _describe_conversation(
    tx: Reads, finder: Finder, found: Conversation, window: int, budget: Budget
) -> dict[str, Any]:
    session, best = found.hits[0]
    at_most = int(budget.left * _SHARE_OF_SNIPPET)
    described = describe_session(add_titles(tx, [session])[0], budget)
    shown = fit_snippet(best, finder, budget, at_most, label=f"{len(found.hits)} hits, best: ")
    part = budget.part(int(max(0, budget.left) * _SHARE_AROUND))
    around = fit_messages(tx.sessions.around(best.id, before=window, after=window), part, keep=best.id)
    budget.give_back(part)
    return {
        **described,
        "root_session_id": found.root,
        "hits": len(found.hits),
        "best": {
            "message_id": best.id,
            "role": best.role,
            "at": best.timestamp,
            "snippet": shown,
            "around": around,
        },
        **_describe_rest(tx, finder, found, {best.id, *(m["message_id"] for m in around)}, budget),
    }


def _describe_rest(
    tx: Reads, finder: Finder, found: Conversation, seen: set[int], budget: Budget
) -> dict[str, Any]:
    """Return short versions of a conversation's beginning, end and other hits."""
    session_id = found.session.id
    first = tx.sessions.messages(session_id, after=0, limit=_ENDS)
    opening = [row for row in first if row.id not in seen]
    last = tx.sessions.messages(session_id, after=0, limit=_ENDS, last=True)
    closing = [row for row in last if row.id not in seen and row not in first]
    others = [row for _, row in found.hits[1 : 1 + _OTHERS]]
    each = budget.left // max(1, len(opening) + len(closing) + len(others))
    return {
        "opening": fit_previews(opening, budget, min(each, _PREVIEW)),
        "closing": fit_previews(closing, budget, min(each, _PREVIEW)),
        "others": fit_snippets(others, finder, budget, min(each, _PREVIEW)),
    }


# --- hits by conversation ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its root, and the session and message of each hit, best first."""

    root: str
    hits: Sequence[tuple[SessionRow, MessageRow]]

    @property
    def session(self) -> SessionRow:
        return self.hits[0][0]

    @property
    def is_scheduled(self) -> bool:
        source = self.session.source.lower()
        return any(word in source for word in _SCHEDULED)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The conversations found. ``partial``: no message has all words of the query, but these have most."""

    conversations: list[Conversation]
    partial: bool


def search_words(tx: Reads, query: Query, order: Order) -> Search:
    """Return a search for the words of a query."""
    return lambda filters: tx.sessions.search(query, filters, order=order, limit=_HITS, offset=0)


def gather(tx: Reads, search: Search, filters: Filters, order: Order, wanted: int) -> Gathered:
    """Return matching conversations in the order of their best hit.

    When sorted by relevance, people's conversations come before scheduled ones unless a source is named.
    Searches a few times at most, until ``wanted`` conversations are found.
    """
    people_first = order is Order.RELEVANCE and filters.sources is None
    gatherer = _Gatherer(tx, people_first=people_first)
    first = results = search(filters)
    gatherer.add(results)
    for _ in range(_SEARCHES - 1):
        is_last = len(results.hits) < MANY or results.partial != first.partial
        if is_last and not gatherer.turn_to_scheduled():
            break
        if gatherer.count >= wanted:
            break
        further = gatherer.exclude_found(filters)
        results = search(further)
        # If the first search found messages with all words, partial matches are not wanted.
        if results.partial == first.partial:
            gatherer.add(results)
    return Gathered(gatherer.conversations(people_first=people_first), first.partial)


class _Gatherer:
    """The hits found so far. Scheduled sources wait until people's conversations are exhausted."""

    def __init__(self, tx: Reads, *, people_first: bool) -> None:
        self._sessions = tx.sessions
        self._people_first = people_first
        self._waiting: set[str] = set()
        self._hits: dict[str, list[tuple[SessionRow, MessageRow]]] = {}
        self._known: dict[str, tuple[SessionRow | None, str]] = {}

    def add(self, results: Results) -> None:
        for found in results.hits:
            row = self._sessions.message(found.message_id)
            session, root = self._session(row.session_id) if row else (None, "")
            if row is not None and session is not None:
                self._hits.setdefault(root, []).append((session, row))

    @property
    def count(self) -> int:
        """The number of conversations found of the current kind."""
        return sum(1 for c in self._all() if not (self._people_first and c.is_scheduled))

    def turn_to_scheduled(self) -> bool:
        """Look for scheduled conversations from now on. False if none were found so far."""
        has_waiting = bool(self._waiting)
        self._people_first = False
        self._waiting = set()
        return has_waiting

    def exclude_found(self, filters: Filters) -> Filters:
        """Return filters that exclude the conversations already found."""
        self._waiting = {c.session.source for c in self._all() if self._people_first and c.is_scheduled}
        found = [
            session_id
            for c in self._all()
            if c.session.source not in self._waiting
            for session_id in {*list_lineage(self._sessions, c.session.id), *(s.id for s, _ in c.hits)}
        ]
        return replace(
            filters,
            exclude_sources=[*filters.exclude_sources, *self._waiting],
            exclude_session_ids=[*filters.exclude_session_ids, *found],
        )

    def conversations(self, *, people_first: bool) -> list[Conversation]:
        return sorted(self._all(), key=lambda c: people_first and c.is_scheduled)

    def _all(self) -> list[Conversation]:
        return [Conversation(root, hits) for root, hits in self._hits.items()]

    def _session(self, session_id: str) -> tuple[SessionRow | None, str]:
        if session_id not in self._known:
            root = find_root(self._sessions, session_id)
            self._known[session_id] = (self._sessions.get(session_id), root)
        return self._known[session_id]
