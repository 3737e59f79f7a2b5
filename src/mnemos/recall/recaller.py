"""The recaller, which answers a question from the whole memory, in a form that fits a prompt.

Each stage has its own module: understand the question, propose candidates by words and by vectors, put them
into their conversations, judge each by its features, sum these up as a score, and pack the best.
"""

from __future__ import annotations

import dataclasses
import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from mnemos.errors import Corrupt, Unavailable
from mnemos.recall import certainty
from mnemos.recall.answer import KINDS, SUPERSEDED, Recall, check_kinds
from mnemos.recall.candidates import Asked, Gathered, Sense, add_unfed, gather, look_up
from mnemos.recall.edits import Edits, Source
from mnemos.recall.embedders import Embedder
from mnemos.recall.embedding import Embedding, Stored, describe_coverage
from mnemos.recall.features import DEEP, HYBRID, LEXICAL, RESTATES, UNREAD, Candidate, judge, sum_up
from mnemos.recall.hits import fits, make_excerpt, matches
from mnemos.recall.lines import Scene, set_scene
from mnemos.recall.pack import Excerpt, pack
from mnemos.recall.question import Question, describe_time, understand
from mnemos.recall.sense import EMPTY_TAIL, Kept, Surroundings, Tail, add_missing, make_sense
from mnemos.recall.trace import NO_TRACE, Recorder, Trace
from mnemos.recall.validity import asks_for_past, lend_scores, mark_earlier_statements
from mnemos.storage.base import Filters, Found, MessageRow, Reads, Results, Storage
from mnemos.storage.entries import KIND as ENTRY
from mnemos.storage.entries import USUAL_USER, kind_of
from mnemos.storage.passages import MESSAGE, Unembedded

# Superseded facts are ranked after everything else.
_SUPERSEDED = 100.0
# The number of candidates that the reranker reads, and the weight of its rating, chosen on development data.
_READ_DEEPLY = 30
_DEEP_WEIGHT = 0.4
# Questions that share at least this part of their words are about the same thing.
_ASKS_THE_SAME = 0.5
_JUST_BELOW = 1e-6


class Known(Struct, frozen=True):
    """The results of a question's first transaction."""

    asked: Asked
    kinds: Sequence[str] | None
    stored: Stored | None = None
    """The vectors in the storage, or None if none are wanted."""
    todo: list[Unembedded] | None = None
    """Passages without vectors, up to a limit."""


@dataclass(frozen=True, slots=True)
class Means:
    """The vector of a question, and the share of the memory that it can be compared with."""

    sense: Sense | None = None
    embedder: Embedder | None = None
    coverage: float = 0.0
    tail: Tail = EMPTY_TAIL
    notes: tuple[str, ...] = ()
    is_deep: bool = False

    @property
    def mode(self) -> str:
        used = ["lexical"]
        if self.embedder is not None:
            used.append(self.embedder.kind)
        if self.is_deep:
            used.append("deep")
        return "+".join(used)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates, best first, with the scene they were judged in and the kind of search."""

    scene: Scene
    candidates: tuple[Candidate, ...]
    scores: tuple[float, ...]
    gathered: Gathered
    means: Means


class Recaller:
    """Recall from one storage. A question takes two read transactions and writes nothing."""

    def __init__(
        self,
        storage: Storage,
        embedding: Embedding,
        clock: Callable[[], float],
        sources: Sequence[Source] = (),
    ) -> None:
        """``sources``: files that people edit, whose changes the storage may not have yet."""
        self._storage = storage
        self._embedding = embedding
        self._clock = clock
        self._edits = Edits(sources)
        self._tail = Tail()
        self._kept = Kept()
        self.is_behind = False
        """True if the last question found passages or vectors that the storage doesn't have yet."""

    def recall(
        self,
        query: str,
        filters: Filters,
        *,
        limit: int,
        budget: int | None,
        kinds: Sequence[str] | None = None,
        user: str = USUAL_USER,
        now: float | None = None,
        lexical: bool = False,
        project: str | None = None,
        as_of: float | None = None,
        deep: bool = False,
        matches_only: bool = False,
        explain: bool = False,
        probe: str | None = None,
    ) -> Recall:
        """Answer a question. ``project`` is preferred. ``deep`` reads the leading candidates closely.

        Facts that are no longer true are left out, unless the question is about the past. ``matches_only``
        leaves out messages that are only next to a match. ``probe`` is a passage whose fate is explained.
        """
        began = time.perf_counter()
        trace = Recorder() if explain or probe else NO_TRACE
        ranked = self.rank(
            query,
            filters,
            kinds=check_kinds(kinds),
            user=user,
            now=now,
            lexical=lexical,
            project=project,
            as_of=as_of,
            deep=deep,
            trace=trace,
        )
        wants_past = as_of is None and asks_for_past(ranked.scene.asked.question)
        holding = [
            (candidate, score)
            for candidate, score in zip(ranked.candidates, ranked.scores, strict=True)
            if wants_past or not has_ended(candidate, ranked.gathered)
        ]
        plain = _without_depth(holding)
        close = certainty.find_close(plain)
        sure = certainty.rate(
            [candidate for candidate, _ in plain],
            [score for _, score in plain],
            ranked.scene.asked,
            has_vectors=ranked.means.sense is not None,
        )
        trace.mark("check")
        shown = [one for one in holding if one[0].line.id in close]
        if matches_only:
            shown = [one for one in shown if one[0].line.passage is not None or matches(one[0].line)]
        best = [] if sure == certainty.NONE else shown[:limit]
        excerpts = [
            make_excerpt(self._read_whole, ranked.scene, candidate, ranked.gathered, score, filters)
            for candidate, score in best
        ]
        excerpts = _put_later_first(ranked.scene.asked.question, excerpts)
        trace.mark("show")
        packed = pack(excerpts, budget, project=project, doubtful=sure == certainty.WEAK)
        trace.mark("pack")
        answer = Recall(
            query,
            tuple(shown.hit for shown in excerpts),
            packed.text,
            ranked.means.mode,
            ranked.means.coverage,
            packed.left_out,
            (*ranked.means.notes, *describe_time(ranked.scene.asked.question)),
            sure,
            milliseconds=1000 * (time.perf_counter() - began),
            state=ranked.scene.asked.unfed.version,
        )
        if not isinstance(trace, Recorder):
            return answer
        from mnemos.recall.account import Outcome, explain_outcome  # only needed on request

        outcome = Outcome(answer, ranked, holding, close, packed, filters, kinds, user, self._storage)
        return dataclasses.replace(answer, explanation=explain_outcome(outcome, trace, probe))

    def messages(self, query: str, filters: Filters, *, project: str | None = None) -> Results:
        """Find messages that match the question themselves, best first."""
        ranked = self.rank(query, filters, kinds=(MESSAGE,), project=project)
        words = len(ranked.scene.weights)
        found = [
            (candidate.line, score)
            for candidate, score in zip(ranked.candidates, ranked.scores, strict=True)
            if matches(candidate.line)
        ]
        partial = not any(len(line.counts) == words for line, _ in found)
        hits = tuple(Found(line.id, len(line.counts), score) for line, score in found)
        return Results(hits, partial=bool(hits) and partial)

    def refs(self, query: str, kind: str, filters: Filters, limit: int) -> list[str]:
        """Find references of passages of a kind that answer, best first, superseded ones last."""
        ranked = self.rank(query, filters, kinds=(kind,))
        lines = [candidate.line for candidate in ranked.candidates if certainty.is_linked(candidate)]
        return [line.passage.ref for line in lines[:limit] if line.passage is not None]

    def rank(
        self,
        query: str,
        filters: Filters,
        *,
        kinds: Sequence[str] | None = None,
        user: str = USUAL_USER,
        now: float | None = None,
        lexical: bool = False,
        as_of: float | None = None,
        weights: Mapping[str, float] | None = None,
        project: str | None = None,
        deep: bool = False,
        trace: Trace = NO_TRACE,
    ) -> Ranked:
        """Judge everything that may answer. Only one user's entries are read.

        ``project`` is preferred. ``as_of`` is the time at which facts must be valid, by default now.
        ``weights`` replaces our weights, for experiments.
        """
        question = understand(query, self._clock() if now is None else now)
        embedder, notes = (None, ()) if lexical else self._load()
        trace.mark("understand")
        known = self._storage.read(
            lambda tx: self._look_up(tx, question, kinds, user, filters, embedder, project)
        )
        means = self._means(known, notes)
        trace.mark("weigh")
        means, gathered = self._gather(known, means, filters, project, as_of, trace)
        trace.mark("propose")
        units, sense = gathered.units, means.sense
        vectors = Surroundings(units, sense) if sense and units and len(units.ids) else None
        scene = set_scene(known.asked, gathered, vectors, project)
        found = [candidate for candidate in judge(scene, trace) if fits(candidate.line, filters)]
        weights = weights or (LEXICAL if means.sense is None else HYBRID)
        scores = [sum_up(candidate, weights) for candidate in found]
        trace.score(found, scores, weights)
        trace.mark("judge")
        if deep:
            means = _read_deeply(query, found, scores, means)
            trace.move("deep", found, scores)
            trace.mark("deep")
        _put_below_replies(found, scores)
        trace.move("below_reply", found, scores)
        scores = _lend_scores(question, found, scores, gathered)
        trace.move("lent", found, scores)
        scores = _put_ended_last(question, found, scores, gathered)
        trace.move("ended", found, scores)
        scored = sorted(zip(scores, found, strict=True), key=_best_first)
        self.is_behind = bool(self._edits.unfed or known.todo)
        trace.mark("order")
        return Ranked(
            scene,
            tuple([candidate for _, candidate in scored]),
            tuple([score for score, _ in scored]),
            gathered,
            means,
        )

    def _load(self) -> tuple[Embedder | None, tuple[str, ...]]:
        """Load the model before any transaction. If that fails, return None and the reason."""
        if not self._embedding.is_wanted:
            return None, ()
        try:
            return self._embedding.embedder, ()
        except Unavailable as exc:
            return None, (f"by words alone: {exc}",)

    def _look_up(
        self,
        tx: Reads,
        question: Question,
        kinds: Sequence[str] | None,
        user: str,
        filters: Filters,
        embedder: Embedder | None,
        project: str | None,
    ) -> Known:
        """Read word counts, unfed passages and the state of vectors, in a first transaction."""
        if kinds is not None or tx.entries.has_others(user):
            kinds = [kind_of(user) if kind == ENTRY else kind for kind in kinds or KINDS]
        unfed = self._edits.find(tx, kinds, user, self._clock())
        until = self._clock() if filters.until is None and filters.since is not None else filters.until
        asked = look_up(tx, question, unfed, replace(filters, until=until), kinds, project)
        if embedder is None:
            return Known(asked, kinds)
        stored = Stored(tx.vectors.coverage(), asked.total - len(asked.unfed.added))
        has_all = any(c.model == self._embedding.model and c.share >= 1 for c in stored.coverages)
        if has_all or embedder.kind != "static":
            return Known(asked, kinds, stored)
        return Known(asked, kinds, stored, self._tail.find_next(tx, self._embedding.model))

    def _means(self, known: Known, notes: tuple[str, ...]) -> Means:
        """Make the question's vector, and the vectors that the storage doesn't have yet."""
        if known.stored is None:
            return Means(notes=notes)
        try:
            embedder, coverage = self._embedding.serve(known.stored)
            sense = make_sense(known.asked, embedder, coverage.model)
            tail = Tail()
            if coverage.model == self._embedding.model:
                tail = self._tail = self._tail.extend(known.todo, embedder)
        except Unavailable as exc:
            return Means(notes=(f"by words alone: {exc}",))
        done = coverage.done + (tail.count_beyond(known.todo[0].done) if known.todo else 0)
        if sense is None:
            unknown = "by words alone: the model knows none of the words asked for"
            return Means(notes=(unknown,) if known.asked.question.words else ())
        share = done / coverage.total if coverage.total else 1.0
        failure = self._embedding.failure
        notes = (f"{describe_coverage(share)}: {failure}",) if failure and share < 1 else ()
        if not (done or known.asked.unfed.added):
            return Means(notes=notes or ((describe_coverage(0),) if coverage.total else ()))
        return Means(sense, embedder, share, tail, notes)

    def _gather(
        self,
        known: Known,
        means: Means,
        filters: Filters,
        project: str | None,
        as_of: float | None,
        trace: Trace,
    ) -> tuple[Means, Gathered]:
        """Read the candidates in a second transaction, only by words if vectors are damaged."""
        asked, kinds, sense = known.asked, known.kinds, means.sense
        if sense is None or means.embedder is None:
            found = self._storage.read(
                lambda tx: gather(tx, asked, None, filters, kinds, (), project, as_of, trace)
            )
            return means, add_unfed(found, asked, {}, filters, kinds, trace)
        fresh = means.tail.rank(sense)
        near = self._kept.compare(asked.unfed.added, sense, means.embedder)
        try:
            found = self._storage.read(
                lambda tx: gather(tx, asked, sense, filters, kinds, fresh, project, as_of, trace)
            )
        except Corrupt as exc:
            by_words = Means(notes=(f"by words alone: {exc}",))
            return self._gather(known, by_words, filters, project, as_of, trace)
        found = add_unfed(found, asked, near, filters, kinds, trace)
        if known.todo or means.coverage < 1:
            found = add_missing(found, sense, means.embedder, means.tail)
        return means, found

    def _read_whole(self, message_id: int) -> MessageRow | None:
        """Read a message of more than a million characters. Only its beginning was judged."""
        return self._storage.read(lambda tx: tx.sessions.message(message_id))


def _read_deeply(query: str, found: Sequence[Candidate], scores: list[float], means: Means) -> Means:
    """Have the reranker read the leading candidates, and add its ratings to their scores.

    If it is not available, the scores don't change and the notes say why.
    """
    from mnemos.recall import reranker  # only needed on request

    places = range(len(found))
    leading = heapq.nsmallest(_READ_DEEPLY, places, key=lambda at: _best_first((scores[at], found[at])))
    try:
        ratings = reranker.rate(query, [found[place] for place in leading])
    except Unavailable as exc:
        return dataclasses.replace(means, notes=(*means.notes, f"deep recall is not available: {exc}"))
    leading = leading[: len(ratings)]
    best = max(ratings, default=0.0)
    for place, rating in zip(leading, ratings, strict=True):
        found[place].features[DEEP] = rating - best
        scores[place] += _DEEP_WEIGHT * (rating - best)
    others = set(places) - set(leading)
    if others:
        # The reranker didn't read these, so they follow in their order.
        least = min(scores[place] for place in leading)
        shift = min(least - max(scores[place] for place in others) - _JUST_BELOW, 0.0)
        for place in others:
            found[place].features[UNREAD] = shift
            scores[place] += shift
    return dataclasses.replace(means, is_deep=True)


def _without_depth(ranked: Sequence[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
    """Return the ranking without the reranker's ratings, which only compare lines."""
    plain = [
        (c, score - _DEEP_WEIGHT * c.features.get(DEEP, 0.0) - c.features.get(UNREAD, 0.0))
        for c, score in ranked
    ]
    return sorted(plain, key=lambda item: -item[1])


def _put_below_replies(found: Sequence[Candidate], scores: list[float]) -> None:
    """Rank a paraphrase of the question just below the reply to it."""
    places = {candidate.line.id: place for place, candidate in enumerate(found)}
    for place, candidate in enumerate(found):
        if candidate.stretch is None or candidate.features[RESTATES] < _ASKS_THE_SAME:
            continue
        for line in candidate.stretch.lines[candidate.position + 1 :][:1]:
            reply = places.get(line.id)
            if reply is not None and found[reply].features["replies"] > 0:
                scores[place] = min(scores[place], scores[reply] - _JUST_BELOW)


def _lend_scores(
    question: Question, found: Sequence[Candidate], scores: list[float], gathered: Gathered
) -> list[float]:
    """Return the scores with current facts ahead of those they replaced."""
    if not gathered.standings.of:
        return scores
    by_id = {candidate.line.id: score for candidate, score in zip(found, scores, strict=True)}
    texts = {candidate.line.id: candidate.line.text for candidate in found}
    lend_scores(question, texts, by_id, gathered.standings)
    return [by_id[candidate.line.id] for candidate in found]


def _put_ended_last(
    question: Question, found: Sequence[Candidate], scores: list[float], gathered: Gathered
) -> list[float]:
    if asks_for_past(question):
        return scores
    return [
        score - (_SUPERSEDED if has_ended(candidate, gathered) else 0.0)
        for candidate, score in zip(found, scores, strict=True)
    ]


def _put_later_first(question: Question, excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    marked = mark_earlier_statements(question, [excerpt.hit for excerpt in excerpts])
    by_ref = {(excerpt.hit.kind, excerpt.hit.ref): excerpt for excerpt in excerpts}
    return [replace(by_ref[hit.kind, hit.ref], hit=hit) for hit in marked]


def has_ended(candidate: Candidate, gathered: Gathered) -> bool:
    passage = candidate.line.passage
    if passage is None:
        return False
    standing = gathered.standings.of.get(passage.id)
    return not passage.live if standing is None else standing.state == SUPERSEDED


def _best_first(item: tuple[float, Candidate]) -> tuple[float, float, int]:
    """Return the key to sort by score, then newest first."""
    score, candidate = item
    return -score, -candidate.line.at, -candidate.line.id
