"""Threads that run operations, and the memories they work on."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from mnemos.cancellation import Cancellation
from mnemos.errors import Busy
from mnemos.faces.http import limits
from mnemos.memory import Memory
from mnemos.operations import registry

_Outcome = TypeVar("_Outcome")

_LOOK, _END = "look", "end"
_SEARCHES = frozenset({"recall", "session_search", "sessions_search", "memory_search", "entries_query"})
# The sandbox may run for long, in another process.
_SQL = frozenset({"sqlite_query"})


@dataclass(slots=True, eq=False)
class Task(Generic[_Outcome]):
    work: Callable[[Cancellation], _Outcome]
    done: Callable[[_Outcome | None, Exception | None], object]
    """Called in the thread, with the result or the error."""
    cancellation: Cancellation = field(default_factory=Cancellation)

    def run(self) -> None:
        try:
            with self.cancellation.applies():
                self.cancellation.check()
                outcome = self.work(self.cancellation)
        except Exception as exc:  # noqa: BLE001 - the outermost loop of a thread
            self.done(None, exc)
        else:
            self.done(outcome, None)


class Pool:
    """Threads that serve the owners in turn. No owner ever has all of them.

    A ThreadPoolExecutor takes tasks in the order they come, so one client with many slow tasks would make all
    others wait.
    """

    def __init__(self, name: str, share: int) -> None:
        """``share``: how many threads an owner may use at once. The pool has one more."""
        self._name = name
        self._share = share
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._wake: SimpleQueue[str] = SimpleQueue()
        # Tasks by owner. The owner whose turn is next comes first.
        self._waiting: dict[str, deque[Task[Any]]] = {}
        self._held: dict[str, int] = {}
        self._running: dict[str, list[Task[Any]]] = {}

    def submit(self, owner: str, task: Task[Any]) -> None:
        """Run a task; raise Busy if too many are waiting or running."""
        with self._lock:
            held = self._held.get(owner, 0)
            if held >= limits.IN_FLIGHT:
                raise Busy("This token has too many requests in progress. Try again.")
            if sum(self._held.values()) >= limits.POOL:
                raise Busy("The server has too many requests in progress. Try again.")
            self._held[owner] = held + 1
            self._waiting.setdefault(owner, deque()).append(task)
            if len(self._threads) <= self._share and sum(self._held.values()) > len(self._threads):
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._wake.put(_LOOK)

    def cancel(self) -> None:
        with self._lock:
            for tasks in (*self._waiting.values(), *self._running.values()):
                for task in tasks:
                    task.cancellation.request()

    def close(self, deadline: float | None) -> bool:
        """Wait until everything has ended. Returns False after the deadline."""
        for _ in self._threads:
            self._wake.put(_END)
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while self._wake.get() is _LOOK:
            # A thread that may take nothing can sleep: busy threads of those owners take their tasks.
            while taken := self._take():
                owner, task = taken
                try:
                    task.run()
                finally:
                    self._release(owner, task)
                    # Released before the next task comes, because it may hold a large body.
                    del taken, task

    def _take(self) -> tuple[str, Task[Any]] | None:
        with self._lock:
            for owner, tasks in self._waiting.items():
                running = self._running.setdefault(owner, [])
                if len(running) < self._share:
                    task = tasks.popleft()
                    running.append(task)
                    # The owner goes to the end of the line.
                    del self._waiting[owner]
                    if tasks:
                        self._waiting[owner] = tasks
                    return owner, task
        return None

    def _release(self, owner: str, task: Task[Any]) -> None:
        with self._lock:
            self._running[owner].remove(task)
            self._held[owner] -= 1
            if not self._held[owner]:
                del self._held[owner], self._running[owner]


class Workers:
    """Four pools, so that imports, searches and SQL don't delay quick operations."""

    def __init__(self) -> None:
        self._quick = Pool("mnemos-quick", 7)
        # As many threads as cores, up to four: a search holds the interpreter for four fifths of its time, so
        # that more would only delay quick calls.
        self._searches = Pool("mnemos-search", max(1, min(os.cpu_count() or 2, 4) - 1))
        self._sql = Pool("mnemos-sql", 2)
        self._long = Pool("mnemos-long", 2)
        self._pools = (self._quick, self._searches, self._sql, self._long)

    def start(
        self,
        name: str,
        owner: str,
        work: Callable[[Cancellation], _Outcome],
        done: Callable[[_Outcome | None, Exception | None], object],
    ) -> Cancellation:
        """Run work in an operation's pool; Busy if its owner or the pool has too much."""
        task = Task(work, done)
        self._choose(name).submit(owner, task)
        return task.cancellation

    def _choose(self, name: str) -> Pool:
        if registry.is_long(name):
            return self._long
        if name in _SEARCHES:
            return self._searches
        return self._sql if name in _SQL else self._quick

    def close(self, deadline: float | None = None) -> bool:
        """Stop what can be stopped, and finish writes. Returns False after the deadline."""
        for pool in self._pools:
            pool.cancel()
        ended = [pool.close(deadline) for pool in self._pools]
        return all(ended)


@dataclass(slots=True)
class _Opened:
    memory: Memory
    users: int = 0


class Spaces:
    """The open memories of a home, one per space."""

    def __init__(self, memory: Memory) -> None:
        """``memory``: the memory of the server's own space, which its owner closes."""
        self._own = memory
        self._lock = threading.Lock()
        # Ordered by last use.
        self._opened: dict[tuple[str, str], _Opened] = {}

    @property
    def home(self) -> Path:
        return self._own.settings.home

    def measure(self) -> dict[str, int]:
        """Return the size of the database, and counts of the server's own space."""
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
        """Return a function whose value changes with each commit to any space."""
        return self._own.storage.watch()

    @contextmanager
    def use(self, space: str, *, by_person: bool = False) -> Iterator[Memory]:
        """Return the memory of a space, which stays open while it is in use.

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
