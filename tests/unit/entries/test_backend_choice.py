"""The choice of a backend: the configured one or an error, never a substitute."""

from __future__ import annotations

import logging
import os
import threading
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from honcho_server import KEY, HonchoServer, needs_sdk

from mnemos import LocalBackend, get_memory_backend, reset_backend
from mnemos.entries import HonchoBackend, MemoryBackend, MemoryEntry, NullBackend, backend_choice
from mnemos.errors import InvalidInput, NotADatabase, Unavailable
from mnemos.memory import Memory
from mnemos.settings import Settings


def chosen(monkeypatch: pytest.MonkeyPatch, **env: str) -> MemoryBackend:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    reset_backend()
    return get_memory_backend()


@pytest.fixture
def no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("mnemos.entries.backend_choice", "mnemos.entries.honcho"):
        monkeypatch.setattr(f"{module}.find_spec", lambda _: None)


@pytest.fixture
def an_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("mnemos.entries.backend_choice", "mnemos.entries.honcho"):
        monkeypatch.setattr(f"{module}.find_spec", lambda _: object())


def test_without_any_setting_nothing_is_kept(home: Path) -> None:
    assert isinstance(get_memory_backend(), NullBackend)
    assert not home.exists()


@pytest.mark.parametrize("variable", ["MNEMOS_BACKEND", "HERMES_MEMORY_BACKEND"])
@pytest.mark.parametrize("name", ["local", " LOCAL "])
def test_local_is_used_when_configured(
    monkeypatch: pytest.MonkeyPatch, home: Path, variable: str, name: str
) -> None:
    backend = chosen(monkeypatch, **{variable: name})
    assert isinstance(backend, LocalBackend)
    backend.store("alice", "theme", "dark")
    assert (home / "mnemos.db").exists()


def test_our_variable_wins_over_the_one_of_hermes(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = chosen(monkeypatch, MNEMOS_BACKEND="null", HERMES_MEMORY_BACKEND="local")
    assert isinstance(backend, NullBackend)


@pytest.mark.usefixtures("an_sdk")
def test_a_key_in_the_environment_never_overrides_local_or_null(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(chosen(monkeypatch, MNEMOS_BACKEND="local", HONCHO_API_KEY=KEY), LocalBackend)
    assert isinstance(chosen(monkeypatch, MNEMOS_BACKEND="null"), NullBackend)


@pytest.mark.usefixtures("an_sdk")
def test_with_a_key_and_the_sdk_honcho_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = chosen(monkeypatch, HONCHO_API_KEY=KEY)
    assert isinstance(backend, HonchoBackend)
    assert (backend.backend_name, backend.is_cloud) == ("honcho (cloud)", True)
    assert backend.location == "https://api.honcho.dev"


@pytest.mark.usefixtures("no_sdk")
def test_a_key_without_the_sdk_falls_back_and_says_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, home: Path
) -> None:
    with caplog.at_level(logging.WARNING, "mnemos.entries"):
        backend = chosen(monkeypatch, HONCHO_API_KEY=KEY)
    assert isinstance(backend, NullBackend)
    assert "honcho-ai is not installed" in backend.reason
    assert "honcho-ai is not installed" in caplog.text
    with Memory.at(home) as memory:
        checks = {check.name: check for check in memory.doctor()}
    assert not checks["backend"].ok
    assert "honcho-ai is not installed" in checks["backend"].detail


@pytest.mark.usefixtures("no_sdk")
def test_configured_honcho_without_the_sdk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable):
        chosen(monkeypatch, MNEMOS_BACKEND="honcho", HONCHO_API_KEY=KEY)


@pytest.mark.usefixtures("an_sdk")
@pytest.mark.parametrize(
    ("env", "variable"),
    [
        ({}, "HONCHO_API_KEY"),
        ({"HONCHO_API_KEY": KEY, "HONCHO_BASE_URL": "nonsense"}, "HONCHO_BASE_URL"),
        ({"HONCHO_API_KEY": KEY, "HONCHO_BASE_URL": "ftp://x"}, "HONCHO_BASE_URL"),
        ({"HONCHO_API_KEY": KEY, "HONCHO_APP_ID": "a b"}, "HONCHO_APP_ID"),
    ],
)
def test_configured_honcho_without_its_settings_is_an_error(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], variable: str
) -> None:
    with pytest.raises(Unavailable) as caught:
        chosen(monkeypatch, MNEMOS_BACKEND="honcho", **env)
    assert variable in str(caught.value)


@pytest.mark.parametrize("name", ["redis", "../x", "a b"])
def test_an_unknown_backend_is_an_error(monkeypatch: pytest.MonkeyPatch, home: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        chosen(monkeypatch, MNEMOS_BACKEND=name)
    if name == "redis":
        with Memory.at(home) as memory:
            assert not {check.name: check.ok for check in memory.doctor()}["backend"]


def test_a_local_backend_that_cannot_be_opened_is_an_error(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    home.mkdir()
    (home / "mnemos.db").write_text("no database")
    with pytest.raises(NotADatabase):
        chosen(monkeypatch, MNEMOS_BACKEND="local")


def test_a_process_has_one_backend_until_it_is_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    first = chosen(monkeypatch, MNEMOS_BACKEND="local")
    found: list[MemoryBackend] = []
    threads = [threading.Thread(target=lambda: found.append(get_memory_backend())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one is first for one in found)
    reset_backend()
    reset_backend()
    assert get_memory_backend() is not first


def test_a_child_process_has_its_own_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = chosen(monkeypatch, MNEMOS_BACKEND="local")
    backend.store("alice", "theme", "dark")
    child = os.fork()
    if child == 0:
        own = get_memory_backend()
        own.store("alice", "child", "was here")
        os._exit(0 if own is not backend and own.retrieve("alice", "theme") else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert backend.list_keys("alice") == ["child", "theme"]


def declared(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    entry = EntryPoint("mine", target, backend_choice.GROUP)
    monkeypatch.setattr(backend_choice, "_entry_points", lambda: [entry])


def test_a_plug_in_is_used_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    declared(monkeypatch, "mnemos.entries.backend:NullBackend")
    assert isinstance(chosen(monkeypatch, MNEMOS_BACKEND="mine"), NullBackend)


class Down(MemoryBackend):
    """Raises what a network does, not what Mnemos does."""

    @property
    def backend_name(self) -> str:
        return "down"

    @property
    def is_cloud(self) -> bool:
        raise ConnectionError("no route to host")

    def is_available(self) -> bool:
        return True

    def store(self, user_id: str, key: str, value: str, metadata: Any = None) -> bool:
        raise ConnectionError("no route to host")

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        raise ConnectionError("no route to host")

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        raise ConnectionError("no route to host")

    def list_keys(self, user_id: str) -> list[str]:
        raise ConnectionError("no route to host")

    def delete(self, user_id: str, key: str) -> bool:
        raise ConnectionError("no route to host")


class Unwilling(Down):
    def store(self, user_id: str, key: str, value: str, metadata: Any = None) -> bool:
        return False


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("entries_set", {"key": "k", "value": "v"}),
        ("entries_get", {"key": "k"}),
        ("entries_list", {}),
        ("entries_query", {"query": "k"}),
        ("entries_delete", {"key": "k"}),
        ("entries_info", {}),
    ],
)
def test_whatever_a_plug_in_raises_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, home: Path, call: str, arguments: dict[str, str]
) -> None:
    declared(monkeypatch, f"{__name__}:Down")
    with Memory.at(home, backend="mine") as memory, pytest.raises(Unavailable) as caught:
        memory.call(call, arguments)
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_an_entry_that_a_plug_in_does_not_accept_is_not_reported_as_stored(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    declared(monkeypatch, f"{__name__}:Unwilling")
    with Memory.at(home, backend="mine") as memory, pytest.raises(Unavailable):
        memory.call("entries_set", {"key": "k", "value": "v"})


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("nothing.at.all:X", Unavailable),
        ("mnemos.entries.backend:nothing", Unavailable),
        ("builtins:dict", InvalidInput),
    ],
)
def test_a_plug_in_that_cannot_be_made_is_an_error(
    monkeypatch: pytest.MonkeyPatch, target: str, error: type[Exception]
) -> None:
    declared(monkeypatch, target)
    with pytest.raises(error):
        chosen(monkeypatch, MNEMOS_BACKEND="mine")


def test_pyproject_declares_the_built_in_backends() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition('[project.entry-points."mnemos.backends"]')[2].partition("[")[0]
    names = [line.split(" =")[0] for line in section.splitlines() if " = " in line]
    assert tuple(names) == backend_choice.BUILT_IN


def test_config_toml_is_read_and_wrong_values_are_refused(home: Path) -> None:
    home.mkdir()
    config = home / "config.toml"
    config.write_text(
        'backend = "local"\n[honcho]\nbase_url = "http://localhost:8000"\napp_id = "x"\ntimeout = 3\n'
    )
    settings = Settings.load(home)
    assert (settings.backend, settings.honcho.base_url, settings.honcho.timeout) == (
        "local",
        "http://localhost:8000",
        3.0,
    )
    for wrong in ("backend = 3", "honcho = 1", '[honcho]\napi_key = "x"', "[honcho]\ntimeout = 0"):
        config.write_text(wrong)
        with pytest.raises(InvalidInput):
            Settings.load(home)


@needs_sdk
def test_a_memory_uses_the_backend_of_its_settings(server: HonchoServer, home: Path) -> None:
    env = {"HONCHO_API_KEY": KEY, "HONCHO_BASE_URL": server.base_url, "MNEMOS_HOME": str(home)}
    with Memory(Settings.load(env=env)) as memory:
        assert memory.call("memory_backend", {"action": "store", "key": "k", "value": "v"})["success"]
        assert memory.backend.backend_name == "honcho (self-hosted)"
        memory.backend.close()
    assert not home.exists()
