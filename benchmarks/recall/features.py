"""The ranker's input: the candidates of every question with their features, from the engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemos.faces.cli.bench import metrics
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, arrangements
from mnemos.faces.cli.bench.measurement import Home, open_home
from mnemos.faces.cli.bench.metrics import Estimate

# Message id, session id, and the features by name; a feature that is missing is zero.
Candidate = tuple[int, str, Mapping[str, float]]
Explain = Callable[[Home, Question], Iterable[Candidate]]
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Seen:
    """The candidates of one question, a row of features each.

    ``group`` is what must not be torn apart between fitting and testing: a conversation, or a question
    that is asked of several pools.
    """

    data: str
    arrangement: str
    group: str
    question: Question
    turns: tuple[str, ...]
    sessions: tuple[str, ...]
    features: NDArray[np.float64]

    @property
    def evidence(self) -> list[int]:
        """The positions of the evidence among the candidates."""
        wanted = set(self.question.turns)
        return [place for place, turn in enumerate(self.turns) if turn in wanted]

    def scored(self, weights: NDArray[np.float64]) -> dict[str, float]:
        """Every metric when the candidates are ranked by these weights."""
        order = (-(self.features @ weights)).argsort(kind="stable")
        turns = [self.turns[place] for place in order[: max(metrics.CUTS)]]
        sessions = metrics.list_once(self.sessions[place] for place in order)
        return metrics.scores(self.question, turns, sessions)


@dataclass(frozen=True, slots=True)
class Dump:
    names: tuple[str, ...]
    seen: tuple[Seen, ...]

    def vector(self, weights: Weights) -> NDArray[np.float64]:
        """Weights in the order of the features; what a mapping does not name weighs nothing."""
        return np.array([weights.get(name, 0.0) for name in self.names])

    def only(self, names: Iterable[str]) -> Dump:
        """The same questions with fewer features."""
        wanted = set(names)
        kept = [place for place, name in enumerate(self.names) if name in wanted]
        seen = tuple(replace(one, features=one.features[:, kept]) for one in self.seen)
        return Dump(tuple(self.names[place] for place in kept), seen)

    def arrangements(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((one.data, one.arrangement) for one in self.seen))

    def places(self) -> dict[str, list[int]]:
        """By data set and arrangement, which questions belong to it."""
        found: dict[str, list[int]] = {}
        for place, one in enumerate(self.seen):
            found.setdefault(f"{one.data}, {one.arrangement}", []).append(place)
        return found

    def reached(self) -> dict[str, float]:
        """By data set and arrangement, the share of the evidence that is among the candidates at all."""
        return {
            name: float(
                np.mean([_share(self.seen[place]) for place in places if self.seen[place].question.turns])
            )
            for name, places in self.places().items()
        }


def taken(files: Sequence[Data], explain: Explain, pools: Sequence[str] = (), **flags: Any) -> Dump:
    """Load everything, ask everything, and keep the candidates with their features."""
    names: dict[str, int] = {}
    seen: list[Seen] = []
    for data in files:
        for arrangement, corpora in arrangements(data, pools).items():
            print(f"{data.name}, {arrangement}: taking features", file=sys.stderr, flush=True)
            for corpus in corpora:
                with open_home(corpus, **flags) as home:
                    for question in corpus.questions:
                        found = list(explain(home, question))
                        seen.append(_seen(data, arrangement, corpus, question, home, found, names))
    return Dump(tuple(names), tuple(_widened(one, len(names)) for one in seen))


def ranked(dump: Dump, weights: Weights) -> dict[str, dict[str, Estimate]]:
    """The figures of a mapping of weights, by data set and arrangement; ``all`` questions and by category.

    This orders the candidates anew and asks the engine nothing, so it takes a fraction of a second.
    """
    vector = dump.vector(weights)
    rows = [one.scored(vector) for one in dump.seen]
    return figures(dump, rows)


def figures(dump: Dump, rows: Sequence[Mapping[str, float]]) -> dict[str, dict[str, Estimate]]:
    found: dict[str, dict[str, Estimate]] = {}
    for name, places in dump.places().items():
        found[name] = metrics.estimates([rows[place] for place in places])
        for category in dict.fromkeys(dump.seen[place].question.category for place in places):
            part = [rows[place] for place in places if dump.seen[place].question.category == category]
            found[f"{name}, {category}"] = metrics.estimates(part)
    return found


def _seen(
    data: Data,
    arrangement: str,
    corpus: Corpus,
    question: Question,
    home: Home,
    found: list[Candidate],
    names: dict[str, int],
) -> Seen:
    """``names`` grows when a feature turns up that no candidate had before."""
    for _, _, features in found:
        for name in features:
            names.setdefault(name, len(names))
    return Seen(
        data=data.name,
        arrangement=arrangement,
        group=question.id if data.format is Format.LONGMEMEVAL else corpus.id,
        question=question,
        turns=tuple(home.turn_of[message] for message, _, _ in found),
        sessions=tuple(session for _, session, _ in found),
        features=np.array(
            [[features.get(name, 0.0) for name in names] for _, _, features in found], dtype=np.float64
        ).reshape(len(found), len(names)),
    )


def _widened(seen: Seen, width: int) -> Seen:
    """With zeros for the features that turned up later."""
    missing = width - seen.features.shape[1]
    return replace(seen, features=np.pad(seen.features, ((0, 0), (0, missing)))) if missing else seen


def _share(seen: Seen) -> float:
    return len(seen.evidence) / len(seen.question.turns)
