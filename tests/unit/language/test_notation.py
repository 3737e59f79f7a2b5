"""The notation parses what models write, loses nothing, and prints what it parses."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, TooLarge
from mnemos.language.notation import (
    MAX_LINES,
    MAX_TARGET,
    Mark,
    Statement,
    format_line,
    is_critical,
    key_of,
    looks_like,
    normalize_target,
    parse,
)


def only(text: str) -> Statement:
    (statement,) = parse(text)
    return statement


# --- what is written ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "mark", "target", "content"),
    [
        ("C[db.id]: UUID mndtry, nvr autoincrement", "C", "db.id", "UUID mndtry, nvr autoincrement"),
        ("D[auth]: JWT 7j refresh 6j", "D", "auth", "JWT 7j refresh 6j"),
        ("V[srv.prod]: api.example.com:3005", "V", "srv.prod", "api.example.com:3005"),
        ("?[cache]: redis or memcached", "?", "cache", "redis or memcached"),
        ("✓[auth]: deployed prod", "✓", "auth", "deployed prod"),
        ("~[auth]: replaced by OAuth", "~", "auth", "replaced by OAuth"),
    ],
)
def test_the_six_marks_are_read(line: str, mark: str, target: str, content: str) -> None:
    assert only(line) == Statement(Mark(mark), target, content)
    assert str(only(line)) == line


@pytest.mark.parametrize(
    ("line", "same_as"),
    [
        ("✔[auth]: ok", "✓[auth]: ok"),
        ("✅[auth]: ok", "✓[auth]: ok"),
        ("✔\ufe0f[auth]: ok", "✓[auth]: ok"),
        ("✅ [auth] : ok", "✓[auth]: ok"),
        ("c[a]: b", "C[a]: b"),
        ("d [ a ] : b", "D[a]: b"),
        ("  V[a]:b  ", "V[a]: b"),
        ("\tV[a]:\tb\t", "V[a]: b"),
        ("- D[a]: b", "D[a]: b"),
        ("* D[a]: b", "D[a]: b"),
        ("-D[a]: b", "D[a]: b"),
        ("• D[a]: b", "D[a]: b"),
        ("12. D[a]: b", "D[a]: b"),
        ("> D[a]: b", "D[a]: b"),
        ("`D[a]: b`", "D[a]: b"),
        ("- `D[a]: b`", "D[a]: b"),
        ("**D[a]**: b", "D[a]: b"),
        ("**D[a]:** b", "D[a]: b"),
        ("* **D[a]: b**", "D[a]: b"),
        ("decision[a]: b", "D[a]: b"),
        ("Constraint[a]: b", "C[a]: b"),
        ("D[a]：b", "D[a]: b"),
        ("\ufeffD[a]: b", "D[a]: b"),
        ("D[a . b]: c", "D[a.b]: c"),
        ("D[a\u00a0\u00a0b]: c", "D[a b]: c"),
        ("✓[auth]", "✓[auth]:"),
        ("~[auth]:", "~[auth]:"),
    ],
)
def test_what_models_write_is_read_as_what_they_mean(line: str, same_as: str) -> None:
    assert str(only(line)) == same_as


@pytest.mark.parametrize(
    "content",
    [
        "a: b: c",
        "[x] and [y]: z",
        "-> gateway -> db",
        "! never",
        "really !",
        "`make test`",
        "**bold** end",
        "*",
        "a`",
        "tab\tinside",
        "two  blanks",
        "U+2028 \u2028 here",
        "\u202eright to left",
        "👩‍👩‍👧 family",
        "C[other]: looks like a fact",
        "x" * 400,
    ],
)
def test_content_keeps_every_character(content: str) -> None:
    assert only(f"V[a]: {content}").content == content


def test_several_lines_are_several_facts_in_their_order() -> None:
    text = "```memory\nC[a]: one\r\n\r\n- D[b]: two\r?[c]: three\n```\n"
    assert [str(one) for one in parse(text)] == ["C[a]: one", "D[b]: two", "?[c]: three"]


@pytest.mark.parametrize(
    ("content", "critical"), [("! x", True), ("x!", True), ("x ! y", False), ("", False)]
)
def test_critical_is_what_has_an_exclamation_mark_at_an_end(content: str, critical: bool) -> None:
    assert is_critical(content) is critical


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\n",
        "```\n```",
        "just a sentence",
        "X[a]: b",
        "CD[a]: b",
        "[a]: b",
        "C a: b",
        "C[]: b",
        "C[ ]: b",
        "C[.]: b",
        "C[a..b]: c",
        "C[a.]: b",
        "C[.a]: b",
        "C[a. .b]: c",
        "C[a]:",
        "C[a]",
        "?[a]: ",
        "C[a[b]]: c",
        "C[[a]]: c",
        "C[a: b",
        "C]a[: b",
        "C[a\x00b]: c",
        "C[a\x1bb]: c",
        "C[a\u2028b]: c",
        "C[a\u2029b]: c",
        "C[a\u0085b]: c",
        "C[a\u202eb]: c",
        "C[a\u200bb]: c",
        "C[a\u00adb]: c",
        "C[\u200d]: b",
        "C[a\ud800]: b",
        "C[a]: b\x00c",
        "C[a]: b\x1b[31m",
        "C[a]: b\x0bc",
        "C[a]: b\x0cc",
        "C[a]: b\u0085c",
        "C[a]: \ud800",
        "C[a\nb]: c",
    ],
)
def test_a_text_that_is_not_a_fact_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text)
    assert isinstance(looks_like(text), bool)


@pytest.mark.parametrize("text", [None, 5, b"C[a]: b", ["C[a]: b"], {}])
def test_a_value_that_is_not_a_string_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInput):
        parse(text)


def test_a_bad_line_fails_them_all_and_is_named() -> None:
    with pytest.raises(InvalidInput) as raised:
        parse("C[a]: b\n\nthis is none\nC[c]: d")
    assert "line 3" in str(raised.value)


@pytest.mark.parametrize("most", [10, 400, 1000])
def test_a_content_over_the_limit_is_refused_with_its_length(most: int) -> None:
    assert len(only_within(most, most).content) == most
    with pytest.raises(TooLarge) as raised:
        only_within(most + 1, most)
    assert f"{most + 1:,}" in str(raised.value)


def only_within(length: int, most: int) -> Statement:
    (statement,) = parse("D[a]: " + "x" * length, most=most)
    return statement


def test_a_target_over_the_limit_is_refused_with_its_length() -> None:
    assert only(f"D[{'x' * MAX_TARGET}]: y").target == "x" * MAX_TARGET
    for length in (MAX_TARGET + 1, 10_000):
        with pytest.raises(TooLarge) as raised:
            parse(f"D[{'x' * length}]: y")
        assert f"{length:,}" in str(raised.value)


def test_too_many_facts_in_one_call_are_refused() -> None:
    assert len(parse("\n".join(f"V[a{n}]: b" for n in range(MAX_LINES)))) == MAX_LINES
    with pytest.raises(TooLarge) as raised:
        parse("\n".join(f"V[a{n}]: b" for n in range(2_000)))
    assert "2,000" in str(raised.value)


@pytest.mark.parametrize("name", [None, 5, b"a", [], ["a"], 1.5, True])
def test_a_target_is_a_text(name: Any) -> None:
    with pytest.raises(InvalidInput):
        normalize_target(name)


# --- targets are compared ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [("Srv.Prod", "srv.prod"), ("STRASSE", "straße"), ("caf\u00e9", "cafe\u0301"), (" a . b ", "A.B")],
)
def test_targets_are_the_same_whatever_their_case_and_blanks(one: str, other: str) -> None:
    assert only(f"V[{one}]: x").key == only(f"V[{other}]: x").key


def test_the_target_is_kept_as_it_was_written() -> None:
    assert only("V[Srv.Prod]: x").target == "Srv.Prod"


# --- properties --------------------------------------------------------------------------------

ANY_TEXT = st.text(max_size=60)
NOTATION = st.builds(
    "{}{}{}[{}]{}:{}".format,
    st.sampled_from(["", "- ", "* ", "`", "**", "  ", "3. ", "_"]),
    st.sampled_from(["C", "D", "v", "?", "✓", "✔\ufe0f", "~", "decision", "～"]),
    st.sampled_from(["", " ", "\t"]),
    st.text(st.characters(blacklist_categories=()), min_size=1, max_size=30),
    st.sampled_from(["", " ", "**", "`"]),
    st.text(st.characters(blacklist_categories=()), max_size=60),
)


def parsed(text: str) -> list[Statement]:
    try:
        return parse(text)
    except InvalidInput:
        return []


@given(st.one_of(NOTATION, ANY_TEXT, st.lists(NOTATION, max_size=4).map("\n".join)))
@example(f"V[{chr(0x0958) * 100}]: x")
@example(f"V[{chr(0x0958) * 200}]: x")
@example("V[a]:\ufeffx\ufeff")
@example("`V[a]: x``")
@example("*V[a]: x*")
@example("V[a]:** x")
@example("_V[a]_:_x_")
@example("V[a]: ` ")
@example("✓[İ]: x")
@example("V[\u0344]: x")
def test_a_fact_that_is_printed_and_parsed_again_is_the_same(text: str) -> None:
    statements = parsed(text)
    assert parsed("\n".join(map(str, statements))) == statements
    for statement in statements:
        assert [statement] == parse(format_line(statement.mark, statement.target, statement.content))


@given(st.text(st.characters(blacklist_categories=()), max_size=40))
def test_a_target_that_is_kept_is_one_that_would_be_kept(name: str) -> None:
    try:
        kept = normalize_target(name)
    except InvalidInput:
        return
    assert normalize_target(kept) == kept
    assert kept == kept.strip()
    assert 0 < len(kept) <= MAX_TARGET
    assert not {unicodedata.category(character) for character in kept} & {"Cc", "Cs", "Zl", "Zp"}
    assert key_of(key_of(kept)) == key_of(kept)
    assert key_of(kept.upper()) == key_of(kept) or not kept.isascii()


@given(st.text(st.characters(blacklist_categories=()), max_size=200))
def test_whatever_is_written_is_a_list_or_an_error_of_ours(text: str) -> None:
    parsed(text)
    looks_like(text)
