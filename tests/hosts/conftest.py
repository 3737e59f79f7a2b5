"""A home for the host and one for Mnemos, of their own for each test, connected as a person connects them."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos import Memory

# Some modules of the host look for its home when they are imported: not for that of who runs this.
os.environ["HERMES_HOME"] = tempfile.mkdtemp(prefix="hermes-")


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host looks around in the network when it starts; here it finds none."""
    connect = socket.socket.connect

    def refused(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
            raise ConnectionRefusedError("tests use only loopback")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of Mnemos; nothing of the user's own is read or written."""
    for name in [name for name in os.environ if name.startswith(("MNEMOS_", "HERMES_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MNEMOS_HOME", str(tmp_path / "mnemos"))
    return tmp_path / "mnemos"


@pytest.fixture
def hermes(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a Hermes that is connected."""
    folder = tmp_path / "hermes"
    folder.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(folder))
    Memory.at(home).call("connect_hermes")
    return folder


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    """The memory as somebody else sees it, beside the host."""
    with Memory.at(home) as memory:
        yield memory
