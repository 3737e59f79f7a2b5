"""Tables for the screen and JSON for the folder of results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True, slots=True)
class Options:
    sizes: tuple[int, ...]
    repeat: int
    quick: bool
    peers: bool


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def lines(self) -> list[str]:
        """The first column starts at the left, the others, being figures, end at the right."""
        cells = [list(self.headings), *(list(row) for row in self.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.headings))]
        drawn = [
            "  ".join(
                cell.ljust(width) if column < 1 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        rule = "-" * max(len(line) for line in drawn)
        return [self.title, rule, drawn[0], rule, *drawn[1:], *self.notes, ""]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a benchmark: tables to print and figures to keep."""

    name: str
    tables: Sequence[Table]
    figures: dict[str, Any]
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def show(result: Result) -> None:
    for table in result.tables:
        print("\n".join(table.lines()))
    for reason in result.missing.values():
        print(f"not measured: {reason}")


def document(result: Result, options: Options) -> dict[str, Any]:
    return {
        "benchmark": result.name,
        "date": today(),
        "quick": options.quick,
        "repeat": options.repeat,
        "machine": machine.describe(),
        "engines": result.versions,
        # Only who is missing: the reason may quote an error with a path in it.
        "not_measured": sorted(result.missing),
        "figures": rounded(result.figures),
    }


def keep(documents: Sequence[dict[str, Any]], file: Path | None) -> list[str]:
    """Write to the file asked for, or one file per benchmark and day; the names written."""
    if file is not None:
        _write(file, documents[0] if len(documents) == 1 else list(documents))
        return [str(file)]
    RESULTS.mkdir(exist_ok=True)
    names = []
    for kept in documents:
        name = f"{kept['benchmark']}-{kept['date']}.json"
        _write(RESULTS / name, kept)
        names.append(f"benchmarks/results/{name}")
    return names


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def rounded(value: Any) -> Any:
    """Four significant digits: more would be noise, and would make every diff a wall."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return value


def ratio(spread: dict[str, float] | None) -> str:
    if spread is None:
        return "-"
    return f"{spread['median']:.2f} [{spread['low']:.2f}-{spread['high']:.2f}]"


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
