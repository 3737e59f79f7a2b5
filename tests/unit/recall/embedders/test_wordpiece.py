"""The same ids as the reference: the tokenizers library, given the shipped vocabulary."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from mnemos.recall.embedders import static, wordpiece
from mnemos.recall.embedders.wordpiece import MAX_WORD, SPECIAL, WordPiece

VOCABULARY = (static.SHIPPED / static.VOCABULARY).read_text(encoding="utf-8").split("\n")
TINY = [*SPECIAL, "a", "##a", "un", "##know", "##able", ".", "中"]

# Each where another rule of the reference begins or ends.
SNIPPETS = [
    *" \t\n\r\x00\x0b\x0c\x1c\x1f\x7f\x85\xa0\xad\u200b\u200d\u2028\u3000\ufeff\ufffd",
    *SPECIAL,
    *("[unk]", "[CLS", "CLS]", "[C\x0bLS]", "[C\u0301LS]", "##", "##ing", "'s", "n't", "...", "--"),
    *("Σ", "ΟΔΟΣ", "İstanbul", "ẞ", "ﬁn", "ǅ", "Ⅷ", "①", "½", "e\u0301", "é", "\u0301", "\u0345"),
    *(
        "中文",
        "日本語",
        "カタカナ",
        "ｶﾞ",
        "한국어",
        "ไทย",
        "हिन्दी",
        "עִבְרִית",
        "العَرَبِيَّة",
        "\uf900",
        "\U0002f800",
    ),
    *("👍🏽", "👩‍👩‍👧", "🇩🇪", "≠", "\u037e", "\u2329", "„“", "¿", "€", "\ue000", "\U000e0041"),
    *("unaffable", "antidisestablishmentarianism", "x" * MAX_WORD, "x" * (MAX_WORD + 1)),
]


def reference_of(vocabulary: list[str]) -> Tokenizer:
    ids = {token: id for id, token in enumerate(vocabulary)}
    reference = Tokenizer(
        models.WordPiece(
            vocab=ids, unk_token="[UNK]", max_input_chars_per_word=100, continuing_subword_prefix="##"
        )
    )
    reference.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True
    )
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.add_special_tokens(list(SPECIAL))
    return reference


REFERENCE = reference_of(VOCABULARY)
PIECES = WordPiece(VOCABULARY)


def expected(text: str) -> list[int]:
    return list(REFERENCE.encode(text, add_special_tokens=False).ids)


def random_character(rng: random.Random) -> str:
    plane = rng.choice([(0, 0x7F), (0x80, 0x24F), (0x250, 0x1FFF), (0x2000, 0x2FFF), (0x3000, 0xD7FF)])
    return chr(rng.randint(*rng.choice([plane, plane, plane, (0xE000, 0xFFFF), (0x10000, 0x10FFFF)])))


def test_every_character_means_what_it_means_to_the_reference() -> None:
    # Above these lie only ranges that are empty, for private use, or all tags and selectors.
    every = [code for code in range(0x32000) if not 0xD800 <= code < 0xE000]
    for first in range(0, len(every), 512):
        codes = [*every[first : first + 512], *range(0x32000 + first, 0x110000, 0x32000)]
        text = " ".join(f"a{chr(code)}b {chr(code)}" for code in codes)
        assert PIECES.ids(text) == expected(text), f"{codes[0]:#x} to {codes[-1]:#x}"


@given(st.text())
def test_any_text_has_the_ids_of_the_reference(text: str) -> None:
    assert PIECES.ids(text) == expected(text)


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=3)).map("".join))
def test_any_mixture_of_odd_pieces_has_the_ids_of_the_reference(text: str) -> None:
    assert PIECES.ids(text) == expected(text)


@given(st.lists(st.sampled_from(VOCABULARY), max_size=8).map(lambda parts: "".join(parts).replace("##", "")))
def test_words_made_of_pieces_are_cut_as_the_reference_cuts_them(text: str) -> None:
    assert PIECES.ids(text) == expected(text)


def test_a_large_sample_of_all_scripts_has_the_ids_of_the_reference() -> None:
    rng = random.Random(20)
    for _ in range(4_000):
        runs = ("".join(random_character(rng) for _ in range(rng.randint(1, 6))) for _ in range(12))
        text = "".join(run + rng.choice(["", "", " ", rng.choice(SNIPPETS)]) for run in runs)
        assert PIECES.ids(text) == expected(text), ascii(text)


@pytest.mark.parametrize(
    "character", ["a", ".", "中", "é", "e\u0301", "\u0301", "👍", "\x00", " ", "[", "[CLS]"]
)
def test_a_hundred_thousand_of_one_character_have_the_ids_of_the_reference(character: str) -> None:
    text = character * 100_000
    assert PIECES.ids(text) == expected(text)


@pytest.mark.parametrize("length", [1, 2, 99, 100, 101, 102, 5_000])
def test_a_long_word_is_unknown_from_the_same_length_on(length: int) -> None:
    for letter in ("a", "é", "e\u0301"):
        assert PIECES.ids(letter * length) == expected(letter * length)


def test_the_longest_piece_wins_and_a_word_with_a_gap_is_unknown() -> None:
    tiny = WordPiece(TINY)
    assert tiny.ids("unknowable UNÄ. aaa") == [7, 8, 9, 7, 6, 10, 5, 6, 6]
    assert tiny.ids("unkn") == [1]
    assert tiny.ids("a中a") == [5, 11, 5]


def test_nothing_visible_has_no_ids() -> None:
    assert PIECES.ids("") == PIECES.ids(" \n\x00\u200b\x0b") == []


def test_half_a_surrogate_pair_is_passed_over() -> None:
    assert PIECES.ids("dog\ud83d") == PIECES.ids("dog")


def test_packed_ids_are_the_ids() -> None:
    packed = PIECES.pack("Not a word, but two.")
    assert memoryview(packed).cast("i").tolist() == PIECES.ids("Not a word, but two.")


def test_what_is_remembered_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpiece, "_MOST_CHUNKS", 10)
    pieces = WordPiece(VOCABULARY)
    for number in range(100):
        text = f"word{number} {'x' * 90}{number}"
        assert pieces.ids(text) == expected(text)
    assert len(pieces._chunks) <= 10
