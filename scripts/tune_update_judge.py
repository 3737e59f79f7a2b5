"""Tune the weights of the update judge on the labelled pairs, and write them into the package.

    python scripts/tune_update_judge.py

Prints, by ten-fold cross-validation, how the judge decides on each kind of pair. Restatements are not used:
it does no harm to replace a statement by its restatement, nor to keep both.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemos.language.updates import MAY_REPLACE_FROM, REPLACES_FROM, are_about_others, are_comparable
from mnemos.language.updates.claim import analyse
from mnemos.language.updates.comparison import compare, find_doubts

ROOT = Path(__file__).parents[1]
PAIRS = ROOT / "tests/data/updates/pairs.tsv"
WEIGHTS = ROOT / "src/mnemos/language/updates/weights.json"
PENALTY = 3.0
FOLDS = 10
STRANGERS = 2

Matrix = NDArray[np.float64]


def main() -> None:
    rows = list(csv.DictReader(PAIRS.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [(row["old"], row["new"]) for row in rows]
    kinds = np.array([row["kind"] for row in rows])
    strangers = pick_strangers(rows)
    names, table = describe(pairs + strangers)
    labels = np.r_[kinds == "update", np.zeros(len(strangers), bool)].astype(float)
    used = np.r_[kinds != "restatement", np.ones(len(strangers), bool)]
    report(table, labels, used, kinds, pairs)
    bias, weights = fit(table[used], labels[used])
    tuned = {"bias": round(bias, 3)} | {n: round(float(w), 3) for n, w in zip(names, weights, strict=True)}
    WEIGHTS.write_text(json.dumps(tuned, indent=1) + "\n", encoding="utf-8")


def pick_strangers(rows: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Pair each new statement with old ones about something else that have a word in common with it.

    Others never reach the judge, and learning from them would teach it that any shared word is a tie.
    """
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    found = []
    for row in rows:
        new = analyse(row["new"])
        others = [
            other["old"]
            for other in rows
            if other["language"] == row["language"]
            and other["topic"] != row["topic"]
            and are_comparable(analyse(other["old"]), new)
            and not are_about_others(analyse(other["old"]), new)
        ]
        found += [(old, row["new"]) for old in chance.sample(others, min(STRANGERS, len(others)))]
    return found


def describe(pairs: list[tuple[str, str]]) -> tuple[list[str], Matrix]:
    features = [compare(analyse(old), analyse(new)) for old, new in pairs]
    names = list(features[0])
    return names, np.array([[one[name] for name in names] for one in features])


def fit(table: Matrix, labels: Matrix) -> tuple[float, Matrix]:
    """Fit a logistic model with a quadratic penalty, by Newton's method on scaled features."""
    middle, scale = table.mean(0), np.maximum(table.std(0), 1e-6)
    scaled = np.c_[np.ones(len(table)), (table - middle) / scale]
    weights = np.zeros(scaled.shape[1])
    penalty = np.diag([0.0] + [PENALTY] * (scaled.shape[1] - 1))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (chance - labels) + penalty @ weights
        curve = (scaled * (chance * (1 - chance))[:, None]).T @ scaled + penalty
        weights -= np.linalg.solve(curve, slope)
    own = weights[1:] / scale
    return float(weights[0] - own @ middle), own


def report(
    table: Matrix,
    labels: Matrix,
    used: NDArray[np.bool_],
    kinds: NDArray[np.str_],
    pairs: list[tuple[str, str]],
) -> None:
    chance = np.zeros(len(table))
    folds = np.random.default_rng(0).permutation(len(table)) % FOLDS
    for fold in range(FOLDS):
        train = used & (folds != fold)
        bias, weights = fit(table[train], labels[train])
        chance[folds == fold] = 1 / (1 + np.exp(-(table[folds == fold] @ weights + bias)))
    clear = np.array([not find_doubts(compare(analyse(old), analyse(new))) for old, new in pairs])
    same_people = np.array([not are_about_others(analyse(old), analyse(new)) for old, new in pairs])
    own = chance[: len(kinds)] * same_people
    for kind in ("update", "lookalike", "addition", "restatement"):
        here = kinds == kind
        replaced = (own[here] >= REPLACES_FROM) & clear[here]
        linked = own[here] >= MAY_REPLACE_FROM
        print(f"  {kind:12} {here.sum():4}  replaces {replaced.mean():6.1%}  linked {linked.mean():6.1%}")
    linked = chance[len(kinds) :] >= MAY_REPLACE_FROM
    print(f"  {'strangers':12} {len(linked):4}  linked {linked.mean():6.1%}")
    for kind, one, is_clear, (old, new) in zip(kinds, own, clear, pairs, strict=True):
        if kind in ("lookalike", "addition") and one >= REPLACES_FROM and is_clear:
            print(f"  LOST {one:.2f} {kind}: {old} | {new}")


if __name__ == "__main__":
    main()
