"""A chat model on loopback that answers as a test scripts it, streamed or whole, as the host asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self

Reply = Callable[[dict[str, Any]], dict[str, Any]]
"""From the body of a request to the message that answers it."""

_ABOUT = {"id": "c1", "created": 1, "model": "loopback"}
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class LoopbackModel:
    """Keeps what it was asked in ``asked``."""

    def __init__(self, reply: Reply) -> None:
        self.asked: list[dict[str, Any]] = []
        self._reply = reply
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(model) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(json.dumps({"object": "list", "data": [{"id": "loopback"}]}), "application/json")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if not self.path.endswith("/chat/completions"):
                    self.send_error(404)
                    return
                model.asked.append(body)
                message = {"role": "assistant", "content": None, **model._reply(body)}
                ends = "tool_calls" if message.get("tool_calls") else "stop"
                if body.get("stream"):
                    self._answer(_streamed(message, ends), "text/event-stream")
                else:
                    choice = {"index": 0, "message": message, "finish_reason": ends}
                    whole = {**_ABOUT, "object": "chat.completion", "choices": [choice], "usage": _USAGE}
                    self._answer(json.dumps(whole), "application/json")

            def _answer(self, text: str, kind: str) -> None:
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def _streamed(message: dict[str, Any], ends: str) -> str:
    calls = [{"index": number, **call} for number, call in enumerate(message.get("tool_calls") or ())]
    delta = {key: value for key, value in message.items() if key != "tool_calls" and value is not None}
    pieces = [
        {
            "choices": [
                {"index": 0, "delta": delta | ({"tool_calls": calls} if calls else {}), "finish_reason": None}
            ]
        },
        {"choices": [{"index": 0, "delta": {}, "finish_reason": ends}]},
        {"choices": [], "usage": _USAGE},
    ]
    lines = [json.dumps({**_ABOUT, "object": "chat.completion.chunk", **piece}) for piece in pieces]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
