"""Our own conversations in ``reranker/conversations``: friends, messages, assistants, work.

Of each file, every fifth conversation is held out: nothing was trained, fitted or chosen on it. The figures
that are reported come from these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, Turn
from mnemos.faces.cli.bench.measurement import Home, make_messages
from mnemos.memory import Memory

FOLDER = Path(__file__).parents[2] / "reranker" / "conversations"
KINDS = ("single", "multi", "when", "infer", "advice")
EVERY = 5
ROLES = ("user", "assistant")
# A conversation begins at nine; its lines are a minute apart.
MORNING = 9 * 3600.0
MINUTE = 60.0
DAY = 86_400.0


def read_files(*, for_reports: bool) -> list[Data]:
    """Return the held-out conversations of each file, or the others, one corpus per conversation."""
    return [_read_file(path, for_reports=for_reports) for path in sorted(FOLDER.glob("*.txt"))]


def read(*, for_reports: bool) -> Data:
    """Return the held-out conversations of all files, or the others, as one."""
    files = read_files(for_reports=for_reports)
    return Data("own", Format.LOCOMO, tuple(corpus for data in files for corpus in data.corpora), KINDS)


def _read_file(path: Path, *, for_reports: bool) -> Data:
    parts = path.read_text(encoding="utf-8").split("\n===\n")
    chosen = [(n, part) for n, part in enumerate(parts) if (n % EVERY == EVERY - 1) == for_reports]
    corpora = tuple(_read_conversation(f"own-{path.stem}-{n}", part) for n, part in chosen)
    return Data(f"own {path.stem}", Format.LOCOMO, corpora, KINDS)


def _read_conversation(name: str, text: str) -> Corpus:
    said, _, asked = text.partition("\n---\n")
    sessions = tuple(_read_sessions(name, said))
    turns = [(session.id, turn) for session in sessions for turn in session.turns]
    asked_at = turns[-1][1].at + DAY
    questions = []
    for number, row in enumerate(asked.splitlines()):
        places, kind, question = row.split("\t")
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


def join(corpora: Sequence[Corpus], name: str) -> Corpus:
    """Return one corpus with the sessions and questions of all."""
    sessions = sorted((s for c in corpora for s in c.sessions), key=lambda s: (s.started_at, s.id))
    return Corpus(name, tuple(sessions), tuple(q for corpus in corpora for q in corpus.questions))


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
