"""Records of delimited text: which become rows, and which are bad lines."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace.formats import Kind, Limits
from mnemos.workspace.formats.columns import BadLines
from mnemos.workspace.formats.delimited import read_records
from mnemos.workspace.formats.dialect import Dialect
from mnemos.workspace.formats.source import Lines, read_lines

from .files import bad_numbers, kinds, names, opened, rows, stored


def test_an_empty_file_is_refused() -> None:
    for data in (b"", b"\xef\xbb\xbf", b"\n\n\n", b"\r\n"):
        with pytest.raises(InvalidInput):
            opened(data, format="csv")


def test_a_header_alone_is_an_empty_table() -> None:
    table = opened("name,qty\n", name="x.csv")
    assert names(table) == ["name", "qty"]
    assert kinds(table) == [Kind.TEXT, Kind.TEXT]
    assert table.rows == 0
    assert stored(table) == []


def test_the_last_line_needs_no_end() -> None:
    assert rows("a,b\n1,2\n3,4", name="x.csv") == [(1, 2), (3, 4)]


def test_one_column_is_a_table_and_its_blank_lines_are_null() -> None:
    assert rows("word\nab\n\ncd\n", name="x.csv") == [("ab",), (None,), ("cd",)]


def test_blank_lines_between_records_of_several_columns_mean_nothing() -> None:
    table = opened("a,b\n\n1,2\n\r\n\n3,4\n\n", name="x.csv")
    assert stored(table) == [(1, 2), (3, 4)]
    assert table.bad_total == 0


def test_an_empty_cell_is_null_quoted_or_not() -> None:
    text = 'a,b,c\n"",,"x"\n,"","y"\n"p","q",""\n'
    assert rows(text, name="x.csv", header=True) == [(None, None, "x"), (None, None, "y"), ("p", "q", None)]


def test_cells_may_hold_line_ends_and_quotes_and_delimiters() -> None:
    text = 'a,b\n"x\ny","p,q"\n"say ""hi""","r\r\ns"\n"t\ru",""","""\n'
    assert rows(text, name="x.csv") == [("x\ny", "p,q"), ('say "hi"', "r\r\ns"), ("t\ru", '","')]


def test_characters_that_look_like_line_ends_elsewhere_are_kept() -> None:
    text = "a,b\nx\x0by,\x0cz\n\x1cp,q\x85r\n\u2028s,t\u2029\n"
    assert rows(text, name="x.csv") == [("x\x0by", "\x0cz"), ("\x1cp", "q\x85r"), ("\u2028s", "t\u2029")]


def test_nuls_are_characters() -> None:
    assert rows("a,b\nx\0y,1\n\0,2\n", name="x.csv") == [("x\0y", 1), ("\0", 2)]


def test_records_of_another_width_are_bad_lines_by_their_physical_number() -> None:
    text = 'a,b,c\n1,2,3\n1,2\n"x\ny\nz",2,3\n\n1,2,3,4\n"p\r\nq",2\nlast,2,3\n'
    table = opened(text, name="x.csv")
    assert bad_numbers(table) == [3, 8, 9]
    assert table.bad[0].reason == "2 fields where 3 were expected"
    assert "line 10" in table.bad[2].reason
    assert stored(table) == [("1", 2, 3), ("x\ny\nz", 2, 3), ("last", 2, 3)]


def test_only_the_first_twenty_bad_lines_are_kept_and_all_are_counted() -> None:
    table = opened("a,b\n" + "1,2\n" * 200 + "1,2,3\n" * 100, name="x.csv")
    assert bad_numbers(table) == list(range(202, 222))
    assert table.bad_total == 100
    assert table.rows == 200


def test_a_quote_that_is_never_closed_is_a_bad_line() -> None:
    table = opened('a,b\n1,2\n3,"4\n5,6\n7,8\n', name="x.csv")
    assert bad_numbers(table) == [3]
    assert "never closed" in table.bad[0].reason
    assert stored(table) == [(1, 2)]


def test_records_that_are_too_long_are_bad_lines_and_the_rest_is_read() -> None:
    limits = Limits(item=100_000)
    long = "x" * 300_000
    text = f'a,b\n1,2\n{long},3\n4,5\n"{long}",6\n7,8\n9,"' + ("y" * 50 + "\n") * 5_000
    table = opened(text, name="x.csv", limits=limits)
    assert stored(table) == [(1, 2), (4, 5), (7, 8)]
    assert bad_numbers(table)[:3] == [3, 5, 7]
    assert "a quote" in table.bad[2].reason


def test_a_record_of_endless_small_cells_is_given_up() -> None:
    text = "a,b\n1,2\n" + '"\n",' * 100_000 + "\n3,4\n"
    table = opened(text, name="x.csv", limits=Limits(item=50_000))
    assert table.bad[0].number == 3
    assert (1, 2) in stored(table)


def test_the_limit_of_a_row_counts_bytes() -> None:
    limits = Limits(item=100_000)
    table = opened("a,b\n1," + "é" * 49_000 + "\n2," + "é" * 51_000 + "\n3,x\n", name="x.csv", limits=limits)
    assert [row[0] for row in stored(table)] == [1, 3]
    assert bad_numbers(table) == [3]


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
@pytest.mark.parametrize("size", [99_999, 100_000, 100_001, 200_000])
def test_a_quote_left_open_around_the_limit_ends_the_file(size: int, ending: str) -> None:
    table = opened(f'a,b\n1,2\n\n3,"{"x" * size}{ending}', name="x.csv", limits=Limits(item=100_000))
    assert stored(table) == [(1, 2)]
    assert bad_numbers(table) == [4]


def test_a_last_line_that_is_too_long_is_a_bad_line() -> None:
    table = opened("a,b\n1,2\n" + "x" * 300_000, name="x.csv", limits=Limits(item=100_000))
    assert stored(table) == [(1, 2)]
    assert bad_numbers(table) == [3]


def test_a_first_line_that_is_too_long_leaves_the_rest_to_be_read() -> None:
    table = opened("x" * 300_000 + "\ra,b\r1,2\r", name="x.csv", limits=Limits(item=100_000))
    assert stored(table) == [(1, 2)]
    assert bad_numbers(table) == [1]


def test_a_cell_of_four_megabytes_fits() -> None:
    cell = "x" * 3_999_000
    table = opened(f"a,b\n1,{cell}\n2,y\n", name="x.csv")
    assert stored(table) == [(1, cell), (2, "y")]


def test_two_thousand_columns_fit_and_more_are_refused() -> None:
    header = ",".join(f"c{n}" for n in range(2_000))
    values = ",".join(map(str, range(2_000)))
    table = opened(f"{header}\n{values}\n{values}\n", name="x.csv")
    assert len(table.columns) == 2_000
    assert stored(table) == [tuple(range(2_000))] * 2
    with pytest.raises(TooLarge):
        opened(f"{header},more\n{values},1\n", name="x.csv")


def test_an_apostrophe_that_guards_a_cell_is_removed_and_reported() -> None:
    table = opened("a,b\n'=1+1,x\n'+49 30,y\n'tis,'quoted'\n", name="x.csv")
    assert stored(table) == [("=1+1", "x"), ("+49 30", "y"), ("'tis", "'quoted'")]
    assert any("apostrophe" in note for note in table.notes)
    assert not opened("a,b\n'tis,x\n", name="x.csv").notes


def test_batches_can_be_read_again_and_report_nothing_new() -> None:
    table = opened("a,b\n1,2\n3\n4,5\n", name="x.csv")
    assert stored(table) == stored(table) == [(1, 2), (4, 5)]
    assert table.bad_total == 1


def test_progress_goes_from_nothing_to_all() -> None:
    seen: list[float] = []
    table = opened("a,b\n" + "1,2\n" * 100_000, name="x.csv", on_progress=seen.append)
    assert max(seen) == 0.5
    stored(table)
    assert seen[-1] == 1.0
    assert all(0 < share <= 1 for share in seen)


STYLES = ["quoted", "escaped", "plain"]


@given(st.text(st.sampled_from("ab,;\"'\n\r\\ \t\x0b\u2028")), st.sampled_from(STYLES))
def test_every_line_belongs_to_one_record(text: str, style: str) -> None:
    dialect = Dialect(is_quoted=style != "plain", is_escaped=style == "escaped")
    bad = BadLines()
    line = 0
    for begins, ends, _ in read_records(
        Lines(read_lines(io.StringIO(text, newline=""), 4_000_000), 4_000_000), dialect, bad
    ):
        assert begins == line + 1
        line = ends
    if not bad.total:
        assert line == len(list(io.StringIO(text, newline="")))


@given(st.lists(st.tuples(*[st.text(st.sampled_from('ab,"\n\r é'), max_size=8)] * 2)))
def test_what_python_writes_is_read_as_written(records: list[tuple[str, str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("first column", "second"), *records])
    table = opened(file.getvalue(), name="x.csv", header=True)
    assert stored(table) == [tuple(cell or None for cell in record) for record in records]


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    for format in ("csv", "tsv"):
        try:
            table = opened(data, format=format)
        except InvalidInput:
            continue
        assert len(stored(table)) == table.rows
