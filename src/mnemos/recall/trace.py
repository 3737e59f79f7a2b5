"""Traces of a question: the candidates of each stage, changes of scores, and times.

Stages report to a trace. For most questions, it is one that keeps nothing.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemos.recall.features import Candidate


class Trace:
    """A trace that keeps nothing. Reporting to it costs next to nothing."""

    def mark(self, stage: str) -> None:
        """Report the end of a stage."""

    def propose(
        self, *, words: Collection[int] = (), vectors: Collection[int] = (), kept: Collection[int]
    ) -> None:
        """Report the proposals, and those among them that are read."""

    def read(self, candidates: Iterable[Candidate]) -> None:
        """Report the candidates, before the unpromising ones are dropped."""

    def judge(self, candidates: Iterable[Candidate]) -> None:
        """Report the promising candidates, which are judged."""

    def score(
        self, candidates: Sequence[Candidate], scores: Sequence[float], weights: Mapping[str, float]
    ) -> None:
        """Report the candidates that may answer, with the sums of their features."""

    def move(self, reason: str, candidates: Sequence[Candidate], scores: Sequence[float]) -> None:
        """Report scores that changed for a reason."""


NO_TRACE: Final = Trace()


class Recorder(Trace):
    """A trace that keeps everything."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self.words: set[int] = set()
        self.vectors: set[int] = set()
        self.kept: set[int] = set()
        self.candidates: dict[int, Candidate] = {}
        self.judged: set[int] = set()
        self.weights: Mapping[str, float] = {}
        self.moves: dict[int, dict[str, float]] = {}
        self._scores: dict[int, float] = {}
        self._began = time.perf_counter()

    def mark(self, stage: str) -> None:
        now = time.perf_counter()
        self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + 1000 * (now - self._began)
        self._began = now

    def propose(
        self, *, words: Collection[int] = (), vectors: Collection[int] = (), kept: Collection[int]
    ) -> None:
        self.words.update(words)
        self.vectors.update(vectors)
        self.kept.update(kept)

    def read(self, candidates: Iterable[Candidate]) -> None:
        self.candidates = {candidate.line.id: candidate for candidate in candidates}

    def judge(self, candidates: Iterable[Candidate]) -> None:
        self.judged = {candidate.line.id for candidate in candidates}

    def score(
        self, candidates: Sequence[Candidate], scores: Sequence[float], weights: Mapping[str, float]
    ) -> None:
        self.weights = weights
        self._scores = {one.line.id: score for one, score in zip(candidates, scores, strict=True)}

    def move(self, reason: str, candidates: Sequence[Candidate], scores: Sequence[float]) -> None:
        for candidate, score in zip(candidates, scores, strict=True):
            number = candidate.line.id
            if score != self._scores[number]:
                moved = self.moves.setdefault(number, {})
                moved[reason] = moved.get(reason, 0.0) + score - self._scores[number]
                self._scores[number] = score
