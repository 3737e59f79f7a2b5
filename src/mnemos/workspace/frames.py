"""How the host and its worker talk: a length and a message, over a socket that can carry open files."""

from __future__ import annotations

import os
import socket
import struct
import time
from typing import Any

import msgspec

from mnemos.workspace.limits import FRAME

_LENGTH = struct.Struct("!I")
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()
# A larger buffer would be mapped, and its pages faulted in, for every message.
_A_READ = 1 << 16


class Gone(Exception):
    """The other end closed, or was killed."""


class Overdue(Exception):
    """Nothing came in time."""


class TooLong(Exception):
    """A message that is larger than a frame may be; nothing of it was sent."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        message = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as exc:
        # Who sends what is no message cannot be talked to.
        raise Gone from exc
    if not isinstance(message, dict):
        raise Gone
    return message


class Line:
    """One end of the conversation. Not for two threads at a time."""

    def __init__(self, sock: socket.socket, *, takes_files: bool = False) -> None:
        self._socket = sock
        self._takes_files = takes_files
        self._came = bytearray()
        self._files: list[int] = []

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any], file: int | None = None) -> None:
        """Send a message, and an open file with it. The other end being gone raises Gone."""
        body = _encoder.encode(message)
        if len(body) > FRAME.value:
            raise TooLong(len(body))
        frame = _LENGTH.pack(len(body)) + body
        try:
            if file is not None:
                sent = socket.send_fds(self._socket, [frame], [file])
                frame = frame[sent:]
            self._socket.sendall(frame)
        except TimeoutError as exc:
            raise Overdue from exc
        except OSError as exc:
            raise Gone from exc

    def receive(self, until: float | None = None) -> dict[str, Any]:
        """The next message; when ``until`` (of the monotonic clock) passes before, Overdue."""
        while True:
            if len(self._came) >= _LENGTH.size:
                (size,) = _LENGTH.unpack_from(self._came)
                if size > FRAME.value:
                    raise Gone
                end = _LENGTH.size + size
                if len(self._came) >= end:
                    body = bytes(memoryview(self._came)[_LENGTH.size : end])
                    del self._came[:end]
                    return _decoded(body)
            self._read(until)

    def take_file(self) -> int:
        """The file that came with a message; whoever takes it closes it."""
        return self._files.pop(0)

    def limit(self, until: float | None) -> None:
        """How long sending may take from now on."""
        self._socket.settimeout(None if until is None else max(until - time.monotonic(), 0.001))

    def close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files.clear()
        self._socket.close()

    def _read(self, until: float | None) -> None:
        # Who sends without end is never waited for, and would never be overdue.
        if until is not None and time.monotonic() >= until:
            raise Overdue
        self.limit(until)
        files: list[int] = []
        try:
            if self._takes_files:
                data, files, _, _ = socket.recv_fds(self._socket, _A_READ, 1)
            else:
                data = self._socket.recv(_A_READ)
        except TimeoutError as exc:
            raise Overdue from exc
        except OSError as exc:
            raise Gone from exc
        self._files += files
        if not data:
            raise Gone
        self._came += data
