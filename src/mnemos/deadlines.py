"""Calls with a deadline.

A thread cannot be stopped from outside. So a call that takes too long keeps its thread, and the caller goes
on without it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any


class Overdue(Exception):
    """The call did not return in time."""


class StillOut(Exception):
    """This call was not made, because an earlier one has not returned."""


class Hands:
    """A pool of threads; ``begin`` returns at once.

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
        """Run ``work``, which must not raise, on a thread. RuntimeError if no thread is available."""
        if self._process != os.getpid():
            # After a fork the threads are in the parent.
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
                # ``begin`` counts on this thread: the work is on its way.
                work = self._work.get()


hands = Hands()


class Attempt:
    """A call on a thread of its own, started at once."""

    def __init__(self, call: Callable[[], Any], when_back: Callable[[], None] | None = None) -> None:
        """``when_back``: called on that thread when the call has ended."""
        self._call = call
        self._when_back = when_back
        self._back = threading.Event()
        self._answer: Any = None
        self._failure: BaseException | None = None
        try:
            hands.begin(self._run)
        except RuntimeError:
            # No thread is available: too many, or the interpreter is ending. Run it here without a deadline.
            self._run()

    @property
    def is_back(self) -> bool:
        return self._back.is_set()

    def wait(self, seconds: float | None) -> bool:
        """Wait for the call. Returns False after the timeout."""
        return self._back.wait(seconds)

    @property
    def failure(self) -> Exception | None:
        """The exception of the call. One that would end the program becomes a RuntimeError."""
        if self._failure is None or isinstance(self._failure, Exception):
            return self._failure
        return RuntimeError(f"it tried to end the program with {type(self._failure).__name__}")

    def answer(self) -> Any:
        """Return the result of the call, or raise its exception."""
        if self.failure is not None:
            raise self.failure
        return self._answer

    def _run(self) -> None:
        try:
            self._answer = self._call()
        except BaseException as exc:  # noqa: BLE001 - other people's code
            self._failure = exc
        finally:
            self._back.set()
            if self._when_back is not None:
                self._when_back()


class Patience:
    """Calls one party with a deadline, and not again while a late call is running."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._late: list[Attempt] = []

    @property
    def is_out(self) -> bool:
        """True if a late call has not returned yet."""
        if self._process != os.getpid():
            # After a fork the thread is in the parent.
            self._process, self._late = os.getpid(), []
        self._late = [attempt for attempt in self._late if not attempt.is_back]
        return bool(self._late)

    def ask(self, call: Callable[[], Any], seconds: float) -> Any:
        """Return the result. Raises the call's exception, Overdue after the timeout, or StillOut at once."""
        if self.is_out:
            raise StillOut(f"an earlier call of {self._name} has not returned")
        attempt = Attempt(call)
        if not attempt.wait(seconds):
            self._late.append(attempt)
            raise Overdue(f"{self._name} did not answer within {seconds:g} seconds")
        return attempt.answer()
