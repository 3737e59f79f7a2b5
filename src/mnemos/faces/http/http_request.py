"""A request: its headers, its address and its body."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

from mnemos.errors import InvalidInput, TooLarge
from mnemos.faces.http import limits
from mnemos.faces.http.replies import Rejection
from mnemos.faces.http.request_log import Entry
from mnemos.memory.access_tokens import Grant, Scope

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_SWITCHES: Final = {"true": True, "false": False}
_DEFAULTS: Final = {"text": True, "preview": False, "person": False, "log": False}
_NOBODY: Final = Grant("", "", Scope.READ, "")


@dataclass(slots=True)
class Request:
    scope: Message
    receive: Receive
    send: Send
    entry: Entry
    grant: Grant = _NOBODY
    """The rights of the sender, once they are known."""
    _headers: dict[bytes, list[bytes]] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=lambda: dict(_DEFAULTS))
    """See ``Call``. With ``person``, the input may have fields that only people may set."""

    @property
    def path(self) -> str:
        path: str = self.scope["path"]
        return path

    def values(self, name: bytes) -> list[bytes]:
        """Return the values of a header."""
        if not self._headers:
            for key, value in self.scope["headers"]:
                self._headers.setdefault(key, []).append(value)
        return self._headers.get(name, [])

    @property
    def media(self) -> str:
        """Return the media type of the body; empty without one."""
        given = self.values(b"content-type")
        return given[0].partition(b";")[0].strip().lower().decode("latin-1") if len(given) == 1 else ""

    @property
    def accepted(self) -> list[str]:
        """Return the media types that the sender accepts, in order. Weights are ignored."""
        given = b",".join(self.values(b"accept")).decode("latin-1").lower()
        return [one.partition(";")[0].strip() for one in given.split(",")] if given else []

    def check_method(self, *allowed: str) -> None:
        if self.scope["method"] not in allowed:
            raise Rejection(405, f"Use {' or '.join(allowed)}.", {"allow": ", ".join(allowed)})

    def read_query(self) -> dict[str, str]:
        """Set the switches in the address and return its other parameters."""
        query: bytes = self.scope["query_string"]
        others = {}
        for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if query else ():
            if name not in self.switches:
                others[name] = value
            elif value in _SWITCHES:
                self.switches[name] = _SWITCHES[value]
            else:
                raise InvalidInput(f"{name} is {value[:80]!r} in the query string. Use true or false.")
        return others

    async def read_body(self, most: int) -> bytes:
        """Return the body, which must arrive in time."""
        pieces = []
        deadline = time.monotonic() + limits.WHOLE_BODY_SECONDS
        # ``Connection`` closes connections that send nothing, so the whole body needs no timer.
        async for piece in self.pieces(most):
            pieces.append(piece)
            if time.monotonic() > deadline:
                raise Rejection(408, "The body did not arrive in time.")
        return b"".join(pieces)

    async def pieces(self, most: int) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; more than ``most`` bytes raise TooLarge."""
        declared = self.values(b"content-length")
        if declared and int(declared[0]) > most:
            raise TooLarge(f"The body has {int(declared[0]):,} bytes. The limit is {most:,}.")
        size = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Rejection(400, "The body ended early.")
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > most:
                raise TooLarge(f"The body has more than {most:,} bytes.")
            yield piece
            if not message.get("more_body"):
                return

    async def wait_until_gone(self) -> None:
        """Wait for the sender to close the connection. Read the body first."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
