"""Fixtures of every test: a home of its own, without the environment of the person who runs it."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, settings

from mnemos.storage.sqlite import schema
from mnemos.storage.sqlite.connection import MEMORY, use_log
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
    except (AttributeError, OSError):  # Windows has no statvfs
        return False
    return shared.f_bavail * shared.f_frsize > 4 * 2**30 and not shared.f_flag & os.ST_NOEXEC


# A killed process loses nothing that the kernel has: no test needs a disk, and waiting for one takes long.
if _has_memory_disk():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

# The same few examples every time: a run that fails fails again, and more of them would find nothing new.
# Random search belongs to `--nightly`, which prints how to repeat what it finds. Machines differ and are
# shared: how long an example takes says nothing.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, database=None, max_examples=25, **_UNTIMED)
settings.register_profile("nightly", print_blob=True, max_examples=300, **_UNTIMED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the long fault and fuzz tests too")
    parser.addoption("--table", action="store_true", help="print what was tried and what held, by area")


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
    if config.getoption("--table"):
        for item in items:
            item.user_properties.append(("area", _find_area(item)))
    if config.getoption("--nightly"):
        return
    skip = pytest.mark.skip(reason="a long run; give --nightly")
    for item in items:
        if "nightly" in item.keywords:
            item.add_marker(skip)


def _find_area(item: pytest.Item) -> str:
    """Return the area that the test's marker names, or else the first clause of its module's docstring."""
    marker = item.get_closest_marker("area")
    if marker is not None:
        return str(marker.args[0])
    module = item.getparent(pytest.Module)
    docstring = (module and module.obj.__doc__) or item.nodeid
    return docstring.split("\n")[0].split(":")[0].rstrip(".")


@pytest.fixture
def attempts(record_property: Callable[[str, object], None]) -> Callable[[int], None]:
    """Say how many attacks or faults one test tries, for the table of `make attacks`; 1 if it doesn't say."""
    return lambda count: record_property("attempts", count)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--table"):
        return
    tried: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            properties = dict(report.user_properties)
            count = properties.get("attempts", 1)
            tried[properties["area"]] += count
            held[properties["area"]] += count if outcome == "passed" else 0
    terminalreporter.section("attacks and faults")
    terminalreporter.write_line(f"{'area':<76}{'tried':>8}{'held':>8}")
    for area, count in (*sorted(tried.items()), ("all", tried.total())):
        kept = held.total() if area == "all" else held[area]
        terminalreporter.write_line(f"{area[:74]:<76}{count:>8,}{kept:>8,}")


@pytest.fixture(scope="session", autouse=True)
def _copy_the_schema() -> Generator[None]:
    """Fill new databases with a copy of an empty one: thousands of tests need not run every migration."""
    migrate, files = schema.migrate, schema._FILES
    empty = apsw.Connection(MEMORY)
    migrate(empty)

    def fill(connection: apsw.Connection) -> None:
        if schema._FILES is files and schema.version_of(connection) == 0:
            with connection.backup("main", empty, "main") as copy:
                copy.step()
            use_log(connection)
        migrate(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "migrate", fill)
        yield


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
