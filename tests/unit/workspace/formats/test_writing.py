"""The form of exports."""

from __future__ import annotations

import csv
import io
import json

import pytest

from .files import written


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\rx",
        "\nx",
        "  =1",
        "\u00a0=1",
        "＝1",
        "－1",
        "＋1",
        "＠x",
        "\ufeff=1",
        "\0=1",
    ],
)
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    [[cell, number]] = csv.reader(
        io.StringIO(written("csv", ["a"], [(text, -5)]).decode().split("\n", 1)[1], newline="")
    )
    assert cell == "'" + text
    assert number == "-5"


@pytest.mark.parametrize("text", ["a=1", "1-2", "x@y.z", "'tis", "it's", "(=)", "héllo", "5", ""])
def test_other_texts_are_written_as_they_are(text: str) -> None:
    [[cell, _]] = csv.reader(io.StringIO(written("csv", [], [(text, 1)]).decode()[1:], newline=""))
    assert cell == text


def test_names_of_columns_are_guarded_too() -> None:
    assert written("csv", ["=cmd()", "b"]) == b'"\'=cmd()",b\n'


def test_csv_tells_null_from_the_empty_text_and_numbers_are_bare() -> None:
    values = [(None, "", 1, -2.5, b"\x00\xff", float("inf"), float("-inf"))]
    assert written("csv", list("abcdefg"), values) == b"a,b,c,d,e,f,g\n,\"\",1,-2.5,x'00ff',9e999,-9e999\n"


def test_csv_quotes_whatever_could_be_taken_for_a_delimiter() -> None:
    assert written("csv", ["a"], [("x;y",), ("x\ty",), ("x|y",), (" x",), ('"',)]).decode().splitlines()[
        1:
    ] == [
        '"x;y"',
        '"x\ty"',
        '"x|y"',
        '" x"',
        '""""',
    ]


def test_tsv_is_separated_by_tabs() -> None:
    assert written("tsv", ["a", "b"], [("x", 1)]) == b"a\tb\nx\t1\n"


def test_json_is_an_array_with_a_row_a_line() -> None:
    data = written("json", ["a", "b"], [(1, "x\ny"), (2, None)], [], [(3, b"\x00")])
    assert data == b'[\n{"a":1,"b":"x\\ny"},\n{"a":2,"b":null},\n{"a":3,"b":{"$blob":"AA=="}}\n]\n'
    assert json.loads(written("json", ["a"])) == []


def test_json_has_words_for_infinities_and_null_for_nan() -> None:
    values = [(float("inf"),), (float("-inf"),), (float("nan"),), (2**63 - 1,)]
    assert written("jsonl", ["n"], values).splitlines() == [
        b'{"n":"Infinity"}',
        b'{"n":"-Infinity"}',
        b'{"n":null}',
        b'{"n":9223372036854775807}',
    ]


def test_markdown_is_a_table_whose_cells_cannot_leave_it() -> None:
    values = [("x|y", None, b"\x01"), ("p\nq\r\nr", "\\|<b>", bytes(100))]
    assert written("markdown", ["a", "b|c", "d"], values).decode() == (
        "| a | b\\|c | d |\n| --- | --- | --- |\n"
        "| x\\|y | NULL | x'01' |\n| p<br>q<br>r | \\\\\\|\\<b> | blob of 100 bytes |\n"
    )
