"""Rows of JSON documents and JSON lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace.formats import Kind, Limits
from mnemos.workspace.formats.json_document import Document

from .files import bad_numbers, kinds, names, opened, rows, stored

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]',
        '[["a", "b"], [1, "x"], [2, "y"]]',
        '{"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}',
        '{"count": 2, "next": null, "results": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "tags": ["p"]}',
        '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
        '\n{"a": 1, "b": "x"}\r\n\n  \r\n{"a": 2, "b": "y"}',
        '["a", "b"]\n[1, "x"]\n[2, "y"]\n',
        '\ufeff{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
        '{\n  "a": 1,\n  "b": "x"\n}\n{\n  "a": 2,\n  "b": "y"\n}\n',
    ],
)
def test_every_layout_gives_the_same_rows(text: str) -> None:
    for name in ("x.json", ""):
        table = opened(text, name=name)
        assert names(table) == ["a", "b"]
        assert stored(table) == [(1, "x"), (2, "y")]
        assert table.bad_total == 0


def test_a_single_object_is_one_row() -> None:
    assert rows('{"a": 1, "tags": ["x"], "n": null}', name="x.json") == [(1, '["x"]', None)]


def test_an_array_of_single_values_is_one_column() -> None:
    table = opened('["x", "y, z", null, "]"]', name="x.json")
    assert names(table) == ["value"]
    assert stored(table) == [("x",), ("y, z",), (None,), ("]",)]
    assert rows("[1, 2.5, -3e2]", name="x.json") == [(1.0,), (2.5,), (-300.0,)]


def test_columns_are_all_keys_in_the_order_of_first_appearance() -> None:
    lines = ['{"b": 1}'] * 30_000 + ['{"a": 2, "b": 3}', '{"c": 4}', "{}"]
    table = opened("\n".join(lines), name="x.jsonl")
    assert names(table) == ["b", "a", "c"]
    assert stored(table)[-3:] == [(3, 2, None), (None, None, 4), (None, None, None)]


def test_keys_that_differ_by_case_are_two_columns() -> None:
    table = opened('{"Name": 1, "name": 2, "": 3}', name="x.json")
    assert names(table) == ["Name", "name_2", "column_3"]
    assert stored(table) == [(1, 2, 3)]


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    assert rows('[{"a": 1, "a": 2}]', name="x.json") == [(2,)]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1", "null", "2"], Kind.INTEGER, [1, None, 2]),
        (["true", "false", "7"], Kind.INTEGER, [1, 0, 7]),
        (["1", "0.5"], Kind.REAL, [1.0, 0.5]),
        (["1.0", "2.0"], Kind.REAL, [1.0, 2.0]),
        (["9007199254740993", "0.5"], Kind.ANY, [9007199254740993, 0.5]),
        (["18446744073709551615", "1", "-0"], Kind.TEXT, ["18446744073709551615", "1", "0"]),
        (
            ["123456789012345678901234567890", "0.5", "true"],
            Kind.TEXT,
            ["123456789012345678901234567890", "0.5", "1"],
        ),
        (['"x"', "1", "0.5"], Kind.ANY, ["x", 1, 0.5]),
        (['"x"', "99999999999999999999"], Kind.ANY, ["x", "99999999999999999999"]),
        (['"x"', '{"k": [1, "é"]}', "[]"], Kind.TEXT, ["x", '{"k":[1,"é"]}', "[]"]),
        (['{"$blob": "AP8="}', "null"], Kind.BLOB, [b"\x00\xff", None]),
        (
            ['{"$blob": "AP8="}', '"x"', '{"$blob": "no base64"}'],
            Kind.ANY,
            [b"\x00\xff", "x", '{"$blob":"no base64"}'],
        ),
        (["NaN", "1.5", "-Infinity", "1e999"], Kind.REAL, [None, 1.5, float("-inf"), float("inf")]),
        (["null", "null"], Kind.ANY, [None, None]),
        (
            [r'"\ud83d\ude00"', r'"\ud800"', r'"\\ud800"', r'"a\udc00b"'],
            Kind.TEXT,
            ["😀", "\ufffd", "\\ud800", "a\ufffdb"],
        ),
        ([r'"a\u0000b"', '"\u2028"'], Kind.TEXT, ["a\0b", "\u2028"]),
    ],
)
@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_values_and_types(values: list[str], kind: Kind, expected: list[Any], format: str) -> None:
    objects = [f'{{"v": {value}, "n": 1}}' for value in values]
    text = "\n".join(objects) if format == "jsonl" else f"[{','.join(objects)}]"
    table = opened(text, format=format)
    assert kinds(table)[0] is kind
    assert [row[0] for row in stored(table)] == expected


def test_bad_lines_are_reported_with_their_numbers() -> None:
    text = '{"a": 1}\n\nnonsense\n{"a": 2\n[1]\n7\n"x"\nnull\ntrue\n{"a": 3}\n{"a":'
    table = opened(text, name="x.jsonl")
    assert stored(table) == [(1,), (3,)]
    assert bad_numbers(table) == [3, 4, 5, 6, 7, 8, 9, 11]
    assert "an array where an object was expected" in [line.reason for line in table.bad]


def test_elements_of_another_shape_are_reported_with_their_lines() -> None:
    text = '[\n{"a": 1},\n[1, 2],\n7,\n{"a": 3},\n{"a": 2}\n]'
    table = opened(text, name="x.json")
    assert stored(table) == [(1,), (3,), (2,)]
    assert bad_numbers(table) == [3, 4]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[{"a": 1},\n{"a": 2', 2),
        ('[{"a": 1},\n{"a": "2', 2),
        ('[{"a": 1},\n', 2),
        ('[{"a": 1}\n', 2),
        ('[{"a": 1},\n}, {"a": 2}]', 2),
        ('[{"a": 1}]\ngarbage', 2),
        ('[{"a": 1},\n{"a": nonsense},\n{"a": 2}]', 2),
        ('[{"a": 1}\n{"a": 2}]', 2),
        ('{"rows": [{"a": 1},\n{"a": }]}', 2),
        ('[\n{"a": 1},\n]', 3),
    ],
)
def test_a_document_that_is_not_json_is_refused_with_the_line(text: str, line: int) -> None:
    with pytest.raises(InvalidInput, match=f"line {line}:"):
        opened(text, format="json")


def test_rows_that_are_arrays_need_the_same_length() -> None:
    table = opened('[["a","b"],[1,2],[3],[4,5,6],{"a":1},[7,8]]', name="x.json")
    assert stored(table) == [(1, 2), (7, 8)]
    assert table.bad_total == 3


def test_a_first_array_of_values_is_a_row() -> None:
    assert rows('[[1,"x"],[2,"y"]]', name="x.json") == [(1, "x"), (2, "y")]
    assert rows('[["a","b"],["x","y"]]', name="x.json", header=False) == [("a", "b"), ("x", "y")]
    assert names(opened("[[2019,null],[1,2]]", name="x.json", header=True)) == ["2019", "column_2"]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "\n\n",
        "nonsense",
        '{"a": ',
        '{"a" 1}',
        "{",
        "[",
        '{"a":[1',
        "{]}",
        '{"a',
        '{"\\q": [[1]]}',
        '{"a": [}',
        "{,:",
    ],
)
@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_json_without_a_table_is_refused(text: str, format: str) -> None:
    with pytest.raises(InvalidInput):
        opened(text, format=format)


@pytest.mark.parametrize("text", ["[[]]", "[{}, {}]", '{"a": [{"b": 1}'])
def test_a_document_without_columns_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        opened(text, format="json")


def test_an_object_of_several_tables_is_refused_by_their_names() -> None:
    with pytest.raises(InvalidInput):
        opened('{"users": [{"a": 1}], "orders": [{"b": 2}]}', name="x.json")


def test_arrays_beside_the_rows_may_be_as_long_as_they_like() -> None:
    beside = f'"columns": [{"1," * 50_000}1], "s": "{"x" * 100_000}"'
    text = f'{{{beside}, "rows": [[1], [2]], "o": [{"[]," * 50_000}[]]}}'.replace('"o": [[]', '"o": [1,[]')
    assert rows(text, name="x.json", limits=Limits(item=50_000)) == [(1,), (2,)]


def test_blanks_before_a_row_are_not_held() -> None:
    blanks = " \n" * 500_000
    for text in (f'[{blanks}{{"a": 1}}]', f'{{"rows": [{blanks}[1]]}}'):
        assert rows(text, name="x.json", limits=Limits(item=50_000)) == [(1,)]


def test_a_single_value_beside_others_is_what_a_file_of_them_needs() -> None:
    table = opened('["x"]\n', format="json")
    assert stored(table) == [("x",)]
    late = opened("[" + "1," * 100_000 + "[2], 3]", name="x.json")
    assert late.bad_total == 1
    assert late.rows == 100_001


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_elements_that_are_too_long_are_bad_lines(format: str) -> None:
    long = "x" * 200_000
    nested = '{"k":"' + '\\"]}' * 40_000 + '"}'
    objects = [
        '{"a": 1}',
        f'{{"a": "{long}"}}',
        '{"a": 2}',
        f'{{"a": [{nested}]}}',
        f'"{long}\\\\"',
        '{"a": 3}',
    ]
    text = "\n".join(objects) if format == "jsonl" else "[" + ",\n".join(objects) + "]"
    table = opened(text, format=format, limits=Limits(item=100_000))
    assert stored(table) == [(1,), (2,), (3,)]
    assert bad_numbers(table) == [2, 4, 5]


def test_a_value_that_does_not_end_is_given_up() -> None:
    with pytest.raises(InvalidInput, match="line 2:"):
        opened('[1,\n"' + "x" * 500_000 + '"]', format="json", limits=Limits(item=100_000))


def test_a_row_that_grows_when_stored_is_measured_as_it_is_stored() -> None:
    numbers = "[" + ",".join(["1e15"] * 18_000) + "]"
    table = opened(f'{{"a": {numbers}}}\n{{"a": 1}}\n', name="x.jsonl", limits=Limits(item=100_000))
    assert bad_numbers(table) == [1]


@pytest.mark.parametrize(
    "deep", ["[" * 100_000 + "]" * 100_000, '{"k":' * 50_000 + "1" + "}" * 50_000, "[" * 100_000]
)
def test_what_is_nested_too_deeply_is_a_bad_line_or_refused(deep: str) -> None:
    table = opened(f'{{"a": 1}}\n{{"a": {deep}}}', format="jsonl")
    assert stored(table) == [(1,)]
    assert bad_numbers(table) == [2]
    with pytest.raises(InvalidInput, match="line 2:"):
        opened(f'[{{"a": 1}},\n{{"a": {deep}}}]', format="json")


def test_what_is_nested_within_reason_is_kept() -> None:
    deep = "[" * 300 + "]" * 300
    assert rows(f'[{{"a": {deep}, "b": "{"[" * 2_000}"}}]', name="x.json") == [(deep, "[" * 2_000)]


def test_too_many_keys_are_refused_and_a_key_that_is_data_is_a_bad_line() -> None:
    with pytest.raises(TooLarge):
        opened("\n".join(f'{{"k{n}": 1}}' for n in range(2_001)), name="x.jsonl")
    table = opened(f'{{"a": 1}}\n{{"{"k" * 5_000}": 2}}\n', name="x.jsonl")
    assert stored(table) == [(1,)]
    assert bad_numbers(table) == [2]


@given(st.lists(ANY_JSON), st.integers(1, 40), st.sampled_from([None, 2]))
def test_elements_are_found_however_the_text_is_cut(values: list[Any], size: int, indent: int | None) -> None:
    text = json.dumps(values, indent=indent)
    document = Document((text[at : at + size] for at in range(0, len(text), size)), 1_000_000)
    assert [value for _, _, value in document.elements()] == values
    document.end()


@given(st.dictionaries(st.text(), ANY_JSON), st.integers(1, 40), st.booleans())
def test_members_are_found_however_the_text_is_cut(value: dict[str, Any], size: int, takes: bool) -> None:
    text = json.dumps(value)
    document = Document((text[at : at + size] for at in range(0, len(text), size)), 1_000_000)
    found = {}
    for name, is_array, inside in document.members():
        read = [one for _, _, one in inside] if takes else []
        found[name] = (read if is_array else read[0]) if takes else value[name]
    assert found == value
    document.end()


@given(st.text(st.sampled_from('[]{}",:\\ \n1aé')), st.sampled_from(["json", "jsonl"]))
def test_no_text_crashes_the_reader(text: str, format: str) -> None:
    try:
        table = opened(text, format=format)
    except InvalidInput:
        return
    assert len(stored(table)) == table.rows
