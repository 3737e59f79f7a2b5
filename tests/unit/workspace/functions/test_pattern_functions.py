"""Regular expressions in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import pytest

from mnemos.workspace.functions import patterns
from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]
CallJson = Callable[..., Any]


@pytest.mark.parametrize(
    ("whole", "pattern", "found"),
    [
        ("hello", "l+", 1),
        ("hello", "^l", 0),
        ("Hello", "(?i)HELLO", 1),
        ("a\nb", "(?m)^b$", 1),
        ("", "", 1),
        ("", "x", 0),
        ("你好世界", "好.$", 0),
        ("你好世界", "^.{4}$", 1),
        ("e\u0301", "^..$", 1),
        ("👍", "^.$", 1),
        ("שלום", r"\p{Hebrew}+", 1),
        ("a\x00b", "a.b", 1),
        (42, "^[0-9]+$", 1),
        (b"abc", "b", 1),
        (b"a\xffb", "a.b", 1),
    ],
)
def test_a_pattern_is_found_anywhere(
    connection: apsw.Connection, whole: Value, pattern: str, found: int
) -> None:
    assert connection.execute("SELECT ? REGEXP ?", (whole, pattern)).get == found


@pytest.mark.parametrize(
    "pattern", ["(", "[z-a]", "a**", "(?=a)", "(?<!a)b", r"(a)\1", r"\Z", "a{1001}", "*"]
)
def test_a_pattern_that_is_not_understood_says_so(call: Call, pattern: str) -> None:
    with pytest.raises(FunctionFailed):
        call("regexp", pattern, "a")


def test_too_large_a_pattern_is_refused(call: Call) -> None:
    for pattern in ("a" * 10_001, "()" * 101, "(" * 200 + ")" * 200):
        with pytest.raises(FunctionFailed):
            call("regexp", pattern, "a")
    with pytest.raises(FunctionFailed):
        call("regexp", r"\pL{1,40}\pN", "a" * 1_000_000)


@pytest.mark.parametrize(
    "pattern", ["(x+x+)+y", "(a|a)*$b", "(.*)*=", "^(a+)+$", "(?:a?){100}a{100}z", ".*.*.*.*z"]
)
def test_patterns_that_explode_elsewhere_are_linear(call: Call, pattern: str) -> None:
    assert call("regexp", pattern, "a" * 100_000 + "!") == 0


def test_a_pattern_that_reads_on_for_each_match_is_stopped(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.0)
    for name in ("regexp_find_all", "regexp_replace", "grep_context_all"):
        with pytest.raises(FunctionFailed):
            call(name, "a" * 1_000, "a.*b|a", *["x"] * (name == "regexp_replace"))


@pytest.mark.parametrize(
    ("pattern", "group", "found"),
    [
        ("[a-z]+=([0-9]+)", (), "12"),
        ("[a-z]+=([0-9]+)", (0,), "key=12"),
        ("(?P<k>[a-z]+)=(?P<v>[0-9]+)", ("v",), "12"),
        ("([a-z]+)=([0-9]+)", (), "key"),
        ("([a-z]+)=([0-9]+)", (2,), "12"),
        ("([a-z]+)=([0-9]+)", ("2",), "12"),
        ("[a-z]+", (), "the"),
        ("(x)?key", (1,), None),
        ("nothing", (), None),
    ],
)
def test_a_group_is_extracted(call: Call, pattern: str, group: tuple[Value, ...], found: str | None) -> None:
    assert call("regexp_extract", "the key=12", pattern, *group) == found


@pytest.mark.parametrize("group", [2, -1, "name", 1.5])
def test_a_group_that_is_not_there_is_refused(call: Call, group: Value) -> None:
    with pytest.raises(FunctionFailed):
        call("regexp_extract", "a", "(a)", group)


@pytest.mark.parametrize(
    ("whole", "pattern", "group", "found"),
    [
        ("a1b22", "[0-9]+", (), ["1", "22"]),
        ("a=1, b=2", "([a-z])=([0-9])", (), [["a", "1"], ["b", "2"]]),
        ("a=1, b=2", "([a-z])=([0-9])", (2,), ["1", "2"]),
        ("a=1, b=2", "([a-z])=([0-9])", (0,), ["a=1", "b=2"]),
        ("xay", "(a)|(x)|(y)", (), [[None, "x", None], ["a", None, None], [None, None, "y"]]),
        ("nothing", "[0-9]", (), []),
        ("", "a*", (), [""]),
        ("你好", "x*", (), ["", "", ""]),
        ("👍👍", "👍", (), ["👍", "👍"]),
        ("aXbX", "[^X]*", (), ["a", "", "b", "", ""]),
    ],
)
def test_all_matches_are_an_array(
    call_json: CallJson, whole: str, pattern: str, group: tuple[Value, ...], found: list[object]
) -> None:
    assert call_json("regexp_find_all", whole, pattern, *group) == found


@pytest.mark.parametrize(
    ("whole", "pattern", "replacement", "result"),
    [
        ("banana", "a", "o", "bonono"),
        ("banana", "(an)", "<\\1>", "b<an><an>a"),
        ("banana", "an", "[$0]", "b[an][an]a"),
        ("Ada Lovelace", "(?P<first>\\w+) (?P<last>\\w+)", "$2, \\1", "Lovelace, Ada"),
        ("price 5", "[0-9]", "$9", "price $9"),
        ("5", "[0-9]", "\\\\", "\\"),
        ("你好", "", "-", "-你-好-"),
        ("ab", "(x)?b", "<$1>", "a<>"),
        ("", "a", "b", ""),
        (1234, "2", "x", "1x34"),
    ],
)
def test_every_match_is_replaced(
    call: Call, whole: Value, pattern: str, replacement: str, result: str
) -> None:
    assert call("regexp_replace", whole, pattern, replacement) == result


def test_a_reference_to_no_group_is_refused(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("regexp_replace", "a", "(a)", "\\2")


def test_the_first_match_is_shown_in_its_context(call: Call) -> None:
    assert call("grep_context", "one two three two one", "two", 4) == "…one two thr…".removeprefix("…")
    assert call("grep_context", "你好，世界！再见", "世界", 2) == "…好，世界！再…"
    assert call("grep_context", "short", "o", 100) == "short"
    assert call("grep_context", "short", "x", 100) is None
    assert call("grep_context", "abc", "b", 0) == "…b…"


def test_all_matches_are_shown_and_neighbours_share_a_window(call_json: CallJson) -> None:
    text = "a..........b..........a.b......"
    assert call_json("grep_context_all", text, "[ab]", 2) == ["a..…", "…..b..…", "…..a.b..…"]
    assert call_json("grep_context_all", text, "[ab]", 2, 1) == ["a..…"]
    assert call_json("grep_context_all", text, "[ab]", 100, 5) == [text]
    assert call_json("grep_context_all", text, "x") == []
    assert len(call_json("grep_context_all", "a" + " " * 200 + "a" * 3 + " " * 200 + "a", "a")) == 3
    assert len(call_json("grep_context_all", ("a" + " " * 200) * 30, "a")) == patterns.WINDOWS


@pytest.mark.parametrize(("characters", "most"), [(-1, 1), (1, 0), ("x", 1), (1, "x")])
def test_windows_without_a_sensible_size_are_refused(call: Call, characters: Value, most: Value) -> None:
    with pytest.raises(FunctionFailed):
        call("grep_context_all", "a", "a", characters, most)
