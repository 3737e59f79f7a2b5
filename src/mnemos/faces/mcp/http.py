"""The server over streamable HTTP, for clients on this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemos.errors import InvalidInput, Refused, Unavailable
from mnemos.faces.mcp.calls import Calls, stop_when_told
from mnemos.faces.mcp.lines import LONGEST

log = logging.getLogger("mnemos.mcp")

PATH = "/mcp"
_LOCAL = "127.0.0.1"
_NAMES = (_LOCAL, "localhost", "[::1]")
_LAST_ANSWERS_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Address:
    """A loopback address and a port; 0 is any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """``HOST:PORT``, ``[::1]:PORT`` or ``PORT`` alone; an address that others reach raises Refused."""
        host, _, port = text.strip().rpartition(":")
        if not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
            raise InvalidInput(f"{text!r} is no address; use HOST:PORT, such as {_LOCAL}:8765")
        return cls(_loopback(host.removeprefix("[").removesuffix("]")), int(port))

    def listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            listening = socket.create_server((self.host, self.port), family=family)
        except OSError as exc:
            raise Unavailable(
                f"{self.host}:{self.port} cannot be listened on: {exc.strerror}; choose another port"
            ) from exc
        # Connections inherit it. Else the body of every answer waits 40 ms for its head to be acknowledged.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening


def _loopback(host: str) -> str:
    if host in ("", "localhost"):
        return _LOCAL
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise InvalidInput(f"{host!r} is no address; use {_LOCAL} or ::1") from None
    if not address.is_loopback:
        raise Refused(f"{host} can be reached by others, and nobody is asked who they are; use {_LOCAL}")
    return str(address)


async def serve(server: Server[Any], calls: Calls, listening: socket.socket) -> None:
    """Serve clients until a signal says so; what they have asked is still answered."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        application(server, port, shown),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS,
    )
    serving = _Serving(config)

    def stop() -> None:
        serving.should_exit = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_when_told, stop)
        tasks.start_soon(calls.warm_up)
        log.info("listening on http://%s:%d%s", shown, port, PATH)
        await serving.serve(sockets=[listening])
        tasks.cancel_scope.cancel()


def application(server: Server[Any], port: int, host: str = _LOCAL) -> ASGIApp:
    """The server as an ASGI application, deaf to what another site makes a browser send."""
    hosts = [f"{name}:{port}" for name in dict.fromkeys((host, *_NAMES))]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        # Nothing is sent but the answer: no need for a stream of events to carry it.
        json_response=True,
        max_request_body_size=LONGEST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]
        ),
    )

    async def without_streams(scope: Scope, receive: Receive, send: Send) -> None:
        # A client may listen for what the server says unasked. This one says nothing, and would not end
        # before they all stop listening.
        if scope["type"] == "http" and scope["method"] == "GET":
            await Response(status_code=405, headers={"allow": "POST, DELETE"})(scope, receive, send)
        else:
            await app(scope, receive, send)

    return without_streams


class _Serving(uvicorn.Server):
    """uvicorn sends itself the signal again when it has stopped, which would end us before we close."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
