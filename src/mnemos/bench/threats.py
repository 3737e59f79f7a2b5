"""How well dangerous notes are told from harmless ones, on labelled texts.

A file has one text a line: ``threat`` or ``benign``, the language, and the text, with tabs between them.
In the text ``\\n`` is a new line, ``\\\\`` a backslash, and ``\\u200b`` or ``\\U000e0069`` a character by its
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from mnemos.bench.labelled import EVERYTHING, Counts, add, examples, in_repository, percent
from mnemos.faces.cli.bench.report import Grid
from mnemos.text.threats import Threat, ThreatKind, threats

LABELLED: Final = in_repository("threats")


class Label(StrEnum):
    THREAT = "threat"
    BENIGN = "benign"


@dataclass(frozen=True, slots=True)
class Example:
    label: Label
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A text that was judged wrongly; ``found`` is the first threat seen in it, None when none was."""

    example: Example
    found: Threat | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of everything and of each language in the order of the file, and what was judged wrongly.

    ``kinds`` says how many threats were found as each kind, and how many harmless texts were taken for it;
    a text may be found as several.
    """

    name: str
    languages: dict[str, Counts]
    kinds: dict[ThreatKind, tuple[int, int]]
    misses: tuple[Miss, ...]


def read(path: Path) -> list[Example]:
    """The labelled texts of a file. A missing file raises NotFound, a wrong line InvalidInput."""
    return examples(path, "threat or benign, the language and the text", _example)


def measure(name: str, labelled: Iterable[Example]) -> Measured:
    """Judge every text and compare with its label."""
    languages = {EVERYTHING: Counts()}
    kinds = {kind: [0, 0] for kind in ThreatKind}
    wrong = []
    for example in labelled:
        found = threats(example.text)
        dangerous = example.label is Label.THREAT
        add(languages, Counts.of(is_sought=dangerous, is_found=bool(found)), EVERYTHING, example.language)
        for kind in {threat.kind for threat in found}:
            kinds[kind][0 if dangerous else 1] += 1
        if dangerous != bool(found):
            wrong.append(Miss(example, found[0] if found else None))
    return Measured(
        name,
        languages,
        {kind: (found, stopped) for kind, (found, stopped) in kinds.items()},
        tuple(wrong),
    )


def grids(measured: Measured) -> tuple[Grid, ...]:
    """A row for everything and one a language; and a row a kind."""
    languages = Grid(
        f"{measured.name}: threats",
        ("language", "threats", "missed", "misses %", "benign", "stopped", "false positives %"),
        tuple(_row(part, counts) for part, counts in measured.languages.items()),
    )
    kinds = Grid(
        f"{measured.name}: threats found as",
        ("kind", "threats", "benign"),
        tuple((str(kind), str(found), str(stopped)) for kind, (found, stopped) in measured.kinds.items()),
    )
    return languages, kinds


def lines(misses: Sequence[Miss]) -> Iterator[str]:
    """What was judged wrongly, for people: missed texts, and stopped ones with what was seen in them."""
    for miss in misses:
        example = miss.example
        told = f"stopped as {miss.found.kind}:" if miss.found else "missed:"
        yield f"{told} [{example.language}] {_escaped(example.text)}"


def document(measured: Measured) -> dict[str, Any]:
    """Everything that was measured, shares between 0 and 1."""
    return {
        "data": measured.name,
        "languages": {
            part: {
                "found": counts.found,
                "missed": counts.missed,
                "stopped": counts.wrong,
                "passed": counts.passed,
                "misses": counts.misses,
                "false_positives": counts.false_positives,
            }
            for part, counts in measured.languages.items()
        },
        "kinds": {
            str(kind): {"threats": found, "benign": stopped}
            for kind, (found, stopped) in measured.kinds.items()
        },
        "misses": [
            {
                **asdict(miss.example),
                "kind": str(miss.found.kind) if miss.found else None,
                "reason": miss.found.reason if miss.found else None,
            }
            for miss in measured.misses
        ],
    }


_LABELS: Final = frozenset(map(str, Label))
_ESCAPE: Final = re.compile(r"\\(?:(n)|(\\)|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_LAST_CHARACTER: Final = 0x10FFFF


def _example(columns: list[str]) -> Example | None:
    if len(columns) != 3 or columns[0] not in _LABELS or not columns[2].strip():
        return None
    return Example(Label(columns[0]), columns[1], _ESCAPE.sub(_unescaped, columns[2]))


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return "\n"
    if escape[2]:
        return "\\"
    code = int(escape[3] or escape[4], 16)
    return chr(code) if code <= _LAST_CHARACTER else escape[0]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _row(part: str, counts: Counts) -> tuple[str, ...]:
    return (
        part,
        str(counts.found + counts.missed),
        str(counts.missed),
        percent(counts.misses),
        str(counts.wrong + counts.passed),
        str(counts.wrong),
        percent(counts.false_positives),
    )
