"""Roles of child processes that use the workspace. Run as those of ``roles.py`` are."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
from roles import report, told_to_stop, wait

from mnemos.errors import MnemosError
from mnemos.workspace.workspace import Workspace

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
# One instruction of SQLite's that takes minutes, in which nothing is asked about the time.
SPINNING = "SELECT instr(printf('%.*c', 3900000, 'a'), printf('%.*c', 1900000, 'a') || 'b')"


def code_of(call: Callable[[], Any]) -> str | None:
    try:
        call()
    except MnemosError as exc:
        return exc.code
    return None


def write_until_told(folder: str, name: str) -> None:
    """Insert a row and count up a shared counter, one call each time; report what was acknowledged."""
    workspace = Workspace(Path(folder))
    number = 0
    while not told_to_stop():
        workspace.query(
            "INSERT INTO t VALUES(?, ?); UPDATE counter SET n = n + 1", [name, number], timeout=60
        )
        number += 1
    workspace.close()
    report(number)


def count_up(folder: str, times: int) -> None:
    """On the word, read a counter and write it back one higher, in one call, so often."""
    workspace = Workspace(Path(folder))
    workspace.query("SELECT 1")
    report("ready")
    wait()
    for _ in range(times):
        workspace.query("SELECT n FROM counter; UPDATE counter SET n = n + 1", timeout=60)
    workspace.close()
    report("done")


def hang(folder: str, how: str, seconds: float) -> None:
    """Report the worker's process, then ask it for something that does not end."""
    workspace = Workspace(Path(folder))
    workspace.query("CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES('before')")
    report(workspace._worker.process_id())
    if how == "idle":
        wait()
    sql = {"endless": ENDLESS, "spinning": SPINNING}[how]
    workspace.query(f"INSERT INTO t VALUES('never'); {sql}", timeout=seconds)


def forget_to_close(folder: str) -> None:
    """Leave without closing anything; report the worker's process."""
    workspace = Workspace(Path(folder))
    workspace.query("CREATE TABLE t(a)")
    report(workspace._worker.process_id())


def fork_and_share(folder: str) -> None:
    """Fork with a worker at hand: both go on; report the worker and rows each of them sees."""
    workspace = Workspace(Path(folder))
    workspace.query("CREATE TABLE t(a); INSERT INTO t VALUES('parent')")
    before = workspace._worker.process_id()
    for does in ("use", "leave", "use while the parent works", "close"):
        child = os.fork()
        if child == 0:
            if does.startswith("use"):
                workspace.query("INSERT INTO t VALUES('child')")
                own = workspace._worker.process_id()
                workspace.close()
                os._exit(0 if own != before else 3)
            if does == "close":
                workspace.close()
            # An exit as Python does it, with everything that is to be done at the end.
            sys.exit(0)
        if does == "use while the parent works":
            for _ in range(20):
                workspace.query("SELECT count(*) FROM t")
        _, status = os.waitpid(child, 0)
        after = workspace.query("SELECT count(*) FROM t").rows[0][0]
        report(
            {"does": does, "status": status, "same": workspace._worker.process_id() == before, "rows": after}
        )
    workspace.close()
    report("done")


def fork_during_a_call(folder: str) -> None:
    """Fork while another thread is in the middle of a call: the child does not wait for it forever."""
    workspace = Workspace(Path(folder))
    workspace.query("CREATE TABLE t(a)")
    busy = threading.Thread(target=lambda: code_of(lambda: workspace.query(ENDLESS, timeout=1)))
    busy.start()
    while not workspace._worker._turn.locked():
        pass
    child = os.fork()
    if child == 0:
        # Busy is a true answer too: the lock that was held at the fork is held forever.
        code = code_of(lambda: workspace.query("INSERT INTO t VALUES(1)", timeout=0.7))
        os._exit({None: 0, "busy": 1}.get(code, 9))
    _, status = os.waitpid(child, 0)
    busy.join()
    report(
        {"status": os.waitstatus_to_exitcode(status), "after": code_of(lambda: workspace.query("SELECT 1"))}
    )
    workspace.close()


def interrupted(folder: str, times: int) -> None:
    """Interrupt calls at different moments, as control-C does; report the codes of the calls that follow."""

    def strike(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, strike)
    workspace = Workspace(Path(folder))
    workspace.query("CREATE TABLE t(a)")
    for number in range(times):
        caught = False
        try:
            # At first before there is a worker, then in the middle of calls.
            signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.03 * number)
            workspace.query(f"INSERT INTO t VALUES({number}); {ENDLESS}", timeout=20)
        except KeyboardInterrupt:
            caught = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        report({"caught": caught, "next": code_of(lambda: workspace.query("SELECT 1"))})
    report(workspace.query("SELECT count(*) FROM t").rows[0][0])
    workspace.close()


def with_little_room(folder: str, most: int) -> None:
    """Write while no file may grow beyond that number of bytes; report acknowledged rows, codes, what is
    there.
    """
    workspace = Workspace(Path(folder))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    acknowledged, codes = 0, set()
    code_of(lambda: workspace.query("CREATE TABLE t(a, b)"))
    for number in range(60):
        code = code_of(
            lambda number=number: workspace.query("INSERT INTO t VALUES(?, zeroblob(20000))", [number])
        )
        acknowledged += code is None
        codes.add(code)
    count = workspace.query("SELECT count(*) FROM t").rows[0][0]
    workspace.close()
    report({"acknowledged": acknowledged, "count": count, "codes": sorted(map(str, codes))})


def as_nobody(folder: str, sql: str) -> None:
    """Try to use a folder that belongs to somebody else; report the code."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    workspace = Workspace(Path(folder))
    report(code_of(lambda: workspace.query(sql, timeout=5)))
    report(code_of(lambda: workspace.query("SELECT 1", timeout=5)))
    workspace.close()


def hold_the_lock(path: str, how: str) -> None:
    """As another program: hold the database until the signal."""
    with closing(apsw.Connection(path)) as connection:
        connection.execute(f"BEGIN {how}")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        report("held")
        wait()


def crash_at(folder: str, at: int, work: str) -> None:
    """One call, in whose middle the worker dies at the n-th change of a file; report what became of it."""
    plug = Path(folder) / "plug"
    plug.mkdir(exist_ok=True)
    here = str(Path(__file__).parent)
    (plug / "sitecustomize.py").write_text(
        f"import sys\nsys.path.insert(0, {here!r})\nfrom disk import Disk\ndisk = "
        f"Disk()\ndisk.kill_at({at})\n"
    )
    sys.path.insert(0, str(plug))
    workspace = Workspace(Path(folder) / "databases")
    code = code_of(lambda: WORKS[work](workspace))
    # Its replacement lives.
    (plug / "sitecustomize.py").unlink()
    workspace.close()
    report(code)


WORKS: dict[str, Callable[[Workspace], Any]] = {
    "insert": lambda workspace: workspace.query(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) INSERT INTO t "
        "SELECT 'new', i FROM n"
    ),
    "drop": lambda workspace: workspace.query(
        "DROP TABLE t; CREATE TABLE t(a, b); INSERT INTO t VALUES('new', 1)"
    ),
    "restore": lambda workspace: workspace.restore(),
    "compact": lambda workspace: workspace.compact(),
    "import": lambda workspace: workspace.import_file(
        text="a,b\n" + "".join(f"new,{number}\n" for number in range(2_000)), table="t", mode="append"
    ),
    "copy": lambda workspace: workspace.copy("default", "copy"),
}
