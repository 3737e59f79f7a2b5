"""Passages that recall proposes by words, and the lines around them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from mnemos.storage.base import Filters, MessageRow
from mnemos.storage.passages import LONGEST, MESSAGE, Passage, Seed, Strip, are_of_messages
from mnemos.storage.queries import Queries
from mnemos.storage.search import Search
from mnemos.storage.space import NOWHERE, Space
from mnemos.storage.stores.sessions import StoredSessionReads
from mnemos.storage.stores.vectors import PASSAGES, Eraser
from mnemos.storage.terms import speaker_tags, week_of, week_tag
from mnemos.storage.transaction import Store, Transaction, write_ids
from mnemos.text.fences import strip_cut_fences
from mnemos.text.query import Clause, Query, Term

# The number of rows with a rare word to score. If there are more, only the newest are scored.
_SCORED = 3_000
# Fewer of the other passages are scored, as they are short and more of their words match.
_SCORED_OTHERS = 600
# Evidence for a speaker: messages under the name, also relative to those that only mention it.
_MESSAGES_OF_A_SPEAKER = 2
_SHARE_OF_A_SPEAKER = 0.5
# Messages of a longer time are not counted.
_WEEKS_COUNTED = 60
# The number of lines read to find the sessions in which somebody takes part.
_LINES_OF_SPEAKERS = 3_000


class StoredPassageReads(Store):
    def __init__(
        self, tx: Transaction, space: Space, sql: Queries, sessions: StoredSessionReads, mark: int
    ) -> None:
        super().__init__(tx, space, sql)
        self._sessions = sessions
        self._mark = mark

    def count(self, filters: Filters | None = None, kinds: Sequence[str] | None = None) -> int:
        if self._space is NOWHERE:
            return 0
        filters = filters or Filters()
        search = self._sessions.index.searching()
        scope = search.scope(filters)
        others = 0 if are_of_messages(filters) else self._other_count()
        if scope is None or (kinds is not None and MESSAGE not in kinds):
            return others
        stored = self._sessions.next_id() - self._space.first
        if filters.user is not None:
            stored -= int(self._tx.value(self._sql.messages_of_others, (self._space.id, filters.user)))
        weeks = range(week_of(scope.since), week_of(scope.until) + 1)
        every = [*scope.every, *([map(week_tag, weeks)] if 0 < len(weeks) <= _WEEKS_COUNTED else [])]
        tagged = search.counts([Clause(tuple(Term((tag,)) for tag in tags)) for tags in every])
        return min([stored, *tagged]) + others

    def weigh(self, clauses: Sequence[Clause], *, messages: bool = True) -> list[int]:
        search = self._sessions.index.searching()
        counts = search.counts(clauses) if messages else [0] * len(clauses)
        others = search.counts_of_others(clauses, self._other_count())
        return [count + other for count, other in zip(counts, others, strict=True)]

    def speakers(self, words: Sequence[str]) -> set[str]:
        search = self._sessions.index.searching()
        spoken = search.counts([Clause((Term(tuple(speaker_tags(word))),)) for word in words])
        known = {word: n for word, n in zip(words, spoken, strict=True) if n >= _MESSAGES_OF_A_SPEAKER}
        said = search.counts([Clause((Term((word,)),)) for word in known])
        # A word that is mostly used otherwise, such as in "Note: …", isn't a speaker.
        counted = zip(known.items(), said, strict=True)
        return {word for (word, spoke), others in counted if spoke >= _SHARE_OF_A_SPEAKER * others}

    def sessions_with(self, speakers: Sequence[str]) -> list[str]:
        search = self._sessions.index.searching()
        return sorted(search.sessions_matching(_speak(speakers), _LINES_OF_SPEAKERS))

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
        search = self._sessions.index.searching()
        scope = search.scope(filters)
        said = about = [*zip(counts, clauses, strict=True)]
        if clauses and speakers:
            # A speaker's name is one more clause, and a common one, as others may mention it.
            said = [*said, (max(_SCORED, *counts) + 1, _speak(speakers))]
            mention = Clause(tuple(Term((name,)) for name in speakers))
            (mentioned,) = search.counts_of_others([mention], self._other_count())
            about = [*about, (mentioned, mention)]
        if scope is None or (not clauses and scope.is_timeless):
            return []
        found: dict[int, float] = {}
        if kinds is None or MESSAGE in kinds:
            for plan in _plans(search, said, _SCORED):
                for message, score in search.seed_messages(plan, scope, _SCORED, limit).items():
                    found[message] = max(score, found.get(message, 0.0))
                if len(found) >= limit:
                    break
        others = None if kinds is None else [kind for kind in kinds if kind != MESSAGE]
        if clauses and others != [] and self._other_count():
            seeds: dict[int, float] = {}
            for plan in _plans(search, about, _SCORED_OTHERS):
                seeds |= search.seed_others(plan, scope, others, _SCORED_OTHERS, limit)
                if len(seeds) >= limit:
                    break
            found |= seeds
        best = sorted(found.items(), key=lambda item: (-item[1], -item[0]))
        return [Seed(passage, score) for passage, score in best[:limit]]

    def strips(self, message_ids: Sequence[int], *, reach: int, characters: int) -> list[Strip]:
        near = {"ids": write_ids(message_ids), "first": self._space.first, "last": self._space.last}
        stretches = _merge_reaches(self._tx.rows(self._sql.reaches, near | {"reach": reach}))
        known = {
            key: about
            for key, *about in self._tx.rows(self._sql.sessions_of, (write_ids({s[0] for s in stretches}),))
        }
        stretches = [stretch for stretch in stretches if stretch[0] in known]
        asked = {"stretches": json.dumps(stretches), "characters": characters}
        found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for number, *row in self._tx.rows(self._sql.stretches, asked):
            found[number].append(tuple(row))
        asked = {"ids": write_ids(message_ids), "shorter": characters, "characters": LONGEST}
        whole = dict(self._tx.rows(self._sql.longer, asked))
        strips: list[Strip] = []
        for (key, _, _), (_, lines) in zip(stretches, sorted(found.items()), strict=True):
            session_id, title, project = known[key]
            messages = tuple(_message(session_id, row, whole.get(row[0]), characters) for row in lines)
            strips.append(Strip(session_id, title, project, messages))
        return strips

    def sizes(self, message_ids: Sequence[int]) -> dict[int, int]:
        asked = {"ids": write_ids(message_ids), "first": self._space.first, "last": self._space.last}
        return dict(self._tx.rows(self._sql.sizes, asked))

    def get(self, ids: Sequence[int]) -> list[Passage]:
        asked = {"ids": write_ids(ids), "first": self._space.first_passage, "last": self._space.last_passage}
        return [make_passage(row) for row in self._tx.rows(self._sql.of_ids, asked)]

    def version(self) -> tuple[int, ...]:
        found = self._tx.rows(self._sql.version, (self._space.id,))
        return (self._mark, *found[0]) if found else (self._mark,)

    def within(self, ids: Sequence[int], filters: Filters, *, kinds: Sequence[str] | None) -> dict[int, int]:
        search = self._sessions.index.searching()
        scope = search.scope(filters)
        if scope is None or not ids:
            return {}
        found: dict[int, int] = {}
        asked = {"ids": write_ids(ids), "since": scope.since, "until": scope.until}
        asked |= {"first": self._space.first, "last": self._space.last}
        asked["last_passage"] = self._space.last_passage
        if filters.group is None and (kinds is None or MESSAGE in kinds):
            sessions = [(set(keys), unwanted) for keys, unwanted in search.session_keys(filters)]
            for number, owner, session, role in self._tx.rows(self._sql.messages_within, asked):
                wanted = filters.roles is None or role in filters.roles
                if wanted and all((session in keys) is not unwanted for keys, unwanted in sessions):
                    found[number] = owner
        if not are_of_messages(filters):
            for number, kind, group, user in self._tx.rows(self._sql.passages_within, asked):
                is_theirs = filters.user is None or user in (None, filters.user)
                if is_theirs and filters.group in (None, group) and (kinds is None or kind in kinds):
                    found[number] = number
        return found

    def present(self, ids: Sequence[int]) -> set[int]:
        asked = {"ids": write_ids(ids), "first": self._space.first, "last": self._space.last_passage}
        return {passage for (passage,) in self._tx.rows(self._sql.present, asked)}

    def find(self, kind: str, ref: str) -> Passage | None:
        found = self._tx.rows(self._sql.of_ref, (self._space.id, kind, ref))
        return make_passage(found[0]) if found else None

    def of_kind(self, kind: str) -> list[Passage]:
        return [make_passage(row) for row in self._tx.rows(self._sql.of_kind, (self._space.id, kind))]

    def _other_count(self) -> int:
        last = self._tx.value(self._sql.last_passage, (self._space.id,)) or 0
        return max(0, last - self._space.last)


class StoredPassageWrites(StoredPassageReads):
    def __init__(
        self,
        tx: Transaction,
        space: Space,
        sql: Queries,
        sessions: StoredSessionReads,
        mark: int,
        eraser: Eraser,
    ) -> None:
        super().__init__(tx, space, sql, sessions, mark)
        self._eraser = eraser

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
        number: int = self._tx.value(self._sql.take_id, (self._space.first_passage, self._space.id))
        passage = Passage(number, kind, ref, session_id, speaker, at, live, text, also, group, user_id)
        row = (number, kind, ref, session_id, speaker, at, live, text, also or None, group, user_id)
        self._tx.change(self._sql.put, row)
        self._sessions.index.add_passage(passage)
        return number

    def outdate(self, kind: str, ref: str) -> bool:
        # Neither the index nor the vectors depend on a passage being live.
        return self._tx.change(self._sql.outdate, (self._space.id, kind, ref)) > 0

    def remove(self, kind: str, ref: str) -> bool:
        found = self.find(kind, ref)
        if found is None:
            return False
        self._sessions.index.remove_passage(found)
        # Vectors that are being made of it now must not be stored.
        self._tx.change(self._sql.count_removal, (self._space.id,))
        self._eraser.erase(found.id, 1, PASSAGES)
        self._tx.change(self._sql.delete, (found.id,))
        return True


def _speak(speakers: Sequence[str]) -> Clause:
    """Match the lines of any of these speakers, given by a word of their names."""
    return Clause(tuple(Term(tuple(speaker_tags(name))) for name in speakers))


def _plans(search: Search, asked: Sequence[tuple[int, Clause]], most: int) -> list[Any]:
    """Plan the search by rare words, or first by pairs if even the rarest word is common."""
    if not asked:
        return [search.plans.anything()]
    # A word without messages may still be in another passage.
    counts, clauses = zip(*sorted(asked, key=lambda pair: pair[0]), strict=True)
    weights = [search.worth(count) for count in counts]
    plan = search.plans.any_of(Query(clauses), weights, most)
    unknown = counts.count(0)
    if len(counts) - unknown < 2 or counts[unknown] <= most:
        return [plan]
    return [search.plans.pairs_of(Query(clauses[unknown:]), weights[unknown:]), plan]


def _merge_reaches(reaches: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merge overlapping stretches of a session."""
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


def make_passage(row: tuple[Any, ...]) -> Passage:
    columns: list[Any] = [*row[:6], row[6] == 1, row[7], row[8] or "", *row[9:]]
    return Passage(*columns)
