"""Metrics of a ranking, with confidence intervals.

``recall@k`` is LoCoMo's: the share of a question's evidence among the first k. ``any@k``, ``all@k`` and
``ndcg@10`` are LongMemEval's: whether any or all of the evidence is among the first k, and the gain,
discounted from the third place on as LongMemEval does. Turns and sessions are scored alike. A session has the
place of its first turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, nan

import numpy as np
from numpy.typing import NDArray

from mnemos.faces.cli.bench.corpus import Question

Numbers = NDArray[np.float64]

CUTS = (1, 3, 5, 10)
DEPTH = 10
LEVELS = ("turn", "session")
NAMES = tuple(
    f"{level} {name}"
    for level in LEVELS
    for name in (*(f"{kind}@{cut}" for kind in ("recall", "any", "all") for cut in CUTS), f"ndcg@{DEPTH}")
)

RESAMPLES = 2_000
SEED = 1
# With fewer conversations, resampling them says little about other conversations.
FEWEST_CLUSTERS = 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95% interval; ``clustered`` resamples whole conversations."""

    value: float
    low: float
    high: float
    questions: int
    clustered: tuple[float, float] | None = None


def recall(ranked: Sequence[str], wanted: Sequence[str], k: int) -> float:
    top = set(ranked[:k])
    return sum(one in top for one in wanted) / len(wanted)


def any_of(ranked: Sequence[str], wanted: Iterable[str], k: int) -> float:
    return float(not set(ranked[:k]).isdisjoint(wanted))


def all_of(ranked: Sequence[str], wanted: Iterable[str], k: int) -> float:
    return float(set(ranked[:k]).issuperset(wanted))


def ndcg(ranked: Sequence[str], wanted: Iterable[str], k: int = DEPTH) -> float:
    """Return the gain of the first k, relative to a perfect ranking."""
    relevant = set(wanted)
    gained = _gain([one in relevant for one in ranked[:k]])
    return gained / _gain([True] * min(k, len(relevant)))


def scores(question: Question, turns: Sequence[str], sessions: Sequence[str]) -> dict[str, float]:
    """Return every metric for a question, without those on turns if none are named."""
    found: dict[str, float] = {}
    for level, ranked, wanted in (
        ("turn", turns, question.turns),
        ("session", sessions, question.sessions),
    ):
        if wanted:
            for cut in CUTS:
                found[f"{level} recall@{cut}"] = recall(ranked, wanted, cut)
                found[f"{level} any@{cut}"] = any_of(ranked, wanted, cut)
                found[f"{level} all@{cut}"] = all_of(ranked, wanted, cut)
            found[f"{level} ndcg@{DEPTH}"] = ndcg(ranked, wanted)
    return found


def list_once(names: Iterable[str]) -> list[str]:
    """Return each name once, in order of first appearance."""
    return list(dict.fromkeys(names))


def estimates(
    rows: Sequence[Mapping[str, float]], clusters: Sequence[str] | None = None
) -> dict[str, Estimate]:
    """Return the mean of each metric over its questions, with bootstrap intervals.

    The draws are seeded, so the same rows give the same intervals. ``clusters`` names the conversation of
    each row. With enough of them, a second interval resamples conversations instead of questions, which tells
    how another conversation would do.
    """
    names = [name for name in NAMES if any(name in row for row in rows)]
    if not names:
        return {}
    table = np.array([[row.get(name, nan) for name in names] for row in rows])
    random = np.random.default_rng(SEED)
    interval = _interval(table, _draw(random, list(range(len(rows)))))
    clustered = _interval(table, _draw(random, clusters)) if clusters and _enough(clusters) else None
    means = _means(table, np.ones((1, len(rows))))[0]
    return {
        name: Estimate(
            value=float(means[place]),
            low=float(interval[0, place]),
            high=float(interval[1, place]),
            questions=sum(name in row for row in rows),
            clustered=None if clustered is None else (float(clustered[0, place]), float(clustered[1, place])),
        )
        for place, name in enumerate(names)
    }


def _gain(relevances: Sequence[bool]) -> float:
    """Return LongMemEval's gain: two places in full, then divided by log2 of the place."""
    return sum(
        1.0 if place == 1 else 1.0 / log2(place)
        for place, is_relevant in enumerate(relevances, start=1)
        if is_relevant
    )


def _enough(clusters: Sequence[str]) -> bool:
    """False also if each question has its own conversation, where nothing would change."""
    return FEWEST_CLUSTERS <= len(set(clusters)) < len(clusters)


def _draw(random: np.random.Generator, groups: Sequence[object]) -> Numbers:
    """Return how often each row is drawn with its group, one line per resample."""
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    share = np.full(len(numbers), 1 / len(numbers))
    drawn = random.multinomial(len(numbers), share, size=RESAMPLES)
    return drawn[:, [numbers[group] for group in groups]].astype(np.float64)


def _interval(table: Numbers, drawn: Numbers) -> Numbers:
    """Return the lower and upper ends of the means' 95% intervals, as two rows."""
    return np.nanpercentile(_means(table, drawn), [2.5, 97.5], axis=0)


def _means(table: Numbers, drawn: Numbers) -> Numbers:
    """Return each column's mean under each line of counts; NaN if nothing was drawn."""
    there = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means: Numbers = (drawn @ np.where(there, table, 0.0)) / (drawn @ there)
    return means
