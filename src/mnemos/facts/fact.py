"""Facts and the results of fact operations, as the public API returns them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mnemos.errors import NotFound
from mnemos.language.notation import Mark, format_line
from mnemos.storage.facts import FactLink, FactRow, ScopeCounts
from mnemos.text.tables import Table, format_time

KIND: Final = "fact"
"""The kind of a fact's passage in recall."""

_CLAIMS: Final = frozenset({Mark.CONSTRAINT, Mark.DECISION, Mark.VALUE})
_PREVIEW: Final = 80


class Outcome(StrEnum):
    STORED = "stored"
    UNCHANGED = "unchanged"
    """The fact was already known. Its reference time is renewed."""
    SUPERSEDED = "superseded"
    """Stored as the successor of an earlier statement."""
    RETIRED = "retired"
    """Earlier statements about the target are no longer true."""


@dataclass(frozen=True, slots=True, repr=False)
class Fact:
    id: str
    type: str
    """The mark of its type: C, D, V, ?, ✓ or ~."""
    target: str
    content: str
    scope: str | None
    tier: str
    """``hot``: part of every prompt; ``cold``: found on demand."""
    state: str
    """``live``, ``superseded`` or ``retired``."""
    at: float
    """When it was learned."""
    ended_at: float | None
    """When it stopped being believed."""
    superseded_by: str | None
    valid_from: float
    valid_to: float | None
    used_at: float
    uses: int
    session_id: str | None
    message_id: int | None
    actor: str
    stated_by: str | None = None
    """``user``, ``agent``, ``import`` or ``tool``; None if it was not recorded."""
    user_id: str | None = None
    """The user it belongs to; None if all users share it."""

    def __str__(self) -> str:
        return format_line(self.type, self.target, self.content)

    def __repr__(self) -> str:
        line = str(self)
        shown = line if len(line) <= _PREVIEW else f"{line[: _PREVIEW - 1]}…"
        where = f", scope {self.scope}" if self.scope is not None else ""
        return f"<Fact {self.id} {shown!r} {self.state}, {self.tier}{where}>"


class FactList(Table[Fact]):
    """A list of facts that prints one line per fact and renders as a table in notebooks."""

    columns = ("id", "type", "target", "content", "scope", "tier", "state", "learned")

    def cells(self, item: Fact) -> tuple[object, ...]:
        return (
            item.id, item.type, item.target, item.content, item.scope, item.tier, item.state,
            format_time(item.at),
        )  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(map(str, self))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two live facts that contradict each other."""

    target: str
    older: Fact
    newer: Fact
    reason: str
    """``contradicts``, or ``may replace``: the newer one may be an update of the older one."""

    def __str__(self) -> str:
        return f"{self.newer.id} {self.newer} {self.reason} {self.older.id} {self.older}"


@dataclass(frozen=True, slots=True)
class Stored:
    """The outcome of one statement."""

    id: str
    type: str
    target: str
    outcome: Outcome
    scope: str | None
    replaced: tuple[str, ...] = ()
    """Ids of the facts that this statement ended."""
    may_replace: tuple[str, ...] = ()
    """Ids of facts that it may be an update of; they stay live."""

    def __str__(self) -> str:
        links = (("replaces", self.replaced), ("may replace", self.may_replace))
        named = [f", {how} {', '.join(ids)}" for how, ids in links if ids]
        return f"{self.id} {self.type}[{self.target}] {self.outcome}{''.join(named)}"


@dataclass(frozen=True, slots=True)
class Gauge:
    """The share of the token budget that the facts in the prompt use."""

    used: int
    budget: int

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.budget) if self.budget else 100

    def __str__(self) -> str:
        return f"{self.used}/{self.budget} tokens ({self.percent}%)"


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write."""

    facts: tuple[Stored, ...]
    gauge: Gauge
    closed: tuple[str, ...]
    """Labels of the scopes that closed."""
    reopened: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    left_hot: tuple[Fact, ...]
    """Facts that left the hot set to make room. Searches still find them."""
    replaced: tuple[Fact, ...] = ()
    """The facts that are no longer true, in their former state."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.facts))


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The result of a withdrawal: the withdrawn facts, and the log entry that undoes it."""

    facts: tuple[Fact, ...]
    entry: int

    def __str__(self) -> str:
        return f"withdrew {', '.join(fact.id for fact in self.facts)} (entry {self.entry})"


@dataclass(frozen=True, slots=True)
class Ticked:
    """The result of a tick."""

    turn: int
    gauge: Gauge
    closed: tuple[str, ...]
    reopened: tuple[str, ...]
    left_hot: tuple[Fact, ...]

    def __str__(self) -> str:
        changes = (("closed", self.closed), ("reopened", self.reopened))
        named = [f"{what} {', '.join(labels)}" for what, labels in changes if labels]
        return ", ".join([f"turn {self.turn}", str(self.gauge), *named])


@dataclass(frozen=True, slots=True)
class Status:
    """The prompt block of the hot facts."""

    text: str
    tokens: int
    gauge: Gauge
    conflicts: tuple[Conflict, ...]
    scopes: tuple[str, ...]
    """The most recently touched open scopes."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Scope:
    label: str
    is_open: bool
    opened_at: float
    touched_at: float
    closed_at: float | None
    hot: int
    live: int

    def __str__(self) -> str:
        return f"{self.label} ({'open' if self.is_open else 'closed'}, {self.live} facts, {self.hot} hot)"


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
    """Return the public id of a fact."""
    return f"f{number}"


def number_of(ref: str) -> int:
    """Return the number in an id such as ``f12``. Anything else raises NotFound."""
    digits = ref.removeprefix("fact:").removeprefix("f") if isinstance(ref, str) else ""
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 18):
        raise NotFound(
            f"{ref!r} is not a fact id. Ids look like f12, and the tool memory_search returns them."
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
        row.stated_by,
        row.user_id,
    )


def conflict_of(link: FactLink) -> Conflict:
    return Conflict(link.newer.target, fact_of(link.older), fact_of(link.newer), link.reason)


def are_contradictory(one: FactRow, other: FactRow) -> bool:
    """True if two live facts on one target can't both hold.

    This applies to a constraint and a decision, and to different statements of one type in two scopes.
    """
    if one.id == other.id or one.key != other.key or is_same_content(one.content, other.content):
        return False
    if one.user_id != other.user_id and None not in (one.user_id, other.user_id):
        return False
    if {one.mark, other.mark} == {Mark.CONSTRAINT, Mark.DECISION}:
        return True
    return one.mark == other.mark and one.mark in _CLAIMS and one.scope_id != other.scope_id


def is_same_content(content: str, other: str) -> bool:
    """True if two contents are equal apart from white space."""
    return content == other or content.split() == other.split()
