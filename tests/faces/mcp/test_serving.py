"""The transports in this process: what they are given, and how they end."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from mnemos.faces.http.address import Address
from mnemos.faces.http.launch import serve
from mnemos.faces.mcp import pipe
from mnemos.faces.mcp.calls import Calls
from mnemos.faces.mcp.server import server_of
from mnemos.memory import Memory
from mnemos.memory.access_tokens import load_owner_token
from mnemos.operations.index import ENTRIES

from .wire import INITIALIZE

QUESTIONS: tuple[tuple[str, Any], ...] = (
    ("initialize", INITIALIZE),
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "mnemos://sessions/slot-bug"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "wrap-up"}),
    ("tools/call", {"name": "stats", "arguments": {}}),
    ("tools/call", {"name": "stats", "arguments": {"nonsense": 1}}),
)
FAILING: tuple[tuple[str, Any], ...] = (
    ("resources/read", {"uri": "mnemos://sessions/never"}),
    ("resources/read", {"uri": "mnemos://nothing"}),
    ("prompts/get", {"name": "nothing"}),
    ("prompts/get", {"name": "recall", "arguments": {}}),
    ("tools/call", {"name": 5}),
)


def question(number: int, method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


@contextmanager
def calls_at(home: Path) -> Iterator[Calls]:
    with Memory.at(home) as memory:
        calls = Calls(memory, ENTRIES)
        yield calls
        calls.settle()


def piped(calls: Calls, *sent: bytes) -> list[dict[str, Any]]:
    """The answers to lines that are in the pipe, whose other end is closed already."""
    (incoming, our_end), (their_end, outgoing) = os.pipe(), os.pipe()
    with open(our_end, "wb") as stream:  # noqa: PTH123
        stream.write(b"\n".join(sent))
    with open(their_end, "rb") as stream, ThreadPoolExecutor(1) as reader:  # noqa: PTH123
        # Read meanwhile: a list of all tools is more than a pipe holds.
        said = reader.submit(stream.readlines)
        anyio.run(pipe.serve, server_of(calls), calls, incoming, outgoing)
        os.close(incoming)
        os.close(outgoing)
        return [json.loads(line) for line in said.result()]


def test_every_question_in_the_pipe_is_answered_once(shop: Path) -> None:
    asked = [*QUESTIONS, *FAILING]
    with calls_at(shop) as calls:
        answers = piped(calls, *(question(n, *one) for n, one in enumerate(asked)), b"no json")
    by_id = {answer["id"]: answer for answer in answers}
    assert len(answers) == len(by_id) == len(asked) + 1
    for number, (method, _) in enumerate(asked):
        assert ("result" in by_id[number]) is (number < len(QUESTIONS)), method


def test_a_question_that_was_given_up_keeps_nobody_waiting(shop: Path) -> None:
    given_up = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    with calls_at(shop) as calls:
        answers = piped(
            calls,
            question(0, "initialize", INITIALIZE),
            b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
            question(1, "tools/call", {"name": "optimize", "arguments": {"seconds": 0.01}}),
            json.dumps(given_up).encode(),
            question(2, "ping", {}),
        )
    assert {answer["id"] for answer in answers} >= {0, 2}


def test_who_does_not_read_the_answers_has_the_questions_carried_out(shop: Path) -> None:
    (incoming, our_end), (their_end, outgoing) = os.pipe(), os.pipe()
    os.close(their_end)
    given = {"name": "sessions_create", "arguments": {"session_id": "unheard"}}
    with open(our_end, "wb") as stream:  # noqa: PTH123
        stream.write(question(0, "initialize", INITIALIZE) + b"\n" + question(1, "tools/call", given))
    with calls_at(shop) as calls:
        anyio.run(pipe.serve, server_of(calls), calls, incoming, outgoing)
    os.close(incoming)
    os.close(outgoing)
    with Memory.at(shop) as memory:
        assert memory.sessions.get_session("unheard") is not None


def test_a_file_can_be_the_input(shop: Path, tmp_path: Path) -> None:
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_bytes(question(0, "ping", {}))
    with calls_at(shop) as calls, asked.open("rb") as incoming, answered.open("wb") as outgoing:
        anyio.run(pipe.serve, server_of(calls), calls, incoming.fileno(), outgoing.fileno())
    assert json.loads(answered.read_bytes()) == {"jsonrpc": "2.0", "id": 0, "result": {}}


def test_a_pipe_that_does_not_block_takes_large_answers(shop: Path) -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    text = "long " * 200_000
    with Memory.at(shop) as memory:
        memory.sessions.append_message("empty", "user", text)

    async def both(calls: Calls) -> bytes:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipe.serve, server_of(calls), calls, theirs.fileno(), theirs.fileno())
            return await anyio.to_thread.run_sync(ask)

    def ask() -> bytes:
        with ours.makefile("rwb") as stream:
            stream.write(question(0, "initialize", INITIALIZE) + b"\n")
            stream.write(
                question(1, "tools/call", {"name": "sessions_show", "arguments": {"session": "empty"}})
            )
            stream.write(b"\n")
            stream.flush()
            stream.readline()
            answer = stream.readline()
        ours.shutdown(socket.SHUT_WR)
        return answer

    with ours, theirs, calls_at(shop) as calls:
        answer = json.loads(anyio.run(both, calls))
    assert answer["result"]["structuredContent"]["messages"][0]["content"] == text


def test_a_signal_ends_a_server_on_a_port(shop: Path) -> None:
    def ask(port: int) -> list[int]:
        statuses = []
        try:
            for method, body in (("POST", question(0, "initialize", INITIALIZE)), ("GET", b"")):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                headers = {
                    "content-type": "application/json",
                    "accept": "application/json, text/event-stream",
                    "authorization": f"Bearer {load_owner_token(memory.settings)}",
                }
                connection.request(method, "/mcp", body, headers)
                statuses.append(connection.getresponse().status)
                connection.close()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
        return statuses

    with (
        Address.make("localhost", 0).listen() as listening,
        Memory.at(shop) as memory,
        ThreadPoolExecutor(1) as client,
    ):
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        load_owner_token(memory.settings)
        statuses = client.submit(ask, listening.getsockname()[1])
        serve(memory, listening, tools="default")
        assert statuses.result() == [200, 405]
