"""How well closing statements are recognised, on labelled sentences.

A file has one sentence a line: ``close`` or ``open``, the language, and the sentence, with tabs between
them. Empty lines and lines that begin with ``#`` are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from mnemos.bench.report import Grid
from mnemos.errors import InvalidInput, NotFound
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
        return _share(self.found, self.found + self.wrong)

    @property
    def recall(self) -> float | None:
        """The share of those that close that was found; None when there are none."""
        return _share(self.found, self.found + self.missed)


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of everything and of each language in the order of the file, and what was read wrongly."""

    name: str
    parts: dict[str, Counts]
    misses: tuple[Miss, ...]


def read(path: Path) -> list[Example]:
    """The labelled sentences of a file. A missing file raises NotFound, a wrong line InvalidInput."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        raise NotFound(
            f"there is no file {path}; name one with --data FILE (label, language, sentence)"
        ) from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc}") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}") from exc
    examples = list(_examples(path, text.split("\n")))
    if not examples:
        raise InvalidInput(f"{path} holds no labelled sentence; a line is: close, tab, en, tab, sentence")
    return examples


def measure(name: str, examples: Iterable[Example]) -> Measured:
    """Read every sentence and compare with its label."""
    tallies: dict[str, list[int]] = {EVERYTHING: [0, 0, 0, 0]}
    misses = []
    for example in examples:
        said = closing(example.sentence)
        closes = example.label is Label.CLOSE
        place = (0 if said else 1) if closes else (2 if said else 3)
        for part in (EVERYTHING, example.language):
            tallies.setdefault(part, [0, 0, 0, 0])[place] += 1
        if closes != bool(said):
            misses.append(Miss(example, said[0].phrase if said else ""))
    return Measured(name, {part: Counts(*tally) for part, tally in tallies.items()}, tuple(misses))


def grid(measured: Measured) -> Grid:
    """A row for everything and one a language."""
    headings = ("language", "sentences", "found", "missed", "wrong", "precision", "recall")
    rows = tuple(_row(part, counts) for part, counts in measured.parts.items())
    return Grid(f"{measured.name}: closing statements", headings, rows)


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


def _examples(path: Path, rows: Iterable[str]) -> Iterator[Example]:
    for number, row in enumerate(rows, start=1):
        if not row.strip() or row.startswith("#"):
            continue
        parts = row.rstrip("\r").split("\t")
        if len(parts) != 3 or parts[0] not in _LABELS or not parts[2].strip():
            raise InvalidInput(
                f"{path}: line {number} is {row[:80]!r}; it has to be close or open, the language and the"
                " sentence, with tabs between them"
            )
        yield Example(Label(parts[0]), parts[1], parts[2])


def _row(part: str, counts: Counts) -> tuple[str, ...]:
    total = counts.found + counts.missed + counts.wrong + counts.passed
    figures = (total, counts.found, counts.missed, counts.wrong)
    return (part, *map(str, figures), _percent(counts.precision), _percent(counts.recall))


_LABELS: Final = frozenset(map(str, Label))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
