"""Answers of recall: hits, best first, and the same as text for a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
            raise InvalidInput(f"There is no kind {kind!r}.{suggest(kind, KINDS)} Use {', '.join(KINDS)}.")
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
    """Short reasons, the strongest first, such as ``says 'postgres', 'migrated'``."""
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
        line = f"{speaker}{' '.join(self.text.split())}"
        return f"{_format_time(self.at)}  {line if len(line) <= _LINE else f'{line[:_LINE]}…'}"

    def __repr__(self) -> str:
        return f"<{self.kind} {self.ref}, {self.score:.2f}: {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class Recall:
    """Hits best first, and the same as text for a prompt. It has a length and iterates over its hits."""

    query: str
    hits: tuple[RecallHit, ...]
    text: str
    mode: str
    """``lexical``, ``lexical+static`` or ``lexical+model``: what was used."""
    coverage: float
    """The share of passages that were compared by meaning; 0 where none were."""
    left_out: int
    """Hits that did not fit into the budget of ``text``."""
    notes: tuple[str, ...] = ()
    """Remarks for the caller: a damaged model, the meaning of a time in the question."""
    certainty: str = "good"
    """``good``, ``weak`` if the hits may not answer the question, ``none`` if nothing does: no hits then."""

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
