"""Answers of recall: the hits, best first, also as text for a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from mnemos.errors import InvalidInput
from mnemos.inputs import suggest
from mnemos.text.tables import render_table

# The default number of hits and token budget of the text.
HITS = 20
TOKENS = 2_400
MOST_HITS = 200
Kind = Literal["message", "fact", "note", "entry", "template", "table"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CURRENT = "current"
SUPERSEDED = "superseded"
OUTDATED = "possibly outdated"
# The number of characters of a passage shown on one line.
_LINE = 100


def check_kinds(kinds: Sequence[str] | None) -> Sequence[str] | None:
    """Return kinds of passages. An unknown kind raises InvalidInput."""
    for kind in kinds or ():
        if kind not in KINDS:
            raise InvalidInput(f"Unknown kind {kind!r}.{suggest(kind, KINDS)} Use {', '.join(KINDS)}.")
    return kinds


@dataclass(frozen=True, slots=True, repr=False)
class RecallHit:
    """A passage that answers a question, with its origin and the reasons for choosing it."""

    kind: str
    """One of ``KINDS``."""
    ref: int | str
    """The id of a message, or the name of another passage within its kind."""
    session_id: str | None
    speaker: str
    """The name of the speaker, or the role if the name is unknown."""
    text: str
    """The whole message, or the matching piece of a long one."""
    place: tuple[int, int]
    """The start and end of ``text`` in the original text."""
    at: float
    score: float
    why: tuple[str, ...]
    """Short reasons, the strongest first, such as ``contains 'postgres', 'migrated'``."""
    title: str | None = None
    """The title of the conversation it is from."""
    project: str | None = None
    """The conversation's project: a repository or a folder."""
    state: str = CURRENT
    """``current``, ``superseded`` or ``possibly outdated``."""
    until: float | None = None
    """When it was replaced."""
    replaced_by: str | None = None
    """The id of the fact that replaced it or may replace it."""

    def __str__(self) -> str:
        """Date, speaker and the beginning of the text, on one line."""
        speaker = f"{self.speaker}: " if self.speaker else ""
        line = " ".join(f"{speaker}{self.text.removeprefix(speaker)}".split())
        return f"{_format_time(self.at)}  {line if len(line) <= _LINE else f'{line[:_LINE]}…'}"

    def __repr__(self) -> str:
        return f"<{self.kind} {self.ref}, {self.score:.2f}: {self}>"


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A reason for or against a passage, and how much it changes the score."""

    name: str
    """The feature, such as ``words``."""
    group: str
    """``words``, ``meaning``, ``conversation``, ``who``, ``answer``, ``time`` or ``order``."""
    label: str
    value: float
    weight: float
    """1 for an adjustment without a weight."""
    points: float
    """``value`` times ``weight``."""
    sentence: str


@dataclass(frozen=True, slots=True)
class HitExplanation:
    """The score of a hit as a sum, and the hit's fate in the packed text."""

    parts: tuple[ScorePart, ...]
    """The parts of the score, sorted from the largest to the most negative."""
    packed: str
    """``whole``, ``cut``, ``doubled`` or ``left out``."""
    same_as: str | None = None
    """The hit that is shown instead of a doubled one, as ``kind:ref``."""


@dataclass(frozen=True, slots=True)
class Understood:
    """The interpretation of a question."""

    words: tuple[str, ...]
    """The words to look for, the most important first."""
    shares: tuple[float, ...]
    """The share of each word in the weight of the question."""
    passages: tuple[int, ...]
    """The number of passages that have each word, estimated for common words."""
    speakers: tuple[str, ...]
    """Names of speakers in this memory."""
    codes: tuple[str, ...]
    asks_for: tuple[str, ...]
    """``a time``, ``a number``, ``a name``, ``the present``, ``the past``, ``words of the assistant``."""
    since: float | None
    until: float | None


@dataclass(frozen=True, slots=True)
class StageCounts:
    """The number of passages that each stage left."""

    by_words: int
    by_vectors: int
    by_time: int
    """Passages proposed by words, by vectors or only by time."""
    too_many: int
    """Proposals that were not read because others were more promising."""
    read: int
    """Candidates: proposals and their neighbours."""
    judged: int
    ranked: int
    """Judged candidates that are valid and don't score far below the best."""
    shown: int
    packed: int
    """Hits that the packed text shows whole or in part."""
    cut: int
    doubled: int


@dataclass(frozen=True, slots=True)
class Probed:
    """The stage that a passage reached, and why it got no further."""

    ref: str
    stage: str
    """One of ``mnemos.recall.probe.Stage``."""
    sentence: str
    rank: int | None = None
    score: float | None = None
    parts: tuple[ScorePart, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """An account of a question: its interpretation, and the results and time of each stage."""

    understood: Understood
    counts: StageCounts
    tokens: int
    """The number of tokens in the packed text."""
    milliseconds: dict[str, float]
    """The time of each stage, in order."""
    hits: tuple[HitExplanation, ...]
    """An explanation of each hit."""
    probed: Probed | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Recall:
    """The hits, best first, also as text for a prompt. Has a length and iterates over the hits."""

    query: str
    hits: tuple[RecallHit, ...]
    text: str
    mode: str
    """The search used: ``lexical``, ``lexical+static`` or ``lexical+model``; ``+deep`` if read closely."""
    coverage: float
    """The share of passages compared by meaning, or 0 if none were."""
    left_out: int
    """The number of hits that didn't fit into the budget of ``text``."""
    notes: tuple[str, ...] = ()
    """Remarks for the caller, such as a damaged model, or how a time in the question was understood."""
    certainty: str = "good"
    """``good``, ``weak`` if the hits may not answer the question, or ``none`` if there are no hits."""
    explanation: Explanation | None = None
    """An account of the answer, if it was requested."""
    milliseconds: float = field(default=0.0, compare=False)
    """The time that the answer took."""
    state: tuple[int, ...] = field(default=(), compare=False)
    """The version of the passages that the answer is from."""

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[RecallHit]:
        return iter(self.hits)

    def __str__(self) -> str:
        """The hits, one per line, best first."""
        return "\n".join(map(str, self.hits)) or "Nothing found."

    def __repr__(self) -> str:
        count = f"{len(self.hits)} hit{'' if len(self.hits) == 1 else 's'}"
        lines = (f"  {hit!r}" for hit in self.hits)
        return "\n".join((f"<Recall of {self.query!r}: {count}, {self.mode}>", *lines))

    def _repr_html_(self) -> str:
        rows = [(_format_time(hit.at), hit.kind, hit.speaker, hit.text, ", ".join(hit.why)) for hit in self]
        return render_table(("when", "kind", "speaker", "text", "why"), rows)


def _format_time(moment: float) -> str:
    """Format a time in the reader's zone, or as ``undated`` if it is outside the calendar."""
    try:
        return f"{datetime.fromtimestamp(moment):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return "undated"
