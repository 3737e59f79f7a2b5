"""Tokens for clients over HTTP: how they are kept, and what they allow."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mnemos.errors import MnemosError
from mnemos.faces.http.scopes import check_allowed, find_needed_scope
from mnemos.memory.access_tokens import (
    LIST,
    OWNER,
    Doorkeeper,
    Grant,
    Scope,
    create_token,
    list_tokens,
    load_owner_token,
    note_use,
    revoke_token,
)
from mnemos.operations import registry
from mnemos.settings import Settings
from mnemos.testing import FixedClock
from mnemos.text.secrets import redact

NOW = 1_767_225_600.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def create(settings: Settings, name: str = "editor", scope: str = "read", **more: object) -> str:
    return create_token(settings, name, scope, now=NOW, **more)[1]  # type: ignore[arg-type]


def test_a_token_is_kept_as_a_hash_in_a_file_that_only_its_owner_reads(settings: Settings) -> None:
    token, text = create_token(settings, "editor", "write", days=2, now=NOW)
    file = settings.home / LIST
    assert text.startswith(f"mnm_{token.id}_")
    assert text[13:] not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert list_tokens(settings) == [token]
    assert (token.space, token.scope, token.expires_at) == ("default", "write", NOW + 2 * 86_400)


def test_a_token_is_redacted_wherever_it_is_written(settings: Settings) -> None:
    text = create(settings)
    assert text[13:] not in redact(f"use {text} for it")


def test_a_token_is_admitted_to_its_space_with_its_scope(settings: Settings) -> None:
    text = create(replace(settings, space="team/a"), scope="admin", operations="recall,facts")
    (kept,) = list_tokens(settings)
    grant = Doorkeeper(settings).admit(text.encode())
    assert grant == Grant(kept.id, "team/a", Scope.ADMIN, "recall,facts", "editor")


def test_the_owner_may_do_everything_in_the_space_of_the_server(settings: Settings) -> None:
    owner = load_owner_token(settings).encode()
    there = replace(settings, space="team/b")
    assert Doorkeeper(there).admit(owner) == Grant(OWNER, "team/b", Scope.LOCAL)


def test_an_expired_token_is_refused(settings: Settings) -> None:
    text = create(settings, days=1).encode()
    clock = FixedClock(NOW + 86_399)
    keeper = Doorkeeper(settings, clock)
    assert keeper.admit(text) is not None
    clock.now = NOW + 86_400
    assert keeper.admit(text) is None


def test_a_token_counts_from_its_creation_to_its_revocation(settings: Settings) -> None:
    keeper = Doorkeeper(settings)
    text, other = create(settings), create(settings, "other")
    assert keeper.admit(text.encode()) is not None
    revoked = revoke_token(settings, text[4:12])
    assert revoked.name == "editor"
    assert keeper.admit(text.encode()) is None
    assert keeper.admit(other.encode()) is not None
    with pytest.raises(MnemosError) as raised:
        revoke_token(settings, text[4:12])
    assert raised.value.code == "not_found"


def test_nothing_that_is_nearly_a_token_is_admitted(settings: Settings) -> None:
    text, other = create(settings), create(settings)
    keeper = Doorkeeper(settings)
    wrong = [
        *("", "mnm_", text[:-1], text + "x", text.upper(), text[4:], "mnm_" + text[13:], text[:13]),
        *(text[:13] + other[13:], text[:13] + "a" * 43, "mnm_00000000_" + text[13:], f"{text}\0", " " + text),
        list_tokens(settings)[0].sha256,
    ]
    assert [one for one in wrong if keeper.admit(one.encode())] == []
    assert keeper.admit("é".encode() * 56) is None


def test_tokens_that_are_created_at_once_are_all_kept(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda number: create(settings, f"n{number}"), range(20)))
    keeper = Doorkeeper(settings)
    assert len(list_tokens(settings)) == 20
    assert all(keeper.admit(text.encode()) for text in texts)


@pytest.mark.parametrize("spoiled", ["{", "[]", '{"tokens": [1]}', "", "\0"])
def test_of_a_damaged_list_only_the_owner_is_admitted(settings: Settings, spoiled: str) -> None:
    text = create(settings)
    file = settings.home / LIST
    file.write_text(spoiled)
    keeper = Doorkeeper(settings)
    assert keeper.admit(text.encode()) is None
    assert keeper.admit(load_owner_token(settings).encode()) is not None
    with pytest.raises(MnemosError) as raised:
        create(settings)
    assert raised.value.code == "permission_denied"
    assert file.read_text() == spoiled


def test_a_list_that_others_could_have_changed_is_not_used(settings: Settings) -> None:
    text = create(settings)
    (settings.home / LIST).chmod(0o622)
    assert Doorkeeper(settings).admit(text.encode()) is None
    (settings.home / LIST).rename(settings.home / "elsewhere")
    (settings.home / "elsewhere").chmod(0o600)
    (settings.home / LIST).symlink_to("elsewhere")
    assert Doorkeeper(settings).admit(text.encode()) is None


def test_a_disabled_memory_creates_and_revokes_nothing(settings: Settings) -> None:
    off = replace(settings, disabled=True)
    for call in (lambda: create(off), lambda: revoke_token(off, "x")):
        with pytest.raises(MnemosError) as raised:
            call()
        assert raised.value.code == "disabled"
    assert not settings.home.exists()


@pytest.mark.parametrize(
    ("name", "scope"), [("", "read"), ("a\nb", "read"), ("x" * 600, "read"), ("x", "local")]
)
def test_a_name_or_scope_that_is_not_valid_is_refused(settings: Settings, name: str, scope: str) -> None:
    with pytest.raises(MnemosError):
        create(settings, name, scope)


@pytest.mark.parametrize(
    ("name", "arguments", "scope"),
    [
        ("recall", {"query": "x"}, Scope.READ),
        ("doctor", {}, Scope.READ),
        ("doctor", {"repair": True}, Scope.WRITE),
        ("remember", {"text": "x"}, Scope.WRITE),
        ("sessions_delete", {"session": "x"}, Scope.ADMIN),
        ("sessions_prune", {"older_than_days": 1, "dry_run": True}, Scope.READ),
        ("forget", {"ref": "fact:f1"}, Scope.ADMIN),
        ("undo", {}, Scope.ADMIN),
        ("memory", {"action": "add", "content": "x"}, Scope.WRITE),
        ("memory", {"action": "remove", "old_text": "x"}, Scope.ADMIN),
        ("memory", {"operations": [{"action": "add"}, {"action": "remove"}]}, Scope.ADMIN),
        ("memory_backend", {"action": "store"}, Scope.WRITE),
        ("memory_backend", {"action": "delete"}, Scope.ADMIN),
        ("sqlite_query", {"query": "INSERT INTO t VALUES ('DROP TABLE x'); UPDATE t SET a = 1"}, Scope.WRITE),
        ("sqlite_query", {"query": 'CREATE TABLE "drop" (x REFERENCES y ON DELETE CASCADE)'}, Scope.WRITE),
        ("sqlite_query", {"query": "DELETE FROM t"}, Scope.ADMIN),
        ("sqlite_query", {"query": "DROP TABLE t", "read_only": True}, Scope.READ),
        ("sqlite_restore", {}, Scope.ADMIN),
        ("backup", {"path": "x"}, Scope.LOCAL),
        ("sqlite_export", {"path": "x", "query": "SELECT 1"}, Scope.LOCAL),
    ],
)
def test_the_scope_follows_from_the_operation_and_its_input(
    name: str, arguments: dict[str, object], scope: Scope
) -> None:
    operation = registry.read(name, arguments)
    assert find_needed_scope(operation) is scope
    for given in Scope:
        if given >= scope:
            check_allowed(Grant("t", "default", given), name, operation)
            continue
        with pytest.raises(MnemosError) as raised:
            check_allowed(Grant("t", "default", given), name, operation)
        assert raised.value.code == "not_allowed"


def test_a_token_for_some_operations_is_refused_others() -> None:
    grant = Grant("t", "default", Scope.LOCAL, "recall,sessions_list")
    check_allowed(grant, "recall", registry.read("recall", {"query": "x"}))
    check_allowed(grant, "sessions_list", registry.read("sessions_list", {}))
    with pytest.raises(MnemosError):
        check_allowed(grant, "sessions_show", registry.read("sessions_show", {"session": "x"}))


def test_the_day_of_the_last_use_is_stored(settings: Settings) -> None:
    token, _ = create_token(settings, "phone", "read", now=0.0)
    other, _ = create_token(settings, "watch", "read", now=0.0)
    note_use(settings, token.id, "2026-11-18")
    note_use(settings, "gone", "2026-11-18")
    assert {one.id: one.last_used for one in list_tokens(settings)} == {token.id: "2026-11-18", other.id: ""}


def test_a_doorkeeper_notes_the_first_use_of_a_day(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    monkeypatch.setattr("mnemos.memory.access_tokens.note_use", lambda _, token_id, day: noted.append(day))
    _, text = create_token(settings, "phone", "read", now=0.0)
    clock = FixedClock(0.0)
    doorkeeper = Doorkeeper(settings, clock)
    for now in (0.0, 1.0, 86_399.0, 86_400.0):
        clock.now = now
        assert doorkeeper.admit(text.encode()) is not None
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(10)
    assert noted == ["1970-01-01", "1970-01-02"]
