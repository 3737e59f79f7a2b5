"""Statistical aggregates. NULL is ignored. Text must be a plain number, or the aggregate fails.

SQLite's own ``median`` and ``percentile`` can't be used in views when the schema is not trusted. These can,
and they are window functions, too.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from functools import partial
from math import ceil, floor, isfinite, sqrt

from mnemos.workspace.functions.function import (
    Aggregate,
    Function,
    FunctionFailed,
    Value,
    as_number,
    quote_value,
)

# Numbers kept for sorting: 8 bytes each and 24 more.
MOST_NUMBERS = 5_000_000
# Bytes of different values kept for counting.
MOST_COUNTED = 64 * 1024 * 1024
_COST_OF_VALUE = 100


class _Sums:
    """Exact sums of one or two columns in fixed point: a value that leaves a window leaves no trace."""

    def __init__(self) -> None:
        self.count = self.infinite = 0
        self.bits_x = self.bits_y = 0
        self.total_x = self.total_y = 0
        self.squares_x = self.squares_y = self.products = 0

    def step(self, *values: Value) -> None:
        self._count(values, 1)

    def inverse(self, *values: Value) -> None:
        self._count(values, -1)

    def _count(self, values: tuple[Value, ...], times: int) -> None:
        if None in values:
            return
        numbers = [as_number(value) for value in values]
        if not all(map(isfinite, numbers)):
            self.infinite += times
            return
        x, bits_x = _fixed_point(numbers[0])
        y, bits_y = _fixed_point(numbers[1]) if len(numbers) > 1 else (0, 0)
        self._widen(max(bits_x - self.bits_x, 0), max(bits_y - self.bits_y, 0))
        x <<= self.bits_x - bits_x
        y <<= self.bits_y - bits_y
        self.count += times
        self.total_x += times * x
        self.total_y += times * y
        self.squares_x += times * x * x
        self.squares_y += times * y * y
        self.products += times * x * y

    def _widen(self, more_x: int, more_y: int) -> None:
        """Make room for more bits behind the binary points."""
        if more_x or more_y:
            self.bits_x += more_x
            self.bits_y += more_y
            self.total_x <<= more_x
            self.total_y <<= more_y
            self.squares_x <<= 2 * more_x
            self.squares_y <<= 2 * more_y
            self.products <<= more_x + more_y


def _fixed_point(number: float) -> tuple[int, int]:
    """Return an integer and how many of its bits are behind the point; together exactly the number."""
    numerator, denominator = number.as_integer_ratio()
    return numerator, denominator.bit_length() - 1


class Spread(_Sums):
    """Variance or standard deviation, of a sample or of everything."""

    def __init__(self, *, sample: bool, root: bool) -> None:
        super().__init__()
        self._sample, self._root = sample, root

    def value(self) -> Value:
        degrees = self.count - 1 if self._sample else self.count
        if degrees < 1 or self.infinite:
            return None
        above = self.count * self.squares_x - self.total_x**2
        try:
            variance = above / (self.count * degrees << 2 * self.bits_x)
        except OverflowError:
            return None
        return sqrt(variance) if self._root else variance


class Correlation(_Sums):
    """Pearson's coefficient of the pairs where both are known."""

    def value(self) -> Value:
        spread_x = self.count * self.squares_x - self.total_x**2
        spread_y = self.count * self.squares_y - self.total_y**2
        if self.infinite or not spread_x or not spread_y:
            return None
        together = self.count * self.products - self.total_x * self.total_y
        # There are as many bits behind the points above as below.
        share = sqrt(together**2 / (spread_x * spread_y))
        return share if together >= 0 else -share


class Ordered:
    """The value at some place among the numbers in order, by default in the middle."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.is_sorted = False
        self.place: float | None = 0.5

    def step(self, *values: Value) -> None:
        number, *place = values
        if place:
            self.place = self._check_place(place[0])
        if number is None:
            return
        if len(self.numbers) == MOST_NUMBERS:
            raise FunctionFailed(f"there are over {MOST_NUMBERS:,} numbers; take a sample of them")
        if self.is_sorted:
            insort(self.numbers, as_number(number))
        else:
            self.numbers.append(as_number(number))

    def inverse(self, *values: Value) -> None:
        if values[0] is not None:
            self._sort()
            del self.numbers[bisect_left(self.numbers, as_number(values[0]))]

    def _check_place(self, value: Value) -> float | None:
        if value is None:
            return None
        percent = as_number(value)
        if not 0 <= percent <= 100:
            raise FunctionFailed(f"the place is {quote_value(value)}; give 0 to 100")
        return percent / 100

    def _sort(self) -> None:
        if not self.is_sorted:
            self.numbers.sort()
            self.is_sorted = True

    def value(self) -> Value:
        if not self.numbers or self.place is None:
            return None
        self._sort()
        at = self.place * (len(self.numbers) - 1)
        low, high = self.numbers[floor(at)], self.numbers[ceil(at)]
        return low + (high - low) * (at - floor(at)) if isfinite(high - low) else low / 2 + high / 2


class Mode:
    """The most frequent value, and the smallest of several."""

    def __init__(self) -> None:
        self.counts: dict[Value, int] = {}
        self.kept = 0

    def step(self, *values: Value) -> None:
        value = values[0]
        if value is None:
            return
        if value not in self.counts:
            self.kept += _cost(value)
            if self.kept > MOST_COUNTED:
                raise FunctionFailed(
                    f"there are too many different values ({len(self.counts):,}); count them with GROUP BY"
                )
        self.counts[value] = self.counts.get(value, 0) + 1

    def inverse(self, *values: Value) -> None:
        value = values[0]
        if value is None:
            return
        self.counts[value] -= 1
        if not self.counts[value]:
            del self.counts[value]
            self.kept -= _cost(value)

    def value(self) -> Value:
        if not self.counts:
            return None
        most = max(self.counts.values())
        return min((value for value, count in self.counts.items() if count == most), key=_order)


def _order(value: Value) -> tuple[int, Value]:
    """Return a key that sorts as SQLite does: numbers, then text, then blobs."""
    return (2, value) if isinstance(value, bytes) else (1, value) if isinstance(value, str) else (0, value)


def _cost(value: Value) -> int:
    return _COST_OF_VALUE + (len(value) if isinstance(value, str | bytes) else 0)


_ROWS = "FROM (VALUES (2), (4), (4), (4), (5), (5), (7), (9))"

# Signature, documentation, example, its result, how the aggregate is made.
_WINDOWS: tuple[tuple[str, str, str, str, Callable[[], Aggregate]], ...] = (
    ("stddev(x)", "Standard deviation of a sample.", f"round(stddev(column1), 4) {_ROWS}", "2.1381",
     partial(Spread, sample=True, root=True)),
    ("stddev_pop(x)", "Standard deviation of a whole population.", f"stddev_pop(column1) {_ROWS}", "2.0",
     partial(Spread, sample=False, root=True)),
    ("variance(x)", "Variance of a sample.", f"round(variance(column1), 4) {_ROWS}", "4.5714",
     partial(Spread, sample=True, root=False)),
    ("var_pop(x)", "Variance of a whole population.", f"var_pop(column1) {_ROWS}", "4.0",
     partial(Spread, sample=False, root=False)),
    ("median(x)", "The middle value, or the mean of the two in the middle.", f"median(column1) {_ROWS}",
     "4.5", Ordered),
    ("percentile(x, p)", "The value below which p percent (0 to 100) lie, between two values where needed.",
     f"percentile(column1, 90) {_ROWS}", "7.6", Ordered),
    ("mode(x)", "The most frequent value; the smallest of several.", f"mode(column1) {_ROWS}", "4", Mode),
    ("corr(x, y)", "Correlation of two columns, -1 to 1; NULL if one of them does not vary.",
     "corr(column1, column2) FROM (VALUES (1, 2), (2, 4), (3, 6))", "1.0", Correlation),
)  # fmt: skip

FUNCTIONS = tuple(
    Function(
        signature.partition("(")[0],
        signature,
        doc,
        example,
        gives,
        make=make,
        arity=(signature.count(",") + 1,),
    )
    for signature, doc, example, gives, make in _WINDOWS
)
