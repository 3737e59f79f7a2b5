"""Requests to a server, and its errors as our exceptions.

The only implementation blocks; async code runs it in threads.
"""

from __future__ import annotations

import http.client
import json
import os
import select
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from mnemos.errors import (
    Busy,
    InvalidInput,
    MnemosError,
    NotAllowed,
    Refused,
    StorageError,
    TimedOut,
    Unavailable,
)

SECONDS: Final = 60.0
"""Seconds to wait for an answer: twice the server's own limit."""
# The server closes idle connections after a minute, a proxy often sooner. A write sent just then is lost.
_IDLE_SECONDS: Final = 2.0
_WAITS: Final = 10
_PORTS: Final = {"http": 80, "https": 443}
_MAY_BE_DONE: Final = "It may have been done: look before you repeat it."


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a server, possibly with a path."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> Address:
        try:
            parts = urlsplit(url.strip())
            host, port = parts.hostname, parts.port
        except ValueError as exc:
            raise InvalidInput(f"The URL of the server is not valid: {exc}.") from exc
        if parts.scheme not in _PORTS or not host:
            raise InvalidInput("Use a URL such as http://127.0.0.1:8765 or https://memory.example.com.")
        if parts.username or parts.password or parts.query or parts.fragment:
            # Don't quote the URL: it may hold a password.
            raise InvalidInput("The URL has a user, a password, a query or a fragment. Pass token= instead.")
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @property
    def is_loopback(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class Wire:
    """Connections to one server. Threads and forked processes may share it."""

    def __init__(self, address: Address, token: str) -> None:
        if not token.isascii() or not token.isprintable() or " " in token:
            raise InvalidInput("The token contains characters that are not allowed.")
        self.address = address
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []
        self._process = os.getpid()
        self._is_closed = False

    def run(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        writes: bool,
        person: bool = False,
        seconds: float | None = SECONDS,
    ) -> dict[str, Any]:
        """Run an operation on the server and return its result.

        If its connection is lost, a read is sent again once. A write is not: the error says that it may have
        been done.
        """
        path = f"/v1/{name}?person=true" if person else f"/v1/{name}"
        status, data = self._send("POST", path, encode(name, arguments), writes=writes, seconds=seconds)
        answer = self._decode(status, data)
        if not isinstance(answer, dict):
            raise self._misunderstood(status)
        return answer

    def check(self) -> None:
        """Raise unless the server answers and accepts the token."""
        status, data = self._send("GET", "/metrics", None, writes=False, seconds=SECONDS)
        if status != 200:
            self._decode(status, data)

    def begin(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request and return its connection and an answer still to be read.

        The caller closes the connection.
        """
        connection = self._connect(SECONDS)
        try:
            sent = self._headers | {"Content-Type": "application/json"} | dict(headers)
            connection.request(method, self.address.path + path, body, sent)
            answer = connection.getresponse()
            if answer.status != 200:
                self._decode(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as exc:
            connection.close()
            raise self._lost(exc, writes=False) from exc
        except BaseException:
            connection.close()
            raise
        # The server sends a keep-alive every few seconds.
        connection.sock.settimeout(SECONDS)
        return connection, answer

    def read_lines(self, name: str, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield an operation's lines of JSON as they arrive."""
        body = encode(name, arguments)
        connection, answer = self.begin("POST", f"/v1/{name}", body, {"Accept": "application/x-ndjson"})
        try:
            for line in answer:
                yield json.loads(line)
        except (OSError, http.client.HTTPException) as exc:
            raise self._lost(exc, writes=False) from exc
        finally:
            connection.close()

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop()[0].close()

    # --- requests -------------------------------------------------------------------------------

    def _send(
        self, method: str, path: str, body: bytes | None, *, writes: bool, seconds: float | None
    ) -> tuple[int, bytes]:
        """Send a request. Retry if the rate limit refused it, as it was not run."""
        for _ in range(_WAITS):
            try:
                status, wait, data = self._exchange(method, path, body, seconds)
            except (OSError, http.client.HTTPException) as exc:
                if writes or isinstance(exc, TimeoutError):
                    raise self._lost(exc, writes=writes) from exc
                try:
                    status, wait, data = self._exchange(method, path, body, seconds)
                except (OSError, http.client.HTTPException) as again:
                    raise self._lost(again, writes=False) from again
            if status != 429:
                break
            time.sleep(wait)
        return status, data

    def _exchange(
        self, method: str, path: str, body: bytes | None, seconds: float | None
    ) -> tuple[int, float, bytes]:
        """Return the status, the seconds to wait and the body of an answer."""
        connection = self._take(seconds)
        try:
            headers = self._headers if body is None else self._headers | {"Content-Type": "application/json"}
            connection.request(method, self.address.path + path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        except BaseException:
            # The rest of the answer may still arrive, and nobody would read it.
            connection.close()
            raise
        if answer.will_close or self._is_closed:
            connection.close()
        else:
            self._idle.append((connection, time.monotonic()))
        wait = answer.headers.get("Retry-After", "1")
        return answer.status, float(wait) if wait.isdecimal() else 1.0, data

    def _take(self, seconds: float | None) -> http.client.HTTPConnection:
        """Return an open connection, reusing one that the server can't have closed."""
        if self._is_closed:
            raise StorageError("This memory is closed. Open it again with mnemos.open().")
        if self._process != os.getpid():
            # After a fork, the connections still belong to the parent.
            self._process, inherited, self._idle = os.getpid(), self._idle, []
            for connection, _ in inherited:
                connection.close()
        while self._idle:
            try:
                connection, since = self._idle.pop()
            except IndexError:
                # Another thread took it.
                break
            if time.monotonic() - since < _IDLE_SECONDS and not _has_news(connection):
                connection.sock.settimeout(seconds)
                return connection
            connection.close()
        return self._connect(seconds)

    def _connect(self, seconds: float | None) -> http.client.HTTPConnection:
        is_plain = self.address.scheme == "http"
        kind = http.client.HTTPConnection if is_plain else http.client.HTTPSConnection
        connection = kind(self.address.host, self.address.port, timeout=SECONDS)
        try:
            connection.connect()
        except OSError as exc:
            connection.close()
            raise Unavailable(
                f"{self.address} cannot be reached: {_describe(exc)}. Is the server running? "
                "`mnemos serve` starts one."
            ) from exc
        connection.sock.settimeout(seconds)
        return connection

    # --- answers --------------------------------------------------------------------------------

    def _decode(self, status: int, data: bytes) -> Any:
        """Return the value of an answer, or raise its error."""
        try:
            value = json.loads(data)
        except ValueError:
            raise self._misunderstood(status) from None
        if status == 200:
            return value
        try:
            code, message = str(value["error"]["code"]), str(value["error"]["message"])
        except (KeyError, TypeError):
            raise self._misunderstood(status) from None
        if status == 401:
            # The server's advice is about a header that the client sends.
            message = f"{self.address} does not accept the token. `mnemos tokens create` creates one."
        raise make_error(status, code, message, str(value.get("request_id", "")))

    def _lost(self, exc: Exception, *, writes: bool) -> MnemosError:
        advice = _MAY_BE_DONE if writes else "Nothing was changed."
        if isinstance(exc, TimeoutError):
            return TimedOut(f"{self.address} did not answer in time. {advice}")
        return Unavailable(f"The connection to {self.address} was lost: {_describe(exc)}. {advice}")

    def _misunderstood(self, status: int) -> Unavailable:
        return Unavailable(f"{self.address} did not answer as Mnemos does (status {status}).")


def make_error(status: int, code: str, message: str, request_id: str = "") -> MnemosError:
    """Return the error that a server reported, as our class for its code or status."""
    kind = next((kind for kind in _all_errors(MnemosError) if kind.code == code), None)
    if kind is None:
        close = Unavailable if status >= 500 else Refused
        kind = {401: NotAllowed, 429: Busy}.get(status, close)
    error = kind(message)
    error.code = code
    if request_id:
        error.add_note(f"Request {request_id} in the log of the server.")
    return error


def _all_errors(kind: type[MnemosError]) -> Iterator[type[MnemosError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _all_errors(below)


def encode(name: str, arguments: Mapping[str, Any]) -> bytes:
    """Encode arguments as JSON; InvalidInput for values that JSON doesn't have."""
    try:
        return json.dumps(arguments, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(f"{name}: the arguments can't be written as JSON: {exc}.") from exc


def _has_news(connection: http.client.HTTPConnection) -> bool:
    """True if an idle connection has something to read, which means it has ended."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def _describe(exc: Exception) -> str:
    return (getattr(exc, "strerror", None) or str(exc) or type(exc).__name__).rstrip(".")
