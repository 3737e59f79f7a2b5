"""Private sessions, disabled memory and secrets are not written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

import mnemos
from mnemos import SessionDB
from mnemos.errors import Disabled, MnemosError, NotFound
from mnemos.testing import FixedClock

OpenDB = Callable[..., SessionDB]

# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "aB3dE6gH9j" * 4
KEY = "sk-" + "proj-" + "aB3dE6gH9jKlMnOp" * 3
PASSWORD = "hunter2" + "horse9"
PRIVATE_KEY = (
    "-----BEGIN RSA "
    + "PRIVATE KEY-----\n"
    + "MIIEowIBAAKCAQEAabcdefghijklmnop0123456789\n" * 3
    + "-----END RSA "
) + "PRIVATE KEY-----"


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# --- private sessions ---------------------------------------------------------------------------


def test_a_private_session_is_never_written(open_db: OpenDB, tmp_path: Path) -> None:
    db = open_db()
    assert db.create_session("hush", "cli", title="hushtitle", private=True) == "hush"
    assert db.append_message("hush", "user", "hushcontent") == 0
    assert db.append_messages("hush", [{"role": "user", "content": "hushcontent"}] * 2) == [0, 0]
    db.update_system_prompt("hush", "hushprompt")
    db.update_metadata("hush", {"hushkey": "hushvalue"})
    db.set_title("hush", "hushtitle")
    db.update_token_counts("hush", 1, 1)
    db.archive("hush")
    db.end_session("hush", "hushend")
    assert db.get_session("hush") is None
    assert (db.session_count(archived=None), db.message_count()) == (0, 0)
    assert db.search_messages("hushcontent") == []
    assert db.delete_session("hush") is False
    with pytest.raises(NotFound):
        db.get_messages("hush")
    db.close()
    assert b"hush" not in everything_in(tmp_path)


def test_ensuring_a_private_session_writes_nothing(db: SessionDB) -> None:
    assert db.ensure_session("hush", "cli", private=True) == "hush"
    assert db.append_message("hush", "user", "x") == 0
    assert db.session_count() == 0


def test_other_sessions_are_written_beside_a_private_one(db: SessionDB) -> None:
    db.create_session("hush", "cli", private=True)
    db.create_session("s", "cli")
    assert db.append_message("s", "user", "parrot") > 0
    assert len(db.search_messages("parrot")) == 1


def test_a_private_message_is_checked_all_the_same(db: SessionDB) -> None:
    db.create_session("hush", "cli", private=True)
    with pytest.raises(MnemosError):
        db.append_message("hush", "", "x")


# --- switched off -------------------------------------------------------------------------------


@pytest.fixture
def off(open_db: OpenDB, monkeypatch: pytest.MonkeyPatch) -> SessionDB:
    """A store with one session in it, opened again with memory switched off."""
    db = open_db()
    db.create_session("s", "cli", title="kept")
    db.append_message("s", "user", "parrot")
    db.end_session("s", "done")
    db.close()
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    return open_db()


def test_switched_off_memory_writes_nothing(off: SessionDB, clock: FixedClock) -> None:
    before = list(off.export_all())
    (own,) = [message["id"] for message in off.get_messages("s")]
    clock.advance(86_400.0 * 365)
    assert off.create_session("new", "cli") == "new"
    assert off.ensure_session("newer", "cli") == "newer"
    assert off.append_message("s", "user", "pigeon") == 0
    assert off.append_messages("new", [{"role": "user", "content": "pigeon"}]) == [0]
    off.reopen_session("s")
    off.end_session("s", "again")
    off.update_system_prompt("s", "prompt")
    off.update_metadata("s", {"a": 1})
    off.update_token_counts("s", 1, 1)
    off.set_title("s", "changed")
    off.archive("s")
    off.unarchive("s")
    assert off.delete_session("s") is False
    assert off.prune_sessions(1) == 0
    assert off.import_sessions([{"id": "imported"}])["imported"] == []
    off.optimize()
    for forget in (lambda: off.forget_message(own), lambda: off.forget_session("s")):
        with pytest.raises(Disabled):
            forget()
    assert list(off.export_all()) == before
    assert off.search_messages("pigeon") == []


def test_switched_off_memory_still_reads(off: SessionDB) -> None:
    assert [hit["session_id"] for hit in off.search_messages("parrot")] == ["s"]
    assert len(off.get_messages("s")) == 1


def test_switched_off_memory_says_so(
    open_db: OpenDB, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    with caplog.at_level(logging.WARNING, logger="mnemos"):
        db = open_db()
    assert "MNEMOS_DISABLED" in caplog.text
    assert db.import_sessions([{"id": "x"}])["disabled"] is True


def test_switched_off_memory_neither_forgets_nor_undoes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.set_title("s", "Title")
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    with mnemos.open(home) as memory:
        with pytest.raises(Disabled) as caught:
            memory.undo()
        assert caught.value.code == "disabled"
        with pytest.raises(Disabled):
            memory.forget("session:s")
        session = memory.sessions.get_session("s")
        assert session is not None
        assert session["title"] == "Title"


# --- secrets ------------------------------------------------------------------------------------


def test_secrets_are_taken_out_before_anything_is_stored(open_db: OpenDB, tmp_path: Path) -> None:
    db = open_db()
    url = f"postgresql://app:{PASSWORD}@db.example/prod"
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "run", "arguments": f'{{"token": "{TOKEN}"}}'},
    }
    db.create_session(
        "s",
        "cli",
        model_config={"api_key": KEY},
        system_prompt=f"use {TOKEN}",
        title=f"about {TOKEN}",
        metadata={"url": url},
    )
    db.append_messages(
        "s",
        [
            {"role": "user", "content": f"my token is {TOKEN}, ok?"},
            {"role": "user", "content": [{"type": "text", "text": f"connect to {url}"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": PRIVATE_KEY, "tool_call_id": "c1", "metadata": {"key": KEY}},
            {"role": "user", "content": [{"type": "text", "text": PRIVATE_KEY}]},
        ],
    )
    db.update_system_prompt("s", f"rather {KEY}")
    db.update_metadata("s", {"token": TOKEN})
    db.set_title("s", f"now {TOKEN}")
    db.import_sessions([{"id": "i", "title": TOKEN, "messages": [{"role": "user", "content": url}]}])
    messages = db.get_messages("s")
    assert messages[0]["content"].startswith("my token is [redacted: ")
    assert messages[0]["content"].endswith("], ok?")
    assert messages[1]["content"][0]["type"] == "text"
    assert messages[2]["tool_calls"][0]["function"]["name"] == "run"
    assert messages[3]["metadata"].keys() == {"key"}
    db.delete_session("s")
    db.close()
    stored = everything_in(tmp_path)
    for secret in (TOKEN, KEY, PASSWORD, "MIIEowIBAAKCAQEA"):
        assert secret.encode() not in stored, secret


def test_words_beside_a_secret_are_found_and_the_secret_is_not(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", f"the deploy token is {TOKEN}")
    assert len(db.search_messages("deploy token")) == 1
    assert db.search_messages(TOKEN) == []


def test_redaction_can_be_switched_off(open_db: OpenDB) -> None:
    db = open_db(redact=False)
    db.create_session("s", "cli")
    db.append_message("s", "user", TOKEN)
    assert db.get_messages("s")[0]["content"] == TOKEN


def test_redaction_is_on_unless_it_is_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOS_REDACT", "0")
    with SessionDB(tmp_path / "x.db") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", TOKEN)
        assert db.get_messages("s")[0]["content"] == TOKEN
