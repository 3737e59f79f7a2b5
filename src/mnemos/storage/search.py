"""Search for every engine: filters, weights of words, and relaxed queries.

An engine's subclass plans and runs the queries. Its plans are opaque here.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from mnemos.storage.base import Documents, Filters, Found, Order, Results
from mnemos.storage.passages import Passage
from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.terms import (
    LAST_MOMENT,
    Indexable,
    group_tag,
    project_tag,
    role_tag,
    session_tag,
    source_tag,
)
from mnemos.storage.transaction import Transaction
from mnemos.text.query import Clause, Query

# The number of matches to score. If there are more, only the newest are scored.
CANDIDATES = 2_000
# A time filter of more weeks than this excludes too little for the index to help.
WEEKS_IN_MATCH = 60
# Extra rows to fetch, because the rows of a long message become one hit.
SPARE = 10


class Weight(Struct, frozen=True):
    """The number of messages that match a clause, and its weight."""

    count: int
    idf: float


class Scope(Struct, frozen=True):
    """The filters of a search as time bounds and tags of the index."""

    since: float
    until: float
    every: tuple[tuple[str, ...], ...] = ()
    """A row must have one tag of each of these."""
    none: tuple[str, ...] = ()
    """A row must have none of these."""
    user: str | None = None
    """Rows that belong to another user are excluded."""

    @property
    def is_timeless(self) -> bool:
        return self.since <= -LAST_MOMENT and self.until >= LAST_MOMENT

    @property
    def is_everything(self) -> bool:
        return not (self.every or self.none or self.user)


_NO_FILTERS = Filters()
_EVERYTHING = Scope(-LAST_MOMENT, LAST_MOMENT)


def count_candidates(limit: int) -> int:
    """Return how many matches of one word to score: few, as hundreds match equally."""
    return max(300, limit * 10)


def count_driving(weights: Sequence[Weight], cap: int) -> int:
    """Return how many of the rarest clauses together match up to ``cap`` messages."""
    total = 0
    for number, weight in enumerate(weights):
        total += weight.count
        if total > cap:
            return max(number, 1)
    return len(weights)


class WordIndex(Protocol):
    """The index of words, as one transaction sees it."""

    @property
    def documents(self) -> Documents: ...

    def searching(self) -> Search:
        """Return a search over everything stored, including what is indexed later."""
        ...

    def indexables(self, after: int, through: int) -> Iterator[Indexable]:
        """Yield the messages that have ids above ``after`` and up to ``through``, in order."""
        ...

    def add(self, item: Indexable) -> None:
        """Add a message, unless it will be indexed later anyway."""
        ...

    def remove(self, item: Indexable) -> None:
        """Remove a message. Called before its text changes."""
        ...

    def add_passage(self, passage: Passage) -> None: ...

    def remove_passage(self, passage: Passage) -> None: ...


class Plans(Protocol):
    """The plans of an engine to match queries."""

    def all_of(self, query: Query) -> Any:
        """Plan to match every clause and no excluded one."""
        ...

    def any_of(self, query: Query, weights: Sequence[Weight], cap: int) -> Any:
        """Plan to match at least one clause. ``query`` has its rarest clauses first.

        The rarest clauses, which together match up to ``cap`` messages, find the candidates.
        """
        ...

    def pairs_of(self, query: Query, weights: Sequence[Weight]) -> Any:
        """Plan to match at least two of the three rarest clauses, which ``query`` has first."""
        ...

    def anything(self) -> Any:
        """Plan to match every message, for filters without words."""
        ...


class Search(ABC):
    """The searches of one transaction."""

    def __init__(
        self, tx: Transaction, space: Space, sql: Queries, plans: Plans, *, total: int, has_doomed: bool
    ) -> None:
        self.plans = plans
        self._tx = tx
        self._space = space
        self._sql = sql
        self._total = total
        self._has_doomed = has_doomed

    def run(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        scope = self.scope(filters)
        if not query.clauses or limit <= 0 or scope is None:
            return Results((), partial=False)
        wanted = offset + limit
        hits = self._find(self.plans.all_of(query), scope, order, wanted)
        if hits:
            return Results(tuple(hits[offset:]), partial=False)
        loose = query.loosen()
        if len(loose.clauses) == 1 and set(query.clauses) == set(loose.clauses):
            # No message has the query's only word.
            return Results((), partial=False)
        hits = self._find_most(loose, scope, order, wanted)
        return Results(tuple(hits[offset:]), partial=bool(hits))

    def _find_most(self, query: Query, scope: Scope, order: Order, limit: int) -> list[Found]:
        """Find messages with most of the occurring words, if none has all of them."""
        counted = zip(query.clauses, self.counts(query.clauses), strict=True)
        known = [(clause, self.worth(count)) for clause, count in counted if count]
        known.sort(key=lambda pair: pair[1].count)
        while known:
            rarest_first = Query(tuple(clause for clause, _ in known), query.excluded)
            some = self.plans.any_of(rarest_first, [weight for _, weight in known], CANDIDATES)
            hits = self._find(self.plans.all_of(rarest_first), scope, order, limit)
            hits = hits or self._find(some, scope, order, limit)
            if hits:
                return hits
            known = known[1:]
        return []

    def _find(self, plan: Any, scope: Scope, order: Order, limit: int) -> list[Found]:
        if order is Order.RELEVANCE:
            return self._best(plan, scope, limit)
        return self._in_time(plan, scope, limit, newest=order is Order.NEWEST)

    # --- what an engine does ----------------------------------------------------------------

    @abstractmethod
    def _best(self, plan: Any, scope: Scope, limit: int) -> list[Found]: ...

    @abstractmethod
    def _in_time(self, plan: Any, scope: Scope, limit: int, *, newest: bool) -> list[Found]:
        """Find matches by the messages' own time."""

    @abstractmethod
    def counts(self, clauses: Sequence[Clause]) -> list[int]:
        """Count the messages that match each clause; counts of common clauses are estimates."""

    @abstractmethod
    def counts_of_others(self, clauses: Sequence[Clause], total: int) -> list[int]:
        """Count the other passages, out of ``total``, that match each clause."""

    @abstractmethod
    def sessions_matching(self, clause: Clause, cap: int) -> set[str]:
        """Return the sessions of the newest messages that match a clause."""

    @abstractmethod
    def seed_messages(self, plan: Any, scope: Scope, cap: int, limit: int) -> dict[int, float]:
        """Score the newest messages by the weights of their clauses, each once; return the best."""

    @abstractmethod
    def seed_others(
        self, plan: Any, scope: Scope, kinds: Sequence[str] | None, cap: int, limit: int
    ) -> dict[int, float]:
        """Score passages that are not messages."""

    def _rank(self, best: dict[int, float], limit: int) -> list[Found]:
        """Sort messages by score, whose whole part counts the clauses, then newest first."""
        ranked = sorted(best.items(), key=lambda item: (-item[1], -item[0]))
        return [Found(message, int(score), score % 1) for message, score in ranked[:limit]]

    def _bind_others(self) -> dict[str, Any]:
        return {"first": self._space.first_passage, "last": self._space.last_passage}

    # --- weights and filters ----------------------------------------------------------------

    def worth(self, count: int) -> Weight:
        """Weigh a clause that ``count`` messages match. Rare ones weigh more."""
        return Weight(count, math.log(1 + (max(self._total - count, 0) + 0.5) / (count + 0.5)))

    def scope(self, filters: Filters) -> Scope | None:
        """Translate filters, or return None if they exclude everything."""
        if filters == _NO_FILTERS and not self._has_doomed:
            return _EVERYTHING
        since = filters.since if filters.since is not None else -LAST_MOMENT
        until = filters.until if filters.until is not None else LAST_MOMENT
        every: list[tuple[str, ...]] = []
        if filters.sources is not None:
            every.append(tuple(map(source_tag, filters.sources)))
        if filters.roles is not None:
            every.append(tuple(map(role_tag, filters.roles)))
        if filters.session_ids is not None:
            every.append(tuple(map(session_tag, self._keys(filters.session_ids))))
        if filters.projects is not None and not filters.projects:
            return None
        if filters.projects is not None:
            late = self._select_keys(self._sql.sessions_late_about, json.dumps(list(filters.projects)))
            every.append((*map(project_tag, filters.projects), *map(session_tag, late)))
        if filters.group is not None:
            every.append((group_tag(filters.group),))
        if not all(every):
            return None
        none = [source_tag(name) for name in filters.exclude_sources]
        none += map(session_tag, self._keys(filters.exclude_session_ids))
        if filters.user is not None:
            late = self._select_keys(self._sql.sessions_late_of_others, filters.user)
            none += map(session_tag, late)
        if self._has_doomed:
            none += map(session_tag, self._find_doomed())
        return Scope(since, until, tuple(every), tuple(none), filters.user)

    def session_keys(self, filters: Filters) -> Iterator[tuple[list[int], bool]]:
        """Yield the keys of sessions that the filters name, with True if they are excluded."""
        sql = self._sql
        if filters.sources is not None:
            yield self._select_keys(sql.sessions_from, json.dumps(list(filters.sources))), False
        if filters.exclude_sources:
            yield self._select_keys(sql.sessions_from, json.dumps(list(filters.exclude_sources))), True
        if filters.projects is not None:
            yield self._select_keys(sql.sessions_about, json.dumps(list(filters.projects))), False
        if filters.user is not None:
            yield self._select_keys(sql.sessions_of_others, filters.user), True
        if filters.session_ids is not None:
            yield self._keys(filters.session_ids), False
        unwanted = self._keys(filters.exclude_session_ids)
        if self._has_doomed:
            unwanted += self._find_doomed()
        if unwanted:
            yield unwanted, True

    def passages_of_others(self, user: str) -> list[int]:
        """Return the passages that belong to another user."""
        return self._select_keys(self._sql.passages_of_others, user)

    def _select_keys(self, sql: str, wanted: str) -> list[int]:
        return [key for (key,) in self._tx.rows(sql, (self._space.id, wanted))]

    def _find_doomed(self) -> list[int]:
        return [key for (key,) in self._tx.rows(self._sql.doomed, (self._space.id,))]

    def _keys(self, session_ids: Sequence[str]) -> list[int]:
        keys = [
            self._tx.value(self._sql.session_key, (self._space.id, session_id)) for session_id in session_ids
        ]
        return [key for key in keys if key is not None]
