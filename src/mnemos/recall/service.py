"""``recall``: one question over everything, from its text to an answer that fits a prompt.

The stages, each in a module of its own: understand the question, propose candidates by words and by vectors,
set them into their conversations, judge each by its features, blend those into a score, pack the best.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mnemos.errors import Corrupt, Unavailable
from mnemos.recall import blend
from mnemos.recall.candidates import Asked, Gathered, Sense, gather, look_up
from mnemos.recall.embedders.base import Embedder
from mnemos.recall.embedding import Embedding
from mnemos.recall.features import SENTENCE, Candidate, judge
from mnemos.recall.hits import excerpt, fits
from mnemos.recall.lines import Scene, set_scene
from mnemos.recall.model import Excerpt, Recall
from mnemos.recall.pack import pack
from mnemos.recall.question import Question, understand
from mnemos.recall.sense import sense_of, with_missing
from mnemos.storage.base import Filters, Found, Reads, Results, Storage
from mnemos.storage.passages import MESSAGE

if TYPE_CHECKING:
    from mnemos.recall.nearness import Surroundings

# What chance gives unrelated texts is below this.
_NEAR_AT_ALL = 0.2
# What is no longer so comes after everything that is.
_SUPERSEDED = 100.0
# Candidates that are read sentence by sentence, and how far.
_READ_CLOSELY = 12
_CHARACTERS_READ = 2_000
# From here on, what has none of the words is still about the same.
_CLEARLY_NEAR = 0.35
# What a question may spend on passages that have no vectors yet.
_CATCH_UP_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Means:
    """What a question is answered with besides its words: its vector, and how much that covers."""

    sense: Sense | None = None
    embedder: Embedder | None = None
    coverage: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def mode(self) -> str:
        if self.embedder is None:
            return "lexical"
        mode = f"lexical+{self.embedder.kind}"
        return mode if self.coverage >= 1 else f"{mode} ({int(self.coverage * 100)}% embedded)"


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates best first, with the scene they were judged in and what was used."""

    scene: Scene
    candidates: tuple[Candidate, ...]
    scores: tuple[float, ...]
    gathered: Gathered
    means: Means


class Recaller:
    """Recall over one storage."""

    def __init__(self, storage: Storage, embedding: Embedding, clock: Callable[[], float]) -> None:
        self._storage = storage
        self._embedding = embedding
        self._clock = clock

    def recall(
        self,
        query: str,
        filters: Filters,
        *,
        limit: int,
        budget: int | None,
        kinds: Sequence[str] | None = None,
        now: float | None = None,
        lexical: bool = False,
    ) -> Recall:
        ranked = self.rank(query, filters, kinds=kinds, now=now, lexical=lexical)
        best = list(zip(ranked.candidates, ranked.scores, strict=True))[:limit]
        scene, gathered = ranked.scene, ranked.gathered

        def shown(tx: Reads) -> list[Excerpt]:
            # What was forgotten since it was judged is not shown.
            there = tx.passages.present([found.line.id for found, _ in best])
            return [
                excerpt(tx, scene, found, gathered, score, filters)
                for found, score in best
                if found.line.id in there
            ]

        excerpts = self._storage.read(shown)
        packed = pack(excerpts, budget)
        return Recall(
            query,
            tuple(shown.hit for shown in excerpts),
            packed.text,
            ranked.means.mode,
            ranked.means.coverage,
            packed.left_out,
            (*ranked.means.notes, *_understood(ranked.scene.asked.question)),
        )

    def messages(self, query: str, filters: Filters) -> Results:
        """The messages that answer, best first: those that have something of the question themselves."""
        ranked = self.rank(query, filters, kinds=(MESSAGE,))
        words = len(ranked.scene.weights)
        found = [
            (candidate.line, score)
            for candidate, score in zip(ranked.candidates, ranked.scores, strict=True)
            if candidate.line.strengths or candidate.line.cosine >= _CLEARLY_NEAR
        ]
        partial = not any(len(line.counts) == words for line, _ in found)
        hits = tuple(Found(line.id, len(line.counts), score) for line, score in found)
        return Results(hits, partial=bool(hits) and partial)

    def refs(self, query: str, kind: str, filters: Filters, limit: int) -> list[str]:
        """The passages of a kind that answer, best first, those that still hold before others."""
        ranked = self.rank(query, filters, kinds=(kind,))
        lines = (candidate.line for candidate in ranked.candidates[:limit])
        return [line.passage.ref for line in lines if line.passage is not None]

    def rank(
        self,
        query: str,
        filters: Filters,
        *,
        kinds: Sequence[str] | None = None,
        now: float | None = None,
        lexical: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> Ranked:
        """Judge everything that may answer. ``weights``: others than ours, to see what they would do."""
        moment = self._clock() if now is None else now
        question = understand(query, moment)
        asked = self._storage.read(lambda tx: look_up(tx, question))
        means = Means() if lexical else self._means(asked)
        means, gathered = self._gathered(asked, means, filters, kinds)
        if means.sense is not None and means.embedder is not None and means.coverage < 1:
            gathered = with_missing(gathered, means.sense, means.embedder)
        scene = set_scene(asked, gathered, _surroundings(gathered, means.sense))
        found = [c for c in judge(scene) if fits(c.line, filters) and _is_about(c)]
        weights = weights or (blend.LEXICAL if means.sense is None else blend.HYBRID)
        if means.sense is not None and means.embedder is not None:
            _read_closely(found, weights, means.sense, means.embedder)
        scored = sorted(((_scored(c, weights), c) for c in found), key=_best_first)
        return Ranked(
            scene,
            tuple([candidate for _, candidate in scored]),
            tuple([score for score, _ in scored]),
            gathered,
            means,
        )

    def _gathered(
        self, asked: Asked, means: Means, filters: Filters, kinds: Sequence[str] | None
    ) -> tuple[Means, Gathered]:
        """What may answer; by words alone where the vectors are damaged."""
        try:
            return means, self._storage.read(lambda tx: gather(tx, asked, means.sense, filters, kinds))
        except Corrupt as exc:
            if means.sense is None:
                raise
            means = Means(notes=(f"by words alone: {exc}",))
            return means, self._storage.read(lambda tx: gather(tx, asked, None, filters, kinds))

    def _means(self, asked: Asked) -> Means:
        """The question's vector, where there is one."""
        if not self._embedding.is_wanted:
            return Means()
        try:
            embedder, coverage = self._embedding.ready(_CATCH_UP_SECONDS)
            sense = sense_of(asked, embedder, coverage.model)
        except Unavailable as exc:
            return Means(notes=(f"by words alone: {exc}",))
        if sense is None or not coverage.done:
            return Means()
        return Means(sense, embedder, coverage.share)


def _understood(question: Question) -> Iterator[str]:
    """The time that a question names, as it was read."""
    span = question.span
    if span is None:
        return
    since, until = (_day(moment) for moment in (span.start, span.end - 1))
    if since and until:
        yield f"Asked about {since}" if since == until else f"Asked about {since} to {until}"
    elif since or until:
        yield f"Asked about the time since {since}" if since else f"Asked about the time until {until}"


def _day(moment: float) -> str:
    """A date for people; empty for one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(moment).astimezone():%-d %B %Y}"
    except (OverflowError, ValueError, OSError):
        return ""


def _surroundings(gathered: Gathered, sense: Sense | None) -> Surroundings | None:
    if sense is None or gathered.units is None or not len(gathered.units.ids):
        return None
    # numpy: only where there are vectors.
    from mnemos.recall.nearness import Surroundings

    return Surroundings(gathered.units, sense)


def _read_closely(
    found: Sequence[Candidate], weights: Mapping[str, float], sense: Sense, embedder: Embedder
) -> None:
    """Sentence by sentence, the few that lead so far: an answer may stand in a line about something else."""
    for candidate in found:
        candidate.features[SENTENCE] = 0.0
    if embedder.kind != "static" or not found:
        return
    from mnemos.recall.nearness import best_sentences

    leading = heapq.nlargest(_READ_CLOSELY, found, key=lambda c: blend.score(c, weights))
    texts = [candidate.line.text[:_CHARACTERS_READ] for candidate in leading]
    cosines = best_sentences(embedder, texts, sense.vector)
    highest = max(*cosines, 1e-9)
    for candidate, cosine in zip(leading, cosines, strict=True):
        candidate.features[SENTENCE] = max(cosine, 0.0) / highest


def _is_about(candidate: Candidate) -> bool:
    """Whether anything but chance speaks for it: words here or around, nearness, or the time asked about."""
    features = candidate.features
    return (
        features["words"] > 0
        or candidate.line.cosine >= _NEAR_AT_ALL
        or features["in_span"] > 0
        or features["of_span"] > 0
    )


def _scored(candidate: Candidate, weights: Mapping[str, float]) -> float:
    passage = candidate.line.passage
    superseded = passage is not None and not passage.live
    return blend.score(candidate, weights) - (_SUPERSEDED if superseded else 0.0)


def _best_first(item: tuple[float, Candidate]) -> tuple[float, float, int]:
    """By score; of equals, the newest."""
    score, candidate = item
    return -score, -candidate.line.at, -candidate.line.id
