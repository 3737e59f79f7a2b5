"""What leaves the hot set when it grows too large. Nothing is lost by it: cold facts are found as well."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from mnemos.facts.block import MERGE, Lines, cost, fitted, tokens_of
from mnemos.language.notation import Mark, is_critical
from mnemos.storage.facts import FactRow, Hot

# Shares of the budget, in percent: what is done from there on.
IDLE: Final = 85
FULL: Final = 95
# When facts had to go, so much stays.
_RELIEVED: Final = 85

# Which types leave first. Constraints never do.
_LEAVES: Final = {
    str(mark): place
    for place, mark in enumerate((Mark.DONE, Mark.OBSOLETE, Mark.VALUE, Mark.UNKNOWN, Mark.DECISION))
}


@dataclass(frozen=True, slots=True)
class Settled:
    """What stays hot, as it is printed, and what leaves."""

    lines: Lines
    leaving: tuple[FactRow, ...]


def settle(hot: Hot, budget: int, idle_scopes: Callable[[], Collection[int]] = tuple) -> Settled:
    """Relieve the hot set, level by level, until it takes less than its budget of tokens.

    ``idle_scopes`` is asked only when it matters. What could never be printed costs the others nothing.
    """
    constraints = [fact for fact in hot.constraints if cost(fact) <= budget]
    staying = _least_useful_first(hot)
    leaving: list[FactRow] = []

    def share() -> float:
        if hot.further_constraints:
            return 100.0
        return 100 * tokens_of([*constraints, *staying], budget) / budget

    def leave(goes: Callable[[FactRow], bool]) -> None:
        leaving.extend(fact for fact in staying if goes(fact))
        staying[:] = [fact for fact in staying if not goes(fact)]

    leave(lambda fact: cost(fact) > budget)
    now = share()
    if now >= MERGE and any(fact.mark == Mark.DONE for fact in staying):
        leave(lambda fact: fact.mark == Mark.DONE)
        now = share()
    if now >= IDLE:
        idle = idle_scopes()
        leave(lambda fact: fact.scope_id in idle)
        now = share()
    if now >= FULL:
        while staying and now > _RELIEVED:
            # About as many as it takes, by what each costs alone.
            too_much = (now - _RELIEVED) * budget / 100
            while staying and too_much > 0:
                too_much -= cost(staying[0])
                leaving.append(staying.pop(0))
            now = share()
    return Settled(_printed(hot, staying, budget), tuple(leaving))


def shown(hot: Hot, budget: int) -> Lines:
    """The lines of the hot set as it is."""
    return _printed(hot, _least_useful_first(hot), budget)


def _least_useful_first(hot: Hot) -> list[FactRow]:
    """By type, then what is marked critical later, then by when and how often it was used."""
    return sorted(
        hot.others,
        key=lambda fact: (
            _LEAVES[fact.mark],
            is_critical(fact.content),
            fact.used_at,
            fact.uses,
            fact.id,
        ),
    )


def _printed(hot: Hot, others: list[FactRow], budget: int) -> Lines:
    return fitted([*hot.constraints, *reversed(others)], hot.further_constraints, budget)
