"""Lines to be judged: messages in their conversations, prepared for one question."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from mnemos.recall.candidates import NEIGHBOURS, Asked, Gathered
from mnemos.recall.question import Matcher, find_related, share_weights
from mnemos.sessions.message_text import document_of, is_echo, names_speaker
from mnemos.sessions.records import ROLES
from mnemos.storage.base import MessageRow
from mnemos.storage.passages import Passage, Strip
from mnemos.text.words import fold, runs

if TYPE_CHECKING:
    from mnemos.recall.sense import Surroundings


def _class_of(code: int) -> int:
    sign = chr(code)
    if "a" <= sign <= "z":
        return ord("a")
    if "A" <= sign <= "Z":
        return ord("A")
    return ord("0") if "0" <= sign <= "9" else ord(" ")


# An assistant's long answer repeats the words of everything around it, so it doesn't lend them.
_LONG_ANSWER = 400
_LONG_STORY = 4_000
# In a longer text, a piece of it is the answer.
_WORDS_OF_A_PIECE = 200
_LOOKED_AT_FOR_QUESTION = 300
_ROLES_OF_TOOLS = frozenset({"tool", "function"})
_ROLES_OF_MACHINES = _ROLES_OF_TOOLS | {"assistant"}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# The same pattern as character classes, which takes a tenth of the time to search.
_CLASSES = bytes(_class_of(code) for code in range(256))


@dataclass(slots=True, eq=False)
class Line:
    """A message or another passage."""

    id: int
    text: str
    folded: str
    speaker: str
    at: float
    counts: dict[int, int]
    """The number of times that it has each word of the question."""
    strengths: dict[int, float]
    """The same counts, with related words in place of missing ones."""
    length: int
    """The number of words."""
    cover: float
    """The share of the question's weight that its words have."""
    cosine: float
    from_machine: bool
    of_tool: bool = False
    """True for a plain tool call or its result."""
    row: MessageRow | None = None
    passage: Passage | None = None

    @property
    def lends(self) -> bool:
        """True if its words count for its neighbours too."""
        return not self.of_tool and len(self.text) <= (_LONG_ANSWER if self.from_machine else _LONG_STORY)

    @property
    def asks(self) -> bool:
        end = self.text[-_LOOKED_AT_FOR_QUESTION:]
        return "?" in end or "？" in end


class Stretch(Struct, frozen=True):
    """Consecutive lines of a conversation, and which of them may be answers."""

    session_id: str
    title: str | None
    project: str | None
    lines: tuple[Line, ...]
    candidates: tuple[int, ...]
    lending: tuple[int, ...] = field(default=())

    def find_before(self, position: int) -> Line | None:
        """Return the line before a position, skipping the tool calls before an agent's answer."""
        before = self.lines[:position]
        if before and not self.lines[position].of_tool:
            before = tuple(line for line in before if not line.of_tool) or before
        return before[-1] if before else None


class Scene(Struct, frozen=True):
    """The material that a question is compared with, and the weights of its words."""

    asked: Asked
    matcher: Matcher
    weights: tuple[float, ...]
    shares: tuple[float, ...]
    """The weights as shares of the whole question."""
    stretches: tuple[Stretch, ...]
    passages: tuple[Line, ...]
    speakers: dict[str, frozenset[str]]
    """The names of speakers, each with its folded words."""
    names: frozenset[str]
    """The words of all these names."""
    codes: tuple[tuple[str, re.Pattern[str]], ...] = ()
    """The codes in the question, each with a pattern that finds it as a whole."""
    surroundings: Surroundings | None = None
    """The existing vectors of the lines."""
    project: str | None = None
    """The project whose conversations are preferred."""
    of_named: frozenset[str] = frozenset()
    """Conversations in which somebody named in the question takes part."""


def set_scene(
    asked: Asked,
    gathered: Gathered,
    surroundings: Surroundings | None = None,
    project: str | None = None,
) -> Scene:
    words = asked.question.words
    idf = [_idf(count, asked.total) for count in asked.counts]
    weights = tuple(value * word.weight for value, word in zip(idf, words, strict=True))
    matcher = Matcher(words, [find_related(word.form) for word in words])
    part = share_weights(weights)
    cosines = {passage: near.cosine for passage, near in gathered.cosines.items()}
    stretches = tuple(
        [_stretch(strip, gathered.proposed, matcher, part, cosines) for strip in gathered.strips]
    )
    named = {line.speaker for stretch in stretches for line in stretch.lines} - ROLES
    speakers = {name: frozenset(_words_of(name)) for name in named}
    return Scene(
        asked,
        matcher,
        weights,
        part,
        stretches,
        tuple([_other(passage, matcher, part, cosines) for passage in gathered.passages]),
        speakers,
        frozenset().union(*speakers.values()),
        tuple([(code, _alone(code)) for code in asked.question.codes]),
        surroundings,
        project,
        gathered.of_named,
    )


def _alone(code: str) -> re.Pattern[str]:
    """Compile a pattern for a code that is not part of a longer one."""
    return re.compile(rf"(?<![a-z0-9]){re.escape(code)}(?![a-z0-9])")


def _words_of(name: str) -> Iterator[str]:
    for run in runs(name):
        yield from (*run.forms, *run.beside[:1])


def _idf(count: int, total: int) -> float:
    return math.log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _stretch(
    strip: Strip,
    proposed: frozenset[int],
    matcher: Matcher,
    part: Sequence[float],
    cosines: dict[int, float],
) -> Stretch:
    # Echoes are left out, so that an answer directly follows its question.
    rows = [row for row in strip.messages if not is_echo(row)]
    count = len(rows)
    spoken = [position for position, row in enumerate(rows) if not _is_of_tool(row)]
    near: set[int] = set()
    for position, row in enumerate(rows):
        if row.id in proposed:
            near.update(range(max(0, position - NEIGHBOURS), min(count, position + NEIGHBOURS + 1)))
            here = bisect_left(spoken, position)
            near.update(spoken[max(0, here - NEIGHBOURS) : here + NEIGHBOURS + 1])
    # The line before a candidate may be the question it answers.
    read = near | {position - 1 for position in near}
    lines = tuple(
        [
            _line(
                row,
                matcher if position in read or _lends(row) else None,
                part,
                cosines.get(row.id, 0.0),
                proposed=row.id in proposed,
            )
            for position, row in enumerate(rows)
        ]
    )
    _keep_names(lines)
    return Stretch(
        strip.session_id,
        strip.title,
        strip.project,
        lines,
        tuple(position for position in sorted(near) if lines[position].text),
        tuple(position for position, line in enumerate(lines) if line.lends),
    )


def _is_of_tool(row: MessageRow) -> bool:
    # Content that isn't plain text is only read for lines that count.
    return row.role in _ROLES_OF_TOOLS or (row.tool_calls is not None and not (row.content or "").strip())


def _lends(row: MessageRow) -> bool:
    return row.role not in _ROLES_OF_MACHINES or len(row.content or "") <= _LONG_ANSWER


def _keep_names(lines: Sequence[Line]) -> None:
    """Drop names that only one line has, as "Note: …" doesn't name a speaker."""
    spoken = Counter(line.speaker for line in lines)
    for line in lines:
        once = spoken[line.speaker] == 1 and line.text.startswith(f"{line.speaker}: ")
        if once and line.row is not None and not names_speaker(line.row):
            line.speaker = line.row.role


def _line(
    row: MessageRow, matcher: Matcher | None, part: Sequence[float], cosine: float, *, proposed: bool
) -> Line:
    """Prepare a message. Without a matcher, its words are not counted."""
    document = document_of(row)
    text = "" if row.forgotten else document.said or document.tool
    # A line is only folded if its words are needed.
    folded = "" if matcher is None else fold(text)
    counts: dict[int, int] = {}
    strengths: dict[int, float] = {}
    if matcher is not None:
        counts, strengths = matcher.find(folded)
    if matcher is not None and proposed and not counts and _is_camel(text):
        # The index only has the parts of identifiers.
        counts, strengths = matcher.find(fold(_CAMEL.sub(" ", text)))
    return Line(
        row.id,
        text,
        folded,
        document.speaker or row.role,
        row.timestamp,
        counts,
        strengths,
        min(text.count(" ") + 1, _WORDS_OF_A_PIECE),
        sum([part[word] for word in counts]) if counts else 0.0,
        max(cosine, 0.0),
        row.role in _ROLES_OF_MACHINES and document.speaker in ("", row.role),
        row.role in _ROLES_OF_TOOLS or not document.said.strip(),
        row=row,
    )


def _is_camel(text: str) -> bool:
    """True if the case of letters changes inside a word."""
    if not text.isascii():
        return _CAMEL.search(text) is not None
    classes = text.encode().translate(_CLASSES)
    return b"aA" in classes or b"0A" in classes or b"AAa" in classes


def _other(passage: Passage, matcher: Matcher, part: Sequence[float], cosines: dict[int, float]) -> Line:
    folded = fold(passage.readable)
    counts, strengths = matcher.find(folded)
    return Line(
        passage.id,
        passage.text,
        folded,
        passage.speaker or "",
        passage.at,
        counts,
        strengths,
        min(passage.text.count(" ") + 1, _WORDS_OF_A_PIECE),
        sum([part[word] for word in counts]) if counts else 0.0,
        max(cosines.get(passage.id, 0.0), 0.0),
        from_machine=False,
        passage=passage,
    )
