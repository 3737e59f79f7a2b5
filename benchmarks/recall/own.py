"""The conversations of ``reranker/conversations.txt``, whose questions use other words than the answers.

No weight of the default ranker was fitted on them. Every other conversation is for calibration, and the rest
for reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, Turn

FILE = Path(__file__).parents[2] / "reranker" / "conversations.txt"
KINDS = ("assistant", "chat", "team")
ROLES = ("user", "assistant")
# A conversation begins at nine; its lines are a minute apart.
MORNING = 9 * 3600.0
MINUTE = 60.0
DAY = 86_400.0


def read(*, for_reports: bool) -> Data:
    """Return the half for reports or the half for calibration, one corpus per conversation."""
    parts = FILE.read_text(encoding="utf-8").split("\n===\n")
    chosen = [(number, part) for number, part in enumerate(parts) if number % 2 == for_reports]
    corpora = tuple(_read_conversation(f"own-{number}", part) for number, part in chosen)
    return Data("own", Format.LOCOMO, corpora, KINDS)


def _read_conversation(name: str, text: str) -> Corpus:
    said, _, asked = text.partition("\n---\n")
    kind = said.partition("\n")[0].removeprefix("# ").strip()
    sessions = tuple(_read_sessions(name, said))
    turns = [(session.id, turn) for session in sessions for turn in session.turns]
    asked_at = turns[-1][1].at + DAY
    questions = []
    for number, row in enumerate(asked.splitlines()):
        places, tab, question = row.partition("\t")
        if not tab:
            continue
        evidence = [turns[int(place) - 1] for place in places.split(",")]
        questions.append(
            Question(
                f"{name}?{number}",
                question,
                kind,
                asked_at,
                tuple(turn.id for _, turn in evidence),
                tuple(session for session, _ in evidence),
            )
        )
    return Corpus(name, sessions, tuple(questions))


def _read_sessions(name: str, said: str) -> Iterator[Session]:
    started_at, turns = 0.0, list[Turn]()
    for row in [*said.splitlines(), "@ 1970-01-01"]:
        speaker, tab, text = row.partition("\t")
        if row.startswith("@"):
            if turns:
                yield Session(turns[0].id.rpartition("/")[0], started_at, tuple(turns))
            day = datetime.fromisoformat(row.split()[1]).replace(tzinfo=UTC)
            started_at, turns = day.timestamp() + MORNING, []
        elif tab:
            role = speaker if speaker in ROLES else "user"
            id = f"{name}/{started_at:.0f}/{len(turns)}"
            named = None if speaker in ROLES else speaker
            turns.append(Turn(id, role, named, text, started_at + MINUTE * len(turns)))
