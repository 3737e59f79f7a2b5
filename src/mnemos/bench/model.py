"""What is measured: conversations, questions about them, and where the answers stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Format(StrEnum):
    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"
    LINES = "lines"
    """One conversation with its questions a line; docs/how-to/measure-recall.md describes it."""


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
    """``turns`` and ``sessions`` are the evidence: where the answer stands.

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
    """A file of measurements. ``left_out`` counts what the figures do without, by reason."""

    name: str
    format: Format
    corpora: tuple[Corpus, ...]
    categories: tuple[str, ...]
    """In the order in which tables show them."""
    left_out: Mapping[str, int] = field(default_factory=dict)

    def limited(self, questions: int | None) -> Data:
        """The same data with at most so many questions, taken evenly from all over the file."""
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
