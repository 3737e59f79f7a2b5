"""Recognition of closing statements, on labelled sentences.

A file has one sentence per line: ``close`` or ``open``, the language, and the sentence, with tabs between
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from benchmarks.labelled import EVERYTHING, Counts, add, examples, in_repository, percent
from mnemos.faces.cli.bench.report import Grid
from mnemos.language.closing import find_closings

LABELLED: Final = in_repository("closing")


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
    parts = {EVERYTHING: Counts()}
    misses = []
    for example in labelled:
        said = find_closings(example.sentence)
        closes = example.label is Label.CLOSE
        add(parts, Counts.of(is_sought=closes, is_found=bool(said)), EVERYTHING, example.language)
        if closes != bool(said):
            misses.append(Miss(example, said[0].phrase if said else ""))
    return Measured(name, parts, tuple(misses))


def grids(measured: Measured) -> tuple[Grid, ...]:
    """A row for everything and one a language."""
    headings = ("language", "sentences", "found", "missed", "wrong", "precision", "recall")
    rows = tuple(_row(part, counts) for part, counts in measured.parts.items())
    return (Grid(f"{measured.name}: closing statements", headings, rows),)


def lines(misses: Sequence[Miss]) -> Iterator[str]:
    """Render the errors for people: missed sentences, and wrong ones with what seemed to close."""
    for miss in misses:
        told = f"wrong   {miss.phrase!r} in" if miss.phrase else "missed "
        yield f"{told} [{miss.example.language}] {miss.example.sentence}"


def document(measured: Measured) -> dict[str, Any]:
    """Everything that was measured, shares between 0 and 1."""
    return {
        "data": measured.name,
        "languages": {
            part: {**asdict(counts), "precision": counts.precision, "recall": counts.recall}
            for part, counts in measured.parts.items()
        },
        "misses": [{**asdict(miss.example), "phrase": miss.phrase} for miss in measured.misses],
    }


def _example(columns: list[str]) -> Example | None:
    if len(columns) != 3 or columns[0] not in _LABELS or not columns[2].strip():
        return None
    return Example(Label(columns[0]), columns[1], columns[2])


def _row(part: str, counts: Counts) -> tuple[str, ...]:
    figures = (sum(astuple(counts)), counts.found, counts.missed, counts.wrong)
    return (part, *map(str, figures), percent(counts.precision), percent(counts.recall))


_LABELS: Final = frozenset(map(str, Label))
