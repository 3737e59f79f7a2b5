"""What is judged: messages with the conversation around them, made ready to be compared with a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mnemos.recall.candidates import NEIGHBOURS, Asked, Gathered
from mnemos.recall.matching import Matcher, cover
from mnemos.sessions.model import document_of
from mnemos.storage.base import MessageRow
from mnemos.storage.passages import Passage, Strip
from mnemos.text.words import fold

# An assistant's long answer repeats the words of everything around it: it lends them to nobody.
_LONG_ANSWER = 400
_LOOKED_AT_FOR_QUESTION = 300
_ROLES_OF_MACHINES = frozenset({"assistant", "tool", "function"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(slots=True, eq=False)
class Line:
    """A message or another passage."""

    id: int
    text: str
    folded: str
    speaker: str
    at: float
    counts: dict[int, int]
    """How often it has each word of the question."""
    length: int
    """In words."""
    cover: float
    """The share of the question's weight that it has."""
    cosine: float
    from_machine: bool
    row: MessageRow | None = None
    passage: Passage | None = None

    @property
    def lends(self) -> bool:
        """Whether its words speak for its neighbours too."""
        return not (self.from_machine and len(self.text) > _LONG_ANSWER)

    @property
    def asks(self) -> bool:
        return "?" in self.text[-_LOOKED_AT_FOR_QUESTION:]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of one conversation in their order, and which of them may be answers."""

    session_id: str
    title: str | None
    message_count: int
    lines: tuple[Line, ...]
    candidates: tuple[int, ...]
    lending: tuple[int, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a question is compared with, and what its words are worth here."""

    asked: Asked
    matcher: Matcher
    weights: tuple[float, ...]
    stretches: tuple[Stretch, ...]
    passages: tuple[Line, ...]


def set_scene(asked: Asked, gathered: Gathered) -> Scene:
    words = asked.question.words
    idf = [_idf(count, asked.total) for count in asked.counts]
    weights = tuple(value * word.weight for value, word in zip(idf, words, strict=True))
    matcher = Matcher(words)
    cosines = {passage: near.cosine for passage, near in gathered.cosines.items()}
    return Scene(
        asked,
        matcher,
        weights,
        tuple(_stretch(strip, gathered.proposed, matcher, weights, cosines) for strip in gathered.strips),
        tuple(_other(passage, matcher, weights, cosines) for passage in gathered.passages),
    )


def _idf(count: int, total: int) -> float:
    return math.log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _stretch(
    strip: Strip,
    proposed: frozenset[int],
    matcher: Matcher,
    weights: Sequence[float],
    cosines: dict[int, float],
) -> Stretch:
    lines = tuple(
        _line(row, matcher, weights, cosines.get(row.id, 0.0), proposed=row.id in proposed)
        for row in strip.messages
    )
    _keep_names(lines)
    near: set[int] = set()
    for position, line in enumerate(lines):
        if line.id in proposed:
            near.update(range(max(0, position - NEIGHBOURS), min(len(lines), position + NEIGHBOURS + 1)))
    return Stretch(
        strip.session_id,
        strip.title,
        strip.message_count,
        lines,
        tuple(position for position in sorted(near) if lines[position].text),
        tuple(position for position, line in enumerate(lines) if line.lends),
    )


def _keep_names(lines: Sequence[Line]) -> None:
    """What stands before a colon once only is no name: "Note: …"."""
    spoken = Counter(line.speaker for line in lines)
    for line in lines:
        if line.row is not None and spoken[line.speaker] == 1 and line.text.startswith(f"{line.speaker}: "):
            line.speaker = line.row.role


def _line(
    row: MessageRow, matcher: Matcher, weights: Sequence[float], cosine: float, *, proposed: bool
) -> Line:
    document = document_of(row)
    text = "" if row.forgotten else document.said or document.tool
    folded = fold(text)
    counts = matcher.counts(folded)
    if proposed and not counts and _CAMEL.search(text):
        # The index knows identifiers by their parts.
        counts = matcher.counts(fold(_CAMEL.sub(" ", text)))
    return Line(
        row.id,
        text,
        folded,
        document.speaker or row.role,
        row.timestamp,
        counts,
        text.count(" ") + 1,
        cover(weights, counts) if counts else 0.0,
        max(cosine, 0.0),
        row.role in _ROLES_OF_MACHINES,
        row=row,
    )


def _other(passage: Passage, matcher: Matcher, weights: Sequence[float], cosines: dict[int, float]) -> Line:
    folded = fold(passage.text)
    counts = matcher.counts(folded)
    return Line(
        passage.id,
        passage.text,
        folded,
        passage.speaker or "",
        passage.at,
        counts,
        passage.text.count(" ") + 1,
        cover(weights, counts) if counts else 0.0,
        max(cosines.get(passage.id, 0.0), 0.0),
        from_machine=False,
        passage=passage,
    )
