"""Measurement: load conversations into temporary homes and ask the questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from mnemos.errors import Unavailable
from mnemos.faces.cli.bench import metrics
from mnemos.faces.cli.bench.corpus import Corpus, Data, Question, Session, Turn
from mnemos.faces.cli.bench.metrics import Estimate
from mnemos.memory import Memory

# The number of turns in a prompt, and enough turns to cover ten sessions.
TURNS = 10
TURNS_FOR_SESSIONS = 50
ALL = "all"
# The first question is not timed: it opens connections and loads pages and the model.
WARM_UP = "Is everything in its place?"

Progress = Callable[[float], None]


class Asked(Protocol):
    """A store that a corpus has been loaded into."""

    def ask(self, text: str, limit: int, now: float) -> Sequence[str]:
        """Return the ids of the turns that answer, best first."""
        ...

    @property
    def mode(self) -> str:
        """Return the search mode that the store reports; empty if it has only one."""
        ...

    @property
    def file_bytes(self) -> int | None:
        """Return the size of the store on disk; None if it has no files."""
        ...


Load = Callable[[Corpus], AbstractContextManager[Asked]]


@dataclass(slots=True)
class Taken:
    """The results, question by question."""

    questions: list[Question] = field(default_factory=list)
    corpora: list[str] = field(default_factory=list)
    rows: list[dict[str, float]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    modes: dict[str, int] = field(default_factory=dict)
    messages: int = 0
    file_bytes: int | None = 0
    load_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one store on one arrangement, by category; ``all`` comes first."""

    arrangement: str
    parts: dict[str, dict[str, Estimate]]
    questions: dict[str, int]
    p50: float
    p95: float
    messages: int
    bytes_per_message: float | None
    messages_per_second: float
    modes: tuple[str, ...]


def measure(
    data: Data,
    arrangement: str,
    corpora: Iterable[Corpus],
    load: Load,
    progress: Progress | None = None,
) -> Measured:
    """Load each corpus into a new store, ask its questions and sum up the results."""
    total = sum(len(corpus.questions) for corpus in data.corpora)
    taken = Taken()
    for corpus in corpora:
        ask_all(corpus, load, taken)
        if progress is not None:
            progress(len(taken.rows) / max(1, total))
    return sum_up(data, arrangement, taken)


def ask_all(corpus: Corpus, load: Load, taken: Taken, *, by_session: bool = True) -> None:
    """Load a corpus, ask its questions and add the results."""
    session_of = {turn.id: session.id for session in corpus.sessions for turn in session.turns}
    started = time.perf_counter()
    with load(corpus) as asked:
        taken.load_seconds += time.perf_counter() - started
        asked.ask(WARM_UP, TURNS, corpus.questions[0].asked_at)
        for question in corpus.questions:
            before = time.perf_counter()
            turns = asked.ask(question.text, TURNS, question.asked_at)
            taken.milliseconds.append((time.perf_counter() - before) * 1000)
            taken.modes[asked.mode] = taken.modes.get(asked.mode, 0) + 1
            more = asked.ask(question.text, TURNS_FOR_SESSIONS, question.asked_at) if by_session else turns
            sessions = metrics.list_once(session_of[turn] for turn in more)
            taken.rows.append(metrics.scores(question, metrics.list_once(turns), sessions))
            taken.questions.append(question)
            taken.corpora.append(corpus.id)
        size = asked.file_bytes
    taken.messages += corpus.message_count
    taken.file_bytes = None if size is None or taken.file_bytes is None else taken.file_bytes + size


def sum_up(data: Data, arrangement: str, taken: Taken) -> Measured:
    categories = [question.category for question in taken.questions]
    parts = {ALL: list(range(len(categories)))}
    for category in data.categories:
        parts[category] = [place for place, one in enumerate(categories) if one == category]
    size = taken.file_bytes
    return Measured(
        arrangement=arrangement,
        parts={
            name: metrics.estimates([taken.rows[p] for p in places], [taken.corpora[p] for p in places])
            for name, places in parts.items()
        },
        questions={name: len(places) for name, places in parts.items()},
        p50=_percentile(taken.milliseconds, 0.50),
        p95=_percentile(taken.milliseconds, 0.95),
        messages=taken.messages,
        bytes_per_message=None if size is None else size / max(1, taken.messages),
        messages_per_second=taken.messages / max(taken.load_seconds, 1e-9),
        modes=tuple(sorted(taken.modes, key=lambda mode: -taken.modes[mode])),
    )


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


class Home:
    """Answers with turns. ``mode`` is the search mode of the last answer."""

    def __init__(self, memory: Memory, turn_of: dict[int, str]) -> None:
        self.memory = memory
        self.turn_of = turn_of
        self.mode = ""

    def ask(self, text: str, limit: int, now: float) -> list[str]:
        found = self.memory.recall(text, limit=limit, now=now)
        self.mode = found.mode
        return [self.turn_of[hit.ref] for hit in found.hits if isinstance(hit.ref, int)]

    @property
    def file_bytes(self) -> int:
        stats = self.memory.sessions.stats()
        return int(stats["file_bytes"] - stats["free_bytes"])


@contextmanager
def open_home(corpus: Corpus, **flags: Any) -> Iterator[Home]:
    """Open a temporary home with the corpus, fully indexed. ``flags`` are settings."""
    with (
        TemporaryDirectory(prefix="mnemos-bench-") as folder,
        Memory.at(Path(folder) / "home", disabled=False, **flags) as memory,
    ):
        turn_of: dict[int, str] = {}
        for session in corpus.sessions:
            memory.sessions.create_session(session.id, "bench", started_at=session.started_at)
            ids = memory.sessions.append_messages(session.id, make_messages(session))
            turn_of.update(zip(ids, (turn.id for turn in session.turns), strict=True))
        _index(memory)
        yield Home(memory, turn_of)


def _index(memory: Memory) -> None:
    """Index everything, so that the figures are about recall and not about indexing."""
    memory.storage.catch_up()
    if memory.embedding.is_wanted:
        try:
            memory.embedding.catch_up()
        except Unavailable:
            # Recall then works without vectors, and reports that in its mode.
            pass


def make_messages(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "role": turn.role,
            "content": turn.text,
            "timestamp": turn.at,
            "metadata": _metadata(turn),
        }
        for turn in session.turns
    ]


def _metadata(turn: Turn) -> dict[str, str]:
    return {"turn": turn.id} if turn.speaker is None else {"turn": turn.id, "speaker": turn.speaker}
