"""What every test gets: a home of its own, and none of the environment of who runs it."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mnemos.testing import FixedClock

# Tests start hundreds of processes: without bytecode, each of them would compile all of the package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _in_memory() -> bool:
    """Whether there is a disk in memory, with room for a run and from which programs can be started."""
    try:
        shared = os.statvfs("/dev/shm")
    except OSError:
        return False
    return shared.f_bavail * shared.f_frsize > 4 * 2**30 and not shared.f_flag & os.ST_NOEXEC


# A killed process loses nothing that the kernel has: no test needs a disk, and to wait for one takes long.
if _in_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

# Machines differ and are shared: how long an example takes says nothing about its truth.
settings.register_profile("mnemos", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mnemos")

# Being measured takes twice the time. Which lines run is told by the tests of the parts; tests that show what
# large, hostile and broken things do, through the same lines a million times, are marked ``no_cover``.
_UNMEASURED = {Path(__file__).parent / folder for folder in ("attacks", "faults")}

_NUMBERS = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the long fault and fuzz tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _UNMEASURED.intersection(item.path.parents):
            item.add_marker(pytest.mark.no_cover)
    if config.getoption("--nightly"):
        return
    skip = pytest.mark.skip(reason="a long run; give --nightly")
    for item in items:
        if "nightly" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default home, not made yet; nothing of the user's own is read or written."""
    for name in [
        name for name in os.environ if name.startswith(("MNEMOS_", "HERMES_", "HONCHO_", "CLAUDE_", "CODEX_"))
    ]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("MNEMOS_HOME", str(folder))
    return folder


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()
