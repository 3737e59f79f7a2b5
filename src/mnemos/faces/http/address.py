"""The address that the server listens on: one that only this machine reaches."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from mnemos.errors import InvalidInput, Refused, Unavailable

LOCAL = "127.0.0.1"
NAMES = (LOCAL, "localhost", "[::1]")
"""The names by which clients may call this machine."""


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
            raise InvalidInput(f"{text!r} is not an address. Use HOST:PORT, such as {LOCAL}:8765.")
        return cls(_loopback(host.strip("[]")) if colon else LOCAL, int(port))

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
        return LOCAL
    try:
        # Takes every way to write an address that the system takes: 0, 0x0 and 000.0.0.0 are all of them.
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        address = ipaddress.ip_address(found[0][4][0])
    except (OSError, ValueError):
        address = None
    if address is None or not address.is_loopback:
        raise Refused(
            f"Refusing to listen on {host!r}: use a loopback address such as {LOCAL} or ::1, which only "
            "this machine reaches."
        )
    return str(address)
