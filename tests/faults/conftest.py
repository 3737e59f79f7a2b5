from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .processes import Child, Spawn, end_parents


@pytest.fixture(scope="session")
def nightly(pytestconfig: pytest.Config) -> bool:
    """True if the long version was asked for."""
    return bool(pytestconfig.getoption("--nightly"))


@pytest.fixture(scope="session", autouse=True)
def _parents() -> Iterator[None]:
    yield
    end_parents()


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    children: list[Child] = []

    def start(role: str, **asked: Any) -> Child:
        children.append(Child(role, **asked))
        return children[-1]

    yield start
    for child in children:
        child.end()
