"""Where an answer may stand: what words propose, what vectors propose, and their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mnemos.language.times import Span
from mnemos.recall.question import Question
from mnemos.storage.base import Filters, Reads
from mnemos.storage.passages import MESSAGE, Near, Passage, Strip, Units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Proposals of words and of vectors. More cost time and find nothing: with 40 of each, recall on
# conversations is what it is with 100.
SEEDS = 40
_SEEDS_ALONE = 25
# Lines that are read for each of them, if there were as many: those that promise most come first.
_LINES_A_SEED = 4
_LINES_A_SEED_BY_WORDS = 7
# Proposals from within the time that a question names.
_SEEDS_IN_TIME = 30
_SEEDS_OF_TIME_ALONE = 10
# Neighbours of a proposal that are judged too, and how far around them is read for that.
NEIGHBOURS = 2
CONTEXT = 2
_AFTERWARDS = 7 * 86400.0
_LONG_SPAN = 40 * 86400.0
# So much of a neighbour is read.
_NEIGHBOUR_CHARACTERS = 600


class Sense(Struct, frozen=True):
    """A question as a vector of a model."""

    model: str
    vector: NDArray[np.float32]


class Asked(Struct, frozen=True):
    """A question with what the store knows of its words."""

    question: Question
    counts: tuple[int, ...]
    """How many passages have each word."""
    total: int
    speakers: tuple[str, ...] = ()
    """Words of the question under which somebody speaks."""


class Gathered(Struct, frozen=True):
    """What is to be judged: proposals, the strips of conversation around them, other passages."""

    proposed: frozenset[int]
    strips: tuple[Strip, ...]
    passages: tuple[Passage, ...]
    cosines: dict[int, Near]
    units: Units | None = None
    """The vectors of messages, where there are any."""


def told_until(span: Span) -> float:
    """Until when people tell of a time: of a day or a month, in the week after it too."""
    return span.end + (_AFTERWARDS if span.end - span.start < _LONG_SPAN else 0.0)


def look_up(tx: Reads, question: Question) -> Asked:
    """Weigh the words; names of those who speak here are not words to look for."""
    names = frozenset(tx.passages.speakers([word.form for word in question.words if word.form.isalpha()]))
    question = question.without(names)
    counts = tx.passages.weigh([word.clause for word in question.words])
    return Asked(question, tuple(counts), tx.passages.count(), tuple(sorted(names)))


def gather(
    tx: Reads, asked: Asked, sense: Sense | None, filters: Filters, kinds: Sequence[str] | None
) -> Gathered:
    # Nothing stands around what is no message: each proposal is one candidate.
    alone = kinds is not None and MESSAGE not in kinds
    proposed = _proposed(tx, asked, sense, filters, kinds, _SEEDS_ALONE if alone else SEEDS)
    span = asked.question.span
    if span is not None:
        within = replace(
            filters,
            since=max(span.start, filters.since) if filters.since is not None else span.start,
            until=min(told_until(span), filters.until) if filters.until is not None else told_until(span),
        )
        in_time = _proposed(tx, asked, sense, within, kinds, _SEEDS_IN_TIME)
        # The time alone may be all that links a question to its answer.
        few = _SEEDS_IN_TIME if len(proposed) + len(in_time) < SEEDS else _SEEDS_OF_TIME_ALONE
        recent = tx.passages.best([], [], within, kinds=kinds, limit=few)
        proposed |= in_time | {seed.id for seed in recent}
    ids = sorted(proposed)
    strips = tx.passages.strips(ids, reach=NEIGHBOURS + CONTEXT, characters=_NEIGHBOUR_CHARACTERS)
    passages = tuple(tx.passages.get(ids))
    if sense is None:
        return Gathered(frozenset(proposed), tuple(strips), passages, {})
    near = [row.id for strip in strips for row in strip.messages]
    cosines = tx.vectors.cosines(sense.model, sense.vector, near + [passage.id for passage in passages])
    units = tx.vectors.units(sense.model, near)
    return Gathered(frozenset(proposed), tuple(strips), passages, cosines, units)


def _proposed(
    tx: Reads,
    asked: Asked,
    sense: Sense | None,
    filters: Filters,
    kinds: Sequence[str] | None,
    limit: int,
) -> set[int]:
    """What words and what vectors propose; of both, those that one of them or both together speak for."""
    clauses = [word.clause for word in asked.question.words]
    best = tx.passages.best(clauses, asked.counts, filters, kinds=kinds, limit=limit, speakers=asked.speakers)
    scores = {seed.id: seed.score for seed in best}
    cosines: dict[int, float] = {}
    if sense is not None:
        nearest = tx.vectors.nearest(sense.model, sense.vector, filters, kinds=kinds, limit=limit)
        cosines = {near.id: near.cosine for near in nearest}
    highest, closest = max([*scores.values(), 1e-9]), max([*cosines.values(), 1e-9])
    promise = {
        passage: scores.get(passage, 0.0) / highest + cosines.get(passage, 0.0) / closest
        for passage in scores.keys() | cosines.keys()
    }
    by_promise = sorted(promise, key=lambda passage: (-promise[passage], -passage))
    if kinds is not None and MESSAGE not in kinds:
        # Nothing stands around what is no message.
        return set(by_promise)
    return _within(by_promise, limit * (_LINES_A_SEED if sense is not None else _LINES_A_SEED_BY_WORDS))


def _within(passages: Sequence[int], lines: int) -> set[int]:
    """The first of them that can be read with their neighbours in about so many lines.

    Neighbours have ids near each other, so what stands close together costs little more than one.
    """
    kept: set[int] = set()
    read: set[int] = set()
    reach = NEIGHBOURS + CONTEXT
    for passage in passages:
        if len(read) >= lines:
            break
        kept.add(passage)
        read.update(range(passage - reach, passage + reach + 1))
    return kept
