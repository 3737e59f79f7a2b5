"""What each feature counts: the one place where weights are.

A score is the weighted sum of a line's features. The weights come from a listwise fit on five LoCoMo
conversations and fifty LongMemEval questions together, each held out in turn, and are rounded to quarters;
``python -m benchmarks recall --fit`` shows what a new fit would say and what it would bring. ``machine`` and
``asked_machine`` are less than the fit says, because few of those questions tell about them; ``codes`` and
``latest`` were set by hand, for want of any.
"""

from __future__ import annotations

from collections.abc import Mapping

from mnemos.recall.features import Candidate

HYBRID: Mapping[str, float] = {
    "words": 3.0,
    "cover": 0.75,
    "session": 2.0,
    "meaning_around": 2.0,
    "meaning_of_session": 1.5,
    "meaning_of_sentence": 1.0,
    "codes": 6.0,
    "replies": 1.5,
    "speaker": 2.5,
    "time": 2.0,
    "number": 1.5,
    "name": 1.5,
    "first_person": 0.5,
    "in_span": 3.0,
    "of_span": 1.5,
    "asks": -1.0,
    "late": -0.5,
    "machine": -3.5,
    "asked_machine": 3.0,
    "latest": 2.0,
}

LEXICAL: Mapping[str, float] = {
    name: weight for name, weight in HYBRID.items() if not name.startswith("meaning")
} | {"words": 5.0, "cover": 1.5, "session": 2.5}


def score(candidate: Candidate, weights: Mapping[str, float]) -> float:
    features = candidate.features
    return sum([weight * features.get(name, 0.0) for name, weight in weights.items()])
