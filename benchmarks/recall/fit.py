"""``python -m benchmarks recall --fit``: the weights of the ranker, and what they are worth elsewhere.

The data is cut into folds that tear no conversation apart (and no question from its other pools). Each
fold is ranked with weights fitted on the others; these held-out figures choose the penalty and are
what to expect of new data. The weights that are printed are then fitted on everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.recall.features import Dump, Seen, Weights, figures, ranked
from benchmarks.recall.softmax import Lists, Numbers, fitted, loss
from benchmarks.report import Table
from mnemos.errors import InvalidInput
from mnemos.faces.cli.bench.metrics import Estimate
from mnemos.faces.cli.bench.report import cell

PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 5
# Between a vote for each question (0) and one for each data set (1), however many questions it has.
BALANCE = 0.5

# Pairs of a data set with its arrangement, and a metric.
Headlines = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tried:
    """One penalty: the loss on held-out questions, and their figures."""

    penalty: float
    held_out_loss: float
    held_out: dict[str, dict[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Fit:
    weights: dict[str, float]
    chosen: Tried
    tried: tuple[Tried, ...]


def fit(
    dump: Dump,
    *,
    signs: Mapping[str, int] | None = None,
    folds: int = FOLDS,
    balance: float = BALANCE,
    penalties: Sequence[float] = PENALTIES,
) -> Fit:
    """Fit the weights under every penalty, held out and whole; the one with the least held-out loss wins.

    ``signs`` keeps features from changing sides: 1 for those that may only help, -1 for those that may
    only hurt; others are free. A fold that leaves nothing to learn from raises InvalidInput.
    """
    kept = np.array([float((signs or {}).get(name, 0)) for name in dump.names])
    counts = _votes(dump.seen, balance)
    fold_of = _folds(dump.seen, folds)
    tried = tuple(_try(dump, penalty, kept, counts, fold_of) for penalty in penalties)
    chosen = min(tried, key=lambda one: one.held_out_loss)
    weights = fitted(_lists(dump.seen, counts), chosen.penalty, kept)
    return Fit(dict(zip(dump.names, map(float, weights), strict=True)), chosen, tried)


def rounded(weights: Weights, digits: int = 2) -> dict[str, float]:
    """Weights to be written down; those that round to nothing are dropped."""
    return {name: round(value, digits) for name, value in weights.items() if round(value, digits)}


def tables(dump: Dump, found: Fit, shipped: Weights, headlines: Headlines) -> list[Table]:
    """The penalties that were tried, the figures before and after, and the weights themselves."""
    return [
        _penalty_table(found, headlines),
        _figure_table(dump, found, shipped, headlines),
        _weight_table(found, shipped),
    ]


def _try(dump: Dump, penalty: float, signs: Numbers, votes: Sequence[float], fold_of: Sequence[int]) -> Tried:
    rows: list[dict[str, float]] = [{} for _ in dump.seen]
    lost = weighed = 0.0
    for fold in sorted(set(fold_of)):
        inside = [place for place, one in enumerate(fold_of) if one != fold]
        outside = [place for place, one in enumerate(fold_of) if one == fold]
        train = _lists([dump.seen[p] for p in inside], [votes[p] for p in inside])
        if not len(train.pairs):
            raise InvalidInput("too little data to hold any out: at least two conversations are needed")
        # From nothing each time: the weights of another fold have seen the questions of this one.
        weights = fitted(train, penalty, signs)
        test = _lists([dump.seen[p] for p in outside], [votes[p] for p in outside])
        if len(test.pairs):
            lost += loss(test, weights) * test.weight.sum()
            weighed += test.weight.sum()
        for place in outside:
            rows[place] = dump.seen[place].scored(weights)
    return Tried(penalty, lost / max(weighed, 1e-12), figures(dump, rows))


def _lists(seen: Sequence[Seen], votes: Sequence[float]) -> Lists:
    """Questions whose evidence is not among the candidates teach nothing; they still count in the figures."""
    useful = [
        (one, evidence, vote)
        for one, vote in zip(seen, votes, strict=True)
        if (evidence := one.evidence) and len(evidence) < len(one.turns)
    ]
    return Lists.of(
        [one.features for one, _, _ in useful],
        [evidence for _, evidence, _ in useful],
        [vote / len(one.question.turns) for one, _, vote in useful],
    )


def _votes(seen: Sequence[Seen], balance: float) -> list[float]:
    """The weight of each question; one on average."""
    keys = [(one.data, one.arrangement) for one in seen]
    sizes = {key: keys.count(key) for key in dict.fromkeys(keys)}
    raw = [sizes[key] ** -balance for key in keys]
    return [vote * len(raw) / sum(raw) for vote in raw]


def _folds(seen: Sequence[Seen], count: int) -> list[int]:
    """The fold of each question: the groups of each data set dealt out like cards."""
    dealt: dict[str, dict[str, int]] = {}
    for one in seen:
        groups = dealt.setdefault(one.data, {})
        groups.setdefault(one.group, len(groups))
    return [dealt[one.data][one.group] % count for one in seen]


def _penalty_table(found: Fit, headlines: Headlines) -> Table:
    rows = [
        [
            f"{one.penalty:g}{' *' if one is found.chosen else ''}",
            f"{one.held_out_loss:.4f}",
            *(cell(one.held_out[name].get(metric)) for name, metric in headlines),
        ]
        for one in found.tried
    ]
    headings = ("penalty", "loss", *(f"({number})" for number, _ in enumerate(headlines, start=1)))
    legend = [f"({number}) {name}: {metric}" for number, (name, metric) in enumerate(headlines, start=1)]
    return Table("Held out, by penalty (* least loss)", headings, rows, legend)


def _figure_table(dump: Dump, found: Fit, shipped: Weights, headlines: Headlines) -> Table:
    before, whole = ranked(dump, shipped), ranked(dump, rounded(found.weights))
    reached = dump.reached()
    rows = []
    for name, metric in headlines:
        for part, held_out in found.chosen.held_out.items():
            if part == name or part.startswith(f"{name}, "):
                of_turns = part in reached and metric.startswith("turn recall")
                rows.append(
                    [
                        f"{part}: {metric}",
                        str(held_out[metric].questions if metric in held_out else 0),
                        f"{100 * reached[part]:.1f}" if of_turns else "",
                        cell(before[part].get(metric)),
                        cell(held_out.get(metric)),
                        cell(whole[part].get(metric)),
                    ]
                )
    headings = ("figure", "questions", "reached", "weights now", "held out", "fitted, rounded")
    notes = (
        "reached: evidence that is among the candidates, the most that any weights could give.",
        "held out: weights that have not seen the conversation. Features and constants were still chosen on",
        "data such as this, and the weights now may have been fitted on it: expect less of new data.",
    )
    return Table("Figures", headings, rows, notes)


def _weight_table(found: Fit, shipped: Weights) -> Table:
    names = sorted(found.weights, key=lambda name: -abs(found.weights[name]))
    rows = [[name, f"{shipped.get(name, 0.0):g}", f"{found.weights[name]:.2f}"] for name in names]
    return Table("Weights", ("feature", "now", "fitted"), rows)
