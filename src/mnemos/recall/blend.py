"""What each feature counts: the one place where weights are.

A score is the weighted sum of a line's features.
"""

from __future__ import annotations

from collections.abc import Mapping

from mnemos.recall.features import Candidate

HYBRID: Mapping[str, float] = {
    "words": 2.2,
    "session": 1.7,
    "meaning": 0.9,
    "meaning_around": 1.5,
    "meaning_of_session": 1.5,
    "pairs": 1.4,
    "replies": 1.6,
    "speaker": 2.5,
    "time": 1.5,
    "number": 1.0,
    "name": 1.1,
    "first_person": 0.5,
    "in_span": 2.0,
    "machine": -3.0,
}

LEXICAL: Mapping[str, float] = {
    name: weight for name, weight in HYBRID.items() if not name.startswith("meaning")
}


def score(candidate: Candidate, weights: Mapping[str, float]) -> float:
    features = candidate.features
    return sum(weight * features[name] for name, weight in weights.items())
