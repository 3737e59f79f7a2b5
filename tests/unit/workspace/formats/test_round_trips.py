"""Exported and imported values are the same, as far as the format can represent them."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemos.workspace.formats import Kind

from .files import kinds, names, opened, stored, written

TEXT = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("\"',;|\t\r\n =+-@x0\x00\x1f\\\u2028\ufeff＝"))
)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
# SQLite keeps no negative zero and no NaN.
FLOATS = st.floats(allow_nan=False).map(lambda number: number + 0.0)
BLOBS = st.binary(max_size=20)
Columns = dict[Kind, st.SearchStrategy[Any]]
# CSV has no blobs and no empty texts, JSON no infinities.
OF_CSV = {Kind.INTEGER: INTEGERS, Kind.REAL: FLOATS, Kind.TEXT: TEXT.filter(bool)}
OF_JSON = OF_CSV | {Kind.TEXT: TEXT, Kind.REAL: FLOATS.filter(isfinite), Kind.BLOB: BLOBS}

SURE = {Kind.INTEGER: 7, Kind.REAL: 0.5, Kind.TEXT: "text", Kind.BLOB: b"\x00"}


@st.composite
def typed_tables(draw: st.DrawFn, columns: Columns) -> tuple[list[Kind], list[tuple[Any, ...]]]:
    """Columns of one type each, with NULLs, and at least one value by which the type is known."""
    types = draw(st.lists(st.sampled_from(list(columns)), min_size=1, max_size=5))
    cells = [columns[type] | st.none() for type in types]
    drawn = draw(st.lists(st.tuples(*cells), max_size=20))
    sure = tuple(SURE[type] for type in types)
    place = draw(st.integers(0, len(drawn)))
    return types, [*drawn[:place], sure, *drawn[place:]]


def header(count: int) -> list[str]:
    return [f"name {letter}" for letter in "abcdefgh"[:count]]


@given(typed_tables(OF_CSV), st.sampled_from(["csv", "tsv"]))
@example(([Kind.TEXT], [(None,), ("text",), (None,)]), "csv")
@example(([Kind.TEXT, Kind.TEXT], [('a,"",b', '","'), (None, None), ("text", '""')]), "csv")
@example(([Kind.TEXT], [("=1+1",), ("'=1+1",), ("''=1",), ("'tis",), (" =x",), ("x'00'",), ("text",)]), "csv")
@example(
    ([Kind.REAL], [(float("inf"),), (float("-inf"),), (5e-324,), (1.7976931348623157e308,), (0.1,)]), "csv"
)
@example(
    ([Kind.TEXT, Kind.TEXT], [("text", ' "x"'), ('a, ",b', "x"), ("\r", "\n"), ("\r\n", "\x0b\u2028")]), "csv"
)
def test_delimited_text_returns_values_and_types(table: tuple[list[Kind], list[Any]], format: str) -> None:
    types, values = table
    read = opened(written(format, header(len(types)), values), name=f"out.{format}", header=True)
    assert kinds(read) == types
    assert names(read) == header(len(types))
    assert stored(read) == values
    assert read.bad_total == 0


@given(typed_tables(OF_JSON), st.sampled_from(["json", "jsonl"]))
def test_json_returns_values_and_types(table: tuple[list[Kind], list[Any]], format: str) -> None:
    types, values = table
    read = opened(written(format, header(len(types)), values[:3], values[3:]), name=f"out.{format}")
    assert kinds(read) == types
    assert names(read) == header(len(types))
    assert stored(read) == values


@given(st.lists(st.tuples(INTEGERS | TEXT | BLOBS | st.none(), TEXT | st.none()), min_size=1))
def test_json_returns_columns_of_mixed_types(values: list[Any]) -> None:
    assert stored(opened(written("jsonl", ["a", "b"], values), name="x.jsonl")) == values


@given(typed_tables(OF_CSV))
def test_a_header_of_our_own_is_seen_as_one(table: tuple[list[Kind], list[Any]]) -> None:
    types, values = table
    read = opened(written("csv", header(len(types)), values), name="out.csv")
    assert names(read) == header(len(types))


@given(st.lists(st.tuples(TEXT.filter(bool), TEXT.filter(bool)), min_size=1))
def test_the_delimiter_is_found_again_without_a_name(values: list[Any]) -> None:
    expected = [("text", "text"), *values]
    assert stored(opened(written("csv", ["a", "b"], expected), header=True)) == expected


@pytest.mark.parametrize("format", ["csv", "json", "jsonl"])
def test_integers_beyond_a_float_stay_exact(format: str) -> None:
    values = [(2**53 + 1,), (2**63 - 1,), (-(2**63),)]
    assert stored(opened(written(format, ["n"], values), format=format)) == values


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl"])
def test_names_that_occur_twice_become_distinct(format: str) -> None:
    data = written(format, ["a", "a", "A"], [(1, 2, 3)])
    read = opened(data, format=format)
    assert names(read) == ["a", "a_2", "A_3"]
    assert stored(read) == [(1, 2, 3)]


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl", "markdown"])
def test_text_that_is_not_unicode_is_written_with_replacements(format: str) -> None:
    assert "a\ufffdb" in written(format, ["n\udc80"], [("a\udc80b",), (None,)]).decode()
