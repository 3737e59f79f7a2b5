"""A notebook in its own home for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hands import ByHand

from mnemos import Memory
from mnemos.notebook.notebook import Notebook
from mnemos.testing import FixedClock


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    """By words alone: what a note is near to is a matter of recall."""
    with Memory.at(home, clock=clock, actor="tester", embedder="none") as opened:
        yield opened


@pytest.fixture
def notebook(memory: Memory) -> Notebook:
    return memory.notebook


@pytest.fixture
def folder(home: Path) -> Path:
    """The folder of the default space's files."""
    return home / "memories"


@pytest.fixture
def by_hand(folder: Path) -> ByHand:
    def edit(text: str | bytes, name: str = "MEMORY.md") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return edit
