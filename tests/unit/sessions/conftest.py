"""A session store for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import Memory, SessionDB
from mnemos.testing import FixedClock

OpenDB = Callable[..., SessionDB]


@pytest.fixture
def open_db(tmp_path: Path, clock: FixedClock) -> Iterator[OpenDB]:
    """Opens the same file, or with ``name`` another one."""
    opened: list[SessionDB] = []

    def open_it(name: str = "sessions.db", **options: Any) -> SessionDB:
        opened.append(SessionDB(tmp_path / name, **({"clock": clock} | options)))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


@pytest.fixture
def db(open_db: OpenDB) -> SessionDB:
    return open_db()


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with mnemos.open(home, clock=clock, actor="tester") as opened:
        yield opened
