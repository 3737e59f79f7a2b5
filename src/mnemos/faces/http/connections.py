"""Connections that can't be kept open by saying nothing, and the server that owns them.

uvicorn waits for the rest of a head or a body for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mnemos.faces.http import limits


class Connection(H11Protocol):
    """Closes itself when a head or a body takes too long."""

    _timer: asyncio.TimerHandle | None = None
    _awaits_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        state = self.conn.their_state
        if state is h11.IDLE:
            # More bytes of a head don't extend its time.
            if not self._awaits_head:
                self._watch_for(limits.HEAD_SECONDS)
                self._awaits_head = True
        elif state is h11.SEND_BODY:
            self._watch_for(limits.BODY_SECONDS)
        else:
            self._stop_watching()

    def _watch_for(self, seconds: float) -> None:
        self._stop_watching()
        self._timer = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self.flow.read_paused:
            # We are the slow side: the client can't send on before the body is taken.
            self._watch_for(limits.BODY_SECONDS)
        else:
            self.transport.close()

    def _stop_watching(self) -> None:
        self._awaits_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Serving(uvicorn.Server):
    """uvicorn sends itself the signal again when it has stopped, which would end us before we close."""

    stops_by: float | None = None
    """When the process should end, by the monotonic clock, once it is being stopped."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def run_on(
        self, listening: socket.socket, on_stop: Callable[[], object], parent: int | None = None
    ) -> None:
        """Serve until SIGINT or SIGTERM; requests under way are answered. A second signal ends at once.

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
            # A client could claim to be somebody else.
            proxy_headers=False,
            limit_concurrency=limits.CONNECTIONS,
            timeout_keep_alive=limits.KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=limits.CUT_SECONDS,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
    )
