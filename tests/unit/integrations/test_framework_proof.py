"""The runner of the frameworks' own tests cannot pass without proving something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FRAMEWORKS = Path(__file__).parents[2] / "frameworks"
sys.path.insert(0, str(FRAMEWORKS))

import verdict  # noqa: E402 - a script beside run.py, not a package


def judge(outcomes: dict[str, str], exit: int = 0, *, is_own: bool = False, **found: Any) -> verdict.Row:
    report = {"exit": exit, "uncollected": [], "outcomes": outcomes} | found
    return verdict.judge(verdict.Row("x", "suite"), report, {"test_listed"}, is_own=is_own)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (judge({"t.py::test_a": "failed"}, 1), "failed: t.py::test_a"),
        (judge({"t.py::test_listed[1]": "passed"}), "listed but passing: test_listed"),
        (judge({}), "no test called the adapter"),
        (judge({"t.py::test_a": "passed"}, uncollected=["u.py"]), "not collected: u.py"),
        (judge({"t.py::test_a": "passed"}, 2), "pytest ended with exit code 2"),
        (judge({"t.py::test_a": "passed"}, 1, is_own=True), "pytest ended with exit code 1"),
        (verdict.judge(verdict.Row("x", "s"), None, set(), is_own=True), "pytest ended without a report"),
    ],
)
def test_a_run_that_proves_nothing_is_a_problem(row: verdict.Row, problem: str) -> None:
    assert problem in row.problems


def test_listed_failures_and_failures_of_others_are_not_problems() -> None:
    row = judge({"t.py::test_listed[1]": "failed", "t.py::test_a": "passed"}, 1)
    assert (row.passed, row.listed, row.failed, row.problems) == (1, 1, 0, [])


def test_a_listed_test_that_never_ran_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "read_exceptions", lambda _: {"test_listed", "test_gone"})
    rows = [judge({"t.py::test_listed[1]": "failed"}, 1), judge({"t.py::test_a": "passed"})]
    assert verdict.find_stale("x", rows) == ["listed but never ran: test_gone"]


def test_the_table_counts_frameworks_that_were_not_tested() -> None:
    table = verdict.render([judge({"t.py::test_a": "passed"})], ["crewai"])
    assert table.splitlines()[-1] == "Frameworks tested: 1, not tested: 1. Problems: 0."


def test_the_table_of_faults_has_a_row_for_each_adapter() -> None:
    test = "check_faults.py::test_a_cancelled_write_is_stored_once_or_not_at_all"
    outcomes = {f"{test}[SQLite-Store]": "passed", f"{test}[PostgreSQL-Store]": "failed"}
    heading, row = verdict.render_faults(outcomes).splitlines()
    assert row.index("holds, FAILS PG") == heading.index("cancelled write")


def test_the_plug_in_reports_what_cannot_be_collected_and_counts_only_calls(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "test_skipped.py").write_text("import pytest\npytest.importorskip('nothing_of_this_name')\n")
    (tmp_path / "test_calls.py").write_text(
        "from frameworks.counted import count_call\n"
        "def test_calls(): count_call()\n"
        "def test_fails_without_a_call(): assert False\n"
    )
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "frameworks.counted", "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, "--continue-on-collection-errors", "-c", os.devnull, "--rootdir", str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(FRAMEWORKS.parent), "MNEMOS_COUNTED": str(report)},
        capture_output=True,
        check=False,
    )
    found = json.loads(report.read_text())
    assert found["exit"] == 1
    assert found["uncollected"] == ["test_broken.py", "test_skipped.py"]
    assert found["outcomes"] == {"test_calls.py::test_calls": "passed"}
