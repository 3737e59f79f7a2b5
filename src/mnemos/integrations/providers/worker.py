"""One background worker: what it is given is done in order, and nobody waits for it.

Each piece of work has an owner and a deadline. Work that overruns keeps its thread, and the worker goes on
with the work of others; what else its owner has waits, in order, until it comes back. So one who hangs
delays the others once, by the deadline, and loses nothing but what no longer fits the queue.
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
    """Safe to use from any thread, and after a fork: what was queued before belongs to the parent.

    It takes up a thread as long as there is work.
    """

    def __init__(self, *, deadline: float = DEADLINE, most: int = MOST) -> None:
        """``deadline``: seconds for one piece of work. ``most``: how many may wait."""
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
        self._is_at_work = False
        self._is_closed = False
        self.overdue: Counter[str] = Counter()
        """How often work of an owner overran."""
        self.dropped: Counter[str] = Counter()
        """Work that was given up: there was no room for it, or no time when the worker closed."""

    # --- from outside -----------------------------------------------------------------------

    def submit(self, owner: str, work: Callable[[], None]) -> bool:
        """Do this after what was submitted before; False when it will not be done."""
        self._check_process()
        with self._changed:
            if self._is_closed or len(self._queue) >= self._most:
                self._drop(owner)
                return False
            self._queue.append(_Task(owner, work))
            self._wake()
        return True

    def flush(self, timeout: float | None = None, *, owner: str | None = None) -> bool:
        """Wait until all is done, or all of an owner's; False when it is not after so many seconds.

        Without a timeout, what overran is not waited for: it may never come back.
        """
        self._check_process()
        until = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            self._wake()
            while self._is_busy(owner):
                if until is None and not self._is_at_work:
                    return False
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
            return owner is not None or not self._late

    def close(self, timeout: float | None = None) -> bool:
        """Finish what is queued within so many seconds, then take nothing more; whether all was done."""
        done = self.flush(timeout)
        with self._changed:
            self._is_closed = True
            for task in self._queue:
                self._drop(task.owner)
            self._queue.clear()
            self._changed.notify_all()
        return done

    def open(self) -> None:
        """Take work again after a close."""
        self._check_process()
        with self._changed:
            self._is_closed = False

    @property
    def pending(self) -> int:
        """How many pieces of work are queued or being done."""
        self._check_process()
        with self._changed:
            return len(self._queue) + (self._running is not None) + self._late.total()

    def waiting(self, owner: str) -> int:
        """How many pieces of an owner's work are queued."""
        self._check_process()
        with self._changed:
            return sum(task.owner == owner for task in self._queue)

    def is_out(self, owner: str) -> bool:
        """Whether work of the owner's overran and has not come back."""
        self._check_process()
        with self._changed:
            return owner in self._late

    # --- inside, all but the loop with the lock held -------------------------------------------

    def _check_process(self) -> None:
        if self._process != os.getpid():
            self._begin()

    def _is_busy(self, owner: str | None) -> bool:
        if owner is not None:
            running = self._running is not None and self._running.owner == owner
            return running or owner in self._late or any(task.owner == owner for task in self._queue)
        # Of what came too late when the worker closed, nobody wants to know any more.
        return bool(self._queue) or self._running is not None or (bool(self._late) and not self._is_closed)

    def _drop(self, owner: str) -> None:
        self.dropped[owner] += 1
        if self.dropped[owner] == 1:
            why = "it is closed" if self._is_closed else f"{self._most} pieces of work are waiting already"
            log.warning("the background worker dropped work of %s: %s", owner, why)

    def _wake(self) -> None:
        """See to it that somebody works, if there is anything that can be done."""
        if self._is_at_work or self._next() is None:
            return
        self._is_at_work = True
        try:
            hands.begin(self._work_off)
        except RuntimeError as exc:
            # No thread can be had now. The work waits for the next who comes.
            self._is_at_work = False
            log.warning("the background worker could not be started: %s", exc)

    def _next(self) -> _Task | None:
        return next((task for task in self._queue if task.owner not in self._late), None)

    def _work_off(self) -> None:
        while True:
            with self._changed:
                task = self._running = self._next()
                if task is None:
                    self._is_at_work = False
                    self._changed.notify_all()
                    return
                self._queue.remove(task)
            attempt = Attempt(task.work, partial(self._came_back, task))
            attempt.wait(self._deadline)
            with self._changed:
                self._running = None
                if not attempt.is_back:
                    self._note_late(task)
                elif attempt.failure is not None:
                    # Whoever submits catches what he expects; this is a bug of his, and not our end.
                    log.error("background work of %s failed", task.owner, exc_info=attempt.failure)

    def _note_late(self, task: _Task) -> None:
        task.is_late = True
        self._late[task.owner] += 1
        self.overdue[task.owner] += 1
        if self.overdue[task.owner] == 1:
            log.warning("%s works for longer than %g seconds; others go on", task.owner, self._deadline)

    def _came_back(self, task: _Task) -> None:
        """On the thread of the work itself."""
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
