"""Our own format for measuring on conversations of one's own: one conversation a line.

``{"id", "sessions": [{"id", "started_at", "messages": [{"content", "role"?, "speaker"?, "id"?,
"timestamp"?}]}], "questions": [{"question", "evidence", "category"?, "asked_at"?}]}``. A session of an
export fits as it is. Evidence names messages by id (when they have none: ``SESSION:NUMBER``, counted
from 1) or whole sessions.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from mnemos.bench.model import Corpus, Question, Session, Turn
from mnemos.errors import InvalidInput
from mnemos.operations.arguments import seconds

SECONDS_BETWEEN_TURNS = 10.0


class _Message(msgspec.Struct):
    content: str | None = None
    role: str = "user"
    speaker: str | None = None
    id: str | int | None = None
    timestamp: str | float | None = None


class _Session(msgspec.Struct):
    id: str
    started_at: str | float
    messages: list[_Message]


class _Question(msgspec.Struct):
    question: str
    evidence: list[str | int]
    category: str = "question"
    asked_at: str | float | None = None
    id: str | None = None


class _Item(msgspec.Struct):
    sessions: list[_Session]
    questions: list[_Question]
    id: str = "conversation"


def corpus(item: Any, left_out: Counter[str]) -> Corpus:
    read = msgspec.convert(item, _Item)
    sessions = tuple(_session(one) for one in read.sessions if one.messages)
    if not sessions:
        raise InvalidInput(f"{read.id} has no session with messages")
    last = max(turn.at for session in sessions for turn in session.turns)
    homes = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = []
    for number, one in enumerate(read.questions):
        turns, named = _evidence(one, homes, left_out)
        if not named:
            left_out["questions without evidence"] += 1
            continue
        asked_at = seconds(f"questions[{number}].asked_at", one.asked_at)
        questions.append(
            Question(
                id=one.id or f"{read.id}:{number}",
                text=one.question,
                category=one.category,
                asked_at=last if asked_at is None else asked_at,
                turns=turns,
                sessions=named,
            )
        )
    return Corpus(read.id, sessions, tuple(questions))


def _session(one: _Session) -> Session:
    start = seconds(f"started_at of session {one.id}", one.started_at) or 0.0
    turns = []
    for place, message in enumerate(one.messages, start=1):
        name = f"{one.id}:{place}" if message.id is None else str(message.id)
        at = seconds(f"timestamp of message {name}", message.timestamp)
        at = start + place * SECONDS_BETWEEN_TURNS if at is None else at
        turns.append(Turn(name, message.role, message.speaker, message.content or "", at))
    return Session(one.id, start, tuple(turns))


def _evidence(
    question: _Question, homes: dict[str, str], left_out: Counter[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The turns and the sessions that are named; a question of whole sessions has no turns."""
    names = list(dict.fromkeys(map(str, question.evidence)))
    turns = [name for name in names if name in homes]
    wholes = [name for name in names if name not in homes and name in homes.values()]
    left_out["evidence that is no turn"] += len(names) - len(turns) - len(wholes)
    sessions = dict.fromkeys([*(homes[turn] for turn in turns), *wholes])
    return (() if wholes else tuple(turns)), tuple(sessions)
