"""No value makes a function raise anything but its own failure, or answer what SQLite cannot hold."""

from __future__ import annotations

from contextlib import suppress

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemos.workspace.functions import FUNCTIONS, register, scalar
from mnemos.workspace.functions import function as base
from mnemos.workspace.functions.function import Function, FunctionFailed, Value

# Values that some function accepts, so that more than the first check is reached.
WORDS = (
    "", "a", "dmy", "month", "host", "query", "%Y-%m-%d %H:%i", "YYYY-MM-DD FMMonth", "$.a[0]", "(a)(b)?",
    "a*", "[", "\\C", "$1\\1", "i", ",", "tab", "0", "1", "-1", "2024-02-29T10:11:12+02:00", "31/01/24",
    "March 2024", '{"a": [1, {"b": null}]}', "[1", "http://u:p@[::1]:80/a?b=c%zz#f", "a,b\n1,2,3", "(5%)",
    "1.234,56 €", '<p>a<b "<!--', "&#99999999;", "e\u0301", "👨‍👩‍👧", "你好", "שלום", "\x00", "# h\n\ntext",
    "now", "1e308", "٣", "ß", "İ",
)  # fmt: skip
NUMBERS = st.integers(base.SMALLEST, base.LARGEST) | st.integers(-3, 70) | st.floats(allow_nan=False)
VALUES = st.none() | NUMBERS | st.text(max_size=40) | st.sampled_from(WORDS) | st.binary(max_size=20)


@st.composite
def calls(draw: st.DrawFn, functions: list[Function]) -> tuple[Function, list[Value]]:
    function = draw(st.sampled_from(functions))
    count = draw(st.sampled_from(function.arity))
    count = draw(st.integers(0, 4)) if count < 0 else count
    return function, draw(st.lists(VALUES, min_size=count, max_size=count))


SCALARS = [function for function in FUNCTIONS if function.call]
AGGREGATES = [function for function in FUNCTIONS if function.make]


@pytest.fixture(scope="module")
def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    register(connection)
    return connection


@settings(max_examples=200)
@given(calls(SCALARS))
def test_a_scalar_function_answers_or_fails_as_documented(
    database: apsw.Connection, drawn: tuple[Function, list[Value]]
) -> None:
    function, values = drawn
    try:
        answer = scalar(function)(*values)
    except FunctionFailed:
        with pytest.raises(FunctionFailed):
            database.execute(statement(function, values), values).fetchall()
        return
    assert answer is None or type(answer) in (int, float, str, bytes)
    stored = database.execute(statement(function, values), values).get
    assert type(stored) is type(answer)
    assert stored == answer or not function.pure


def statement(function: Function, values: list[Value]) -> str:
    return f'SELECT "{function.name}"({", ".join("?" * len(values))})'


@settings(max_examples=75)
@given(st.data(), st.sampled_from(AGGREGATES))
def test_an_aggregate_answers_or_fails_as_documented(
    database: apsw.Connection, data: st.DataObject, function: Function
) -> None:
    width = function.arity[0]
    rows = data.draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=1, max_size=6))
    columns = ", ".join(f"column{number}" for number in range(1, width + 1))
    table = ", ".join(f"({', '.join('?' * width)})" for _ in rows)
    bound = [value for row in rows for value in row]
    frame = " OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
    for over in ("", frame):
        query = f"SELECT {function.name}({columns}){over} FROM (VALUES {table})"
        with suppress(FunctionFailed):
            database.execute(query, bound).fetchall()


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\x1c", "\x1f", "\x85", "\xa0", "\u3000"])
def test_blanks_and_separators_around_a_number_are_ignored(blank: str) -> None:
    for text in (f"{blank}12", f"12{blank}", f"{blank}12{blank}"):
        for value in (text, text.encode()):
            assert base.as_number(value) == 12.0
            assert base.as_whole(value, "count") == 12
