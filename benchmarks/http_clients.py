"""Processes that serve HTTP, and a client that costs little: for ``python -m benchmarks http``."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from mnemos.memory.access_tokens import create_token
from mnemos.settings import Settings

SECONDS = 60
_PORT = re.compile(rb"127\.0\.0\.1:(\d+)")
# A token may be used 50 times per second.
TOKENS = 40

# The floor: the usual parts of such a server, which run a function that does nothing in a thread.
BARE = """
import socket, sys
from anyio.to_thread import run_sync
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

ANSWER = b"x" * int(sys.argv[1])

async def answer(request):
    await request.body()
    return Response(await run_sync(lambda: ANSWER), media_type="application/json")

listening = socket.create_server(("127.0.0.1", 0))
listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
app = Starlette(routes=[Route("/v1/{name}", answer, methods=["POST"])])
parser = sys.argv[2]
config = uvicorn.Config(app, http=parser, loop="asyncio", lifespan="off", log_config=None, access_log=False)
uvicorn.Server(config).run(sockets=[listening])
"""


@dataclass(slots=True)
class Served:
    """A process that serves."""

    process: subprocess.Popen[bytes]
    port: int
    tokens: Iterator[str] = field(default_factory=lambda: cycle(["none"]))

    @property
    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        # The clock of a process by its id, as clock_getcpuclockid makes it; /proc counts in hundredths.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    @property
    def kilobytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    @property
    def handles(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())


class Client:
    """One connection that is kept open."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._socket = socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, name: str, arguments: dict[str, Any]) -> tuple[int, bytes]:
        self._send(name, json.dumps(arguments).encode(), {"Content-Type": "application/json"})
        return self._receive()

    def upload(self, name: str, body: bytes, media: str) -> str:
        """Send a file, follow the progress of its import, and return the name of the last event."""
        headers = {"Content-Type": media, "Accept": "text/event-stream", "Connection": "close"}
        self._send(name, body, headers)
        with self._socket.makefile("rb") as lines:
            events = [line for line in lines if line.startswith(b"event: ")]
        return events[-1].decode().split()[1] if events else "none"

    def _send(self, name: str, body: bytes, headers: dict[str, str]) -> None:
        given = {
            "Host": f"127.0.0.1:{self._served.port}",
            "Authorization": f"Bearer {next(self._served.tokens)}",
            "Content-Length": str(len(body)),
            **headers,
        }
        head = "".join(f"{key}: {value}\r\n" for key, value in given.items())
        self._socket.sendall(f"POST /v1/{name} HTTP/1.1\r\n{head}\r\n".encode() + body)

    def _receive(self) -> tuple[int, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._take(65_536)
        head, _, body = data.partition(b"\r\n\r\n")
        size = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
        pieces, missing = [body], size - len(body)
        while missing > 0:
            pieces.append(self._take(min(missing, 1 << 20)))
            missing -= len(pieces[-1])
        return int(head[9:12]), b"".join(pieces)

    def _take(self, most: int) -> bytes:
        if piece := self._socket.recv(most):
            return piece
        raise ConnectionResetError("the server ended the connection")

    def close(self) -> None:
        self._socket.close()


@contextmanager
def listen(one: Served) -> Iterator[Iterator[bytes]]:
    """The lines of a stream of changes, from its first event on."""
    with socket.create_connection(("127.0.0.1", one.port), timeout=SECONDS) as connection:
        head = f"Host: 127.0.0.1:{one.port}\r\nAuthorization: Bearer {next(one.tokens)}\r\n\r\n"
        connection.sendall(f"GET /v1/events HTTP/1.1\r\n{head}".encode())
        with connection.makefile("rb") as lines:
            for line in lines:
                if line.startswith(b"event: ready"):
                    break
            yield iter(lines)


@contextmanager
def bare(size: int, parser: str) -> Iterator[Served]:
    with _started([sys.executable, "-c", BARE, str(size), parser]) as served:
        yield served


@contextmanager
def served(home: Path, *arguments: str) -> Iterator[Served]:
    settings = Settings(home=home)
    tokens = [create_token(settings, f"bench-{n}", "write", now=time.time())[1] for n in range(TOKENS)]
    with _started([*PROGRAM, "serve", "--home", str(home), "--port", "0", *arguments]) as one:
        one.tokens = cycle(tokens)
        yield one


PROGRAM = (sys.executable, "-c", "from mnemos.faces.cli import main; main()")


@contextmanager
def _started(command: Sequence[str]) -> Iterator[Served]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MNEMOS_")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        try:
            found = None
            while found is None:
                line = process.stderr.readline()
                if not line:
                    raise RuntimeError(f"{command[0]} ended before it served")
                found = _PORT.search(line)
            # The log is not read: it would cost the measuring side. A pipe has room for little.
            with subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL):
                process.stderr.close()
                try:
                    yield Served(process, int(found[1]))
                    process.terminate()
                    process.wait(SECONDS)
                finally:
                    # Before cat is waited for, which ends with it.
                    process.kill()
        finally:
            process.kill()
