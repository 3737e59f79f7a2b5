"""Words of a question counted in texts: what the index calls the same word is the same word here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.recall import question as questions
from mnemos.recall.embedders import static
from mnemos.recall.question import Matcher, Word, share_weights, understand
from mnemos.text.words import fold, index_words, stem

# Lower case: an identifier in capitals and small letters is taken to pieces by the index only.
ALPHABET = "abceikst019 +#_-.'/éßøжк数据🎉हि"


def matcher(question: str) -> Matcher:
    words = understand(question, 0.0).words
    return Matcher(words, [{} for _ in words])


def of(*words: str) -> Matcher:
    return Matcher([Word(stem(word), word, 1.0) for word in words], [{} for _ in words])


def count(word: str, text: str) -> int:
    return of(word).find(fold(text))[0].get(0, 0)


# --- counting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("migrate", "we migrated it, the migration took long"),
        ("tries", "I try and you tried"),
        ("use", "using it is used to"),
        ("lie", "lying lies"),
        ("sky", "skies and the sky"),
        ("berry", "berries or a berry"),
        ("cafe", "Café or CAFÉ"),
        ("strasse", "Straße und STRASSE"),
        ("5433", "5433, then :5433/tcp"),
        ("e0382", "E0382: E0382!"),
        ("c++", "C++ and c++."),
        ("retry", "retry_budget and retries"),
        ("数据", "数据库和数据"),
        ("кот", "Кот и кот"),
        ("हिन्दी", "हिन्दी और हिन्दी"),
        ("🎉", "🎉 so 🎉"),
        ("→", "a→b→c"),
    ],
)
def test_every_form_of_a_word_counts(word: str, text: str) -> None:
    assert count(word, text) == 2


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("5433", "5432 and 54330 and 15433"),
        ("art", "start, party, smart"),
        ("port", "report and portable"),
        ("cat", "concatenate category"),
        ("v2", "v20 or v1"),
        ("кот", "который час"),
        ("א", "אב"),
    ],
)
def test_a_word_inside_another_does_not_count(word: str, text: str) -> None:
    assert count(word, text) == 0


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("postgres", "postgres+mysql"),
        ("rock", "rock+roll"),
        ("issue", "see issue#485"),
        ("bob", "bob+work@example.com"),
        ("user", "user_name"),
        ("billing", "/srv/billing/run.py"),
        ("staging", "db.staging.internal"),
        ("o", "O'Neil"),
        ("c", "written in C++"),
        ("api", "API設計"),
        ("設計", "API設計"),
    ],
)
def test_signs_part_words(word: str, text: str) -> None:
    assert count(word, text) == 1


def test_words_that_are_not_there_are_not_among_the_counts() -> None:
    assert of("kayak", "lake").find("the lake, the lake")[0] == {1: 2}
    assert of("kayak").find("") == ({}, {})
    assert of().find("anything") == ({}, {})


def vocabulary() -> list[str]:
    tokens = static.read_asset(static.SHIPPED).vocabulary
    return [token for token in tokens if token.isascii() and token.isalnum() and len(token) > 1]


def test_no_word_of_the_models_vocabulary_is_lost() -> None:
    """A stem need not be the beginning of its word: try has the stem tri, dying the stem die."""
    words = vocabulary()
    assert len(words) > 10_000
    assert [word for word in words if count(word, f"({word}).") != 1] == []


def test_no_form_of_a_word_is_lost_in_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_SHORT", 0)
    families: dict[str, list[str]] = {}
    for word in vocabulary():
        families.setdefault(stem(word), []).append(word)
    pairs = [(asked, said) for family in families.values() for asked in family for said in family]
    assert len(pairs) > 20_000
    assert [pair for pair in pairs if count(*pair) != 1] == []


@given(st.text(ALPHABET, min_size=1, max_size=20), st.text(ALPHABET, max_size=40))
def test_what_the_index_finds_by_a_word_counts_here_too(word: str, rest: str) -> None:
    text = f"{word} {rest}"
    said, beside = index_words(text)
    known = {*said.split(), *beside.split()}
    for asked in understand(word, 0.0).words:
        if asked.stem in known:
            assert count(asked.form, text) > 0, asked


def test_a_text_is_counted_as_fast_as_it_is_read() -> None:
    """Quadratic time would take hours here."""
    blob = "ab" * 500_000
    assert of("ab", "cd").find(f"cd {blob} ab ")[0] == {0: 1, 1: 1}


# --- words that stand for others ----------------------------------------------------------------


def test_a_related_word_stands_for_one_that_is_missing() -> None:
    words = Matcher([Word("gift", "gifts", 1.0)], [{"present": 0.5, "parcel": 0.2}])
    assert words.find("a present and a parcel") == ({}, {0: 0.5})
    assert words.find("presents") == ({}, {0: 0.5})
    assert words.find("nothing") == ({}, {})


def test_the_word_itself_is_stronger_than_any_that_stands_for_it() -> None:
    words = Matcher([Word("gift", "gifts", 1.0)], [{"present": 0.5}])
    counts, strengths = words.find("two gifts, one present, a gift")
    assert counts == {0: 2}
    assert strengths == {0: 2.0}


def test_a_word_that_stands_for_two_counts_for_both() -> None:
    words = Matcher([Word("gift", "gift", 1.0), Word("present", "present", 1.0)], [{"present": 0.5}, {}])
    assert words.find("a present") == ({1: 1}, {0: 0.5, 1: 1.0})


def test_a_related_word_is_not_reported_as_a_word_of_the_question() -> None:
    assert Matcher([Word("gift", "gifts", 1.0)], [{"present": 0.5}]).forms("a present") == []


@pytest.mark.parametrize("word", ["gift", "car", "physician", "kayak", "京都", "", "zzzzqqq", "a\tb"])
def test_related_words_are_a_little_less_than_the_word(word: str) -> None:
    assert all(0 < strength < 1 for strength in questions.find_related(word).values())
    assert stem(word) not in questions.find_related(word)


def test_common_words_have_related_ones() -> None:
    assert "car" in questions.find_related("vehicle") or "vehicl" in questions.find_related("car")


@pytest.mark.parametrize(
    "damage", [None, b"", b"kayak", b"kayak\tboat", b"kayak\tboat:\xff\n", b"kayak\t\n", b"kayak\ta:b:c\n"]
)
def test_a_missing_or_damaged_table_of_related_words_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    table = tmp_path / "related.txt"
    if damage is not None:
        table.write_bytes(damage)
    monkeypatch.setattr(questions, "RELATED", table)
    questions.find_related.cache_clear()
    try:
        assert questions.find_related("kayak") == {}
    finally:
        questions.find_related.cache_clear()


# --- reasons -----------------------------------------------------------------------------


def test_words_are_reported_as_the_text_has_them_each_once() -> None:
    words = matcher("migrate databases")
    assert words.forms(fold("Migrated the DATABASE, migrating the database")) == ["migrated", "database"]


def test_a_word_that_the_text_lacks_is_not_reported() -> None:
    assert matcher("cat port 5433").forms("category report 5432") == []


@given(st.text(max_size=40), st.text(max_size=200))
def test_reported_words_are_in_the_text(question: str, text: str) -> None:
    folded = fold(text)
    assert all(form in folded for form in matcher(question).forms(folded))


# --- shares -----------------------------------------------------------------------------------


def test_shares_are_parts_of_one() -> None:
    assert share_weights([1.0, 3.0]) == (0.25, 0.75)


def test_words_that_weigh_nothing_have_no_share() -> None:
    assert share_weights([0.0, 0.0]) == (0.0, 0.0)
    assert share_weights([]) == ()


@pytest.mark.parametrize("text", ["i won't stop there", "he won’t come", "we can't and won't"])
def test_a_word_cut_from_a_negation_is_not_found(text: str) -> None:
    words = understand("what have we won?", 0.0).words
    matcher = Matcher(words, [{}] * len(words))
    assert matcher.find(text) == ({}, {})
    assert matcher.forms(text) == []
    assert matcher.forms(f"{text} until they won") == ["won"]
