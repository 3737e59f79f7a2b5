from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .processes import Child, Spawn


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="the long version of the fault tests")


def is_nightly(config: pytest.Config) -> bool:
    # A run of the whole suite reads this file too late for an option: there the variable serves.
    return bool(config.getoption("--nightly", default=False)) or os.environ.get("MNEMOS_NIGHTLY") == "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not is_nightly(config):
        skip = pytest.mark.skip(reason="long; run with --nightly or MNEMOS_NIGHTLY=1")
        for item in items:
            if item.get_closest_marker("nightly"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def nightly(pytestconfig: pytest.Config) -> bool:
    return is_nightly(pytestconfig)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a memory of their own."""
    for name in [name for name in os.environ if name.startswith("MNEMOS_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    children: list[Child] = []

    def start(role: str, **asked: Any) -> Child:
        children.append(Child(role, **asked))
        return children[-1]

    yield start
    for child in children:
        child.end()
