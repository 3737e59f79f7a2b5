"""A memory with facts for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemos import Memory
from mnemos.facts.facts import Facts
from mnemos.testing import FixedClock


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    """In memory, and by words alone: what a fact is near to is a matter of recall."""
    with Memory.at(":memory:", clock=clock, actor="tester", embedder="none") as opened:
        yield opened


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.facts
