"""Fixtures of the tests that need a PostgreSQL server; without one, none of them is collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemos.memory import Memory
from postgres_server import IS_WANTED, Server, lend_schema, url_of

if not IS_WANTED:
    collect_ignore_glob = ["test_*.py"]

Opens = Callable[..., Memory]


@pytest.fixture
def url() -> Iterator[str]:
    """The URL of a schema without rows."""
    with lend_schema() as schema:
        yield url_of(schema)


@pytest.fixture
def open_memory(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opens]:
    """Opens the database of the test; ``machine`` has a home of its own."""
    opened: list[Memory] = []

    def open_it(space: str = "default", *, machine: str = "here", **flags: object) -> Memory:
        monkeypatch.setenv("MNEMOS_HOME", str(tmp_path / machine))
        opened.append(Memory.at(url, space=space, **flags))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that the test may stop and start."""
    server = Server()
    yield server
    server.remove()
