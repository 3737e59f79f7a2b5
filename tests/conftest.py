"""What every test gets: a home of its own, and none of the environment of who runs it."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Generator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

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
# large, hostile and broken things do, through the same lines a million times, are marked ``unmeasured``.
_UNMEASURED = {Path(__file__).parent / folder for folder in ("attacks", "faults")}
# But only these show what is done about providers, workers and disks that fail, and they take little.
_MEASURED = {"test_providers.py", "test_protocol.py", "test_read_only.py"}

Import = Callable[[SourceFileLoader, ModuleType], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the long fault and fuzz tests too")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Do not let coverage look on while a test that is marked ``unmeasured`` runs."""
    tracer, of_threads = sys.gettrace(), threading.gettrace()
    if tracer is None or item.get_closest_marker("unmeasured") is None:
        return (yield)
    threading.settrace(None)  # type: ignore[arg-type]
    sys.settrace(None)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SourceFileLoader, "exec_module", _measured(SourceFileLoader.exec_module, tracer))
            return (yield)
    finally:
        threading.settrace(of_threads)  # type: ignore[arg-type]
        sys.settrace(tracer)


def _measured(plain: Import, tracer: Any) -> Import:
    """A module is imported once: that is measured also where the first test that needs it is not."""

    def exec_module(loader: SourceFileLoader, module: ModuleType) -> None:
        ours = module.__name__.partition(".")[0] == "mnemos"
        if not ours or sys.gettrace() or threading.current_thread() is not threading.main_thread():
            plain(loader, module)
            return
        sys.settrace(tracer)
        try:
            plain(loader, module)
        finally:
            sys.settrace(None)

    return exec_module


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
    for item in items:
        if _UNMEASURED.intersection(item.path.parents) and item.path.name not in _MEASURED:
            item.add_marker(pytest.mark.unmeasured)
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
