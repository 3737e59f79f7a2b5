"""Which conversations are worth lifting a template from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from mnemos.templates.intervals import wilson
from mnemos.templates.kinds import ToolSets
from mnemos.templates.model import TaskType
from mnemos.templates.reading import Conversations
from mnemos.templates.survey import Conversation, Survey

# How much each reason counts. Success is judged by what it is at least, so that one call that worked is
# less than forty of forty-two.
_SUCCESS: Final = 0.45
_LOOPS: Final = 0.25
_RUNS: Final = 0.10
_OUTCOME: Final = 0.20
# Each further loop is worth half of the one before, and so are three runs.
_RUNS_AS_ONE: Final = 3

_ENDED_WELL: Final = re.compile(r"done|complet|finish|succe|solved|resolv|merged|shipped", re.IGNORECASE)
_ENDED_BADLY: Final = re.compile(
    r"error|fail|crash|tim(?:ed|e).?out|abort|cancel|kill|interrupt|incomplet|unsolved|unresolved|unfinish"
    r"|unsucce|limit|max_",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A conversation with what speaks for it; ``score`` is between 0 and 1."""

    session_id: str
    title: str | None
    source: str
    started_at: float
    task_type: TaskType
    calls: int
    succeeded: int
    loops: int
    """How often something was run, failed, and was run again until it worked."""
    runs: int
    """How often something was run."""
    end_reason: str | None
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggested:
    """Suggestions, best first, and out of how many sessions."""

    suggestions: tuple[Suggestion, ...]
    looked_at: int
    is_complete: bool


def suggest(
    sessions: Conversations,
    tools: ToolSets,
    *,
    kind: TaskType | None,
    lifted: frozenset[str],
    limit: int,
    most: int,
) -> Suggested:
    survey = Survey(sessions, tools, most)
    found = [
        judged(conversation, tools)
        for conversation in survey.conversations()
        if any(conversation.outcomes)
        and not lifted.intersection(conversation.sessions)
        and (kind is None or conversation.kind is kind)
    ]
    found.sort(key=lambda one: (-one.score, -one.started_at, one.session_id))
    return Suggested(tuple(found[:limit]), survey.looked_at, survey.is_complete)


def judged(conversation: Conversation, tools: ToolSets) -> Suggestion:
    total, good = len(conversation.outcomes), sum(conversation.outcomes)
    kinds = [tools.kind_of(call.tool_name) for call in conversation.calls]
    runs = [
        outcome for outcome, kind in zip(conversation.outcomes, kinds, strict=True) if kind is TaskType.CODE
    ]
    loops = feedback_loops(runs)
    score = (
        _SUCCESS * wilson(good, total)[0]
        + _LOOPS * (1 - 0.5**loops)
        + _RUNS * (1 - 0.5 ** (len(runs) / _RUNS_AS_ONE))
        + _OUTCOME * outcome_of(conversation.end_reason)
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


def feedback_loops(runs: Sequence[bool]) -> int:
    """How often a run that worked followed one that did not."""
    return sum(now and not before for before, now in pairwise(runs))


def outcome_of(end_reason: str | None) -> float:
    """1 for a good end, 0 for a bad one; one half when nobody said."""
    if not end_reason:
        return 0.5
    if _ENDED_BADLY.search(end_reason):
        return 0.0
    return 1.0 if _ENDED_WELL.search(end_reason) else 0.5
