"""Fitting and ablation on the features of the real engine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.recall import ablation, engine
from benchmarks.recall.ablation import Figures
from benchmarks.recall.features import Dump, Weights, ranked, taken
from benchmarks.recall.fit import PENALTIES, Fit, Headlines, fit, rounded, tables
from benchmarks.report import Table
from mnemos.faces.cli.bench.corpus import Data, Format


def run(
    files: Sequence[Data],
    *,
    pools: Sequence[str],
    lexical: bool,
    folds: int,
    balance: float,
    free_signs: bool,
    penalty: float | None,
    ablation: bool,
) -> list[Table]:
    """Take the features of all candidates, then fit the weights or switch them off one by one."""
    shipped = engine.weights(lexical=lexical)
    dump = taken(files, engine.explain, pools, **engine.flags(lexical=lexical))
    signs = {} if free_signs else {name: _sign(value) for name, value in shipped.items()}
    print(
        f"{len(dump.seen)} questions, {sum(len(one.turns) for one in dump.seen):,} candidates",
        file=sys.stderr,
    )
    penalties = PENALTIES if penalty is None else (penalty,)
    found = fit(dump, signs=signs, folds=folds, balance=balance, penalties=penalties)
    headlines = _headlines(files, dump)
    if ablation:
        return [_ablation(dump, shipped, found, headlines, folds=folds, balance=balance)]
    weights = rounded(found.weights)
    print("\n".join(["{", *(f'    "{name}": {value},' for name, value in weights.items()), "}"]))
    return tables(dump, found, shipped, headlines)


def _ablation(
    dump: Dump, shipped: Weights, found: Fit, headlines: Headlines, *, folds: int, balance: float
) -> Table:
    def answer(weights: Weights) -> Figures:
        return ranked(dump, weights)

    def refit(weights: Weights) -> Figures:
        kept = dump.only(weights)
        penalties = (found.chosen.penalty,)
        signs = {name: _sign(value) for name, value in weights.items()}
        return fit(kept, signs=signs, folds=folds, balance=balance, penalties=penalties).chosen.held_out

    print("switching off each feature", file=sys.stderr)
    return ablation.table(ablation.ablate(shipped, answer, refit), headlines)


def _headlines(files: Sequence[Data], dump: Dump) -> list[tuple[str, str]]:
    """The goal of the weights: of every data set and arrangement, the figures we promise."""
    metrics = {
        data.name: ("session all@5", "session any@1")
        if data.format is Format.LONGMEMEVAL
        else ("turn recall@10",)
        for data in files
    }
    return [(f"{data}, {way}", metric) for data, way in dump.arrangements() for metric in metrics[data]]


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
