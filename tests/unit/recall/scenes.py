"""Scenes made by hand: a question and a few lines of conversation, without a store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mnemos.recall.candidates import Asked, Gathered
from mnemos.recall.features import Candidate, judge
from mnemos.recall.lines import Line, Scene, set_scene
from mnemos.recall.question import understand
from mnemos.storage.base import MessageRow
from mnemos.storage.passages import Near, Passage, Strip

# A Friday.
NOW = datetime(2026, 3, 20, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Said:
    """A message to be put into a scene."""

    text: str | None
    role: str = "user"
    name: str | None = None
    at: float | None = None
    cosine: float | None = None
    calls: str | None = None
    forgotten: bool = False
    about: dict[str, str] | None = None


def user(text: str, **more: float) -> Said:
    return Said(text, **more)  # type: ignore[arg-type]


def assistant(text: str, **more: float) -> Said:
    return Said(text, "assistant", **more)  # type: ignore[arg-type]


def strip(first: int, *turns: Said | str, session: str = "s", at: float = NOW - 30 * DAY) -> Strip:
    """Messages of a session, a minute apart, with ids from ``first`` on."""
    rows = tuple(
        _row(first + number, session, said if isinstance(said, Said) else Said(said), at + number * MINUTE)
        for number, said in enumerate(turns)
    )
    return Strip(session, None, None, rows)


def _row(id: int, session: str, said: Said, at: float) -> MessageRow:
    metadata = None if said.about is None else json.dumps(said.about)
    if said.name is not None:
        metadata = json.dumps({"speaker": said.name})
    when = at if said.at is None else said.at
    return MessageRow(
        id, session, said.role, said.text, False, None, said.calls, None, None, when, metadata, said.forgotten
    )


def scene(
    question: str,
    *strips: Strip,
    proposed: Sequence[int] | None = None,
    cosines: Mapping[int, float] | None = None,
    passages: Sequence[Passage] = (),
    counts: Mapping[str, int] | None = None,
    total: int = 1_000,
    now: float = NOW,
) -> Scene:
    """The question set among these lines. Every message is proposed unless it is said which are.

    ``counts``: how many passages have a word, by its stem; 10 where nothing is said.
    """
    understood = understand(question, now, UTC)
    known = tuple((counts or {}).get(word.stem, 10) for word in understood.words)
    ids = [row.id for one in strips for row in one.messages]
    near = {id: Near(id, 0, cosine) for id, cosine in (cosines or {}).items()}
    chosen = frozenset(ids if proposed is None else proposed)
    return set_scene(
        Asked(understood, known, total, total, total), Gathered(chosen, strips, tuple(passages), near)
    )


def lines(of: Scene) -> list[Line]:
    return [line for stretch in of.stretches for line in stretch.lines]


def judged(of: Scene) -> dict[int, Candidate]:
    """The candidates by the ids of their lines."""
    return {candidate.line.id: candidate for candidate in judge(of)}


def feature(of: Scene, name: str) -> dict[int, float]:
    """One feature of every candidate, by the ids of the lines."""
    return {id: candidate.features[name] for id, candidate in judged(of).items()}


def fact(id: int, text: str, *, live: bool = True, at: float = NOW) -> Passage:
    return Passage(id, "fact", f"f{id}", None, None, at, live, text)
