"""CSV inside a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import pytest

from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]
CallJson = Callable[..., Any]


@pytest.mark.parametrize(
    ("whole", "rows"),
    [
        ("id,name\n1,Ada\n2,Bo", [{"id": "1", "name": "Ada"}, {"id": "2", "name": "Bo"}]),
        ("id;name\r\n007;Ada", [{"id": "007", "name": "Ada"}]),
        ("a\tb\n1\t2,5", [{"a": "1", "b": "2,5"}]),
        ("a|b\n1|2", [{"a": "1", "b": "2"}]),
        ('a,b\n"x, y","say ""hi"""', [{"a": "x, y", "b": 'say "hi"'}]),
        ('a,b\n"two\nlines",2', [{"a": "two\nlines", "b": "2"}]),
        ("a;b\n1,5;2,5\n3,5;4,5", [{"a": "1,5", "b": "2,5"}, {"a": "3,5", "b": "4,5"}]),
        ("\ufeffa,b\n1,2", [{"a": "1", "b": "2"}]),
        ("a,b\r1,2\r", [{"a": "1", "b": "2"}]),
        ("a,b\n\n1,2\n\n", [{"a": "1", "b": "2"}]),
        ("a,b\n1\n", [{"a": "1", "b": None}]),
        ("a,a,\n1,2,3", [{"a": "1", "a_2": "2", "column_3": "3"}]),
        ("a,a_2,a\n1,2,3", [{"a": "1", "a_2": "2", "a_3": "3"}]),
        ("a,b\n1,2,3", [{"a": "1", "b": "2", "column_3": "3"}]),
        ("column_2\n1,2", [{"column_2": "1,2"}]),
        ("价格,名\n5,阿达", [{"价格": "5", "名": "阿达"}]),
        ('a\n"never closed', [{"a": "never closed"}]),
        ("a\nx\x00y", [{"a": "x\x00y"}]),
        ("only", []),
        ("", []),
        (5, []),
    ],
)
def test_rows_are_objects_by_their_header(call_json: CallJson, whole: Value, rows: list[object]) -> None:
    assert call_json("csv_parse", whole) == rows


def test_rows_without_a_header_are_arrays(call_json: CallJson) -> None:
    assert call_json("csv_parse", "1,2\n3", 0) == [["1", "2"], ["3"]]
    assert call_json("csv_parse", "1;2\n3", "0") == [["1", "2"], ["3"]]


def test_the_delimiter_may_be_given(call_json: CallJson) -> None:
    assert call_json("csv_parse", "a,b;c\n1,2;3", ";") == [{"a,b": "1,2", "c": "3"}]
    assert call_json("csv_parse", "a b\n1 2", 1, " ") == [{"a": "1", "b": "2"}]
    assert call_json("csv_parse", "a\tb,c\n1\t2,3", 1, "\\t") == [{"a": "1", "b,c": "2,3"}]
    assert call_json("csv_headers", "a\tb,c", "tab") == ["a", "b,c"]


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "\x00"])
def test_a_delimiter_that_cannot_be_is_refused(call: Call, delimiter: str) -> None:
    with pytest.raises(FunctionFailed):
        call("csv_parse", "a,b", 1, delimiter)


def test_a_column_by_name_or_number(call_json: CallJson) -> None:
    whole = "id,Name\n1,Ada\n2\n3,Bo"
    assert call_json("csv_column", whole, "Name") == ["Ada", None, "Bo"]
    assert call_json("csv_column", whole, "name") == ["Ada", None, "Bo"]
    assert call_json("csv_column", whole, 1) == ["1", "2", "3"]
    assert call_json("csv_column", whole, 2, 0) == ["Name", "Ada", None, "Bo"]
    assert call_json("csv_column", "a;b\n1;2", "b", 1, ";") == ["2"]


@pytest.mark.parametrize("column", [0, 3, -1, "nobody", ""])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(call: Call, column: Value) -> None:
    with pytest.raises(FunctionFailed):
        call("csv_column", "id,name\n1,2", column)


def test_a_column_without_header_counts_from_one(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("csv_column", "1,2", 0, 0)


def test_headers_are_the_first_row_as_it_is(call_json: CallJson) -> None:
    assert call_json("csv_headers", " a ,a,\n1") == [" a ", "a", ""]
    assert call_json("csv_headers", "") == []


def test_a_cell_may_be_as_long_as_a_value(call_json: CallJson) -> None:
    assert call_json("csv_parse", "a\n" + "x" * 1_000_000) == [{"a": "x" * 1_000_000}]


def test_too_many_columns_are_a_wrong_delimiter(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("csv_parse", ";" * 200_000)


def test_rows_can_be_queried(connection: apsw.Connection) -> None:
    total = connection.execute(
        """
        SELECT SUM(value ->> 'price')
        FROM json_each(csv_parse('item,price' || char(10) || 'a,2' || char(10) || 'b,3'))
        """
    ).get
    assert total == 5
