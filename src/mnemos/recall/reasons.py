"""Reasons for a score: a name, a group and a sentence for each part of the sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from mnemos.recall.answer import ScorePart
from mnemos.recall.features import DEEP, Candidate
from mnemos.recall.lines import Scene
from mnemos.recall.trace import Recorder
from mnemos.text.words import fold

_SHOWN_WORDS: Final = 6
# If the question names nobody, every line gets this.
_NOBODY_NAMED: Final = 0.5


class Reason(NamedTuple):
    group: str
    label: str
    sentence: str


REASONS: Final[Mapping[str, Reason]] = {
    "words": Reason("words", "words", "The lines around it have words of the question."),
    "cover": Reason("words", "share of the question", "It has part of the question by itself."),
    "codes": Reason("words", "numbers and codes", "It has numbers or identifiers of the question."),
    "meaning_around": Reason(
        "meaning", "meaning", "It is close to the question in meaning, together with the lines around it."
    ),
    "session": Reason("conversation", "conversation", "Its conversation has much of the question."),
    "replies": Reason(
        "conversation", "reply", "It follows somebody else's question that has words of this one."
    ),
    "follows": Reason("conversation", "before", "It is short, and the lines before it are near in meaning."),
    "elsewhere": Reason("conversation", "other project", "Its conversation is about another project."),
    "speaker": Reason("who", "speaker", "The person that is asked about said it, or is named in it."),
    "of_named": Reason(
        "who", "takes part", "Somebody that the question names takes part in its conversation."
    ),
    "machine": Reason(
        "who", "assistant or tool", "An assistant or a tool wrote it, and it is long or says little."
    ),
    "asked_machine": Reason("who", "assistant", "The question asks for words of the assistant."),
    "time": Reason("answer", "a time", "The question asks for a time, and it has one."),
    "number": Reason("answer", "a number", "The question asks for a number, and it has one."),
    "name": Reason("answer", "a name", "The question asks for a name, and it has one."),
    "brief": Reason("answer", "brief", "It is short, so it says little by itself."),
    "asks": Reason("answer", "asks", "It asks more than it states."),
    "repeats": Reason("answer", "same question", "It is the same question, asked before."),
    "in_span": Reason("time", "from that time", "It is from the time asked about, or from shortly after."),
    "of_span": Reason("time", "about that time", "It mentions the time asked about."),
    "latest": Reason("time", "latest", "It is among the newest on the subject."),
    DEEP: Reason("order", "close reading", "The reranker rates it below the best one."),
    "below_reply": Reason("order", "below its reply", "It asks much the same, so the reply comes first."),
    "lent": Reason(
        "order", "replacement", "It replaces, or may replace, a statement that matches the question."
    ),
    "ended": Reason("order", "replaced", "It is no longer true."),
}


def list_parts(candidate: Candidate, scene: Scene, trace: Recorder) -> tuple[ScorePart, ...]:
    """List everything that raises or lowers a candidate's score, the largest first."""
    features = candidate.features
    values = {
        name: (features.get(name, 0.0), weight)
        for name, weight in trace.weights.items()
        if features.get(name, 0.0) * weight
    }
    values |= {name: (moved, 1.0) for name, moved in trace.moves.get(candidate.line.id, {}).items()}
    parts = [_describe(name, *pair, candidate, scene) for name, pair in values.items()]
    return tuple(sorted(parts, key=lambda part: -part.points))


def _describe(name: str, value: float, weight: float, candidate: Candidate, scene: Scene) -> ScorePart:
    reason = REASONS[name]
    sentence = reason.sentence
    if name == "words" and candidate.line.strengths:
        forms = scene.matcher.forms(fold(candidate.line.text))[:_SHOWN_WORDS]
        says = ", ".join(f"'{form}'" for form in forms)
        sentence = f"It contains {says}." if says else "It uses similar words."
    elif name == "speaker" and value == _NOBODY_NAMED:
        sentence = "The question names nobody who speaks here: the same for every line."
    elif name == DEEP and DEEP not in candidate.features:
        sentence = "The reranker did not read it, so it comes after those that it read."
    points = round(value * weight, 6)
    return ScorePart(name, reason.group, reason.label, round(value, 6), weight, points, sentence)
