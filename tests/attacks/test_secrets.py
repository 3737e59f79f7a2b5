"""Secrets: known tokens in every disguise, and code and prose that only look like them."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Callable

import pytest

from mnemos.text.secret_tokens import _KINDS
from mnemos.text.secrets import find_secrets, redact

Attempts = Callable[[int], None]

# Their tokens have digits in their shape.
NUMERIC = {"Databricks token", "Mailgun key", "Pulumi token", "Artifactory key"}
# Random and of the right length, put together here: no scanner takes this file for a leak.
CHANCE = random.Random(19)


def draw(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(CHANCE.choices(letters, k=length))


def test_a_known_beginning_is_enough_when_the_rest_has_no_digit(attempts: Attempts) -> None:
    tokens = []
    for kind, least, prefixes in _KINDS:
        length = {"AWS access key": 20, "Square token": 64, "Google API key": 39}.get(kind, least + 4)
        alphabet = string.ascii_uppercase if kind.startswith("AWS") else string.ascii_letters
        for prefix in prefixes.split() if kind not in NUMERIC else ():
            tail = draw(length - len(prefix), alphabet)
            if kind in ("SendGrid key", "Dynatrace token"):
                tail = f"{tail[:22]}.{tail[23:65]}{draw(64, alphabet) if kind[0] == 'D' else ''}"
            tokens += [f"it is {prefix}{tail}", f"{prefix}{tail}"] * 2
    attempts(len(tokens))
    missed = [token for token in tokens if not find_secrets(token)]
    # One in two hundred random rows of letters reads like words.
    assert len(missed) <= len(tokens) // 100


HIDDEN = [
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e", "\u2063", "\u202e"),
    *("\u2066", "\ufe0f", "\U000e0041", "\u200b\u200b\u2060", "\\u200b", "\\\\u200b"),
]
SPLIT = [
    ("use {} now", "gh" + "p_" + draw(36)),
    ("{}", "AK" + "IA" + draw(16, string.ascii_uppercase + "234567")),
    ("password: {}", "hun" + draw(4) + "ter2"),
    ("Authorization: Bearer {}", draw(40)),
    ("postgres://app:{}@db/shop", "s3same" + draw(6)),
    ("das Passwort lautet {}", "Kiefer" + draw(4) + "7x"),
    ("{}", "h" + "f_" + draw(34, string.ascii_letters)),
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_hidden_characters_do_not_split_a_secret(hidden: str, attempts: Attempts) -> None:
    attempts(len(SPLIT) * 3)
    for text, secret in SPLIT:
        for step in (1, 3, len(secret) // 2):
            pieces = [secret[at : at + step] for at in range(0, len(secret), step)]
            clean = redact(text.format(hidden.join(pieces)))
            assert "[redacted: " in clean
            assert not any(piece in clean for piece in pieces if len(piece) > 2)


def test_a_hidden_character_in_the_name_does_not_help_either(attempts: Attempts) -> None:
    names = ["password", "api_key", "token", "client_secret", "Passwort"]
    attempts(len(names))
    for name in names:
        value = draw(12) + "4x"
        assert value not in redact(f"{name[:3]}\u200b{name[3:]}: {value}")


SCRAPS = [
    *(
        "password for a b c ",
        "xoxb-a.password=glpat-a1.",
        "cookie: sid=",
        "jsessionid=",
        "a1\u200b",
        "\\u200b",
    ),
    *("://" + "a" * 130, "eyJhdXRoc", 'password="' + '\\"' * 4000, "password:a.b.c.", "mysql a a a -p "),
]


@pytest.mark.parametrize("scrap", SCRAPS)
def test_a_hostile_megabyte_is_read_in_linear_time(scrap: str) -> None:
    spent = []
    for size in (125_000, 1_000_000):
        text = "1 " + scrap * (size // len(scrap)) + "\n| password=hunter2"
        before = time.process_time()
        assert redact(text).endswith("password=[redacted: password]")
        spent.append(time.process_time() - before)
    # Eight times the text; quadratic would be sixty-four times.
    assert spent[1] < 24 * spent[0] + 0.2
