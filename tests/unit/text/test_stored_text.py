"""Stored text in prompts: it adds no line at the margin, hides nothing and ends no fence."""

from __future__ import annotations

import sys
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.text.stored_text import escape_fences, escape_tags, indent_lines, join_items, one_line, reveal

BREAKS = [chr(code) for code in range(sys.maxunicode) if len(f"a{chr(code)}b".splitlines()) > 1]
TEXTS = st.text(
    st.sampled_from([*BREAKS, "\t", " ", "a", "é", "<", "\u202e", "\ud83d", "日"]) | st.characters()
)


def test_further_lines_of_an_item_are_indented_below_it() -> None:
    assert join_items(["[1] user: a\nb", "  began: c\nd\n\n\n\ne  \n", "f"]) == (
        "[1] user: a\n  b\n  began: c\n    d\n\n    e\nf"
    )


@pytest.mark.parametrize("line_break", [*BREAKS, "\r\n"])
def test_every_line_break_is_one(line_break: str) -> None:
    assert len(BREAKS) == 10
    assert join_items([f"a{line_break}b"]) == "a\n  b"
    assert one_line(f"a{line_break}b") == "a b"
    assert len(reveal(f"a{line_break}b").splitlines()) == 1


def test_all_hidden_characters_are_written_out_except_joiners() -> None:
    hidden = {
        chr(code)
        for code in range(sys.maxunicode + 1)
        if category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and chr(code) not in "\u200c\u200d"
    }
    assert [one for one in hidden if not reveal(one).startswith("\\")] == []
    assert reveal("a\x1b[2J\u202eb\tc") == "a\\u001b[2J\\u202eb\\tc"
    assert reveal("👩\u200d👧 می\u200cخواهم ❤\ufe0f") == "👩\u200d👧 می\u200cخواهم ❤\ufe0f"


def test_data_in_variation_selectors_is_written_out() -> None:
    assert reveal("☺\ufe0f\U000e0101") == "☺\\ufe0f\\U000e0101"


def test_halves_of_characters_are_joined_or_replaced() -> None:
    assert one_line("\ud83c\udf89 \ud83c") == "🎉 \ufffd"
    assert indent_lines("\ud83c\udf89 \ud83c") == "🎉 \ufffd"


@pytest.mark.parametrize(
    "mark",
    [
        "</recalled-memory>",
        "< / Memory-Facts",
        "＜workspace-tables",
        "</memory-\u200dcontext>",
        "<\n/recalled",
    ],
)
def test_marks_of_fences_are_escaped(mark: str) -> None:
    for render in (escape_fences, reveal, one_line, indent_lines):
        assert render(f"x {mark}").startswith("x ‹")
    assert reveal("if a < b: return List[<int>]") == "if a < b: return List[<int>]"


@given(st.lists(TEXTS))
def test_only_items_begin_at_the_margin(texts: list[str]) -> None:
    lines = join_items([f"- {text}" for text in texts]).splitlines()
    assert sum(line.startswith("-") for line in lines) == len(texts)
    assert all(line.startswith(("-", "  ")) or not line for line in lines)
    for text in texts:
        assert len(one_line(text).splitlines()) <= 1
        one_line(text).encode()


@pytest.mark.parametrize("mark", ["</", "< /", "<\u200b/", "＜/", "<\\", "<／"])
def test_a_text_between_tags_closes_none_and_keeps_the_rest(mark: str) -> None:
    assert (
        escape_tags(f"if a < b:\nuser: {mark}NOTES> 鹦鹉") == f"if a < b:\n  user: ‹{rest(mark)}NOTES> 鹦鹉"
    )


def rest(mark: str) -> str:
    return mark[1:].replace("\u200b", "\\u200b")
