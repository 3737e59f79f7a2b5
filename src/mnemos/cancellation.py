"""Calls that the caller can cancel while another thread runs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mnemos.errors import Cancelled


class Cancellation:
    """A request, made from another thread, to stop one call.

    Work that can't stop halfway is finished.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.is_requested = False

    def request(self) -> None:
        with self._lock:
            self.is_requested = True
            if self._stop is not None:
                self._stop()

    def check(self, _share: float = 0.0) -> None:
        """Raise Cancelled if a stop was requested. Can be passed as a Progress."""
        if self.is_requested:
            raise Cancelled("The caller cancelled the call. It was stopped.")

    @contextmanager
    def interrupts(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop``, on the requesting thread, if a request comes in this block."""
        with self._lock:
            self.check()
            self._stop = stop
        try:
            yield
        finally:
            with self._lock:
                self._stop = None

    @contextmanager
    def applies(self) -> Iterator[None]:
        """Make this the cancellation of the work in this block."""
        before = _current.set(self)
        try:
            yield
        finally:
            _current.reset(before)


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def current() -> Cancellation:
    """Return this thread's cancellation, or one that is never requested."""
    return _current.get() or Cancellation()
