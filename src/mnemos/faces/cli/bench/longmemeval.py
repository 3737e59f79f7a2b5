"""LongMemEval: questions, each with the user's sessions that it is asked of."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from mnemos.errors import InvalidInput
from mnemos.faces.cli.bench.corpus import Corpus, Question, Session, Turn
from mnemos.structs import convert

CATEGORIES = (
    "single-session-user", "single-session-assistant", "single-session-preference", "multi-session",
    "knowledge-update", "temporal-reasoning",
)  # fmt: skip
# These questions have no answer, so recall should find nothing.
ABSTENTION = "_abs"
SECONDS_BETWEEN_TURNS = 10.0

_WHEN = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?: \(\w+\))?(?: (\d{1,2}):(\d{2}))?")


class _Turn(msgspec.Struct):
    role: str
    content: str
    has_answer: bool | None = None


class _Item(msgspec.Struct):
    question_id: str
    question_type: str
    question: str
    question_date: str
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]


def corpus(item: Any, left_out: Counter[str]) -> Corpus:
    """Read one question with its sessions. Without an answer, only the sessions count."""
    read = convert(item, _Item)
    counts = {len(read.haystack_sessions), len(read.haystack_session_ids), len(read.haystack_dates)}
    if len(counts) > 1:
        raise InvalidInput(
            f"{read.question_id} has {len(read.haystack_sessions)} haystack_sessions, "
            f"{len(read.haystack_session_ids)} haystack_session_ids and {len(read.haystack_dates)} "
            "haystack_dates. There must be the same number of each."
        )
    asked_at = _moment("question_date", read.question_date)
    sessions = tuple(
        _session(name, _moment(f"haystack_dates[{place}]", when), said)
        for place, (name, when, said) in enumerate(
            zip(read.haystack_session_ids, read.haystack_dates, read.haystack_sessions, strict=True)
        )
        if said
    )
    question = _question(read, asked_at, left_out)
    return Corpus(read.question_id, sessions, (question,) if question else ())


def turn_id(session_id: str, place: int) -> str:
    return f"{session_id}:{place}"


def _question(item: _Item, asked_at: float, left_out: Counter[str]) -> Question | None:
    if item.question_id.endswith(ABSTENTION):
        left_out["questions without an answer"] += 1
        return None
    there = {
        name for name, said in zip(item.haystack_session_ids, item.haystack_sessions, strict=True) if said
    }
    wanted = tuple(name for name in dict.fromkeys(item.answer_session_ids) if name in there)
    if not wanted:
        left_out["questions without evidence"] += 1
        return None
    turns = tuple(
        turn_id(name, place)
        for name, said in zip(item.haystack_session_ids, item.haystack_sessions, strict=True)
        if name in wanted
        for place, turn in enumerate(said, start=1)
        if turn.has_answer
    )
    if not turns:
        left_out["questions with evidence for sessions only"] += 1
    return Question(item.question_id, item.question, item.question_type, asked_at, turns, wanted)


def _session(name: str, start: float, said: list[_Turn]) -> Session:
    turns = tuple(
        Turn(turn_id(name, place), turn.role, None, turn.content, start + place * SECONDS_BETWEEN_TURNS)
        for place, turn in enumerate(said, start=1)
    )
    return Session(name, start, turns)


def _moment(field: str, text: str) -> float:
    """Convert a time such as ``2023/06/28 (Wed) 20:07`` to Unix seconds."""
    found = _WHEN.match(text)
    if found is None:
        raise InvalidInput(f"{field} is {text!r}, which is not a time such as '2023/06/28 (Wed) 20:07'")
    year, month, day, hour, minute = (int(part or 0) for part in found.groups())
    try:
        return datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()
    except ValueError as exc:
        raise InvalidInput(f"{field} is {text!r}: {exc}") from exc
