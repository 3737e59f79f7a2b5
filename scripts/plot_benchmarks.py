"""Draw the charts of docs/benchmarks.md from benchmarks/results: ``python scripts/plot_benchmarks.py``."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
CHARTS = ROOT / "docs" / "assets" / "benchmarks"

_COLOURS = ("#1f6f8b", "#c98a5e", "#9aa5ab", "#6f9a6b", "#b0708f", "#7a7fb0")
_WIDTH, _LEFT, _RIGHT = 720, 190, 70
_BAR, _GAP, _TOP = 14, 12, 58


@dataclass(frozen=True)
class Chart:
    """Horizontal bars in groups. ``rows`` has a name and a value per series; None draws no bar."""

    title: str
    unit: str
    series: tuple[str, ...]
    rows: list[tuple[str, list[float | None]]]
    is_logarithmic: bool = False

    def render(self) -> str:
        """Return the chart as SVG, on a light card that can be read on any background."""
        values = [value for _, row in self.rows for value in row if value is not None]
        low = min(values) / 2 if self.is_logarithmic else 0
        high = max(values)

        def width(value: float) -> float:
            share = math.log(value / low) / math.log(high / low) if self.is_logarithmic else value / high
            return share * (_WIDTH - _LEFT - _RIGHT)

        parts, y = [self._legend()], float(_TOP)
        for name, row in self.rows:
            group = _BAR * len(row)
            parts.append(_text(_LEFT - 10, y + group / 2 + 4, name, anchor="end"))
            for number, value in enumerate(row):
                if value is not None:
                    parts.append(
                        f'<rect x="{_LEFT}" y="{y + 1:.0f}" width="{width(value):.1f}" height="{_BAR - 2}"'
                        f' rx="2" fill="{_COLOURS[number]}"/>'
                    )
                    parts.append(_text(_LEFT + width(value) + 5, y + _BAR - 3, _number(value), size=10))
                y += _BAR
            y += _GAP
        height = round(y + 6)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
            f' height="{height}" role="img" font-family="system-ui, sans-serif">\n'
            f"<title>{escape(self.title)}</title>\n"
            f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#f6f8f9"/>\n'
            + "\n".join(parts)
            + "\n</svg>\n"
        )

    def _legend(self) -> str:
        scale = ", logarithmic scale" if self.is_logarithmic else ""
        parts, x = [_text(16, 22, f"{self.title} ({self.unit}{scale})", size=13, weight=600)], 16.0
        for number, name in enumerate(self.series):
            parts.append(
                f'<rect x="{x:.0f}" y="33" width="10" height="10" rx="2" fill="{_COLOURS[number]}"/>'
            )
            parts.append(_text(x + 15, 42, name, size=11))
            x += 15 + 5.8 * len(name) + 16
        return "\n".join(parts)


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", weight: int = 400) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
        f' fill="#26343b">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _newest(name: str, part: str) -> Any:
    """Return a part of the figures from the newest result that has it."""
    for path in sorted(RESULTS.glob(f"{name}-20*.json"), reverse=True):
        figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
        if part in figures:
            return figures[part]
    raise SystemExit(f"There is no result of {name} with {part}.")


def charts() -> dict[str, str]:
    """Return the SVG of every chart by its file name."""
    return {
        "recall.svg": _recall().render(),
        "search.svg": _search().render(),
        "append.svg": _append().render(),
    }


def _recall() -> Chart:
    sessions = _newest("recall", "longmemeval_dev50")
    sets = {
        "LoCoMo, 5 conversations": _newest("recall", "locomo_dev5")["conversations"],
        "LongMemEval, 48 sessions": sessions["48 sessions"],
        "LongMemEval, all sessions": sessions["all sessions"],
    }
    engines = {
        "mnemos": "Mnemos",
        "mnemos lexical": "Mnemos without vectors",
        "FTS5 porter": "FTS5 with stems",
        "rank_bm25": "rank_bm25",
        "dense": "vectors only",
    }
    rows = [
        (
            name,
            [100 * found[key]["categories"]["all"]["metrics"]["turn recall@10"]["value"] for key in engines],
        )
        for name, found in sets.items()
    ]
    return Chart("Evidence among the first ten hits", "%, development data", tuple(engines.values()), rows)


def _search() -> Chart:
    sizes = _newest("search-1m", "sizes")["1000000"]
    names = {
        "rare word": "rare word",
        "mid word": "mid word",
        "common word": "common word",
        "word in all": "word in every message",
        "two words": "two words",
        "three words": "three words",
        "four common": "four common words",
        "phrase": "phrase",
        "prefix": "prefix",
    }
    rows = [
        (name, [sizes[engine]["queries"][key]["wall_p50"] for engine in ("mnemos", "raw")])
        for key, name in names.items()
    ]
    return Chart(
        "Search in a million messages", "median, ms", ("Mnemos", "plain FTS5"), rows, is_logarithmic=True
    )


def _append() -> Chart:
    names = {"single": "one per call", "batch_50": "50 per call", "processes_4": "four processes"}
    figures = {key: _newest("append", key) for key in names}
    engines = ("mnemos normal", "mnemos full", "raw normal", "hermes full")
    rows = [
        (
            name,
            [
                figures[key][engine]["rate"]["median"] if engine in figures[key] else None
                for engine in engines
            ],
        )
        for key, name in names.items()
    ]
    labels = ("Mnemos", "Mnemos, full durability", "plain SQLite", "hermes, full durability")
    return Chart("Messages stored per second", "median rate", labels, rows, is_logarithmic=True)


if __name__ == "__main__":
    CHARTS.mkdir(parents=True, exist_ok=True)
    for file_name, svg in charts().items():
        (CHARTS / file_name).write_text(svg, encoding="utf-8")
