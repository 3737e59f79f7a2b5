"""Detection of the dialect of delimited text."""

from __future__ import annotations

import pytest

from mnemos.workspace.formats.dialect import sniff

from .files import bad_numbers, names, opened, rows, stored


def read(text: str, **options: object) -> tuple[list[str], list[tuple[object, ...]]]:
    table = opened(text, name="x.csv", **options)

    return names(table), stored(table)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_delimiter_and_line_end_is_known(delimiter: str, end: str) -> None:
    lines = [["name", "qty", "note"], ["ann", "1", "a b"], ["bob", "2", ""], ["eve", "3", '"x y"']]
    text = end.join(delimiter.join(line) for line in lines) + end
    assert read(text) == (["name", "qty", "note"], [("ann", 1, "a b"), ("bob", 2, None), ("eve", 3, "x y")])


def test_a_decimal_comma_is_not_a_delimiter() -> None:
    text = "item;price;weight\nnut;1,50;0,2\nbolt;12,99;1,0\n"
    assert read(text) == (["item", "price", "weight"], [("nut", "1,50", "0,2"), ("bolt", "12,99", "1,0")])
    assert read("1,5;2,5\n3,5;4,5\n")[1] == [("1,5", "2,5"), ("3,5", "4,5")]


def test_commas_of_prose_are_not_delimiters() -> None:
    text = 'name|note\nann|yes, of course, dear\nbob|well, no\n"eve"|a, b, c\n'
    assert read(text)[1] == [("ann", "yes, of course, dear"), ("bob", "well, no"), ("eve", "a, b, c")]


def test_delimiters_inside_of_quotes_do_not_count() -> None:
    text = 'a,b\n"x;y;z",1\n"p;q;r",2\n'
    assert read(text) == (["a", "b"], [("x;y;z", 1), ("p;q;r", 2)])


def test_lines_without_any_regular_delimiter_are_one_column() -> None:
    text = "thoughts\nwell, yes\nno\nhm, maybe, or not\nno\n"
    assert read(text) == (["thoughts"], [("well, yes",), ("no",), ("hm, maybe, or not",), ("no",)])


def test_tsv_is_never_split_at_commas() -> None:
    table = opened("a,b\tc,d\n1,2\t3,4\n", format="tsv")
    assert names(table) == ["a,b", "c,d"]
    assert rows("a,b\n1,2\n", format="tsv") == [("1,2",)]


def test_apostrophes_are_not_quotes() -> None:
    text = "name,note\n'tis,rock 'n' roll\nann's,don't\n"
    assert read(text)[1] == [("'tis", "rock 'n' roll"), ("ann's", "don't")]


def test_quotes_escaped_by_a_backslash_are_known() -> None:
    text = 'name,note\nann,"say \\"hi\\" now"\nbob,"a, \\"b\\""\n'
    assert read(text)[1] == [("ann", 'say "hi" now'), ("bob", 'a, "b"')]


def test_a_backslash_at_the_end_of_a_quoted_cell_escapes_nothing() -> None:
    text = 'path,n\n"C:\\dir\\",1\n"D:\\",2\n'
    assert read(text)[1] == [("C:\\dir\\", 1), ("D:\\", 2)]


def test_blanks_between_delimiter_and_quote_are_forgiven() -> None:
    text = '"name", "note", "n"\n"ann", "a, b", 1\n"bob", "c", 2\n'
    assert read(text) == (["name", "note", "n"], [("ann", "a, b", 1), ("bob", "c", 2)])


def test_quotes_in_the_middle_of_a_cell_are_letters() -> None:
    text = 'item,size\ndisk,3.5" floppy\nscreen,a 27" one\n'
    assert read(text)[1] == [("disk", '3.5" floppy'), ("screen", 'a 27" one')]


def test_inches_at_the_start_of_cells_do_not_swallow_the_file() -> None:
    text = "a\tb\n" + "".join(f'{n}\t"{n} inch\n' for n in range(30))
    table = opened(text, format="tsv")
    assert table.rows == 30
    assert table.bad_total == 0


def test_records_that_end_in_a_delimiter_have_no_column_more() -> None:
    assert read("a,b\n1,2,\n3,4,\n") == (["a", "b"], [(1, 2), (3, 4)])
    assert read("a,b,\n1,2\n3,4\n") == (["a", "b"], [(1, 2), (3, 4)])


def test_lines_above_the_table_are_bad_lines() -> None:
    table = opened("Report 2024\n\nname,qty,eur\nann,1,2.5\nbob,2,3.5\n", name="x.csv")
    assert names(table) == ["name", "qty", "eur"]
    assert bad_numbers(table) == [1]


def test_the_first_record_counts_when_widths_are_equally_common() -> None:
    assert sniff(["a,b,c\n", "1,2,3\n", "1,2\n", "3,4\n"]).width == 3


def test_nothing_at_all_is_one_column() -> None:
    assert sniff([]).width == 1
