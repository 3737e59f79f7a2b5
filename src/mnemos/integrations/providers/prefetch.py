"""Prefetch: recall in the background, which callers wait for only a moment.

The first recall of a process has to load what vectors need. So a search by words runs first, then a full
one: a caller who cannot wait takes the first answer. Once full recall is known to be quick, it runs alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Final

from mnemos.deadlines import start

Look = Callable[[str, str, bool], str]
"""Recalls for a session and a query, by words only or fully, as a text for the prompt."""

# The promise is 50 ms. A thread that waits gets the interpreter a few milliseconds late.
WITHIN: Final = 0.04
# Full recall that is faster than this is in time for a caller who waits ``WITHIN``.
_QUICK: Final = 0.03
# Older results may be outdated.
_MAX_AGE: Final = 30.0
_SESSIONS: Final = 64
_MAX_RUNNING: Final = 4


class _Search:
    """A running search; ``text`` is the best answer so far."""

    def __init__(self, query: str, began: float) -> None:
        self.query = query
        self.began = began
        self.text = ""
        self.ready = threading.Event()
        self.future: Future[None] = Future()
        self.was_taken = False
        self.former: _Search | None = None
        """The previous search, whose answer may be used if this one is late."""


class Recalls:
    """The latest search of each session. Thread-safe."""

    def __init__(self, look: Look, timer: Callable[[], float] = time.perf_counter) -> None:
        self._look = look
        self._timer = timer
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._searches: OrderedDict[str, _Search] = OrderedDict()
        self._running: list[Future[None]] = []
        self._seconds = float("inf")

    def start(self, session_id: str, query: str, *, anew: bool = False) -> _Search | None:
        """Search in the background; an immediate repetition is not searched again.

        ``anew``: a new turn starts, so an answer that was already used does not count. Returns None if too
        many searches are running.
        """
        if self._process != os.getpid():
            self._begin_process()
        now = self._timer()
        with self._lock:
            known = self._searches.get(session_id)
            if (
                known is not None
                and known.query == query
                and now - known.began < _MAX_AGE
                and not (anew and known.was_taken)
            ):
                return known
            self._running = [future for future in self._running if not future.done()]
            if len(self._running) >= _MAX_RUNNING:
                return None
            search = self._searches[session_id] = _Search(query, now)
            self._searches.move_to_end(session_id)
            if known is not None:
                search.former, known.former = known, None
            while len(self._searches) > _SESSIONS:
                self._searches.popitem(last=False)
            work = partial(self._run, session_id, search, self._seconds > _QUICK)
            search.future = start(work)
            search.future.add_done_callback(lambda _: search.ready.set())
            self._running.append(search.future)
        return search

    def take(self, session_id: str, query: str, within: float = WITHIN) -> str:
        """Return the answer in time, or the previous query's unused answer, or nothing.

        Raises what the search raised.
        """
        search = self.start(session_id, query)
        if search is None:
            return ""
        search.ready.wait(within)
        if search.text or search.ready.is_set():
            return self._use(session_id, search)
        former, search.former = search.former, None
        return former.text if former is not None and not former.was_taken else ""

    def forget(self) -> None:
        """Drop all results, because the session was compressed or changed."""
        with self._lock:
            self._searches.clear()

    def _use(self, session_id: str, search: _Search) -> str:
        search.was_taken = True
        failure = search.future.exception() if search.future.done() else None
        if not search.text and failure is not None:
            with self._lock:
                if self._searches.get(session_id) is search:
                    # The next call tries again.
                    del self._searches[session_id]
            raise failure
        return search.text

    def _run(self, session_id: str, search: _Search, words_first: bool) -> None:  # noqa: FBT001 - of this module
        if words_first:
            search.text = self._look(session_id, search.query, True)  # noqa: FBT003
            search.ready.set()
        started = self._timer()
        search.text = self._look(session_id, search.query, False)  # noqa: FBT003
        self._seconds = self._timer() - started
