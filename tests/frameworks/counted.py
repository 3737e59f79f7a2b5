"""A pytest plug-in: only tests that call an adapter count.

Upstream tests run unmodified. Most of them pass whatever is plugged in and prove nothing, so only those
during which a method of an adapter ran are reported. ``verdict.py`` judges the report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest

from mnemos.integrations.shared import recall

# A test on a busy machine waits for an answer as long as it takes.
recall.choose_limit = lambda _: 600.0
RESULT = os.environ.get("MNEMOS_COUNTED", "")
ARE_OWN = bool(os.environ.get("MNEMOS_OWN"))
"""Tests of ours all count."""
_calls = 0
_outcomes: dict[str, str] = {}
_uncollected: list[str] = []


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
    if _calls == before and not ARE_OWN:
        _outcomes.pop(item.nodeid, None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    worse = {"passed": 0, "skipped": 1, "failed": 2}
    known = _outcomes.get(report.nodeid, "passed")
    _outcomes[report.nodeid] = max(known, report.outcome, key=worse.__getitem__)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    # A module that skips itself, because a package is missing, tests nothing either.
    if not report.passed:
        _uncollected.append(report.nodeid)


def pytest_sessionfinish(exitstatus: int) -> None:
    if RESULT:
        found = {"exit": int(exitstatus), "uncollected": _uncollected, "outcomes": _outcomes}
        Path(RESULT).write_text(json.dumps(found, indent=1), encoding="utf-8")
