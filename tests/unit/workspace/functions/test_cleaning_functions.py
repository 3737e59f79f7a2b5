"""Text from web pages, and text with hidden or odd characters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mnemos.workspace.functions.function import Value

Call = Callable[..., Value]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<div>a<div>b</div></div>c", "a\nb\nc"),
        ("<b>bold</b> and <i>it</i>, ok", "bold and it, ok"),
        ("a\n   b\t c", "a b c"),
        ("a <b> b</b>", "a b"),
        ("<ul><li>a<li><p>b</p></li><li></li></ul>", "- a\n- b"),
        ("<table><tr><th>A<th>B<tr><td>1</td><td></td><td>3</td></table>", "A\tB\n1\t\t3"),
        ("<pre>  x\n   y</pre>z", "x\n   y\n\nz"),
        ("<script>if (a<b) {'</p>'}</script>seen", "seen"),
        ("<SCRIPT type='x'>a</Script >seen", "seen"),
        ("<style>a{}</style><svg/><svg><text>x</text></svg>seen", "seen"),
        ("before<script>never closed", "before"),
        ("a<!-- <p>no</p> -->b<!DOCTYPE html><?xml x?>c", "abc"),
        ("a<!-- never closed", "a"),
        ('<a title="x > y">link</a>', "link"),
        ('<a title="never closed>text</a>', "text"),
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
        ("if a<b, then", "if a<b, then"),
        ("a<b", "a<b"),
        ("tag that never ends <p", "tag that never ends <p"),
        ("&lt;b&gt; &amp;amp; &eacute;&#233;&#xE9; &nbsp;&unknown;", "<b> &amp; ééé &unknown;"),
        ("&#0;&#xD800;&#99999999999;&#x110000;", "\ufffd\ufffd\ufffd\ufffd"),
        ("&#" + "9" * 10_000 + ";", "\ufffd"),
        ("<title>T</title><h1>H</h1>x", "T\n\nH\n\nx"),
        ("<p>你好</p><p>שלום</p><p>👍</p>", "你好\n\nשלום\n\n👍"),
        (b"<p>caf\xc3\xa9</p>", "café"),
        (5, "5"),
    ],
)
def test_what_a_reader_sees(call: Call, html: Value, text: str) -> None:
    assert call("html_to_text", html) == text


@pytest.mark.parametrize(
    "unit",
    [
        "<", "<!", "<a ", "&", "<a>", "<!--", "</", '<a "', '<a ">', "<a '\">", "<script>", "</script", "&#",
        "&#1", "&a", "<?", "<p>", "<pre> ", "<br>", "<td>", "<li>", "< >", "<a b='c'>", "\u0301", "&amp;",
        "<a'\"", " ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", ">"])
def test_no_repetition_of_signs_takes_the_square_of_its_length(call: Call, unit: str, end: str) -> None:
    """Were it so, this would never end."""
    long = unit * (100_000 // len(unit)) + end
    assert isinstance(call("html_to_text", long), str)
    assert isinstance(call("clean_text", long), str)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("  a  b\t c  ", "a b c"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("a \n  b\n\n\n\n c", "a\nb\n\nc"),
        ("a\u00a0\u3000b\u2009c", "a b c"),
        ("zero\u200bwidth\ufeff soft\u00adhyphen", "zerowidth softhyphen"),
        ("a\x00b\x07c\x1b[0m", "abc[0m"),
        ("\u202eabc\u202c \u2066x\u2069", "abc x"),
        ("cafe\u0301", "café"),
        ("👨‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👨‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿"),
        ("hid\U000e0041\U000e0042den", "hidden"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("“quotes” – stay", "“quotes” – stay"),
        ("a" + "\u0316\u0301" * 100, "á" + "\u0316" * 15 + "\u0301" * 14),
        (12, "12"),
    ],
)
def test_clean_text(call: Call, text: Value, clean: str) -> None:
    assert call("clean_text", text) == clean


def test_cleaning_twice_changes_nothing_more(call: Call) -> None:
    once = call("clean_text", " a\u200b \u00a0 b\r\n\r\n\r\n c\u0301 ")
    assert call("clean_text", once) == once


def test_a_tower_of_marks_is_cut_before_it_is_sorted(call: Call) -> None:
    assert len(call("clean_text", "a" + "\u0301" * 200_000 + "\u0323" * 200_000)) <= 31
