"""Certainty: the estimate of whether any hit answers the question.

Scores only compare the hits of one question. A few absolute signals show if the best hit is an answer: its
lead, its share of the question, and the similarity of the first hits in meaning. If the question names a
speaker, it also matters who said the line. The weights come from two logistic regressions, for questions that
name a speaker and for others, fitted on questions with and without an answer: ``python -m benchmarks recall
--certainty``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from mnemos.recall import features
from mnemos.recall.candidates import Asked
from mnemos.recall.features import Candidate

GOOD: Final = "good"
WEAK: Final = "weak"
NONE: Final = "none"

NAMED: Final[Mapping[str, float]] = {
    "lead": 0.23, "share": 1.87, "nearness": 6.2, "by_named": 0.39, "bias": -4.83,
}  # fmt: skip
UNNAMED: Final[Mapping[str, float]] = {
    "lead": 0.48, "share": 3.22, "nearness": 9.0, "passages": -0.32, "bias": -4.67,
}  # fmt: skip
NAMED_BY_WORDS: Final[Mapping[str, float]] = {
    "share": 3.76, "by_named": 0.51, "bias": -2.6,
}  # fmt: skip
UNNAMED_BY_WORDS: Final[Mapping[str, float]] = {
    "lead": 0.16, "share": 4.62, "passages": -0.18, "bias": -1.83,
}  # fmt: skip

# Unrelated texts score up to this by chance.
_NEAR_AT_ALL = 0.2
# The minimum share of the best score for a hit, with and without a part of the question in it.
_LEAST_LINKED = 0.2
_LEAST = 0.3
_FIRST = 10
_LOOKED_AT = 5
_NEAR = 3
_COMPARED = 20
_MOST_BY_NAMED = 6.0
# Memories with fewer passages were not measured.
_FEWEST = 40
# The minimum evidence for an answer: the cosine of one of the first hits, plus this much for the whole
# question. In a small memory, less is enough.
_LEAST_EVIDENCE = 0.49
_SHARE = 0.76
_SMALL = 100
# The minimum share of the question, if there are only words to go by.
_LEAST_SHARE = 0.2
# Signs of where to look, not of an answer.
_PREFERENCES = {name: features.HYBRID[name] for name in ("speaker", "of_named", "elsewhere")}
_LINKS = ("in_span", "of_span", "codes", "latest")


def rate(
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    asked: Asked,
    *,
    has_vectors: bool,
) -> str:
    """Rate a ranking: ``good``, ``weak``, or ``none`` if nothing answers."""
    # The vectors cover other languages poorly, and a Chinese question has many words.
    may_be_far = asked.question.text.isascii() and not asked.speakers
    first = candidates[:_LOOKED_AT]
    if not candidates or (may_be_far and _is_far(first, asked.here, has_vectors=has_vectors)):
        return NONE
    signals = measure_signals(candidates, scores, asked.seen)
    weights = choose_weights(names_somebody=bool(asked.speakers), has_vectors=has_vectors)
    return GOOD if sum(weight * signals[name] for name, weight in weights.items()) >= 0 else WEAK


def choose_weights(*, names_somebody: bool, has_vectors: bool) -> Mapping[str, float]:
    """Choose the weights of the signals for a kind of question."""
    if has_vectors:
        return NAMED if names_somebody else UNNAMED
    return NAMED_BY_WORDS if names_somebody else UNNAMED_BY_WORDS


def measure_signals(
    candidates: Sequence[Candidate], scores: Sequence[float], passages: int
) -> dict[str, float]:
    """Measure the signals of a ranking that has at least one candidate."""
    return {
        "lead": scores[0] - scores[:_FIRST][-1],
        "share": _share(candidates[0]),
        "nearness": _mean([candidate.line.cosine for candidate in candidates[:_NEAR]]),
        "by_named": _compare_speakers(candidates[:_COMPARED], scores),
        "passages": math.log(max(passages, _FEWEST)),
        "bias": 1.0,
    }


def _compare_speakers(candidates: Sequence[Candidate], scores: Sequence[float]) -> float:
    """Return the lead of the named person's best line over that of others.

    A question about the wrong person finds lines that somebody else said.
    """
    best = {0.0: 0.0, 0.5: 0.0, 1.0: 0.0}
    for candidate, score in zip(candidates, scores, strict=False):
        by = candidate.features["speaker"]
        best[by] = max(best[by], score - features.sum_up(candidate, _PREFERENCES))
    return max(-_MOST_BY_NAMED, min(_MOST_BY_NAMED, best[1.0] - best[0.0]))


def _is_far(first: Sequence[Candidate], passages: int, *, has_vectors: bool) -> bool:
    """True if no word, meaning, time or number links any of the first hits to the question."""
    if any(candidate.features[name] > 0 for candidate in first for name in _LINKS):
        return False
    share = max(map(_share, first))
    size = passages / (passages + _SMALL)
    if not has_vectors:
        return share < _LEAST_SHARE * size
    return max(candidate.line.cosine for candidate in first) + _SHARE * share < _LEAST_EVIDENCE * size


def _share(candidate: Candidate) -> float:
    """Return the share of the question in a line, or in the question that it replies to."""
    return max(candidate.features["cover"], candidate.features["replies"])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def is_linked(candidate: Candidate) -> bool:
    """True if a word, a related word, the meaning or the time links it to the question."""
    line, features = candidate.line, candidate.features
    return (
        bool(line.strengths) or line.cosine >= _NEAR_AT_ALL or features["in_span"] + features["of_span"] > 0
    )


def find_close(ranked: Sequence[tuple[Candidate, float]]) -> frozenset[int]:
    """Return the ids of the candidates that don't score far below the best.

    Facts and notes only need a part of the question, because no conversation adds to their scores.
    """
    best = max((score for _, score in ranked), default=0.0)
    close = set()
    for candidate, score in ranked:
        least = _LEAST
        if is_linked(candidate):
            least = _LEAST_LINKED if candidate.line.passage is None else -math.inf
        if best <= 0 or score >= best * least:
            close.add(candidate.line.id)
    return frozenset(close)
