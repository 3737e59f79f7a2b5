"""Texts are split into sentences in one way."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.language.sentences import find_sentences, lower_in_place, split_paragraph, split_sentences

FULL = "this line is long enough to have been wrapped by an editor or mail"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Really?! Yes…", ["Really?!", "Yes…"]),
        ("Use v1.2.3 of api.example.com now. Thanks", ["Use v1.2.3 of api.example.com now.", "Thanks"]),
        ("See e.g. the docs, etc. for more.", ["See e.g. the docs, etc. for more."]),
        ("Am 3. März geht es los. Gut.", ["Am 3. März geht es los.", "Gut."]),
        ("short line\nnext line", ["short line", "next line"]),
        (f"{FULL}\nand goes on. Then ends", [f"{FULL}\nand goes on.", "Then ends"]),
        (f"{FULL}\nNew start", [FULL, "New start"]),
        (f"{FULL[:-1]}:\nand a list", [f"{FULL[:-1]}:", "and a list"]),
        ("彼は来た。帰った。", ["彼は来た。帰った。"]),
        ("one; two", ["one; two"]),
    ],
)
def test_a_text_is_split_at_ends_and_line_breaks(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_a_paragraph_can_be_split_at_semicolons() -> None:
    text = "one; two: x;y. three"
    found = [
        (text[one.start : one.end], one.mark)
        for one in split_paragraph(text, 0, len(text), at_semicolons=True)
    ]
    assert found == [("one;", ";"), (" two: x;y.", "."), (" three", "")]


@given(st.text(alphabet="aZ .!?;:\n…é。", max_size=300))
def test_sentences_are_in_order_and_keep_every_character_but_line_breaks(text: str) -> None:
    found = list(find_sentences(text))
    assert all(one.start < one.end for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert "".join(text[one.start : one.end] for one in found).replace("\n", "") == text.replace("\n", "")
    assert all(text[: one.end].endswith(one.mark) for one in found)


@given(st.text(max_size=100))
def test_lowering_keeps_every_character_in_its_place(text: str) -> None:
    assert len(lower_in_place(text)) == len(text)
