"""What every test gets: a home of its own, and none of the environment of who runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mnemos.testing import FixedClock

# Machines differ and are shared: how long an example takes says nothing about its truth.
settings.register_profile("mnemos", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mnemos")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the long fault and fuzz tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--nightly"):
        return
    skip = pytest.mark.skip(reason="a long run; give --nightly")
    for item in items:
        if "nightly" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default home, not made yet; nothing of the user's own is read or written."""
    for name in [name for name in os.environ if name.startswith(("MNEMOS_", "HERMES_", "HONCHO_"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("MNEMOS_HOME", str(folder))
    return folder


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()
