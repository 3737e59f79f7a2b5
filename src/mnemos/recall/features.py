"""Features of a line as the answer to a question, and their weights.

Features without a natural bound are divided by the highest value among the question's candidates, so that a
weight means the same for every question. A score is the weighted sum of a line's features.

The weights come from a listwise fit on five LoCoMo conversations, fifty LongMemEval questions and the
conversations in ``reranker/conversations`` that are not held out, rounded to quarters. ``python -m benchmarks
recall --fit`` shows a new fit and its effect. ``asked_machine``, ``codes``, ``elsewhere``, ``latest`` and
``repeats`` were set by hand, because hardly any question is about them, and so were ``follows`` and
``brief``, because their fitted weights cost three points of LoCoMo's multi-hop questions.
"""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mnemos.language import times
from mnemos.recall.candidates import CONTEXT, mention_end
from mnemos.recall.lines import Line, Scene, Stretch
from mnemos.recall.question import Question, is_question
from mnemos.recall.trace import NO_TRACE, Trace
from mnemos.text.words import STOP_WORDS, fold, runs, split_runs, stem

_K1 = 1.2
_B = 0.75
# The weight of a neighbour's words, by distance.
_DECAY = tuple(0.4 * 0.6**distance for distance in range(CONTEXT))
# A line with more words is understood without its neighbours.
_SPEAKS_FOR_ITSELF = 40
_WORDS_OF_A_STATEMENT = 8
# An agent's tool calls and results count less than its words.
_OF_A_TOOL = 0.5
# A line of 72 characters means little without the lines before it, and one of 320 says enough by itself.
_SHORT = 72
_LINES_FOLLOWED = 2
_LONG = math.log1p(320)
# A repeated question may begin with a greeting, and a quarter of its words may differ.
_LONGEST_REPEAT = 400
_WORDS_OF_COURTESY = 2
_REPEATS = 0.75
_ON_THE_SUBJECT = 0.8
_MONTHS = frozenset({"april", "august", "june", "march", "may"})
_WEEK = 7 * 86400.0
_MONTH = 31 * 86400.0
_MENTIONED_LATER = 0.7
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty"
    r"|hundred|thousand|couple|few|several|half|once|twice|first|second|third)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?\"\n(] )(?<!^)\b[A-Z][a-zA-Z'’&]+|\"[^\"]{3,60}\"")

# From this cosine on, an assistant's line without any of the words is still about them.
_NEAR = 0.3
# The number of candidates that are judged closely.
_LOOKED_AT = 70

# The reranker's rating of a leading candidate, minus that of the best one.
DEEP = "deep"
# The points that a candidate lost because the reranker didn't read it.
UNREAD = "unread"

# Has no weight of its own.
RESTATES = "restates"
_LEAST_REPEATED = 0.2
# The number of words of a question that says only what it asks for.
_SHORT_QUESTION = 4

UNBOUNDED = ("words", "meaning", "meaning_around")


@dataclass(slots=True, eq=False)
class Candidate:
    line: Line
    stretch: Stretch | None
    position: int
    features: dict[str, float]


def judge(scene: Scene, trace: Trace = NO_TRACE) -> list[Candidate]:
    """Judge the candidates. If there are many, only the most promising are kept."""
    found = list(_candidates(scene))
    if not found:
        return []
    _context(scene, found)
    _session(scene, found)
    _normalise(found)
    _elsewhere(scene, found)
    trace.read(found)
    found = _worth_a_look(scene, found)
    trace.judge(found)
    named = _find_named(scene)
    for candidate in found:
        _alone(scene, candidate, named)
        _beside(scene, candidate)
    _latest(scene, found)
    return found


def _candidates(scene: Scene) -> Iterator[Candidate]:
    for stretch in scene.stretches:
        for position in stretch.candidates:
            yield Candidate(stretch.lines[position], stretch, position, {})
    for line in scene.passages:
        yield Candidate(line, None, 0, {})


def _worth_a_look(scene: Scene, found: list[Candidate]) -> list[Candidate]:
    """Keep the candidates that can win, which takes matching words or a similar meaning."""
    if len(found) <= _LOOKED_AT:
        return found
    first = ("words", "session", "meaning", "meaning_around")
    span = scene.asked.question.span

    def promise(candidate: Candidate) -> float:
        in_time = span is not None and span.start <= candidate.line.at < mention_end(span)
        features = candidate.features
        return (
            sum([features[name] for name in first]) + in_time + features["of_named"] - features["elsewhere"]
        )

    return heapq.nlargest(_LOOKED_AT, found, key=promise)


# --- words and meaning, in the line and around it -------------------------------------------


def _context(scene: Scene, found: list[Candidate]) -> None:
    """Rate words (BM25) and similarity of a line and, with less weight, of its neighbours."""
    neighbours = [_neighbours(candidate) for candidate in found]
    surroundings = [_around(c.line, near) for c, near in zip(found, neighbours, strict=True)]
    average = sum([length for _, length in surroundings]) / len(found)
    for candidate, (counts, length) in zip(found, surroundings, strict=True):
        features = candidate.features
        features["words"] = _bm25(scene, counts, length, average) if counts else 0.0
        features["meaning"] = features["meaning_around"] = candidate.line.cosine
    if scene.surroundings is not None:
        asked = [
            (c.line.id, [(share, line.id) for share, line in near])
            for c, near in zip(found, neighbours, strict=True)
        ]
        for candidate, cosine in zip(found, scene.surroundings.cosines(asked), strict=True):
            if candidate.stretch is not None:
                candidate.features["meaning_around"] = max(cosine, 0.0)


def _around(line: Line, neighbours: list[tuple[float, Line]]) -> tuple[dict[int, float], float]:
    """Count the words and length of a line, and in part those of its neighbours."""
    counts = dict(line.strengths)
    length = float(line.length)
    for share, neighbour in neighbours:
        length += share * neighbour.length
        for word, count in neighbour.strengths.items():
            counts[word] = counts.get(word, 0.0) + share * count
    return counts, length


def _neighbours(candidate: Candidate) -> list[tuple[float, Line]]:
    """Return the surrounding lines that lend their words, nearest first, and the share they lend."""
    stretch = candidate.stretch
    if stretch is None:
        return []
    lending, lines = stretch.lending, stretch.lines
    here = bisect_left(lending, candidate.position)
    after = here + 1 if here < len(lending) and lending[here] == candidate.position else here
    own = min(1.0, _SPEAKS_FOR_ITSELF / candidate.line.length)
    found: list[tuple[float, Line]] = []
    for distance in range(CONTEXT):
        share = own * _DECAY[distance]
        if here - 1 - distance >= 0:
            found.append((share, lines[lending[here - 1 - distance]]))
        if after + distance < len(lending):
            found.append((share, lines[lending[after + distance]]))
    return found


def _bm25(scene: Scene, counts: dict[int, float], length: float, average: float) -> float:
    norm = _K1 * (1 - _B + _B * length / average)
    weights = scene.weights
    return sum([weights[word] * count * (_K1 + 1) / (count + norm) for word, count in counts.items()])


def _session(scene: Scene, found: list[Candidate]) -> None:
    """Rate the share of the question that a conversation's candidates contain."""
    there: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for candidate in found:
        if candidate.stretch is None:
            continue
        line = candidate.line
        for word in line.counts:
            there[candidate.stretch.session_id][word] += 1.0 if line.lends else 0.5
    shares = scene.shares
    covered = {
        session: sum([shares[word] * min(1.0, often) for word, often in words.items()])
        for session, words in there.items()
    }
    for candidate in found:
        of = candidate.stretch.session_id if candidate.stretch else ""
        candidate.features["session"] = covered.get(of, candidate.line.cover if not of else 0.0)


# --- the line alone -------------------------------------------------------------------------


def _alone(scene: Scene, candidate: Candidate, named: frozenset[str]) -> None:
    question = scene.asked.question
    line = candidate.line
    text = line.text[:4000]
    features = candidate.features
    shares = scene.shares
    features["cover"] = sum([shares[word] * min(1.0, count) for word, count in line.strengths.items()])
    features["codes"] = _codes(scene, line)
    # Facts and the like are short because they are terse.
    features["brief"] = 0.0 if line.passage else max(0.0, 1 - math.log1p(len(line.text)) / _LONG)
    features["speaker"] = float(_is_of(line, named, scene)) if named else 0.5
    features["time"] = float(question.wants_time and times.has_time(text))
    features["number"] = float(question.wants_number and has_number(text))
    features["name"] = float(question.wants_name and _names_something(text, scene))
    features["asks"] = _asks(text) if question.is_question else 0.0
    # A line with little of the question can't repeat it, so most lines need not be read again.
    may_repeat = question.is_question and line.cover >= _LEAST_REPEATED
    repeated, features[RESTATES] = _restates(text, question) if may_repeat else (0.0, 0.0)
    features["repeats"] = float(repeated >= _REPEATS)
    features["in_span"], features["of_span"] = _in_span(scene, line)
    length = min(1.0, max(0.0, (len(line.text) - 200) / 800))
    if line.of_tool:
        length = max(length, _OF_A_TOOL)
    features["machine"] = length * (line.from_machine and not question.to_assistant)
    features["asked_machine"] = float(line.from_machine and question.to_assistant and not line.of_tool)


def _is_of(line: Line, named: frozenset[str], scene: Scene) -> bool:
    """True if a named person said it. Facts and the like count for the user and people they name."""
    if line.passage is None:
        return line.speaker in named
    return "user" in named or _mentions_named(line, scene)


def _mentions_named(line: Line, scene: Scene) -> bool:
    return not set(scene.asked.speakers).isdisjoint(split_runs(line.folded))


def has_number(text: str) -> bool:
    return _NUMBER.search(text) is not None


def _codes(scene: Scene, line: Line) -> float:
    """Return the share of the question's numbers and identifiers in the line."""
    codes = scene.codes
    if not codes:
        return 0.0
    return sum([1 for text, code in codes if text in line.folded and code.search(line.folded)]) / len(codes)


def _names_something(text: str, scene: Scene) -> bool:
    """True if the text has a name or title other than a speaker's."""
    return any(fold(name) not in scene.names for name in _NAME.findall(text))


def _asks(text: str) -> float:
    """Rate how much of a text is questions, which are seldom answers."""
    if "?" not in text and "？" not in text:
        return 0.0
    stated = [part for part in _SENTENCE.split(text) if not part.rstrip().endswith(("?", "？"))]
    words = sum([1 for part in stated for form in part.split() if form.lower() not in STOP_WORDS])
    return max(0.0, 1 - words / _WORDS_OF_A_STATEMENT)


def _restates(text: str, question: Question) -> tuple[float, float]:
    """Rate how much of a text that only asks repeats the question.

    The second rate is higher for a short text if the question is even shorter, because a few words say little
    besides what they ask.
    """
    if len(text) > _LONGEST_REPEAT:
        return 0.0, 0.0
    parts = [part for part in _SENTENCE.split(text) if part.strip()]
    asked = [part for part in parts if is_question(part)]
    stated = sum([len(_telling(part)) for part in parts if part not in asked])
    own = _telling(" ".join(asked))
    if not own or stated > _WORDS_OF_COURTESY:
        return 0.0, 0.0
    shared = len(own & _telling(question.text))
    least = min(len(own), max(2, len(question.words))) if len(own) <= _SHORT_QUESTION else len(own)
    return shared / len(own), shared / least


def _telling(text: str) -> set[str]:
    """Return the stems of meaningful words."""
    return {stem(form) for run in runs(text) for form in run.forms if form not in STOP_WORDS}


def _in_span(scene: Scene, line: Line) -> tuple[float, float]:
    """Rate if the line is from the time that the question names, or mentions that time.

    People talk about a day or a week during the following one.
    """
    span = scene.asked.question.span
    if span is None:
        return 0.0, 0.0
    length = span.end - span.start
    within = 1.0 if span.start <= line.at < span.end else 0.0
    if span.end <= line.at < mention_end(span):
        within = _MENTIONED_LATER
    text = line.text[:2000]
    if length > _MONTH or not times.has_time(text):
        return within, 0.0
    of_it = any(
        said.start < span.end and span.start < said.end and said.end - said.start <= 2 * length + _WEEK
        for said in times.find_mentioned(text, line.at)
    )
    return within, float(of_it)


# --- the line among others ---------------------------------------------------------------------


def _beside(scene: Scene, candidate: Candidate) -> None:
    """Rate the line as a reply to what was said just before it."""
    features = candidate.features
    features["replies"] = features["follows"] = 0.0
    stretch = candidate.stretch
    if stretch is None:
        return
    question, line = scene.asked.question, candidate.line
    said = stretch.lines[max(0, candidate.position - _LINES_FOLLOWED) : candidate.position]
    features["follows"] = (
        max([one.cosine for one in said], default=0.0) * _SHORT / max(_SHORT, len(line.text))
    )
    before = stretch.find_before(candidate.position)
    answers = before is not None and before.asks and before.speaker != line.speaker and not line.of_tool
    if before is not None and answers and question.is_question:
        features["replies"] = before.cover
    if line.from_machine and not (answers or question.to_assistant or _says_something(candidate)):
        features["machine"] = 1.0


def _says_something(candidate: Candidate) -> bool:
    """False for "Noted!" and the like, which only score through the lines around them."""
    line, features = candidate.line, candidate.features
    has_kind = features["time"] + features["number"] + features["name"] > 0
    return bool(line.strengths) or line.cosine >= _NEAR or has_kind


def _latest(scene: Scene, found: list[Candidate]) -> None:
    """Rate how new a line is among those on the subject, for questions about the present."""
    for candidate in found:
        candidate.features["latest"] = 0.0
    if not scene.asked.question.wants_latest:
        return
    most = max(candidate.features["cover"] for candidate in found)
    on_it = [c for c in found if c.features["cover"] >= _ON_THE_SUBJECT * most]
    for rank, candidate in enumerate(sorted(on_it, key=lambda c: c.line.at), start=1):
        candidate.features["latest"] = rank / len(on_it)


def _elsewhere(scene: Scene, found: list[Candidate]) -> None:
    """Mark candidates from other projects or by named people. Facts belong to all projects."""
    for candidate in found:
        said_in = candidate.stretch.project if candidate.stretch else None
        is_other = None not in (scene.project, said_in) and said_in != scene.project
        candidate.features["elsewhere"] = float(is_other)
        stretch, line = candidate.stretch, candidate.line
        of_named = stretch.session_id in scene.of_named if stretch else _mentions_named(line, scene)
        candidate.features["of_named"] = float(of_named)


def _find_named(scene: Scene) -> frozenset[str]:
    """Return the named speaker, or those who share the name; empty if several are named.

    Of "Tom Becker" and "Tom Wright", the one with more words of the name counts. If other speakers have
    names, "I" is the user, who has none.
    """
    question = scene.asked.question
    # Will and May are also words, and are only names if capitalized.
    sure = (question.mentioned - STOP_WORDS - _MONTHS) | question.capitalised
    shared = {name: sure & words for name, words in scene.speakers.items()}
    most = max(map(len, shared.values()), default=0)
    if most == 0:
        return frozenset({"user"} if question.by_user and scene.speakers else ())
    named = {name: words for name, words in shared.items() if len(words) == most}
    return frozenset(named if len(set(named.values())) == 1 else ())


def _normalise(found: list[Candidate]) -> None:
    for name in UNBOUNDED:
        highest = max(candidate.features[name] for candidate in found)
        if highest > 0:
            for candidate in found:
                candidate.features[name] /= highest


HYBRID: Mapping[str, float] = {
    "words": 2.0,
    "cover": 2.0,
    "session": 2.25,
    "meaning_around": 3.0,
    "codes": 3.0,
    "replies": 2.0,
    "follows": 1.25,
    "speaker": 2.5,
    "time": 2.25,
    "number": 2.25,
    "name": 1.25,
    "in_span": 2.75,
    "of_span": 1.75,
    "brief": -2.0,
    "asks": -1.75,
    "repeats": -15.0,
    "machine": -4.75,
    "asked_machine": 3.0,
    "latest": 2.0,
    "elsewhere": -2.5,
    "of_named": 4.5,
}

LEXICAL = {name: rate for name, rate in HYBRID.items() if not name.startswith("meaning")} | {"words": 4.0}


def sum_up(candidate: Candidate, weights: Mapping[str, float]) -> float:
    features = candidate.features
    return sum([weight * features.get(name, 0.0) for name, weight in weights.items()])
