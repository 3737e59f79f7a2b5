"""The same questions answered twice: both means, and the interval of the difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnemos.faces.cli.bench import metrics
from mnemos.faces.cli.bench.measurement import ALL, Taken

RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Pair:
    """A metric before and after, over the same questions, and a 95% interval of the difference."""

    questions: int
    before: float
    after: float
    low: float
    high: float

    def cells(self) -> list[str]:
        """Return the count, both means, their difference and its interval, as a table shows them."""
        return [
            str(self.questions),
            f"{100 * self.before:.1f}",
            f"{100 * self.after:.1f}",
            f"{100 * (self.after - self.before):+.1f}",
            f"[{100 * self.low:+.1f}, {100 * self.high:+.1f}]",
        ]


def compare(before: Taken, after: Taken, part: str, metric: str) -> Pair | None:
    """Compare a category of questions, or all; None where no question has the metric."""
    by_id = {question.id: row for question, row in zip(after.questions, after.rows, strict=True)}
    pairs = [
        (row[metric], by_id[question.id][metric])
        for question, row in zip(before.questions, before.rows, strict=True)
        if part in (ALL, question.category) and metric in row
    ]
    if not pairs:
        return None
    table = np.array(pairs)
    differences = table[:, 1] - table[:, 0]
    drawn = np.random.default_rng(metrics.SEED).integers(len(pairs), size=(RESAMPLES, len(pairs)))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    means = table.mean(axis=0)
    return Pair(len(pairs), float(means[0]), float(means[1]), float(low), float(high))
