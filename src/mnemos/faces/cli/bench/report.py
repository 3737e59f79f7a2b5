"""Figures as tables, as JSON, and as a bar chart in SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from mnemos.faces.cli.bench.corpus import Data, Format
from mnemos.faces.cli.bench.measurement import Measured
from mnemos.faces.cli.bench.metrics import Estimate

# The columns of the tables. The JSON has everything that was measured.
COLUMNS = {
    Format.LOCOMO: ("turn recall@5", "turn recall@10", "session recall@5", "session recall@10"),
    Format.LONGMEMEVAL: (
        "session any@1", "session all@5", "session all@10", "session ndcg@10", "turn recall@10",
    ),
    Format.LINES: ("turn recall@5", "turn recall@10", "session any@1", "session all@5"),
}  # fmt: skip
# The figure that a chart compares.
HEADLINE = {
    Format.LOCOMO: "turn recall@10",
    Format.LONGMEMEVAL: "session all@5",
    Format.LINES: "turn recall@10",
}


@dataclass(frozen=True, slots=True)
class Grid:
    """A table to draw: the first column is text, the others are figures."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def grid(data: Data, measured: Measured) -> Grid:
    """Tabulate one arrangement: a row per category, means with half their intervals."""
    columns = COLUMNS[data.format]
    rows = tuple(
        (part, f"{measured.questions[part]}", *(cell(found.get(name)) for name in columns))
        for part, found in measured.parts.items()
    )
    title = f"{data.name}, {measured.arrangement}: {' and '.join(filter(None, measured.modes))}"
    return Grid(title.rstrip(": "), ("category", "questions", *columns), rows, (_cost(measured),))


def cell(estimate: Estimate | None) -> str:
    """Render a share in per cent, with plus or minus half its interval."""
    if estimate is None:
        return "-"
    return f"{100 * estimate.value:.1f} ±{50 * (estimate.high - estimate.low):.1f}"


def left_out(data: Data) -> str:
    """Return a sentence on the items without figures; empty if there are none."""
    counted = [f"{reason} {count:,}" for reason, count in data.left_out.items() if count]
    return f"Left out or repaired: {', '.join(counted)}." if counted else ""


def document(data: Data, measured: Sequence[Measured]) -> dict[str, Any]:
    """Return everything that was measured, with shares between 0 and 1."""
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
    """Draw the headline figure per category as SVG, with bars for each arrangement."""
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
    stored = "" if size is None else f", {size:,.0f} bytes per message on disk"
    return (
        f"{measured.p50:.1f} ms per question (p95 {measured.p95:.1f}); {measured.messages:,} messages "
        f"loaded, {measured.messages_per_second:,.0f} per second{stored}."
    )


# Distinguishable with most kinds of colour blindness.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#b8a100")
INK = "#222222"

BAR = 22
GAP = 26
HEIGHT = 220
TOP = 56
LEFT = 48
LETTER = 6.6


@dataclass(frozen=True, slots=True)
class Bar:
    """A share between 0 and 1, with the ends of its interval."""

    label: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, label: str, estimate: Estimate) -> Bar:
        return cls(label, estimate.value, estimate.low, estimate.high)


def bars(title: str, series: Mapping[str, Sequence[Bar]]) -> str:
    """Draw groups of bars in per cent, one bar per series that has the label."""
    labels = list(dict.fromkeys(bar.label for one in series.values() for bar in one))
    group = max(len(series) * BAR, max((len(label) for label in labels), default=0) * LETTER) + GAP
    width = LEFT + max(len(labels) * group, len(title) * LETTER * 1.2, _legend_width(series)) + GAP
    height = TOP + HEIGHT + 34
    drawn = [*_frame(width), *_legend(series)]
    for number, label in enumerate(labels):
        middle = LEFT + (number + 0.5) * group
        drawn.append(_text(middle, TOP + HEIGHT + 18, label, "middle"))
        for place, (one, colour) in enumerate(zip(series.values(), _colours(series), strict=True)):
            left = middle + (place - len(series) / 2) * BAR
            drawn += [line for bar in one if bar.label == label for line in _bar(left, bar, colour)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" role="img" font-family="sans-serif" font-size="12">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold" fill="{INK}">{escape(title)}</text>',
            *drawn,
            "</svg>\n",
        ]
    )


def _frame(width: float) -> list[str]:
    lines = []
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        lines.append(
            f'<line x1="{LEFT}" x2="{width - GAP / 2:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        )
        lines.append(_text(LEFT - 8, y + 4, str(percent), "end"))
    return lines


def _legend(series: Mapping[str, Sequence[Bar]]) -> list[str]:
    lines, x = [], float(LEFT)
    for name, colour in zip(series, _colours(series), strict=True):
        lines.append(f'<rect x="{x:.1f}" y="32" width="10" height="10" fill="{colour}"/>')
        lines.append(_text(x + 14, 41, name, "start"))
        x += _entry_width(name)
    return lines


def _legend_width(series: Mapping[str, Sequence[Bar]]) -> float:
    return sum(map(_entry_width, series))


def _entry_width(name: str) -> float:
    return 26 + len(name) * LETTER


def _bar(left: float, bar: Bar, colour: str) -> list[str]:
    top, middle = _y(bar.value), left + BAR / 2
    said = f"{bar.label}: {100 * bar.value:.1f} ({100 * bar.low:.1f} to {100 * bar.high:.1f})"
    return [
        f'<rect x="{left + 1:.1f}" y="{top:.1f}" width="{BAR - 2}" height="{_y(0) - top:.1f}" '
        f'fill="{colour}"><title>{escape(said)}</title></rect>',
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{_y(bar.high):.1f}" y2="{_y(bar.low):.1f}" '
        f'stroke="{INK}"/>',
        f'<text x="{middle:.1f}" y="{_y(bar.high) - 4:.1f}" font-size="9" text-anchor="middle" '
        f'fill="{INK}">{100 * bar.value:.0f}</text>',
    ]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'


def _y(share: float) -> float:
    return TOP + HEIGHT * (1 - share)


def _colours(series: Mapping[str, Sequence[Bar]]) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(len(series))]
