"""Candidates: passages proposed by words and by vectors, and their neighbours."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mnemos.language.times import Span
from mnemos.recall.edits import NOTHING_UNFED, Unfed
from mnemos.recall.question import Matcher, Question
from mnemos.recall.trace import NO_TRACE, Trace
from mnemos.recall.validity import NOTHING_ENDED, Standings, read_standings
from mnemos.sessions.titles import OPENING
from mnemos.storage.base import Filters, Glimpse, Reads
from mnemos.storage.passages import MESSAGE, PIECE_BITS, Near, Passage, Strip, Units, are_of_messages
from mnemos.text.words import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The number of proposals by words and by vectors. More cost time and find nothing: with 40 of each, recall on
# conversations is as good as with 100.
SEEDS = 40
_SEEDS_ALONE = 25
# Lines read for each proposal, including neighbours, the most promising first. This number of bytes costs as
# much as a line. Long proposals are left out when little room is left, unless they are the most promising.
_LINES_PER_SEED = 7.5
_LINES_PER_SEED_BY_WORDS = 15.0
_BYTES_PER_LINE = 1_200
_READ_ANYWAY = 10
# The number of proposals from the time that a question names.
_SEEDS_IN_TIME = 30
_SEEDS_OF_TIME_ALONE = 10
# A question about only a time is answered from all parts of that time.
_SLICES = 6
# The number of extra proposals from the preferred project, which others may have crowded out.
_SEEDS_OF_PROJECT = 15
# If a question names a speaker, most proposals come from conversations in which that person takes part,
# unless there are too many of these.
_SEEDS_OF_NAMED = 40
_SEEDS_OF_OTHERS = 20
_MOST_OF_NAMED = 300
# The number of neighbours judged with a proposal, and of further lines read around them.
NEIGHBOURS = 2
CONTEXT = 2
_AFTERWARDS = 7 * 86400.0
_LONG_SPAN = 40 * 86400.0
# The number of characters read of a neighbour.
NEIGHBOUR_CHARACTERS = 600
# The number of fresh pieces looked up first. The others are only used if filters leave too few.
_LOOKED_UP = 200


NO_OPENINGS: Mapping[str, Sequence[Glimpse]] = MappingProxyType({})


class Sense(Struct, frozen=True):
    """A question as a model's vector."""

    model: str
    vector: NDArray[np.float32]


class Asked(Struct, frozen=True):
    """A question with statistics of its words in the storage."""

    question: Question
    counts: tuple[int, ...]
    """The number of passages that have each word."""
    total: int
    seen: int
    """The number of passages that match the filters."""
    here: int
    """The number in the preferred project, which is rated like a separate memory."""
    speakers: tuple[str, ...] = ()
    """Words of the question that are speakers' names."""
    unfed: Unfed = NOTHING_UNFED
    words_of_unfed: tuple[frozenset[int], ...] = ()
    """The question's words in each passage that was added to the storage's own."""


class Gathered(Struct, frozen=True):
    """The material to judge: proposals, the conversation around them, and other passages."""

    proposed: frozenset[int]
    strips: tuple[Strip, ...]
    passages: tuple[Passage, ...]
    cosines: dict[int, Near]
    units: Units | None = None
    """The existing vectors of messages and passages."""
    openings: Mapping[str, Sequence[Glimpse]] = NO_OPENINGS
    """The first words of users in conversations without a title."""
    standings: Standings = NOTHING_ENDED
    """The facts that are no longer true, or may not be."""
    of_named: frozenset[str] = frozenset()
    """Conversations in which somebody named in the question takes part."""


def mention_end(span: Span) -> float:
    """Return the end of the period in which people talk about a time: a week later for a day or month."""
    return span.end + (_AFTERWARDS if span.end - span.start < _LONG_SPAN else 0.0)


def _slice(span: Span, within: Filters, count: int) -> Iterator[Filters]:
    """Split the time that a question names, within the filters, into equal parts."""
    start = span.start if within.since is None else max(span.start, within.since)
    end = span.end if within.until is None else min(span.end, within.until)
    if math.isinf(end - start):
        yield within
        return
    length = (end - start) / count
    for number in range(count if length > 0 else 0):
        yield replace(within, since=start + number * length, until=start + (number + 1) * length)


def look_up(
    tx: Reads,
    question: Question,
    unfed: Unfed,
    filters: Filters,
    kinds: Sequence[str] | None,
    project: str | None,
) -> Asked:
    """Weigh the words of a question. Speakers' names are not searched for."""
    forms = [word.form for word in question.words if word.form.isalpha()]
    names = frozenset(tx.passages.speakers([form for form in forms if form in question.mentioned]))
    question = question.without(names)
    counts = tx.passages.weigh([word.clause for word in question.words])
    matcher = Matcher(question.words, [{}] * len(question.words))
    words_of_unfed = tuple(frozenset(matcher.find(fold(p.readable))[0]) for p in unfed.added)
    for words in words_of_unfed:
        for word in words:
            counts[word] += 1
    in_project = filters if project is None or filters.projects else replace(filters, projects=[project])
    counted = [tx.passages.count(), *(tx.passages.count(some, kinds) for some in (filters, in_project))]
    total, seen, here = [count + len(unfed.added) for count in counted]
    return Asked(question, tuple(counts), total, seen, here, tuple(sorted(names)), unfed, words_of_unfed)


def gather(
    tx: Reads,
    asked: Asked,
    sense: Sense | None,
    filters: Filters,
    kinds: Sequence[str] | None,
    fresh: Sequence[Near] = (),
    project: str | None = None,
    as_of: float | None = None,
    trace: Trace = NO_TRACE,
) -> Gathered:
    """Read everything to judge, in the caller's transaction.

    ``fresh``: pieces without stored vectors, nearest first. ``project``: the preferred one. ``as_of``: the
    time at which facts must be valid, by default now.
    """
    # Only messages have neighbours. Any other proposal is a single candidate.
    alone = kinds is not None and MESSAGE not in kinds
    of_named = [] if alone else _find_sessions(tx, asked)
    limit = _SEEDS_ALONE if alone else SEEDS
    proposed: set[int] = set()
    if 0 < len(of_named) <= _MOST_OF_NAMED and filters.session_ids is None:
        among_them = replace(filters, session_ids=of_named)
        proposed = _propose(tx, asked, sense, among_them, kinds, _SEEDS_OF_NAMED, fresh, trace)
        limit = _SEEDS_OF_OTHERS
    proposed |= _propose(tx, asked, sense, filters, kinds, limit, fresh, trace)
    if project is not None and not alone and filters.projects is None:
        here = replace(filters, projects=[project])
        proposed |= _propose(tx, asked, sense, here, kinds, _SEEDS_OF_PROJECT, fresh, trace)
    span = asked.question.span
    if span is not None:
        within = replace(
            filters,
            since=max(span.start, filters.since) if filters.since is not None else span.start,
            until=min(mention_end(span), filters.until) if filters.until is not None else mention_end(span),
        )
        in_time = _propose(tx, asked, sense, within, kinds, _SEEDS_IN_TIME, fresh, trace)
        # The time may be the only link between a question and its answer.
        few = _SEEDS_IN_TIME if len(proposed) + len(in_time) < SEEDS else _SEEDS_OF_TIME_ALONE
        proposed |= in_time
        slices = 1 if asked.question.words else _SLICES
        for part in _slice(span, within, slices):
            recent = tx.passages.best([], [], part, kinds=kinds, limit=-(-few // slices))
            proposed |= {seed.id for seed in recent}
    trace.propose(kept=proposed)
    ids = sorted(proposed)
    strips = tx.passages.strips(ids, reach=NEIGHBOURS + CONTEXT, characters=NEIGHBOUR_CHARACTERS)
    passages = tuple([p for p in tx.passages.get(ids) if p.id not in asked.unfed.gone])
    added, standings = read_standings(tx, passages, as_of, filters.user)
    passages += added
    untitled = {strip.session_id: None for strip in strips if strip.title is None}
    openings = tx.sessions.openings(list(untitled), characters=OPENING)
    found = Gathered(
        frozenset(proposed),
        tuple(strips),
        passages,
        {},
        openings=openings,
        standings=standings,
        of_named=frozenset(of_named),
    )
    if sense is None:
        return found
    near = [row.id for strip in strips for row in strip.messages]
    compared = tx.vectors.compare(sense.model, sense.vector, near + [passage.id for passage in passages])
    return replace(found, cosines=compared.best, units=compared.firsts)


def _find_sessions(tx: Reads, asked: Asked) -> list[str]:
    """Find the sessions in which a person named in the question takes part.

    Adjacent names belong to one person, whose sessions have all of these names if any session does.
    """
    said = [fold(form) for form in re.findall(r"[^\W_]+", asked.question.text)]
    found: set[str] = set()
    names: list[str] = []
    for form in [*said, ""]:
        if form in asked.speakers:
            names.append(form)
        elif names:
            of_each = [set(tx.passages.sessions_with([name])) for name in dict.fromkeys(names)]
            found |= set.intersection(*of_each) or set.union(*of_each)
            names = []
    return sorted(found)


def add_unfed(
    gathered: Gathered,
    asked: Asked,
    cosines: Mapping[int, Near],
    filters: Filters,
    kinds: Sequence[str] | None,
    trace: Trace = NO_TRACE,
) -> Gathered:
    """Add the best passages, by words and by vectors, that the storage doesn't have yet."""
    if not asked.unfed.added or are_of_messages(filters):
        return gathered
    allowed = {p.id: p for p in asked.unfed.added if kinds is None or p.kind in kinds}
    weights = {
        passage.id: sum(1 / (1 + asked.counts[word]) for word in words)
        for passage, words in zip(asked.unfed.added, asked.words_of_unfed, strict=True)
        if words and passage.id in allowed
    }
    near = {number: one.cosine for number, one in cosines.items() if number in allowed}
    chosen = {*heapq.nlargest(SEEDS, weights, key=weights.__getitem__)}
    chosen |= {*heapq.nlargest(SEEDS, near, key=near.__getitem__)}
    trace.propose(words=weights, vectors=near, kept=chosen)
    return replace(
        gathered,
        passages=(*gathered.passages, *[allowed[number] for number in sorted(chosen)]),
        cosines=gathered.cosines | {number: cosines[number] for number in chosen if number in cosines},
    )


def _propose(
    tx: Reads,
    asked: Asked,
    sense: Sense | None,
    filters: Filters,
    kinds: Sequence[str] | None,
    limit: int,
    fresh: Sequence[Near],
    trace: Trace,
) -> set[int]:
    """Propose passages by words, by vectors, or by both together."""
    clauses = [word.clause for word in asked.question.words]
    best = tx.passages.best(clauses, asked.counts, filters, kinds=kinds, limit=limit, speakers=asked.speakers)
    scores = {seed.id: seed.score for seed in best}
    cosines: dict[int, float] = {}
    if sense is not None:
        nearest = tx.vectors.nearest(sense.model, sense.vector, filters, kinds=kinds, limit=limit)
        nearest += _find_fresh(tx, fresh, filters, kinds, limit)
        cosines = {near.id: near.cosine for near in nearest}
    highest, closest = max([*scores.values(), 1e-9]), max([*cosines.values(), 1e-9])
    promise = {
        passage: scores.get(passage, 0.0) / highest + cosines.get(passage, 0.0) / closest
        for passage in scores.keys() | cosines.keys()
    }
    by_promise = sorted(promise, key=lambda passage: (-promise[passage], -passage))
    kept = set(by_promise)
    if kinds is None or MESSAGE in kinds:
        most = limit * (_LINES_PER_SEED_BY_WORDS if sense is None else _LINES_PER_SEED)
        kept = _within(by_promise, tx.passages.sizes(by_promise), most)
    trace.propose(words=scores, vectors=cosines, kept=kept)
    return kept


def _find_fresh(
    tx: Reads, fresh: Sequence[Near], filters: Filters, kinds: Sequence[str] | None, limit: int
) -> list[Near]:
    """Find the nearest of the pieces without stored vectors that match the filters."""
    best: dict[int, Near] = {}
    for some in (fresh[:_LOOKED_UP], fresh[_LOOKED_UP:]):
        owners = tx.passages.within([near.id for near in some], filters, kinds=kinds) if some else {}
        for near in some:
            owner = owners.get(near.id)
            if owner is not None and owner not in best:
                # Later parts of a long message count as its pieces.
                best[owner] = Near(owner, (near.id - owner << PIECE_BITS) + near.piece, near.cosine)
        if len(best) >= limit:
            break
    return list(best.values())[:limit]


def _within(passages: Sequence[int], sizes: Mapping[int, int], most: float) -> set[int]:
    """Return the first passages that, with neighbours, cost about as much as this many lines.

    Neighbours have adjacent ids, so passages close together cost little more than one.
    """
    kept: set[int] = set()
    read: set[int] = set()
    spent = 0.0
    reach = NEIGHBOURS + CONTEXT
    for place, passage in enumerate(passages):
        around = set(range(passage - reach, passage + reach + 1)) - read if passage in sizes else set()
        cost = len(around) + sizes.get(passage, 0) / _BYTES_PER_LINE
        if spent + cost > most and place >= _READ_ANYWAY:
            continue
        kept.add(passage)
        read |= around
        spent += cost
    return kept
