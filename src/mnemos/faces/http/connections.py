"""Connections that silent clients can't keep open, and the server with them.

uvicorn waits forever for the rest of a head or a body.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mnemos.faces.http import limits


class _Part(Enum):
    """The part of a request that a connection is waiting for."""

    HEAD = "head"
    BODY = "body"
    NOTHING = "nothing"


class Connection(HttpToolsProtocol):
    """Closes itself if a head or a body takes too long, or a head is too long."""

    _awaits = _Part.HEAD
    _head_bytes = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_for(limits.HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        if self._awaits is _Part.NOTHING:
            # The parser does not report blank lines before a head.
            self._begin_head()
        if self._awaits is _Part.HEAD:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._awaits is _Part.BODY:
            self._watch_for(limits.BODY_SECONDS)
        elif self._awaits is _Part.HEAD:
            if self._head_bytes > limits.HEAD_BYTES:
                self.transport.close()
            elif self._timer is None:
                # More bytes of a head don't extend its deadline.
                self._watch_for(limits.HEAD_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaits is _Part.NOTHING:
            self._begin_head()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._awaits = _Part.BODY
        self._stop_watching()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._awaits = _Part.NOTHING
        self._stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _begin_head(self) -> None:
        self._awaits, self._head_bytes = _Part.HEAD, 0

    def _watch_for(self, seconds: float) -> None:
        self._stop_watching()
        self._timer = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.flow.read_paused or (self._awaits is _Part.HEAD and is_answering):
            # The server is the slow side: the client is waiting for it to read the body or to answer.
            self._watch_for(limits.BODY_SECONDS)
        else:
            self.transport.close()

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Serving(uvicorn.Server):
    """A server that can be closed: uvicorn would raise the signal again before that."""

    stops_by: float | None = None
    """Once the server is stopping, the monotonic time at which the process should end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def run_on(
        self, listening: socket.socket, on_stop: Callable[[], object], parent: int | None = None
    ) -> None:
        """Serve until SIGINT or SIGTERM, finishing open requests. A second one ends at once.

        ``on_stop`` is called with the first. ``parent``: a pipe that ends when the parent process does.
        """
        loop = asyncio.get_running_loop()

        def stop() -> None:
            self.should_exit = True
            self.stops_by = time.monotonic() + limits.END_SECONDS
            on_stop()
            if parent is not None:
                loop.remove_reader(parent)
            for one in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(one)

        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, stop)
        if parent is not None:
            loop.add_reader(parent, stop)
        await self.serve(sockets=[listening])


def make_server(
    app: Any, *, lifespan: bool, certificate: str | None = None, key: str | None = None
) -> Serving:
    return Serving(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="on" if lifespan else "off",
            log_config=None,
            access_log=False,
            server_header=False,
            # Otherwise a client could claim another address.
            proxy_headers=False,
            limit_concurrency=limits.CONNECTIONS,
            timeout_keep_alive=limits.KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=limits.CUT_SECONDS,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
    )
