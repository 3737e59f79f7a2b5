"""Claude's memory tool writes a file; the command line lists it and erases it.

    pip install 'mnemos[anthropic]'
    python examples/frameworks/memory_tool.py

Offline: a small server on this machine answers as Claude would.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from anthropic import Anthropic

from mnemos.integrations.anthropic_memory import MnemosMemoryTool

PATH = "/memories/deploy.md"
TEXT = "Deploys are on Tuesdays at 9.\nNever on Fridays.\n"


class Claude(BaseHTTPRequestHandler):
    """Asks for a file to be created, then says that it is done."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        create = {"command": "create", "path": PATH, "file_text": TEXT}
        content: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "memory", "input": create}
        if "tool_result" in json.dumps(asked["messages"]):
            content = {"type": "text", "text": "I noted it."}
        answer = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": asked["model"],
            "content": [content],
            "stop_reason": "tool_use" if content["type"] == "tool_use" else "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        """Print nothing about requests."""


def run(*command: str) -> str:
    """Run a command of Mnemos and print it with its answer."""
    program = [sys.executable, "-m", "mnemos", *command]
    done = subprocess.run(program, check=True, capture_output=True, text=True)  # noqa: S603 - its own
    answer = done.stdout.strip()
    print(f"$ mnemos {' '.join(command[2:])}", answer, sep="\n")
    return answer


def main() -> None:
    server = HTTPServer(("127.0.0.1", 0), Claude)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}")
    with tempfile.TemporaryDirectory() as home:
        # This is the line that changes: tools=[MnemosMemoryTool()].
        tool = MnemosMemoryTool(home)
        runner = client.beta.messages.tool_runner(
            model="claude",
            max_tokens=100,
            messages=[{"role": "user", "content": "Note when we deploy."}],
            tools=[tool],
            betas=["context-management-2025-06-27"],
        )
        print(getattr(runner.until_done().content[0], "text", ""))
        tool.close()

        listed = run("--home", home, "entries", "list")
        [ref] = re.findall(r"entry:\d+", listed)
        run("--home", home, "forget", ref, "--yes")
        run("--home", home, "entries", "list")
    server.shutdown()


if __name__ == "__main__":
    main()
