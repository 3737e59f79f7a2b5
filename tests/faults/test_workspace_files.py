"""The files of the workspace replaced, cut short, damaged, locked, without room, without permission."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import mnemos
from mnemos.workspace.workspace import Workspace

from . import processes
from .processes import Spawn
from .workspace_soundness import ROLES, await_death, code_of, raw

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER = 1, 2, 3


@pytest.fixture(autouse=True)
def _roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", ROLES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "databases"


@pytest.fixture
def used(folder: Path) -> Iterator[Workspace]:
    """A workspace whose worker has the database open, with a row that is still in the log."""
    workspace = Workspace(folder)
    workspace.query("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
    yield workspace
    workspace.close()


def copy_of(folder: Path, tmp_path: Path) -> Path:
    """Another database, as a whole in one file."""
    other = tmp_path / "other.db"
    with closing(apsw.Connection(str(other))) as made:
        made.execute("CREATE TABLE t(a); INSERT INTO t VALUES('other')")
    return other


def test_a_database_that_was_replaced_is_seen_as_it_is_now(
    used: Workspace, folder: Path, tmp_path: Path
) -> None:
    copy_of(folder, tmp_path).replace(folder / "default.db")
    for journal in ("-wal", "-shm"):
        (folder / f"default.db{journal}").unlink(missing_ok=True)
    assert used.query("SELECT a FROM t").rows == [["other"]]
    used.query("INSERT INTO t VALUES('new')")
    used.close()
    assert raw(folder, "SELECT a FROM t") == [("other",), ("new",)]


def test_a_database_that_was_deleted_is_empty_and_works(used: Workspace, folder: Path) -> None:
    (folder / "default.db").unlink()
    outcome = code_of(lambda: used.query("SELECT a FROM t"))
    assert outcome == "sql_error"
    used.query("CREATE TABLE u(a)")
    used.close()
    assert raw(folder, "SELECT name FROM sqlite_schema") == [("u",)]


def test_a_folder_that_was_deleted_is_made_again(used: Workspace, folder: Path) -> None:
    shutil.rmtree(folder)
    codes = [code_of(lambda: used.query("CREATE TABLE u(a); DROP TABLE u")) for _ in range(2)]
    assert codes[-1] is None, codes


@pytest.mark.parametrize("left", [0, 50, 100, 4_096, 5_000])
def test_a_database_that_was_cut_short_is_named_and_no_crash(
    used: Workspace, folder: Path, left: int
) -> None:
    used.query("CREATE TABLE u(a); INSERT INTO u VALUES(zeroblob(50000))")
    used.close()
    os.truncate(folder / "default.db", left)
    code = code_of(lambda: used.query("SELECT count(*), sum(length(a)) FROM u"))
    assert code in {"corrupt", "not_a_database", "storage_error", "sql_error"}
    code_of(lambda: used.query("INSERT INTO u VALUES(1)"))
    assert used.query("SELECT 1", database="another").rows == [[1]]


def test_a_database_cut_short_while_it_is_open_does_not_crash_either(used: Workspace, folder: Path) -> None:
    used.query("CREATE TABLE u(a); INSERT INTO u VALUES(zeroblob(500000))")
    os.truncate(folder / "default.db", 100)
    code = code_of(lambda: used.query("SELECT sum(length(a)) FROM u"))
    assert code in {None, "corrupt", "not_a_database", "storage_error", "sql_error"}
    code = code_of(lambda: used.query("INSERT INTO u VALUES(1)"))
    assert code in {None, "corrupt", "not_a_database", "storage_error", "sql_error"}
    assert used.query("SELECT 1", database="another").rows == [[1]]


def test_a_file_that_is_not_a_database_is_named_and_kept(used: Workspace, folder: Path) -> None:
    used.close()
    for journal in ("-wal", "-shm"):
        (folder / f"default.db{journal}").unlink(missing_ok=True)
    (folder / "default.db").write_bytes(b"precious text " * 1_000)
    for call in (
        lambda: used.query("SELECT 1 FROM t"),
        lambda: used.query("CREATE TABLE x(a)"),
        lambda: used.schema(),
        lambda: used.tables(),
        lambda: used.compact(),
        lambda: used.copy("default", "copy"),
        lambda: used.check("default"),
    ):
        assert code_of(call) in {"not_a_database", "corrupt", "storage_error"}
    assert (folder / "default.db").read_bytes() == b"precious text " * 1_000
    assert not (folder / "copy.db").exists()


def test_a_damaged_page_is_named_and_a_snapshot_brings_everything_back(used: Workspace, folder: Path) -> None:
    used.query("INSERT INTO t VALUES(?)", rows=[[f"row {number}" * 20] for number in range(2_000)])
    used.query("CREATE TABLE extra(a)")
    used.query("DROP TABLE extra")
    used.close()
    path = folder / "default.db"
    content = bytearray(path.read_bytes())
    for page in range(4_096, len(content), 4_096):
        content[page : page + 300] = os.urandom(300)
    path.write_bytes(bytes(content))
    assert code_of(lambda: used.query("SELECT sum(length(a)) FROM t")) in {
        "corrupt",
        "sql_error",
        "not_a_database",
    }
    assert used.check("default") != [] if code_of(lambda: used.check("default")) is None else True
    used.restore()
    assert used.query("SELECT count(*) FROM t").rows == [[2_001]]
    assert raw(folder, "SELECT count(*) FROM t") == [(2_001,)]


def test_a_deleted_log_loses_at_most_what_was_in_it(used: Workspace, folder: Path) -> None:
    used.compact()
    used.query("INSERT INTO t VALUES(2)")
    process = used._worker.process_id()
    assert process is not None
    os.kill(process, signal.SIGKILL)
    await_death(process)
    for journal in ("-wal", "-shm"):
        (folder / f"default.db{journal}").unlink(missing_ok=True)
    assert used.query("SELECT count(*) FROM t").rows in ([[1]], [[2]])
    used.query("INSERT INTO t VALUES(3)")
    assert raw(folder, "SELECT count(*) FROM t")[0][0] >= 2


@pytest.mark.parametrize("how", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_database_that_another_program_holds_is_busy_in_time(
    used: Workspace, folder: Path, spawn: Spawn, how: str
) -> None:
    holder = spawn("hold_the_lock", path=str(folder / "default.db"), how=how)
    assert holder.line() == "held"
    began = time.monotonic()
    assert code_of(lambda: used.query("INSERT INTO t VALUES(2)", timeout=0.25)) in {"busy", "timed_out"}
    assert code_of(lambda: used.query("INSERT INTO t VALUES(?)", rows=[[2]], timeout=0.25)) in {
        "busy",
        "timed_out",
    }
    assert code_of(lambda: used.query("DROP TABLE t", timeout=0.25)) in {"busy", "timed_out"}
    assert code_of(lambda: used.restore(timeout=0.25)) in {"busy", "timed_out", "not_found"}
    assert code_of(lambda: used.compact(timeout=0.25)) in {"busy", "timed_out"}
    # A writer keeps nobody from reading.
    assert used.query("SELECT a FROM t", timeout=0.25).rows == [[1]]
    assert time.monotonic() - began < 60
    holder.finish()
    used.query("INSERT INTO t VALUES(2)")
    assert raw(folder, "SELECT count(*) FROM t") == [(2,)]


@pytest.mark.parametrize("most", [70_000, 120_000, 500_000])
def test_a_disk_without_room_loses_nothing_that_was_acknowledged(
    folder: Path, spawn: Spawn, most: int
) -> None:
    (told,) = spawn("with_little_room", folder=str(folder), most=most).finish()
    assert told["acknowledged"] == told["count"]
    assert set(told["codes"]) <= {"None", "disk_full", "too_large", "storage_error"}
    assert told["codes"] != ["None"]
    assert raw(folder, "SELECT count(*) FROM t") == [(told["count"],)]


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user, which only root can")
@pytest.mark.parametrize(
    ("mode", "sql"),
    [
        (0o000, "SELECT 1"),
        (0o555, "CREATE TABLE x(a)"),
        (0o444, "SELECT a FROM t"),
        (0o111, "SELECT a FROM t"),
    ],
)
def test_a_folder_without_permission_is_named(
    used: Workspace, folder: Path, spawn: Spawn, mode: int, sql: str
) -> None:
    used.close()
    for path in (folder, *folder.parents):
        if path.owner() == "root" and path.is_relative_to(folder.parents[3]):
            path.chmod(path.stat().st_mode | 0o755)
    folder.chmod(mode)
    codes = spawn("as_nobody", folder=str(folder), sql=sql).finish()
    folder.chmod(0o700)
    assert set(codes) <= {"permission_denied", "storage_error", "unavailable", "read_only"}
    assert used.query("SELECT a FROM t").rows == [[1]]


def without_privileges() -> None:
    """So that even for root a mode counts, from the next program on."""
    libc = ctypes.CDLL(None)
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="gives up privileges as Linux has them")
def test_a_home_that_cannot_be_written_is_still_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with mnemos.open(home) as memory:
        memory.workspace.query("CREATE TABLE t(a)")
        memory.workspace.query("INSERT INTO t VALUES (1)")
    inside = [home, *home.rglob("*")]
    for path in inside:
        path.chmod(0o500 if path.is_dir() else 0o400)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mnemos", *words],
            env={**os.environ, "MNEMOS_HOME": str(home)},
            preexec_fn=without_privileges,
            capture_output=True,
            text=True,
            check=False,
        )

    answers = [run("sql", "-c", sql) for sql in ("SELECT a FROM t", "INSERT INTO t VALUES (2)")]
    checked = run("doctor")
    for path in inside:
        path.chmod(0o700)
    assert [answer.returncode for answer in answers] == [0, 4]
    assert answers[0].stdout.split() == ["a", "-", "1", "(1", "row)"]
    assert "may only read. Nothing was changed" in answers[1].stderr
    assert "workspace: 1 database sound" in checked.stdout


def test_a_workspace_opened_for_reading_changes_nothing(used: Workspace, folder: Path) -> None:
    used.close()
    before = (folder / "default.db").read_bytes()
    reader = Workspace(folder, read_only=True)
    try:
        assert reader.query("SELECT a FROM t").rows == [[1]]
        for call in (
            lambda: reader.query("INSERT INTO t VALUES(2)"),
            lambda: reader.query("CREATE TABLE x(a)"),
            lambda: reader.query("PRAGMA user_version = 5"),
            lambda: reader.query("SELECT 1", database="new"),
            lambda: reader.copy("default", "new"),
            lambda: reader.rename("default", "new"),
            lambda: reader.delete("default", confirm="default"),
            lambda: reader.compact(),
            lambda: reader.restore(),
            lambda: reader.import_file(text="a\n1\n", table="t", mode="append"),
        ):
            assert code_of(call) in {"read_only", "not_found", "refused"}
    finally:
        reader.close()
    assert (folder / "default.db").read_bytes() == before
    assert not (folder / "new.db").exists()
