"""Aggregates of statistics. NULL is left out; text counts where it is a plain number and fails otherwise.

SQLite has ``median`` and ``percentile`` of its own, but does not let views use them when the schema is not
trusted; ours it does, and as window functions too.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from math import ceil, floor, isfinite, sqrt

from mnemos.workspace.functions.aliases import order_of
from mnemos.workspace.functions.base import Function, FunctionFailed, Value, as_number, shown

# Numbers that are kept to be sorted: 8 bytes each and 24 more.
MOST_NUMBERS = 5_000_000
# Bytes of different values that are kept to be counted.
MOST_COUNTED = 64 * 1024 * 1024
_COST_OF_VALUE = 100


def _fixed_point(number: float) -> tuple[int, int]:
    """A whole number and how many of its bits stand behind the point: together exactly the number."""
    numerator, denominator = number.as_integer_ratio()
    return numerator, denominator.bit_length() - 1


class Spread:
    """Sum and sum of squares, exactly: what leaves a window leaves no trace behind."""

    sample = True
    root = False

    def __init__(self) -> None:
        self.count = 0
        self.infinite = 0
        self.bits = 0
        """Bits behind the point in ``total``; twice as many in ``squares``."""
        self.total = 0
        self.squares = 0

    def step(self, *values: Value) -> None:
        self._count(values[0], 1)

    def inverse(self, *values: Value) -> None:
        self._count(values[0], -1)

    def _count(self, value: Value, times: int) -> None:
        if value is None:
            return
        number = as_number(value)
        if not isfinite(number):
            self.infinite += times
            return
        whole, bits = _fixed_point(number)
        if bits > self.bits:
            self.total <<= bits - self.bits
            self.squares <<= 2 * (bits - self.bits)
            self.bits = bits
        whole <<= self.bits - bits
        self.count += times
        self.total += times * whole
        self.squares += times * whole * whole

    def value(self) -> Value:
        degrees = self.count - 1 if self.sample else self.count
        if degrees < 1 or self.infinite:
            return None
        above = self.count * self.squares - self.total * self.total
        try:
            variance = above / (self.count * degrees << 2 * self.bits)
        except OverflowError:
            return None
        return sqrt(variance) if self.root else variance

    final = value


class Variance(Spread):
    pass


class VariancePopulation(Spread):
    sample = False


class Deviation(Spread):
    root = True


class DeviationPopulation(Spread):
    sample = False
    root = True


class Correlation:
    """Pearson's coefficient of the pairs where both are known, from exact sums."""

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
        (x, bits_x), (y, bits_y) = map(_fixed_point, numbers)
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
        """Make room for more bits behind the points."""
        self.bits_x += more_x
        self.bits_y += more_y
        self.total_x <<= more_x
        self.total_y <<= more_y
        self.squares_x <<= 2 * more_x
        self.squares_y <<= 2 * more_y
        self.products <<= more_x + more_y

    def value(self) -> Value:
        spread_x = self.count * self.squares_x - self.total_x**2
        spread_y = self.count * self.squares_y - self.total_y**2
        if self.infinite or not spread_x or not spread_y:
            return None
        together = self.count * self.products - self.total_x * self.total_y
        # The bits behind the points are as many above as below.
        share = sqrt(together**2 / (spread_x * spread_y))
        return share if together >= 0 else -share

    final = value


class Ordered:
    """The numbers in order, for what stands at some place among them."""

    hundred = 1.0
    continuous = True

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.is_sorted = False
        self.place: float | None = 0.5

    def step(self, *values: Value) -> None:
        number, *place = values
        if place:
            self.place = self._place(place[0])
        if number is None:
            return
        if len(self.numbers) == MOST_NUMBERS:
            raise FunctionFailed(f"there are over {MOST_NUMBERS:,} numbers; take a sample of them")
        if self.is_sorted:
            insort(self.numbers, as_number(number))
        else:
            self.numbers.append(as_number(number))

    def inverse(self, *values: Value) -> None:
        if values[0] is None:
            return
        self._sort()
        del self.numbers[bisect_left(self.numbers, as_number(values[0]))]

    def _place(self, value: Value) -> float | None:
        if value is None:
            return None
        place = as_number(value)
        if not 0 <= place <= self.hundred:
            raise FunctionFailed(f"the place is {shown(value)}; give 0 to {self.hundred:g}")
        return place / self.hundred

    def _sort(self) -> None:
        if not self.is_sorted:
            self.numbers.sort()
            self.is_sorted = True

    def value(self) -> Value:
        if not self.numbers or self.place is None:
            return None
        self._sort()
        at = self.place * (len(self.numbers) - 1)
        if not self.continuous:
            # The first value with at least that share of the values up to it.
            return self.numbers[max(ceil(self.place * len(self.numbers)) - 1, 0)]
        low, high = self.numbers[floor(at)], self.numbers[ceil(at)]
        return low + (high - low) * (at - floor(at)) if isfinite(high - low) else low / 2 + high / 2

    final = value


class Percentile(Ordered):
    hundred = 100.0


class PercentileContinuous(Ordered):
    pass


class PercentileDiscrete(Ordered):
    continuous = False


class Mode:
    """The value that occurs most; of several the smallest."""

    def __init__(self) -> None:
        self.counts: dict[Value, int] = {}
        self.kept = 0

    def step(self, *values: Value) -> None:
        value = values[0]
        if value is None:
            return
        if value not in self.counts:
            self.kept += _COST_OF_VALUE + (len(value) if isinstance(value, str | bytes) else 0)
            if self.kept > MOST_COUNTED:
                raise FunctionFailed(
                    f"there are too many different values ({len(self.counts):,}); count them with GROUP BY"
                )
        self.counts[value] = self.counts.get(value, 0) + 1

    def final(self) -> Value:
        if not self.counts:
            return None
        most = max(self.counts.values())
        return min((value for value, count in self.counts.items() if count == most), key=order_of)


_ROWS = "FROM (VALUES (2), (4), (4), (4), (5), (5), (7), (9))"

FUNCTIONS = (
    *(
        Function(name, f"{name}(x)", doc, f"round({name}(column1), 4) {_ROWS}", gives, slide=kind)
        for name, doc, gives, kind in (
            ("stddev", "Standard deviation of a sample.", "2.1381", Deviation),
            ("stddev_samp", "Same as stddev(x).", "2.1381", Deviation),
            ("stddev_pop", "Standard deviation of all there is.", "2.0", DeviationPopulation),
            ("variance", "Variance of a sample.", "4.5714", Variance),
            ("var_samp", "Same as variance(x).", "4.5714", Variance),
            ("var_pop", "Variance of all there is.", "4.0", VariancePopulation),
        )
    ),
    Function(
        "median",
        "median(x)",
        "The middle value, or the mean of the two in the middle.",
        f"median(column1) {_ROWS}",
        "4.5",
        slide=Ordered,
    ),
    Function(
        "percentile",
        "percentile(x, p)",
        "The value below which p percent (0 to 100) lie, between two values where needed.",
        f"percentile(column1, 90) {_ROWS}",
        "7.6",
        slide=Percentile,
        arity=(2,),
    ),
    Function(
        "percentile_cont",
        "percentile_cont(x, fraction)",
        "As percentile, with a fraction from 0 to 1.",
        f"percentile_cont(column1, 0.5) {_ROWS}",
        "4.5",
        slide=PercentileContinuous,
        arity=(2,),
    ),
    Function(
        "percentile_disc",
        "percentile_disc(x, fraction)",
        "As percentile_cont, but always one of the values.",
        f"percentile_disc(column1, 0.5) {_ROWS}",
        "4.0",
        slide=PercentileDiscrete,
        arity=(2,),
    ),
    Function(
        "corr",
        "corr(x, y)",
        "Correlation of two columns, -1 to 1; NULL where one does not vary.",
        "corr(column1, column2) FROM (VALUES (1, 2), (2, 4), (3, 6))",
        "1.0",
        slide=Correlation,
        arity=(2,),
    ),
    Function(
        "mode",
        "mode(x)",
        "The value that occurs most; of several the smallest.",
        f"mode(column1) {_ROWS}",
        "4",
        gather=Mode,
    ),
)
