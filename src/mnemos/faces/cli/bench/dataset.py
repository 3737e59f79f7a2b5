"""Conversation files with questions: LoCoMo, LongMemEval, or JSON lines.

A line is ``{"id", "sessions": [{"id", "started_at", "messages": [{"content", "role"?, "speaker"?, "id"?,
"timestamp"?}]}], "questions": [{"question", "evidence", "category"?, "asked_at"?}]}``. A session of an export
fits as it is. Evidence names messages by id (without one: ``SESSION:NUMBER``, counted from 1) or whole
sessions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC
from itertools import chain
from pathlib import Path
from typing import Any, TextIO, TypeVar

import msgspec

from mnemos.errors import InvalidInput, NotFound
from mnemos.faces.cli.bench import locomo, longmemeval
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, Turn
from mnemos.language.moments import read_moment
from mnemos.structs import convert

_PIECE = 1 << 20
# The separators between the items of a list, or between lines.
_BETWEEN = re.compile(r"[\s,\[\]]*")

T = TypeVar("T")

# For each format: a field that only its items have, their reader, and the field to group figures by.
_MARKS = {
    Format.LOCOMO: "conversation",
    Format.LONGMEMEVAL: "haystack_sessions",
    Format.LINES: "sessions",
}
_CATEGORIES = {Format.LOCOMO: locomo.CATEGORIES, Format.LONGMEMEVAL: longmemeval.CATEGORIES}


def read(path: Path, format: Format | None = None) -> Data:
    """Return the conversations and questions of a file.

    Without a format, the first item decides. A missing file raises NotFound; one that cannot be read raises
    InvalidInput with the file, the item and the field. Items are read one after the other, so a large file is
    never in memory as text.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return _read(path, _items(file), format)
    except FileNotFoundError as exc:
        raise NotFound(f"There is no file {path}. See docs/how-to/measure-recall.md for data.") from exc
    except json.JSONDecodeError as exc:
        raise InvalidInput(f"{path} is neither JSON nor lines of JSON: {exc}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc}") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}") from exc


def _read(path: Path, items: Iterator[Any], format: Format | None) -> Data:
    first = next(items, None)
    if first is None:
        raise InvalidInput(f"{path} has no conversations")
    format = format or _detect(path, first)
    left_out: Counter[str] = Counter()
    corpora = []
    for number, item in enumerate(chain([first], items), start=1):
        try:
            corpora.append(_READERS[format](item, left_out))
        except (msgspec.ValidationError, InvalidInput) as exc:
            raise InvalidInput(f"{path}: item {number} does not match the format {format}: {exc}") from exc
    _check_ids(path, corpora)
    if not any(corpus.questions for corpus in corpora):
        raise InvalidInput(f"{path} has no question with evidence. There is nothing to measure.")
    return Data(path.stem, format, tuple(corpora), _categories(format, corpora), dict(left_out))


def _detect(path: Path, item: Any) -> Format:
    for format, mark in _MARKS.items():
        if isinstance(item, dict) and mark in item:
            return format
    has = f"the fields {', '.join(sorted(item)[:8])}" if isinstance(item, dict) else repr(item)[:80]
    raise InvalidInput(
        f"{path}: the format of the first item is unknown, it has {has}. Use {', '.join(Format)}."
    )


def _categories(format: Format, corpora: list[Corpus]) -> tuple[str, ...]:
    """Return the categories in use: known ones in order, then others as they come."""
    found = dict.fromkeys(question.category for corpus in corpora for question in corpus.questions)
    known = _CATEGORIES.get(format, ())
    return (*(name for name in known if name in found), *(name for name in found if name not in known))


def _check_ids(path: Path, corpora: list[Corpus]) -> None:
    """Refuse a session that occurs twice in a corpus, where evidence is ambiguous."""
    for number, corpus in enumerate(corpora, start=1):
        counts = Counter(session.id for session in corpus.sessions)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise InvalidInput(f"{path}: item {number} ({corpus.id}) has the session {twice[0]!r} twice")


def _items(file: TextIO) -> Iterator[Any]:
    """Yield the items of a JSON list or JSON lines, without reading the whole file."""
    decoder = json.JSONDecoder()
    text, place = file.read(_PIECE), 0
    while text:
        place = _find_end_of_gap(text, place)
        if place == len(text):
            text, place = file.read(_PIECE), 0
            continue
        try:
            item, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            # The item is cut off or wrong, which more text decides. Doubling keeps the whole linear.
            more = file.read(max(_PIECE, len(text) - place))
            if not more:
                raise
            text, place = text[place:] + more, 0
            continue
        yield item


def _find_end_of_gap(text: str, place: int) -> int:
    gap = _BETWEEN.match(text, place)
    return gap.end() if gap else place


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


def read_lines(item: Any, left_out: Counter[str]) -> Corpus:
    read = convert(item, _Item)
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
        asked_at = read_moment(f"questions[{number}].asked_at", one.asked_at, 0.0, UTC)
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
    start = read_moment(f"started_at of session {one.id}", one.started_at, 0.0, UTC) or 0.0
    turns = []
    for place, message in enumerate(one.messages, start=1):
        name = f"{one.id}:{place}" if message.id is None else str(message.id)
        at = read_moment(f"timestamp of message {name}", message.timestamp, 0.0, UTC)
        at = start + place * SECONDS_BETWEEN_TURNS if at is None else at
        turns.append(Turn(name, message.role, message.speaker, message.content or "", at))
    return Session(one.id, start, tuple(turns))


def _evidence(
    question: _Question, homes: dict[str, str], left_out: Counter[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the named turns and sessions; without turns, the question names sessions."""
    names = list(dict.fromkeys(map(str, question.evidence)))
    turns = [name for name in names if name in homes]
    wholes = [name for name in names if name not in homes and name in homes.values()]
    left_out["evidence that names no turn"] += len(names) - len(turns) - len(wholes)
    sessions = dict.fromkeys([*(homes[turn] for turn in turns), *wholes])
    return (() if wholes else tuple(turns)), tuple(sessions)


_READERS: dict[Format, Callable[[Any, Counter[str]], Corpus]] = {
    Format.LOCOMO: locomo.corpus,
    Format.LONGMEMEVAL: longmemeval.corpus,
    Format.LINES: read_lines,
}
