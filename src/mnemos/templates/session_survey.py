"""Survey of recorded conversations: which are worth a template, and whether templates help.

The comparison is an observation, not a trial: whoever chose when to use a template chose the work, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, variance
from typing import Any, Final

from mnemos.errors import NotFound
from mnemos.templates.template import TaskType, ToolSets, classify_task_type
from mnemos.templates.template_injection import LOADED, find_loaded_template, is_injected_line
from mnemos.templates.tool_calls import AnsweredCall, Conversations, match_calls

MAX_MESSAGES: Final = 200_000
"""The most messages one survey reads, so that it takes seconds however many there are."""
_PAGE: Final = 100
_ANNOUNCING_ROLES: Final = ("system", "developer", "user")

# Weights of a suggestion's score. Success counts by the lower bound of its rate, so that one call that worked
# is worth less than forty of forty-two. Each further loop, or three more runs, is worth half of the last.
_SUCCESS_WEIGHT: Final = 0.45
_LOOP_WEIGHT: Final = 0.25
_RUN_WEIGHT: Final = 0.10
_OUTCOME_WEIGHT: Final = 0.20
_RUNS_AS_ONE: Final = 3
_GOOD_END: Final = re.compile(r"done|complet|finish|succe|solved|resolv|merged|shipped", re.IGNORECASE)
_BAD_END: Final = re.compile(
    r"error|fail|crash|tim(?:ed|e).?out|abort|cancel|kill|interrupt|incomplet|unsolved|unresolved|unfinish"
    r"|unsucce|limit|max_",
    re.IGNORECASE,
)

FIRST_TURNS: Final = 30
MIN_CONVERSATIONS: Final = 10
"""Conversations needed on each side before a difference is reported."""
NOT_ENOUGH: Final = "not enough data"
# 95% of a normal distribution is within this many standard deviations.
_Z: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with the outcome of each of its answered calls."""

    session_id: str
    """The first session of its lineage."""
    sessions: tuple[str, ...]
    title: str | None
    source: str
    started_at: float
    end_reason: str | None
    """The reason why the last session ended."""
    turns: int
    calls: tuple[AnsweredCall, ...]
    outcomes: tuple[bool, ...]
    kind: TaskType
    template: str | None
    """The template it began with."""

    def judged_calls(self) -> Iterator[tuple[AnsweredCall, bool]]:
        return zip(self.calls, self.outcomes, strict=True)


@dataclass(slots=True)
class Survey:
    """The newest conversations. The counts are final once ``conversations`` is exhausted."""

    sessions: Conversations
    tools: ToolSets
    max_sessions: int
    source: str | None = None
    looked_at: int = 0
    """Sessions read."""
    is_complete: bool = True
    """False if a limit ended the survey."""

    def conversations(self) -> Iterator[Conversation]:
        """Yield the conversations that called tools, newest first."""
        seen: set[str] = set()
        room = MAX_MESSAGES
        for row in self._newest():
            if row["id"] in seen:
                continue
            try:
                lineage = self.sessions.get_lineage(row["id"])
                messages = [message for one in lineage for message in self.sessions.get_messages(one)]
            except NotFound:
                # Deleted since it was listed.
                continue
            seen.update(lineage)
            room -= len(messages)
            if calls := list(match_calls(messages)):
                yield self._describe(lineage, messages, calls)
            if room <= 0:
                self.is_complete = False
                return

    def _newest(self) -> Iterator[Mapping[str, Any]]:
        while True:
            page = self.sessions.search_sessions(self.source, _PAGE, self.looked_at, archived=None)
            for row in page:
                if self.looked_at >= self.max_sessions:
                    self.is_complete = False
                    return
                self.looked_at += 1
                yield row
            if len(page) < _PAGE:
                return

    def _describe(
        self, lineage: list[str], messages: Sequence[Mapping[str, Any]], calls: list[AnsweredCall]
    ) -> Conversation:
        rows = [row for one in lineage if (row := self.sessions.get_session(one)) is not None]
        first, last = (rows[0], rows[-1]) if rows else ({}, {})
        return Conversation(
            lineage[0],
            tuple(lineage),
            first.get("title") or last.get("title"),
            first.get("source", ""),
            first.get("started_at", 0.0),
            last.get("end_reason"),
            sum(message["role"] == "user" and not is_injected_line(message) for message in messages),
            tuple(calls),
            tuple(call.is_success(self.tools) for call in calls),
            classify_task_type([call.tool_name for call in calls], self.tools),
            _find_template(rows, messages),
        )


def _find_template(rows: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the template a conversation began with, by its metadata, prompt or messages."""
    for row in rows:
        metadata = row.get("metadata")
        named = metadata.get("template") if isinstance(metadata, Mapping) else None
        if isinstance(named, str) and named:
            return named
        if announced := find_loaded_template(row.get("system_prompt") or ""):
            return announced
    for message in messages:
        content = message["content"]
        if message["role"] in _ANNOUNCING_ROLES and isinstance(content, str) and content.startswith(LOADED):
            return find_loaded_template(content)
    return None


# --- suggestions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A conversation worth a template. ``score`` is between 0 and 1."""

    session_id: str
    title: str | None
    source: str
    started_at: float
    task_type: TaskType
    calls: int
    succeeded: int
    loops: int
    """Times that a failed run was followed by one that worked."""
    runs: int
    """Calls that ran code."""
    end_reason: str | None
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggestions, best first, and the sessions that were searched."""

    suggestions: tuple[Suggestion, ...]
    looked_at: int
    is_complete: bool


def suggest(survey: Survey, *, kind: TaskType | None, used: frozenset[str], limit: int) -> Suggestions:
    """Rank conversations with a successful call that are not among the ``used`` sessions."""
    found = [
        score_conversation(one, survey.tools)
        for one in survey.conversations()
        if any(one.outcomes) and not used.intersection(one.sessions) and (kind is None or one.kind is kind)
    ]
    found.sort(key=lambda one: (-one.score, -one.started_at, one.session_id))
    return Suggestions(tuple(found[:limit]), survey.looked_at, survey.is_complete)


def score_conversation(conversation: Conversation, tools: ToolSets) -> Suggestion:
    total, good = len(conversation.outcomes), sum(conversation.outcomes)
    runs = [
        outcome
        for call, outcome in conversation.judged_calls()
        if tools.find_kind(call.tool_name) is TaskType.CODE
    ]
    loops = count_loops(runs)
    score = (
        _SUCCESS_WEIGHT * least_rate(good, total)
        + _LOOP_WEIGHT * (1 - 0.5**loops)
        + _RUN_WEIGHT * (1 - 0.5 ** (len(runs) / _RUNS_AS_ONE))
        + _OUTCOME_WEIGHT * rate_end(conversation.end_reason)
    )
    why = [f"{good} of {total} calls succeeded"]
    if loops:
        why.append(f"{loops} {'loop' if loops == 1 else 'loops'} of running, seeing and fixing")
    if runs:
        why.append(f"ran something {len(runs)} {'time' if len(runs) == 1 else 'times'}")
    if conversation.end_reason:
        why.append(f"ended with {conversation.end_reason!r}")
    return Suggestion(
        conversation.session_id,
        conversation.title,
        conversation.source,
        conversation.started_at,
        conversation.kind,
        total,
        good,
        loops,
        len(runs),
        conversation.end_reason,
        round(score, 4),
        tuple(why),
    )


def count_loops(runs: Sequence[bool]) -> int:
    """Count the runs that worked right after one that failed."""
    return sum(now and not before for before, now in pairwise(runs))


def rate_end(end_reason: str | None) -> float:
    """Return 1 for a good end, 0 for a bad one, and one half if unknown."""
    if not end_reason:
        return 0.5
    if _BAD_END.search(end_reason):
        return 0.0
    return 1.0 if _GOOD_END.search(end_reason) else 0.5


def least_rate(successes: int, total: int) -> float:
    """Return the lower end of the 95% interval of a rate (Wilson), which suits small samples."""
    share = successes / total
    spread = _Z * math.sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
    return max(0.0, (share + _Z**2 / (2 * total) - spread) / (1 + _Z**2 / total))


# --- comparison -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure on both sides. ``difference`` is with minus without, ``low`` to ``high`` its 95% interval."""

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
    """The comparison of conversations with and without a template."""

    with_template: int
    without_template: int
    looked_at: int
    """Sessions read."""
    is_complete: bool
    measures: tuple[Measure, ...]

    @property
    def is_enough(self) -> bool:
        return min(self.with_template, self.without_template) >= MIN_CONVERSATIONS


def compare(survey: Survey, *, template: str | None, kind: TaskType | None) -> Experiment:
    """Compare conversations with a template, or with any if None, to those without one."""
    found = [one for one in survey.conversations() if kind is None or one.kind is kind]
    treated = [one for one in found if one.template and template in (None, one.template)]
    others = [one for one in found if one.template is None]
    return Experiment(
        len(treated),
        len(others),
        survey.looked_at,
        survey.is_complete,
        tuple(_compare_measure(name, measure, treated, others) for name, measure in MEASURES.items()),
    )


def _error_rate(conversation: Conversation) -> float | None:
    """Return the share of failed calls in the first turns; None if there was no call."""
    early = [outcome for call, outcome in conversation.judged_calls() if call.turn <= FIRST_TURNS]
    return early.count(False) / len(early) if early else None


def _turns_to_first_success(conversation: Conversation) -> float:
    """Return the turn of the first success; without one, one more than there were."""
    for call, outcome in conversation.judged_calls():
        if outcome:
            return max(1, call.turn)
    return conversation.turns + 1


def _calls_to_first_success(conversation: Conversation) -> float:
    """Return the same in calls: a conversation of one long turn has only one turn."""
    outcomes = conversation.outcomes
    return outcomes.index(True) + 1 if True in outcomes else len(outcomes) + 1


MEASURES: Final[dict[str, Callable[[Conversation], float | None]]] = {
    f"error rate in the first {FIRST_TURNS} turns": _error_rate,
    "turns to first success": _turns_to_first_success,
    "calls to first success": _calls_to_first_success,
    "total errors": lambda conversation: conversation.outcomes.count(False),
    "tool diversity": lambda conversation: len({call.tool_name for call in conversation.calls}),
}


def _compare_measure(
    name: str,
    measure: Callable[[Conversation], float | None],
    treated: Sequence[Conversation],
    others: Sequence[Conversation],
) -> Measure:
    first, second = (
        [value for one in side if (value := measure(one)) is not None] for side in (treated, others)
    )
    sizes = len(first), len(second)
    means = fmean(first) if first else None, fmean(second) if second else None
    if min(sizes) < MIN_CONVERSATIONS:
        return Measure(name, *sizes, *means, None, None, None, NOT_ENOUGH)
    difference = fmean(first) - fmean(second)
    reach = interval_reach(first, second)
    if difference + reach < 0:
        verdict = "lower with a template"
    elif difference - reach > 0:
        verdict = "higher with a template"
    else:
        verdict = "no difference shown"
    bounds = difference, difference - reach, difference + reach
    return Measure(name, *sizes, *means, *bounds, verdict)


def interval_reach(first: Sequence[float], second: Sequence[float]) -> float:
    """Return half the width of the 95% interval of a difference of means (Welch).

    The quantile of t is a series in 1/degrees of freedom, exact to 0.001 from nine degrees on, which is
    what ``MIN_CONVERSATIONS`` guarantees.
    """
    parts = [variance(sample) / len(sample) for sample in (first, second)]
    error = sum(parts)
    if error == 0.0:
        return 0.0
    # By shares of the sum, because the squares of tiny numbers underflow.
    freedom = 1 / sum(
        (part / error) ** 2 / (len(sample) - 1) for part, sample in zip(parts, (first, second), strict=True)
    )
    quantile = (
        _Z
        + (_Z**3 + _Z) / (4 * freedom)
        + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
        + (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / (384 * freedom**3)
    )
    return quantile * math.sqrt(error)
