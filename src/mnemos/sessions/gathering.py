"""Hits gathered by conversation, until there are enough conversations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from mnemos.sessions import lineage
from mnemos.storage.base import Filters, MessageRow, Order, Reads, Results, SessionRow
from mnemos.text.query import Query

# Hits of one search. A conversation that fills it is left out of the next one, so that talkative ones do
# not hide the others; after so many searches it is enough.
_HITS = 60
# With fewer hits than these, there are no others.
MANY = 30
_SEARCHES = 6
# What a machine started on a schedule is seldom what a person asks for.
_SCHEDULED = ("cron", "schedule", "heartbeat", "job")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with hits: its root, and for each hit, best first, the message and its session."""

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
    """``partial``: no message has all words of the query, these have most of them."""

    conversations: list[Conversation]
    partial: bool


Search = Callable[[Filters], Results]
"""Messages that match, best first: as many as there are, or many."""


def by_words(tx: Reads, query: Query, order: Order) -> Search:
    """Messages that have the words of a query."""
    return lambda filters: tx.sessions.search(query, filters, order=order, limit=_HITS, offset=0)


def gather(tx: Reads, search: Search, filters: Filters, order: Order, wanted: int) -> Gathered:
    """Conversations that match, in the order of their best hit.

    By relevance, people's come before scheduled ones, however many of those there are; who names a source
    has chosen already. At least ``wanted`` conversations, if as many match and a few searches find them.
    """
    people_first = order is Order.RELEVANCE and filters.sources is None
    gathering = _Gathering(tx, people_first=people_first)
    first = results = search(filters)
    gathering.add(results)
    for _ in range(_SEARCHES - 1):
        is_last = len(results.hits) < MANY or results.partial != first.partial
        if is_last and not gathering.turn_to_scheduled():
            break
        if gathering.count >= wanted:
            break
        further = gathering.without_found(filters)
        results = search(further)
        # Without what was found, messages with fewer of the words would be next; they are not wanted.
        if results.partial == first.partial:
            gathering.add(results)
    return Gathered(gathering.conversations(people_first=people_first), first.partial)


class _Gathering:
    """What was found so far. While people's conversations are sought, scheduled sources stand aside."""

    def __init__(self, tx: Reads, *, people_first: bool) -> None:
        self._sessions = tx.sessions
        self._people_first = people_first
        self._aside: set[str] = set()
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
        """How many conversations of the kind sought at present were found."""
        return sum(1 for c in self._all() if not (self._people_first and c.is_scheduled))

    def turn_to_scheduled(self) -> bool:
        """When people's are exhausted: whether any stood aside, which are sought from now on."""
        stood_aside = bool(self._aside)
        self._people_first = False
        self._aside = set()
        return stood_aside

    def without_found(self, filters: Filters) -> Filters:
        """The filters that find further conversations."""
        self._aside = {c.session.source for c in self._all() if self._people_first and c.is_scheduled}
        found = [
            session_id
            for c in self._all()
            if c.session.source not in self._aside
            for session_id in {*lineage.whole(self._sessions, c.session.id), *(s.id for s, _ in c.hits)}
        ]
        return replace(
            filters,
            exclude_sources=[*filters.exclude_sources, *self._aside],
            exclude_session_ids=[*filters.exclude_session_ids, *found],
        )

    def conversations(self, *, people_first: bool) -> list[Conversation]:
        return sorted(self._all(), key=lambda c: people_first and c.is_scheduled)

    def _all(self) -> list[Conversation]:
        return [Conversation(root, hits) for root, hits in self._hits.items()]

    def _session(self, session_id: str) -> tuple[SessionRow | None, str]:
        if session_id not in self._known:
            root = lineage.root(self._sessions, session_id)
            self._known[session_id] = (self._sessions.get(session_id), root)
        return self._known[session_id]
