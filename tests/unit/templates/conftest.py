"""Templates and sessions in a home of their own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemos import Memory
from mnemos.sessions.sessions import Sessions
from mnemos.templates.template_store import Templates
from mnemos.testing import FixedClock


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    """By words alone: what a template is near to is a matter of recall. Secrets are stored as they come."""
    with Memory.at(
        home, clock=clock, actor="tester", embedder="none", redact=False, recall_log=False
    ) as opened:
        yield opened


@pytest.fixture
def templates(memory: Memory) -> Templates:
    return memory.templates


@pytest.fixture
def sessions(memory: Memory) -> Sessions:
    return memory.sessions


@pytest.fixture
def folder(home: Path) -> Path:
    """The folder of the default space's files."""
    return home / "session-templates"
