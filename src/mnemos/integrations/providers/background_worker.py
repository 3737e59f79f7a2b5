"""A background worker that runs each owner's tasks in order.

Each owner has a queue and, while there is work, a thread. So an owner that hangs delays nobody else, and only
loses tasks that no longer fit into its queue.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from mnemos.deadlines import hands

log = logging.getLogger("mnemos.integrations.providers")

DEADLINE = 30.0
MOST = 1_000
_AT_EXIT_SECONDS = 2.0

Work = Callable[[], object]


@dataclass(slots=True)
class Lane:
    """The tasks of one owner."""

    owner: str
    queue: deque[Work] = field(default_factory=deque)
    is_running: bool = False
    began: float = 0.0
    """The time at which the running task began."""
    is_late: bool = False
    """True if the running task has passed its deadline."""
    overdue: int = 0
    """The number of tasks that missed their deadline."""
    dropped: int = 0
    """The number of tasks given up, because the queue was full or the worker closed."""


class Worker:
    """Runs tasks in threads. Thread-safe; after a fork, old tasks belong to the parent."""

    def __init__(self, *, deadline: float = DEADLINE, most: int = MOST) -> None:
        """``deadline``: seconds after which a task is late. ``most``: queued tasks per owner."""
        self._deadline = deadline
        self._most = most
        self._begin()
        _workers.add(self)

    def _begin(self) -> None:
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._lanes: dict[str, Lane] = {}
        self._is_closed = False

    def submit(self, owner: str, work: Work) -> bool:
        """Queue a task. Returns False if it was dropped."""
        with self._lock():
            lane = self._lanes.setdefault(owner, Lane(owner))
            if self._is_closed or len(lane.queue) >= self._most:
                self._drop(lane, 1)
                return False
            lane.queue.append(work)
            self._wake(lane)
        return True

    def flush(self, timeout: float | None = None, *, owner: str | None = None) -> bool:
        """Wait for all tasks, or those of one owner. Returns False after the timeout.

        Without a timeout, late tasks are not waited for, because they may never return.
        """
        until = None if timeout is None else time.monotonic() + timeout
        with self._lock():
            lanes = [lane for lane in self._lanes.values() if owner in (None, lane.owner)]
            for lane in lanes:
                self._wake(lane)
            while busy := [lane for lane in lanes if self._is_busy(lane)]:
                end = max(map(self._limit, busy)) if until is None else until
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close(self, timeout: float | None = None) -> bool:
        """Finish queued tasks, then accept no more. Returns False after the timeout."""
        done = self.flush(timeout)
        with self._lock():
            self._is_closed = True
            for lane in self._lanes.values():
                self._drop(lane, len(lane.queue))
                lane.queue.clear()
        return done

    def open(self) -> None:
        """Accept tasks again after ``close``."""
        with self._lock():
            self._is_closed = False

    @property
    def pending(self) -> int:
        """Return the number of tasks that are queued or running."""
        with self._lock():
            return sum(len(lane.queue) + lane.is_running for lane in self._lanes.values())

    def look(self, owner: str) -> Lane:
        """Return the current tasks of an owner."""
        with self._lock():
            return self._lanes.get(owner) or Lane(owner)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        if self._process != os.getpid():
            self._begin()
        with self._changed:
            for lane in self._lanes.values():
                self._check_late(lane)
            yield

    # --- private; all but the loop need the lock ----------------------------------------------

    def _limit(self, lane: Lane) -> float:
        """Return how long a flush without a timeout waits for an owner."""
        return lane.began + self._deadline if lane.is_running else 0.0

    def _is_busy(self, lane: Lane) -> bool:
        # Once closed, late tasks no longer matter.
        return bool(lane.queue) or (lane.is_running and not (self._is_closed and lane.is_late))

    def _check_late(self, lane: Lane) -> None:
        if lane.is_running and not lane.is_late and time.monotonic() >= self._limit(lane):
            lane.is_late = True
            lane.overdue += 1
            if lane.overdue == 1:
                log.warning("%s takes longer than %g seconds; others go on", lane.owner, self._deadline)

    def _drop(self, lane: Lane, count: int) -> None:
        if count and not lane.dropped:
            why = "it is closed" if self._is_closed else f"{self._most} tasks are waiting already"
            log.warning("the background worker dropped a task of %s: %s", lane.owner, why)
        lane.dropped += count

    def _wake(self, lane: Lane) -> None:
        """Start a thread if a task is waiting and none is running."""
        if lane.is_running or not lane.queue:
            return
        lane.is_running, lane.began = True, time.monotonic()
        work = lane.queue.popleft()
        try:
            hands.begin(partial(self._run, lane, work))
        except RuntimeError as exc:
            # No thread is available, so the task waits for the next call.
            lane.is_running = False
            lane.queue.appendleft(work)
            log.warning("the background worker could not be started: %s", exc)

    def _run(self, lane: Lane, work: Work | None) -> None:
        while work is not None:
            try:
                work()
            except BaseException:
                # Tasks catch expected errors, so this is a bug, but it must not end the worker.
                log.exception("a background task of %s failed", lane.owner)
            with self._changed:
                self._check_late(lane)
                work = lane.queue.popleft() if lane.queue else None
                lane.is_running, lane.is_late, lane.began = work is not None, False, time.monotonic()
                self._changed.notify_all()


# A host that forgets to shut down should not lose its last turn.
_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


def _finish() -> None:
    for worker in list(_workers):
        worker.flush(_AT_EXIT_SECONDS)


atexit.register(_finish)
