"""What every test gets: a home of its own, and none of the environment of who runs it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mnemos.testing import FixedClock

# The storage contract is imported by test modules, and its assertions should explain themselves.
pytest.register_assert_rewrite("contract.storage")

# Tests start hundreds of processes: without bytecode, each of them would compile all of the package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _has_memory_disk() -> bool:
    """True if there is a disk in memory with room for a run, from which programs can be started."""
    try:
        shared = os.statvfs("/dev/shm")
    except OSError:
        return False
    return shared.f_bavail * shared.f_frsize > 4 * 2**30 and not shared.f_flag & os.ST_NOEXEC


# A killed process loses nothing that the kernel has: no test needs a disk, and waiting for one takes long.
if _has_memory_disk():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

# The same examples every time: a run that fails fails again. Random search belongs to `--nightly`, which
# prints how to repeat what it finds. Machines differ and are shared: how long an example takes says nothing.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, database=None, **_UNTIMED)
settings.register_profile("nightly", print_blob=True, **_UNTIMED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the long fault and fuzz tests too")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("nightly" if config.getoption("--nightly") else "fixed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what was collected out of the search for garbage: half a million objects that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


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
    for name in list(os.environ):
        if name.startswith(("MNEMOS_", "HERMES_", "HONCHO_", "CLAUDE_", "CODEX_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("MNEMOS_HOME", str(folder))
    return folder


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()
