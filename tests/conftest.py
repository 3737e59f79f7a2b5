"""What every test gets: a home of its own, and none of the environment of who runs it."""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from mnemos import testing
from mnemos.testing import FixedClock

# The storage contract is imported by test modules, and its assertions should explain themselves.
pytest.register_assert_rewrite("contract.storage")

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


class Onlooker:
    """Coverage, which looks on in this process while fixtures and tests run, and at nothing else.

    pytest, xdist and hypothesis run more lines than what they test, and each would take twice the time.
    """

    def __init__(self) -> None:
        self._tracer: Any = None
        self._of_threads: Any = None
        self._wanted = True

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Look at nothing but imports, until there is more to see. Without coverage, nothing changes."""
        self._tracer, self._of_threads = sys.gettrace(), threading.gettrace()
        self._set(None, None)
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(SourceFileLoader, "exec_module", self._importing(SourceFileLoader.exec_module))
                yield
        finally:
            self._set(self._tracer, self._of_threads)

    def turn_to(self, item: pytest.Item) -> None:
        self._wanted = item.get_closest_marker("unmeasured") is None

    @contextmanager
    def looking(self) -> Iterator[None]:
        # A fixture may ask for another one. And hypothesis looks on itself when an example failed.
        if self._tracer is None or not self._wanted or sys.gettrace() is not None:
            yield
            return
        self._set(self._tracer, self._of_threads)
        try:
            yield
        finally:
            self._set(None, None)

    def _set(self, tracer: Any, of_threads: Any) -> None:
        threading.settrace(of_threads)
        sys.settrace(tracer)

    def looking_on(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """The function that hypothesis calls with each example, looked at while hypothesis is not."""

        @functools.wraps(test)
        def looked_at(*args: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            with self.looking():
                return test(*args, **named)

        return looked_at

    def _importing(self, plain: Import) -> Import:
        """A module is imported once: that is measured also where the first test that needs it is not."""

        def exec_module(loader: SourceFileLoader, module: ModuleType) -> None:
            ours = module.__name__.partition(".")[0] == "mnemos"
            if not ours or sys.gettrace() or threading.current_thread() is not threading.main_thread():
                plain(loader, module)
                return
            sys.settrace(self._tracer)
            try:
                plain(loader, module)
            finally:
                sys.settrace(None)

        return exec_module


_onlooker = Onlooker()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> Generator[None, object, object]:
    """The process that hands out the tests runs none, and the threads that it does so with begin here."""
    with _onlooker.waiting() if session.config.pluginmanager.hasplugin("dsession") else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    with _onlooker.waiting():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    _onlooker.turn_to(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    with _onlooker.looking():
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with nullcontext() if hasattr(_function(item), "hypothesis") else _onlooker.looking():
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    with _onlooker.looking():
        return (yield)


def _function(item: pytest.Item) -> Any:
    """The function of a test, also where it is a method."""
    test = getattr(item, "obj", None)
    return getattr(test, "__func__", test)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what was collected out of the search for garbage: half a million objects that stay to the end."""
    # Imported by a loader of pytest, at which coverage does not look below.
    _ = testing.ProviderContract
    gc.disable()
    try:
        with _onlooker.waiting():
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for test in {_function(item) for item in items}:
        if hasattr(test, "hypothesis"):
            test.hypothesis.inner_test = _onlooker.looking_on(test.hypothesis.inner_test)
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
