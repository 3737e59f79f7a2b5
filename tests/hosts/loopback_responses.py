"""An endpoint such as Codex expects, on loopback: gives prepared answers and keeps the requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

Answer = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""The items that answer a request."""


class LoopbackResponses:
    """``requests``: what was asked so far. ``answer``: what to say."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        self.answer = answer
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def say(text: str) -> dict[str, Any]:
    """Return an item that says something."""
    said = [{"type": "output_text", "text": text}]
    return {"type": "message", "id": "msg_2", "role": "assistant", "content": said}


def configure(url: str) -> str:
    """Return settings of Codex that use an endpoint; its key is in the variable LOOPBACK."""
    return (
        '# mine\nmodel = "loopback"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\n'
        f'name = "loopback"\nbase_url = "{url}"\nenv_key = "LOOPBACK"\nwire_api = "responses"\n'
    )


def _handler(model: LoopbackResponses) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(b'{"data": []}', "application/json")

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
            model.requests.append(request)
            self._send("".join(_events(model.answer(request))).encode(), "text/event-stream")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _events(items: list[dict[str, Any]]) -> Iterator[str]:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 120,
    }
    yield _event("response.created", response={"id": "resp"})
    for index, item in enumerate(items):
        yield _event("response.output_item.done", output_index=index, item=item)
    yield _event("response.completed", response={"id": "resp", "usage": usage})


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"
