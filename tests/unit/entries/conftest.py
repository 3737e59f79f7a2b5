from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from honcho_server import KEY, HonchoServer

from mnemos import LocalBackend, reset_backend
from mnemos.entries import HonchoBackend
from mnemos.testing import FixedClock


@pytest.fixture(autouse=True)
def no_backend_is_left() -> Iterator[None]:
    yield
    reset_backend()


@pytest.fixture
def local(tmp_path: Path, clock: FixedClock) -> Iterator[LocalBackend]:
    backend = LocalBackend(tmp_path / "entries.db", clock=clock)
    yield backend
    backend.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HonchoServer]:
    # A proxy of whoever runs the tests has nothing to do with loopback.
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HonchoServer() as served:
        yield served


@pytest.fixture
def honcho(server: HonchoServer, clock: FixedClock) -> Iterator[HonchoBackend]:
    backend = HonchoBackend(KEY, "hermes-agent", server.base_url, timeout=5, clock=clock)
    yield backend
    backend.close()
