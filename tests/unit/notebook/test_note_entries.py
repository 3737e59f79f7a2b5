"""Entries of files that people edit too."""

from __future__ import annotations

import pytest
from hands import ByHand
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput
from mnemos.notebook.notebook import Notebook
from mnemos.notebook.notes import Book, Use, check_entry, join_entries, parse_book, parse_entries

LINES = st.text(st.sampled_from("ab§ \t\n\u2028\xa0日🦀é"), max_size=20)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        (" \n\n", []),
        ("one", ["one"]),
        ("one\n§\ntwo", ["one", "two"]),
        ("one\n§\ntwo\n", ["one", "two"]),
        ("one\r\n§\r\ntwo\r\n", ["one", "two"]),
        ("one\r§\rtwo", ["one", "two"]),
        ("\ufeffone\n§\ntwo", ["one", "two"]),
        ("\ufeff§\none", ["one"]),
        ("§\none\n§\n\n§\n  \n§\ntwo\n§", ["one", "two"]),
        ("one\n \t§ \ntwo", ["one", "two"]),
        ("  one  \n\n§\n\n\ttwo", ["one", "two"]),
        ("see § 3 of the law\n§\n§ 5 too\n§\n5 §", ["see § 3 of the law", "§ 5 too", "5 §"]),
        ("one§two", ["one§two"]),
        ("§§\n§\n§ §", ["§§", "§ §"]),
        ("first line\nsecond line\n\nthird\n§\nx", ["first line\nsecond line\n\nthird", "x"]),
    ],
)
def test_a_file_is_read_however_its_blanks_were_left(text: str, entries: list[str]) -> None:
    assert parse_entries(text) == entries
    assert parse_entries(join_entries(entries)) == entries


@given(st.lists(LINES, max_size=6))
def test_what_is_kept_is_read_again_as_it_was(contents: list[str]) -> None:
    kept = []
    for content in contents:
        try:
            kept.append(check_entry(content))
        except InvalidInput:
            continue
    assert parse_entries(join_entries(kept)) == kept


@given(LINES)
def test_reading_a_file_twice_changes_nothing(text: str) -> None:
    once = parse_entries(text)
    assert parse_entries(join_entries(once)) == once


@pytest.mark.parametrize(
    "content",
    [
        None, 5, True, b"bytes", ["a"], {"a": 1}, "", " \n\t", "§", " § ", "a\n§\nb", "a\n \t§\t\nb", "§\na",
        "a\0b", "a\x1b[2J", "a\x08", "a\x7f", "a\x9bb", "a\x85b", "a\x0cb", "\ud800", "a\udfff",
        "\u200b", "\ufeff \u2060", "\u200d",
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_read_back_is_refused(content: object) -> None:
    with pytest.raises(InvalidInput):
        check_entry(content)  # type: ignore[arg-type]


def test_an_entry_keeps_its_lines_and_its_section_signs() -> None:
    assert check_entry("  § 3\r\n\r\n- a\r\n\t- b § c  ") == "§ 3\n\n- a\n\t- b § c"


@pytest.mark.parametrize("name", ["memory", "MEMORY", "Memory", Book.MEMORY])
def test_a_file_is_named_in_any_case(name: str) -> None:
    assert parse_book(name) is Book.MEMORY
    assert parse_book(name).filename == "MEMORY.md"


@pytest.mark.parametrize(
    "name", ["", "memories", "../user", "MEMORY.md", None, 1, [], {}, b"memory", "x" * 10_000]
)
def test_an_unknown_file_name_is_quoted_in_short(name: object) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_book(name)  # type: ignore[arg-type]
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("used", "percent", "warns"),
    [(0, 0, False), (79, 79, False), (80, 80, True), (100, 100, True), (130, 130, True)],
)
def test_use_is_in_percent_and_warns_from_eighty_on(used: int, percent: int, warns: bool) -> None:
    use = Use(Book.USER, used, 100, 1)
    assert (use.percent, bool(use.warning)) == (percent, warns)


@pytest.mark.parametrize("text", ["one\n§\ntwo", "\ufeffone\r\n§\r\ntwo\r\n", "one\n§\n\n§\ntwo\n\n"])
def test_a_change_of_a_file_edited_by_hand_loses_no_entry(
    notebook: Notebook, by_hand: ByHand, text: str
) -> None:
    file = by_hand(text)
    assert notebook.entries() == ["one", "two"]
    notebook.add("three")
    assert file.read_bytes().decode() == "one\n§\ntwo\n§\nthree"


def test_reading_leaves_a_file_as_it_was_edited(notebook: Notebook, by_hand: ByHand) -> None:
    text = "\ufeffone\r\n§\r\n\r\n§\r\ntwo\r\n"
    file = by_hand(text)
    assert notebook.entries() == ["one", "two"]
    assert (notebook.use().used, notebook.use().entries) == (len("one\n§\ntwo"), 2)
    notebook.snapshot()
    notebook.sync()
    assert file.read_bytes().decode() == text
