"""Conversations, questions, and the sessions that each question is asked of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random


class Format(StrEnum):
    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"
    LINES = "lines"
    """One conversation with its questions per line; see docs/how-to/measure-recall.md."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``speaker`` is a name where the data has names, else None."""

    id: str
    role: str
    speaker: str | None
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    started_at: float
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """The evidence, in ``turns`` and ``sessions``, tells where the answer is.

    A session occurs once per piece of evidence in it if the data counts pieces, as LoCoMo does. Without
    turns, the data names only sessions, and the figures on turns leave this question out.
    """

    id: str
    text: str
    category: str
    asked_at: float
    turns: tuple[str, ...]
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sessions that are loaded together, and the questions asked of them."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def message_count(self) -> int:
        return sum(len(session.turns) for session in self.sessions)


@dataclass(frozen=True, slots=True)
class Data:
    """A file of measurements; ``left_out`` counts items without figures, by reason."""

    name: str
    format: Format
    corpora: tuple[Corpus, ...]
    categories: tuple[str, ...]
    """In the order of the tables."""
    left_out: Mapping[str, int] = field(default_factory=dict)

    def limit(self, questions: int | None) -> Data:
        """Keep up to ``questions`` questions, spread evenly over the file."""
        total = sum(len(corpus.questions) for corpus in self.corpora)
        if questions is None or questions >= total:
            return self
        kept = {number * total // questions for number in range(questions)}
        numbers = iter(range(total))
        # A corpus without questions is kept, because its sessions may fill other pools.
        corpora = tuple(
            replace(corpus, questions=tuple(q for q in corpus.questions if next(numbers) in kept))
            for corpus in self.corpora
        )
        return replace(self, corpora=corpora)


SEED = 1
POOL_SIZE = 48
WHOLE = "all"


def arrangements(data: Data, sizes: Sequence[str] = ()) -> dict[str, Iterator[Corpus]]:
    """Return the ways to ask the data, by name; each is built while it is read.

    LongMemEval is asked of pools: ``sizes`` are numbers of sessions, or ``all`` of the file. Other data is
    used one conversation at a time.
    """
    if data.format is not Format.LONGMEMEVAL:
        return {"conversations": _select_asked(data.corpora)}
    return {
        f"{size} sessions": together(data) if size == WHOLE else fill(data, int(size))
        for size in sizes or (str(POOL_SIZE), WHOLE)
    }


def fill(data: Data, size: int, seed: int = SEED) -> Iterator[Corpus]:
    """Yield each corpus with its own sessions and random others, up to ``size``."""
    everything = _deduplicate(data.corpora)
    for corpus in _select_asked(data.corpora):
        own = {session.id for session in corpus.sessions}
        others = [session for name, session in everything.items() if name not in own]
        count = min(len(others), max(0, size - len(own)))
        # Seeded by the question's name, so that leaving questions out does not change the pools.
        drawn = Random(f"{seed} {corpus.id}").sample(others, count)  # noqa: S311
        yield replace(corpus, sessions=_by_time([*corpus.sessions, *drawn]))


def together(data: Data) -> Iterator[Corpus]:
    """Yield one corpus, so that every question is asked of all sessions."""
    questions = tuple(question for corpus in data.corpora for question in corpus.questions)
    if questions:
        yield Corpus(data.name, _by_time(list(_deduplicate(data.corpora).values())), questions)


def _select_asked(corpora: Sequence[Corpus]) -> Iterator[Corpus]:
    return (corpus for corpus in corpora if corpus.questions)


def _deduplicate(corpora: Sequence[Corpus]) -> dict[str, Session]:
    """Return sessions by id. If questions share one, the asked question's wins."""
    ordered = [*_select_asked(corpora), *(corpus for corpus in corpora if not corpus.questions)]
    found: dict[str, Session] = {}
    for corpus in ordered:
        for session in corpus.sessions:
            found.setdefault(session.id, session)
    return found


def _by_time(sessions: list[Session]) -> tuple[Session, ...]:
    return tuple(sorted(sessions, key=lambda session: (session.started_at, session.id)))
