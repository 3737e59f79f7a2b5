"""Answers as text: aligned, every value visible, within the bytes a model is given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.answers import Answer, StatementResult
from mnemos.workspace.table import fit, render, render_cell, render_rows


def result(columns, rows, *, changes=0, truncated=False) -> StatementResult:
    return StatementResult("SELECT 1", columns, rows, changes, truncated)


def answer(*results: StatementResult, **fields) -> Answer:
    return Answer(list(results), changes=0, elapsed_ms=1, size_bytes=1, **fields)


def test_a_table_is_aligned_numbers_to_the_right():
    assert render_rows(["item", "eur"], [["a", 1.5], ["Käse", None], ["日本", 120]]) == [
        "item |  eur",
        "-----+-----",
        "a    |  1.5",
        "Käse | NULL",
        "日本 |  120",
    ]


def test_null_differs_from_a_text_that_reads_null():
    assert (render_cell(None), render_cell("NULL"), render_cell("null")) == ("NULL", "'NULL'", "null")


def test_a_long_cell_does_not_widen_its_column():
    head, line, long, short = render_rows(["a", "b"], [["x" * 100, 1], ["y", 2]])
    assert (len(line), len(short)) == (len(head), len("y" + " " * 39 + " | 2"))
    assert long == "x" * 100 + " | 1"


@given(st.text(max_size=30))
def test_no_value_can_add_a_line(value):
    (line,) = render_cell(value).splitlines() or [""]
    assert line == render_cell(value)


@given(st.lists(st.lists(st.text(max_size=60), min_size=2, max_size=2), max_size=60), st.integers(200, 3000))
def test_the_text_stays_within_its_bytes(rows, most):
    whole = answer(result(["a", "b"], rows), result(["c", "d"], rows))
    less = fit(whole, most)
    shown = [
        line for one in less.results for line in render_rows(one.columns, one.rows[1:]) if one.row_count > 1
    ]
    assert sum(len(line.encode()) + 1 for line in shown) <= most
    for before, after in zip(whole.results, less.results, strict=True):
        assert after.rows == before.rows[: after.row_count]
        assert after.truncated == (after.row_count < before.row_count)
        assert after.row_count >= min(1, before.row_count)


def test_a_statement_without_rows_reports_its_changes():
    shown = render(
        [result([], []), result([], [], changes=1), result([], [], changes=3)],
        next_offset=None,
        warnings=["x"],
    )
    assert shown.splitlines() == [
        "1. SELECT 1",
        "(done)",
        "2. SELECT 1",
        "(1 row changed)",
        "3. SELECT 1",
        "(3 rows changed)",
        "Note: x",
    ]


def test_a_cut_answer_says_where_the_next_page_begins():
    one = result(["a"], [[1]], truncated=True)
    assert "offset 5" in render([one], next_offset=5, warnings=[])
    assert "run the SELECT alone" in render([one], next_offset=None, warnings=[])
