"""Snapshots of the workspace: whatever is dropped how often, a good state is not flushed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemos.testing import FixedClock
from mnemos.workspace.limits import Quota
from mnemos.workspace.workspace import Workspace

from .prey import attempt

Attempts = Callable[[int], None]
HOUR, DAY = 3_600, 86_400
GOOD = [["good", 250]]


@pytest.fixture
def workspace(tmp_path: Path, clock: FixedClock) -> Iterator[Workspace]:
    made = Workspace(tmp_path / "databases", clock=clock, quota=Quota(snapshots_bytes=2_000_000))
    yield made
    made.close()


def lay_out(workspace: Workspace, clock: FixedClock, database: str = "default") -> str:
    """Make a good state with a snapshot of yesterday. Return its name."""
    workspace.query("CREATE TABLE t (a, n)", database=database)
    workspace.query("INSERT INTO t VALUES ('good', 250)", database=database)
    workspace.query("CREATE TABLE u (a)", database=database)
    workspace.query("DROP TABLE u", database=database)
    clock.advance(DAY)
    return workspace.snapshots(database)[0].name


def read_after_restore(workspace: Workspace, snapshot: str, database: str = "default") -> object:
    workspace.restore(database, snapshot)
    return workspace.query("SELECT a, n FROM t", database=database).rows


def test_yesterdays_state_survives_any_number_of_drops(
    workspace: Workspace, clock: FixedClock, attempts: Attempts
) -> None:
    yesterday = lay_out(workspace, clock)
    workspace.query("INSERT INTO t VALUES ('today', 1)")
    for number in range(60):
        workspace.query(f"CREATE TABLE x{number} (a)")
        workspace.query(f"INSERT INTO x{number} VALUES ({number}); DROP TABLE x{number}")
        clock.advance(0.02)
    names = [snapshot.name for snapshot in workspace.snapshots()]
    assert yesterday in names
    assert len(names) == 7
    # The first of the burst has what came since yesterday.
    assert read_after_restore(workspace, names[-2]) == [*GOOD, ["today", 1]]
    assert read_after_restore(workspace, yesterday) == GOOD
    attempts(60)


@pytest.mark.parametrize("pause", [0, 60, 1_200, 2 * HOUR])
def test_a_patient_attack_does_not_flush_it_within_days(
    workspace: Workspace, clock: FixedClock, pause: float, attempts: Attempts
) -> None:
    yesterday = lay_out(workspace, clock)
    for number in range(40):
        workspace.query(f"CREATE TABLE x{number} (a)")
        workspace.query(f"DROP TABLE x{number}")
        clock.advance(pause)
    assert len(workspace.snapshots()) <= 28
    assert read_after_restore(workspace, yesterday) == GOOD
    attempts(40)


def test_large_snapshots_do_not_push_out_small_ones(
    workspace: Workspace, clock: FixedClock, attempts: Attempts
) -> None:
    yesterday = lay_out(workspace, clock)
    codes = set()
    for _ in range(20):
        workspace.query("CREATE TABLE IF NOT EXISTS big (a)")
        workspace.query("INSERT INTO big SELECT randomblob(150000)")
        codes.add(attempt(lambda: workspace.query("DROP TABLE IF EXISTS t")).code)
        workspace.query("CREATE TABLE IF NOT EXISTS t (a, n)")
        clock.advance(1)
    # When there is no room for a snapshot, nothing is destroyed.
    assert codes == {None, "too_large"}
    assert workspace.query("SELECT count(*) FROM t").rows == [[0]]
    assert sum(snapshot.size_bytes for snapshot in workspace.snapshots()) <= 2_000_000
    assert yesterday in [snapshot.name for snapshot in workspace.snapshots()]
    attempts(20)


def test_other_databases_do_not_flush_it(workspace: Workspace, clock: FixedClock, attempts: Attempts) -> None:
    yesterday = lay_out(workspace, clock)
    codes = []
    for number in range(8):
        name = f"other{number}"
        workspace.query("CREATE TABLE big AS SELECT randomblob(300000) AS a", database=name)
        codes.append(attempt(lambda name=name: workspace.query("DROP TABLE big", database=name)).code)
    assert codes == [None] * 6 + ["too_large"] * 2
    assert workspace.query("SELECT count(*) FROM big", database="other7").rows == [[1]]
    workspace.delete("other0", confirm="other0")
    assert read_after_restore(workspace, yesterday) == GOOD
    attempts(8)


@pytest.mark.parametrize("back", [1, DAY, 400 * DAY, 1_767_225_600.0])
def test_a_clock_that_goes_back_makes_no_snapshot_older(
    workspace: Workspace, clock: FixedClock, back: float
) -> None:
    yesterday = lay_out(workspace, clock)
    clock.advance(-back)
    workspace.query("INSERT INTO t VALUES ('later', 1)")
    workspace.query("DROP TABLE t")
    assert workspace.snapshots()[1].name == yesterday
    workspace.restore()
    assert workspace.query("SELECT a FROM t").rows == [["good"], ["later"]]


def test_at_one_instant_every_loss_has_a_snapshot(workspace: Workspace, clock: FixedClock) -> None:
    lay_out(workspace, clock)
    for number in range(4):
        workspace.query(f"INSERT INTO t VALUES ('x', {number})")
        workspace.query("ALTER TABLE t RENAME TO v; ALTER TABLE v RENAME TO t")
    assert len({snapshot.name for snapshot in workspace.snapshots()}) == 5


def test_a_restore_without_room_changes_nothing(tmp_path: Path, clock: FixedClock) -> None:
    folder = tmp_path / "small"
    roomy = Workspace(folder, clock=clock)
    tight = Workspace(folder, clock=clock, quota=Quota(snapshots_bytes=1))
    try:
        yesterday = lay_out(roomy, clock)
        roomy.query("INSERT INTO t VALUES ('today', 1)")
        assert attempt(lambda: tight.restore(snapshot=yesterday)).code == "too_large"
        assert tight.query("SELECT a FROM t").rows == [["good"], ["today"]]
        assert [snapshot.name for snapshot in tight.snapshots()] == [yesterday]
    finally:
        roomy.close()
        tight.close()
