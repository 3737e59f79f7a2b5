"""Passages in SQLite: what recall proposes by words, and the lines around it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from mnemos.storage.base import Filters, MessageRow
from mnemos.storage.passages import LONGEST, MESSAGE, Passage, Seed, Strip, are_of_messages
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite import index, vectors
from mnemos.storage.sqlite.connection import NOWHERE, Space, rows, value
from mnemos.storage.sqlite.fts_queries import (
    ANYTHING,
    Plan,
    Weight,
    any_of,
    any_tag,
    clause_match,
    pairs_of,
)
from mnemos.storage.sqlite.index import kind_tag, passage_row, speaker_tags
from mnemos.storage.sqlite.search import WEEKS_IN_MATCH, Scope, Search
from mnemos.storage.sqlite.sessions import SQL as SESSIONS_SQL
from mnemos.storage.sqlite.sessions import SqliteSessionReads
from mnemos.text.fences import strip_cut_fences
from mnemos.text.query import Clause, Query, Term

SQL = Queries(Path(__file__).parent / "sql" / "passages.sql")

# Rows with a rare word to score: the newest, if there are more.
_SCORED = 3_000
# Of other passages fewer: they are short, and found by more of their words.
_SCORED_OTHERS = 600
# A word with more matches is common, and its count is estimated.
_COUNTED = 400
# Evidence for a speaker: messages under the name, also compared with those that only mention it.
_MESSAGES_OF_A_SPEAKER = 2
_SHARE_OF_A_SPEAKER = 0.5
# Lines that are read to see in which sessions somebody takes part.
_LINES_OF_SPEAKERS = 3_000
# Rows of one long message fold into one seed.
_SPARE = 10


class SqlitePassageReads:
    def __init__(
        self, connection: apsw.Connection, space: Space, sessions: SqliteSessionReads, mark: int
    ) -> None:
        self._connection = connection
        self._space = space
        self._sessions = sessions
        self._mark = mark

    def count(self) -> int:
        if self._space is NOWHERE:
            return 0
        state = index.state_of(self._connection, self._space)
        return state.next_message - self._space.first + self._other_count()

    def weigh(self, clauses: Sequence[Clause], *, messages: bool = True) -> list[int]:
        counts = [0] * len(clauses)
        if messages:
            search = self._sessions.searching()
            weights = (search.weigh(clause) for clause in clauses)
            counts = [weight.count if weight else 0 for weight in weights]
        others = self._other_count()
        return [
            count + self._count_others(clause, others) if others else count
            for count, clause in zip(counts, clauses, strict=True)
        ]

    def speakers(self, words: Sequence[str]) -> set[str]:
        search = self._sessions.searching()
        found: set[str] = set()
        for word in words:
            spoken = search.weigh(Clause((Term(tuple(speaker_tags(word))),)))
            if spoken is not None and spoken.count >= _MESSAGES_OF_A_SPEAKER:
                said = search.weigh(Clause((Term((word,)),)))
                # "Note: …" does not make a speaker of a word that is mostly used otherwise.
                if said is None or spoken.count >= _SHARE_OF_A_SPEAKER * said.count:
                    found.add(word)
        return found

    def sessions_with(self, speakers: Sequence[str]) -> list[str]:
        match = {"match": clause_match(_speak(speakers))}
        asked = match | {
            "first": self._space.first,
            "last": self._space.last,
            "cap": _LINES_OF_SPEAKERS,
        }
        found = rows(self._connection, SQL.sessions_matching, asked)
        if self._sessions.searching().state.pending:
            found += rows(self._connection, SQL.sessions_matching_in_tail, match)
        return sorted({name for (name,) in found})

    def best(
        self,
        clauses: Sequence[Clause],
        counts: Sequence[int],
        filters: Filters,
        *,
        kinds: Sequence[str] | None,
        limit: int,
        speakers: Sequence[str] = (),
    ) -> list[Seed]:
        search = self._sessions.searching()
        scope = search.scope(filters)
        if clauses and speakers:
            # A speaker's name is one more thing that a row may have, and a common one.
            clauses = [*clauses, _speak(speakers)]
            counts = [*counts, max(_SCORED, *counts) + 1]
        if scope is None or (not clauses and scope.is_timeless):
            return []
        found: dict[int, float] = {}
        if kinds is None or MESSAGE in kinds:
            found |= self._messages(search, _plans(search, clauses, counts, _SCORED), scope, limit)
        others = None if kinds is None else [kind for kind in kinds if kind != MESSAGE]
        if clauses and others != [] and self._other_count():
            plans = _plans(search, clauses, counts, _SCORED_OTHERS)
            found |= self._others(search, plans, scope, others, limit)
        best = sorted(found.items(), key=lambda item: (-item[1], -item[0]))
        return [Seed(passage, score) for passage, score in best[:limit]]

    def strips(self, message_ids: Sequence[int], *, reach: int, characters: int) -> list[Strip]:
        asked = {
            "ids": _json(message_ids),
            "reach": reach,
            "first": self._space.first,
            "last": self._space.last,
        }
        stretches = _merge_reaches(rows(self._connection, SQL.reaches, asked))
        known = {
            key: about
            for key, *about in rows(self._connection, SQL.sessions_of, (_json({s[0] for s in stretches}),))
        }
        stretches = [stretch for stretch in stretches if stretch[0] in known]
        asked = {"stretches": json.dumps(stretches), "characters": characters}
        found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for number, *row in rows(self._connection, SQL.stretches, asked):
            found[number].append(tuple(row))
        asked = {"ids": _json(message_ids), "shorter": characters, "characters": LONGEST}
        whole = dict(rows(self._connection, SQL.longer, asked))
        firsts = [
            (key, found[number][0][0]) for number, (key, _, _) in zip(sorted(found), stretches, strict=True)
        ]
        starts = [count for (count,) in rows(self._connection, SQL.starts, (json.dumps(firsts),))]
        strips: list[Strip] = []
        pairs = zip(stretches, sorted(found.items()), strict=True)
        for number, ((key, _, _), (_, lines)) in enumerate(pairs):
            session_id, title, source, project, count = known[key]
            messages = tuple(_message(session_id, row, whole.get(row[0]), characters) for row in lines)
            strips.append(Strip(session_id, title, source, project, count, starts[number], messages))
        return strips

    def sizes(self, message_ids: Sequence[int]) -> dict[int, int]:
        asked = {"ids": _json(message_ids), "first": self._space.first, "last": self._space.last}
        return dict(rows(self._connection, SQL.sizes, asked))

    def get(self, ids: Sequence[int]) -> list[Passage]:
        asked = {
            "ids": _json(ids),
            "first": self._space.first_passage,
            "last": self._space.last_passage,
        }
        return [_passage(row) for row in rows(self._connection, SQL.of_ids, asked)]

    def version(self) -> tuple[int, ...]:
        found = rows(self._connection, SQL.version, (self._space.id,))
        return (self._mark, *found[0]) if found else (self._mark,)

    def within(self, ids: Sequence[int], filters: Filters, *, kinds: Sequence[str] | None) -> dict[int, int]:
        search = self._sessions.searching()
        scope = search.scope(filters)
        if scope is None or not ids:
            return {}
        found: dict[int, int] = {}
        asked = {
            "ids": _json(ids),
            "since": scope.since,
            "until": scope.until,
            "first": self._space.first,
            "last": self._space.last,
            "last_passage": self._space.last_passage,
        }
        if filters.group is None and (kinds is None or MESSAGE in kinds):
            sessions = [(set(keys), unwanted) for keys, unwanted in search.session_keys(filters)]
            for number, owner, session, role in rows(self._connection, SQL.messages_within, asked):
                wanted = filters.roles is None or role in filters.roles
                if wanted and all((session in keys) is not unwanted for keys, unwanted in sessions):
                    found[number] = owner
        if not are_of_messages(filters):
            for number, kind, group, user in rows(self._connection, SQL.passages_within, asked):
                is_theirs = filters.user is None or user in (None, filters.user)
                if is_theirs and filters.group in (None, group) and (kinds is None or kind in kinds):
                    found[number] = number
        return found

    def present(self, ids: Sequence[int]) -> set[int]:
        asked = {"ids": _json(ids), "first": self._space.first, "last": self._space.last_passage}
        return {passage for (passage,) in rows(self._connection, SQL.present, asked)}

    def find(self, kind: str, ref: str) -> Passage | None:
        found = rows(self._connection, SQL.of_ref, (self._space.id, kind, ref))
        return _passage(found[0]) if found else None

    def of_kind(self, kind: str) -> list[Passage]:
        return [_passage(row) for row in rows(self._connection, SQL.of_kind, (self._space.id, kind))]

    def _messages(self, search: Search, plans: Sequence[Plan], scope: Scope, limit: int) -> dict[int, float]:
        """Follow the first plan that finds enough; a message counts by its best row."""
        asked = {
            "first": self._space.first,
            "last": self._space.last,
            "since": scope.since,
            "until": scope.until,
            "cap": _SCORED,
        }
        best: dict[int, float] = {}
        for plan in plans:
            search.scorer.use(plan)
            several = limit + _SPARE
            while True:
                now = asked | {"limit": several}
                found = self._search_index(search, plan, scope, now) + self._fresh(search, plan, scope, now)
                owners = rows(self._connection, SQL.owners, (_json([row for row, _ in found]),))
                for (message,), (_, score) in zip(owners, found, strict=True):
                    if message is not None:
                        best[message] = max(score, best.get(message, 0.0))
                if len(best) >= limit or len(found) < several:
                    break
                # The rows of a long message crowded others out.
                several *= 8
            if len(best) >= limit:
                break
        return best

    def _search_index(
        self, search: Search, plan: Plan, scope: Scope, asked: dict[str, Any]
    ) -> list[tuple[int, float]]:
        if scope.is_timeless:
            return rows(self._connection, SQL.seeds, asked | {"match": scope.match(plan)})
        weeks = search.weeks(scope)
        if not weeks:
            return []
        if plan is ANYTHING:
            weeks = weeks[-WEEKS_IN_MATCH:]
        match = scope.match(plan, weeks if len(weeks) <= WEEKS_IN_MATCH else ())
        return rows(self._connection, SQL.seeds_between, asked | {"match": match})

    def _fresh(
        self, search: Search, plan: Plan, scope: Scope, asked: dict[str, Any]
    ) -> list[tuple[int, float]]:
        if not search.state.pending:
            return []
        sql = SQL.seeds_of_tail if scope.is_timeless else SQL.seeds_of_tail_between
        return rows(self._connection, sql, asked | {"match": scope.match(plan)})

    def _others(
        self,
        search: Search,
        plans: Sequence[Plan],
        scope: Scope,
        kinds: Sequence[str] | None,
        limit: int,
    ) -> dict[int, float]:
        """Follow the first plan that finds enough."""
        asked = {
            "first": self._space.first_passage,
            "last": self._space.last_passage,
            "since": scope.since,
            "until": scope.until,
            "cap": _SCORED_OTHERS,
            "limit": limit,
        }
        found: dict[int, float] = {}
        for plan in plans:
            search.scorer.use(plan)
            match = scope.match(plan)
            if kinds is not None:
                match = f"({match}) AND {any_tag(kind_tag(kind) for kind in kinds)}"
            sql = SQL.seeds_of_others if scope.is_timeless else SQL.seeds_of_passages
            found |= dict(rows(self._connection, sql, asked | {"match": match}))
            if len(found) >= limit:
                break
        return found

    def _count_others(self, clause: Clause, total: int) -> int:
        """Count the passages besides messages that have a clause; estimate a common one by the newest."""
        asked = {
            "match": clause_match(clause),
            "first": self._space.first_passage,
            "last": self._space.last_passage,
            "cap": _COUNTED,
        }
        ((count, oldest),) = rows(self._connection, SQL.count_others, asked)
        if count < _COUNTED:
            return int(count)
        newest = self._space.last + total
        return int(count * total / (newest - oldest + 1))

    def _other_count(self) -> int:
        last = value(self._connection, SQL.last_passage, (self._space.id,)) or 0
        return max(0, last - self._space.last)


class SqlitePassageWrites(SqlitePassageReads):
    def put(
        self,
        kind: str,
        ref: str,
        *,
        text: str,
        at: float,
        session_id: str | None = None,
        speaker: str | None = None,
        live: bool = True,
        also: str = "",
        group: str | None = None,
        user_id: str | None = None,
    ) -> int:
        self.remove(kind, ref)
        number: int = value(self._connection, SQL.take_id, (self._space.first_passage, self._space.id))
        passage = Passage(number, kind, ref, session_id, speaker, at, live, text, also, group, user_id)
        row = (number, kind, ref, session_id, speaker, at, live, text, also or None, group, user_id)
        self._connection.execute(SQL.put, row)
        self._connection.execute(index.SQL.add_other, passage_row(passage))
        return number

    def outdate(self, kind: str, ref: str) -> bool:
        # Neither the index nor a vector says whether a passage is live.
        self._connection.execute(SQL.outdate, (self._space.id, kind, ref))
        return self._connection.changes() > 0

    def remove(self, kind: str, ref: str) -> bool:
        found = self.find(kind, ref)
        if found is None:
            return False
        self._connection.execute(index.SQL.remove_other, passage_row(found))
        # Vectors being made of it now must not be stored.
        self._connection.execute(SESSIONS_SQL.count_removal, (self._space.id,))
        vectors.erase(self._connection, self._space, found.id, 1, vectors.PASSAGES)
        self._connection.execute(SQL.delete, (found.id,))
        return True


def begin_index_again(connection: apsw.Connection) -> None:
    """Clear the index of all spaces: messages are pending again, other passages are put back at once."""
    connection.execute(index.SQL.clear)
    connection.execute(index.SQL.clear_marks)
    connection.execute(index.SQL.clear_late)
    others = (passage_row(_passage(row)) for row in rows(connection, SQL.every))
    connection.executemany(index.SQL.add_other, others)


def _speak(speakers: Sequence[str]) -> Clause:
    """Match the lines of any of these speakers, named by a word of their names."""
    return Clause(tuple(Term(tuple(speaker_tags(name))) for name in speakers))


def _plans(search: Search, clauses: Sequence[Clause], counts: Sequence[int], most: int) -> list[Plan]:
    """Plan the search: by rare words, or first by pairs where even the rarest is common."""
    if not clauses:
        return [ANYTHING]
    plan = _plan(search, clauses, counts, most)
    known = sorted(zip(counts, clauses, strict=True), key=lambda pair: pair[0])
    known = [(count, clause) for count, clause in known if count]
    if len(known) < 2 or known[0][0] <= most:
        return [plan]
    query = Query(tuple(clause for _, clause in known))
    return [pairs_of(query, [search.worth(count) for count, _ in known]), plan]


def _plan(search: Search, clauses: Sequence[Clause], counts: Sequence[int], most: int) -> Plan:
    pairs = sorted(zip(counts, clauses, strict=True), key=lambda pair: pair[0])
    # A word that no message has may be in another passage.
    weights = [Weight(count, search.worth(count).idf) for count, _ in pairs]
    return any_of(Query(tuple(clause for _, clause in pairs)), weights, most)


def _merge_reaches(reaches: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merge overlapping stretches of sessions."""
    merged: list[tuple[int, int, int]] = []
    for session, low, high in reaches:
        if merged and merged[-1][0] == session and low <= merged[-1][2]:
            merged[-1] = (session, merged[-1][1], max(high, merged[-1][2]))
        else:
            merged.append((session, low, high))
    return merged


def _message(session_id: str, row: tuple[Any, ...], whole: str | None, characters: int) -> MessageRow:
    message, role, encoded, tool_name, timestamp, metadata, forgotten, content, tool_calls, origin = row
    if whole is None and not encoded and content and len(content) == characters:
        content = strip_cut_fences(content)
    return MessageRow(
        message, session_id, role, whole or content, encoded == 1, tool_name, tool_calls, None, None,
        timestamp, metadata, forgotten is not None, origin,
    )  # fmt: skip


def _passage(row: tuple[Any, ...]) -> Passage:
    columns: list[Any] = [*row[:6], row[6] == 1, row[7], row[8] or "", *row[9:]]
    return Passage(*columns)


def _json(ids: Any) -> str:
    return f"[{','.join(map(str, ids))}]"
