"""A chat model on loopback: a real HTTP server whose answers a test scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, slots=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def completion(text: Any) -> Reply:
    """A good answer."""
    return Reply(json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode())


class ModelEndpoint:
    """Serves ``/v1/chat/completions``; ``reply`` says what with, ``asked`` keeps what came in.

    ``busiest`` is the largest number of requests that were answered at the same time. ``closing`` is set
    when the test is over: a reply that waits should wait for it.
    """

    def __init__(self) -> None:
        self.reply: Callable[[Asked], Reply] = lambda _: completion("A summary.")
        self.asked: list[Asked] = []
        self.busiest = 0
        self.closing = Event()
        self._busy = 0
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answered(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            return self.reply(asked)
        finally:
            with self._lock:
                self._busy -= 1

    def _handler(endpoint: Self) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.loads(given) if given else None
                reply = endpoint._answered(Asked(self.command, self.path, dict(self.headers), body))
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(reply.body)
                except ConnectionError:
                    pass  # who asked has given up, as some tests want it to

            do_GET = do_POST

            def log_message(self, format: str, *args: object) -> None:
                """Nothing on standard error."""

        return Handler
