"""Claude Code records a session, its disk is lost, and it is resumed on an empty one. Recall finds it, too.

    pip install 'mnemos[claude-agent-sdk]'
    python examples/frameworks/claude_sessions.py

Offline: the SDK runs the program that comes with it, and a small server on this machine answers as Claude
would.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, query

from mnemos.integrations.claude_agent_sdk import MnemosSessionStore

ANSWER = "Understood."
requests: list[str] = []


class Claude(BaseHTTPRequestHandler):
    """Answers every request, as a stream or at once."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        message: dict[str, Any] = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": asked.get("model", ""),
            "content": [],
            "stop_reason": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if "messages" not in asked or "count_tokens" in self.path:
            self.answer("application/json", json.dumps({"input_tokens": 1}))
            return
        requests.append(json.dumps(asked["messages"]))
        if not asked.get("stream"):
            whole = message | {"content": [{"type": "text", "text": ANSWER}], "stop_reason": "end_turn"}
            self.answer("application/json", json.dumps(whole))
            return
        text = {"type": "text", "text": ""}
        end = {"stop_reason": "end_turn", "stop_sequence": None}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": text},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ]
        stream = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        self.answer("text/event-stream", stream)

    def answer(self, kind: str, body: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def do_HEAD(self) -> None:
        self.answer("text/plain", "")

    def log_message(self, *_: Any) -> None:
        """Print nothing about requests."""


async def talk(url: str, home: str, work: str, said: str, resume: str | None = None) -> str:
    """Say something in a new process of Claude Code with an empty disk, and return the session."""
    disk, session_id = tempfile.mkdtemp(), ""
    # This is the line that changes: session_store=MnemosSessionStore().
    store = MnemosSessionStore(home)
    options = ClaudeAgentOptions(
        session_store=store,
        resume=resume,
        cwd=work,
        max_turns=1,
        model="claude-sonnet-4-5",
        setting_sources=[],
        env={
            "HOME": disk,
            "CLAUDE_CONFIG_DIR": disk,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )
    async for message in query(prompt=said, options=options):
        session_id = getattr(message, "session_id", None) or session_id
    await store.close()
    shutil.rmtree(disk)
    return session_id


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Claude)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as work:
        fact = "We deploy on Tuesdays at 9, never on Fridays."
        session = asyncio.run(talk(url, home, work, fact))
        before = len(requests)
        print("Recorded, and the disk deleted.")
        asyncio.run(talk(url, home, work, "When do we deploy?", resume=session))
        print(f"Resumed with the earlier turn: {any(fact in one for one in requests[before:])}")
        command = [sys.executable, "-m", "mnemos", "--home", home, "recall", "which day is the deploy"]
        print("$ mnemos recall which day is the deploy", flush=True)
        subprocess.run(command, check=True)  # noqa: S603 - the program's own
    server.shutdown()


if __name__ == "__main__":
    main()
