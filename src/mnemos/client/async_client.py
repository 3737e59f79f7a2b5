"""A client for async code: a method per operation, and a stream of changes.

Methods are made from the list of operations; their signatures are in ``async_client.pyi``, which
``scripts/make_client_stub.py`` makes. The requests are those of ``wire``, in threads.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

from mnemos.client.change_stream import ChangeStream
from mnemos.client.remote_memory import connect
from mnemos.memory.call_lanes import READS, WRITES, Lanes
from mnemos.operations import registry
from mnemos.operations.changes import ChangeInfo
from mnemos.operations.index import ENTRIES
from mnemos.structs import convert

# Most of the time, a thread only waits for the server.
WIDTHS = {READS: 16, WRITES: 16}


class AsyncClient:
    """A server's memory for async code. Works under asyncio and trio, in any loop.

    Calls are independent of each other: to keep two writes in order, await the first. A cancelled write that
    has begun is finished before the cancellation is raised.
    """

    def __init__(self, url: str, token: str | None = None, *, read_only: bool = False) -> None:
        self.sync = connect(url, token, read_only=read_only)
        self._lanes = Lanes(WIDTHS)
        self._known: dict[str, str] = {}

    async def call(
        self, name: str, args: dict[str, Any] | None = None, *, user_id: str | None = None
    ) -> dict[str, Any]:
        """Run an operation with a model's arguments; see ``Memory.call``."""
        lane = await self._find_lane(name)
        return await self._lanes.run(lane, partial(self.sync.call, name, args, user_id=user_id))

    async def changes(self, since: str | None = None) -> AsyncGenerator[ChangeInfo, None]:
        """Yield changes as they are made, or all those after a cursor."""
        stream, lanes = ChangeStream(self.sync.wire, since), Lanes({READS: 1})
        try:
            while (change := await lanes.run(READS, stream.read)) is not None:
                yield change
        finally:
            stream.close()
            await lanes.close(stream.finish)

    async def close(self) -> None:
        """Finish running calls and close the connections. Closing twice is harmless."""
        await self._lanes.close(self.sync.close)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _find_lane(self, name: str) -> str:
        if name not in self._known:
            # Importing an operation takes too long for an event loop.
            self._known[name] = await self._lanes.run(READS, partial(_choose_lane, name))
        return self._known[name]

    async def _run(self, name: str, arguments: dict[str, Any]) -> Any:
        lane = await self._find_lane(name)
        return await self._lanes.run(lane, partial(self._ask, name, arguments))

    def _ask(self, name: str, arguments: dict[str, Any]) -> Any:
        return convert(self.sync.ask(name, arguments), registry.result_of(registry.find(name)))


def _choose_lane(name: str) -> str:
    return READS if registry.find(name).traits.read_only else WRITES


def _make_method(name: str) -> Callable[..., Any]:
    async def call(self: AsyncClient, **arguments: Any) -> Any:
        return await self._run(name, arguments)

    call.__name__, call.__qualname__ = name, f"AsyncClient.{name}"
    call.__doc__ = f"Run the operation ``{name}`` and return its result."
    return call


for _entry in ENTRIES:
    if not hasattr(AsyncClient, _entry.name):
        setattr(AsyncClient, _entry.name, _make_method(_entry.name))
