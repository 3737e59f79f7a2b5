"""A server process on this machine, and a client that sends exactly what it is given."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..mcp.wire import PROGRAM, SECONDS, environment

LISTENING = re.compile(r"https?://[\d.]+:(\d+)")


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        code: str = self.json["error"]["code"]
        return code


@dataclass(frozen=True, slots=True)
class Server:
    home: Path
    port: int
    process: subprocess.Popen[bytes]
    log: list[str]

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    def post(self, name: str, arguments: Any = None, token: str | None = None, **headers: str) -> Answered:
        """Call an operation, by default with the owner's token."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = arguments if isinstance(arguments, bytes) else json.dumps(arguments or {}).encode()
        return self.send(
            "POST", f"/v1/{name}", body, token=token, **{"content-type": "application/json", **sent}
        )

    def send(
        self, method: str, path: str, body: bytes | None = None, *, token: str | None = None, **headers: str
    ) -> Answered:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)) as connection:
            given = {"authorization": f"Bearer {self.token if token is None else token}"} | headers
            connection.request(method, path, body, {key: value for key, value in given.items() if value})
            answer = connection.getresponse()
            return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=SECONDS)


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[Server]:
    """Start a server on a free port; at the end it is stopped and must have ended well."""
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", "--home", str(home), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    log: list[str] = []
    assert process.stderr is not None
    with process.stderr, ThreadPoolExecutor() as reading:
        try:
            begun = "".join(process.stderr.readline().decode() for _ in range(2))
            found = LISTENING.search(begun)
            assert found is not None, begun
            # A pipe that nobody reads would stop the server when it is full.
            reading.submit(lambda: log.extend(line.decode() for line in process.stderr or ()))
            yield Server(home, int(found[1]), process, log)
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=SECONDS) == 0
        finally:
            process.kill()
            process.wait()
    assert not any("Traceback" in line for line in log), log
