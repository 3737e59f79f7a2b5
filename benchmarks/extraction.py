"""Extraction of facts from messages, on labelled statements of conversations.

A file has one text per line: ``save`` or ``skip``, the type of the fact (``-`` for none), who said it, and
the text, with tabs between them and ``\\n`` for a line break. A first line of headings, empty lines and lines
that begin with ``#`` are left out. A text to save states one fact; whatever else is found in it is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from benchmarks import labelled
from benchmarks.labelled import EVERYTHING, add, examples, in_repository, percent, share
from mnemos.faces.cli.bench.report import Grid
from mnemos.language.extraction import Extract, extract_facts

LABELLED: Final = in_repository("extraction")
ROLES: Final = ("user", "assistant")
TYPES: Final = ("C", "D", "V", "?")


class Label(StrEnum):
    SAVE = "save"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Example:
    label: Label
    type: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A text that was read wrongly, and the facts that were found in it."""

    example: Example
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts(labelled.Counts):
    """``typed``: how many of the facts that were found have the right type."""

    typed: int = 0

    @property
    def type_accuracy(self) -> float | None:
        """The share of the found facts with the right type; None when nothing was found."""
        return share(self.typed, self.found)


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of everything, of who speaks and of each type, and what was read wrongly."""

    name: str
    parts: dict[str, Counts]
    misses: tuple[Miss, ...]


def read(path: Path) -> list[Example]:
    """The labelled texts of a file. A missing file raises NotFound, a wrong line InvalidInput."""
    return examples(path, "save or skip, the type, the role and the text", _example)


def measure(name: str, texts: Iterable[Example]) -> Measured:
    """Read every text and compare with its label."""
    parts = dict.fromkeys((EVERYTHING, *ROLES, *TYPES), Counts())
    misses = []
    for example in texts:
        found = extract_facts(example.text, role=example.role)
        counts = _counts(example, found)
        add(parts, counts, EVERYTHING, example.role)
        for type, more in _by_type(example, found):
            add(parts, more, type)
        if counts.missed or counts.wrong or counts.typed < counts.found:
            misses.append(Miss(example, tuple(str(one.statement) for one in found)))
    return Measured(name, parts, tuple(misses))


def grids(measured: Measured) -> tuple[Grid, ...]:
    """A row for everything, one for each role and one for each type."""
    headings = ("of", "texts", "found", "missed", "wrong", "precision", "recall", "type")
    rows = tuple(_row(part, counts) for part, counts in measured.parts.items())
    return (Grid(f"{measured.name}: facts stated in conversations", headings, rows),)


def lines(misses: Sequence[Miss]) -> Iterator[str]:
    """Render the errors for people: the text, and the facts that were found in it."""
    for miss in misses:
        example = miss.example
        told = "missed" if not miss.facts else "wrong "
        found = f" -> {' | '.join(miss.facts)}" if miss.facts else ""
        yield f"{told} [{example.type} {example.role}] {_on_one_line(example.text)}{found}"


def document(measured: Measured) -> dict[str, Any]:
    """Everything that was measured, shares between 0 and 1."""
    return {
        "data": measured.name,
        "parts": {
            part: {
                **{name: count for name, count in asdict(counts).items() if name != "typed"},
                "precision": counts.precision,
                "recall": counts.recall,
                "type_accuracy": counts.type_accuracy,
            }
            for part, counts in measured.parts.items()
        },
        "misses": [{**asdict(miss.example), "facts": list(miss.facts)} for miss in measured.misses],
    }


def _counts(example: Example, found: list[Extract]) -> Counts:
    if example.label is Label.SKIP:
        return Counts(wrong=len(found), passed=int(not found))
    if not found:
        return Counts(missed=1)
    is_typed = any(one.statement.mark == example.type for one in found)
    return Counts(found=1, wrong=len(found) - 1, typed=int(is_typed))


def _by_type(example: Example, found: list[Extract]) -> Iterator[tuple[str, Counts]]:
    """The fact at the type that it is labelled with, what is wrong at the type that it was taken for."""
    marks = [one.statement.mark.value for one in found]
    if example.label is Label.SAVE:
        right = marks.index(example.type) if example.type in marks else 0
        yield example.type, Counts(found=1, typed=int(example.type in marks)) if found else Counts(missed=1)
        del marks[right : right + 1]
    yield from ((mark, Counts(wrong=1)) for mark in marks if mark in TYPES)


def _example(columns: list[str]) -> Example | None:
    if len(columns) != 4 or not _is_example(*columns):
        return None
    label, type, role, text = columns
    return Example(Label(label), type, role, text.replace("\\n", "\n"))


def _is_example(label: str, type: str, role: str, text: str) -> bool:
    types = TYPES if label == Label.SAVE else ("-",)
    return label in _LABELS and type in types and role in ROLES and bool(text.strip())


def _row(part: str, counts: Counts) -> tuple[str, ...]:
    total = counts.found + counts.missed + counts.passed + counts.wrong
    figures = (total, counts.found, counts.missed, counts.wrong)
    shares = (counts.precision, counts.recall, counts.type_accuracy)
    return (part, *map(str, figures), *map(percent, shares))


_LABELS: Final = frozenset(map(str, Label))


def _on_one_line(text: str) -> str:
    return text.replace("\n", "\\n")
