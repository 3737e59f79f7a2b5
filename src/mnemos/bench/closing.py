"""How well closing statements are recognised, on labelled sentences.

A file has one sentence a line: ``close`` or ``open``, the language, and the sentence, with tabs between
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from mnemos.bench.labelled import examples, percent, share
from mnemos.bench.report import Grid
from mnemos.facts.closing import closing

LABELLED: Final = Path(__file__).parents[3] / "tests" / "data" / "closing" / "labelled.tsv"
"""The sentences of a checked-out repository; an installed package does not have them."""
EVERYTHING: Final = "all"


class Label(StrEnum):
    CLOSE = "close"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Example:
    label: Label
    language: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A sentence that was read wrongly; ``phrase`` is what seemed to close, empty when nothing did."""

    example: Example
    phrase: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many sentences close and were found, close and were not, do not close and were found, or not."""

    found: int = 0
    missed: int = 0
    wrong: int = 0
    passed: int = 0

    @property
    def precision(self) -> float | None:
        """The share of the found that close; None when nothing was found."""
        return share(self.found, self.found + self.wrong)

    @property
    def recall(self) -> float | None:
        """The share of those that close that was found; None when there are none."""
        return share(self.found, self.found + self.missed)


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of everything and of each language in the order of the file, and what was read wrongly."""

    name: str
    parts: dict[str, Counts]
    misses: tuple[Miss, ...]


def read(path: Path) -> list[Example]:
    """The labelled sentences of a file. A missing file raises NotFound, a wrong line InvalidInput."""
    return examples(path, "close or open, the language and the sentence", _example)


def measure(name: str, labelled: Iterable[Example]) -> Measured:
    """Read every sentence and compare with its label."""
    tallies: dict[str, list[int]] = {EVERYTHING: [0, 0, 0, 0]}
    misses = []
    for example in labelled:
        said = closing(example.sentence)
        closes = example.label is Label.CLOSE
        place = (0 if said else 1) if closes else (2 if said else 3)
        for part in (EVERYTHING, example.language):
            tallies.setdefault(part, [0, 0, 0, 0])[place] += 1
        if closes != bool(said):
            misses.append(Miss(example, said[0].phrase if said else ""))
    return Measured(name, {part: Counts(*tally) for part, tally in tallies.items()}, tuple(misses))


def grids(measured: Measured) -> tuple[Grid, ...]:
    """A row for everything and one a language."""
    headings = ("language", "sentences", "found", "missed", "wrong", "precision", "recall")
    rows = tuple(_row(part, counts) for part, counts in measured.parts.items())
    return (Grid(f"{measured.name}: closing statements", headings, rows),)


def lines(misses: Sequence[Miss]) -> Iterator[str]:
    """What was read wrongly, for people: missed sentences, and wrong ones with what seemed to close."""
    for miss in misses:
        told = f"wrong   {miss.phrase!r} in" if miss.phrase else "missed "
        yield f"{told} [{miss.example.language}] {miss.example.sentence}"


def document(measured: Measured) -> dict[str, Any]:
    """Everything that was measured, shares between 0 and 1."""
    return {
        "data": measured.name,
        "languages": {
            part: {
                "found": counts.found,
                "missed": counts.missed,
                "wrong": counts.wrong,
                "passed": counts.passed,
                "precision": counts.precision,
                "recall": counts.recall,
            }
            for part, counts in measured.parts.items()
        },
        "misses": [
            {
                "label": str(miss.example.label),
                "language": miss.example.language,
                "sentence": miss.example.sentence,
                "phrase": miss.phrase,
            }
            for miss in measured.misses
        ],
    }


def _example(columns: list[str]) -> Example | None:
    if len(columns) != 3 or columns[0] not in _LABELS or not columns[2].strip():
        return None
    return Example(Label(columns[0]), columns[1], columns[2])


def _row(part: str, counts: Counts) -> tuple[str, ...]:
    total = counts.found + counts.missed + counts.wrong + counts.passed
    figures = (total, counts.found, counts.missed, counts.wrong)
    return (part, *map(str, figures), percent(counts.precision), percent(counts.recall))


_LABELS: Final = frozenset(map(str, Label))
