import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.text.tokens import count_tokens, cut_to_tokens, use_tokenizer

FIXTURES = Path(__file__).parent / "fixtures"
COUNTED = json.loads((FIXTURES / "token_counts.json").read_text("utf-8"))
TRUE = [(t["kind"], t["text"], max(t["cl100k"], t["o200k"])) for t in COUNTED]

any_character = st.characters(exclude_categories=())
awkward_text = st.text(
    st.one_of(any_character, st.sampled_from("ab .,\n\r\t'’\x00\ud83d\ude00\u200d\ufe0f\u0301👩🏽🇫क्ษ각한漢"))
)


@pytest.fixture
def words_as_tokens():
    use_tokenizer(lambda text: len(text.split()))
    yield
    use_tokenizer(None)


def test_the_fixture_has_every_script_and_enough_texts():
    kinds = {kind.split("-")[0] for kind, _, _ in TRUE}
    assert len(TRUE) >= 120
    assert kinds >= {
        "english", "latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "han", "hangul",
        "kana", "thai", "emoji", "code", "json", "log", "trace", "markdown", "chat", "digits", "url",
        "hash", "base64", "space",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text", "true"), TRUE, ids=[f"{n}-{kind}" for n, (kind, _, _) in enumerate(TRUE)]
)
def test_the_estimate_is_never_more_than_five_percent_low(kind, text, true):
    assert true >= 20
    assert count_tokens(text) >= 0.95 * true


def test_the_estimate_is_on_average_less_than_twelve_percent_high():
    errors = [count_tokens(text) / true - 1 for _, text, true in TRUE]
    assert 0 < sum(errors) / len(errors) < 0.12


def test_no_text_is_estimated_at_more_than_four_tenths_too_high():
    assert max(count_tokens(text) / true - 1 for _, text, true in TRUE) < 0.4


def test_texts_held_back_from_calibration_are_estimated_as_well_as_the_others():
    held_back = [count_tokens(text) / true - 1 for _, text, true in TRUE[2::3]]
    assert len(held_back) >= 40
    assert min(held_back) > -0.05
    assert sum(held_back) / len(held_back) < 0.12


def test_nothing_costs_nothing():
    assert count_tokens("") == 0
    assert count_tokens("a") >= 1
    assert count_tokens(" ") >= 1


def test_a_text_longer_than_a_slice_costs_what_its_parts_cost():
    sentence = "The pump in the cellar started again last night. "
    assert count_tokens(sentence * 60_000) == pytest.approx(60_000 * 11, rel=0.1)


@given(awkward_text)
def test_any_unicode_can_be_counted(text):
    assert count_tokens(text) >= (1 if text else 0)


@given(awkward_text, st.integers(-2, 40), st.sampled_from(["…", "", " [cut]"]))
def test_a_cut_text_fits_and_is_a_beginning(text, budget, mark):
    cut = cut_to_tokens(text, budget, mark=mark)
    assert count_tokens(cut) <= max(0, budget)
    if count_tokens(text) <= budget:
        assert cut == text
    elif cut:
        assert cut.endswith(mark)
        assert text.startswith(cut.removesuffix(mark))


@given(st.lists(st.sampled_from(["pump", "1,024.5", "don’t", "naïve", "срочно", "the"]), max_size=60))
def test_a_cut_never_falls_inside_a_word_or_a_number(words):
    text = " ".join(words)
    for budget in range(1, 30):
        kept = cut_to_tokens(text, budget, mark="").split(" ")
        assert kept == [""] or kept == words[: len(kept)]


@given(st.lists(st.sampled_from(["👩‍👩‍👧", "🇫🇷", "👍🏽", "क्षि", "é", "각", "漢", "\r\n"]), max_size=40))
def test_a_cut_never_falls_inside_a_character(characters):
    text = "".join(unicodedata.normalize("NFD", c) for c in characters)
    ends = {0}
    for character in characters:
        ends.add(max(ends) + len(unicodedata.normalize("NFD", character)))
    for budget in range(1, 40):
        cut = cut_to_tokens(text, budget, mark="")
        assert len(cut) in ends or text[len(cut) :].isspace() or text[len(cut)] in "\r\n"


def test_one_word_more_would_not_fit():
    text = " ".join(text for kind, text, _ in TRUE if kind == "english")
    words = text.split(" ")
    for budget in (5, 17, 60, 200):
        kept = cut_to_tokens(text, budget).removesuffix("…").split(" ")
        longer = " ".join(words[: len(kept) + 1])
        assert kept == words[: len(kept)] or kept[-1] == words[len(kept) - 1].rstrip(".,:;")
        assert count_tokens(longer + "…") > budget


def test_white_space_before_the_mark_is_dropped():
    assert cut_to_tokens("one two three four five six seven", 4).endswith("o…")


def test_a_text_without_spaces_is_cut_between_its_characters():
    text = next(text for kind, text, _ in TRUE if kind == "han-zh")
    assert 5 < len(cut_to_tokens(text, 20)) <= 20


def test_a_run_too_long_to_be_a_word_may_be_cut():
    assert len(cut_to_tokens("x" * 5_000, 50)) > 50


def test_no_budget_gives_nothing():
    assert cut_to_tokens("anything", 0) == ""
    assert cut_to_tokens("anything", -3) == ""
    assert cut_to_tokens("", 0) == ""


def test_a_mark_that_does_not_fit_alone_gives_nothing():
    assert cut_to_tokens("one two three four", 2, mark=" [the rest was left out here]") == ""


def test_a_tokenizer_of_the_host_is_used_for_counting_and_for_cutting(words_as_tokens):
    assert count_tokens("a bb internationalisation") == 3
    assert cut_to_tokens("a bb ccc dddd", 2, mark="") == "a bb"
    assert cut_to_tokens("a bb ccc dddd", 4) == "a bb ccc dddd"


def test_without_the_tokenizer_the_estimate_is_back(words_as_tokens):
    use_tokenizer(None)
    assert count_tokens("internationalisation of everything") > 3
