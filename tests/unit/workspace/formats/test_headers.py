"""Which first records name the columns, and what the names become."""

from __future__ import annotations

import pytest

from mnemos.workspace.formats import Limits
from mnemos.workspace.formats.columns import clean_names

from .files import names, opened, rows


@pytest.mark.parametrize(
    "text",
    [
        "id,name\n1,ann\n2,bob\n",
        "name,city\nann,rome\nbob,oslo\n",
        ",a,b\n0,1,2\n1,3,4\n",
        "country,2019,2020,2021\nperu,1,2,3\nchad,4,5,6\n",
        "name,name,n\nann,x,1\nbob,y,2\n",
        "Price (€),Date\n1.5,2024-01-01\n2.5,2024-01-02\n",
        "type,city\ntype,rome\nkind,oslo\nsort,bonn\n",
        "a,b,c\n",
    ],
)
def test_a_header_is_seen(text: str) -> None:
    table = opened(text, name="x.csv")
    assert not any(name.startswith("column_2") for name in names(table))
    assert table.rows == text.count("\n") - 1


@pytest.mark.parametrize(
    "text",
    [
        "1,ann\n2,bob\n",
        "ann,1\nbob,2\n",
        "ann,rome,yes\nbob,rome,yes\neve,oslo,no\n",
        "2024-01-01,rome\n2024-01-02,oslo\n",
        "ann@example.org,rome\nbob@example.org,oslo\n",
        "yes\nno\nyes\nno\n",
        "2019,2020\n5,6\n",
        "x,x\ny,z\n",
        "1,2,3\n",
        ",,\nx,y,z\n",
    ],
)
def test_a_first_record_of_data_is_seen(text: str) -> None:
    table = opened(text, name="x.csv")
    assert names(table)[0] == "column_1"
    assert table.rows == text.count("\n")
    assert any("no header" in note for note in table.notes)


def test_the_caller_may_say_whether_there_is_a_header() -> None:
    assert rows("1,2\n3,4\n", name="x.csv", header=True) == [(3, 4)]
    assert rows("a,b\nc,d\n", name="x.csv", header=False) == [("a", "b"), ("c", "d")]


def test_without_a_header_the_first_record_counts_for_the_types() -> None:
    assert rows("x,1\n2,2\n", name="x.csv", header=False) == [("x", 1), ("2", 2)]


def test_names_are_stripped_and_made_distinct_regardless_of_case() -> None:
    assert clean_names([" a ", "A", "", "b\n c", "a", "column_3", "a_2"], Limits()) == [
        "a",
        "A_2",
        "column_3",
        "b c",
        "a_3",
        "column_3_2",
        "a_2_2",
    ]


def test_names_are_bounded_and_hold_nothing_that_sql_cannot() -> None:
    made = clean_names(["x" * 5_000, "x" * 5_000, "a\0b", "\ud800"], Limits(name=10))
    assert made == ["x" * 10, "x" * 8 + "_2", "a b", "column_4"]


def test_two_thousand_equal_names_become_distinct() -> None:
    made = clean_names(["n"] * 2_000, Limits())
    assert len(set(made)) == 2_000
    assert made[-1] == "n_2000"


def test_guarded_names_are_read_as_they_were() -> None:
    assert names(opened("'=a,b\n1,2\n", name="x.csv")) == ["=a", "b"]
