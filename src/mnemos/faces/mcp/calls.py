"""Operations run for MCP clients, on one memory and in worker threads."""

from __future__ import annotations

import asyncio
import copy
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from mnemos.cancellation import Cancellation
from mnemos.errors import MnemosError, NotFound
from mnemos.faces.http.scopes import check_allowed
from mnemos.faces.http.workers import Spaces
from mnemos.inputs import suggest
from mnemos.memory import Memory
from mnemos.memory.access_tokens import Grant
from mnemos.operations import registry
from mnemos.operations.arguments import replace_surrogates
from mnemos.operations.index import BY_NAME, Entry
from mnemos.settings import act_as
from mnemos.text.stored_text import join_items

log = logging.getLogger("mnemos.mcp")

_THREADS = 8

Gone = Callable[[], Awaitable[None]]
"""Returns when the client stops waiting for the answer."""


class Calls:
    """Runs operations on one memory for all clients.

    A cancelled call stops its SQL, which is rolled back, or stops at its next report of progress. An
    operation that reports none is finished.
    """

    def __init__(self, memory: Memory, entries: Sequence[Entry], spaces: Spaces | None = None) -> None:
        """``entries``: the tools on offer. ``spaces``: for clients with other tokens.

        Nothing is opened before it is needed.
        """
        self._memory = memory
        self._spaces = spaces or Spaces(memory)
        self._grant: Grant | None = None
        self.entries = {entry.name: entry for entry in entries}
        self._opening = threading.Lock()
        self._limiter = anyio.CapacityLimiter(_THREADS)
        self._places = threading.Semaphore(_THREADS)

    def limited_to(self, grant: Grant) -> Calls:
        """Return a copy for a client with fewer rights or another space."""
        limited = copy.copy(self)
        limited._grant = grant
        return limited

    async def tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        session_id: str,
        gone: Gone | None = None,
    ) -> dict[str, Any]:
        """Answer a tool call in the protocol's form; a failure is an answer too."""
        try:
            if name not in self.entries:
                offered = ", ".join(self.entries) or "none"
                meant = suggest(name, self.entries) or f" There are {offered}."
                raise NotFound(f"There is no tool {name[:80]!r}.{meant}")
            result = await self.run(name, arguments or {}, session_id, gone)
        except MnemosError as exc:
            return _failure(exc.code, str(exc))
        except Exception:
            log.exception("%s failed unexpectedly", name)
            return _failure("internal", f"{name} failed unexpectedly. See the log of the server.")
        return _answer(result["text"], result)

    async def run(
        self, name: str, arguments: Mapping[str, Any], session_id: str, gone: Gone | None = None
    ) -> dict[str, Any]:
        """Run an operation, whether or not it is offered as a tool. Raises MnemosError.

        ``session_id``: the session of the connection, for operations that take one and are not given one.
        """
        cancellation = Cancellation()
        work = partial(self._run, cancellation, name, _in_session(BY_NAME[name], arguments, session_id))
        # asyncio tasks, because an anyio task group takes longer than most operations.
        thread = asyncio.create_task(anyio.to_thread.run_sync(work, limiter=self._limiter))
        watch = None if gone is None else asyncio.create_task(_request_when(gone, cancellation))
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            cancellation.request()
            # It may be in the middle of a write.
            with anyio.CancelScope(shield=True):
                await asyncio.wait([thread])
            # Retrieved, because asyncio logs exceptions that nobody retrieves.
            thread.exception()
            raise
        finally:
            if watch is not None:
                watch.cancel()

    async def warm_up(self) -> None:
        """Open an existing memory, so that the first call doesn't have to wait."""
        try:
            if self._memory.home.exists:
                await anyio.to_thread.run_sync(self._open, limiter=self._limiter)
        except (MnemosError, OSError, ValueError):
            log.debug("opening ahead failed; the first call will report it", exc_info=True)

    def settle(self) -> None:
        """Wait for running calls, after which the memory can be closed."""
        for _ in range(_THREADS):
            self._places.acquire()

    def _run(self, cancellation: Cancellation, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        with self._places, cancellation.applies():
            cancellation.check()
            if self._grant is None:
                self._open()
                return registry.call(self._memory, name, arguments, cancellation.check)
            operation = registry.read(name, arguments)
            check_allowed(self._grant, name, operation)
            with act_as(self._grant.actor), self._spaces.use(self._grant.space) as memory:
                return registry.perform(memory, name, operation, cancellation.check)

    def _open(self) -> None:
        # Two simultaneous first calls must not open it twice.
        with self._opening:
            self._memory.storage  # noqa: B018


async def _request_when(gone: Gone, cancellation: Cancellation) -> None:
    await gone()
    cancellation.request()


def _in_session(entry: Entry, arguments: Mapping[str, Any], session_id: str) -> Mapping[str, Any]:
    """Add the connection's session to the arguments if the operation takes one.

    Tools about sessions are left alone: their ``session_id`` is a past session to look at.
    """
    if "sessions" in entry.sets or "session_id" not in registry.load(entry).__struct_fields__:
        return arguments
    return arguments if arguments.get("session_id") is not None else {**arguments, "session_id": session_id}


def _failure(code: str, message: str) -> dict[str, Any]:
    said = replace_surrogates(message)
    return _answer(join_items([f"{code}: {said}"]), {"error": {"code": code, "message": said}}) | {
        "isError": True
    }


def _answer(text: str, structured: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "resultType": "complete",
    }


async def stop_when_told(stop: Callable[[], object]) -> None:
    """Call ``stop`` at the first SIGINT or SIGTERM. A second one has its usual effect."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            stop()
            return
