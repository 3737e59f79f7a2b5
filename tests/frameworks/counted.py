"""A pytest plug-in: only tests that call an adapter count, and what cannot pass is listed with a reason.

Upstream tests run unmodified. Most of them pass whatever is plugged in and prove nothing, so only those
during which a method of an adapter ran are reported. Names in ``exceptions.toml`` may fail; one that passes
fails the run, so that the list stays true.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest

RESULT = os.environ.get("MNEMOS_COUNTED", "")
FRAMEWORK = os.environ.get("MNEMOS_FRAMEWORK", "")
_calls = 0
_outcomes: dict[str, str] = {}


def count_call() -> None:
    """Note that an adapter was called; adapters under test call it through ``watch``."""
    global _calls
    _calls += 1


def watch(adapter: type, *methods: str) -> type:
    """Return the adapter as a class that counts calls of these methods."""

    def make(name: str) -> Any:
        original = getattr(adapter, name)

        async def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
            count_call()
            return await original(self, *args, **kwargs)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            count_call()
            return original(self, *args, **kwargs)

        # A signature is looked at by some frameworks.
        return wraps(original)(wait if iscoroutinefunction(original) else call)

    return type(adapter.__name__, (adapter,), {name: make(name) for name in methods})


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = _calls
    yield
    if _calls == before:
        _outcomes.pop(item.nodeid, None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    worse = {"passed": 0, "skipped": 1, "failed": 2}
    known = _outcomes.get(report.nodeid, "passed")
    _outcomes[report.nodeid] = max(known, report.outcome, key=worse.__getitem__)


def pytest_sessionfinish(session: pytest.Session) -> None:
    listed = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text(encoding="utf-8"))
    expected = dict(listed.get(FRAMEWORK, {}))
    passed = {name for name, outcome in _outcomes.items() if outcome == "passed"}
    failed = {name for name, outcome in _outcomes.items() if outcome == "failed"}
    short = {name: name.split("::", 1)[-1] for name in passed | failed}
    unexpected = sorted(name for name in failed if short[name].split("[")[0] not in expected)
    now_passing = sorted(
        entry
        for entry in expected
        if any(short[name].split("[")[0] == entry for name in passed)
        and not any(short[name].split("[")[0] == entry for name in failed)
    )
    summary = {
        "passed": len(passed),
        "listed": len(failed) - len(unexpected),
        "failed": unexpected,
        "listed but passing": now_passing,
    }
    if RESULT:
        Path(RESULT).write_text(json.dumps(summary, indent=1), encoding="utf-8")
    print(f"\n{FRAMEWORK}: of the tests that call the adapter {json.dumps(summary, indent=1)}")
    session.exitstatus = 1 if unexpected or now_passing else 0
