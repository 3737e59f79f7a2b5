"""Calls with a deadline.

A thread cannot be stopped from outside, so a call that takes too long keeps its thread while the caller
continues without it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from typing import Any


class Overdue(Exception):
    """The call did not return in time."""


class StillOut(Exception):
    """The call was not made, because an earlier one has not returned yet."""


class Hands:
    """A pool of threads whose ``begin`` returns at once.

    Starting a thread means waiting until it runs, which takes milliseconds if it is busy from the start.
    """

    def __init__(self, idle_seconds: float = 10.0) -> None:
        """``idle_seconds``: a thread without work ends after this time."""
        self._idle_seconds = idle_seconds
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0

    def begin(self, work: Callable[[], None]) -> None:
        """Run ``work``, which must not raise, on a thread. RuntimeError without one."""
        if self._process != os.getpid():
            # After a fork, the threads only exist in the parent.
            self._begin_process()
        with self._lock:
            is_waiting = self._idle > 0
            self._idle -= is_waiting
        if is_waiting:
            self._work.put(work)
        else:
            threading.Thread(target=self._run, args=(work,), name="mnemos-hand", daemon=True).start()

    def _run(self, work: Callable[[], None]) -> None:
        while True:
            work()
            with self._lock:
                self._idle += 1
            try:
                work = self._work.get(timeout=self._idle_seconds)
            except Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return
                # ``begin`` has already given this thread work, which is about to arrive.
                work = self._work.get()


hands = Hands()


def start(call: Callable[[], Any]) -> Future[Any]:
    """Run a call on its own thread. SystemExit in it becomes a RuntimeError."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as exc:  # noqa: BLE001 - other people's code
            future.set_exception(exc)
        except BaseException as exc:  # noqa: BLE001
            future.set_exception(RuntimeError(f"it tried to end the program with {type(exc).__name__}"))

    try:
        hands.begin(run)
    except RuntimeError:
        # There are too many threads, or the interpreter is ending: run it here without a deadline.
        run()
    return future


class Patience:
    """Calls one party with a deadline, but not while a late call is still running."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._late: list[Future[Any]] = []

    @property
    def is_out(self) -> bool:
        """True if a late call has not returned yet."""
        if self._process != os.getpid():
            # After a fork, the thread only exists in the parent.
            self._process, self._late = os.getpid(), []
        self._late = [future for future in self._late if not future.done()]
        return bool(self._late)

    def ask(self, call: Callable[[], Any], seconds: float) -> Any:
        """Return the result or raise its exception, Overdue, or StillOut without a wait."""
        if self.is_out:
            raise StillOut(f"an earlier call of {self._name} has not returned")
        future = start(call)
        if not wait([future], seconds).done:
            self._late.append(future)
            raise Overdue(f"{self._name} did not answer within {seconds:g} seconds")
        return future.result()
