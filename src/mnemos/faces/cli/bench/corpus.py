"""Conversations, questions about them, and the sessions that each question is asked of."""

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
    """``turns`` and ``sessions`` are the evidence: where the answer is.

    A session occurs once per piece of evidence in it where the data counts pieces, as LoCoMo does. No
    turns: the data names sessions only, and the figures on turns leave this question out.
    """

    id: str
    text: str
    category: str
    asked_at: float
    turns: tuple[str, ...]
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sessions that are loaded together, and the questions that are asked of them."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def message_count(self) -> int:
        return sum(len(session.turns) for session in self.sessions)


@dataclass(frozen=True, slots=True)
class Data:
    """A file of measurements. ``left_out`` counts the items left out of the figures, by reason."""

    name: str
    format: Format
    corpora: tuple[Corpus, ...]
    categories: tuple[str, ...]
    """In the order in which tables show them."""
    left_out: Mapping[str, int] = field(default_factory=dict)

    def limit(self, questions: int | None) -> Data:
        """Keep up to ``questions`` questions, taken evenly from the whole file."""
        total = sum(len(corpus.questions) for corpus in self.corpora)
        if questions is None or questions >= total:
            return self
        kept = {number * total // questions for number in range(questions)}
        numbers = iter(range(total))
        # A corpus that has lost its questions stays: its sessions may fill the pools of others.
        corpora = tuple(
            replace(corpus, questions=tuple(q for q in corpus.questions if next(numbers) in kept))
            for corpus in self.corpora
        )
        return replace(self, corpora=corpora)


SEED = 1
POOL_SIZE = 48
WHOLE = "all"


def arrangements(data: Data, sizes: Sequence[str] = ()) -> dict[str, Iterator[Corpus]]:
    """The ways in which the data is asked, by name; each is made while it is read.

    LongMemEval is asked of pools: ``sizes`` are numbers of sessions, or ``all`` of the file. Other data is
    used as it is, one conversation at a time.
    """
    if data.format is not Format.LONGMEMEVAL:
        return {"conversations": _select_asked(data.corpora)}
    return {
        f"{size} sessions": together(data) if size == WHOLE else fill(data, int(size))
        for size in sizes or (str(POOL_SIZE), WHOLE)
    }


def fill(data: Data, size: int, seed: int = SEED) -> Iterator[Corpus]:
    """Every corpus with its own sessions, and others drawn at random until there are ``size``."""
    everything = _distinct(data.corpora)
    for corpus in _select_asked(data.corpora):
        own = {session.id for session in corpus.sessions}
        others = [session for name, session in everything.items() if name not in own]
        count = min(len(others), max(0, size - len(own)))
        # Drawn by the question's name, so that leaving questions out does not change the pools.
        drawn = Random(f"{seed} {corpus.id}").sample(others, count)  # noqa: S311
        yield replace(corpus, sessions=_by_time([*corpus.sessions, *drawn]))


def together(data: Data) -> Iterator[Corpus]:
    """One corpus: every question is asked of all sessions."""
    questions = tuple(question for corpus in data.corpora for question in corpus.questions)
    if questions:
        yield Corpus(data.name, _by_time(list(_distinct(data.corpora).values())), questions)


def _select_asked(corpora: Sequence[Corpus]) -> Iterator[Corpus]:
    return (corpus for corpus in corpora if corpus.questions)


def _distinct(corpora: Sequence[Corpus]) -> dict[str, Session]:
    """Sessions by id. Where questions share one, that of a question that is asked goes first."""
    ordered = [*_select_asked(corpora), *(corpus for corpus in corpora if not corpus.questions)]
    found: dict[str, Session] = {}
    for corpus in ordered:
        for session in corpus.sessions:
            found.setdefault(session.id, session)
    return found


def _by_time(sessions: list[Session]) -> tuple[Session, ...]:
    return tuple(sorted(sessions, key=lambda session: (session.started_at, session.id)))
