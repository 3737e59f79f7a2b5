"""``python -m benchmarks threats --data FILE``: misses and false alarms of the threat scanner.

A line of the file is ``threat`` or ``benign``, the language, perhaps the kind of text, and the text, with
tabs between them. In the text ``\\n`` is a new line, ``\\\\`` a backslash, and ``\\u200b`` or
``\\U000e0069`` a character by its number. Empty lines and lines that begin with ``#`` are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from pathlib import Path
from typing import Any, Final

from mnemos.errors import InvalidInput, NotFound
from mnemos.language.threats import Threat, scan

BLIND: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "threats" / "blind" / "blind.tsv"
_ESCAPE: Final = re.compile(r"\\(?:(n)|(\\)|u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}))")
_NORMAL_95: Final = 1.96


class Label(StrEnum):
    THREAT = "threat"
    BENIGN = "benign"


@dataclass(frozen=True, slots=True)
class Example:
    label: Label
    language: str
    kind: str
    text: str


@dataclass(slots=True)
class Counts:
    """Threats and harmless texts, and how many of each were judged wrongly."""

    threats: int = 0
    missed: int = 0
    benign: int = 0
    stopped: int = 0

    def add(self, label: Label, found: list[Threat]) -> None:
        if label is Label.THREAT:
            self.threats += 1
            self.missed += not found
        else:
            self.benign += 1
            self.stopped += bool(found)


@dataclass(slots=True)
class Measured:
    """Counts of everything, of each language and of each kind of text, and what was judged wrongly."""

    parts: dict[str, Counts] = field(default_factory=lambda: {"all": Counts()})
    found_as: dict[str, Counts] = field(default_factory=dict)
    wrong: list[tuple[Example, Threat | None]] = field(default_factory=list)


def read(path: Path) -> list[Example]:
    """Read labelled texts; a missing file raises NotFound, a wrong line InvalidInput."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError as exc:
        raise NotFound(f"There is no file {path}.") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"{path} can't be read as UTF-8 text: {exc}") from exc
    examples = [
        _parse(path, number, line.rstrip("\r"))
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]
    if not examples:
        raise InvalidInput(f"{path} has no labelled text.")
    return examples


def measure(examples: Iterable[Example]) -> Measured:
    """Judge every text and compare with its label."""
    measured = Measured()
    for example in examples:
        found = scan(example.text)
        parts = ["all", f"language {example.language}", *([f"kind {example.kind}"] if example.kind else [])]
        for part in parts:
            measured.parts.setdefault(part, Counts()).add(example.label, found)
        for kind in {threat.kind for threat in found}:
            measured.found_as.setdefault(str(kind), Counts()).add(example.label, found)
        if (example.label is Label.THREAT) != bool(found):
            measured.wrong.append((example, found[0] if found else None))
    return measured


def interval(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share (Wilson)."""
    share, squared = part / whole, _NORMAL_95**2
    middle = share + squared / (2 * whole)
    spread = _NORMAL_95 * sqrt(share * (1 - share) / whole + squared / (4 * whole**2))
    return max(0.0, (middle - spread) / (1 + squared / whole)), (middle + spread) / (1 + squared / whole)


def show(measured: Measured) -> str:
    """Return the rates as a table."""
    rows = [("", "threats", "misses %", "95 %", "benign", "false alarms %", "95 %")]
    for name, counts in measured.parts.items():
        rows.append(
            (
                name,
                str(counts.threats),
                *_render_rate(counts.missed, counts.threats),
                str(counts.benign),
                *_render_rate(counts.stopped, counts.benign),
            )
        )
    for name, counts in sorted(measured.found_as.items()):
        rows.append((f"found as {name}", str(counts.threats), "", "", str(counts.benign), "", ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )


def document(name: str, measured: Measured) -> dict[str, Any]:
    return {
        "data": name,
        "parts": {
            part: {name: getattr(counts, name) for name in counts.__slots__}
            for part, counts in measured.parts.items()
        },
        "wrong": [
            {
                "label": str(example.label),
                "language": example.language,
                "text": example.text,
                "reason": threat and threat.reason,
            }
            for example, threat in measured.wrong
        ],
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks threats",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=BLIND, metavar="FILE", help="labelled texts")
    parser.add_argument("--misses", action="store_true", help="list the texts that were judged wrongly")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    try:
        measured = measure(read(chosen.data))
    except (InvalidInput, NotFound) as exc:
        sys.exit(str(exc))
    if chosen.json:
        print(json.dumps(document(chosen.data.stem, measured), ensure_ascii=False, indent=2))
        return
    print(show(measured))
    for example, threat in measured.wrong if chosen.misses else ():
        verdict = f"stopped, {threat.reason}" if threat else "missed"
        print(f"{verdict}: [{example.language}] {example.text!r}")


def _parse(path: Path, number: int, line: str) -> Example:
    columns = line.split("\t")
    if len(columns) not in (3, 4) or columns[0] not in set(map(str, Label)) or not columns[-1].strip():
        raise InvalidInput(
            f"{path}: line {number} must be threat or benign, the language, perhaps the kind, and the text,"
            " with tabs between them."
        )
    kind = columns[2] if len(columns) == 4 else ""
    return Example(Label(columns[0]), columns[1], kind, _ESCAPE.sub(_unescape, columns[-1]))


def _unescape(escape: re.Match[str]) -> str:
    if escape[1]:
        return "\n"
    return "\\" if escape[2] else chr(int(escape[3] or escape[4], 16))


def _render_rate(part: int, whole: int) -> tuple[str, str]:
    if not whole:
        return "-", ""
    low, high = interval(part, whole)
    return f"{100 * part / whole:.1f}", f"{100 * low:.1f}-{100 * high:.1f}"


if __name__ == "__main__":
    main(sys.argv[1:])
