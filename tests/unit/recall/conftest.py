"""Memories that are asked questions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from conversations import CONVERSATIONS, Tell, told
from scenes import NOW

from mnemos import Memory
from mnemos.testing import FixedClock


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's zone, which times in texts are read in, is that of Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def memory(utc: None) -> Iterator[Memory]:
    """A memory in memory, on a Friday in March."""
    with Memory.at(":memory:", clock=FixedClock(NOW)) as opened:
        yield opened


@pytest.fixture
def tell(memory: Memory) -> Tell:
    """Stores a session whose messages come a minute apart, a month ago by default; their ids."""

    def store(session_id: str, *turns: Any, **more: Any) -> list[int]:
        return told(memory, session_id, *turns, **more)

    return store


@pytest.fixture(scope="module")
def everything() -> Iterator[Memory]:
    """All conversations, asked and never changed."""
    with Memory.at(":memory:", clock=FixedClock(NOW)) as memory:
        for session_id, (at, turns) in CONVERSATIONS.items():
            told(memory, session_id, *turns, at=at)
        memory.embedding.catch_up()
        yield memory
