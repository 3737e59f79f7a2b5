"""An endpoint such as Claude Code expects, on loopback: gives prepared answers and keeps the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Block = dict[str, Any]
Answer = Callable[[dict[str, Any]], list[Block]]
"""The blocks that answer a request."""


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def call(name: str, **arguments: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


def last_content(request: dict[str, Any]) -> str:
    """Return the newest message of a user as JSON; results of tools included."""
    said = [message["content"] for message in request["messages"] if message["role"] == "user"]
    return json.dumps(said[-1], ensure_ascii=False) if said else ""


class LoopbackAnthropic:
    """``requests``: what was asked so far. ``answer``: what to say; may be replaced at any time."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.answer: Answer = lambda _: [text("Understood.")]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(model: LoopbackAnthropic) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(b"{}", "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                self._send(b'{"input_tokens": 1}', "application/json")
                return
            request = json.loads(body)
            model.requests.append(request)
            answer = "".join(_events(request, model.answer(request), len(model.requests)))
            self._send(answer.encode(), "text/event-stream")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _events(request: dict[str, Any], blocks: list[Block], number: int) -> Iterator[str]:
    """The answer as the events of a stream."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    begun = {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _event("message_start", message=begun)
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    yield _event(
        "message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 9}
    )
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"
