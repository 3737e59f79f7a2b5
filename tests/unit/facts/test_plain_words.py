"""Plain sentences become facts without loss, and a guess replaces nothing else."""

from __future__ import annotations

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, Refused
from mnemos.facts.facts import Facts


def said(facts: Facts) -> list[str]:
    return [fact.content for fact in facts.list()]


@pytest.mark.parametrize(
    "text", ["", " \n", "\0", "\u200b", "\u202e\u2066", "\u200d \u200d", "\u2003\ufeff", "\ud800"]
)
def test_an_invisible_text_is_refused(facts: Facts, text: str) -> None:
    with pytest.raises(InvalidInput):
        facts.remember(text)
    assert said(facts) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Le prix est de 9\u00a0000\u00a0€", "Le prix est de 9 000 €"),
        ("会議は\u3000火曜日です", "会議は 火曜日です"),
        ("The team is 👨\u200d👩\u200d👧", "The team is 👨\u200d👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        (
            "the shaking face \U0001fae8 and the logo \uf8ff",
            "the shaking face \U0001fae8 and the logo \uf8ff",
        ),
        ("Donau\u00addampfer fahren", "Donaudampfer fahren"),
        ("one\x00two\u2028three", "one two three"),
    ],
)
def test_words_are_neither_glued_together_nor_torn_apart(facts: Facts, text: str, kept: str) -> None:
    facts.remember(text)
    assert said(facts) == [kept]


def test_signs_without_a_word_replace_nothing_else(facts: Facts) -> None:
    for text in ("👍", "👎", "👍"):
        facts.remember(text)
    assert said(facts) == ["👍", "👎"]


def test_a_target_left_empty_is_guessed(facts: Facts) -> None:
    facts.remember("The staging database listens on port 5433", target="")
    facts.remember("Staging database: port scans come from an office every night at two", target="")
    facts.remember("D[auth]: JWT", target="")
    assert said(facts) == [
        "The staging database listens on port 5433",
        "Staging database: port scans come from an office every night at two",
        "JWT",
    ]


TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


def everything(memory: Memory) -> str:
    facts = list(memory.facts.list())
    return " ".join(
        [*map(str, facts), *(fact.scope or "" for fact in facts), memory.facts.status().text]
    ).lower()


@pytest.mark.parametrize(
    "text", ["{} is our token", "token {}", "The database is postgres://bob:{}@db.example.com/x"]
)
def test_a_guessed_target_is_not_made_of_a_secret(facts: Facts, memory: Memory, text: str) -> None:
    facts.remember(text.format(TOKEN))
    assert "[redacted" in said(facts)[0]
    assert TOKEN[4:].lower() not in everything(memory)
    assert not facts.search(TOKEN) or TOKEN[4:].lower() not in str(facts.search(TOKEN)[0])


def test_a_target_or_a_scope_that_holds_a_secret_is_refused(facts: Facts, memory: Memory) -> None:
    for content, scope in ((f"V[{TOKEN}]: the token", None), ("V[a]: b", TOKEN)):
        with pytest.raises(Refused) as raised:
            facts.write(content, scope=scope)
        assert TOKEN not in str(raised.value)
    assert said(facts) == []
