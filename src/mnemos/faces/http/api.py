"""The operations of the registry over HTTP, as an ASGI application.

The Host header is checked first, then Origin, then the token. There are no CORS headers and no cookies, so
another site's page can neither read an answer nor send a token.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mnemos import __version__
from mnemos.errors import NotAllowed, NotFound
from mnemos.faces.http import limits, openapi
from mnemos.faces.http.delivery import deliver
from mnemos.faces.http.events import Events
from mnemos.faces.http.http_request import App, Message, Receive, Request, Send
from mnemos.faces.http.limits import Rates
from mnemos.faces.http.operation_calls import OperationCalls, stopping
from mnemos.faces.http.operation_route import OperationRoute
from mnemos.faces.http.page import SESSION_BYTES, SESSION_PATH, Page, describe
from mnemos.faces.http.replies import JSON, Health, Rejection, Reply, encode, refuse
from mnemos.faces.http.request_log import Entry, RequestLog
from mnemos.faces.http.scopes import GRANT
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory.access_tokens import OWNER, Doorkeeper, Grant, Scope

MCP_PATH: Final = "/mcp"
_MCP_METHODS: Final = ("GET", "POST", "DELETE")
_PREFIX: Final = "/v1/"
_SWITCHES: Final = {
    MCP_PATH: "MCP needs `mnemos serve --mcp`.",
    "/": "The page needs `mnemos serve --ui`, or `mnemos ui`.",
}
_PROXIES: Final = (b"forwarded", b"x-forwarded-", b"x-real-ip", b"via")


@dataclass(frozen=True, slots=True)
class Route:
    """An address besides those of the operations."""

    name: str
    """Its name in the log and the metrics."""
    answer: Callable[[Request], Awaitable[Reply | None]]
    """Returns the answer; None if it was sent already."""
    methods: tuple[str, ...] = ("GET", "HEAD")
    """Empty for all methods."""
    needs_token: bool = True


class Api:
    """Answers requests by running operations."""

    def __init__(
        self,
        spaces: Spaces,
        workers: Workers,
        doorkeeper: Doorkeeper,
        hosts: Iterable[str],
        request_log: RequestLog,
        mcp: App | None = None,
        page: Page | None = None,
        *,
        is_public: bool = False,
    ) -> None:
        """``hosts``: accepted Host headers. ``mcp``: the application at ``/mcp``.

        ``is_public``: other machines can reach the server, so the owner's token is not accepted.
        """
        self._is_public = is_public
        self._spaces = spaces
        self._calls = OperationCalls(spaces, workers)
        self._operations = OperationRoute(self._calls, request_log)
        self._doorkeeper = doorkeeper
        self._hosts = {host.lower().encode() for host in hosts}
        self._origins = {scheme + host for host in self._hosts for scheme in (b"http://", b"https://")}
        self._log = request_log
        self._mcp = mcp
        self._rates = Rates()
        self._events = Events(self._calls, self._admit)
        self.routes: dict[str, Route] = {
            "/health": Route("health", _tell_health, needs_token=False),
            "/metrics": Route("metrics", self._tell_metrics),
            openapi.EVENTS_PATH: Route("events", self._events.answer),
            openapi.PATH: Route("openapi", _describe_api),
        }
        if mcp is not None:
            self.routes[MCP_PATH] = Route("mcp", partial(_pass_on, mcp), methods=())
        self._page = page
        if page is not None:
            send_file = Route("page", page.send_file, needs_token=False)
            self.routes |= dict.fromkeys(page.paths, send_file)
            self.routes[SESSION_PATH] = Route(
                "page_session", partial(self._open_session, page), ("GET", "HEAD", "POST"), needs_token=False
            )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            assert self._mcp is not None  # noqa: S101 - only MCP has a lifespan
            await self._mcp(scope, receive, send)
            return
        entry = self._log.begin(os.urandom(8).hex())
        request = Request(scope, receive, send, entry)
        try:
            reply = await self._answer(request)
        except asyncio.CancelledError:
            # The server is shutting down and waits no longer.
            reply = refuse(stopping(), entry, self._log)
        except Exception as exc:  # noqa: BLE001 - the outermost loop of this face
            reply = refuse(exc, entry, self._log)
        if reply is not None:
            entry.status = reply.status
            try:
                await deliver(request, reply)
            except asyncio.CancelledError:
                pass
            except Exception as exc:  # noqa: BLE001 - the same; the answer has begun and stays incomplete
                refuse(exc, entry, self._log)
        self._log.end(entry)

    def stop(self) -> None:
        """Stop what doesn't end by itself or in time."""
        self._events.stop()
        asyncio.get_running_loop().call_later(limits.STOP_SECONDS, self._calls.interrupt)

    async def _answer(self, request: Request) -> Reply | None:
        """Return the answer; None if it was sent already."""
        self._check_site(request)
        route = self.routes.get(request.path)
        if request.scope["method"] == "OPTIONS":
            request.check_method(*(("POST",) if route is None else route.methods or _MCP_METHODS))
        if route is None or route.needs_token:
            request.grant = self._admit(request)
            request.entry.token = request.grant.token_id
            # No rate limit: the owner is alone on this machine, and the page sends several requests at once.
            is_owner = request.grant.scope is Scope.LOCAL
            if not is_owner and (seconds := self._rates.take(request.grant.token_id)) > 0:
                wait = {"retry-after": str(math.ceil(seconds))}
                raise Rejection(429, "The token is used too often. Try again.", wait)
        if route is not None:
            request.entry.operation = route.name
            if route.methods:
                request.check_method(*route.methods)
            return await route.answer(request)
        if not request.path.startswith(_PREFIX):
            advice = _SWITCHES.get(request.path, "Operations are at /v1/NAME, and /openapi.json lists them.")
            raise NotFound(f"Nothing is at {request.path[:80]!r}. {advice}")
        return await self._operations.answer(request, request.path.removeprefix(_PREFIX))

    def _check_site(self, request: Request) -> None:
        hosts, origins = request.values(b"host"), request.values(b"origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Rejection(421, "This server does not answer for that host. --allowed-host allows another.")
        if origins and (len(origins) > 1 or origins[0].lower() not in self._origins):
            raise NotAllowed("Requests from other web sites are refused.")

    def _admit(self, request: Request) -> Grant:
        given = request.values(b"authorization")
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        grant = self._doorkeeper.admit(token.strip()) if scheme.lower() == b"bearer" else None
        if self._is_public and grant is not None and grant.token_id == OWNER:
            # The owner's token never expires and is only meant for this machine.
            grant = None
        if grant is None and self._page is not None:
            grant = self._page.sessions.admit(token.strip())
        if grant is None:
            # Don't reveal anything about the server: its own message names the file with the token.
            raise Rejection(
                401,
                "Send the header 'Authorization: Bearer TOKEN' with a valid token. "
                "The server names the file with the owner's token when it starts.",
                {"www-authenticate": "Bearer"},
            )
        if grant.scope is Scope.LOCAL and (
            self._is_public or any(name.startswith(_PROXIES) for name, _ in request.scope["headers"])
        ):
            # Behind a proxy, all requests come from this machine.
            return replace(grant, scope=Scope.ADMIN)
        return grant

    async def _open_session(self, page: Page, request: Request) -> Reply:
        """Answer a page about its session. Its first request has the code of a link."""
        is_post = request.scope["method"] == "POST"
        grant = None if is_post and not request.values(b"authorization") else self._admit(request)
        if grant is not None:
            request.entry.token = grant.token_id
            if not is_post:
                return describe(grant)
        if request.media != JSON:
            raise Rejection(415, "Send JSON with the header 'Content-Type: application/json'.")
        body = await request.read_body(SESSION_BYTES)
        return page.trade(body) if grant is None else page.branch(grant, body)

    async def _tell_metrics(self, _: Request) -> Reply:
        gauges = {
            "requests_in_flight": self._calls.in_flight,
            "event_streams": self._events.streams,
            **await asyncio.to_thread(self._spaces.measure),
        }
        return Reply(200, self._log.render(gauges), media="text/plain; version=0.0.4")


async def _tell_health(_: Request) -> Reply:
    return Reply(200, encode(Health("ok", __version__)))


async def _describe_api(_: Request) -> Reply:
    return Reply(200, await asyncio.to_thread(openapi.render_document))


async def _pass_on(mcp: App, request: Request) -> None:
    scope = {**request.scope, GRANT: request.grant}
    await mcp(scope, request.receive, partial(_note_status, request.send, request.entry))


async def _note_status(send: Send, entry: Entry, message: Message) -> None:
    if message["type"] == "http.response.start":
        entry.status = message["status"]
    await send(message)
