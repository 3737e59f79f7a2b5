"""``mnemos tokens``: shown once, listed without secrets, revoked."""

from __future__ import annotations

from pathlib import Path

from .conftest import Mnemos


def test_a_token_is_shown_once(mnemos: Mnemos, home: Path) -> None:
    where = ("--home", str(home))
    made = mnemos(
        "tokens", "create", "编辑器 ✏️", "--scope", "write", "--space", "work", "--json", *where
    ).json
    text = made["token"]
    assert (made["scope"], made["space"], made["expires_at"]) == ("write", "work", None)
    listed = mnemos("tokens", "list", "--json", *where)
    (one,) = listed.json["tokens"]
    assert one == {key: value for key, value in made.items() if key != "token"}
    plain = mnemos("tokens", "list", *where)
    assert made["id"] in plain.out
    for answer in (listed, plain):
        assert text[13:] not in answer.out
        assert "sha256" not in answer.out


def test_a_revoked_token_is_gone(mnemos: Mnemos, home: Path) -> None:
    where = ("--home", str(home))
    made = mnemos("tokens", "create", "editor", "--days", "0.5", "--json", *where).json
    assert made["expires_at"] - made["created_at"] == 43_200
    assert mnemos("tokens", "revoke", made["id"], *where).code == 0
    assert mnemos("tokens", "list", "--json", *where).json == {"tokens": []}
    assert mnemos("tokens", "revoke", made["id"], *where).code == 3


def test_what_cannot_be_a_token_is_refused(mnemos: Mnemos, home: Path) -> None:
    where = ("--home", str(home))
    for words in (
        ("create",),
        ("create", "x", "--scope", "local"),
        ("create", "x", "--days", "0"),
        ("create", "x", "--days", "nan"),
        ("create", "x", "--operations", "recal"),
        ("create", "a\0b"),
    ):
        assert mnemos("tokens", *words, *where).code == 2, words
    assert not home.exists()


def test_no_tool_makes_tokens() -> None:
    from mnemos.operations.index import BY_NAME

    assert [name for name in BY_NAME if "token" in name] == []
