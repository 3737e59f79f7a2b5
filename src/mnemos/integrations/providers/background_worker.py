"""A background worker that runs tasks in order.

Each task has an owner and a deadline. A task that overruns keeps its thread, and the worker goes on with the
tasks of others; the other tasks of that owner wait, in order, until it returns. So an owner that hangs
delays the others once, by the deadline, and loses only tasks that no longer fit the queue.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from mnemos.deadlines import Attempt, hands

log = logging.getLogger("mnemos.integrations.providers")

DEADLINE = 30.0
MOST = 1_000
_AT_EXIT_SECONDS = 2.0


@dataclass(slots=True, eq=False)
class _Task:
    owner: str
    work: Callable[[], None]
    is_late: bool = False


class Worker:
    """Safe to use from any thread. After a fork, tasks queued before belong to the parent.

    It needs a thread only while there is work.
    """

    def __init__(self, *, deadline: float = DEADLINE, most: int = MOST) -> None:
        """``deadline``: seconds for one task. ``most``: how many tasks may wait."""
        self._deadline = deadline
        self._most = most
        self._begin()
        _workers.add(self)

    def _begin(self) -> None:
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._queue: deque[_Task] = deque()
        self._running: _Task | None = None
        self._late: Counter[str] = Counter()
        self._has_thread = False
        self._is_closed = False
        self.overdue: Counter[str] = Counter()
        """How often tasks of each owner overran."""
        self.dropped: Counter[str] = Counter()
        """Tasks that were given up: the queue was full, or the worker closed."""

    # --- public -----------------------------------------------------------------------------

    def submit(self, owner: str, work: Callable[[], None]) -> bool:
        """Queue a task. Returns False if it was dropped."""
        self._check_process()
        with self._changed:
            if self._is_closed or len(self._queue) >= self._most:
                self._drop(owner)
                return False
            self._queue.append(_Task(owner, work))
            self._wake()
        return True

    def flush(self, timeout: float | None = None, *, owner: str | None = None) -> bool:
        """Wait until all tasks, or all of one owner, are done. Returns False after the timeout.

        Without a timeout, a task that overran is not waited for: it may never return.
        """
        self._check_process()
        until = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            self._wake()
            while self._is_busy(owner):
                if until is None and not self._has_thread:
                    return False
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
            return owner is not None or not self._late

    def close(self, timeout: float | None = None) -> bool:
        """Finish queued tasks within the timeout, then accept no more. True if all were done."""
        done = self.flush(timeout)
        with self._changed:
            self._is_closed = True
            for task in self._queue:
                self._drop(task.owner)
            self._queue.clear()
            self._changed.notify_all()
        return done

    def open(self) -> None:
        """Accept tasks again after ``close``."""
        self._check_process()
        with self._changed:
            self._is_closed = False

    @property
    def pending(self) -> int:
        """Number of tasks that are queued or running."""
        self._check_process()
        with self._changed:
            return len(self._queue) + (self._running is not None) + self._late.total()

    def waiting(self, owner: str) -> int:
        """Return the number of queued tasks of an owner."""
        self._check_process()
        with self._changed:
            return sum(task.owner == owner for task in self._queue)

    def is_out(self, owner: str) -> bool:
        """True if a task of the owner overran and has not returned."""
        self._check_process()
        with self._changed:
            return owner in self._late

    # --- private; all but the loop need the lock ----------------------------------------------

    def _check_process(self) -> None:
        if self._process != os.getpid():
            self._begin()

    def _is_busy(self, owner: str | None) -> bool:
        if owner is not None:
            running = self._running is not None and self._running.owner == owner
            return running or owner in self._late or any(task.owner == owner for task in self._queue)
        # Once closed, tasks that overran no longer matter.
        return bool(self._queue) or self._running is not None or (bool(self._late) and not self._is_closed)

    def _drop(self, owner: str) -> None:
        self.dropped[owner] += 1
        if self.dropped[owner] == 1:
            why = "it is closed" if self._is_closed else f"{self._most} tasks are waiting already"
            log.warning("the background worker dropped a task of %s: %s", owner, why)

    def _wake(self) -> None:
        """Start a thread if there is a task to run and none is running."""
        if self._has_thread or self._next() is None:
            return
        self._has_thread = True
        try:
            hands.begin(self._run_all)
        except RuntimeError as exc:
            # No thread is available. The task waits for the next call.
            self._has_thread = False
            log.warning("the background worker could not be started: %s", exc)

    def _next(self) -> _Task | None:
        return next((task for task in self._queue if task.owner not in self._late), None)

    def _run_all(self) -> None:
        while True:
            with self._changed:
                task = self._running = self._next()
                if task is None:
                    self._has_thread = False
                    self._changed.notify_all()
                    return
                self._queue.remove(task)
            attempt = Attempt(task.work, partial(self._on_return, task))
            attempt.wait(self._deadline)
            with self._changed:
                self._running = None
                if not attempt.is_back:
                    self._note_late(task)
                elif attempt.failure is not None:
                    # Tasks catch what they expect: this is a bug, but not the end of the worker.
                    log.error("a background task of %s failed", task.owner, exc_info=attempt.failure)

    def _note_late(self, task: _Task) -> None:
        task.is_late = True
        self._late[task.owner] += 1
        self.overdue[task.owner] += 1
        if self.overdue[task.owner] == 1:
            log.warning("%s takes longer than %g seconds; others go on", task.owner, self._deadline)

    def _on_return(self, task: _Task) -> None:
        """Called on the thread of the task."""
        with self._changed:
            if task.is_late:
                self._late -= Counter((task.owner,))
                self._wake()
            self._changed.notify_all()


# A host that forgets to shut down should not lose its last turn.
_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


def _finish() -> None:
    for worker in list(_workers):
        worker.flush(_AT_EXIT_SECONDS)


atexit.register(_finish)
