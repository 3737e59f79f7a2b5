"""Counting, cutting and comparing text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.functions import text
from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]


def test_sections_begin_at_markdown_headings_outside_of_code(call_json: Callable[..., Any]) -> None:
    page = "intro\n\nmore\n# One\ntext\n```\n# a comment\n```\n## Two\nlast"
    assert call_json("split_sections", page) == [
        "intro\n\nmore",
        "# One\ntext\n```\n# a comment\n```",
        "## Two\nlast",
    ]


def test_sections_without_headings_are_paragraphs(call_json: Callable[..., Any]) -> None:
    assert call_json("split_sections", "one\ntwo\n \n\nthree\n#hashtag") == ["one\ntwo", "three\n#hashtag"]
    assert call_json("split_sections", " \n\n ") == []


@pytest.mark.parametrize(
    ("whole", "separator", "parts"),
    [
        ("a\n\nb", "\\n\\n", ["a", "b"]),
        ("a\n\nb", "\n\n", ["a", "b"]),
        ("a\\nb\nc", "\\n", ["a", "b\nc"]),
        ("a\tb", "\\t", ["a", "b"]),
        ("a---b------c", "---", ["a", "b", "c"]),
        ("a", "x", ["a"]),
    ],
)
def test_a_separator_may_spell_a_line_break(
    call_json: Callable[..., Any], whole: str, separator: str, parts: list[str]
) -> None:
    assert call_json("split_sections", whole, separator) == parts


def test_an_empty_separator_of_sections_is_refused(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("split_sections", "abc", "")


@pytest.mark.parametrize(
    ("json", "path", "length"),
    [
        ("[1, 2, 3]", "$", 3),
        ('{"a": 1, "b": 2}', "$", 2),
        ("5", "$", 1),
        ('"long text"', "$", 1),
        ("[]", "$", 0),
        ('{"a": {"b": [1, [2, 3]]}}', "$.a.b[1]", 2),
        ('{"a": [1, [2]]}', "$.a[#-1]", 1),
        ('{"a b": [1]}', '$."a b"', 1),
        ('{"a": 1}', "$.b", None),
        ('{"a": 1}', "$[0]", None),
        ("[1]", "$[5]", None),
        ("[1]", "$.a", None),
        ("5", "$.a.b", None),
        ("", "$", None),
        ("not json", "$", None),
        ("[1", "$", None),
        ("[" * 100_000, "$", None),
    ],
)
def test_the_length_of_json(call: Call, json: str, path: str, length: int | None) -> None:
    assert call("json_length", json, path) == length


@pytest.mark.parametrize("path", ["", "a", "$.", "$a", "$..a"])
def test_a_path_that_makes_no_sense_is_refused(call: Call, path: str) -> None:
    with pytest.raises(FunctionFailed):
        call("json_length", "{}", path)


@pytest.mark.parametrize(
    ("whole", "count"),
    [
        ("", 0),
        ("one", 1),
        ("  it's   a\twell-known\nfact. ", 4),
        ("- * --- ...", 0),
        ("(a) -b- c_d", 3),
        ("你好，世界", 4),
        ("日本語のテキスト and text", 10),
        ("안녕 세상", 2),
        ("שלום עולם", 2),
        ("cafe\u0301s are here", 3),
        ("नमस्ते दुनिया", 2),
        ("👍 yes 👍", 1),
        ("3.14 is pi", 3),
        ("-" * 100_000, 0),
    ],
)
def test_words_are_counted_in_every_script(call: Call, whole: str, count: int) -> None:
    assert call("word_count", whole) == count


def test_characters_are_code_points_also_behind_a_nul(call: Call) -> None:
    assert call("char_count", "") == 0
    assert call("char_count", "👍é你") == 3
    assert call("char_count", "a\x00b") == 3
    assert call("char_count", 12345) == 5


@pytest.mark.parametrize(
    ("number", "part"),
    [(1, "a"), (3, ""), (4, "c"), (5, ""), (-1, "c"), (-4, "a"), (-5, ""), (2**62, ""), (-(2**62), "")],
)
def test_parts_count_from_both_ends(call: Call, number: int, part: str) -> None:
    assert call("split_part", "a,b,,c", ",", number) == part


def test_a_part_of_text_without_the_separator(call: Call) -> None:
    assert call("split_part", "abc", ",", 1) == "abc"
    assert call("split_part", "abc", "", 1) == "abc"
    assert call("split_part", "abc", "", 2) == ""
    assert call("split_part", "a\nb", "\\n", 2) == "b"
    assert call("split_part", "C:\\dir", "\\", 2) == "dir"


@pytest.mark.parametrize("number", [0, "x", 1.5, ""])
def test_a_part_without_a_sensible_number_is_refused(call: Call, number: Value) -> None:
    with pytest.raises(FunctionFailed):
        call("split_part", "a,b", ",", number)


@pytest.mark.parametrize(
    ("start", "end", "part"),
    [
        (0, 3, "abc"),
        (2, 2, ""),
        (4, 2, ""),
        (-2, 100, "ef"),
        (0, -1, "abcde"),
        ("1", 2.0, "b"),
        (2**62, 2**62, ""),
    ],
)
def test_a_range_counts_from_zero(call: Call, start: Value, end: Value, part: str) -> None:
    assert call("substr_range", "abcdef", start, end) == part


def test_a_range_without_an_end_goes_to_the_end(call: Call) -> None:
    assert call("substr_range", "👍bc", 1) == "bc"


@pytest.mark.parametrize(
    ("whole", "slug"),
    [
        ("Hello, World!", "hello-world"),
        ("  --a__b--  ", "a-b"),
        ("Straße", "strasse"),
        ("Łódź & Ærø", "lodz-aero"),
        ("don't stop", "dont-stop"),
        ("ﬁne ① Ⅻ", "fine-1-xii"),
        ("cafe\u0301", "cafe"),
        ("你好 世界", "你好-世界"),
        ("한국어 텍스트", "한국어-텍스트"),
        ("ガギグ", "ガギグ"),
        ("नमस्ते", "नमस्ते"),
        ("👍", ""),
        ("", ""),
        ("\u0301" * 100_000, ""),
    ],
)
def test_slugs(call: Call, whole: str, slug: str) -> None:
    assert call("slugify", whole) == slug


@given(st.text(alphabet="abé你", max_size=12), st.text(alphabet="abé你", max_size=12))
def test_the_distance_is_the_one_of_the_textbook(one: str, other: str) -> None:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        previous, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    assert text.levenshtein(one, other) == row[-1]
    longer = max(len(one), len(other))
    assert text.similarity(one, other) == (1 - row[-1] / longer if longer else 1.0)


def test_a_long_distance_is_found_and_a_longer_one_refused(call: Call) -> None:
    assert call("levenshtein", "ab" * 5_000, "ba" * 5_000) == 2
    assert call("levenshtein", "x" * 1_000_000, "y" * 10) == 1_000_000
    assert call("levenshtein", "x" * 1_000_000, "x" * 999_999 + "y") == 1
    with pytest.raises(FunctionFailed):
        call("levenshtein", "ab" * 15_000, "cd" * 15_000)


def test_numbers_compare_as_text(call: Call) -> None:
    assert call("levenshtein", 123, 124) == 1
    assert call("similarity", "", "") == 1.0
    assert call("similarity", "", "abc") == 0.0
