"""The changes of a memory on a server, as they happen."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any, Final

from mnemos.client.wire import Wire
from mnemos.errors import Unavailable
from mnemos.operations.changes import ChangeInfo
from mnemos.structs import convert

_PATH: Final = "/v1/events"
_TRIES: Final = 8
"""Without an event in between; they take about half a minute."""
_LONGEST_WAIT: Final = 8.0


class ChangeStream:
    """Changes in the order they were made. A lost connection resumes where it ended."""

    def __init__(self, wire: Wire, since: str | None = None) -> None:
        """``since``: the cursor of a change to begin after; by default, only new changes."""
        self._wire = wire
        self._cursor = since
        self._connection: http.client.HTTPConnection | None = None
        self._answer: http.client.HTTPResponse | None = None
        self._closing = threading.Event()
        self._losses = 0

    def read(self) -> ChangeInfo | None:
        """Wait for the next change; None once the stream is closed.

        A server that can't be reached raises Unavailable: in the beginning at once, later after half a
        minute.
        """
        while not self._closing.is_set():
            try:
                name, data = self._read_event()
            except (OSError, http.client.HTTPException, Unavailable) as exc:
                self._wait_after(exc)
                continue
            if name == "end":
                # The server is being restarted, and its successor continues the stream.
                self._wait_after(Unavailable(f"{self._wire.address} has stopped."))
            elif name:
                self._cursor, self._losses = data["cursor"], 0
                if name != "ready":
                    return convert(data, ChangeInfo)
        return None

    def close(self) -> None:
        """End the stream, also while another thread reads."""
        self._closing.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                # Unlike close(), this wakes a thread that is reading.
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                # The server has ended the connection.
                pass

    def finish(self) -> None:
        """Release the connection, once nobody reads any more."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._answer = None

    def _read_event(self) -> tuple[str, Any]:
        """Return the next event's name and data; a keep-alive has no name."""
        if self._answer is None:
            headers = {"Accept": "text/event-stream"}
            headers |= {} if self._cursor is None else {"Last-Event-ID": self._cursor}
            self._connection, self._answer = self._wire.begin("GET", _PATH, None, headers)
            if self._closing.is_set():
                return "", None
        fields: dict[str, str] = {}
        while (line := self._answer.readline()) not in (b"\n", b"\r\n"):
            if not line:
                raise http.client.IncompleteRead(b"")
            name, _, value = line.decode().rstrip("\r\n").partition(":")
            fields[name] = value.removeprefix(" ")
        return fields.get("event", ""), json.loads(fields.get("data", "null"))

    def _wait_after(self, exc: Exception) -> None:
        self.finish()
        self._losses += 1
        if self._closing.is_set():
            return
        if self._cursor is None or self._losses > _TRIES:
            raise Unavailable(f"Can't follow the changes of {self._wire.address}: {exc}") from exc
        self._closing.wait(min(2.0**self._losses / 8, _LONGEST_WAIT))
