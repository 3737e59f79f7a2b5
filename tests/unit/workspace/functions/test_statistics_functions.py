"""Aggregates of statistics, alone and over windows."""

from __future__ import annotations

import statistics as reference
from collections.abc import Callable

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.functions import FUNCTIONS, register, statistics
from mnemos.workspace.functions.function import FunctionFailed, Value

Over = Callable[..., Value]
NUMBERS = st.integers(-1000, 1000) | st.floats(-1000, 1000).map(lambda x: round(x, 3))
SPREADS = {
    "variance": reference.variance,
    "var_pop": reference.pvariance,
    "stddev": reference.stdev,
    "stddev_pop": reference.pstdev,
}


def aggregate(name: str, rows: list[tuple[Value, ...]]) -> Value:
    function = next(function for function in FUNCTIONS if function.name == name)
    make = function.make
    assert make is not None
    running = make()
    for row in rows:
        running.step(*row)
    return running.value()


@given(st.lists(NUMBERS, min_size=2, max_size=30))
def test_spread_and_middle_are_those_of_the_standard_library(numbers: list[float]) -> None:
    rows = [(number,) for number in numbers]
    for name, expected in SPREADS.items():
        assert aggregate(name, rows) == pytest.approx(expected(numbers))
    assert aggregate("median", rows) == pytest.approx(reference.median(numbers))
    quarter = aggregate("percentile", [(number, 25) for number in numbers])
    assert quarter == pytest.approx(reference.quantiles(numbers, method="inclusive")[0])


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=30))
def test_the_correlation_is_that_of_the_standard_library(rows: list[tuple[float, float]]) -> None:
    found = aggregate("corr", rows)
    if len({x for x, _ in rows}) > 1 and len({y for _, y in rows}) > 1:
        assert found == pytest.approx(reference.correlation(*zip(*rows, strict=True)), abs=1e-6)
    else:
        assert found is None


@given(st.lists(st.integers(0, 5) | st.sampled_from(["a", "b", b"c", 1.5]), min_size=1, max_size=30))
def test_the_mode_is_the_most_frequent_value(values: list[Value]) -> None:
    found = aggregate("mode", [(value,) for value in values])
    assert values.count(found) == max(map(values.count, values))


@pytest.mark.parametrize("name", ["stddev", "variance", "median", "mode", "stddev_pop", "var_pop"])
def test_there_is_no_statistic_of_nothing(connection: apsw.Connection, over: Over, name: str) -> None:
    assert over(name, (None,), (None,)) is None
    assert connection.execute(f"SELECT {name}(1) WHERE 0").get is None


def test_there_is_no_sample_of_one_value(over: Over) -> None:
    assert over("stddev", (5,)) is None
    assert over("variance", (5,)) is None
    assert over("stddev_pop", (5,)) == 0.0
    assert over("median", (5,)) == 5.0
    assert over("mode", ("x",)) == "x"
    assert over("corr", (1, 2)) is None


def test_text_counts_where_it_is_a_number_and_null_does_not(over: Over) -> None:
    assert over("median", ("1",), (None,), (" 3.0 ",), (b"8",)) == 3.0
    assert over("corr", ("1", "2"), (None, 5), (2, 4)) == 1.0


@pytest.mark.parametrize("value", ["abc", "", "5 apples", b"\xff", "1e", "٣"])
def test_text_that_is_not_a_number_is_refused(over: Over, value: Value) -> None:
    for name in ("stddev", "median"):
        with pytest.raises(FunctionFailed):
            over(name, (1,), (value,))


@pytest.mark.parametrize("place", [-1, 101, "x", float("inf")])
def test_a_percentile_outside_is_refused(over: Over, place: Value) -> None:
    with pytest.raises(FunctionFailed):
        over("percentile", (1, place))


def test_ties_go_to_the_smallest_as_sqlite_sorts(over: Over) -> None:
    assert over("mode", ("b",), (2,), ("a",), (b"c",), (2.5,)) == 2
    assert over("mode", ("b",), ("a",), ("b",), ("a",)) == "a"


def test_infinity_spreads_without_bound(over: Over) -> None:
    infinite = float("inf")
    assert over("stddev", (1,), (infinite,), (2,)) is None
    assert over("corr", (1, 2), (infinite, 3), (4, 5)) is None
    assert over("median", (1,), (infinite,)) == infinite
    assert over("median", (-infinite,), (infinite,)) is None
    assert over("median", (-1.7e308,), (1.7e308,)) == 0.0
    assert over("stddev", (-1.7e308,), (1.7e308,)) is None
    assert over("corr", (-1e300, 5e-324), (1e300, 1e300)) == 1.0


def test_what_is_large_does_not_hide_what_is_small(over: Over) -> None:
    assert over("var_pop", (1e16,), (1e16 + 2,)) == 1.0
    assert over("stddev_pop", (0.1,), (0.1,), (0.1,)) == 0.0


@pytest.mark.parametrize("name", ["stddev", "var_pop", "median", "mode"])
@given(
    rows=st.lists(st.none() | NUMBERS | st.just(float("inf")), min_size=1, max_size=25),
    width=st.integers(0, 5),
)
def test_a_window_gives_what_its_rows_alone_would(name: str, rows: list[Value], width: int) -> None:
    connection = apsw.Connection(":memory:")
    register(connection)
    connection.execute("CREATE TABLE t (x)")
    connection.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
    found = connection.execute(
        f"SELECT {name}(x) OVER (ORDER BY rowid ROWS {width} PRECEDING) FROM t ORDER BY rowid"
    ).fetchall()
    for last, (value,) in enumerate(found):
        frame = [(row,) for row in rows[max(0, last - width) : last + 1]]
        assert value == aggregate(name, frame)


def test_the_other_windows_slide_too(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE t (x, y); INSERT INTO t VALUES (1, 1), (2, 2), (3, NULL), (4, 0), (5, -1), (6, -2)"
    )
    found = connection.execute(
        """
        SELECT corr(x, y) OVER frame, percentile(x, 50) OVER frame
        FROM t
        WINDOW frame AS (ORDER BY x ROWS 1 PRECEDING)
        """
    ).fetchall()
    assert found == [
        (None, 1.0),
        (1.0, 1.5),
        (None, 2.5),
        (None, 3.5),
        (-1.0, 4.5),
        (-1.0, 5.5),
    ]


def test_what_is_kept_is_bounded(over: Over, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MOST_NUMBERS", 2)
    monkeypatch.setattr(statistics, "MOST_COUNTED", 250)
    assert over("median", (1,), (2,)) == 1.5
    with pytest.raises(FunctionFailed):
        over("median", (1,), (2,), (3,))
    with pytest.raises(FunctionFailed):
        over("mode", (1,), (2,), (3,))


def test_groups_are_apart(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE t (g, x); INSERT INTO t VALUES ('a', 1), ('b', 10), ('a', 3), ('b', 30)")
    assert connection.execute(
        "SELECT g, median(x), stddev_pop(x) FROM t GROUP BY g ORDER BY g"
    ).fetchall() == [
        ("a", 2.0, 1.0),
        ("b", 20.0, 10.0),
    ]
