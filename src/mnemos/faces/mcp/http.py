"""The server over streamable HTTP, for clients on this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemos.errors import InvalidInput, Refused, Unavailable
from mnemos.faces.mcp.calls import Calls, stop_when_told
from mnemos.faces.mcp.lines import LONGEST

log = logging.getLogger("mnemos.mcp")

PATH = "/mcp"
_LOCAL = "127.0.0.1"
_NAMES = (_LOCAL, "localhost", "[::1]")
_LAST_ANSWERS_SECONDS = 10
# Says nothing about the server, whose own messages name the file with the token.
_UNAUTHENTICATED = {
    "error": {
        "code": "unauthenticated",
        "message": "Send the header 'Authorization: Bearer TOKEN'. "
        "The server names the file with the token when it starts.",
    }
}


@dataclass(frozen=True, slots=True)
class Address:
    """A loopback address and a port; 0 is any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """``HOST:PORT``, ``[::1]:PORT`` or ``PORT`` alone; an address that others reach raises Refused."""
        host, colon, port = text.strip().rpartition(":")
        if not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
            raise InvalidInput(f"{text!r} is not an address. Use HOST:PORT, such as {_LOCAL}:8765.")
        return cls(_loopback(host.strip("[]")) if colon else _LOCAL, int(port))

    def listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            listening = socket.create_server((self.host, self.port), family=family)
        except OSError as exc:
            raise Unavailable(
                f"{self.host}:{self.port} cannot be listened on: {exc.strerror}. Choose another port."
            ) from exc
        # Connections inherit it. Else the body of every answer waits 40 ms for its head to be acknowledged.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening


def _loopback(host: str) -> str:
    """Return a loopback address as it is written; everything else raises Refused. No name is looked up."""
    if host.lower() == "localhost":
        return _LOCAL
    try:
        # Takes every way to write an address that the system takes: 0, 0x0 and 000.0.0.0 are all of them.
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        address = ipaddress.ip_address(found[0][4][0])
    except (OSError, ValueError):
        address = None
    if address is None or not address.is_loopback:
        raise Refused(
            f"Refusing to listen on {host!r}: use a loopback address such as {_LOCAL} or ::1, which only "
            "this machine reaches."
        )
    return str(address)


async def serve(
    server: Server[Any], calls: Calls, listening: socket.socket, token: str | None = None
) -> None:
    """Serve clients that send the token until a signal comes; pending requests are still answered."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    app = application(server, port, shown)
    config = uvicorn.Config(
        app if token is None else require_token(app, token),
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
    """The server as an ASGI application, which ignores requests that another site makes a browser send."""
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
        # A client may listen for notifications. This server sends none, and would not end before all clients
        # stop listening.
        if scope["type"] == "http" and scope["method"] == "GET":
            await Response(status_code=405, headers={"allow": "POST, DELETE"})(scope, receive, send)
        else:
            await app(scope, receive, send)

    return without_streams


def require_token(app: ASGIApp, token: str) -> ASGIApp:
    """Answer requests without the header ``Authorization: Bearer TOKEN`` with 401, on every path."""
    expected = token.encode()

    async def check_token(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _has_token(scope, expected):
            await app(scope, receive, send)
        else:
            refusal = JSONResponse(_UNAUTHENTICATED, 401, {"www-authenticate": "Bearer"})
            await refusal(scope, receive, send)

    return check_token


def _has_token(scope: Scope, expected: bytes) -> bool:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    return scheme.lower() == b"bearer" and secrets.compare_digest(token.strip(), expected)


class _Serving(uvicorn.Server):
    """uvicorn sends itself the signal again when it has stopped, which would end us before we close."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
