"""Fitting the weights of a linear ranker, in plain numpy.

Every piece of evidence competes with all candidates that are not evidence: its loss is the negative log
of its share in the softmax over itself and them. Pieces of evidence do not compete with each other. The
loss is convex, so Newton's method finds the one minimum in a dozen steps. A penalty holds each weight down
by the square of its effect (weight times spread of its feature), so that units do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]

STEPS = 60
ENOUGH = 1e-7
# Rounding may end the search a little early. Beyond this, per unit of weight, the minimum was not found.
TOO_STEEP = 1e-4


@dataclass(frozen=True, slots=True)
class Lists:
    """Candidate lists laid end to end. Question ``q`` has the rows ``starts[q]`` to ``starts[q + 1]``.

    ``pairs`` are the rows that are evidence, ``owner`` their questions, ``weight`` what each counts.
    """

    features: Numbers
    starts: Places
    pairs: Places
    owner: Places
    weight: Numbers

    @classmethod
    def of(
        cls, matrices: Sequence[Numbers], evidence: Sequence[Sequence[int]], weights: Sequence[float]
    ) -> Lists:
        """``evidence``: its places in each matrix; ``weights``: what one piece of each question counts."""
        starts = np.cumsum([0, *(len(matrix) for matrix in matrices)])
        pairs = [(starts[q] + place, q, weights[q]) for q, places in enumerate(evidence) for place in places]
        rows, owner, weight = zip(*pairs, strict=True) if pairs else ((), (), ())
        return cls(
            np.concatenate(matrices) if matrices else np.zeros((0, 0)),
            starts.astype(np.int64),
            np.array(rows, dtype=np.int64),
            np.array(owner, dtype=np.int64),
            np.array(weight, dtype=np.float64),
        )

    @property
    def spread(self) -> Numbers:
        """Of each feature, its standard deviation inside a question's list."""
        counts = np.diff(self.starts)
        means = np.add.reduceat(self.features, self.starts[:-1]) / counts[:, None]
        return np.sqrt(((self.features - np.repeat(means, counts, axis=0)) ** 2).mean(axis=0))


@dataclass(frozen=True, slots=True)
class Slope:
    loss: float
    gradient: Numbers
    hessian: Numbers


def fitted(
    lists: Lists, penalty: float, signs: Numbers | None = None, start: Numbers | None = None
) -> Numbers:
    """The weights with the least loss. ``signs``: 1 keeps a weight from going below zero, -1 from above.

    A feature that never differs inside a list has no effect on any ranking and gets the weight zero. A
    search that does not end in the minimum raises ArithmeticError: its weights would depend on the start.
    """
    spread = lists.spread
    useful = spread > 1e-9
    signs = np.zeros(len(spread)) if signs is None else signs
    ridge = penalty * np.where(useful, spread, 1.0) ** 2
    weights = np.zeros(len(spread)) if start is None else _held(np.where(useful, start, 0.0), signs)
    here = _penalised(lists, weights, ridge)
    for _ in range(STEPS):
        # At its bound and pushed against it, or without effect: such a weight stays where it is.
        stuck = ~useful | ((weights == 0) & (signs * here.gradient > 0))
        steepness = np.abs(here.gradient[~stuck] / spread[~stuck]).max(initial=0.0)
        moved = None if steepness < ENOUGH else _step(lists, weights, here, stuck, signs, ridge)
        if moved is None:
            break
        weights, here = moved
    if steepness > TOO_STEEP * max(1.0, lists.weight.sum()):
        raise ArithmeticError(f"the fit did not converge: its gradient is still {steepness:.2g}")
    return weights


def loss(lists: Lists, weights: Numbers) -> float:
    """The mean loss per unit of weight, without the penalty."""
    return _slope(lists, weights).loss / max(lists.weight.sum(), 1e-12)


def _step(
    lists: Lists, weights: Numbers, here: Slope, stuck: NDArray[np.bool_], signs: Numbers, ridge: Numbers
) -> tuple[Numbers, Slope] | None:
    """Newton's step over the free weights, halved until it helps; None when nothing does."""
    free = ~stuck
    direction = np.zeros(len(weights))
    curve = here.hessian[np.ix_(free, free)] + 1e-10 * np.eye(int(free.sum()))
    direction[free] = -np.linalg.solve(curve, here.gradient[free])
    size = 1.0
    while size > 1e-6:
        candidate = _held(weights + size * direction, signs)
        there = _penalised(lists, candidate, ridge)
        if there.loss < here.loss - 1e-4 * abs(here.gradient @ (candidate - weights)):
            return candidate, there
        size /= 2
    return None


def _held(weights: Numbers, signs: Numbers) -> Numbers:
    return np.where(weights * signs < 0, 0.0, weights)


def _penalised(lists: Lists, weights: Numbers, ridge: Numbers) -> Slope:
    here = _slope(lists, weights)
    return Slope(
        here.loss + 0.5 * float(ridge @ weights**2),
        here.gradient + ridge * weights,
        here.hessian + np.diag(ridge),
    )


def _slope(lists: Lists, weights: Numbers) -> Slope:
    """Loss, gradient and curvature. The softmax over the others is the same for all evidence of a list."""
    counts = np.diff(lists.starts)
    scores = lists.features @ weights
    # Shifted by the highest score of the list, so that no exponential overflows.
    top = np.repeat(np.maximum.reduceat(scores, lists.starts[:-1]), counts)
    raised = np.exp(scores - top)
    others = raised.copy()
    others[lists.pairs] = 0.0
    mass = np.maximum(np.add.reduceat(others, lists.starts[:-1]), 1e-300)
    share = others / np.repeat(mass, counts)
    centre = np.add.reduceat(share[:, None] * lists.features, lists.starts[:-1])

    own, rest = raised[lists.pairs], mass[lists.owner]
    won = own / (own + rest)
    lost = lists.weight * (1 - won)
    gap = lists.features[lists.pairs] - centre[lists.owner]
    pull = np.bincount(lists.owner, weights=lost, minlength=len(counts))
    spread = lists.features.T @ ((share * np.repeat(pull, counts))[:, None] * lists.features)
    return Slope(
        loss=float(-(lists.weight * np.log(np.maximum(won, 1e-300))).sum()),
        gradient=-(lost[:, None] * gap).sum(axis=0),
        hessian=spread - centre.T @ (pull[:, None] * centre) + gap.T @ ((lost * won)[:, None] * gap),
    )
