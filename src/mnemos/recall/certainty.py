"""Certainty: is any hit an answer to the question?

Scores compare hits of one question. A few signals together show if the best of them is an answer: its score,
its lead, its share of the question, the similarity of the first ones in meaning, and if the person named in
the question said them. The weights are a logistic regression over questions with an answer, with a wrong
person, and about other conversations: ``python -m benchmarks recall --certainty``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from mnemos.recall import features
from mnemos.recall.features import Candidate

GOOD: Final = "good"
WEAK: Final = "weak"
NONE: Final = "none"

HYBRID: Final[Mapping[str, float]] = {
    "score": 0.32, "lead": 0.21, "share": 1.07, "by_others": -4.45, "nearness": 3.94, "bias": -5.6,
}  # fmt: skip
LEXICAL: Final[Mapping[str, float]] = {
    "score": 0.45, "lead": 0.14, "share": 1.34, "by_others": -3.99, "bias": -4.66,
}  # fmt: skip

_FIRST = 10
_LOOKED_AT = 5
_NEAR = 3
# A hit that has less of the question says nothing by its words: where meaning can speak for it, and else.
_LITTLE = 0.25
_VERY_LITTLE = 0.1
# The cosine of the nearest passage by chance: it grows with the logarithm of their number.
_FAR = 0.18
_FAR_PER_LOG = 0.02
# These say where to look, not if it is an answer.
_PREFERENCES = {name: features.HYBRID[name] for name in ("speaker", "of_named", "elsewhere")}
_LINKS = ("in_span", "of_span", "codes", "latest")


def rate(
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    *,
    passages: int,
    names_somebody: bool,
    has_vectors: bool,
    is_english: bool = True,
) -> str:
    """Rate a ranking from a number of passages: ``good``, ``weak``, or ``none`` if nothing answers."""
    chance = _FAR + _FAR_PER_LOG * math.log(max(passages, 1))
    little = _LITTLE if has_vectors else _VERY_LITTLE
    # The vectors know little of other languages, and a question in Chinese has many words.
    is_far = is_english and _is_about_something_else(candidates[:_LOOKED_AT], little, chance)
    if not candidates or is_far:
        return NONE
    signals = measure_signals(candidates, scores, names_somebody=names_somebody)
    weights = HYBRID if has_vectors else LEXICAL
    return GOOD if sum(weight * signals[name] for name, weight in weights.items()) >= 0 else WEAK


def measure_signals(
    candidates: Sequence[Candidate], scores: Sequence[float], *, names_somebody: bool
) -> dict[str, float]:
    """Return the signals of a ranking that has at least one candidate."""
    best = candidates[0]
    by_named = _mean([candidate.features["speaker"] for candidate in candidates[:_LOOKED_AT]])
    return {
        "score": scores[0] - features.sum_up(best, _PREFERENCES),
        "lead": scores[0] - scores[:_FIRST][-1],
        "share": best.features["cover"],
        "nearness": _mean([candidate.line.cosine for candidate in candidates[:_NEAR]]),
        "by_others": 1 - by_named if names_somebody else 0.0,
        "bias": 1.0,
    }


def _is_about_something_else(first: Sequence[Candidate], little: float, chance: float) -> bool:
    """True if neither words nor meaning nor a time or a number link any of the first to the question."""
    if any(candidate.features[name] > 0 for candidate in first for name in _LINKS):
        return False
    return all(c.features["cover"] < little and c.line.cosine < chance for c in first)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
