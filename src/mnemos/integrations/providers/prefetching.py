"""Recall for the coming message: begun in the background, waited for only a moment.

The first time a process asks, recall has to load what vectors need. So the words alone are asked first, and
the rest in the same breath: whoever does not wait that long takes the first answer. Once recall by everything
is known to be quick, it is asked at once.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Final

from mnemos.deadlines import Attempt

Look = Callable[[str, str, bool], str]
"""Recall for a session and a query, by words alone or by everything, as a text for the prompt."""

# The promise is 50 ms. Whoever has waited gets its turn of the interpreter a few milliseconds later.
WITHIN: Final = 0.04
# Below this, recall by everything is in time for whoever waits ``WITHIN``.
_QUICK: Final = 0.03
# What was found longer ago may no longer be so.
_LASTS: Final = 30.0
_SESSIONS: Final = 64
_AT_ONCE: Final = 4


class _Search:
    """A question on its way; ``text`` is the best answer so far."""

    def __init__(self, query: str, began: float) -> None:
        self.query = query
        self.began = began
        self.text = ""
        self.ready = threading.Event()
        self.attempt: Attempt | None = None
        self.was_taken = False


class Recalls:
    """The newest search of each session. Safe to use from any thread."""

    def __init__(self, look: Look, timer: Callable[[], float] = time.perf_counter) -> None:
        self._look = look
        self._timer = timer
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._searches: OrderedDict[str, _Search] = OrderedDict()
        self._former: dict[str, _Search] = {}
        self._running: list[Attempt] = []
        self._seconds = float("inf")

    def begin(self, session_id: str, query: str, *, anew: bool = False) -> None:
        """Look in the background; the same question right after is not asked twice.

        ``anew``: a turn begins. What was taken before was for another, even if it asked the same.
        """
        self._search(session_id, query, anew=anew)

    def take(self, session_id: str, query: str, within: float = WITHIN) -> str:
        """The answer, at the latest after so many seconds; then what was found for the question before, if
        nobody has seen it, or nothing. What looking raised is raised."""
        search = self._search(session_id, query)
        if search is None:
            return ""
        search.ready.wait(within)
        if search.text or search.ready.is_set():
            return self._taken(session_id, search)
        former = self._former.pop(session_id, None)
        return former.text if former is not None and not former.was_taken else ""

    def forget(self) -> None:
        """What was found before no longer fits: the session was compressed, or is another one."""
        with self._lock:
            self._searches.clear()
            self._former.clear()

    def _taken(self, session_id: str, search: _Search) -> str:
        search.was_taken = True
        if not search.text and search.attempt is not None and search.attempt.failure is not None:
            with self._lock:
                if self._searches.get(session_id) is search:
                    # The next who asks may have more luck.
                    del self._searches[session_id]
            raise search.attempt.failure
        return search.text

    def _search(self, session_id: str, query: str, *, anew: bool = False) -> _Search | None:
        if self._process != os.getpid():
            self._begin_process()
        now = self._timer()
        with self._lock:
            known = self._searches.get(session_id)
            if (
                known is not None
                and known.query == query
                and now - known.began < _LASTS
                and not (anew and known.was_taken)
            ):
                return known
            self._running = [attempt for attempt in self._running if not attempt.is_back]
            if len(self._running) >= _AT_ONCE:
                return None
            search = self._searches[session_id] = _Search(query, now)
            self._searches.move_to_end(session_id)
            if known is not None:
                self._former[session_id] = known
            while len(self._searches) > _SESSIONS:
                gone, _ = self._searches.popitem(last=False)
                self._former.pop(gone, None)
            work = partial(self._run, session_id, search, self._seconds > _QUICK)
            search.attempt = Attempt(work, search.ready.set)
            self._running.append(search.attempt)
        return search

    def _run(self, session_id: str, search: _Search, words_first: bool) -> None:  # noqa: FBT001 - of this module
        if words_first:
            search.text = self._look(session_id, search.query, True)  # noqa: FBT003
            search.ready.set()
        started = self._timer()
        search.text = self._look(session_id, search.query, False)  # noqa: FBT003
        self._seconds = self._timer() - started
