"""Full-text search whose cost is bounded by what it returns, not by what is stored.

FTS5's own ``bm25`` reads every posting of every word before the first row: at a million messages a word
that is everywhere costs half a second. Here words are weighed by a capped count, the candidates are the
newest few thousand matches (of a rare word: all of them), and only those are scored.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from mnemos.storage.base import Found
from mnemos.storage.queries import Queries
from mnemos.storage.search import CANDIDATES, SPARE, WEEKS_IN_MATCH, Scope, Search, count_candidates
from mnemos.storage.space import Space
from mnemos.storage.sqlite import fts_queries
from mnemos.storage.sqlite.connection import SqliteTransaction
from mnemos.storage.sqlite.fts_queries import ANYTHING, Plan, Scorer, any_tag, clause_match, quote
from mnemos.storage.sqlite.index import Tail
from mnemos.storage.terms import OWNED, kind_tag, user_tag, week_of, week_tag
from mnemos.text.query import Clause

SQL = Queries(Path(__file__).parent / "sql" / "search.sql")

# Matches counted to weigh a word; beyond this, its frequency is estimated.
_COUNTED = 200
_COUNTED_OTHERS = 400


class FtsSearch(Search):
    """The searches of one read transaction in FTS5."""

    def __init__(self, tx: SqliteTransaction, space: Space, scorer: Scorer, tail: Tail) -> None:
        self.state = tail.refresh(tx.connection)
        total = self.state.next_message - space.first
        super().__init__(tx, space, SQL, fts_queries, total=total, has_doomed=self.state.has_doomed)
        self._connection = tx.connection
        self._scorer = scorer

    def _best(self, plan: Plan, scope: Scope, limit: int) -> list[Found]:
        self._scorer.use(plan)
        found = self._find_uncrowded(self._search_index, plan, scope, limit)
        if self.state.pending:
            found += self._find_uncrowded(self._fresh, plan, scope, limit)
        best: dict[int, float] = {}
        for message, score in found:
            if score > best.get(message, 0.0):
                best[message] = score
        return self._rank(best, limit)

    def _find_uncrowded(
        self,
        source: Callable[[Plan, Scope, dict[str, Any]], list[tuple[Any, ...]]],
        plan: Plan,
        scope: Scope,
        limit: int,
    ) -> list[tuple[Any, ...]]:
        """Return the best rows of the index or the tail, enough for ``limit`` messages."""
        several = limit + SPARE
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
            asked["match"] = _match(plan, scope)
            if len(plan.idf) == 1:
                asked["cap"] = count_candidates(asked["limit"])
            return self._tx.rows(SQL.best_of_all if plan.every else SQL.best, asked)
        weeks = self._weeks(scope)
        if not weeks:
            return []
        asked["match"] = _match(plan, scope, weeks if len(weeks) <= WEEKS_IN_MATCH else ())
        return self._tx.rows(SQL.best_between, asked)

    def _fresh(self, plan: Plan, scope: Scope, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        asked["match"] = _match(plan, scope)
        if not scope.is_timeless:
            return self._tx.rows(SQL.best_of_tail_between, asked)
        sql = SQL.best_of_all_in_tail if plan.every else SQL.best_of_tail
        return self._tx.rows(sql, asked)

    def _in_time(self, plan: Plan, scope: Scope, limit: int, *, newest: bool) -> list[Found]:
        """Find matches by the messages' own time, week by week, so the first page needs no full list."""
        asked = self._bind(scope)
        self._scorer.use(plan)
        found: dict[int, tuple[float, int]] = {}
        weeks = self._weeks(scope)
        for week in reversed(weeks) if newest else weeks:
            asked["match"] = _match(plan, scope, (week,))
            found |= self._match_times(SQL.in_time, asked, limit, newest=newest)
            if len(found) >= limit:
                break
        if self.state.pending:
            asked["match"] = _match(plan, scope)
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

    def counts(self, clauses: Sequence[Clause]) -> list[int]:
        return [self._count(clause) for clause in clauses]

    def _count(self, clause: Clause) -> int:
        match = clause_match(clause)
        asked = {"match": match, "first": self._space.first, "last": self._space.last}
        count, oldest = self._tx.rows(SQL.count_matches, asked | {"cap": _COUNTED})[0]
        if count == _COUNTED:
            # It is assumed to be as common among all messages as among the newest.
            count = max(_COUNTED, self._total * _COUNTED // (self.state.indexed - oldest + 1))
        if self.state.pending:
            count += self._tx.value(SQL.count_tail_matches, (match,))
        return int(count)

    def _weeks(self, scope: Scope) -> list[int]:
        """Return the weeks of the scope that have indexed messages."""
        between = (self._space.id, week_of(scope.since), week_of(scope.until))
        return [week for (week,) in self._tx.rows(SQL.weeks, between)]

    # --- for recall -------------------------------------------------------------------------

    def sessions_matching(self, clause: Clause, cap: int) -> set[str]:
        match = {"match": clause_match(clause)}
        asked = match | {"first": self._space.first, "last": self._space.last, "cap": cap}
        found = self._tx.rows(SQL.sessions_matching, asked)
        if self.state.pending:
            found += self._tx.rows(SQL.sessions_matching_in_tail, match)
        return {name for (name,) in found}

    def seed_messages(self, plan: Plan, scope: Scope, cap: int, limit: int) -> dict[int, float]:
        self._scorer.use(plan)
        asked = self._bind(scope) | {"cap": cap}
        several = limit + SPARE
        best: dict[int, float] = {}
        while True:
            asked["limit"] = several
            found = self._seed_index(plan, scope, asked) + self._seed_tail(plan, scope, asked)
            ids = f"[{','.join(str(row) for row, _ in found)}]"
            owners = self._tx.rows(SQL.owners, (ids,))
            for (message,), (_, score) in zip(owners, found, strict=True):
                if message is not None:
                    best[message] = max(score, best.get(message, 0.0))
            if len(best) >= limit or len(found) < several:
                return best
            # The rows of a long message crowded others out.
            several *= 8

    def _seed_index(self, plan: Plan, scope: Scope, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        if scope.is_timeless:
            return self._tx.rows(SQL.seeds, asked | {"match": _match(plan, scope)})
        weeks = self._weeks(scope)
        if not weeks:
            return []
        if plan is ANYTHING:
            weeks = weeks[-WEEKS_IN_MATCH:]
        match = _match(plan, scope, weeks if len(weeks) <= WEEKS_IN_MATCH else ())
        return self._tx.rows(SQL.seeds_between, asked | {"match": match})

    def _seed_tail(self, plan: Plan, scope: Scope, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        if not self.state.pending:
            return []
        sql = SQL.seeds_of_tail if scope.is_timeless else SQL.seeds_of_tail_between
        return self._tx.rows(sql, asked | {"match": _match(plan, scope)})

    def seed_others(
        self, plan: Plan, scope: Scope, kinds: Sequence[str] | None, cap: int, limit: int
    ) -> dict[int, float]:
        self._scorer.use(plan)
        match = _match(plan, scope)
        if kinds is not None:
            match = f"({match}) AND {any_tag(kind_tag(kind) for kind in kinds)}"
        asked = self._bind(scope) | self._bind_others() | {"match": match, "cap": cap, "limit": limit}
        sql = SQL.seeds_of_others if scope.is_timeless else SQL.seeds_of_passages
        return dict(self._tx.rows(sql, asked))

    def counts_of_others(self, clauses: Sequence[Clause], total: int) -> list[int]:
        return [self._count_others(clause, total) for clause in clauses] if total else [0] * len(clauses)

    def _count_others(self, clause: Clause, total: int) -> int:
        asked = self._bind_others() | {"match": clause_match(clause), "cap": _COUNTED_OTHERS}
        ((count, oldest),) = self._tx.rows(SQL.count_others, asked)
        if count < _COUNTED_OTHERS:
            return int(count)
        # It is assumed to be as common among all as among the newest.
        newest = self._space.last + total
        return int(count * total / (newest - oldest + 1))


def _match(plan: Plan, scope: Scope, weeks: Sequence[int] = ()) -> str:
    """Return the expression of a plan within a scope, and within these weeks."""
    if scope.is_everything and not weeks:
        return plan.match
    parts = [plan.match, *(any_tag(tags) for tags in scope.every)]
    if weeks:
        parts.append(any_tag(week_tag(week) for week in weeks))
    match = " AND ".join(parts)
    unwanted = [quote([tag]) for tag in scope.none]
    if scope.user is not None:
        unwanted.append(f"({quote([OWNED])} NOT {quote([user_tag(scope.user)])})")
    return f"({match}) NOT ({' OR '.join(unwanted)})" if unwanted else match


def _take_first(
    timed: Iterable[tuple[int, tuple[Any, ...]]], limit: int, *, newest: bool
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return the newest or oldest messages. For equal times, the order of appending decides."""

    def moment(item: tuple[int, tuple[Any, ...]]) -> tuple[float, int]:
        return item[1][0], item[0]

    chosen = heapq.nlargest if newest else heapq.nsmallest
    return chosen(limit, timed, key=moment)
