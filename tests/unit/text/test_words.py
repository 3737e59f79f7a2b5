"""The rule of what a word is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.text import words
from mnemos.text.words import Run, fold, index_words, is_unspaced, iterate_runs, runs, stem

ANY = st.text(st.characters(exclude_categories=[]), max_size=60)


def forms(text: str) -> list[str]:
    return index_words(text)[0].split()


def beside(text: str) -> list[str]:
    return index_words(text)[1].split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("Café", ["cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("ＣＡＦＥ", ["cafe"]),
        ("Straße", ["strasse"]),
        ("smørgåsbord", ["smorgasbord"]),
        ("ﬁle", ["file"]),
        ("İstanbul", ["istanbul"]),
        ("don't", ["don", "t"]),
        ("srv.prod", ["srv", "prod"]),
        ("gateway/run.py", ["gateway", "run", "py"]),
        ("my_snake_case", ["my", "snake", "case"]),
        ("getUserName", ["get", "user", "name"]),
        ("HTTPResponse", ["http", "response"]),
        ("fetchURLs", ["fetch", "urls"]),
        ("C++", ["c++"]),
        ("C#", ["c#"]),
        ("#485", ["485"]),
        ("a+b", ["a", "b"]),
        ("C+++", ["c"]),
        ("10.0.0.1", ["10", "0", "0", "1"]),
        ("shipped 🎉!", ["shipped", "🎉"]),
        ("👍🏽", ["👍", "🏽"]),
        ("京都", ["京都", "都"]),
        ("京", ["京"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー", "ー"]),
        ("API設計", ["api", "設計", "計"]),
        ("ｶﾞｽ", ["ガス", "ス"]),
        ("ฐาน", ["ฐา", "าน", "น"]),
        ("база данных", ["база", "данных"]),
        ("डेटाबेस", [fold("डेटाबेस")]),
        ("", []),
        ("-- ... !!", []),
        ("\0", []),
        ("a\0b", ["a", "b"]),
    ],
)
def test_these_texts_have_these_words(text: str, expected: list[str]) -> None:
    assert forms(text) == expected


def test_an_inflected_word_has_its_stem_beside() -> None:
    assert beside("deployed") == ["deploy"]
    assert beside("deploy") == []
    assert beside("running deployments") == ["run", "deploy"]


def test_an_identifier_has_its_whole_beside() -> None:
    assert beside("getUserName")[0] == "getusername"
    assert "httpresponse" in beside("HTTPResponse")


def test_a_language_with_signs_has_its_plain_name_beside() -> None:
    assert beside("C++") == ["c"]


def test_a_stem_is_shared_by_the_forms_of_a_word() -> None:
    assert {stem(form) for form in ("deploy", "deploys", "deployed", "deploying")} == {"deploy"}


@pytest.mark.parametrize("form", ["a", "is", "café", "x1", "京都", "C++"])
def test_a_word_that_is_not_english_is_its_own_stem(form: str) -> None:
    assert stem(form) == form


def test_very_long_words_are_cut() -> None:
    (form,) = forms("x" * 500)
    assert form == "x" * words.MAX_WORD


def test_only_runs_of_unspaced_scripts_are_unspaced() -> None:
    assert is_unspaced("京都")
    assert is_unspaced("ฐาน")
    assert not is_unspaced("Kyoto")
    assert not is_unspaced("京都 ")
    assert not is_unspaced("")


def test_the_runs_of_a_text_are_those_of_its_index() -> None:
    text = "getUserName 京都 café C++"
    assert [form for run in runs(text) for form in run.forms] == forms(text)


def test_a_run_has_its_place() -> None:
    text = "see getUserName, 京都!"
    assert [(text[one.start : one.end], one.run.forms) for one in iterate_runs(text)] == [
        ("see", ("see",)),
        ("getUserName", ("get", "user", "name")),
        ("京都", ("京都",)),
        ("都", ("都",)),
    ]


def test_places_can_be_asked_for_from_somewhere_on() -> None:
    assert [one.start for one in iterate_runs("one two three", 3)] == [4, 8]


def test_a_full_cache_of_words_is_emptied_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_CACHE_SIZE", 10)
    text = " ".join(f"word{n}" for n in range(50))
    assert forms(text) == text.split() == forms(text)


@given(text=ANY)
def test_no_text_is_an_error(text: str) -> None:
    said, other = index_words(text)
    assert isinstance(said, str)
    assert isinstance(other, str)
    assert [form for run in runs(text) for form in run.forms] == said.split(" ") or not said


@given(text=ANY)
def test_a_word_holds_no_blank_and_no_sign_an_engine_would_cut_at(text: str) -> None:
    for run in runs(text):
        for word in (*run.forms, *run.beside):
            assert word
            bad = [c for c in word if ord(c) < 128 and not c.isalnum() and c not in "+#"]
            assert bad == []
            assert not any(c.isspace() for c in word)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_the_runs_of_a_plain_text_are_those_that_have_places(text: str) -> None:
    assert [one.run for one in iterate_runs(text)] == runs(text)


@given(text=ANY)
def test_places_lie_in_the_text_in_order(text: str) -> None:
    last = -1
    for one in iterate_runs(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.start > last
        last = one.start


@given(text=ANY)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(text=ANY)
def test_case_makes_no_difference(text: str) -> None:
    assert fold(text.upper()) == fold(text.upper().lower())


@given(first=ANY, second=ANY)
def test_a_blank_parts_words(first: str, second: str) -> None:
    assert forms(f"{first} {second}") == forms(first) + forms(second)


def test_a_run_is_a_value() -> None:
    assert Run(("a",), ()) == Run(("a",), ())
