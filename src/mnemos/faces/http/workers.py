"""Threads that run operations, and the memories that they run on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from mnemos.cancellation import Cancellation
from mnemos.faces.http import limits
from mnemos.memory import Memory
from mnemos.operations import registry

_Outcome = TypeVar("_Outcome")

_SEARCHES = frozenset(
    {"recall", "session_search", "sessions_search", "memory_search", "entries_query", "sqlite_query"}
)


class Workers:
    """Three pools, so that an import or a search does not delay what is quick."""

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(8, "mnemos-quick")
        self._searches = ThreadPoolExecutor(max(2, os.cpu_count() or 2), "mnemos-search")
        self._long = ThreadPoolExecutor(2, "mnemos-long")
        self._running: set[Cancellation] = set()

    def start(
        self, name: str, work: Callable[[Cancellation], _Outcome]
    ) -> tuple[Future[_Outcome], Cancellation]:
        """Run the work of an operation in its pool."""
        cancellation = Cancellation()
        pool = self._long if registry.is_long(name) else self._searches if name in _SEARCHES else self._quick
        self._running.add(cancellation)
        future = pool.submit(partial(_run, work, cancellation))
        future.add_done_callback(lambda _: self._running.discard(cancellation))
        return future, cancellation

    def close(self) -> None:
        """Stop what can be stopped, and wait for the rest: a write that has begun is finished."""
        for cancellation in list(self._running):
            cancellation.request()
        for pool in (self._quick, self._searches, self._long):
            pool.shutdown(wait=True)


def _run(work: Callable[[Cancellation], _Outcome], cancellation: Cancellation) -> _Outcome:
    with cancellation.applies():
        cancellation.check()
        return work(cancellation)


@dataclass(slots=True)
class _Opened:
    memory: Memory
    users: int = 0


class Spaces:
    """The memories of one home, one for each space that is in use."""

    def __init__(self, memory: Memory) -> None:
        """``memory``: the one of the server's own space, which its owner closes."""
        self._own = memory
        self._lock = threading.Lock()
        # In the order of their last use.
        self._opened: dict[tuple[str, str], _Opened] = {}

    @property
    def own(self) -> str:
        return self._own.settings.space

    @property
    def home(self) -> Path:
        return self._own.settings.home

    def measure(self) -> dict[str, int]:
        """Return the size of the database, in which all spaces are, and counts of the server's own space."""
        if self._own.home.is_server:
            size = self._own.storage.usage().file_bytes
        else:
            try:
                size = self._own.database.stat().st_size
            except OSError:
                return {"database_bytes": 0}
        coverage = self._own.embedding.peek()
        vectors, total = (0, 0) if coverage is None else (coverage.done, coverage.total)
        return {
            "database_bytes": size,
            "messages": self._own.sessions.message_count(),
            "vectors": vectors,
            "passages_without_vectors": total - vectors,
        }

    def watch(self) -> AbstractContextManager[Callable[[], object]]:
        """Return a function whose value changes with each commit, in any space; see ``Storage.watch``."""
        return self._own.storage.watch()

    @contextmanager
    def use(self, space: str, *, by_person: bool = False) -> Iterator[Memory]:
        """Return the memory of a space, which stays open while it is used.

        ``by_person``: facts that are stored with it were stated by the user.
        """
        settings = self._own.settings
        key = space, "user" if by_person else settings.stated_by
        if key == (settings.space, settings.stated_by):
            yield self._own
            return
        with self._lock:
            opened = self._opened.pop(key, None) or _Opened(
                Memory(replace(settings, space=space, stated_by=key[1]))
            )
            self._opened[key] = opened
            opened.users += 1
        try:
            yield opened.memory
        finally:
            with self._lock:
                opened.users -= 1
                idle = [name for name, one in self._opened.items() if not one.users]
                surplus = max(0, len(self._opened) - limits.SPACES)
                closing = [self._opened.pop(name).memory for name in idle[:surplus]]
            for memory in closing:
                memory.close()

    def close(self) -> None:
        for opened in self._opened.values():
            opened.memory.close()
