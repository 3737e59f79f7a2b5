"""The worker process: kept, replaced, ended, and given nothing that is not its business."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mnemos.errors import MnemosError, TimedOut, TooLarge, Unavailable
from mnemos.workspace.workspace import Workspace


def worker(workspace: Workspace) -> int:
    found = workspace._worker.process_id()
    assert found is not None
    return found


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_worker_answers_every_call(workspace):
    workspace.query("SELECT 1")
    first = worker(workspace)
    workspace.query("SELECT 2", database="other")
    assert worker(workspace) == first


def test_closing_ends_the_worker_and_a_later_call_starts_another(workspace):
    workspace.query("CREATE TABLE t (a)")
    first = worker(workspace)
    workspace.close()
    assert not is_running(first)
    assert workspace.query("SELECT count(*) FROM t").rows == [[0]]
    assert worker(workspace) != first


def test_a_worker_that_died_between_calls_is_not_missed(workspace):
    workspace.query("CREATE TABLE t (a)")
    first = worker(workspace)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert workspace.query("SELECT count(*) FROM t").rows == [[0]]


def test_a_worker_killed_in_a_call_is_reported_and_replaced(prices):
    threading.Timer(0.3, lambda: os.kill(worker(prices), signal.SIGKILL)).start()
    with pytest.raises((Unavailable, TooLarge)):
        prices.query(
            "DELETE FROM prices; WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "
            "max(x) FROM n"
        )
    assert prices.query("SELECT count(*) FROM prices").rows == [[250]]


def test_a_stopped_worker_is_killed_at_the_deadline(prices):
    first = worker(prices)
    os.kill(first, signal.SIGSTOP)
    with pytest.raises(TimedOut):
        prices.query("SELECT 1", timeout=0.3)
    assert not is_running(first)
    assert prices.query("SELECT 1").rows == [[1]]


def test_the_worker_ends_with_a_host_that_is_killed(folder):
    code = (
        "import sys, os, pathlib; from mnemos.workspace.workspace import Workspace\n"
        f"w = Workspace(pathlib.Path({str(folder)!r})); w.query('SELECT 1'); print(w._worker.process_id(), "
        "flush=True)\n"
        "sys.stdin.read()"
    )
    host = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    process_id = int(host.stdout.readline())
    pidfd = os.pidfd_open(process_id)
    host.kill()
    host.communicate()
    import select

    assert select.select([pidfd], [], [], 10)[0], "the worker outlived its host"
    os.close(pidfd)


def test_the_worker_knows_nothing_of_the_hosts_environment(workspace, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    workspace.query("SELECT 1")
    assert b"sk-very-secret" not in Path(f"/proc/{worker(workspace)}/environ").read_bytes()


def test_callers_of_many_threads_all_get_their_own_answer(workspace):
    workspace.query("CREATE TABLE t (n)")
    got: dict[int, int] = {}

    def ask(number: int) -> None:
        got[number] = workspace.query("INSERT INTO t VALUES (?) RETURNING n", [number]).rows[0][0]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {number: number for number in range(100)}
    assert workspace.query("SELECT count(*), count(DISTINCT n) FROM t").rows == [[100, 100]]


def test_a_forked_child_has_a_worker_of_its_own(workspace):
    workspace.query("CREATE TABLE t (a)")
    first = worker(workspace)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            workspace.query("INSERT INTO t VALUES (1)")
            code = 0 if worker(workspace) != first else 2
            workspace.close()
        except MnemosError:
            code = 3
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert workspace.query("SELECT count(*) FROM t").rows == [[1]]
    assert worker(workspace) == first


@pytest.fixture
def interrupted():
    """Interrupts are ignored where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_of_the_caller_ends_the_call_and_not_the_workspace(prices):
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        prices.query(
            "DELETE FROM prices; WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "
            "max(x) FROM n"
        )
    assert prices.query("SELECT count(*) FROM prices").rows == [[250]]


def test_what_is_too_large_to_send_is_said_before_it_is_sent(workspace):
    with pytest.raises(TooLarge):
        workspace.query("SELECT ?", ["x" * 70_000_000])
    assert workspace.query("SELECT 1").rows == [[1]]
