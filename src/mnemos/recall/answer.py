"""Answers of recall: hits, best first, and the same as text for a prompt."""

from __future__ import annotations

from dataclasses import dataclass, field

KINDS = ("message", "fact", "note", "entry", "template", "table")


@dataclass(frozen=True, slots=True)
class RecallHit:
    """A passage that answers, with where it stands and why it was chosen."""

    kind: str
    """One of ``KINDS``: ``message``, or what a part feeds."""
    ref: int | str
    """Of a message its id, else what the part calls it."""
    session_id: str | None
    speaker: str
    """The name of who said it where it is known, else the role."""
    text: str
    """The passage: the whole message, or of a long one the piece that matched."""
    place: tuple[int, int]
    """Where the passage begins and ends in the text it is from."""
    at: float
    score: float
    why: tuple[str, ...]
    """Short reasons, the strongest first, such as ``says 'postgres', 'migrated'``."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Hits best first, and the same as text for a prompt."""

    query: str
    hits: tuple[RecallHit, ...]
    text: str
    mode: str
    """What was used: ``lexical``, ``lexical+static`` or ``lexical+model``; below full coverage it says so."""
    coverage: float
    """The share of passages that have vectors; 0 where none were used."""
    left_out: int
    """Hits that did not fit into the budget of ``text``."""
    notes: tuple[str, ...] = field(default=())
    """What the caller should know: a damaged model, a span of time that was understood."""
