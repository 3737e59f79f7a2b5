"""Whether templates help: recorded conversations that began with one against those that did not.

It is an observation and no trial: whoever chose when to use a template chose the work, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from mnemos.templates.intervals import welch
from mnemos.templates.kinds import ToolSets
from mnemos.templates.model import TaskType
from mnemos.templates.reading import Conversations
from mnemos.templates.survey import Conversation, Survey

FIRST_TURNS: Final = 30
FEWEST: Final = 10
"""Conversations on either side from which on a difference is told."""
NOT_ENOUGH: Final = "not enough data"
_UNDECIDED: Final = "no difference shown"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure on both sides. ``difference`` is with minus without; its bounds hold in 95% of cases."""

    name: str
    with_count: int
    without_count: int
    with_mean: float | None
    without_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    verdict: str
    """``lower with a template``, ``higher …``, ``no difference shown`` or ``not enough data``."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """How many conversations there are on either side, and how they compare."""

    with_template: int
    without_template: int
    looked_at: int
    """Sessions."""
    is_complete: bool
    measures: tuple[Measure, ...]

    @property
    def is_enough(self) -> bool:
        return min(self.with_template, self.without_template) >= FEWEST


def compare(
    sessions: Conversations,
    tools: ToolSets,
    *,
    template: str | None,
    kind: TaskType | None,
    source: str | None,
    most: int,
) -> Experiment:
    survey = Survey(sessions, tools, most, source)
    treated: list[Conversation] = []
    others: list[Conversation] = []
    for conversation in survey.conversations():
        if kind is not None and conversation.kind is not kind:
            continue
        if conversation.template is None:
            others.append(conversation)
        elif template is None or conversation.template == template:
            treated.append(conversation)
    return Experiment(
        len(treated),
        len(others),
        survey.looked_at,
        survey.is_complete,
        tuple(_measured(name, measure, treated, others) for name, measure in MEASURES.items()),
    )


def error_rate(conversation: Conversation) -> float | None:
    """Of the calls in the first turns, the share that failed; None when there was none."""
    early = [
        outcome
        for call, outcome in zip(conversation.calls, conversation.outcomes, strict=True)
        if call.turn <= FIRST_TURNS
    ]
    return early.count(False) / len(early) if early else None


def turns_to_first_success(conversation: Conversation) -> float | None:
    """The turn in which a call succeeded first; one more than there were when none did."""
    for call, outcome in zip(conversation.calls, conversation.outcomes, strict=True):
        if outcome:
            return max(1, call.turn)
    return conversation.turns + 1


def calls_to_first_success(conversation: Conversation) -> float | None:
    """The same in calls: in a conversation of one long turn, turns tell nothing."""
    outcomes = conversation.outcomes
    return outcomes.index(True) + 1 if True in outcomes else len(outcomes) + 1


def total_errors(conversation: Conversation) -> float | None:
    return conversation.outcomes.count(False)


def tool_diversity(conversation: Conversation) -> float | None:
    """How many different tools were called."""
    return len({call.tool_name for call in conversation.calls})


MEASURES: Final[dict[str, Callable[[Conversation], float | None]]] = {
    f"error rate in the first {FIRST_TURNS} turns": error_rate,
    "turns to first success": turns_to_first_success,
    "calls to first success": calls_to_first_success,
    "total errors": total_errors,
    "tool diversity": tool_diversity,
}


def _measured(
    name: str,
    measure: Callable[[Conversation], float | None],
    treated: Sequence[Conversation],
    others: Sequence[Conversation],
) -> Measure:
    first, second = (
        [value for one in side if (value := measure(one)) is not None] for side in (treated, others)
    )
    sides = len(first), len(second), _mean(first), _mean(second)
    if min(len(first), len(second)) < FEWEST:
        return Measure(name, *sides, None, None, None, NOT_ENOUGH)
    found = welch(first, second)
    verdict = (
        "lower with a template"
        if found.high < 0
        else "higher with a template"
        if found.low > 0
        else _UNDECIDED
    )
    return Measure(name, *sides, found.value, found.low, found.high, verdict)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
