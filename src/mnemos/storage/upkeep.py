"""The background thread, which keeps the index current while a process appends."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mnemos.errors import MnemosError

try:
    import fcntl
except ImportError:  # Windows has no fcntl. Without the lock, the loser of a race only repeats a step.
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger("mnemos.storage")

# The thread starts once this many messages are pending, or after this wait.
ENOUGH = 2_000
IDLE_SECONDS = 0.5
# Even then, it waits for a burst of appends to pass, which it would slow down. It starts at the first lull,
# or if the burst is long or large.
LULL_SECONDS = 0.02
_LULLS = 50
PLENTY = 10_000
_PAUSE_SECONDS = 0.05


class Attempts:
    """Work that is retried. Each reason for a failure is logged once until the work succeeds."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._logged: set[str] = set()

    def attempt(self, step: Callable[[], object]) -> None:
        """Run the step. A failure is only logged, as messages are stored and searches find them."""
        try:
            step()
        except (MnemosError, OSError) as exc:
            if str(exc) not in self._logged:
                self._logged.add(str(exc))
                log.warning("%s failed: %s", self._what, exc)

    def note_success(self) -> None:
        """Log the next failure again, regardless of its reason."""
        self._logged.clear()


class Upkeep:
    """Runs ``work`` in the background until nothing is left, and ``clean_up`` when idle.

    Holds its owner weakly, so a storage that was never closed can be collected, which ends the thread.
    """

    def __init__(self, owner: object, work: Callable[[], bool], clean_up: Callable[[], bool]) -> None:
        self._work = weakref.WeakMethod(work)
        self._clean_up = weakref.WeakMethod(clean_up)
        self.waiting = 0
        self.indexing = Attempts("indexing")
        self._cleaning = Attempts("cleanup")
        self._wake = threading.Event()
        self._enough = threading.Event()
        self._end = threading.Event()
        self._stopped = False
        self._paused = 0
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        weakref.finalize(owner, self._stop)

    def notice(self, count: int) -> None:
        """Note that ``count`` more messages are pending, and wake the thread."""
        self.waiting += count
        if self._paused:
            return
        if self._thread is None:
            self._start()
        if not self._wake.is_set():
            self._wake.set()
        if self.waiting >= ENOUGH and not self._enough.is_set():
            self._enough.set()

    def _start(self) -> None:
        # One thread's question may wake it while another thread closes the storage.
        with self._starting:
            if self._thread is None and not self._stopped:
                thread = threading.Thread(target=self._run, name="mnemos-upkeep", daemon=True)
                thread.start()
                self._thread = thread

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Start no work inside this context. Messages that arrive are handled afterwards."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1
            if self.waiting:
                self.notice(0)

    def stop(self) -> None:
        """End the thread after its current step."""
        self._stop()
        with self._starting:
            pass
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _stop(self) -> None:
        self._stopped = True
        self._end.set()
        self._enough.set()
        self._wake.set()

    def _run(self) -> None:
        while not self._stopped:
            self._wake.wait()
            busy = self._enough.wait(IDLE_SECONDS)
            if busy:
                self._let_pass()
            if not self._stopped:
                self._wake.clear()
                self._enough.clear()
                self.indexing.attempt(partial(self._work_off, self._work))
                if busy:
                    # In a flood of messages, occasional passes are cheaper than one per message.
                    self._end.wait(_PAUSE_SECONDS)
                else:
                    self._cleaning.attempt(partial(self._work_off, self._clean_up))

    def _let_pass(self) -> None:
        """Wait for the end of a burst, within limits."""
        for _ in range(_LULLS):
            before = self.waiting
            if self._end.wait(LULL_SECONDS) or self.waiting in (before, 0) or self.waiting >= PLENTY:
                return

    def _work_off(self, method: weakref.WeakMethod[Callable[[], bool]]) -> None:
        # Cleanup yields to the next message.
        while not self._stopped and not (method is self._clean_up and self._wake.is_set()):
            work = method()
            is_more = work is not None and work()
            if method is self._clean_up:
                self._cleaning.note_success()
            if not is_more:
                return
            del work


@contextmanager
def only_one(path: Path | None, *, wait: bool = False) -> Iterator[bool]:
    """Hold a lock between processes; yield False if another process holds it.

    ``wait`` waits for the lock, as steps are short. The lock ends with the process.
    """
    if path is None or fcntl is None:
        yield True
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield _is_locked(descriptor, wait=wait)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, *, wait: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
