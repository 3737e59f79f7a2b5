"""What speaks for a line as the answer to a question, each reason as a number.

Reasons without a natural bound are divided by the highest among the candidates of the question, so that a
weight means the same for every question.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from mnemos.recall.candidates import CONTEXT
from mnemos.recall.lines import Line, Scene, Stretch
from mnemos.text import times

_K1 = 1.2
_B = 0.75
# What a neighbour's words count, by its distance.
_DECAY = tuple(0.4 * 0.6**distance for distance in range(CONTEXT))
# A long line speaks for itself.
_SPEAKS_FOR_ITSELF = 40

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty"
    r"|hundred|thousand|couple|few|several|half|once|twice|first|second|third)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?\"\n(] )(?<!^)\b[A-Z][a-zA-Z'’&]+|\"[^\"]{3,60}\"")
_FIRST_PERSON = re.compile(r"\b(?:I|i|my|My|we|We|our|Our|me|mine|us)\b")

# Candidates that are looked at closely.
_LOOKED_AT = 150

UNBOUNDED = frozenset({"words", "session", "meaning", "meaning_around", "meaning_of_session"})


@dataclass(slots=True, eq=False)
class Candidate:
    line: Line
    stretch: Stretch | None
    position: int
    features: dict[str, float]


def judge(scene: Scene) -> list[Candidate]:
    """The candidates with their features: of many, those that words and meaning speak for."""
    found = list(_candidates(scene))
    if not found:
        return []
    _context(scene, found)
    _session(scene, found)
    _normalise(found)
    found = _worth_a_look(found)
    named = _named_speaker(scene)
    for candidate in found:
        _alone(scene, candidate, named)
        _beside(candidate)
    return found


def _candidates(scene: Scene) -> Iterator[Candidate]:
    for stretch in scene.stretches:
        for position in stretch.candidates:
            yield Candidate(stretch.lines[position], stretch, position, {})
    for line in scene.passages:
        yield Candidate(line, None, 0, {})


def _worth_a_look(found: list[Candidate]) -> list[Candidate]:
    """Looking closely costs time: those that neither words nor meaning speak for cannot win by the rest."""
    if len(found) <= _LOOKED_AT:
        return found
    first = ("words", "session", "meaning", "meaning_around")
    found.sort(key=lambda c: -sum([c.features[name] for name in first]))
    return found[:_LOOKED_AT]


# --- words and meaning, in the line and around it -------------------------------------------


def _context(scene: Scene, found: list[Candidate]) -> None:
    """BM25 of the words and nearness in meaning: of the line and, fainter, of what is around it."""
    surroundings = [_around(candidate) for candidate in found]
    average = sum([length for _, length, _ in surroundings]) / len(found)
    for candidate, (counts, length, meaning) in zip(found, surroundings, strict=True):
        features = candidate.features
        features["words"] = _bm25(scene, counts, length, average) if counts else 0.0
        features["meaning"] = candidate.line.cosine
        features["meaning_around"] = meaning


def _around(candidate: Candidate) -> tuple[dict[int, float], float, float]:
    """How often the line has each word, its neighbours' added in part; its length and cosine likewise."""
    line, stretch = candidate.line, candidate.stretch
    counts: dict[int, float] = dict(line.counts)
    length = float(line.length)
    meaning = line.cosine
    if stretch is None:
        return counts, length, meaning
    own = min(1.0, _SPEAKS_FOR_ITSELF / line.length)
    squares = 1.0
    for distance, neighbours in _neighbours(stretch, candidate.position):
        share = own * _DECAY[distance]
        for neighbour in neighbours:
            length += share * neighbour.length
            meaning += share * neighbour.cosine
            squares += share * share
            for word, count in neighbour.counts.items():
                counts[word] = counts.get(word, 0.0) + share * count
    return counts, length, meaning / squares**0.5


def _neighbours(stretch: Stretch, position: int) -> Iterator[tuple[int, list[Line]]]:
    """The lines before and after, near ones first, that lend their words."""
    lending, lines = stretch.lending, stretch.lines
    here = bisect_left(lending, position)
    after = here + 1 if here < len(lending) and lending[here] == position else here
    for distance in range(CONTEXT):
        before = here - 1 - distance
        yield (
            distance,
            [lines[lending[at]] for at in (before, after + distance) if 0 <= at < len(lending)],
        )


def _bm25(scene: Scene, counts: dict[int, float], length: float, average: float) -> float:
    norm = _K1 * (1 - _B + _B * length / average)
    return sum(scene.weights[word] * count * (_K1 + 1) / (count + norm) for word, count in counts.items())


def _session(scene: Scene, found: list[Candidate]) -> None:
    """BM25 of the conversation, as far as its candidates show it, and its line nearest in meaning."""
    nearest: dict[str, float] = defaultdict(float)
    counts: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    lengths: dict[str, float] = {}
    for candidate in found:
        stretch = candidate.stretch
        if stretch is None:
            continue
        lengths[stretch.session_id] = stretch.message_count + 1.0
        nearest[stretch.session_id] = max(nearest[stretch.session_id], candidate.line.cosine)
        if candidate.line.lends:
            for word, count in candidate.line.counts.items():
                counts[stretch.session_id][word] += count
    average = sum(lengths.values()) / max(1, len(lengths))
    scores = {session: _bm25(scene, counts[session], length, average) for session, length in lengths.items()}
    for candidate in found:
        of = candidate.stretch.session_id if candidate.stretch else ""
        candidate.features["session"] = scores.get(of, 0.0)
        candidate.features["meaning_of_session"] = nearest.get(of, candidate.line.cosine)


# --- the line alone -------------------------------------------------------------------------


def _alone(scene: Scene, candidate: Candidate, named: str | None) -> None:
    question = scene.asked.question
    line = candidate.line
    text = line.text[:4000]
    features = candidate.features
    features["cover"] = line.cover
    features["pairs"] = _pairs(scene, line)
    features["speaker"] = 0.5 if named is None else float(named in _name_words(line))
    features["time"] = float(question.wants_time and times.has_time(text))
    features["number"] = float(question.wants_number and _NUMBER.search(text) is not None)
    features["name"] = float(question.wants_name and _NAME.search(text) is not None)
    features["first_person"] = float(_FIRST_PERSON.search(text) is not None)
    features["in_span"] = _in_span(scene, line)
    length = min(1.0, max(0.0, (len(line.text) - 200) / 800))
    features["machine"] = length * (line.from_machine and not question.to_assistant)
    features["asked_machine"] = float(line.from_machine and question.to_assistant)


def _pairs(scene: Scene, line: Line) -> float:
    """The share of the question's pairs of neighbouring words that the line has."""
    if len(line.counts) < 2:
        return 0.0
    weights = scene.weights
    total = sum(weights[first] + weights[second] for first, second in scene.matcher.all_pairs)
    there = sum(weights[a] + weights[b] for a, b in scene.matcher.pairs(line.folded, line.counts))
    return there / total if total else 0.0


def _in_span(scene: Scene, line: Line) -> float:
    """Whether the line is from the time that the question names, or speaks of it."""
    span = scene.asked.question.span
    if span is None:
        return 0.0
    if span.start <= line.at < span.end:
        return 1.0
    text = line.text[:2000]
    if not times.has_time(text):
        return 0.0
    there = any(
        said.start < span.end
        and span.start < said.end
        and said.end - said.start <= 2 * (span.end - span.start)
        for said in times.mentioned(text, line.at)
    )
    return float(there)


# --- the line beside others -----------------------------------------------------------------


def _beside(candidate: Candidate) -> None:
    """The answer to a question that has the words."""
    candidate.features["replies"] = 0.0
    stretch = candidate.stretch
    if stretch is None or candidate.position == 0:
        return
    before = stretch.lines[candidate.position - 1]
    if before.asks and before.speaker != candidate.line.speaker:
        candidate.features["replies"] = before.cover


def _named_speaker(scene: Scene) -> str | None:
    """The word of the question that names a speaker, if it names exactly one."""
    mentioned = scene.asked.question.mentioned
    speakers = {word for stretch in scene.stretches for line in stretch.lines for word in _name_words(line)}
    named = {speaker for speaker in speakers if speaker in mentioned}
    return next(iter(named)) if len(named) == 1 else None


def _name_words(line: Line) -> tuple[str, ...]:
    if line.row is not None and line.speaker == line.row.role:
        return ()
    return tuple(line.speaker.casefold().split())


def _normalise(found: list[Candidate]) -> None:
    for name in UNBOUNDED:
        highest = max(candidate.features[name] for candidate in found)
        if highest > 0:
            for candidate in found:
                candidate.features[name] /= highest
