"""The address to listen on, and what is required if others can reach it."""

from __future__ import annotations

import ipaddress
import os
import socket
import time
from dataclasses import dataclass

from mnemos.errors import InvalidInput, Refused, Unavailable
from mnemos.memory.access_tokens import list_tokens
from mnemos.settings import Settings

LOCAL = "127.0.0.1"
NAMES = (LOCAL, "localhost", "[::1]")
"""Names that clients may use for this machine."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """The settings that let clients on other machines reach the server."""

    hosts: tuple[str, ...] = ()
    """Names that they use for the server."""
    certificate: str | None = None
    key: str | None = None
    """Files for TLS."""
    behind_proxy: bool = False
    """A proxy terminates TLS, and only the proxy can reach the server."""

    @property
    def has_tls(self) -> bool:
        return self.certificate is not None

    def check_files(self) -> None:
        """Raise InvalidInput if the files for TLS can't be used."""
        if (self.certificate is None) != (self.key is None):
            raise InvalidInput("TLS needs both --tls-cert and --tls-key.")
        if self.certificate is None:
            return
        # Imported here, because few servers use TLS.
        import ssl

        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
        except OSError as exc:
            raise InvalidInput(f"{self.certificate} and {self.key} can't be used for TLS: {exc}.") from exc

    def check_address(self, address: Address, settings: Settings) -> None:
        """Raise Refused if others can reach the address without protection."""
        if address.is_local:
            return
        missing = [
            advice
            for is_there, advice in (
                (bool(self.hosts), "name the host that clients call it by with --allowed-host"),
                (
                    self.has_tls or self.behind_proxy,
                    "encrypt with --tls-cert and --tls-key, or use a proxy that does and --behind-proxy",
                ),
                (
                    any(token.is_valid(time.time()) for token in list_tokens(settings)),
                    "create a token with `mnemos tokens create`, because the owner's is not accepted there",
                ),
            )
            if not is_there
        ]
        if missing:
            raise Refused(
                f"Refusing to listen on {address.host}, because other machines can reach it. First:\n"
                + "\n".join(f"  - {one}" for one in missing)
            )


@dataclass(frozen=True, slots=True)
class Address:
    """An address and a port; 0 stands for any free port."""

    host: str
    port: int

    @classmethod
    def make(cls, host: str, port: int) -> Address:
        """Return the address for a host that a person typed. Names are not looked up."""
        name = host.strip("[]")
        if name.lower() == "localhost":
            return cls(LOCAL, port)
        try:
            # Accepts every spelling that the system accepts: 0, 0x0 and 000.0.0.0 all mean 0.0.0.0.
            found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
            return cls(str(ipaddress.ip_address(found[0][4][0])), port)
        except (OSError, ValueError):
            raise Refused(
                f"Refusing to listen on {host!r}: use a loopback address such as {LOCAL} or ::1, which only "
                "this machine can reach, or another address of this machine, such as 0.0.0.0."
            ) from None

    @property
    def is_local(self) -> bool:
        """True if only this machine can reach it."""
        return ipaddress.ip_address(self.host).is_loopback

    def listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            listening = socket.create_server((self.host, self.port), family=family)
        except OSError as exc:
            why = os.strerror(exc.errno or 0)
            raise Unavailable(
                f"Can't listen on {self.host}:{self.port}: {why}. Choose another port with --port."
            ) from exc
        # Inherited by connections. Otherwise each body waits 40 ms until its head is acknowledged.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
