"""LoCoMo: long conversations of two people, with questions and evidence.

Each item has ``conversation`` (``session_N``: a list of turns; ``session_N_date_time``) and ``qa``.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from mnemos.errors import InvalidInput
from mnemos.faces.cli.bench.corpus import Corpus, Question, Session, Turn
from mnemos.structs import convert

CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop")
# The conversation has no answer to these questions, so there is nothing to recall.
ADVERSARIAL = 5
SECONDS_BETWEEN_TURNS = 10.0

_SESSION = re.compile(r"session_(\d+)")
# Also matches inside 'D8:6; D9:17' and the misspelling 'D:11:26'.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_WHEN = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2}) (\w+),? (\d{4})", re.IGNORECASE)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip


class _Turn(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Question(msgspec.Struct):
    question: str
    category: int
    evidence: list[str] = []


class _Item(msgspec.Struct):
    conversation: dict[str, Any]
    qa: list[_Question]
    sample_id: str = "conversation"


def corpus(item: Any, left_out: Counter[str]) -> Corpus:
    """Read one conversation. ``left_out`` counts questions that can't be used."""
    read = convert(item, _Item)
    sessions = _sessions(read.conversation)
    if not sessions:
        raise InvalidInput(f"conversation of {read.sample_id} has no session_N with turns")
    # Questions are asked after the last message.
    asked_at = max(turn.at for session in sessions for turn in session.turns)
    homes = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = []
    for number, one in enumerate(read.qa):
        if one.category == ADVERSARIAL:
            left_out["adversarial questions"] += 1
            continue
        if not 1 <= one.category <= len(CATEGORIES):
            raise InvalidInput(f"qa[{number}].category of {read.sample_id} is {one.category}. Use 1 to 5.")
        turns = _evidence(one.evidence, homes, left_out)
        if not turns:
            left_out["questions without evidence"] += 1
            continue
        questions.append(
            Question(
                id=f"{read.sample_id}:{number}",
                text=one.question,
                category=CATEGORIES[one.category - 1],
                asked_at=asked_at,
                turns=turns,
                sessions=tuple(homes[turn] for turn in turns),
            )
        )
    return Corpus(read.sample_id, tuple(sessions), tuple(questions))


def moment(text: str) -> float:
    """Convert a time such as ``1:56 pm on 8 May, 2023`` to Unix seconds."""
    found = _WHEN.search(text)
    if found is None or found[5].lower() not in _MONTHS:
        raise InvalidInput(f"{text!r} is not a time such as '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    month = _MONTHS.index(found[5].lower()) + 1
    try:
        return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC).timestamp()
    except ValueError as exc:
        raise InvalidInput(f"{text!r} is not a time: {exc}") from exc


def _sessions(conversation: dict[str, Any]) -> list[Session]:
    numbers = [int(key[1]) for name in conversation if (key := _SESSION.fullmatch(name))]
    sessions = (_session(number, conversation) for number in sorted(numbers))
    return [session for session in sessions if session.turns]


def _session(number: int, conversation: dict[str, Any]) -> Session:
    name = f"session_{number}"
    try:
        said = convert(conversation[name], list[_Turn])
    except msgspec.ValidationError as exc:
        raise InvalidInput(f"conversation.{name}: {exc}") from exc
    when = conversation.get(f"{name}_date_time")
    if not isinstance(when, str):
        raise InvalidInput(f"conversation.{name}_date_time is {when!r}. It must say when the session was.")
    start = moment(when)
    turns = tuple(
        Turn(turn.dia_id, "user", turn.speaker, _text(turn), start + place * SECONDS_BETWEEN_TURNS)
        for place, turn in enumerate(said)
    )
    return Session(f"D{number}", start, turns)


def _text(turn: _Turn) -> str:
    """Return a turn's text, with the caption of a picture that was sent."""
    return f"{turn.text} ({turn.blip_caption})" if turn.blip_caption else turn.text


def _evidence(named: list[str], homes: dict[str, str], left_out: Counter[str]) -> tuple[str, ...]:
    """Return the named turns that exist, each once. Odd spellings are repaired."""
    turns: dict[str, None] = {}
    for text in named:
        found = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(text)]
        if found != [text]:
            left_out["misspelt evidence, repaired" if found else "evidence that names no turn"] += 1
        for turn in found:
            if turn in homes:
                turns[turn] = None
            else:
                left_out["evidence that names no turn"] += 1
    return tuple(turns)
