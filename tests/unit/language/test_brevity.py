"""Shorter wording: how much it saves, and what it never touches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemos.language.brevity import shorten
from mnemos.memory.optimize import abbreviate

DATA = Path(__file__).parents[2] / "data" / "brevity"
WORDS = {
    "configuration": "cfg",
    "database": "db",
    "production": "prod",
    "environment": "env",
    "server": "srv",
}
NEGATION = re.compile(r"\b(?:not|no|never|without|cannot|only|nobody|nothing)\b|n't", re.IGNORECASE)


def read(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").strip().split("\n§\n")


@pytest.mark.parametrize(
    ("name", "least"), [("technical.txt", 0.46), ("padded.txt", 0.40), ("plain.txt", 0.20)]
)
def test_verbose_notes_become_much_shorter(name: str, least: float) -> None:
    notes = read(name)
    short = [abbreviate(note) for note in notes]
    assert 1 - sum(map(len, short)) / sum(map(len, notes)) >= least


@pytest.mark.parametrize(
    ("note", "short"),
    [
        ("Please note that the server is in Berlin.", "srv is in Berlin."),
        ("The tests fail due to the fact that the disk is full.", "tests fail because disk is full."),
        ("It is basically a cache of the results.", "It is cache of results."),
        ("In fact, it is, of course, the one that we use.", "it is, one that we use."),
        ("use the .env file of the server", "use .env file of srv"),
    ],
)
def test_fillers_and_articles_are_dropped(note: str, short: str) -> None:
    assert shorten(note, WORDS) == short


@pytest.mark.parametrize(
    "kept",
    [
        "a few days",
        "once a day",
        "option a is",
        "plan a for",
        "The Hague",
        "must be able to",
        "do not have to",
        "don't have to",
        "Nobody has to",
        "is not really",
        "is asked to",
        "Decide which is used",
        "What the default is depends",
    ],
)
def test_words_that_carry_meaning_stay(kept: str) -> None:
    wanted = kept.replace("the ", "")
    assert shorten(f"{kept} on the way to it", WORDS).startswith(wanted)


@pytest.mark.parametrize(
    "note",
    [
        "Bitte beachte, dass die configuration an einem anderen Server liegt und die Backups laufen.",
        "Der Nutzer arbeitet an a und b, die database ist an der Wand.",
        "L'utilisateur a une table dans la cuisine et il a un message pour le client de production.",
        "Il ne faut pas toucher à la configuration de la production, sauf le lundi.",
        "El usuario va a casa y la base de datos de production está en Madrid.",
        "No usar la configuration antigua; con el server nuevo y los datos.",
        "数据库在生产环境 the",
        "",
        "\0",
        "🎉",
        "\ue000 the end of the day",
    ],
)
def test_other_languages_stay_as_they_are(note: str) -> None:
    assert shorten(note, WORDS) == note


def test_each_sentence_is_judged_by_its_own_language() -> None:
    german = "Die Konfiguration der Datenbank ist in der Datei."
    note = f"{german} The configuration of the database is in the file."
    assert shorten(note, WORDS) == f"{german} cfg of db is in file."


PIECES = st.sampled_from(
    [
        "the", "a", "an", "in order to", "due to the fact that", "please note that", "has to", "is able to",
        "is", "are", "that is", "and", "with", "not", "never", "without", "nobody", "don't", "cannot", "only",
        "database", "production", "server", "users", "of", "to", ",", ".", ";", "\n", "5433", "https://a.b/the/a",
        "`the database is a`", '"the user is not a"', "/etc/the/a", "The", "Berlin", "at all", "really",
        "x=1",
        "under no circumstances", "in question", "of course", "however,", "die", "la", "であり", "🎉", ".env",
    ]
)  # fmt: skip
FIXED = re.compile(
    r"https://a\.b/the/a|`the database is a`|\"the user is not a\"|/etc/the/a|5433|x=1|\.env|🎉"
)


@given(st.lists(PIECES, max_size=25).map(" ".join))
@settings(max_examples=150)
def test_negations_numbers_addresses_and_quotations_survive(note: str) -> None:
    short = shorten(note, WORDS)
    assert len(short) <= len(note)
    assert shorten(short, WORDS) == short
    assert len(NEGATION.findall(short)) == len(NEGATION.findall(note))
    assert FIXED.findall(short) == FIXED.findall(note)
