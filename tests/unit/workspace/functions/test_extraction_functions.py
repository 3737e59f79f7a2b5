"""JSON and addresses in text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.functions import web
from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]
CallJson = Callable[..., Any]

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
PROSE = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="[]{}"), max_size=20)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('Here:\n```json\n{"a": [1, "}"]}\n```\nDone', '{"a": [1, "}"]}'),
        ('see [this {"a":[1]} thing]', '{"a":[1]}'),
        ('[ {"a":1} x ]', '{"a":1}'),
        ('{"a" {"b":2}', '{"b":2}'),
        ('{"a": NaN} [1]', "[1]"),
        ('{"a": 1,} [2]', "[2]"),
        ("[01] [-] [1.] [tru] []", "[]"),
        ('["\\x"] ["\\u00e9"]', '["\\u00e9"]'),
        ('["a\nb"] ["c"]', '["c"]'),
        ('["你好 👍"]', '["你好 👍"]'),
        ("[1, 2", None),
        ("[[1], [2]", "[1]"),
        ("{x} [y] (z)", None),
        ('"text"', None),
        ("5", None),
        ("", None),
        (5, None),
        (b'\xff{"a": 1}\xff', '{"a": 1}'),
    ],
)
def test_the_first_json_is_found_as_it_is_written(call: Call, text: Value, found: str | None) -> None:
    assert call("extract_json", text) == found


def test_others_are_found_by_number(call: Call) -> None:
    text = 'x [1] {"a": [2]} [[3] y {}'
    found = [call("extract_json", text, number) for number in range(1, 6)]
    assert found == ["[1]", '{"a": [2]}', "[3]", "{}", None]
    with pytest.raises(FunctionFailed):
        call("extract_json", text, 0)


@given(PROSE, DOCUMENTS, PROSE, st.booleans())
def test_json_in_prose_is_found_whole(before: str, document: object, after: str, ascii: bool) -> None:
    written = json.dumps(document, ensure_ascii=ascii)
    assert web.extract_json(before + written + after) == written
    # A bracket that is never closed before it must not hide it.
    assert web.extract_json("[ x " + before + written + after) == written


@given(st.text(alphabet='[]{}",:\\ 1tn', max_size=30))
def test_what_is_found_is_json(text: str) -> None:
    found = web.extract_json(text)
    if found is not None:
        assert isinstance(json.loads(found), dict | list)
    elif text[:1] in {"[", "{"}:
        with pytest.raises(ValueError):
            json.loads(text)


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "[",
        "[1,",
        '{"a":',
        '["',
        "[ ",
        "[{},",
        '{"a":{}',
        '["\\"',
        '["\\\\',
        "[true",
        '{"a" ',
        "[-",
        "[0.",
    ],
)
def test_brackets_without_end_are_read_once(call: Call, unit: str) -> None:
    """Were they read again from each bracket, this would never end."""
    call("extract_json", unit * (100_000 // len(unit)))


def test_deep_json_is_found_and_brackets_without_end_are_given_up(call: Call) -> None:
    deep = "[" * 500 + "]" * 500
    assert call("extract_json", "[x " + deep) == deep
    call("extract_json", "{" * 1_000_000)
    call("extract_json", "[" * 50_000 + "]" * 50_000)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Write to ada@example.org.", ["ada@example.org"]),
        ("a.b+c@sub.example.co.uk, a.b+c@sub.example.co.uk", ["a.b+c@sub.example.co.uk"]),
        ("<mailto:x@y.io> (z@y.io)", ["x@y.io", "z@y.io"]),
        ("请联系a@b.com谢谢", ["a@b.com"]),
        ("jürgen@müller.de", ["jürgen@müller.de"]),
        ("no@where, @name, a@b, a..b@c.de, a.@c.de, x@-y.de", []),
        ("https://user@host.example/", ["user@host.example"]),
        ("שלום ada@example.org 👍", ["ada@example.org"]),
        ("", []),
        (5, []),
    ],
)
def test_addresses_of_mail(call_json: CallJson, text: Value, found: list[str]) -> None:
    assert call_json("extract_emails", text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://example.org/a?b=1#c.", ["https://example.org/a?b=1#c"]),
        ("(http://example.org), <https://x.example>", ["http://example.org", "https://x.example"]),
        ("[text](https://example.org/a) and again https://example.org/a", ["https://example.org/a"]),
        ("https://en.example.org/wiki/Rust_(language)", ["https://en.example.org/wiki/Rust_(language)"]),
        ("www.example.org/x, HTTPS://EXAMPLE.ORG", ["www.example.org/x", "HTTPS://EXAMPLE.ORG"]),
        ("ftp://u:p@h.example:21/f;", ["ftp://u:p@h.example:21/f"]),
        ("http://[2001:db8::1]:8080/x", ["http://[2001:db8::1]:8080/x"]),
        ("http://u@[::1]/x", ["http://u@[::1]/x"]),
        ("见https://example.org/路径，谢谢", []),
        ("见 https://example.org/路径，谢谢", ["https://example.org/路径"]),
        (
            '"url": "https://example.org/x", \'https://y.example\'',
            ["https://example.org/x", "https://y.example"],
        ),
        ("http:// https://) www. mailto:a@b.de javascript:x", []),
        ("", []),
    ],
)
def test_addresses_of_the_web(call_json: CallJson, text: str, found: list[str]) -> None:
    assert call_json("extract_urls", text) == found


URL = "HTTPS://ada:p%40ss@Example.org:8080/a/b.txt?q=x%20y+z&e=&q=2#top"


@pytest.mark.parametrize(
    ("url", "part", "found"),
    [
        (URL, "scheme", "https"),
        (URL, "protocol", "https"),
        (URL, "host", "example.org"),
        (URL, "HOSTNAME", "example.org"),
        (URL, "domain", "example.org"),
        (URL, "port", 8080),
        (URL, "path", "/a/b.txt"),
        (URL, "filename", "b.txt"),
        (URL, "query", "q=x%20y+z&e=&q=2"),
        (URL, "fragment", "top"),
        (URL, "user", "ada"),
        (URL, "password", "p@ss"),
        (URL, "authority", "ada:p%40ss@Example.org:8080"),
        (URL, "origin", "https://example.org:8080"),
        ("https://example.org", "port", None),
        ("https://example.org", "path", None),
        ("https://example.org", "query", None),
        ("https://example.org?", "query", None),
        ("https://example.org", "user", None),
        ("https://user@example.org", "password", None),
        ("http://[2001:DB8::1]:80/", "host", "2001:db8::1"),
        ("http://[2001:db8::1]:80/", "port", 80),
        ("http://[::1]/", "origin", "http://[::1]"),
        ("https://bank.example@evil.example/", "host", "evil.example"),
        ("https://a@b@evil.example/", "host", "evil.example"),
        ("https://evil.example\\@bank.example/", "host", "evil.example"),
        ("https://h.example:x/", "host", "h.example"),
        ("https://h.example:x/", "port", None),
        ("//cdn.example/x", "host", "cdn.example"),
        ("//cdn.example/x", "scheme", None),
        ("example.org/path?x=1", "host", "example.org"),
        ("example.org:8080/path", "port", 8080),
        ("localhost:8080", "host", "localhost"),
        ("mailto:ada@example.org", "scheme", "mailto"),
        ("mailto:ada@example.org", "host", None),
        ("/only/path", "path", "/only/path"),
        ("just words", "host", None),
        ("http://例子.example/路", "host", "例子.example"),
        (" https://example.org/x \n", "path", "/x"),
        ("", "host", None),
        (5, "host", None),
    ],
)
def test_parts_of_an_address(call: Call, url: Value, part: str, found: Value) -> None:
    assert call("url_extract", url, part) == found


@pytest.mark.parametrize(("key", "found"), [("q", "x y z"), ("e", ""), ("missing", None)])
def test_a_parameter_of_the_query(call: Call, key: str, found: str | None) -> None:
    assert call("url_extract", URL, "query", key) == found


def test_an_unknown_part_is_refused_with_the_known_ones(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("url_extract", URL, "tld")


@pytest.mark.parametrize(
    "unit",
    ["a", "@", "a@", "@a", "a@b.", "http://", "www.", "http://a)", ")", ".", "%", "a.", "http://@", "[::"],
)
def test_addresses_without_end_are_read_once(call: Call, unit: str) -> None:
    """Were they read again from each sign, this would never end."""
    long = unit * (100_000 // len(unit))
    for name in ("extract_emails", "extract_urls"):
        call(name, long)
        call(name, "http://" + long)
    call("url_extract", long, "host")
    call("url_extract", "http://" + long, "user")
