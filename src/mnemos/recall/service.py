"""``recall``: one question over everything, from its text to an answer that fits a prompt.

The stages, each in a module of its own: understand the question, propose candidates by words and by vectors,
set them into their conversations, judge each by its features, blend those into a score, pack the best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mnemos.errors import Unavailable
from mnemos.recall import blend
from mnemos.recall.candidates import Asked, Gathered, Sense, gather, look_up
from mnemos.recall.embedding import Embedding
from mnemos.recall.features import Candidate, judge
from mnemos.recall.hits import excerpt
from mnemos.recall.lines import Scene, set_scene
from mnemos.recall.model import Recall
from mnemos.recall.pack import pack
from mnemos.recall.question import understand
from mnemos.recall.sense import sense_of
from mnemos.storage.base import Filters, Found, Results, Storage
from mnemos.storage.passages import MESSAGE

MAX_LIMIT = 200
# From here on, what has none of the words is still about the same.
_CLEARLY_NEAR = 0.4
# What a question may spend on passages that have no vectors yet.
_CATCH_UP_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates best first, with the scene they were judged in and what was used."""

    scene: Scene
    candidates: tuple[Candidate, ...]
    scores: tuple[float, ...]
    gathered: Gathered
    mode: str
    coverage: float
    notes: tuple[str, ...]


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
        excerpts = self._storage.read(
            lambda tx: [
                excerpt(tx, ranked.scene, candidate, ranked.gathered, score) for candidate, score in best
            ]
        )
        packed = pack(excerpts, budget)
        return Recall(
            query,
            tuple(shown.hit for shown in excerpts),
            packed.text,
            ranked.mode,
            ranked.coverage,
            packed.left_out,
            ranked.notes,
        )

    def messages(self, query: str, filters: Filters) -> Results:
        """The messages that answer, best first: those that have something of the question themselves."""
        ranked = self.rank(query, filters, kinds=(MESSAGE,))
        words = len(ranked.scene.weights)
        found = [
            (candidate.line, score)
            for candidate, score in zip(ranked.candidates, ranked.scores, strict=True)
            if candidate.line.counts or candidate.line.cosine >= _CLEARLY_NEAR
        ]
        partial = not any(len(line.counts) == words for line, _ in found)
        hits = tuple(Found(line.id, len(line.counts), score) for line, score in found)
        return Results(hits, partial=bool(hits) and partial)

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
        sense, mode, coverage, notes = self._sense(asked, lexical=lexical)
        gathered = self._storage.read(lambda tx: gather(tx, asked, sense, filters, kinds))
        scene = set_scene(asked, gathered)
        found = [candidate for candidate in judge(scene) if _is_wanted(candidate, filters)]
        weights = weights or (blend.LEXICAL if sense is None else blend.HYBRID)
        scored = sorted(((blend.score(c, weights), c.line.at, c.line.id, c) for c in found), key=_best_first)
        return Ranked(
            scene,
            tuple(c for _, _, _, c in scored),
            tuple(score for score, _, _, _ in scored),
            gathered,
            mode,
            coverage,
            notes,
        )

    def _sense(self, asked: Asked, *, lexical: bool) -> tuple[Sense | None, str, float, tuple[str, ...]]:
        """The question's vector, and what may be said of it: mode, coverage, notes."""
        if lexical or not self._embedding.is_wanted:
            return None, "lexical", 0.0, ()
        try:
            embedder, coverage = self._embedding.ready(_CATCH_UP_SECONDS)
            sense = sense_of(asked, embedder, coverage.model)
        except Unavailable as exc:
            return None, "lexical", 0.0, (f"without vectors: {exc}",)
        if sense is None or not coverage.done:
            return None, "lexical", 0.0, ()
        share = coverage.share
        mode = f"lexical+{embedder.kind}"
        return sense, mode if share >= 1 else f"{mode} ({int(share * 100)}% embedded)", share, ()


def _best_first(item: tuple[float, float, int, Candidate]) -> tuple[float, float, int]:
    """By score; of equals, the newest."""
    score, at, number, _ = item
    return -score, -at, -number


def _is_wanted(candidate: Candidate, filters: Filters) -> bool:
    """Neighbours of what was found must keep to the filters too."""
    line = candidate.line
    if filters.since is not None and line.at < filters.since:
        return False
    if filters.until is not None and line.at >= filters.until:
        return False
    return filters.roles is None or line.row is None or line.row.role in filters.roles
