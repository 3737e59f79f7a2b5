"""How sure one can be: intervals for shares and for the difference of two means."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Final

# 95% of a normal distribution lies within so many standard deviations.
_Z: Final = 1.959963984540054
_TAIL: Final = 0.025
_FRACTION_STEPS: Final = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """Of two means, first minus second, with the bounds of its 95% interval."""

    value: float
    low: float
    high: float


def wilson(successes: int, total: int) -> tuple[float, float]:
    """The 95% interval of a share by its score (Wilson): sensible also for few cases, and for all or none."""
    if total == 0:
        return 0.0, 1.0
    share = successes / total
    spread = _Z * math.sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
    middle, scale = share + _Z**2 / (2 * total), 1 + _Z**2 / total
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def welch(first: Sequence[float], second: Sequence[float]) -> Difference:
    """The difference of the means of two samples whose spreads differ (Welch's t); each has two or more."""
    value = fmean(first) - fmean(second)
    parts = [variance(sample) / len(sample) for sample in (first, second)]
    error = sum(parts)
    if error == 0.0:
        return Difference(value, value, value)
    # By shares of the whole, because the squares of tiny numbers are nothing.
    freedom = 1 / sum(
        (part / error) ** 2 / (len(sample) - 1) for part, sample in zip(parts, (first, second), strict=True)
    )
    reach = t_quantile(freedom) * math.sqrt(error)
    return Difference(value, value - reach, value + reach)


def t_quantile(freedom: float) -> float:
    """The t that is exceeded in 2.5% of all cases, for degrees of freedom from 1 on."""

    def tail(t: float) -> float:
        return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2

    return _solved(lambda t: tail(t) - _TAIL, 0.0, 1e3)


def _solved(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is zero."""
    for _ in range(80):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _beta_fraction(x, a, b) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Its continued fraction, from the front (Lentz's method)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0), tiny)
    value = d
    for m in range(1, _FRACTION_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _not_zero(1.0 + term * d, tiny)
            c = _not_zero(1.0 + term / c, tiny)
            value *= c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return value


def _not_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
