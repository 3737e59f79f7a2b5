"""Figures for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemos.bench.chart import Bar, bars
from mnemos.bench.metrics import Estimate
from mnemos.bench.model import Data, Format
from mnemos.bench.recall import Measured

# What a table shows of all that is measured; the JSON has everything.
COLUMNS = {
    Format.LOCOMO: ("turn recall@5", "turn recall@10", "session recall@5", "session recall@10"),
    Format.LONGMEMEVAL: (
        "session any@1", "session all@5", "session all@10", "session ndcg@10", "turn recall@10",
    ),
    Format.LINES: ("turn recall@5", "turn recall@10", "session any@1", "session all@5"),
}  # fmt: skip
# What one figure a chart compares.
HEADLINE = {
    Format.LOCOMO: "turn recall@10",
    Format.LONGMEMEVAL: "session all@5",
    Format.LINES: "turn recall@10",
}


@dataclass(frozen=True, slots=True)
class Grid:
    """A table in words, for whoever draws it: the first column is text, the others are figures."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def grid(data: Data, measured: Measured) -> Grid:
    """One arrangement: a row per category, the mean with half the width of its interval."""
    columns = COLUMNS[data.format]
    rows = tuple(
        (part, f"{measured.questions[part]}", *(cell(found.get(name)) for name in columns))
        for part, found in measured.parts.items()
    )
    title = f"{data.name}, {measured.arrangement}: {' and '.join(filter(None, measured.modes))}"
    return Grid(title.rstrip(": "), ("category", "questions", *columns), rows, (_cost(measured),))


def cell(estimate: Estimate | None) -> str:
    """A share in per cent, with its interval as plus or minus."""
    if estimate is None:
        return "-"
    return f"{100 * estimate.value:.1f} ±{50 * (estimate.high - estimate.low):.1f}"


def left_out(data: Data) -> str:
    """One sentence on what the figures do without; empty when that is nothing."""
    counted = [f"{reason} {count:,}" for reason, count in data.left_out.items() if count]
    return f"Left out or mended: {', '.join(counted)}." if counted else ""


def document(data: Data, measured: Sequence[Measured]) -> dict[str, Any]:
    """Everything that was measured, shares between 0 and 1."""
    return {
        "data": data.name,
        "format": str(data.format),
        "left_out": dict(data.left_out),
        "arrangements": [
            {
                "arrangement": one.arrangement,
                "modes": list(one.modes),
                "latency_ms": {"p50": round(one.p50, 2), "p95": round(one.p95, 2)},
                "messages": one.messages,
                "messages_per_second": round(one.messages_per_second),
                "bytes_per_message": one.bytes_per_message and round(one.bytes_per_message),
                "categories": {
                    part: {"questions": one.questions[part], "metrics": _figures(found)}
                    for part, found in one.parts.items()
                },
            }
            for one in measured
        ],
    }


def chart(data: Data, measured: Sequence[Measured]) -> str:
    """The headline figure per category, one series of bars per arrangement, as SVG."""
    headline = HEADLINE[data.format]
    series = {one.arrangement: _bars(one, headline) for one in measured}
    return bars(f"{data.name}: {headline}, per cent", series)


def _bars(measured: Measured, metric: str) -> list[Bar]:
    found = {part: estimates.get(metric) for part, estimates in measured.parts.items()}
    return [Bar.of(part, estimate) for part, estimate in found.items() if estimate is not None]


def _figures(found: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: _figure(estimate) for name, estimate in found.items()}


def _figure(estimate: Estimate) -> dict[str, Any]:
    figure: dict[str, Any] = {
        "value": round(estimate.value, 4),
        "low": round(estimate.low, 4),
        "high": round(estimate.high, 4),
        "questions": estimate.questions,
    }
    if estimate.clustered is not None:
        figure["by_conversation"] = [round(end, 4) for end in estimate.clustered]
    return figure


def _cost(measured: Measured) -> str:
    size = measured.bytes_per_message
    stored = "" if size is None else f", {size:,.0f} bytes a message on disk"
    return (
        f"{measured.p50:.1f} ms a question (p95 {measured.p95:.1f}); {measured.messages:,} messages loaded, "
        f"{measured.messages_per_second:,.0f} a second{stored}."
    )
