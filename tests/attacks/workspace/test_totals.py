"""Totals of a space: databases, snapshots and exports stay within their limits together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos.testing import FixedClock
from mnemos.workspace.limits import MB, Quota
from mnemos.workspace.workspace import Workspace

from .prey import attempt

Attempts = Callable[[int], None]
SMALL = Quota(
    databases=6,
    database_bytes=2 * MB,
    databases_bytes=4 * MB,
    snapshots_bytes=3 * MB,
    exports_bytes=MB,
)
MEGABYTE = "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t SELECT randomblob(1000000)"


@pytest.fixture
def workspace(tmp_path: Path, clock: FixedClock) -> Iterator[Workspace]:
    made = Workspace(tmp_path / "databases", files=tmp_path / "files", quota=SMALL, clock=clock)
    yield made
    made.close()


def use(workspace: Workspace) -> dict[str, tuple[int, int]]:
    return {one.setting: (one.used, one.limit) for one in workspace.usage()}


def assert_within(workspace: Workspace, folder: Path) -> None:
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    databases = sum(size for path, size in sizes.items() if path.suffix == ".db" and path.parent == folder)
    logs = [size for path, size in sizes.items() if path.name.endswith("-wal")]
    limits = {setting: limit for setting, (_, limit) in use(workspace).items()}
    assert databases <= limits["databases_bytes"]
    assert all(size <= 4 * MB for size in logs)
    assert use(workspace)["databases_bytes"][0] == databases + sum(logs)
    assert use(workspace)["snapshots_bytes"][0] <= limits["snapshots_bytes"]
    # Beside them, there are notes on what was used last, and indexes of logs.
    assert sum(sizes.values()) - databases - sum(logs) - use(workspace)["snapshots_bytes"][0] < MB


def test_databases_stay_within_their_total(workspace: Workspace, tmp_path: Path, attempts: Attempts) -> None:
    codes = []
    for number in range(20):
        name = f"d{number % 8}"
        codes.append(attempt(lambda name=name: workspace.query(MEGABYTE, database=name)).code)
        assert_within(workspace, tmp_path / "databases")
    assert codes[:3] == [None] * 3
    assert set(codes[4:]) == {"too_large"}
    # Existing data can be read and deleted, which makes room.
    assert workspace.query("SELECT count(*) FROM t", database="d0").rows == [[1]]
    workspace.query("DELETE FROM t", database="d0")
    workspace.compact("d0")
    workspace.query("INSERT INTO t SELECT randomblob(500000)", database="d1")
    attempts(20)


@pytest.mark.parametrize(
    "grow",
    [
        lambda workspace, name: workspace.copy("d0", name),
        lambda workspace, name: workspace.import_file(
            text="a\n" + "x" * 99 + "\n" * 2 + ("y" * 99 + "\n") * 10_000, table="t", database=name
        ),
        lambda workspace, name: workspace.query(
            "CREATE TABLE t (a)", database=name
        ) and workspace.query(
            "INSERT INTO t VALUES (?)", rows=[["z" * 1_000]] * 1_000, database=name
        ),
        lambda workspace, name: [
            workspace.query("CREATE TABLE IF NOT EXISTS t (a)", database=name),
            *[workspace.query("INSERT INTO t VALUES (zeroblob(50000))", database=name) for _ in range(30)],
        ],
    ],
    ids=["copy", "import", "rows", "little by little"],
)  # fmt: skip
def test_no_way_of_growing_goes_beyond_the_total(
    workspace: Workspace, tmp_path: Path, grow: Callable[[Workspace, str], object], attempts: Attempts
) -> None:
    workspace.query(MEGABYTE, database="d0")
    codes = [attempt(lambda n=n: grow(workspace, f"e{n}")).code for n in range(5)]
    assert codes[0] is None
    assert codes[-1] == "too_large"
    assert_within(workspace, tmp_path / "databases")
    attempts(5)


def test_a_restore_does_not_go_beyond_the_total(workspace: Workspace, tmp_path: Path) -> None:
    workspace.query(MEGABYTE, database="d0")
    workspace.query("DROP TABLE t", database="d0")
    workspace.compact("d0")
    for name in ("d1", "d2", "d3"):
        workspace.query(MEGABYTE, database=name)
    assert attempt(lambda: workspace.restore("d0")).code == "too_large"
    workspace.delete("d3", confirm="d3")
    workspace.restore("d0")
    assert workspace.query("SELECT count(*) FROM t", database="d0").rows == [[1]]
    assert_within(workspace, tmp_path / "databases")


def test_the_number_of_databases_is_limited_and_renaming_still_works(workspace: Workspace) -> None:
    for number in range(6):
        workspace.query("SELECT 1", database=f"d{number}")
    for call in (
        lambda: workspace.query("SELECT 1", database="more"),
        lambda: workspace.copy("d0", "more"),
        lambda: workspace.import_file(text="a\n1\n", table="t", database="more"),
        lambda: workspace.export("SELECT 1", "a.csv", database="more"),
    ):
        assert attempt(call).code == "too_large"
    workspace.rename("d0", "renamed")
    assert use(workspace)["max_databases"] == (6, 6)


def test_the_space_of_a_log_that_one_call_made_long_is_freed(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "databases"
    large = Workspace(folder, quota=Quota())
    try:
        large.query("CREATE TABLE t (a); INSERT INTO t VALUES (?)", rows=None, params=["x"])
        large.query("INSERT INTO t VALUES (?)", rows=[["x" * 10_000]] * 2_000)
        assert (folder / "default.db-wal").stat().st_size <= 4 * MB
        failed = attempt(
            lambda: large.query("INSERT INTO t SELECT randomblob(10000) FROM t; SELECT nonsense")
        )
        assert failed.code == "sql_error"
        assert (folder / "default.db-wal").stat().st_size <= 4 * MB
    finally:
        large.close()


# --- exports ----------------------------------------------------------------------------------


def test_exports_stay_within_their_total(workspace: Workspace, tmp_path: Path, attempts: Attempts) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "mine.csv").write_bytes(bytes(5 * MB))
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
    rows += "SELECT printf('%0100d', i) AS a FROM n"
    codes = [attempt(lambda n=n: workspace.export(rows, f"{n}.csv")).code for n in range(8)]
    assert codes == [None] * 4 + ["too_large"] * 4
    assert sorted(path.name for path in workspace.exports()) == ["0.csv", "1.csv", "2.csv", "3.csv"]
    assert sorted(path.name for path in files.iterdir()) == ["0.csv", "1.csv", "2.csv", "3.csv", "mine.csv"]
    # One that is replaced makes room for itself, one that is deleted for another.
    workspace.export(rows, "3.csv", overwrite=True)
    (files / "0.csv").unlink()
    workspace.export(rows, "deep/4.csv")
    used, limit = use(workspace)["exports_bytes"]
    assert 800_000 < used <= limit
    attempts(8)


def test_many_tiny_exports_count_by_what_they_take_of_the_disk(
    workspace: Workspace, attempts: Attempts
) -> None:
    codes = [attempt(lambda n=n: workspace.export("SELECT 1", f"{n}.csv")).code for n in range(260)]
    assert codes.count(None) == 1_000_000 // 4_096 + 1
    assert codes[-1] == "too_large"
    attempts(len(codes))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"7", b'[1, null, {"a": 1}, "/nothing", "a\\u0000b"]', b"\xff"]
)
def test_a_damaged_list_of_exports_does_not_crash(
    workspace: Workspace, tmp_path: Path, content: bytes
) -> None:
    workspace.query("SELECT 1")
    (tmp_path / "databases" / "exports.json").write_bytes(content)
    assert workspace.exports() == []
    workspace.export("SELECT 1", "a.csv")
    assert [path.name for path in workspace.exports()] == ["a.csv"]


def test_a_person_at_the_command_line_has_no_limit(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "databases", files=Path("/"), quota=Quota(exports_bytes=1))
    try:
        workspace.export("SELECT 1", tmp_path / "a.csv")
        assert workspace.exports() == []
    finally:
        workspace.close()


# --- archives, settings, doctor ---------------------------------------------------------------


def test_an_archive_brings_no_more_than_there_is_room_for(tmp_path: Path, attempts: Attempts) -> None:
    with mnemos.open(tmp_path / "first", embedder="none") as memory:
        for number in range(4):
            memory.workspace.query(MEGABYTE, database=f"d{number}")
            memory.workspace.query("DROP TABLE t; CREATE TABLE u (a)", database=f"d{number}")
        memory.export(tmp_path / "a.tar")
    room = {"databases_bytes": 2_500_000, "snapshots_bytes": 4_500_000}
    with mnemos.open(tmp_path / "second", embedder="none", **room) as memory:
        report = memory.import_archive(tmp_path / "a.tar").parts[-1]
        assert (report.imported, report.not_taken) == (2, 2)
        assert_within(memory.workspace, tmp_path / "second" / "databases" / "default")
    room = {"databases_bytes": 25_000_000, "snapshots_bytes": 1_500_000}
    with mnemos.open(tmp_path / "third", embedder="none", **room) as memory:
        report = memory.import_archive(tmp_path / "a.tar").parts[-1]
        assert (report.imported, report.not_taken) == (1, 3)
    attempts(2)


def test_doctor_and_stats_show_use_and_limits(tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "home", embedder="none", databases_bytes=5_000_000) as memory:
        memory.workspace.query(MEGABYTE)
        memory.workspace.export("SELECT 1", "a.csv")
        for name in ("doctor", "stats"):
            shown = {one["setting"]: one for one in memory.call(name, {})["usage"]}
            assert shown["max_databases"]["used"] == 1
            assert 1_000_000 < shown["databases_bytes"]["used"] < 5_000_000
            assert shown["databases_bytes"]["limit"] == 5_000_000
            assert shown["exports_bytes"] == {
                "name": "exports", "used": 4_096, "limit": 500_000_000, "setting": "exports_bytes"
            }  # fmt: skip
    with mnemos.open(tmp_path / "home", embedder="none", databases_bytes=100_000) as memory:
        # Beyond a limit that was lowered: reading goes on, and so does making room.
        assert memory.call("doctor", {})["healthy"]
        assert memory.workspace.query("SELECT count(*) FROM t").rows == [[1]]
        assert attempt(lambda: memory.workspace.query(MEGABYTE)).code == "too_large"
        memory.workspace.query("DELETE FROM t")
        memory.workspace.compact()
        memory.workspace.query("INSERT INTO t VALUES (1)")
