"""A client that checks nothing: lines into a server's pipe, lines out of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self

SECONDS = 30
PROGRAM = (sys.executable, "-c", "from mnemos.faces.cli import main; main()")

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "wire", "version": "1"},
}


def environment() -> dict[str, str]:
    """Nothing of the settings of who runs the tests."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("MNEMOS_", "HERMES_"))}


def command(home: Path, *arguments: str) -> list[str]:
    return [*PROGRAM, "mcp", "--home", str(home), *arguments]


class Wire:
    """A server of its own, started and greeted."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._ids = count(1)
        self.process = subprocess.Popen(
            command(home, *arguments),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.greeting = self.ask("initialize", INITIALIZE)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode())

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server has ended: {self.end()}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def request(self, method: str, params: Any) -> int:
        """Ask without waiting; the id of the question."""
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        number = self.request(method, params)
        answer = self.receive()
        assert answer["id"] == number
        return answer

    def begin(self, tool: str, arguments: Any) -> int:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def answers_before_a_ping(self) -> list[dict[str, Any]]:
        """Return the messages so far; the server's answer to a ping shows that it lives."""
        number = self.request("ping", {})
        answers: list[dict[str, Any]] = []
        while (answer := self.receive()).get("id") != number:
            answers.append(answer)
        return answers

    def end(self) -> tuple[int, str]:
        """Close the pipes; the exit code and what was said on standard error."""
        _, said = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, said.decode()


def code_of(result: dict[str, Any]) -> str:
    """The code of a failed call, which says the same as text."""
    assert result["isError"] is True
    error = result["structuredContent"]["error"]
    assert result["content"] == [{"type": "text", "text": f"{error['code']}: {error['message']}"}]
    code: str = error["code"]
    return code


def in_order(answers: Sequence[dict[str, Any]]) -> list[int]:
    return sorted(answer["id"] for answer in answers)
