"""The cost of the MCP server on top of the SDK alone: ``python -m benchmarks.mcp_floor``.

The floor is a server made with the SDK's own parts and one tool that does nothing. Both are driven by the
same client, which writes and reads lines, in turn, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import median
from mnemos.memory import Memory

BARE = """
import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="empty", input_schema={"type": "object"})

async def list_tools(context, asked):
    return types.ListToolsResult(tools=[TOOL])

async def call_tool(context, asked):
    return types.CallToolResult(content=[types.TextContent(text="done")])

server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)

async def main():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
OURS = "from mnemos.faces.cli import main; main()"
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
CALLS: dict[str, dict[str, Any]] = {
    "sessions_lineage": {"session": "talk"},
    "sessions_append": {"session_id": "talk", "role": "user", "content": "The train leaves at nine."},
    "memory_write": {"content": "V[srv.prod]: api.example.com:3005"},
    "memory_search": {"query": "which port does production use?"},
    "memory_status": {},
}


@dataclass(slots=True)
class Taken:
    """Seconds to the first answer and to the list of tools, and of each call."""

    start: list[float] = field(default_factory=list)
    listed: list[float] = field(default_factory=list)
    calls: dict[str, list[float]] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="servers started of each")
    parser.add_argument("--calls", type=int, default=400, help="calls of each tool to each server")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with Memory.at(home) as memory:
            memory.sessions.create_session("talk", "cli")
        bare, ours, inside = Taken(), Taken(), Taken()
        command = [sys.executable, "-c", OURS, "mcp", "--home", str(home), "--tools", "all"]
        for _ in range(arguments.rounds):
            _drive([sys.executable, "-c", BARE], {"empty": {}}, arguments.calls, bare)
            _drive(command, CALLS, arguments.calls, ours)
            _in_process(home, arguments.calls, inside)
    _show(bare, ours, inside)


def _in_process(home: Path, count: int, taken: Taken) -> None:
    """The same calls without any server, on what the server's rounds have left."""
    with Memory.at(home) as memory:
        for name, given in CALLS.items():
            seconds = _timed(lambda name=name, given=given: memory.call(name, given), count)
            taken.calls.setdefault(name, []).extend(seconds)


def _drive(command: Sequence[str], calls: dict[str, dict[str, Any]], count: int, taken: Taken) -> None:
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    pipes = process.stdin, process.stdout

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        pipes[0].write(line.encode() + b"\n")
        pipes[0].flush()
        answer: dict[str, Any] = json.loads(pipes[1].readline())["result"]
        assert not answer.get("isError"), answer
        return answer

    ask("initialize", GREETING)
    taken.start.append(time.perf_counter() - begun)
    pipes[0].write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    ask("tools/list", {})
    taken.listed.append(time.perf_counter() - begun)
    for name, given in calls.items():
        asked = {"name": name, "arguments": given}
        taken.calls.setdefault(name, []).extend(_timed(lambda asked=asked: ask("tools/call", asked), count))
    process.communicate()


def _timed(call: Callable[[], object], count: int) -> list[float]:
    call()
    seconds = []
    for _ in range(count):
        begun = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begun)
    return seconds


def _show(bare: Taken, ours: Taken, inside: Taken) -> None:
    for label, floor, own in (
        ("first answer", bare.start, ours.start),
        ("list of tools", bare.listed, ours.listed),
    ):
        low, high = 1e3 * median(floor), 1e3 * median(own)
        print(f"{label:16} SDK {low:6.0f} ms  ours {high:6.0f} ms  {high - low:+.0f} ms  x{high / low:.2f}")
    empty = 1e3 * median(bare.calls["empty"])
    print(f"{'an empty call':16} SDK {empty:6.3f} ms")
    for name, seconds in ours.calls.items():
        whole, alone = 1e3 * median(seconds), 1e3 * median(inside.calls[name])
        face = whole - alone
        print(
            f"{name:16} ours {whole:6.3f} ms  in process {alone:6.3f} ms  "
            f"the server's part {face:6.3f} ms, {face - empty:+.3f} ms to the floor, x{face / empty:.2f}"
        )


if __name__ == "__main__":
    main()
