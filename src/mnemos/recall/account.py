"""Accounts of answers: the question's meaning, the stages, and the scores' parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemos.recall.answer import Explanation, HitExplanation, Recall, StageCounts, Understood
from mnemos.recall.features import Candidate
from mnemos.recall.lines import Scene
from mnemos.recall.pack import Packed
from mnemos.recall.probe import find_fate
from mnemos.recall.reasons import list_parts
from mnemos.recall.trace import Recorder
from mnemos.recall.validity import asks_for_past
from mnemos.storage.base import Filters, Storage
from mnemos.text.tokens import count_tokens

if TYPE_CHECKING:
    from mnemos.recall.recaller import Ranked


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, and the candidates it was chosen from."""

    answer: Recall
    ranked: Ranked
    holding: Sequence[tuple[Candidate, float]]
    """The valid candidates with their scores, best first."""
    close: frozenset[int]
    """The ids of candidates that don't score far below the best."""
    packed: Packed
    filters: Filters
    kinds: Sequence[str] | None
    user: str
    storage: Storage


def explain_outcome(outcome: Outcome, trace: Recorder, probe: str | None) -> Explanation:
    """Explain an answer and, if ``probe`` is a passage's reference, the fate of that passage."""
    scene, fates = outcome.ranked.scene, outcome.packed.fates()
    by_key = {key_of(candidate): candidate for candidate, _ in outcome.holding}
    hits = []
    for hit in outcome.answer.hits:
        key = hit.kind, hit.ref
        packed, shown_by = fates.get(key, ("left out", key))
        same_as = None if shown_by == key else f"{shown_by[0]}:{shown_by[1]}"
        hits.append(HitExplanation(list_parts(by_key[key], scene, trace), packed, same_as))
    return Explanation(
        _describe_question(scene),
        _count(outcome, trace, [hit.packed for hit in hits]),
        count_tokens(outcome.answer.text),
        {stage: round(spent, 3) for stage, spent in trace.milliseconds.items()},
        tuple(hits),
        None if probe is None else find_fate(probe, outcome, trace, hits),
    )


def key_of(candidate: Candidate) -> tuple[str, int | str]:
    """Return the kind and the reference of a candidate's hit."""
    passage = candidate.line.passage
    if passage is None:
        return "message", candidate.line.id
    # The kind of an entry has its user after a colon.
    return passage.kind.partition(":")[0], passage.ref


def _describe_question(scene: Scene) -> Understood:
    asked = scene.asked
    question = asked.question
    order = sorted(range(len(question.words)), key=lambda number: -scene.shares[number])
    return Understood(
        tuple(question.words[number].form for number in order),
        tuple(round(scene.shares[number], 4) for number in order),
        tuple(asked.counts[number] for number in order),
        asked.speakers,
        question.codes,
        tuple(_list_wishes(scene)),
        None if question.span is None else question.span.start,
        None if question.span is None else question.span.end,
    )


def _list_wishes(scene: Scene) -> Iterator[str]:
    question = scene.asked.question
    wishes = {
        "a time": question.wants_time,
        "a number": question.wants_number,
        "a name": question.wants_name,
        "the present": question.wants_latest,
        "the past": asks_for_past(question),
        "words of the assistant": question.to_assistant,
    }
    return (wish for wish, is_wanted in wishes.items() if is_wanted)


def _count(outcome: Outcome, trace: Recorder, packed: Sequence[str]) -> StageCounts:
    return StageCounts(
        by_words=len(trace.words),
        by_vectors=len(trace.vectors),
        by_time=len(trace.kept - trace.words - trace.vectors),
        too_many=len((trace.words | trace.vectors) - trace.kept),
        read=len(trace.candidates),
        judged=len(trace.judged),
        ranked=len(outcome.close),
        shown=len(packed),
        packed=packed.count("whole") + packed.count("cut"),
        cut=packed.count("cut"),
        doubled=packed.count("doubled"),
    )
