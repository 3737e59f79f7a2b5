from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .prey import SLACK_SECONDS, Case, Outcome, Prey, workers

Strike = Callable[[Case], Outcome]
_HERE = "attacks/workspace/"


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    """Set up before every workspace, torn down after the last of them was closed."""
    yield
    assert workers() == []


@pytest.fixture(scope="module")
def _den(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prey]:
    """One workspace with its worker for the attacks of a file: that it outlives them is part of the proof."""
    den = Prey(tmp_path_factory.mktemp("den"))
    with pytest.MonkeyPatch.context() as patch:
        # The worker's temporary files go where they would be seen.
        patch.setenv("TMPDIR", str(den.temporary))
        yield den
        den.close()


@pytest.fixture
def prey(_den: Prey, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prey]:
    """A fresh database; afterwards nothing may have come to harm."""
    monkeypatch.chdir(_den.cwd)
    _den.next_database()
    yield _den
    _den.assert_unharmed()


@pytest.fixture
def strike(prey: Prey, record_property: Callable[[str, object], None]) -> Strike:
    """Run a case and check that it ended as it should, in its time."""

    def run(case: Case) -> Outcome:
        if case.before:
            prey.query(case.before)
        outcome = prey.attack(case.text(), **case.given)
        assert outcome.code in case.codes, outcome.message[:2_000]
        if "timeout" in case.given:
            over = outcome.seconds - case.given["timeout"]
            record_property("over", over)
            assert over < SLACK_SECONDS
        return outcome

    return run


@pytest.fixture
def tried(record_property: Callable[[str, object], None]) -> Callable[[int], None]:
    """For a test that tries several attacks: how many."""
    return lambda number: record_property("attacks", number)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    total, overs = 0, list[float]()
    failed = 0
    for outcome in ("passed", "failed", "error", "xfailed"):
        for report in terminalreporter.stats.get(outcome, []):
            if _HERE not in report.nodeid or (outcome == "passed" and report.when != "call"):
                continue
            properties = dict(getattr(report, "user_properties", ()))
            total += int(properties.get("attacks", 1))
            failed += outcome != "passed"
            if "over" in properties:
                overs.append(float(properties["over"]))
    if total:
        bounced = "all bounced" if not failed else f"{failed} tests did not pass"
        terminalreporter.write_line(f"workspace attacks tried: {total}, {bounced}")
    if overs:
        terminalreporter.write_line(f"longest time beyond a deadline: {max(max(overs), 0):.2f} s")
