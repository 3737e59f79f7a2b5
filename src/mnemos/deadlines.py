"""Calls that nobody has to wait for longer than he likes.

A thread cannot be stopped from outside. So a call that takes too long keeps its thread, and whoever asked
goes on without it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any


class Overdue(Exception):
    """No answer in time."""


class StillOut(Exception):
    """An earlier call has not come back: this one was not made."""


class Hands:
    """Threads that wait for work: whoever has some goes on at once.

    To start a thread is to wait until it runs, which takes milliseconds when it is busy from the beginning.
    """

    def __init__(self, idle_seconds: float = 10.0) -> None:
        """``idle_seconds``: after so long without work, a thread ends."""
        self._idle_seconds = idle_seconds
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0

    def begin(self, work: Callable[[], None]) -> None:
        """Do this on a thread of ours; it must not raise. RuntimeError when no thread is to be had."""
        if self._process != os.getpid():
            # The threads stayed with the parent.
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
                # Somebody counts on this thread: the work is on its way.
                work = self._work.get()


hands = Hands()


class Attempt:
    """A call on a thread of its own, begun at once."""

    def __init__(self, call: Callable[[], Any], when_back: Callable[[], None] | None = None) -> None:
        """``when_back``: called on that thread when the call is over, however it ended."""
        self._call = call
        self._when_back = when_back
        self._back = threading.Event()
        self._answer: Any = None
        self._failure: BaseException | None = None
        try:
            hands.begin(self._run)
        except RuntimeError:
            # No thread can be had: too many, or the interpreter is about to end. Then it takes what it takes.
            self._run()

    @property
    def is_back(self) -> bool:
        return self._back.is_set()

    def wait(self, seconds: float | None) -> bool:
        """Whether the call is over, at the latest after so many seconds."""
        return self._back.wait(seconds)

    @property
    def failure(self) -> Exception | None:
        """What the call raised. What would have ended the thread is an error like others to whoever asks."""
        if self._failure is None or isinstance(self._failure, Exception):
            return self._failure
        return RuntimeError(f"it tried to end the program with {type(self._failure).__name__}")

    def answer(self) -> Any:
        """What the call returned; what it raised is raised."""
        if self.failure is not None:
            raise self.failure
        return self._answer

    def _run(self) -> None:
        try:
            self._answer = self._call()
        except BaseException as exc:  # noqa: BLE001 - other people's code: also what would end a thread is an answer
            self._failure = exc
        finally:
            self._back.set()
            if self._when_back is not None:
                self._when_back()


class Patience:
    """Asks one party, and does not ask again while a call that took too long is still out."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._late: list[Attempt] = []

    @property
    def is_out(self) -> bool:
        """Whether a call that took too long has not come back yet."""
        if self._process != os.getpid():
            # A thread of the parent's does not come back here.
            self._process, self._late = os.getpid(), []
        self._late = [attempt for attempt in self._late if not attempt.is_back]
        return bool(self._late)

    def ask(self, call: Callable[[], Any], seconds: float) -> Any:
        """The answer. Raises what the call raised, Overdue after so many seconds, or StillOut at once."""
        if self.is_out:
            raise StillOut(f"an earlier call of {self._name} has not come back")
        attempt = Attempt(call)
        if not attempt.wait(seconds):
            self._late.append(attempt)
            raise Overdue(f"{self._name} did not answer within {seconds:g} seconds")
        return attempt.answer()
