"""Messages between the host and its worker: a length and MessagePack, over a socket that carries files."""

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
    """The peer closed the connection, was killed, or sent garbage."""


class Overdue(Exception):
    """Nothing arrived before the deadline."""


class TooLong(Exception):
    """A message exceeds the limit of a frame. Nothing of it was sent."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def _decode(body: bytes) -> dict[str, Any]:
    try:
        message = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as exc:
        # A peer that sends garbage is treated as gone.
        raise Gone from exc
    if not isinstance(message, dict):
        raise Gone
    return message


class Line:
    """One end of the connection. Not for use by two threads at once."""

    def __init__(self, sock: socket.socket, *, takes_files: bool = False) -> None:
        self._socket = sock
        self._takes_files = takes_files
        self._buffer = bytearray()
        self._files: list[int] = []

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any], file: int | None = None) -> None:
        """Send a message, optionally with an open file. Gone if the peer is gone."""
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
        """Return the next message. Overdue if ``until``, on the monotonic clock, passes before."""
        while True:
            if len(self._buffer) >= _LENGTH.size:
                (size,) = _LENGTH.unpack_from(self._buffer)
                if size > FRAME.value:
                    raise Gone
                end = _LENGTH.size + size
                if len(self._buffer) >= end:
                    body = bytes(memoryview(self._buffer)[_LENGTH.size : end])
                    del self._buffer[:end]
                    return _decode(body)
            self._read(until)

    def take_file(self) -> int:
        """Return the file that came with a message. The caller closes it."""
        return self._files.pop(0)

    def limit(self, until: float | None) -> None:
        """Set the deadline for sending."""
        self._socket.settimeout(None if until is None else max(until - time.monotonic(), 0.001))

    def close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files.clear()
        self._socket.close()

    def _read(self, until: float | None) -> None:
        # Without this check a peer that sends without end would never be overdue.
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
        self._buffer += data
