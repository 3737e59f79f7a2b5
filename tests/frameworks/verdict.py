"""The verdict on a run of a framework's tests: one that proves nothing is a failure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_RAN = (0, 1)
"""Exit codes of pytest with which all tests ran: any other is an interruption, an error or no test."""


def read_exceptions(framework: str) -> set[str]:
    """Return the names of upstream tests that cannot pass with our adapter."""
    listed = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text(encoding="utf-8"))
    return set(listed.get(framework, {}))


@dataclass
class Row:
    """The result of one suite, or of an example."""

    framework: str
    suite: str
    passed: int = 0
    listed: int = 0
    failed: int = 0
    problems: list[str] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)
    """Of the tests that called the adapter."""


def _shorten(name: str) -> str:
    return name.split("::", 1)[-1].split("[")[0]


def judge(row: Row, report: dict[str, Any] | None, exceptions: set[str], *, is_own: bool) -> Row:
    """Fill in a row from the report of ``counted``; None if pytest ended without one.

    Of an upstream suite only tests that call the adapter count. Of our own every test does.
    """
    if report is None:
        row.problems.append("pytest ended without a report")
        return row
    names = {name: _shorten(name) for name in report["outcomes"]}
    row.outcomes = report["outcomes"]
    passed = [name for name, outcome in report["outcomes"].items() if outcome == "passed"]
    failed = [name for name, outcome in report["outcomes"].items() if outcome == "failed"]
    unexpected = [name for name in failed if names[name] not in exceptions]
    row.passed, row.failed, row.listed = len(passed), len(unexpected), len(failed) - len(unexpected)
    row.problems += [f"failed: {name}" for name in sorted(unexpected)]
    row.problems += [f"not collected: {name}" for name in report["uncollected"]]
    still_failing = {names[name] for name in failed}
    now_passing = {names[name] for name in passed} & exceptions - still_failing
    row.problems += [f"listed but passing: {name}" for name in sorted(now_passing)]
    if report["exit"] not in ((0,) if is_own else _RAN) and not row.problems:
        row.problems.append(f"pytest ended with exit code {report['exit']}")
    if not report["outcomes"]:
        row.problems.append("no test called the adapter")
    return row


FAULTS = {
    "test_two_processes_that_are_killed_lose_nothing_they_acknowledged": "two processes, killed",
    "test_a_cancelled_write_is_stored_once_or_not_at_all": "cancelled write",
    "test_ten_thousand_turns_come_back_in_order": "10,000 turns",
    "test_a_stored_closing_tag_stays_inside": "closing tag",
    "test_a_forgotten_turn_leaves_the_others": "forgotten turn",
    "test_another_user_s_data_is_not_seen": "another user",
    "test_with_memory_off_nothing_is_stored": "memory off",
    "test_a_home_of_a_million_messages_is_written_and_asked": "a million messages",
}
_MARKS = {"passed": "holds", "failed": "FAILS", "skipped": "-"}


def render_faults(outcomes: Mapping[str, str]) -> str:
    """Return the table of ``check_faults.py``: a row per adapter, a column per fault.

    A cell has the result on SQLite and, after it, on PostgreSQL where that was tried.
    """
    cells: dict[str, dict[str, list[str]]] = {}
    for name, outcome in outcomes.items():
        file, _, test = name.partition("::")
        test, _, about = test.rstrip("]").partition("[")
        if file == "check_faults.py" and test in FAULTS:
            engine, _, adapter = about.rpartition("-")
            row = cells.setdefault(adapter, {})
            row.setdefault(FAULTS[test], []).append(f"{_MARKS[outcome]}{' PG' * (engine == 'PostgreSQL')}")
    lines = [f"{'adapter':<23}" + "".join(f"{fault:<23}" for fault in FAULTS.values())]
    for adapter, row in cells.items():
        shown = (", ".join(row.get(fault, ["-"])) for fault in FAULTS.values())
        lines.append(f"{adapter:<23}" + "".join(f"{cell:<23}" for cell in shown))
    return "\n".join(line.rstrip() for line in lines)


def find_stale(framework: str, rows: Iterable[Row]) -> list[str]:
    """Return listed tests that did not run or did not call the adapter: the list must stay true."""
    ran = {_shorten(name) for row in rows for name in row.outcomes}
    return [f"listed but never ran: {name}" for name in sorted(read_exceptions(framework) - ran)]


def render(rows: Sequence[Row], skipped: Sequence[str]) -> str:
    """Return the table of all suites, with what went wrong below it."""
    lines = [f"{'framework':<18}{'tests':<42}{'passed':>7}{'listed':>7}{'failed':>7}"]
    lines += [
        f"{row.framework:<18}{row.suite:<42}{row.passed:>7}{row.listed:>7}{row.failed:>7}"
        + ("  PROBLEM" if row.problems else "")
        for row in rows
    ]
    lines += [f"{name:<18}not tested: it cannot be installed here" for name in skipped]
    lines += [f"{row.framework}, {row.suite}: {one}" for row in rows for one in row.problems]
    frameworks, wrong = {row.framework for row in rows}, sum(bool(row.problems) for row in rows)
    summary = f"Frameworks tested: {len(frameworks)}, not tested: {len(skipped)}. Problems: {wrong}."
    return "\n".join([*lines, summary])
