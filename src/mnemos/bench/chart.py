"""A bar chart as SVG text, without any library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from mnemos.bench.metrics import Estimate

# Distinct for most kinds of colour blindness.
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
    """Groups of bars side by side, one bar per series that has the label, in per cent."""
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
