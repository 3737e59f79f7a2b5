"""The operations of the registry over HTTP, as an ASGI application.

Before anything else the Host header is checked, then Origin, then the token. There is no CORS header and no
cookie: a web page of somebody else can neither read an answer nor send a token.
"""

from __future__ import annotations

import asyncio
import math
import os
import traceback
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from mnemos import __version__
from mnemos.cancellation import Cancellation
from mnemos.errors import Busy, InvalidInput, MnemosError, NotAllowed, NotFound, TimedOut, TooLarge
from mnemos.faces.http import limits, openapi
from mnemos.faces.http.page import SESSION_BYTES, SESSION_PATH, Page
from mnemos.faces.http.rates import Rates
from mnemos.faces.http.replies import Health, Preview, Rejection, Reply, encode, refuse
from mnemos.faces.http.request_log import Entry, RequestLog
from mnemos.faces.http.scopes import GRANT, check_allowed
from mnemos.faces.http.workers import Spaces, Workers, is_long
from mnemos.memory.access_tokens import Doorkeeper, Grant, Scope
from mnemos.operations import registry

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MCP_PATH: Final = "/mcp"
_PREFIX: Final = "/v1/"
_SWITCHES: Final = {"true": True, "false": False}
_PROXIES: Final = (b"forwarded", b"x-forwarded-", b"x-real-ip", b"via")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to run an operation."""

    name: str
    grant: Grant
    body: bytes
    text: bool
    preview: bool
    person: bool


class Api:
    """Answers requests with what operations return."""

    def __init__(
        self,
        spaces: Spaces,
        workers: Workers,
        doorkeeper: Doorkeeper,
        hosts: Iterable[str],
        request_log: RequestLog,
        mcp: App | None = None,
        page: Page | None = None,
    ) -> None:
        """``hosts``: values of the Host header that are answered. ``mcp``: the application at ``/mcp``."""
        self._spaces = spaces
        self._workers = workers
        self._doorkeeper = doorkeeper
        self._hosts = {host.lower().encode() for host in hosts}
        self._origins = {scheme + host for host in self._hosts for scheme in (b"http://", b"https://")}
        self._log = request_log
        self._mcp = mcp
        self._page = page
        self._rates = Rates()
        self._in_flight = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            assert self._mcp is not None  # noqa: S101 - only MCP has a lifespan
            await self._mcp(scope, receive, send)
            return
        entry = self._log.begin(os.urandom(8).hex())
        try:
            reply = await self._answer(scope, receive, send, entry)
        except (Rejection, MnemosError) as exc:
            reply = refuse(exc, entry.request_id)
        except Exception as exc:  # noqa: BLE001 - the outermost loop of this face
            # Not the text of the exception, which may quote a memory.
            where = "".join(traceback.format_tb(exc.__traceback__))
            self._log.fail(entry, f"{type(exc).__name__}\n{where}")
            message = "The server failed unexpectedly. Its log has the request id."
            reply = refuse(Rejection(500, message), entry.request_id)
        if reply is not None:
            entry.status = reply.status
            await _send(send, reply, entry.request_id)
        self._log.end(entry)

    async def _answer(self, scope: Message, receive: Receive, send: Send, entry: Entry) -> Reply | None:
        """Return the answer; None if MCP has sent it."""
        self._check_site(scope)
        path, method = scope["path"], scope["method"]
        if path == "/health":
            _check_method(method, "GET", "HEAD")
            entry.operation = "health"
            return Reply(200, encode(Health("ok", __version__)))
        if self._page is not None and (file := self._page.find_file(path)) is not None:
            _check_method(method, "GET", "HEAD")
            entry.operation = "page"
            return file
        if self._page is not None and path == SESSION_PATH:
            return await self._open_session(self._page, scope, receive, entry)
        grant = self._admit(scope)
        entry.token = grant.token_id
        if (seconds := self._rates.take(grant.token_id)) > 0:
            wait = {"retry-after": str(math.ceil(seconds))}
            raise Rejection(429, "The token is used too often. Try again.", wait)
        if path == MCP_PATH and self._mcp is not None:
            entry.operation = "mcp"
            await self._mcp({**scope, GRANT: grant}, receive, partial(_note_status, send, entry))
            return None
        if path == "/metrics":
            _check_method(method, "GET", "HEAD")
            entry.operation = "metrics"
            return Reply(200, self._render_metrics(), media="text/plain; version=0.0.4")
        if path == openapi.PATH:
            _check_method(method, "GET", "HEAD")
            entry.operation = "openapi"
            return Reply(200, await asyncio.to_thread(openapi.render_document))
        if not path.startswith(_PREFIX):
            raise NotFound(f"There is nothing at {path[:80]!r}.")
        name = path.removeprefix(_PREFIX)
        registry.find(name[:80])
        _check_method(method, "POST")
        entry.operation = name
        _check_media(scope)
        switches = _read_query(scope["query_string"])
        most = limits.APPEND_BYTES if name in limits.LARGE_BODIES else limits.BODY_BYTES
        body = await _read_body(scope, receive, most)
        return Reply(200, await self._run(Call(name, grant, body, **switches)))

    async def _open_session(self, page: Page, scope: Message, receive: Receive, entry: Entry) -> Reply:
        """Answer what a page asks about its own session, the first time with the code of a link."""
        entry.operation = "page_session"
        _check_method(scope["method"], "GET", "HEAD", "POST")
        is_new = scope["method"] == "POST" and not _values(scope, b"authorization")
        grant = None if is_new else self._admit(scope)
        if grant is not None:
            entry.token = grant.token_id
        if grant is not None and scope["method"] != "POST":
            return page.describe(grant)
        _check_media(scope)
        body = await _read_body(scope, receive, SESSION_BYTES)
        return page.trade(body) if grant is None else page.branch(grant, body)

    def _check_site(self, scope: Message) -> None:
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Rejection(421, "This server does not answer for that host.")
        if origins and (len(origins) > 1 or origins[0].lower() not in self._origins):
            raise NotAllowed("Requests from other web sites are refused.")

    def _admit(self, scope: Message) -> Grant:
        given = _values(scope, b"authorization")
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        grant = self._doorkeeper.admit(token.strip()) if scheme.lower() == b"bearer" else None
        if grant is None and self._page is not None:
            grant = self._page.sessions.admit(token.strip())
        if grant is None:
            # Says nothing about the server, whose own messages name the file with the token.
            raise Rejection(
                401,
                "Send the header 'Authorization: Bearer TOKEN' with a valid token. "
                "The server names the file with the owner's token when it starts.",
                {"www-authenticate": "Bearer"},
            )
        if grant.scope is Scope.LOCAL and any(name.startswith(_PROXIES) for name, _ in scope["headers"]):
            # Behind a proxy, everybody comes from this machine.
            return replace(grant, scope=Scope.ADMIN)
        return grant

    async def _run(self, call: Call) -> bytes:
        if self._in_flight >= limits.IN_FLIGHT:
            raise Busy("The server has too many requests under way. Try again.")
        self._in_flight += 1
        future, cancellation = self._workers.start(call.name, partial(self._perform, call))
        waited = asyncio.wrap_future(future)
        waited.add_done_callback(self._leave)
        # The work is brought to its end if this task is cancelled.
        await asyncio.wait([waited], timeout=None if is_long(call.name) else limits.CALL_SECONDS)
        if not waited.done():
            cancellation.request()
            raise TimedOut(
                f"{call.name} did not end within {limits.CALL_SECONDS:g} seconds. It is stopped if that is "
                "possible. A change may have been made."
            )
        return waited.result()

    def _render_metrics(self) -> bytes:
        gauges = {"requests_in_flight": self._in_flight, "database_bytes": self._spaces.count_bytes()}
        return self._log.render(gauges)

    def _leave(self, future: asyncio.Future[bytes]) -> None:
        self._in_flight -= 1
        if not future.cancelled():
            # Retrieved, because asyncio logs exceptions that nobody retrieves.
            future.exception()

    def _perform(self, call: Call, cancellation: Cancellation) -> bytes:
        operation = registry.read(call.name, read_arguments(call.body), by_person=call.person)
        check_allowed(call.grant, call.name, operation)
        with self._spaces.use(call.grant.space) as memory:
            if call.preview:
                return encode(Preview(operation.at_stake(memory), operation.questions(memory)))
            if operation.writes():
                memory.settings.check_enabled()
            return encode(registry.perform(memory, call.name, operation, cancellation.check, text=call.text))


def read_arguments(body: bytes) -> dict[str, Any]:
    """Read the input of an operation; an empty body is an empty input."""
    try:
        value = msgspec.json.decode(body) if body.strip() else {}
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"The body is not valid JSON: {exc}.") from exc
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(value, dict):
        raise InvalidInput("The body must be a JSON object with the arguments of the operation.")
    level: list[Any] = [value]
    for _ in range(limits.JSON_DEPTH + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return value
    raise _too_deep()


def _too_deep() -> InvalidInput:
    return InvalidInput(f"The JSON of the body is nested deeper than {limits.JSON_DEPTH} levels.")


async def _read_body(scope: Message, receive: Receive, most: int) -> bytes:
    declared = _values(scope, b"content-length")
    if declared and int(declared[0]) > most:
        raise TooLarge(f"The body has {int(declared[0]):,} bytes. The limit is {most:,}.")
    body = bytearray()
    try:
        async with asyncio.timeout(limits.WHOLE_BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Rejection(400, "The body ended early.")
                body += message.get("body", b"")
                if len(body) > most:
                    raise TooLarge(f"The body has more than {most:,} bytes.")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise Rejection(408, "The body did not arrive in time.") from None


def _check_method(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise Rejection(405, f"Use {' or '.join(allowed)}.", {"allow": ", ".join(allowed)})


def _check_media(scope: Message) -> None:
    given = _values(scope, b"content-type")
    if len(given) != 1 or given[0].partition(b";")[0].strip().lower() != b"application/json":
        raise Rejection(415, "Send JSON with the header 'Content-Type: application/json'.")


def _read_query(query: bytes) -> dict[str, bool]:
    """Return the switches of an address. ``person``: the input may have fields that are for people only."""
    chosen = {"text": True, "preview": False, "person": False}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if query else ():
        if name not in chosen or value not in _SWITCHES:
            raise InvalidInput(f"The address takes {', '.join(chosen)}, each =true or =false.")
        chosen[name] = _SWITCHES[value]
    return chosen


def _values(scope: Message, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


async def _note_status(send: Send, entry: Entry, message: Message) -> None:
    if message["type"] == "http.response.start":
        entry.status = message["status"]
    await send(message)


async def _send(send: Send, reply: Reply, request_id: str) -> None:
    headers = {
        "content-type": reply.media,
        "content-length": str(len(reply.body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": request_id,
        **reply.headers,
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": raw})
    await send({"type": "http.response.body", "body": reply.body})
