from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from archives import fill

import mnemos
from mnemos.testing import FixedClock

Opened = Callable[..., mnemos.Memory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens homes beside each other; all are closed when the test is over."""
    there: list[mnemos.Memory] = []

    def open_one(name: str, **options: Any) -> mnemos.Memory:
        there.append(mnemos.open(tmp_path / name, embedder="none", **options))
        return there[-1]

    yield open_one
    for memory in there:
        memory.close()


@pytest.fixture
def filled(opened: Opened) -> mnemos.Memory:
    """A memory with something in every part."""
    return fill(opened("first", clock=FixedClock()))
