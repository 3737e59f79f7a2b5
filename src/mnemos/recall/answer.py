"""Answers of recall: hits, best first, and the same as text for a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from mnemos.errors import InvalidInput
from mnemos.inputs import suggest
from mnemos.text.tables import render_table

# The number of hits and the token budget of the text, where the caller names none.
HITS = 20
TOKENS = 2_400
MOST_HITS = 200
Kind = Literal["message", "fact", "note", "entry", "template", "table"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CURRENT = "current"
SUPERSEDED = "superseded"
OUTDATED = "possibly outdated"
# Characters of a passage on one line.
_LINE = 100


def check_kinds(kinds: Sequence[str] | None) -> Sequence[str] | None:
    """Return kinds of passages; an unknown one raises InvalidInput."""
    for kind in kinds or ():
        if kind not in KINDS:
            raise InvalidInput(f"Unknown kind {kind!r}.{suggest(kind, KINDS)} Use {', '.join(KINDS)}.")
    return kinds


@dataclass(frozen=True, slots=True, repr=False)
class RecallHit:
    """A passage that answers a question, with its place and why it was chosen."""

    kind: str
    """One of ``KINDS``."""
    ref: int | str
    """The id of a message, or the name of anything else within its kind."""
    session_id: str | None
    speaker: str
    """The name of the speaker where it is known, else the role."""
    text: str
    """The whole message; of a long one, the piece that matched."""
    place: tuple[int, int]
    """The start and end of ``text`` in the text it is from."""
    at: float
    score: float
    why: tuple[str, ...]
    """Short reasons, the strongest first, such as ``contains 'postgres', 'migrated'``."""
    title: str | None = None
    """The title of the conversation it is from."""
    project: str | None = None
    """The project of that conversation: a repository or a folder."""
    state: str = CURRENT
    """``current``, ``superseded`` or ``possibly outdated``."""
    until: float | None = None
    """When it was replaced."""
    replaced_by: str | None = None
    """The id of what replaced it, or may replace it."""

    def __str__(self) -> str:
        """Date, speaker and the beginning of the text, on one line."""
        speaker = f"{self.speaker}: " if self.speaker else ""
        line = " ".join(f"{speaker}{self.text.removeprefix(speaker)}".split())
        return f"{_format_time(self.at)}  {line if len(line) <= _LINE else f'{line[:_LINE]}…'}"

    def __repr__(self) -> str:
        return f"<{self.kind} {self.ref}, {self.score:.2f}: {self}>"


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A reason for or against a passage, and what it adds to the score or takes from it."""

    name: str
    """The feature, such as ``words``."""
    group: str
    """``words``, ``meaning``, ``conversation``, ``who``, ``answer``, ``time`` or ``order``."""
    label: str
    value: float
    weight: float
    """1 for an adjustment that has no weight."""
    points: float
    """``value`` times ``weight``."""
    sentence: str


@dataclass(frozen=True, slots=True)
class HitExplanation:
    """The score of a hit as a sum, and what became of it in the packed text."""

    parts: tuple[ScorePart, ...]
    """They add up to the score; sorted from the largest to the most negative."""
    packed: str
    """``whole``, ``cut``, ``doubled`` or ``left out``."""
    same_as: str | None = None
    """The hit that is shown in the place of a doubled one, as ``kind:ref``."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as it was understood."""

    words: tuple[str, ...]
    """The words to look for, those that count most first."""
    shares: tuple[float, ...]
    """The share of the whole question that each word counts."""
    passages: tuple[int, ...]
    """The number of passages that have each word; a common one is estimated."""
    speakers: tuple[str, ...]
    """Names of people who speak here."""
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
    """Proposed by words, by vectors, or for their time alone."""
    too_many: int
    """Proposals that were not read, because others promised more."""
    read: int
    """Candidates: proposals and their neighbours."""
    judged: int
    ranked: int
    """Judged ones that hold and do not score far below the best."""
    shown: int
    packed: int
    """Hits whose text is in the packed text, whole or in part."""
    cut: int
    doubled: int


@dataclass(frozen=True, slots=True)
class Probed:
    """The stage that a passage reached, and why it went no further."""

    ref: str
    stage: str
    """One of ``mnemos.recall.probe.Stage``."""
    sentence: str
    rank: int | None = None
    score: float | None = None
    parts: tuple[ScorePart, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """An account of a question: what was understood, what each stage did and how long it took."""

    understood: Understood
    counts: StageCounts
    tokens: int
    """Of the packed text."""
    milliseconds: dict[str, float]
    """By stage, in their order."""
    hits: tuple[HitExplanation, ...]
    """One for each hit."""
    probed: Probed | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Recall:
    """Hits best first, and the same as text for a prompt. It has a length and iterates over its hits."""

    query: str
    hits: tuple[RecallHit, ...]
    text: str
    mode: str
    """``lexical``, ``lexical+static`` or ``lexical+model``: what was used; with ``+deep`` if read closely."""
    coverage: float
    """The share of passages that were compared by meaning; 0 where none were."""
    left_out: int
    """Hits that did not fit into the budget of ``text``."""
    notes: tuple[str, ...] = ()
    """Remarks for the caller: a damaged model, the meaning of a time in the question."""
    certainty: str = "good"
    """``good``, ``weak`` if the hits may not answer the question, ``none`` if nothing does: no hits then."""
    explanation: Explanation | None = None
    """An account of the answer, if one was asked for."""
    milliseconds: float = field(default=0.0, compare=False)
    """The time it took."""
    state: tuple[int, ...] = field(default=(), compare=False)
    """The version of the passages it was read from."""

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
    """A date and time of the reader's zone; ``undated`` for one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(moment):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return "undated"
