"""The background worker: in order, and nobody waits for one who hangs."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from mnemos import deadlines
from mnemos.deadlines import Hands, Overdue, Patience, StillOut
from mnemos.integrations.providers import background_worker as worker_module
from mnemos.integrations.providers.background_worker import Worker

LONG = 30.0
SHORT = 0.01


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """No thread can be started, and none waits for work; undone by ``undo``."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        fresh = Hands()
        patched.setattr(deadlines, "hands", fresh)
        patched.setattr(worker_module, "hands", fresh)
        patched.setattr(threading.Thread, "start", refuse)
        yield patched


@pytest.fixture
def gate() -> threading.Event:
    """An event: waiting for it hangs until it is set."""
    return threading.Event()


def test_tasks_run_in_order() -> None:
    worker, done = Worker(), list[int]()
    for number in range(200):
        assert worker.submit("me", partial(done.append, number))
    assert worker.flush(LONG)
    assert done == list(range(200))
    assert worker.pending == 0


def test_submit_does_not_block(gate: threading.Event) -> None:
    worker = Worker()
    worker.submit("me", lambda: gate.wait(LONG) and None)
    worker.submit("me", lambda: None)
    assert worker.pending == 2
    assert not worker.flush(SHORT)
    gate.set()
    assert worker.flush(LONG)


def test_a_hanging_owner_delays_nobody_else(gate: threading.Event) -> None:
    worker, done = Worker(deadline=SHORT), list[str]()
    worker.submit("slow", lambda: gate.wait(LONG) and done.append("slow 1"))
    worker.submit("slow", lambda: done.append("slow 2"))
    reached = threading.Event()
    worker.submit("quick", reached.set)
    assert reached.wait(LONG)
    assert done == []
    assert not worker.flush()
    slow = worker.look("slow")
    assert (slow.is_late, len(slow.queue)) == (True, 1)
    gate.set()
    assert worker.flush(LONG)
    assert done == ["slow 1", "slow 2"]
    assert not slow.is_late
    assert slow.overdue == 1


def test_flush_without_a_timeout_does_not_wait_for_a_hanging_task(gate: threading.Event) -> None:
    worker, done = Worker(deadline=SHORT), list[str]()
    worker.submit("slow", lambda: gate.wait(LONG) and None)
    worker.submit("quick", lambda: done.append("quick"))
    assert worker.flush() is False
    assert done == ["quick"]
    gate.set()
    assert worker.flush(LONG)
    assert worker.flush() is True


def test_flush_can_wait_for_one_owner(gate: threading.Event) -> None:
    worker, done = Worker(deadline=SHORT), list[str]()
    worker.submit("slow", lambda: gate.wait(LONG) and None)
    worker.submit("quick", lambda: done.append("quick"))
    assert worker.flush(LONG, owner="quick")
    assert done == ["quick"]
    assert worker.flush(LONG, owner="nobody")
    assert not worker.flush(SHORT, owner="slow")
    gate.set()
    assert worker.flush(LONG, owner="slow")


def test_tasks_beyond_the_limit_are_dropped_and_counted(
    gate: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    worker, done = Worker(most=2), list[int]()
    begun = threading.Event()
    worker.submit("me", lambda: begun.set() or (gate.wait(LONG) and None))
    assert begun.wait(LONG)
    took = [worker.submit("me", partial(done.append, number)) for number in range(5)]
    assert took == [True, True, False, False, False]
    gate.set()
    assert worker.flush(LONG)
    assert done == [0, 1]
    assert worker.look("me").dropped == 3
    assert len(caplog.records) == 1


def test_close_finishes_the_queue_and_accepts_no_more() -> None:
    worker, done = Worker(), list[int]()
    worker.submit("me", partial(done.append, 1))
    assert worker.close(LONG)
    assert worker.submit("me", partial(done.append, 2)) is False
    assert done == [1]
    worker.open()
    worker.submit("me", partial(done.append, 3))
    assert worker.flush(LONG)
    assert done == [1, 3]


def test_close_drops_tasks_after_the_timeout(gate: threading.Event) -> None:
    worker, done = Worker(), list[int]()
    begun = threading.Event()
    worker.submit("me", lambda: begun.set() or (gate.wait(LONG) and None))
    worker.submit("me", partial(done.append, 1))
    assert begun.wait(LONG)
    assert worker.close(SHORT) is False
    gate.set()
    assert worker.flush(LONG)
    assert done == []
    assert worker.look("me").dropped == 1


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_a_failing_task_is_logged_and_the_next_one_runs(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise error

    worker, done = Worker(), list[int]()
    worker.submit("me", fail)
    worker.submit("me", partial(done.append, 1))
    assert worker.flush(LONG)
    assert done == [1]
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_concurrent_submits_lose_nothing() -> None:
    worker, done = Worker(), list[tuple[int, int]]()

    def submit(number: int) -> None:
        for count in range(50):
            worker.submit(f"owner {number}", partial(done.append, (number, count)))

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worker.flush(LONG)
    assert len(done) == 200
    for number in range(4):
        assert [count for owner, count in done if owner == number] == list(range(50))


def test_without_a_thread_a_task_waits_for_the_next_call(no_threads: pytest.MonkeyPatch) -> None:
    worker, done = Worker(), list[int]()
    assert worker.submit("me", partial(done.append, 1))
    assert worker.flush() is False
    no_threads.undo()
    assert worker.flush(LONG)
    assert done == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_its_own_worker(
    gate: threading.Event,
) -> None:
    worker, done = Worker(), list[str]()
    begun = threading.Event()
    worker.submit("me", lambda: begun.set() or (gate.wait(LONG) and None))
    worker.submit("me", partial(done.append, "queued by the parent"))
    assert begun.wait(LONG)

    def in_the_child() -> None:
        assert worker.pending == 0
        worker.submit("me", partial(done.append, "queued by the child"))
        assert worker.flush(LONG)
        assert done == ["queued by the child"]

    assert _in_child(in_the_child) == 0
    gate.set()
    assert worker.flush(LONG)
    assert done == ["queued by the parent"]


def test_a_program_that_ends_does_not_lose_queued_tasks() -> None:
    code = (
        "from mnemos.integrations.providers.background_worker import Worker\n"
        "worker = Worker()\n"
        "for number in range(3): worker.submit('me', lambda n=number: print(n, flush=True))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout.split(), ran.stderr) == (["0", "1", "2"], "")


# --- calls with a deadline ------------------------------------------------------------------------


def test_a_call_in_time_returns_its_answer() -> None:
    assert Patience("me").ask(lambda: 42, LONG) == 42


def test_exceptions_of_a_call_are_raised() -> None:
    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError):
        Patience("me").ask(fail, LONG)


def test_an_exit_inside_a_call_becomes_an_error() -> None:
    with pytest.raises(RuntimeError):
        Patience("me").ask(lambda: sys.exit(1), LONG)


def test_a_hanging_party_costs_the_deadline_once_and_is_called_again_later(
    gate: threading.Event,
) -> None:
    patience, asked = Patience("me"), list[int]()
    with pytest.raises(Overdue):
        patience.ask(lambda: gate.wait(LONG), SHORT)
    assert patience.is_out
    for number in range(3):
        with pytest.raises(StillOut):
            patience.ask(partial(asked.append, number), LONG)
    assert asked == []
    gate.set()
    (late,) = patience._late
    assert late.result(LONG)
    patience.ask(partial(asked.append, 9), LONG)
    assert asked == [9]
    assert not patience.is_out


def test_without_a_thread_a_call_runs_on_the_callers_thread(no_threads: pytest.MonkeyPatch) -> None:
    assert Patience("me").ask(threading.get_ident, LONG) == threading.get_ident()


def test_idle_threads_are_reused() -> None:
    hands, used = Hands(), list[int]()
    for _ in range(20):
        done = threading.Event()
        hands.begin(lambda: used.append(threading.get_ident()))
        hands.begin(done.set)
        assert done.wait(LONG)
    assert 1 <= len(set(used)) <= 3


def test_idle_threads_end_without_losing_work() -> None:
    # An idle time so short that threads give up while work is on its way.
    hands, done = Hands(idle_seconds=0.0001), list[int]()
    finished = threading.Semaphore(0)

    def work(number: int) -> None:
        done.append(number)
        finished.release()

    for number in range(500):
        hands.begin(partial(work, number))
    for _ in range(500):
        assert finished.acquire(timeout=LONG)
    assert sorted(done) == list(range(500))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_calls_of_its_parent(gate: threading.Event) -> None:
    patience = Patience("me")
    with pytest.raises(Overdue):
        patience.ask(lambda: gate.wait(LONG), SHORT)

    def in_the_child() -> None:
        assert not patience.is_out
        assert patience.ask(lambda: 1, LONG) == 1

    assert _in_child(in_the_child) == 0
    gate.set()


def _in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
