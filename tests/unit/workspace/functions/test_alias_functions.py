"""Functions under the names of other databases."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest

from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]


@pytest.mark.parametrize(
    ("name", "values", "answer"),
    [
        ("len", ("👍é",), 2),
        ("len", ("a  ",), 3),
        ("nvl", (None, None), None),
        ("nvl", ("", "x"), ""),
        ("nvl", (b"\xff", 1), b"\xff"),
        ("left", ("👍bc", 1), "👍"),
        ("left", ("abc", 0), ""),
        ("left", ("abc", -1), "ab"),
        ("left", ("abc", 2**62), "abc"),
        ("right", ("ab👍", 1), "👍"),
        ("right", ("abc", 0), ""),
        ("right", ("abc", -1), "bc"),
        ("right", ("abc", 2**62), "abc"),
        ("right", (12345, "2"), "45"),
        ("reverse", ("ab你",), "你ba"),
        ("reverse", ("",), ""),
        ("lpad", ("abc", 2), "ab"),
        ("lpad", ("abc", 5), "  abc"),
        ("lpad", ("abc", 8, "xy"), "xyxyxabc"),
        ("lpad", ("abc", 8, ""), "abc"),
        ("lpad", ("abc", -1), ""),
        ("rpad", ("abc", 8, "👍"), "abc👍👍👍👍👍"),
        ("concat", ("a", None, 1), "a1"),
        ("concat_ws", ("-", "a", None, 1), "a-1"),
        ("if", (0, "yes", "no"), "no"),
        ("if", (None, "yes", "no"), "no"),
    ],
)
def test_aliases(call: Call, name: str, values: tuple[Value, ...], answer: Value) -> None:
    assert call(name, *values) == answer


@pytest.mark.parametrize("name", ["left", "right", "lpad", "rpad"])
def test_a_count_that_makes_no_sense_is_refused(call: Call, name: str) -> None:
    with pytest.raises(FunctionFailed):
        call(name, "abc", "many")


def test_four_megabytes_are_reversed(call: Call) -> None:
    text = "a" * 3_999_999 + "b"
    assert call("reverse", text) == text[::-1]


def test_left_and_right_are_still_joins(connection: apsw.Connection) -> None:
    rows = connection.execute(
        """
        SELECT left(a.x, 1), right(b.y, 1)
        FROM (SELECT 'abc' AS x) AS a
        LEFT JOIN (SELECT 'abd' AS y) AS b ON left(a.x, 2) = left(b.y, 2)
        """
    ).fetchall()
    assert rows == [("a", "d")]
