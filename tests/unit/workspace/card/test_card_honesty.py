"""A figure is the truth, or it says that it is none."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from .opened import PATIENT, Opened, opened

# So small that a test's tables are large.
SMALL = replace(PATIENT, whole_rows=10, sampled_rows=12)
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 3),
    st.floats(allow_nan=False),
    st.sampled_from(["new", "sold", "2026-01-02", "2026-11-14", "2026-02-31", "x" * 40]),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8),
    st.binary(max_size=4),
)
COLUMN = st.one_of(
    st.lists(VALUES, max_size=60),
    st.lists(st.integers(-5, 10**6), max_size=60),
    st.lists(st.dates().map(str), max_size=60),
    st.lists(st.sampled_from(["new", "sold"]), max_size=60),
    st.lists(st.integers(1_767_312_000, 1_794_614_400), max_size=60),
)


@given(
    cells=COLUMN,
    gaps=st.lists(st.integers(1, 50), min_size=60, max_size=60),
    index=st.sampled_from(["", "CREATE INDEX i ON t(at)", "CREATE INDEX i ON t(at COLLATE NOCASE)"]),
    analyzed=st.booleans(),
)
def test_whatever_is_not_marked_as_sampled_is_true(
    cells: list[Any], gaps: list[int], index: str, analyzed: bool
) -> None:
    with TemporaryDirectory() as folder:
        made = opened(Path(folder) / "x.db")
        try:
            made.run(f"CREATE TABLE t (id INTEGER PRIMARY KEY, at); {index}")
            ids = [sum(gaps[: place + 1]) for place in range(len(cells))]
            made.many("INSERT INTO t VALUES (?, ?)", list(zip(ids, cells, strict=True)))
            if analyzed:
                made.run("ANALYZE")
            _check(made, cells)
        finally:
            made.database.close()


def _check(made: Opened, cells: list[Any]) -> None:
    told = made.table("t", bounds=SMALL)
    values = [cell for cell in cells if cell is not None]
    assert (told["rows"], told["rows_exact"]) == (len(cells), True)
    assert told["sampled_all"] == (len(cells) <= 10)
    column = next(one for one in told["columns"] if one["name"] == "at")
    if "range" in column:
        low, high = column["range"]
        ((true_low, true_high),) = made.run("SELECT min(at), max(at) FROM t")
        if column["range_exact"]:
            assert [low, high] == [_plain(true_low), _plain(true_high)]
        else:
            assert {low, high} <= {_plain(value) for value in values}
    if "values" in column:
        if column["values_exact"]:
            assert set(column["values"]) == {_plain(value) for value in values}
        else:
            assert set(column["values"]) <= {_plain(value) for value in values}
    text = made.text(bounds=SMALL)
    if not told["sampled_all"] and "values" in column:
        assert "~" in text
        assert f"{told['sampled_rows']} sampled" in text
    if column.get("range_exact") is False:
        assert re.search(r"~\S*\.\.|~\S+$", text, re.MULTILINE)


def _plain(value: Any) -> Any:
    if value == float("inf"):
        return "Infinity"
    return "-Infinity" if value == float("-inf") else value


def test_the_range_in_a_sample_of_a_large_table_is_marked(made: Opened) -> None:
    made.run("CREATE TABLE t (a INTEGER, b INTEGER)")
    rows = [(number, number) for number in range(3_000)]
    rows[1_777] = (-1_000, -1_000)
    rows[1_234] = (99_999, 99_999)
    made.many("INSERT INTO t VALUES (?, ?)", rows)
    text = made.text()
    assert "t (3,000 rows, 200 sampled): a INTEGER ~0..2999, b INTEGER ~0..2999" in text
    assert "~: seen in sampled rows" in text


def test_columns_that_were_not_looked_at_claim_nothing(made: Opened) -> None:
    made.run(f"CREATE TABLE t ({', '.join(f'c{number} INTEGER' for number in range(150))})")
    made.run(f"INSERT INTO t VALUES ({', '.join('7' for _ in range(150))})")
    told = made.card(table="t", bounds=PATIENT)["tables"][0]
    assert told["columns"][99]["range"] == [7, 7]
    assert "range" not in told["columns"][100]
    assert len(told["sample"][0]) == 100 == len(told["sample_columns"])
