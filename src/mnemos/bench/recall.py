"""Loading conversations, asking the questions, and keeping what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from mnemos.bench import metrics
from mnemos.bench.metrics import Estimate
from mnemos.bench.model import Corpus, Data, Question

# As many turns as a prompt would get; and enough to see ten sessions in them.
TURNS = 10
TURNS_FOR_SESSIONS = 50
ALL = "all"
# Asked once and not timed: connections are opened, pages and the model are read.
WARM_UP = "Is everything in its place?"

Progress = Callable[[float], None]


class Asked(Protocol):
    """A store that has been loaded with a corpus."""

    def ask(self, text: str, limit: int, now: float) -> Sequence[str]:
        """The ids of the turns that answer, best first."""
        ...

    @property
    def mode(self) -> str:
        """What the store used for its answers, in its own words; empty when it has one way only."""
        ...

    @property
    def file_bytes(self) -> int | None:
        """What the store needs on disk; None when it has nothing there."""
        ...


Load = Callable[[Corpus], AbstractContextManager[Asked]]


@dataclass(slots=True)
class Taken:
    """What asking has shown, question by question."""

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
    """The figures of one store on one arrangement of the data; ``parts`` by category, ``all`` first."""

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
    """Load each corpus into a store of its own, ask its questions, sum up."""
    total = sum(len(corpus.questions) for corpus in data.corpora)
    taken = Taken()
    for corpus in corpora:
        _ask_all(corpus, load, taken)
        if progress is not None:
            progress(len(taken.rows) / max(1, total))
    return summed_up(data, arrangement, taken)


def _ask_all(corpus: Corpus, load: Load, taken: Taken) -> None:
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
            more = asked.ask(question.text, TURNS_FOR_SESSIONS, question.asked_at)
            sessions = metrics.first_seen(session_of[turn] for turn in more)
            taken.rows.append(metrics.scores(question, metrics.first_seen(turns), sessions))
            taken.questions.append(question)
            taken.corpora.append(corpus.id)
        size = asked.file_bytes
    taken.messages += corpus.message_count
    taken.file_bytes = None if size is None or taken.file_bytes is None else taken.file_bytes + size


def summed_up(data: Data, arrangement: str, taken: Taken) -> Measured:
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
