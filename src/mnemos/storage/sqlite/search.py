"""Full-text search whose cost is bounded by what it returns, not by what is stored.

FTS5's own ``bm25`` reads every posting of every word before the first row: at a million messages a word
that is everywhere costs half a second. Here words are weighed by a capped count, the candidates are the
newest few thousand matches (of a rare word: all of them), and only those are scored.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from mnemos.storage.base import Filters, Found, Order, Results
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import Space, rows, value
from mnemos.storage.sqlite.fts_queries import (
    Plan,
    Scorer,
    Weight,
    all_of,
    any_of,
    any_tag,
    clause_match,
    quote,
)
from mnemos.storage.sqlite.index import (
    LAST_MOMENT,
    OWNED,
    Tail,
    group_tag,
    project_tag,
    role_tag,
    session_tag,
    source_tag,
    user_tag,
    week_of,
    week_tag,
)
from mnemos.text.query import Clause, Query

SQL = Queries(Path(__file__).parent / "sql" / "search.sql")

# The number of matches to score: the newest, if there are more. For a single word fewer will do, because
# hundreds of messages match it equally well.
CANDIDATES = 2_000
_CANDIDATES_OF_ONE = 300
_CANDIDATES_A_HIT = 10
# Matches counted to weigh a word; beyond this, its frequency is estimated.
_COUNTED = 200
# Extra rows to fetch: those of one long message fold into one hit.
_SPARE = 10
# A time filter of more weeks excludes too little for the index to help.
WEEKS_IN_MATCH = 60


class Scope(Struct, frozen=True):
    """The filters of a search as time bounds and parts of an expression."""

    since: float
    until: float
    tags: tuple[str, ...]
    without: str = ""

    @property
    def is_timeless(self) -> bool:
        return self.since <= -LAST_MOMENT and self.until >= LAST_MOMENT

    def match(self, plan: Plan, weeks: Sequence[int] = ()) -> str:
        if not (self.tags or self.without or weeks):
            return plan.match
        parts = [plan.match, *self.tags]
        if weeks:
            parts.append(any_tag(week_tag(week) for week in weeks))
        match = " AND ".join(parts)
        return f"({match}) NOT ({self.without})" if self.without else match


_NO_FILTERS = Filters()
_EVERYTHING = Scope(-LAST_MOMENT, LAST_MOMENT, ())


class Search:
    """The searches of one read transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        space: Space,
        scorer: Scorer,
        tail: Tail,
    ) -> None:
        self._connection = connection
        self._space = space
        self.scorer = scorer
        self.state = tail.refresh(connection)

    def run(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        scope = self.scope(filters)
        if not query.clauses or limit <= 0 or scope is None:
            return Results((), partial=False)
        wanted = offset + limit
        hits = self._find(all_of(query), scope, order, wanted)
        if hits:
            return Results(tuple(hits[offset:]), partial=False)
        hits = self._find_most(query.loosen(), scope, order, wanted)
        return Results(tuple(hits[offset:]), partial=bool(hits))

    def _find_most(self, query: Query, scope: Scope, order: Order, limit: int) -> list[Found]:
        """Find messages with most of the words that occur at all, when none has all of them."""
        weighed = [(clause, self.weigh(clause)) for clause in query.clauses]
        known = [(clause, weight) for clause, weight in weighed if weight]
        known.sort(key=lambda pair: pair[1].count)
        while known:
            rarest_first = Query(tuple(clause for clause, _ in known), query.excluded)
            weights = [weight for _, weight in known]
            hits = self._find(all_of(rarest_first), scope, order, limit)
            hits = hits or self._find(any_of(rarest_first, weights, CANDIDATES), scope, order, limit)
            if hits:
                return hits
            known = known[1:]
        return []

    def _find(self, plan: Plan, scope: Scope, order: Order, limit: int) -> list[Found]:
        if order is Order.RELEVANCE:
            return self._best(plan, scope, limit)
        return self._in_time(plan, scope, limit, newest=order is Order.NEWEST)

    def _best(self, plan: Plan, scope: Scope, limit: int) -> list[Found]:
        self.scorer.use(plan)
        found = self._find_uncrowded(self._search_index, plan, scope, limit)
        if self.state.pending:
            found += self._find_uncrowded(self._fresh, plan, scope, limit)
        best: dict[int, float] = {}
        for message, score in found:
            if score > best.get(message, 0.0):
                best[message] = score
        ranked = sorted(best.items(), key=lambda item: (-item[1], -item[0]))
        return [Found(message, int(score), score % 1) for message, score in ranked[:limit]]

    def _find_uncrowded(
        self,
        source: Callable[[Plan, Scope, dict[str, Any]], list[tuple[Any, ...]]],
        plan: Plan,
        scope: Scope,
        limit: int,
    ) -> list[tuple[Any, ...]]:
        """Return the best rows of the index or the tail, enough for ``limit`` messages."""
        several = limit + _SPARE
        asked = self._bind(scope)
        asked["cap"] = CANDIDATES
        while True:
            asked["limit"] = several
            found = source(plan, scope, asked)
            if len(found) < several or len({message for message, _ in found}) >= limit:
                return found
            # The rows of a long message crowded others out.
            several *= 8

    def _search_index(self, plan: Plan, scope: Scope, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        if scope.is_timeless:
            asked["match"] = scope.match(plan)
            if len(plan.idf) == 1:
                asked["cap"] = max(_CANDIDATES_OF_ONE, asked["limit"] * _CANDIDATES_A_HIT)
            return rows(self._connection, SQL.best_of_all if plan.every else SQL.best, asked)
        weeks = self.weeks(scope)
        if not weeks:
            return []
        asked["match"] = scope.match(plan, weeks if len(weeks) <= WEEKS_IN_MATCH else ())
        return rows(self._connection, SQL.best_between, asked)

    def _fresh(self, plan: Plan, scope: Scope, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        asked["match"] = scope.match(plan)
        if not scope.is_timeless:
            return rows(self._connection, SQL.best_of_tail_between, asked)
        sql = SQL.best_of_all_in_tail if plan.every else SQL.best_of_tail
        return rows(self._connection, sql, asked)

    def _in_time(self, plan: Plan, scope: Scope, limit: int, *, newest: bool) -> list[Found]:
        """Find matches by the messages' own time, week by week, so the first page needs no full list."""
        asked = self._bind(scope)
        self.scorer.use(plan)
        found: dict[int, tuple[float, int]] = {}
        weeks = self.weeks(scope)
        for week in reversed(weeks) if newest else weeks:
            asked["match"] = scope.match(plan, (week,))
            found |= self._match_times(SQL.in_time, asked, limit, newest=newest)
            if len(found) >= limit:
                break
        if self.state.pending:
            asked["match"] = scope.match(plan)
            found |= self._match_times(SQL.in_time_of_tail, asked, limit, newest=newest)
        return [
            Found(message, matched, 0.0)
            for message, (_, matched) in _take_first(found.items(), limit, newest=newest)
        ]

    def _match_times(
        self, sql: str, asked: dict[str, Any], limit: int, *, newest: bool
    ) -> dict[int, tuple[float, int]]:
        cursor = self._connection.execute(sql, asked)
        # The rows of a long message follow each other.
        timed = (
            (message, max((row[1], int(row[2])) for row in several))
            for message, several in groupby(cursor, key=lambda row: row[0])
        )
        return dict(_take_first(timed, limit, newest=newest))

    def _bind(self, scope: Scope) -> dict[str, Any]:
        return {
            "first": self._space.first,
            "last": self._space.last,
            "since": scope.since,
            "until": scope.until,
        }

    def weigh(self, clause: Clause) -> Weight | None:
        """Weigh a clause, a rare one higher. None: no message of the space has it."""
        match = clause_match(clause)
        asked = {"match": match, "first": self._space.first, "last": self._space.last}
        count, oldest = rows(self._connection, SQL.count_matches, asked | {"cap": _COUNTED})[0]
        if count == _COUNTED:
            # As common among all messages as it is among the newest.
            count = max(_COUNTED, self._total * _COUNTED // (self.state.indexed - oldest + 1))
        if self.state.pending:
            count += value(self._connection, SQL.count_tail_matches, (match,))
        return self.worth(count) if count else None

    def worth(self, count: int) -> Weight:
        """Weigh a clause that ``count`` messages have."""
        return Weight(count, math.log(1 + (max(self._total - count, 0) + 0.5) / (count + 0.5)))

    @property
    def _total(self) -> int:
        return self.state.next_message - self._space.first

    def scope(self, filters: Filters) -> Scope | None:
        """Translate filters; None if they exclude everything."""
        if filters == _NO_FILTERS and not self.state.has_doomed:
            return _EVERYTHING
        since = filters.since if filters.since is not None else -LAST_MOMENT
        until = filters.until if filters.until is not None else LAST_MOMENT
        tags: list[str] = []
        for names, tag in ((filters.sources, source_tag), (filters.roles, role_tag)):
            if names is not None:
                if not names:
                    return None
                tags.append(any_tag(tag(name) for name in names))
        if filters.session_ids is not None:
            chosen = self._session_tags(filters.session_ids)
            if not chosen:
                return None
            tags.append(any_tag(chosen))
        if filters.projects is not None:
            if not filters.projects:
                return None
            late = self._select_keys(SQL.sessions_late_about, json.dumps(list(filters.projects)))
            tags.append(any_tag([*map(project_tag, filters.projects), *map(session_tag, late)]))
        if filters.group is not None:
            tags.append(any_tag([group_tag(filters.group)]))
        without = [source_tag(name) for name in filters.exclude_sources]
        without += self._session_tags(filters.exclude_session_ids)
        if filters.user is not None:
            without += map(session_tag, self._select_keys(SQL.sessions_late_of_others, filters.user))
        if self.state.has_doomed:
            without += [session_tag(key) for (key,) in rows(self._connection, SQL.doomed, (self._space.id,))]
        unwanted = [quote([tag]) for tag in without]
        if filters.user is not None:
            unwanted.append(f"({quote([OWNED])} NOT {quote([user_tag(filters.user)])})")
        return Scope(since, until, tuple(tags), " OR ".join(unwanted))

    def session_keys(self, filters: Filters) -> Iterator[tuple[list[int], bool]]:
        """Yield keys of sessions that the filters name, with True if these are excluded."""
        if filters.sources is not None:
            yield self._select_keys(SQL.sessions_from, json.dumps(list(filters.sources))), False
        if filters.exclude_sources:
            yield self._select_keys(SQL.sessions_from, json.dumps(list(filters.exclude_sources))), True
        if filters.projects is not None:
            yield self._select_keys(SQL.sessions_about, json.dumps(list(filters.projects))), False
        if filters.user is not None:
            yield self._select_keys(SQL.sessions_of_others, filters.user), True
        if filters.session_ids is not None:
            yield self._keys(filters.session_ids), False
        unwanted = self._keys(filters.exclude_session_ids)
        if self.state.has_doomed:
            unwanted += [key for (key,) in rows(self._connection, SQL.doomed, (self._space.id,))]
        if unwanted:
            yield unwanted, True

    def passages_of_others(self, user: str) -> list[int]:
        """Return the passages that belong to another user."""
        return self._select_keys(SQL.passages_of_others, user)

    def _select_keys(self, sql: str, wanted: str) -> list[int]:
        return [key for (key,) in rows(self._connection, sql, (self._space.id, wanted))]

    def weeks(self, scope: Scope) -> list[int]:
        """Return the weeks of the scope that have indexed messages."""
        between = (self._space.id, week_of(scope.since), week_of(scope.until))
        return [week for (week,) in rows(self._connection, SQL.weeks, between)]

    def _session_tags(self, session_ids: Sequence[str]) -> list[str]:
        return [session_tag(key) for key in self._keys(session_ids)]

    def _keys(self, session_ids: Sequence[str]) -> list[int]:
        keys = [
            value(self._connection, SQL.session_key, (self._space.id, session_id))
            for session_id in session_ids
        ]
        return [key for key in keys if key is not None]


def _take_first(
    timed: Iterable[tuple[int, tuple[Any, ...]]], limit: int, *, newest: bool
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return the newest or oldest messages; of equal times, the later or earlier appended."""

    def moment(item: tuple[int, tuple[Any, ...]]) -> tuple[float, int]:
        return item[1][0], item[0]

    chosen = heapq.nlargest if newest else heapq.nsmallest
    return chosen(limit, timed, key=moment)
