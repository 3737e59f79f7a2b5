"""The conversations of ``reranker/conversations.txt``, whose questions use other words than the answers.

No weight of the default ranker was fitted on them. Every other conversation is for calibration, and the rest
for reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, Turn
from mnemos.faces.cli.bench.measurement import Home, make_messages
from mnemos.memory import Memory

FILE = Path(__file__).parents[2] / "reranker" / "conversations.txt"
NAMES_SOMEBODY, NAMES_NOBODY = "names somebody", "names nobody"
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
    return Data("own", Format.LOCOMO, corpora, (NAMES_SOMEBODY, NAMES_NOBODY))


def _read_conversation(name: str, text: str) -> Corpus:
    said, _, asked = text.partition("\n---\n")
    sessions = tuple(_read_sessions(name, said))
    turns = [(session.id, turn) for session in sessions for turn in session.turns]
    names = {turn.speaker for _, turn in turns if turn.speaker}
    asked_at = turns[-1][1].at + DAY
    questions = []
    for number, row in enumerate(asked.splitlines()):
        places, tab, question = row.partition("\t")
        if not tab:
            continue
        named = names.intersection(re.findall(r"\w+", question))
        evidence = [turns[int(place) - 1] for place in places.split(",")]
        questions.append(
            Question(
                f"{name}?{number}",
                question,
                NAMES_SOMEBODY if named else NAMES_NOBODY,
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


class _InProjects(Home):
    """Asks each question in the project of its conversation."""

    project_of: Mapping[str, str]

    def ask(self, text: str, limit: int, now: float) -> list[str]:
        found = self.memory.recall(text, limit=limit, now=now, project=self.project_of.get(text))
        return [self.turn_of[hit.ref] for hit in found.hits if isinstance(hit.ref, int)]


@contextmanager
def in_projects(corpus: Corpus) -> Iterator[Home]:
    """Make a home in which every conversation is a project of its own."""
    with (
        TemporaryDirectory(prefix="mnemos-bench-") as folder,
        Memory.at(Path(folder) / "home", disabled=False, embedder="static") as memory,
    ):
        home = _InProjects(memory, {})
        home.project_of = {question.text: _conversation(question.turns[0]) for question in corpus.questions}
        for session in corpus.sessions:
            memory.sessions.create_session(session.id, "bench", project=_conversation(session.id))
            ids = memory.sessions.append_messages(session.id, make_messages(session))
            home.turn_of.update(zip(ids, (turn.id for turn in session.turns), strict=True))
        memory.storage.catch_up()
        memory.embedding.catch_up()
        yield home


def _conversation(id: str) -> str:
    return next(part for part in id.split("/") if part.startswith("own-"))
