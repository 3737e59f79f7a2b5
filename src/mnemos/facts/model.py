"""What the facts part hands out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mnemos.errors import NotFound
from mnemos.facts.block import Gauge
from mnemos.language.notation import written
from mnemos.storage.facts import FactRow, ScopeCounts

KIND = "fact"
"""What facts are called among the passages of recall."""


class Outcome(StrEnum):
    STORED = "stored"
    UNCHANGED = "unchanged"
    """The same was known already; its reference time is renewed."""
    SUPERSEDED = "superseded"
    """Stored, in place of an earlier statement."""
    RETIRED = "retired"
    """What was said about the target no longer holds."""


@dataclass(frozen=True, slots=True)
class Fact:
    id: str
    type: str
    """The mark: C, D, V, ?, ✓ or ~."""
    target: str
    content: str
    scope: str | None
    tier: str
    """``hot``: rides in every prompt; ``cold``: found on demand."""
    state: str
    """``live``, ``superseded`` or ``retired``."""
    at: float
    """When it was learned."""
    ended_at: float | None
    """When it was no longer believed."""
    superseded_by: str | None
    valid_from: float
    valid_to: float | None
    used_at: float
    uses: int
    session_id: str | None
    message_id: int | None
    actor: str

    def __str__(self) -> str:
        return written(self.type, self.target, self.content)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two live facts on one target that contradict each other."""

    target: str
    older: Fact
    newer: Fact


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one statement."""

    id: str
    type: str
    target: str
    outcome: Outcome
    scope: str | None
    replaced: tuple[str, ...] = ()
    """The facts that ended by it."""


@dataclass(frozen=True, slots=True)
class Written:
    facts: tuple[Stored, ...]
    gauge: Gauge
    closed: tuple[str, ...]
    """Labels of the scopes that closed."""
    reopened: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    left_hot: tuple[Fact, ...]
    """What had to leave the hot set to make room; found by search as before."""


@dataclass(frozen=True, slots=True)
class Ticked:
    turn: int
    gauge: Gauge
    closed: tuple[str, ...]
    reopened: tuple[str, ...]
    left_hot: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Status:
    text: str
    tokens: int
    gauge: Gauge
    conflicts: tuple[Conflict, ...]
    scopes: tuple[str, ...]
    """The open ones, the most recently touched first; not more than a few."""


@dataclass(frozen=True, slots=True)
class Scope:
    label: str
    is_open: bool
    opened_at: float
    touched_at: float
    closed_at: float | None
    hot: int
    live: int


def scope_of(counts: ScopeCounts) -> Scope:
    row = counts.scope
    return Scope(
        row.label,
        row.closed_at is None,
        row.opened_at,
        row.touched_at,
        row.closed_at,
        counts.hot,
        counts.live,
    )


def ref_of(number: int) -> str:
    """The id of a fact as people and models see it."""
    return f"f{number}"


def number_of(ref: str) -> int:
    """The number in an id such as ``f12``; what is none raises NotFound."""
    digits = ref.removeprefix("fact:").removeprefix("f") if isinstance(ref, str) else ""
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 18):
        raise NotFound(
            f"{ref!r} is no id of a fact; ids look like f12, and the tool memory_search names them"
        )
    return int(digits)


def fact_of(row: FactRow) -> Fact:
    return Fact(
        ref_of(row.id),
        row.mark,
        row.target,
        row.content,
        row.scope,
        "hot" if row.hot else "cold",
        row.state,
        row.recorded_at,
        row.ended_at,
        None if row.superseded_by is None else ref_of(row.superseded_by),
        row.valid_from,
        row.valid_to,
        row.used_at,
        row.uses,
        row.session_id,
        row.message_id,
        row.actor,
    )
