"""Search in PostgreSQL: the newest matches first, in windows of message numbers.

PostgreSQL reads every row with a word before it can rank one: at a million messages a word that is everywhere
takes a second. Here a search begins with the newest two thousand messages, by a tag for each block of
messages, and goes on by the density it saw there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemos.storage.base import Found
from mnemos.storage.postgres.connection import PostgresTransaction
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.tsqueries import BLOCKS, LONG, Plan, Renderer, make_array
from mnemos.storage.search import CANDIDATES, SPARE, WEEKS_IN_MATCH, Scope, Search, count_candidates
from mnemos.storage.space import NOWHERE, Space
from mnemos.storage.terms import kind_tag, week_of, week_tag
from mnemos.text.query import Clause

# This number of matches in a window gives an estimate of all. With fewer, they show how far to look.
_ENOUGH = 20
_FEW = 4
# A window of more blocks is made of larger ones.
_MOST_BLOCKS = 16


class PostgresSearch(Search):
    """The searches of one transaction."""

    def __init__(self, tx: PostgresTransaction, space: Space, schema: str) -> None:
        sql: Any = load("search", schema)
        following, has_doomed = space.first, False
        if space is not NOWHERE:
            ((following, has_doomed),) = tx.rows(sql.extent)
        self._renderer = Renderer(f"{space.id:x}:")
        super().__init__(tx, space, sql, self._renderer, total=following - space.first, has_doomed=has_doomed)

    # --- messages ---------------------------------------------------------------------------

    def _best(self, plan: Plan, scope: Scope, limit: int) -> list[Found]:
        cap = CANDIDATES
        if len(plan.idf) == 1 and scope.is_timeless:
            cap = count_candidates(limit)
        sql = self._sql.best_of_all if plan.every else self._sql.best
        best = self._find_uncrowded(sql, plan, scope, cap, limit)
        return self._rank(best, limit)

    def _find_uncrowded(self, sql: str, plan: Plan, scope: Scope, cap: int, limit: int) -> dict[int, float]:
        """Score enough of the newest matches for ``limit`` messages. A message has its best row's score."""
        several = limit + SPARE
        while True:
            found = self._find_rows(sql, plan, scope, cap, several)
            best: dict[int, float] = {}
            for message, _, score in found:
                best[message] = max(score, best.get(message, 0.0))
            if len(best) >= limit or len(found) < several:
                return best
            # The rows of a long message crowded others out.
            several *= 8
            cap = max(cap, several)

    def _find_rows(self, sql: str, plan: Plan, scope: Scope, cap: int, several: int) -> list[tuple[Any, ...]]:
        asked = self._bind(plan, scope) | {"cap": cap, "limit": several}
        weeks = self._week_match(scope)
        if weeks is None:
            return []
        for window in self._windows(plan, cap):
            match = self._renderer.within(plan.match or "", scope, *weeks, *window)
            found = self._tx.rows(sql, asked | {"match": match})
            if len(found) >= several or not window:
                return found
        return []

    def _windows(self, plan: Plan, cap: int) -> Iterator[list[str]]:
        """Yield an expression for the newest messages, and an empty one for all.

        The first has about ``cap`` matches, by the density in the newest few; it is left out if that is all.
        """
        tag, bits = BLOCKS[0]
        if self._total >> bits >= 2:
            window, size = self._window(tag, bits)
            seen = self._count_within(plan.match or "", window)
            if seen >= _FEW:
                # A small count may be due to chance.
                needed = int(cap * size / seen * (1 + 2 / seen**0.5))
                for tag, bits in BLOCKS:
                    if needed >> bits < _MOST_BLOCKS and needed < self._total:
                        yield [self._window(tag, bits, (needed >> bits) + 2)[0]]
                        break
        yield []

    def _window(self, tag: str, bits: int, count: int = 2) -> tuple[str, int]:
        """Return the expression for the newest blocks, and the number of messages there."""
        newest = self._total - 1
        last = newest >> bits
        first = max(last - count + 1, 0)
        tags = [f"{tag}{block:x}" for block in range(first, last + 1)]
        return self._renderer.any_tag(tags), newest - (first << bits) + 1

    def _count_within(self, match: str, *window: str) -> int:
        return self._count_matches([" & ".join([f"({match})", *window])])[0]

    def _bind(self, plan: Plan, scope: Scope) -> dict[str, Any]:
        """Bind what all queries need, except the expression that finds the rows."""
        long = self._renderer.lexeme(LONG if plan.phrases else "#none")
        return {
            "since": scope.since,
            "until": scope.until,
            "long": long,
            "strict": plan.strict,
            "phrases": make_array(plan.phrases),
            "names": make_array(self._renderer.markers(len(plan.phrases))),
            "clauses": len(plan.clauses),
            "every": make_array(plan.clauses),
            "idf": make_array(map(repr, plan.idf)),
            "rank": " | ".join(plan.clauses),
        }

    def _week_match(self, scope: Scope) -> list[str] | None:
        """Return an expression for the weeks of a scope, if they are few. None if the scope is empty."""
        if scope.is_timeless:
            return []
        ((first, last),) = self._tx.rows(self._sql.times)
        if first is None:
            return None
        weeks = range(week_of(max(scope.since, first)), week_of(min(scope.until, last)) + 1)
        if not weeks:
            return None
        return [] if len(weeks) > WEEKS_IN_MATCH else [self._renderer.any_tag(map(week_tag, weeks))]

    def _in_time(self, plan: Plan, scope: Scope, limit: int, *, newest: bool) -> list[Found]:
        weeks = self._week_match(scope)
        if weeks is None:
            return []
        match = self._renderer.within(plan.match or "", scope, *weeks)
        asked = self._bind(plan, scope) | {"match": match, "newest": newest}
        sql = self._sql.in_time
        if not plan.phrases and self._is_common(plan):
            sql = self._sql.newest_along if newest else self._sql.oldest_along
        several = limit + SPARE
        while True:
            found = self._tx.rows(sql, asked | {"limit": several})
            times: dict[int, tuple[float, int]] = {}
            for message, at, *_, matched in found:
                times[message] = max((at, matched), times.get(message, (at, 0)))
            if len(times) >= limit or len(found) < several:
                break
            several *= 8
        ranked = sorted(times.items(), key=lambda item: (item[1][0], item[0]), reverse=newest)
        return [Found(message, matched, 0.0) for message, (_, matched) in ranked[:limit]]

    def _is_common(self, plan: Plan) -> bool:
        window, size = self._window(*BLOCKS[0])
        return self._total > size and self._count_within(plan.match or "", window) * 50 > size

    def counts(self, clauses: Sequence[Clause]) -> list[int]:
        matches = [self._renderer.clause(clause) for clause in clauses]
        counts: dict[int, int] = {}
        for tag, bits in BLOCKS[:2]:
            if self._total >> bits >= 2:
                window, size = self._window(tag, bits)
                for place, seen in self._count_places(matches, counts, window).items():
                    if seen >= _ENOUGH:
                        # It is assumed to be as common among all messages as among the newest.
                        counts[place] = seen * self._total // size
        counts |= self._count_places(matches, counts)
        return [counts[place] for place in range(len(matches))]

    def _count_places(self, matches: list[str], known: Mapping[int, int], *window: str) -> dict[int, int]:
        """Count the messages for each expression that isn't known."""
        places = [place for place in range(len(matches)) if place not in known]
        expressions = [" & ".join([f"({matches[place]})", *window]) for place in places]
        return dict(zip(places, self._count_matches(expressions), strict=True))

    def _count_matches(self, expressions: Sequence[str], **bounds: int) -> list[int]:
        """Count the rows for each expression, in one round trip."""
        if not expressions or not self._total:
            return [0] * len(expressions)
        asked = {"matches": make_array(expressions), **bounds}
        return [count for (count,) in self._tx.rows(self._sql.count_matches, asked)]

    # --- for recall -------------------------------------------------------------------------

    def sessions_matching(self, clause: Clause, cap: int) -> set[str]:
        asked = {"match": self._renderer.clause(clause), "cap": cap}
        return {name for (name,) in self._tx.rows(self._sql.sessions_matching, asked)}

    def seed_messages(self, plan: Plan, scope: Scope, cap: int, limit: int) -> dict[int, float]:
        if plan.match is not None:
            return self._find_uncrowded(self._sql.seeds, plan, scope, cap, limit)
        weeks = self._week_match(scope)
        if weeks is None:
            return {}
        narrowed = weeks or not scope.is_everything
        match = self._renderer.within(self._renderer.lexeme("#r") + ":*", scope, *weeks) if narrowed else None
        asked = {"match": match, "since": scope.since, "until": scope.until, "limit": limit + SPARE}
        return {message: score for message, _, score in self._tx.rows(self._sql.newest_between, asked)}

    def seed_others(
        self, plan: Plan, scope: Scope, kinds: Sequence[str] | None, cap: int, limit: int
    ) -> dict[int, float]:
        of_kinds = [] if kinds is None else [self._renderer.any_tag(map(kind_tag, kinds))]
        match = self._renderer.within(plan.match or "", scope, *of_kinds)
        asked = self._bind(plan, scope) | self._bind_others() | {"match": match, "cap": cap, "limit": limit}
        return {passage: score for _, passage, score in self._tx.rows(self._sql.seeds, asked)}

    def counts_of_others(self, clauses: Sequence[Clause], total: int) -> list[int]:
        if not total:
            return [0] * len(clauses)
        return self._count_matches([self._renderer.clause(one) for one in clauses], **self._bind_others())
