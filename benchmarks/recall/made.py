"""Questions over made-up histories: lists, "our conversations", advice with a date, standing instructions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, Turn

TOPICS = Path(__file__).with_name("made.txt")
STANDING = Path(__file__).with_name("standing.tsv")
SEVERAL, OURS, ADVICE, RULES = "several places", "our conversations", "advice with a date", "standing"
MARKS = {"?": SEVERAL, "~": OURS, ">": ADVICE}
START = 1.7e9
DAY = 86_400.0
ASKED_AT = START + 317 * DAY
REPLIES = ("Noted!", "I see.", "Tell me more.", "That sounds like quite a day.")


def read() -> Data:
    """Return one home: a conversation for each line of an answer, and for each standing instruction."""
    sessions: list[Session] = []
    questions: list[Question] = []
    for number, (asked, talks) in enumerate(_topics()):
        made = [
            _talk(f"{number}-{place}", START + (20 * place + number) * DAY, lines)
            for place, lines in enumerate(talks)
        ]
        sessions += made
        questions += [_question(f"{number}?{n}", text, kind, made) for n, (kind, text) in enumerate(asked)]
    for number, line in enumerate(STANDING.read_text(encoding="utf-8").splitlines()):
        rule, request = line.split("\t")
        talk = _talk(
            f"rule-{number}", START + (5 * number + 0.5) * DAY, [rule, "The weather is awful today."]
        )
        sessions.append(talk)
        questions.append(_question(talk.id, request, RULES, [talk]))
    ordered = sorted(sessions, key=lambda session: session.started_at)
    corpus = Corpus("made", tuple(ordered), tuple(questions))
    return Data("made-up", Format.LOCOMO, (corpus,), (SEVERAL, OURS, ADVICE, RULES))


def _question(name: str, text: str, kind: str, wanted: list[Session]) -> Question:
    turns = tuple(session.turns[0].id for session in wanted)
    return Question(name, text, kind, ASKED_AT, turns, tuple(session.id for session in wanted))


def _topics() -> Iterator[tuple[list[tuple[str, str]], list[list[str]]]]:
    asked: list[tuple[str, str]] = []
    talks: list[list[str]] = []
    for line in TOPICS.read_text(encoding="utf-8").splitlines():
        mark, content = line[:1], line[2:]
        if mark in MARKS:
            if talks:
                yield asked, talks
                asked, talks = [], []
            asked.append((MARKS[mark], content))
        elif mark == "-":
            talks.append([content])
        elif mark == "+":
            talks[-1].append(content)
    yield asked, talks


def _talk(name: str, at: float, lines: list[str]) -> Session:
    said = [part for number, line in enumerate(lines) for part in (line, REPLIES[number % len(REPLIES)])]
    turns = tuple(
        Turn(f"{name}/{place}", ("user", "assistant")[place % 2], None, text, at + 60 * place)
        for place, text in enumerate(said)
    )
    return Session(name, at, turns)
