"""The workspace when its worker, its host, its files or its disk fail: nothing acknowledged is lost."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemos.workspace.workspace import Workspace

from . import processes
from .processes import Spawn
from .workspace_soundness import ROLES, alive, await_death, code_of, gone_within, raw

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
# The possible answers to a call in which the worker was killed.
KILLED = {"too_large", "unavailable", "timed_out"}


@pytest.fixture(autouse=True)
def _roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", ROLES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "databases"


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    workspace = Workspace(folder)
    yield workspace
    process = workspace._worker.process_id()
    workspace.close()
    assert process is None or not alive(process)


# --- the worker is killed ------------------------------------------------------------------------


class Killer:
    """Kills the worker once, some moments from now, while a call is at work."""

    def __init__(self, workspace: Workspace, chance: random.Random) -> None:
        self._workspace = workspace
        self._chance = chance

    def during(self, call: Callable[[], Any], within: float) -> str | None:
        """The code of a call in whose middle, or around which, the worker was killed."""
        self._workspace.query("SELECT 1")
        process = self._workspace._worker.process_id()
        assert process is not None
        pause = self._chance.uniform(0, within)
        thread = threading.Thread(target=self._strike, args=(process, pause))
        thread.start()
        code = code_of(call)
        thread.join()
        await_death(process)
        return code

    def _strike(self, process: int, pause: float) -> None:
        threading.Event().wait(pause)
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_no_acknowledged_write_is_lost_when_the_worker_is_killed(
    workspace: Workspace, folder: Path, nightly: bool
) -> None:
    chance = random.Random(20_260_301)
    killer = Killer(workspace, chance)
    workspace.query("CREATE TABLE t(batch, n); CREATE TABLE sums(batch, total)")
    acknowledged = []
    rows = [[None, number] for number in range(2_000)]
    for batch in range(500 if nightly else 25):
        for row in rows:
            row[0] = batch
        code = killer.during(lambda: workspace.query("INSERT INTO t VALUES(?, ?)", rows=rows), 0.02)
        assert code in KILLED | {None}
        if code is None:
            acknowledged.append(batch)
    # Of a call that was not acknowledged all is there, or nothing.
    found = dict(raw(folder, "SELECT batch, count(*) FROM t GROUP BY 1"))
    assert set(found.values()) <= {len(rows)}
    assert set(acknowledged) <= found.keys()


def test_a_call_of_several_statements_is_whole_or_nothing_when_the_worker_is_killed(
    workspace: Workspace, folder: Path, nightly: bool
) -> None:
    chance = random.Random(20_260_302)
    killer = Killer(workspace, chance)
    workspace.query("CREATE TABLE a(batch, filler); CREATE TABLE b(batch); CREATE INDEX i ON a(filler)")
    acknowledged = []
    sql = """INSERT INTO a VALUES(:batch, randomblob(300000)); UPDATE a SET filler = randomblob(300000);
        INSERT INTO b VALUES(:batch); DROP TABLE IF EXISTS made;
        CREATE TABLE made AS SELECT :batch AS batch"""
    for batch in range(200 if nightly else 15):
        code = killer.during(lambda batch=batch: workspace.query(sql, {"batch": batch}), 0.06)
        assert code in KILLED | {None}
        if code is None:
            acknowledged.append(batch)
    a, b = raw(folder, "SELECT batch FROM a ORDER BY 1"), raw(folder, "SELECT batch FROM b ORDER BY 1")
    assert a == b
    assert set(acknowledged) <= {batch for (batch,) in a}
    if a:
        assert raw(folder, "SELECT batch FROM made") == [a[-1]]
    # The next copy deletes the leftovers of a killed one.
    workspace.query("DROP TABLE a")
    for snapshot in (folder / "snapshots" / "default").glob("*.db"):
        with closing(apsw.Connection(str(snapshot), flags=apsw.SQLITE_OPEN_READONLY)) as kept:
            assert kept.execute("PRAGMA integrity_check").get == "ok"


CRASHES = ["insert", "drop", "restore", "compact", "import", "copy"]


@pytest.mark.parametrize("work", CRASHES)
def test_a_worker_that_dies_at_any_change_of_a_file_leaves_all_or_nothing(
    tmp_path: Path, spawn: Spawn, nightly: bool, work: str
) -> None:
    """Not only at random: at the n-th write, sync, rename or removal, in the middle of a commit too."""
    template = tmp_path / "template"
    workspace = Workspace(template / "databases")
    workspace.query("CREATE TABLE t(a, b); INSERT INTO t VALUES('old', 1)")
    workspace.query("DELETE FROM t; DROP TABLE t; CREATE TABLE t(a, b); INSERT INTO t VALUES('old', 2)")
    workspace.close()
    chance = random.Random(work)
    points = range(1, 400) if nightly else sorted(chance.sample(range(1, 26), 2))
    ends = {None: 0, "killed": 0}
    for at in points:
        home = tmp_path / f"at{at}"
        shutil.copytree(template, home)
        code = spawn("crash_at", folder=str(home), at=at, work=work).finish()[0]
        assert code in KILLED | {None}, code
        ends["killed" if code else None] += 1
        rows = raw(home / "databases", "SELECT a, count(*), max(b) FROM t GROUP BY a ORDER BY a")
        assert rows in expected(work, done=code is None), (at, code, rows)
        again = Workspace(home / "databases")
        again.query("INSERT INTO t VALUES('after', 1)")
        again.query("DROP TABLE t")
        assert all(info.name in ("default", "copy") for info in again.databases())
        again.close()
        # The next copy deletes the leftovers of an interrupted one.
        left = [path.name for path in (home / "databases" / "snapshots").rglob("*unfinished*")]
        assert left == [], (at, code)
        if code is None and nightly:
            break
    assert ends["killed"] or not nightly


def expected(work: str, *, done: bool) -> list[list[tuple[Any, ...]]]:
    old = [("old", 1, 2)]
    new = {
        "insert": [("new", 3_000, 3_000), *old],
        "drop": [("new", 1, 1)],
        "restore": [("old", 1, 1)],
        "compact": old,
        "import": [("new", 2_000, 1_999), *old],
        "copy": old,
    }[work]
    return [new] if done else [old, new]


def test_a_worker_that_is_stopped_is_killed_at_the_deadline(workspace: Workspace) -> None:
    workspace.query("CREATE TABLE t(a)")
    process = workspace._worker.process_id()
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    began = time.monotonic()
    for rows in (None, [["x" * 1_000]] * 5_000):
        assert (
            code_of(
                lambda rows=rows: workspace.query(
                    "INSERT INTO t VALUES(?)", ["x"] if rows is None else None, rows=rows, timeout=0.5
                )
            )
            == "timed_out"
        )
        stopped = workspace._worker.process_id()
        assert stopped is None
        workspace.query("SELECT 1")
        other = workspace._worker.process_id()
        assert other is not None
        os.kill(other, signal.SIGSTOP)
    assert time.monotonic() - began < 60
    assert not alive(process)
    assert code_of(lambda: workspace.query("SELECT 1", timeout=0.3)) == "timed_out"
    assert workspace.query("SELECT count(*) FROM t").rows == [[0]]


def test_a_worker_that_died_between_calls_is_not_noticed(workspace: Workspace) -> None:
    workspace.query("CREATE TABLE t(a)")
    for number in range(3):
        process = workspace._worker.process_id()
        assert process is not None
        os.kill(process, signal.SIGKILL)
        await_death(process)
        workspace.query("INSERT INTO t VALUES(?)", [number])
    assert workspace.query("SELECT count(*) FROM t").rows == [[3]]


# --- many callers --------------------------------------------------------------------------------


def test_two_hundred_threads_at_once(workspace: Workspace, folder: Path) -> None:
    workspace.query("CREATE TABLE t(a); CREATE TABLE counter(n); INSERT INTO counter VALUES(0)")
    start = threading.Barrier(200)

    def work(number: int) -> list[Any]:
        start.wait()
        workspace.query("INSERT INTO t VALUES(?); UPDATE counter SET n = n + 1", [number])
        if number % 10 == 0:
            assert code_of(lambda: workspace.query("DELETE FROM t; SELECT nothing")) == "sql_error"
        return list(workspace.query("SELECT a FROM t WHERE a = ?", [number]).rows)

    with ThreadPoolExecutor(200) as pool:
        assert list(pool.map(work, range(200))) == [[[number]] for number in range(200)]
    assert raw(folder, "SELECT count(DISTINCT a), (SELECT n FROM counter) FROM t") == [(200, 200)]


def test_threads_that_fail_in_every_way_do_not_get_each_others_answers(workspace: Workspace) -> None:
    workspace.query("CREATE TABLE t(a)")

    def work(number: int) -> None:
        kind = number % 4
        if kind == 0:
            assert workspace.query("SELECT ?", [number]).rows == [[number]]
        elif kind == 1:
            assert code_of(lambda: workspace.query("SELECT nothing")) in KILLED | {"sql_error"}
        elif kind == 2:
            assert code_of(lambda: workspace.query(ENDLESS, timeout=0.02)) in KILLED | {"busy"}
        else:
            process = workspace._worker.process_id()
            if process is not None and number % 16 == 3:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def tried(number: int) -> str | None:
        return code_of(lambda: work(number))

    with ThreadPoolExecutor(16) as pool:
        codes = set(pool.map(tried, range(64)))
    # One whose worker another thread has killed says so; none gets an answer that is not its own.
    assert codes <= KILLED | {None}
    assert workspace.query("SELECT 1").rows == [[1]]


def test_two_processes_write_at_once_and_nothing_is_lost(
    workspace: Workspace, folder: Path, spawn: Spawn
) -> None:
    workspace.query("CREATE TABLE t(a, b); CREATE TABLE counter(n); INSERT INTO counter VALUES(0)")
    writers = [spawn("write_until_told", folder=str(folder), name=name) for name in ("one", "two")]
    for number in range(50):
        workspace.query("INSERT INTO t VALUES('here', ?); UPDATE counter SET n = n + 1", [number], timeout=60)
    written = {"here": 50} | {
        name: writer.finish()[0] for name, writer in zip(("one", "two"), writers, strict=True)
    }
    assert dict(raw(folder, "SELECT a, count(DISTINCT b) FROM t GROUP BY 1")) == {
        name: n for name, n in written.items() if n
    }
    assert raw(folder, "SELECT n FROM counter") == [(sum(written.values()),)]


def test_calls_that_read_and_then_write_lose_no_update(
    workspace: Workspace, folder: Path, spawn: Spawn
) -> None:
    workspace.query("CREATE TABLE counter(n); INSERT INTO counter VALUES(0)")
    children = [spawn("count_up", folder=str(folder), times=60) for _ in range(2)]
    for child in children:
        assert child.line() == "ready"
    for child in children:
        child.go()
    for child in children:
        assert child.finish() == ["done"]
    assert raw(folder, "SELECT n FROM counter") == [(120,)]


def test_snapshots_and_restores_beside_a_writer_leave_whole_calls(workspace: Workspace, folder: Path) -> None:
    other = Workspace(folder)
    workspace.query("CREATE TABLE t(batch, n); CREATE TABLE extra(a); INSERT INTO extra VALUES(1)")
    stop = threading.Event()
    codes: set[str | None] = set()

    def write() -> None:
        for batch in itertools.count():
            if stop.is_set():
                return
            rows = [[batch, number] for number in range(50)]
            codes.add(code_of(lambda rows=rows: other.query("INSERT INTO t VALUES(?, ?)", rows=rows)))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(4):
            workspace.query("DROP TABLE extra")
            assert workspace.query("SELECT name FROM sqlite_schema").rows == [["t"]]
            workspace.restore()
            assert workspace.query("SELECT a FROM extra").rows == [[1]]
    finally:
        stop.set()
        writer.join()
        other.close()
    assert codes <= {None, "busy"}
    assert {count for _, count in raw(folder, "SELECT batch, count(*) FROM t GROUP BY 1")} <= {50}


def test_a_workspace_closed_in_the_middle_of_a_call_leaves_no_process(workspace: Workspace) -> None:
    workspace.query("CREATE TABLE t(a)")
    process = workspace._worker.process_id()
    assert process is not None
    codes = []
    calling = threading.Thread(
        target=lambda: codes.append(code_of(lambda: workspace.query(ENDLESS, timeout=1)))
    )
    calling.start()
    while not workspace._worker._turn.locked():
        threading.Event().wait(0.005)
    workspace.close()
    calling.join()
    assert codes[0] in KILLED
    assert not alive(process)
    assert workspace.query("SELECT count(*) FROM t").rows == [[0]]


# --- the host goes -------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["idle", "endless", "spinning"])
def test_no_worker_outlives_a_host_that_was_killed(folder: Path, spawn: Spawn, how: str) -> None:
    host = spawn("hang", folder=str(folder), how=how, seconds=100.0)
    process = host.line()
    assert alive(process)
    host.kill()
    # Also in the middle of one long instruction, in which SQLite asks nobody whether to go on.
    assert gone_within(process, 5)
    assert raw(folder, "SELECT a FROM t") == [("before",)]


def test_no_worker_outlives_a_host_that_forgot_to_close(folder: Path, spawn: Spawn) -> None:
    host = spawn("forget_to_close", folder=str(folder))
    process = host.line()
    host.finish()
    assert gone_within(process, 5)


def test_after_a_fork_both_go_on_with_workers_of_their_own(folder: Path, spawn: Spawn) -> None:
    reports = spawn("fork_and_share", folder=str(folder)).finish()
    assert reports[-1] == "done"
    assert [one["status"] for one in reports[:-1]] == [0, 0, 0, 0]
    assert all(one["same"] for one in reports[:-1])
    assert [one["rows"] for one in reports[:-1]] == [2, 2, 3, 3]


def test_a_fork_in_the_middle_of_a_call_hangs_nobody(folder: Path, spawn: Spawn) -> None:
    (told,) = spawn("fork_during_a_call", folder=str(folder)).finish()
    assert told["status"] in (0, 1)
    assert told["after"] is None


def test_an_interrupt_in_the_middle_of_a_call_leaves_a_workspace_that_works(
    folder: Path, spawn: Spawn
) -> None:
    *interrupts, rows = spawn("interrupted", folder=str(folder), times=6).finish()
    assert all(one["next"] is None for one in interrupts)
    assert any(one["caught"] for one in interrupts)
    assert rows == 0
