"""Mnemos in a real Codex: connected by its own command, and its rollouts imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from programs import Program

from mnemos import Memory
from mnemos.transfer.readers.codex import READER

DECISION = "Decision: the order mails go through Redis streams."
QUESTION = "Which queue should send the order mails?"


class Endpoint(BaseHTTPRequestHandler):
    """Answers as the API for responses does: a call of the shell first, then the decision."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(b'{"data": []}', "application/json")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self._send("".join(_events(_items(request))).encode(), "text/event-stream")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _items(request: dict[str, Any]) -> list[dict[str, Any]]:
    if request["input"][-1].get("type", "").endswith("_output"):
        said = [{"type": "output_text", "text": DECISION}]
        return [{"type": "message", "id": "msg_2", "role": "assistant", "content": said}]
    thought = [{"type": "summary_text", "text": "Look at what is deployed"}]
    arguments = json.dumps({"cmd": "echo shop-redis"})
    return [
        {"type": "reasoning", "id": "rs_1", "summary": thought, "encrypted_content": "x"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "exec_command",
            "arguments": arguments,
        },
    ]


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


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


class Codex(Program):
    """The program, with a model on loopback."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        super().__init__(folder, LOOPBACK="nothing")
        self.config = folder / ".codex" / "config.toml"
        self.config.parent.mkdir()
        self.config.write_text(
            '# mine\nmodel = "loopback"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\n'
            f'name = "loopback"\nbase_url = "{endpoint}"\nenv_key = "LOOPBACK"\nwire_api = "responses"\n'
        )


@pytest.fixture
def codex(tmp_path: Path, endpoint: str) -> Codex:
    return Codex(tmp_path, endpoint)


def test_its_own_command_connects_it_and_undo_restores_its_settings(codex: Codex) -> None:
    before = codex.config.read_bytes()
    codex.mnemos("connect", "codex", "--yes")
    assert "mnemos" in codex.run("codex", "mcp", "list")
    codex.mnemos("connect", "codex", "--yes", "--undo")
    assert codex.config.read_bytes() == before


def test_its_rollouts_are_imported_and_each_message_once(codex: Codex) -> None:
    codex.run("codex", "exec", "--skip-git-repo-check", QUESTION)
    with Memory.at(codex.home) as memory:
        report = memory.imports.import_files(READER, codex.config.parent)
        assert (report.sessions, report.problems) == (1, [])
        (session,) = memory.sessions.search_sessions()
        messages = memory.sessions.get_messages(session["id"])
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[0]["content"] == QUESTION
    assert messages[1]["tool_calls"][0]["function"]["name"] == "exec_command"
    assert "shop-redis" in messages[2]["content"]
    assert messages[3]["content"] == DECISION
    assert session["output_tokens"] == 40
