"""Lanes of threads in which async code runs synchronous calls, under asyncio and trio.

Only this module and ``async_memory`` know about async code. The called methods don't.
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
# Recall is Python code that holds the interpreter lock, so more threads would not answer sooner.
WIDTHS = {READS: 4, WRITES: 1, LONG: 1, WORKSPACE: 1, BACKEND: 1}
# Iterator items read per call in a thread. A call costs about as much as reading ten small items.
PAGE = 50
CLOSE_SECONDS = 60.0
"""Seconds to wait, when a memory is closed, for calls that were already accepted."""

log = logging.getLogger("mnemos.aio")

T = TypeVar("T")


class Lanes:
    """Threads for the calls of one memory, tied to this process but not to an event loop.

    A lane with one thread runs calls in the order they were submitted.
    """

    def __init__(self, widths: Mapping[str, int] = WIDTHS) -> None:
        """``widths``: the number of threads of each lane."""
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
        """Run a call and return its result or raise its exception.

        A cancelled call that hasn't begun is never run. One that has begun is finished, and only a cancelled
        read doesn't wait for it.
        """
        return await _wait(self._submit(lane, work), lane)

    async def iterate(self, lane: str, begin: Callable[[], Iterator[T]]) -> AsyncGenerator[T, None]:
        """Yield the items of an iterator, read in pages. It is closed early if the reader stops."""
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
            # After the memory was closed, the iterator is closed when its last reference goes.
            if close is not None and not self.is_closed:
                await _wait(self._submit(lane, close))

    async def close(self, work: Callable[[], None]) -> None:
        """Refuse further calls, finish the accepted ones, then run ``work``. Closing twice is harmless."""
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
        """Make new threads after a fork, because a child process has none of its parent's."""
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
                # Another thread has closed it since, or the interpreter is about to exit.
                pass
            else:
                self._accepted.add(future)
                future.add_done_callback(self._accepted.discard)
                return future
        raise StorageError("This memory is closed. Open it again.")


def _read_page(items: Iterator[T]) -> tuple[list[T], MnemosError | None]:
    """Return the next items, none at the end, and the exception raised after them, if any."""
    page: list[T] = []
    try:
        for item in islice(items, PAGE):
            page.append(item)
    except MnemosError as exc:
        return page, exc
    return page, None


async def _wait(future: Future[T], lane: str = "") -> T:
    """Return a call's outcome. ``lane``: where it waits, if it may be cancelled before it begins."""
    event, wake = _make_event()

    def notify(_: Future[T]) -> None:
        try:
            wake()
        except RuntimeError:
            # The event loop ended first, so nobody is waiting.
            pass

    future.add_done_callback(notify)
    try:
        await event.wait()
    except GeneratorExit:
        # The event loop was abandoned, so nothing can be awaited any more.
        raise
    except BaseException:
        is_dropped = lane and (future.cancel() or lane == READS)
        if not is_dropped:
            with _shield():
                while not event.is_set():
                    try:
                        await event.wait()
                    except asyncio.CancelledError:
                        # Cancelled again while the outcome is still unknown.
                        pass
        raise
    return future.result()


class _Event(Protocol):
    def is_set(self) -> bool: ...

    async def wait(self) -> Any: ...


def _make_event() -> tuple[_Event, Callable[[], object]]:
    """Return an event of the running event loop, and a function that sets it from any thread."""
    if _is_trio():
        import trio  # optional: already imported by a program that runs trio

        token, occurred = trio.lowlevel.current_trio_token(), trio.Event()
        return occurred, lambda: token.run_sync_soon(occurred.set)
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    return event, lambda: loop.call_soon_threadsafe(event.set)


def _shield() -> AbstractContextManager[object]:
    """Keep cancel scopes from cancelling what is awaited inside.

    anyio's cancel scopes cancel an asyncio task in every round of the loop, which would keep a core busy.
    """
    library = sys.modules.get("trio" if _is_trio() else "anyio")
    shield: AbstractContextManager[object] = library.CancelScope(shield=True) if library else nullcontext()
    return shield


def _is_trio() -> bool:
    library = sys.modules.get("trio")
    return library is not None and library.lowlevel.in_trio_task()
