"""``python -m benchmarks recall --ablation``: what each feature is worth.

Every feature is switched off in turn: once with the other weights as they are, once with the others fitted
again (held out), which shows whether they can do its work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from benchmarks.recall.features import Weights
from benchmarks.report import Table
from mnemos.faces.cli.bench.metrics import Estimate

# By data set and arrangement, the figures of all its questions under some weights.
Figures = Mapping[str, Mapping[str, Estimate]]
Answer = Callable[[Weights], Figures]

NOTHING = ""


@dataclass(frozen=True, slots=True)
class Ablated:
    """The figures without one feature, and those when the others were fitted again."""

    feature: str
    without: Figures
    refitted: Figures | None


def ablate(weights: Weights, answer: Answer, refit: Answer | None = None) -> list[Ablated]:
    """The figures with ``NOTHING`` left out, then with each feature switched off.

    ``answer`` asks every question under the weights it is given; ``refit`` is given the weights that
    are left and chooses their values anew.
    """
    found = []
    for feature in (NOTHING, *(name for name, value in weights.items() if value)):
        left = {name: value for name, value in weights.items() if name != feature}
        found.append(Ablated(feature, answer(left), refit(left) if refit else None))
    return found


def table(found: Sequence[Ablated], headlines: Sequence[tuple[str, str]]) -> Table:
    """The figures with everything, then the change in points without each feature, the dearest first.

    ``headlines`` are pairs of a data set with its arrangement and a metric.
    """
    whole, *others = found
    rows = [["all features", *(_shown(value, "") for value in _values(whole, headlines))]]
    for one in sorted(others, key=lambda one: sum(_values(one, headlines)[::2])):
        changes = zip(_values(one, headlines), _values(whole, headlines), strict=True)
        rows.append([f"- {one.feature}", *(_shown(now - before, "+") for now, before in changes)])
    numbers = range(1, len(headlines) + 1)
    headings = ["feature", *(f"({number}){how}" for number in numbers for how in ("", " refitted"))]
    return Table("Ablation: change in points", headings, rows, _legend(whole, headlines))


def _legend(whole: Ablated, headlines: Sequence[tuple[str, str]]) -> list[str]:
    """Explain the columns, and the share of a single question: less is not a difference."""
    return [
        f"({number}) {data}: {metric}; one question is {_point(whole, data, metric):.1f} points"
        for number, (data, metric) in enumerate(headlines, start=1)
    ]


def _point(whole: Ablated, data: str, metric: str) -> float:
    return 100 / whole.without[data][metric].questions


def _values(one: Ablated, headlines: Sequence[tuple[str, str]]) -> list[float]:
    """Of each headline the figure, then that of the refitted weights; not a number without those."""
    return [
        nan if figures is None else figures[data][metric].value
        for data, metric in headlines
        for figures in (one.without, one.refitted)
    ]


def _shown(share: float, sign: str) -> str:
    return "-" if isnan(share) else f"{100 * share:{sign}.1f}"
