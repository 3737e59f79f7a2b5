"""Entries found by a query, and their order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemos import LocalBackend
from mnemos.errors import InvalidInput

ENTRIES = {
    "pref_python": "uses ruff and mypy",
    "pref_editor": "vim with dark colours",
    "theme": "solarized",
    "drink": "espresso, 100% arabica",
    "city": "Zürich, near the lake",
    "名前": "東京都に住む",
    "getUserName": "C++ and C# code",
}


@pytest.fixture(params=["fresh", "indexed"])
def alice(request: pytest.FixtureRequest, local: LocalBackend) -> LocalBackend:
    for key, value in ENTRIES.items():
        local.store("alice", key, value)
    local.store("bob", "pref_shell", "zsh, espresso at night")
    if request.param == "indexed":
        assert local.entries.settle()
    return local


def found(backend: LocalBackend, question: str, limit: int = 10) -> list[str]:
    return [one.key for one in backend.query("alice", question, limit) if one.match == "words"]


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("pref", {"pref_python", "pref_editor"}),
        ("PREF_", {"pref_python", "pref_editor"}),
        ("python", {"pref_python"}),
        ("using", {"pref_python"}),
        ("colour", {"pref_editor"}),
        ("solar", {"theme"}),
        ("lariz", {"theme"}),
        ("zurich", {"city"}),
        ("lakes", {"city"}),
        ("東京", {"名前"}),
        ("京都", {"名前"}),
        ("username", {"getUserName"}),
        ("c++", {"getUserName"}),
        ("%", {"drink"}),
        ("100%", {"drink"}),
        ("_", {"pref_python", "pref_editor"}),
        ("qqq", set()),
        ("", set()),
        ("   ", set()),
    ],
)
def test_a_query_finds_entries_that_share_a_word_a_stem_or_a_part(
    alice: LocalBackend, question: str, keys: set[str]
) -> None:
    assert set(found(alice, question)) == keys


def test_the_key_itself_comes_first(local: LocalBackend) -> None:
    local.store("alice", "theme", "dark")
    local.store("alice", "theme_of_the_phone", "theme theme theme")
    local.store("alice", "note", "the theme of the talk")
    assert found(local, "theme")[0] == "theme"


def test_entries_with_more_of_the_words_come_first(local: LocalBackend) -> None:
    local.store("alice", "a", "red apples")
    local.store("alice", "b", "red apples and green pears")
    local.store("alice", "c", "blue plums")
    for _ in range(2):
        assert found(local, "red apples with green pears")[0] == "b"
        local.entries.settle()


def test_entries_only_similar_in_meaning_come_last_and_are_marked(local: LocalBackend) -> None:
    local.store("alice", "pet", "a beagle")
    local.store("alice", "commute", "an animal clinic on the way")
    local.store("alice", "formatter", "gofmt")
    for _ in range(2):
        entries = local.query("alice", "which animal lives with them?")
        assert [(one.key, one.match) for one in entries] == [("commute", "words"), ("pet", "semantic")]
        local.entries.settle()


def test_without_an_embedder_only_words_count(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path / "x.db", embedder="none")
    backend.store("alice", "pet", "a beagle")
    assert backend.query("alice", "which animal lives with them?") == []
    assert [one.key for one in backend.query("alice", "beagles")] == ["pet"]
    backend.entries.settle()
    assert [one.key for one in backend.query("alice", "beagles")] == ["pet"]
    backend.close()


def test_an_updated_entry_is_not_found_by_its_old_value(local: LocalBackend) -> None:
    local.store("alice", "theme", "solarized")
    local.entries.settle()
    local.store("alice", "theme", "gruvbox")
    for _ in range(2):
        assert found(local, "solarized") == []
        assert found(local, "gruvbox") == ["theme"]
        local.entries.settle()


def test_many_fresh_entries_are_all_found(local: LocalBackend) -> None:
    for n in range(70):
        local.store("alice", f"key_{n}", f"token{n} shared")
    assert found(local, "token69") == ["key_69"]
    assert len(found(local, "shared", 200)) == 70


def test_a_word_that_everything_has_finds_the_newest_and_rarer_ones_decide(local: LocalBackend) -> None:
    for n in range(450):
        local.store("alice", f"key_{n}", "common words here" + (" unicorn" if n == 3 else ""))
    local.entries.settle()
    assert found(local, "common unicorn")[0] == "key_3"
    assert len(found(local, "common", 50)) == 50


@pytest.mark.parametrize("limit", [0, -1, 201, True, 1.5, "3"])
def test_an_invalid_limit_is_refused(local: LocalBackend, limit: object) -> None:
    with pytest.raises(InvalidInput):
        local.query("alice", "x", limit)  # type: ignore[arg-type]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=40))
def test_no_question_is_an_error_and_none_shows_somebody_elses(alice: LocalBackend, question: str) -> None:
    entries = alice.query("alice", question)
    assert all(ENTRIES.get(one.key) == one.value and one.user_id == "alice" for one in entries)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_part_of_a_word_of_three_letters_finds_its_entry(
    alice: LocalBackend, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(["theme", "drink", "city"]))
    start = data.draw(st.integers(0, len(key) - 3))
    end = data.draw(st.integers(start + 3, len(key)))
    assert key in found(alice, key[start:end])
