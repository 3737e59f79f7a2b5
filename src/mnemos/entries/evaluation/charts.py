"""Small charts as SVG, drawn for a page that has the colours (``s0`` to ``s3``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _ROW, _LABEL, _VALUE = 760, 30, 240, 60
_AREA = _WIDTH - _LABEL - _VALUE


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of one or several pieces, with what is written behind it."""

    label: str
    pieces: Sequence[float]
    value: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two figures of one thing, the second not below the first."""

    label: str
    low: float
    high: float


def stacked(bars: Sequence[Bar], *, most: float, told: str) -> str:
    """Horizontal bars from 0 to ``most``."""
    parts: list[str] = []
    for number, bar in enumerate(bars):
        top, left = number * _ROW + 5, float(_LABEL)
        parts.append(_label(bar.label, top))
        for series, piece in enumerate(bar.pieces):
            width = _AREA * piece / most
            parts.append(_rectangle(left, top, width, _ROW - 10, series))
            left += width
        parts.append(_text(left + 6, top + 15, bar.value))
    return _svg(parts, len(bars), told)


def on_a_log_scale(pairs: Sequence[Pair], *, told: str) -> str:
    """Two thin bars for each pair, on a scale of powers of ten that has all of them."""
    values = [value for pair in pairs for value in (pair.low, pair.high) if value > 0] or [1.0]
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    last = max(last, first + 1)

    def across(value: float) -> float:
        return _AREA * (math.log10(max(value, 10**first)) - first) / (last - first)

    parts: list[str] = []
    height = len(pairs) * _ROW
    for power in range(first, last + 1):
        place = _LABEL + across(10.0**power)
        parts.append(f'<line x1="{place:.1f}" y1="0" x2="{place:.1f}" y2="{height}"/>')
        parts.append(_text(place, height + 16, f"{10.0**power:g}", "middle", "soft"))
    for number, pair in enumerate(pairs):
        top = number * _ROW + 4
        parts.append(_label(pair.label, top))
        for series, value in enumerate((pair.low, pair.high)):
            parts.append(_rectangle(_LABEL, top + series * 11, max(across(value), 1.0), 10, series))
        parts.append(_text(_LABEL + across(pair.high) + 6, top + 15, f"{pair.low:.2g} / {pair.high:.2g}"))
    return _svg(parts, len(pairs) + 1, told)


def _svg(parts: Sequence[str], rows: int, told: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH + 40} {rows * _ROW}" role="img" aria-label="{escape(told)}">'
        + "".join(parts)
        + "</svg>"
    )


def _rectangle(left: float, top: float, width: float, height: float, series: int) -> str:
    return (
        f'<rect class="s{series}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height}" rx="2"/>'
    )


def _label(text: str, top: float) -> str:
    return _text(_LABEL - 8, top + 15, text, "end")


def _text(left: float, top: float, text: str, anchor: str = "start", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}"{named}>{escape(text)}</text>'
