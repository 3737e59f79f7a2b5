"""Entries on a Honcho server: exact, isolated, and never a hang."""

from __future__ import annotations

import json
import logging
import socket
import threading

import pytest
from honcho_server import KEY, HonchoServer, needs_sdk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemos.entries import HonchoBackend, MemoryEntry
from mnemos.errors import InvalidInput, MnemosError, PermissionDenied, TooLarge, Unavailable
from mnemos.testing import FixedClock

pytestmark = needs_sdk

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


def keys(backend: HonchoBackend, user: str = "alice") -> list[str]:
    return backend.list_keys(user)


def hurried(server: HonchoServer) -> HonchoBackend:
    return HonchoBackend(KEY, "hermes-agent", server.base_url, timeout=0.6)


@pytest.mark.parametrize(
    ("url", "is_cloud"),
    [
        ("https://api.honcho.dev", True),
        ("http://127.0.0.1:8000", False),
        ("http://127.8.8.8", False),
        ("http://localhost:8000/", False),
        ("http://honcho.localhost", False),
        ("http://[::1]:8000", False),
        ("http://192.168.1.4:8000", True),
        ("http://localhost.example.com", True),
        ("https://127.0.0.1.example.com", True),
    ],
)
def test_a_server_is_cloud_unless_it_is_this_machine(url: str, is_cloud: bool) -> None:
    backend = HonchoBackend(KEY, "app", url)
    assert backend.is_cloud is is_cloud
    assert backend.backend_name == ("honcho (cloud)" if is_cloud else "honcho (self-hosted)")
    assert backend.is_available()


def test_a_server_of_this_machine_needs_no_key_and_another_does() -> None:
    assert HonchoBackend("", "app", "http://localhost:8000").is_available()
    backend = HonchoBackend("", "app", "https://api.honcho.dev")
    assert not backend.is_available()
    with pytest.raises(Unavailable):
        backend.list_keys("alice")


def test_an_entry_comes_back_with_its_times_and_metadata(honcho: HonchoBackend, clock: FixedClock) -> None:
    made = clock()
    deep = {"a": {"b": {"c": {"d": {"e": {"f": [1, 2.5, None, True]}}}}}} | {f"n{n}": n for n in range(120)}
    assert honcho.store("alice", "theme", "dark", deep) is True
    clock.now += 60
    assert honcho.store("alice", "theme", "light", deep) is True
    assert honcho.retrieve("alice", "theme") == MemoryEntry("theme", "light", "alice", made, made + 60, deep)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=12,
    deadline=None,
)
@given(user=texts.filter(lambda t: t.strip() and t.isprintable()), key=texts.filter(str.strip), value=texts)
def test_users_keys_and_values_of_any_script_come_back_exactly(
    honcho: HonchoBackend, user: str, key: str, value: str
) -> None:
    honcho.store(user, key, value)
    entry = honcho.retrieve(user, key)
    assert entry is not None
    assert (entry.user_id, entry.key, entry.value) == (user, key, value)


def test_a_long_value_comes_back_though_no_message_could_hold_it(honcho: HonchoBackend) -> None:
    value = "long ü " * 20_000
    honcho.store("alice", "essay", value)
    assert honcho.retrieve("alice", "essay").value == value  # type: ignore[union-attr]


def test_users_never_see_each_other_though_their_names_look_alike(honcho: HonchoBackend) -> None:
    users = ["alice", "Alice", "alice ", "ali/ce", "mnemos-" + "0" * 64]
    for user in users:
        honcho.store(user, "theme", f"of {user!r}")
    for user in users:
        assert [one.value for one in honcho.query(user, "theme") if one.match == "words"] == [f"of {user!r}"]
        assert honcho.retrieve(user, "theme").value == f"of {user!r}"  # type: ignore[union-attr]
    assert honcho.delete("alice", "theme")
    assert [keys(honcho, user) for user in users] == [[], *[["theme"]] * 4]


def test_deleting_is_true_once_and_leaves_nothing_at_the_server(
    honcho: HonchoBackend, server: HonchoServer
) -> None:
    honcho.store("alice", "pet", "a zorkmid")
    honcho.store("alice", "pet", "two zorkmids")
    assert honcho.delete("alice", "pet") is True
    assert honcho.delete("alice", "pet") is False
    assert honcho.retrieve("alice", "pet") is None
    server.purge()
    assert "zorkmid" not in server.held()


def test_a_deleted_entry_can_be_stored_again_at_once_and_later(
    honcho: HonchoBackend, server: HonchoServer
) -> None:
    for value in ("one", "two", "three"):
        honcho.store("alice", "theme", value)
        assert honcho.retrieve("alice", "theme").value == value  # type: ignore[union-attr]
        assert honcho.delete("alice", "theme")
    server.purge()
    honcho.store("alice", "theme", "four")
    assert honcho.retrieve("alice", "theme").value == "four"  # type: ignore[union-attr]


def test_a_replaced_value_is_deleted_with_its_conclusions(
    honcho: HonchoBackend, server: HonchoServer
) -> None:
    honcho.store("alice", "theme", "solarized")
    honcho.store("alice", "theme", "gruvbox")
    server.purge()
    assert "solarized" not in server.held()
    assert "theme: gruvbox" in server.held()


def test_pages_are_read_to_the_end(honcho: HonchoBackend, server: HonchoServer, clock: FixedClock) -> None:
    server.page_size = 3
    for n in range(10):
        clock.now += 1
        honcho.store("alice", f"key_{n}", "x")
    assert keys(honcho) == [f"key_{n}" for n in range(9, -1, -1)]


def test_two_writers_leave_one_value_and_the_next_change_cleans_up(
    server: HonchoServer, honcho: HonchoBackend
) -> None:
    other = HonchoBackend(KEY, "hermes-agent", server.base_url, timeout=5)
    both = threading.Barrier(2)

    def store(backend: HonchoBackend, value: str) -> None:
        both.wait()
        backend.store("alice", "theme", value)

    threads = [threading.Thread(target=store, args=pair) for pair in ((honcho, "a"), (other, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keys(honcho) == ["theme"]
    assert honcho.retrieve("alice", "theme") == other.retrieve("alice", "theme")
    honcho.store("alice", "theme", "c")
    server.purge()
    assert len(server.workspaces["hermes-agent"].sessions) == 1
    assert honcho.delete("alice", "theme")
    assert other.retrieve("alice", "theme") is None
    other.close()


def test_sessions_changed_by_others_are_skipped(honcho: HonchoBackend, server: HonchoServer) -> None:
    honcho.store("alice", "theme", "dark")
    (ours,) = server.workspaces["hermes-agent"].sessions.values()
    for wrong in ("no json", json.dumps([1]), json.dumps({"key": 3}), 7, None):
        mark = {**ours.metadata, "mnemos_entry": wrong}
        body = {"id": f"x{wrong is None}{type(wrong).__name__}", "metadata": mark}
        server.answer_as_owner("POST", "/v3/workspaces/hermes-agent/sessions", body)
    assert keys(honcho) == ["theme"]


def test_a_query_finds_by_words_and_ends_with_what_the_dialectic_says(honcho: HonchoBackend) -> None:
    honcho.store("alice", "pref_editor", "vim")
    honcho.store("alice", "theme", "dark")
    found = honcho.query("alice", "pref")
    assert [(one.key, one.match) for one in found] == [("pref_editor", "words"), ("dialectic", "dialectic")]
    assert found[-1].value == "She likes it dark."
    assert [one.key for one in honcho.query("alice", "pref", limit=1)] == ["pref_editor"]
    assert [one.match for one in honcho.query("alice", "zzz", limit=1)] == ["dialectic"]
    assert honcho.query("nobody-yet", "zzz") == []


def test_a_server_without_a_dialectic_is_asked_once(honcho: HonchoBackend, server: HonchoServer) -> None:
    server.answers = None
    honcho.store("alice", "theme", "dark")
    for _ in range(3):
        assert [one.key for one in honcho.query("alice", "theme")] == ["theme"]
    assert sum(asked.path.endswith("/chat") for asked in server.asked) == 1


@pytest.mark.parametrize("answer", ["", "  "])
def test_a_dialectic_with_nothing_to_say_adds_nothing(
    honcho: HonchoBackend, server: HonchoServer, answer: str
) -> None:
    server.answers = answer
    honcho.store("alice", "theme", "dark")
    assert [one.key for one in honcho.query("alice", "theme")] == ["theme"]


def test_a_dialectic_that_fails_leaves_what_the_words_found(
    honcho: HonchoBackend, server: HonchoServer, caplog: pytest.LogCaptureFixture
) -> None:
    honcho.store("alice", "theme", "dark")
    # The listing goes through, the question after it does not.
    server.fault_at["/chat"] = 500
    with caplog.at_level(logging.WARNING, "mnemos.entries"):
        assert [one.key for one in honcho.query("alice", "theme")] == ["theme"]
    assert "dialectic" in caplog.text


def test_an_entry_is_kept_when_its_conclusion_cannot_be_sent(
    honcho: HonchoBackend, server: HonchoServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault_at["/conclusions"] = 500
    with caplog.at_level(logging.WARNING, "mnemos.entries"):
        assert honcho.store("alice", "theme", "dark")
    assert honcho.retrieve("alice", "theme").value == "dark"  # type: ignore[union-attr]
    assert "dialectic" in caplog.text


@pytest.mark.parametrize("fault", [500, 502, 503, 429, 408, "cut"])
def test_temporary_faults_are_retried(honcho: HonchoBackend, server: HonchoServer, fault: int | str) -> None:
    honcho.store("alice", "theme", "dark")
    server.faults = [fault]
    assert keys(honcho) == ["theme"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (500, Unavailable),
        (429, Unavailable),
        (401, PermissionDenied),
        (403, PermissionDenied),
        (400, InvalidInput),
        (422, InvalidInput),
        (413, TooLarge),
        (418, Unavailable),
        ("html", Unavailable),
        ("garbage", Unavailable),
        ("list", Unavailable),
        ("nothing", Unavailable),
        ("cut", Unavailable),
    ],
)
def test_lasting_faults_are_typed_errors(
    honcho: HonchoBackend, server: HonchoServer, fault: int | str, error: type[MnemosError]
) -> None:
    honcho.store("alice", "theme", "dark")
    before = len(server.asked)
    server.faults = [fault] * 20
    with pytest.raises(error) as raised:
        keys(honcho)
    assert server.base_url in str(raised.value)
    assert len(server.asked) - before <= 3
    server.faults = []
    assert keys(honcho) == ["theme"]


def test_a_wrong_key_is_permission_denied(server: HonchoServer) -> None:
    backend = HonchoBackend("wrong", "hermes-agent", server.base_url)
    with pytest.raises(PermissionDenied):
        backend.store("alice", "theme", "dark")
    backend.close()


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_no_call_takes_longer_than_the_timeout(server: HonchoServer, fault: str) -> None:
    backend = hurried(server)
    keys(backend)
    server.faults = [fault]
    with pytest.raises(Unavailable):
        keys(backend)
    backend.close()


def test_a_server_that_asks_to_wait_an_hour_is_not_waited_for(server: HonchoServer) -> None:
    backend = hurried(server)
    keys(backend)
    server.faults, server.retry_after = [429] * 5, "3600"
    with pytest.raises(Unavailable):
        keys(backend)
    backend.close()


def test_an_unreachable_server_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    backend = HonchoBackend(KEY, "app", f"http://127.0.0.1:{port}", timeout=1)
    with pytest.raises(Unavailable):
        backend.retrieve("alice", "theme")
    backend.close()


def test_requests_go_only_to_the_configured_workspace_and_server(
    honcho: HonchoBackend, server: HonchoServer
) -> None:
    honcho.store("alice", "theme", "dark")
    honcho.query("alice", "theme")
    assert set(server.workspaces) == {"hermes-agent"}
    paths = {asked.path.partition("?")[0] for asked in server.asked}
    assert all(path == "/v3/workspaces" or path.startswith("/v3/workspaces/hermes-agent/") for path in paths)
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {KEY}"}


def test_secrets_do_not_leave_the_machine(honcho: HonchoBackend, server: HonchoServer) -> None:
    secret = "ghp_" + "a1B2" * 9
    honcho.store("alice", "token", f"it is {secret}", {"also": secret})
    assert secret not in server.held()


@pytest.mark.parametrize(
    "arguments", [("", "k", "v"), ("a", "", "v"), ("a", "k", "\0"), ("a", "k", "v", {"x": object()})]
)
def test_invalid_input_is_not_sent(
    honcho: HonchoBackend, server: HonchoServer, arguments: tuple[object, ...]
) -> None:
    with pytest.raises(InvalidInput):
        honcho.store(*arguments)  # type: ignore[arg-type]
    assert server.asked == []
