"""The backend that keeps nothing costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mnemos.entries import MemoryBackend, MemoryEntry, NullBackend
from mnemos.errors import InvalidInput

CODE = """
import os, sys, threading
from mnemos import get_memory_backend
backend = get_memory_backend()
assert backend.store("alice", "theme", "dark") is True
assert backend.retrieve("alice", "theme") is None
assert backend.query("alice", "theme") == [] and backend.list_keys("alice") == []
assert backend.delete("alice", "theme") is False
print(backend.backend_name, threading.active_count(), os.path.exists(os.environ["MNEMOS_HOME"]))
print(*[name for name in ("apsw", "sqlite3", "numpy", "honcho", "httpx", "msgspec") if name in sys.modules])
"""


@pytest.mark.parametrize("setting", [{}, {"MNEMOS_BACKEND": "null"}])
def test_null_imports_no_driver_makes_no_file_and_starts_no_thread(
    home: Path, monkeypatch: pytest.MonkeyPatch, setting: dict[str, str]
) -> None:
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    first, second = ran.stdout.splitlines()
    assert first == "null (disabled) 1 False"
    assert second == ""
    assert not home.exists()


def test_null_is_available_and_its_name_says_disabled() -> None:
    backend = NullBackend()
    assert isinstance(backend, MemoryBackend)
    assert (backend.backend_name, backend.is_cloud, backend.is_available()) == (
        "null (disabled)",
        False,
        True,
    )


def test_null_refuses_what_every_backend_refuses() -> None:
    backend = NullBackend()
    for call in (
        lambda: backend.store("", "k", "v"),
        lambda: backend.store("a", "", "v"),
        lambda: backend.store("a", "k", "v\0"),
        lambda: backend.store("a", "k", "v", {"a": object()}),
        lambda: backend.retrieve("a", ""),
        lambda: backend.query("", "x"),
        lambda: backend.list_keys(""),
        lambda: backend.delete("a", ""),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_missing_times_are_filled_in() -> None:
    entry = MemoryEntry("k", "v", "alice")
    assert entry.created_at > 1_700_000_000
    assert entry.updated_at == entry.created_at
    assert entry.metadata == {}
    given = MemoryEntry("k", "v", "alice", 5.0)
    assert (given.created_at, given.updated_at) == (5.0, 5.0)
    assert MemoryEntry("k", "v", "alice").metadata is not entry.metadata
