"""Lanes of threads in which async code runs synchronous calls, under asyncio and trio.

The face of async code is here and in ``async_memory``; what is called knows nothing of it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from itertools import islice
from typing import Any, Protocol, TypeVar

from mnemos.errors import MnemosError, StorageError

READS, WRITES, LONG, WORKSPACE, BACKEND = "reads", "writes", "long", "workspace", "backend"
# Recall is Python and holds the interpreter: more threads would not answer sooner.
WIDTHS = {READS: 4, WRITES: 1, LONG: 1, WORKSPACE: 1, BACKEND: 1}
# Items of an iterator per visit to a thread: a visit costs about as much as reading ten small ones.
PAGE = 50
CLOSE_SECONDS = 60.0
"""For calls that were accepted before a memory is closed; what is late then fails."""

log = logging.getLogger("mnemos.aio")

T = TypeVar("T")


class Lanes:
    """Threads for the calls of one memory. They belong to no event loop, and to the process that made them.

    The calls of a lane of one thread run in the order in which they were submitted.
    """

    def __init__(self, widths: Mapping[str, int] = WIDTHS) -> None:
        """``widths``: the threads of each lane."""
        self._widths = widths
        self._make()

    def _make(self) -> None:
        self._process = os.getpid()
        self._closing: Future[None] | None = None
        self._accepted: set[Future[Any]] = set()
        self._pools = {
            lane: ThreadPoolExecutor(width, thread_name_prefix=f"mnemos-{lane}")
            for lane, width in self._widths.items()
        }

    async def run(self, lane: str, work: Callable[[], T]) -> T:
        """Run a call and return its result, or raise what it raised.

        A cancelled call that has not begun is never run. One that has begun is finished: only a read does not
        wait for that.
        """
        return await _wait(self._submit(lane, work), lane)

    async def iterate(self, lane: str, begin: Callable[[], Iterator[T]]) -> AsyncGenerator[T, None]:
        """Yield the items of an iterator, which is read in pages and closed early if the reader stops."""
        items = await self.run(lane, begin)
        try:
            while True:
                page, failure = await self.run(lane, lambda: _read_page(items))
                for item in page:
                    yield item
                if failure is not None:
                    raise failure
                if not page:
                    return
        finally:
            close = getattr(items, "close", None)
            # Once the memory is closed, the iterator ends with its last reference.
            if close is not None and not self.is_closed:
                await _wait(self._submit(lane, close))

    async def close(self, work: Callable[[], None]) -> None:
        """Refuse further calls, finish those that were accepted, then run ``work``. Twice does no harm."""
        self._notice_fork()
        if self._closing is None:
            last = ThreadPoolExecutor(1, thread_name_prefix="mnemos-close")
            self._closing = last.submit(self._drain, work)
            last.shutdown(wait=False)
        await _wait(self._closing)

    def _drain(self, work: Callable[[], None]) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False)
        late = wait(list(self._accepted), CLOSE_SECONDS).not_done
        for future in late:
            future.cancel()
        if late:
            log.warning("%d calls did not end within %g seconds of closing", len(late), CLOSE_SECONDS)
        work()

    def _notice_fork(self) -> None:
        """Make new threads after a fork: those of the parent did not come along."""
        if self._process != os.getpid():
            self._make()

    @property
    def is_closed(self) -> bool:
        return self._closing is not None

    def _submit(self, lane: str, work: Callable[[], T]) -> Future[T]:
        self._notice_fork()
        if not self.is_closed:
            try:
                future = self._pools[lane].submit(copy_context().run, work)
            except RuntimeError:
                # Closed by another thread since, or the interpreter is about to exit.
                pass
            else:
                self._accepted.add(future)
                future.add_done_callback(self._accepted.discard)
                return future
        raise StorageError("This memory is closed. Open it again.")


def _read_page(items: Iterator[T]) -> tuple[list[T], MnemosError | None]:
    """Return the next items, none at the end, and what went wrong after them."""
    page: list[T] = []
    try:
        for item in islice(items, PAGE):
            page.append(item)
    except MnemosError as exc:
        return page, exc
    return page, None


async def _wait(future: Future[T], lane: str = "") -> T:
    """Return the outcome of a call. ``lane``: where it waits, if it may be cancelled before it begins."""
    event, wake = _make_event()

    def notify(_: Future[T]) -> None:
        try:
            wake()
        except RuntimeError:
            # The event loop ended first, and nobody waits.
            pass

    future.add_done_callback(notify)
    try:
        await event.wait()
    except GeneratorExit:
        # The event loop was abandoned: nothing can be awaited any more.
        raise
    except BaseException:
        is_dropped = lane and (future.cancel() or lane == READS)
        if not is_dropped:
            with _shield():
                while not event.is_set():
                    try:
                        await event.wait()
                    except asyncio.CancelledError:
                        # Cancelled again: its outcome is still not known.
                        pass
        raise
    return future.result()


class _Event(Protocol):
    def is_set(self) -> bool: ...

    async def wait(self) -> Any: ...


def _make_event() -> tuple[_Event, Callable[[], object]]:
    """Return an event of the event loop that is running, and what sets it from any thread."""
    if _is_trio():
        import trio  # optional: imported by whoever runs it

        token, occurred = trio.lowlevel.current_trio_token(), trio.Event()
        return occurred, lambda: token.run_sync_soon(occurred.set)
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    return event, lambda: loop.call_soon_threadsafe(event.set)


def _shield() -> AbstractContextManager[object]:
    """Keep cancel scopes from cancelling what is awaited inside.

    Those of anyio cancel a task of asyncio in every round of the loop, which would keep a core busy.
    """
    library = sys.modules.get("trio" if _is_trio() else "anyio")
    shield: AbstractContextManager[object] = library.CancelScope(shield=True) if library else nullcontext()
    return shield


def _is_trio() -> bool:
    library = sys.modules.get("trio")
    return library is not None and library.lowlevel.in_trio_task()
