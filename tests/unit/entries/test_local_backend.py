"""Entries of the local backend."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemos import LocalBackend
from mnemos.entries import MemoryEntry
from mnemos.errors import Disabled, InvalidInput, MnemosError, TooLarge
from mnemos.memory import Memory
from mnemos.testing import FixedClock

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)
names = texts.filter(str.strip)


def test_name_and_location_are_local(local: LocalBackend, tmp_path: Path) -> None:
    assert (local.backend_name, local.is_cloud, local.is_available()) == ("local (SQLite)", False, True)
    assert local.location == str(tmp_path / "entries.db")
    assert not local.needs_api_key


def test_an_entry_comes_back_with_its_times_and_metadata(local: LocalBackend, clock: FixedClock) -> None:
    made = clock()
    assert local.store("alice", "theme", "dark", {"source": "chat", "deep": [{"a": None}]}) is True
    clock.now += 60
    assert local.store("alice", "theme", "light", {"source": "form"}) is True
    entry = local.retrieve("alice", "theme")
    assert entry == MemoryEntry("theme", "light", "alice", made, made + 60, {"source": "form"})


def test_a_missing_entry_is_none_and_deleting_it_is_false(local: LocalBackend) -> None:
    assert local.retrieve("alice", "theme") is None
    assert local.delete("alice", "theme") is False
    assert local.list_keys("alice") == []
    local.store("alice", "theme", "dark")
    assert local.delete("alice", "theme") is True
    assert local.delete("alice", "theme") is False
    assert local.query("alice", "theme") == []


def test_keys_come_the_most_recently_updated_first(local: LocalBackend, clock: FixedClock) -> None:
    for key in ("a", "b", "c", "a"):
        clock.now += 1
        local.store("alice", key, "x")
    assert local.list_keys("alice") == ["a", "c", "b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(user=st.sampled_from(["alice", "Ünï", "a b@c", "用户"]), key=names, value=texts)
def test_keys_and_values_of_any_script_come_back_exactly(
    local: LocalBackend, user: str, key: str, value: str
) -> None:
    local.store(user, key, value)
    entry = local.retrieve(user, key)
    assert entry is not None
    assert (entry.user_id, entry.key, entry.value) == (user, key, value)
    assert key in local.list_keys(user)


def test_values_are_taken_up_to_the_limit_and_no_further(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path / "x.db", max_message_bytes=1_000_000)
    value = "wörd " * 150_000
    assert backend.store("alice", "long", value)
    assert backend.retrieve("alice", "long").value == value  # type: ignore[union-attr]
    assert [one.key for one in backend.query("alice", "word")] == ["long"]
    with pytest.raises(TooLarge):
        backend.store("alice", "long", value * 2)
    backend.close()


@pytest.mark.parametrize("user", ["", "   ", "a\0b", "a\nb", "x" * 600, None, 7])
def test_an_invalid_user_is_refused(local: LocalBackend, user: object) -> None:
    for call in (
        lambda: local.store(user, "k", "v"),  # type: ignore[arg-type]
        lambda: local.retrieve(user, "k"),  # type: ignore[arg-type]
        lambda: local.query(user, "k"),  # type: ignore[arg-type]
        lambda: local.list_keys(user),  # type: ignore[arg-type]
        lambda: local.delete(user, "k"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput):
            call()


@pytest.mark.parametrize("key", ["", " ", "a\0b", "\ud800", "k" * 5_000, None, 3])
def test_an_invalid_key_is_refused(local: LocalBackend, key: object) -> None:
    with pytest.raises(InvalidInput):
        local.store("alice", key, "v")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["a\0b", "\udfff", None, 3, {"a": 1}])
def test_an_invalid_value_is_refused(local: LocalBackend, value: object) -> None:
    with pytest.raises(InvalidInput):
        local.store("alice", "k", value)  # type: ignore[arg-type]
    assert local.list_keys("alice") == []


@pytest.mark.parametrize(
    "metadata", [{"a": object()}, {"a": float("nan")}, {1: "a"}, {"a": (1, 2)}, "text", [1], {"a": "\ud800"}]
)
def test_metadata_that_json_would_change_is_refused(local: LocalBackend, metadata: object) -> None:
    with pytest.raises(InvalidInput):
        local.store("alice", "k", "v", metadata)  # type: ignore[arg-type]
    assert local.retrieve("alice", "k") is None


def test_endless_metadata_is_refused(local: LocalBackend) -> None:
    endless: dict[str, object] = {}
    endless["me"] = endless
    for metadata in (endless, {"a": "x" * 2_000_000}):
        with pytest.raises(InvalidInput):
            local.store("alice", "k", "v", metadata)


def test_users_and_spaces_never_see_each_other(tmp_path: Path) -> None:
    here = LocalBackend(tmp_path / "x.db", space="one")
    there = LocalBackend(tmp_path / "x.db", space="two")
    here.store("alice", "theme", "dark")
    here.store("bob", "theme", "light")
    for backend, user in ((here, "carol"), (there, "alice")):
        assert backend.retrieve(user, "theme") is None
        assert backend.list_keys(user) == []
        assert backend.query(user, "theme dark light") == []
        assert backend.delete(user, "theme") is False
    assert [one.value for one in here.query("bob", "dark light theme")] == ["light"]
    here.close()
    there.close()


def test_stored_entries_are_found_after_a_restart(tmp_path: Path) -> None:
    first = LocalBackend(tmp_path / "x.db")
    first.store("alice", "pref_editor", "vim")
    first.close()
    again = LocalBackend(tmp_path / "x.db")
    assert again.list_keys("alice") == ["pref_editor"]
    assert [one.key for one in again.query("alice", "editor")] == ["pref_editor"]
    again.close()


def test_closing_twice_is_harmless_and_a_closed_backend_raises(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path / "x.db")
    backend.close()
    backend.close()
    with pytest.raises(MnemosError):
        backend.store("alice", "k", "v")


def test_threads_may_share_one_backend(local: LocalBackend) -> None:
    def work(number: int) -> None:
        for n in range(10):
            local.store("alice", f"key_{number}_{n}", f"value {n}")
            local.query("alice", f"value {n}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(local.list_keys("alice")) == 40


def test_secrets_are_redacted_unless_that_is_switched_off(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    for redact, kept in ((True, False), (False, True)):
        backend = LocalBackend(tmp_path / f"{redact}.db", redact=redact)
        backend.store("alice", "token", f"it is {secret}", {"also": secret})
        entry = backend.retrieve("alice", "token")
        assert entry is not None
        assert (secret in entry.value, secret in str(entry.metadata)) == (kept, kept)
        backend.close()


def test_a_disabled_memory_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path / "x.db", disabled=True)
    with pytest.raises(Disabled):
        backend.store("alice", "k", "v")
    with pytest.raises(Disabled):
        backend.delete("alice", "k")
    backend.close()


def test_entries_are_passages_of_recall_of_their_own_user_alone(home: Path) -> None:
    with Memory.at(home) as memory:
        memory.entries.store("default", "theme", "solarized dark")
        memory.entries.store("alice", "drink", "solarized lemonade")
        assert [hit.text for hit in memory.recall("solarized").hits] == ["theme: solarized dark"]
        hers = memory.recall("solarized", user_id="alice").hits
        assert [(hit.kind, hit.text) for hit in hers] == [("entry", "drink: solarized lemonade")]
        assert memory.recall("solarized", user_id="bob").hits == ()
        assert memory.recall("solarized", kinds=["entry"]).hits[0].text == "theme: solarized dark"
        assert memory.recall("solarized", kinds=["message"]).hits == ()
        memory.entries.store("default", "theme", "gruvbox")
        assert [hit for hit in memory.recall("solarized").hits if "solarized" in hit.text] == []
        memory.entries.delete("default", "theme")
        assert memory.recall("gruvbox").hits == ()


def test_a_forgotten_entry_is_gone_from_the_bytes(home: Path) -> None:
    # A question that is asked afterwards is logged like any other.
    with Memory.at(home, recall_log=False) as memory:
        memory.entries.store("default", "pet", "a zorkmid named Quux")
        (hit,) = memory.recall("zorkmid").hits
        assert memory.forget(f"entry:{hit.ref}")["forgotten"]
        assert memory.recall("zorkmid").hits == ()
        for wrong in (f"entry:{hit.ref}", "entry:x", "entry:99999999999999999999"):
            with pytest.raises(MnemosError):
                memory.forget(wrong)
    data = b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())
    assert b"zorkmid" not in data
    assert b"Quux" not in data
