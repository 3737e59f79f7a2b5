"""The server over standard input and output: one client, one message per line.

The SDK has such a transport, too. It hands every line to a thread and back three times, which costs more
than the call itself, and a thread that waits for a line cannot be stopped. Here the event loop reads
and writes the pipes, in pieces that cannot block.
"""

from __future__ import annotations

import logging
import os
import select
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from mnemos.errors import Unavailable
from mnemos.faces.mcp import lines
from mnemos.faces.mcp.calls import Calls, stop_when_told

log = logging.getLogger("mnemos.mcp")

_CHUNK = 1 << 16
_LAST_ANSWERS_SECONDS = 30.0

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Answers = MemoryObjectSendStream[SessionMessage]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


def claim() -> tuple[int, int]:
    """Return our ends of the pipes, and detach everybody else from them.

    For all other code, standard input is empty and output goes to standard error. So nothing that prints can
    break the protocol, and no child process can read or hold the pipes.
    """
    if sys.stdin is None or sys.stdout is None:
        raise Unavailable("Standard input or output is closed. A client must start `mnemos mcp` with both.")
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere if sys.stderr is None else 2, 1)
    os.close(nowhere)
    return incoming, outgoing


async def serve(server: Server[Any], calls: Calls, incoming: int, outgoing: int) -> None:
    """Serve until the client closes its end or a signal comes, then finish answering."""
    read_send, read_receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_send, write_receive = anyio.create_memory_object_stream[SessionMessage](0)
    open_questions = _Questions()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_when_told, tasks.cancel_scope.cancel)
        tasks.start_soon(_read, incoming, read_send, write_send.clone(), open_questions)
        tasks.start_soon(_write, outgoing, write_receive, open_questions)
        tasks.start_soon(calls.warm_up)
        await server.run(read_receive, write_send, server.create_initialization_options())
        tasks.cancel_scope.cancel()


class _Questions:
    """The requests that are not answered yet."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._changed = anyio.Event()

    def note(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._open.add(str(message.id))
            return
        if isinstance(message, JSONRPCNotification):
            if message.method != "notifications/cancelled":
                return
            # A request that the client gave up needs no answer.
            self._open.discard(str((message.params or {}).get("requestId")))
        else:
            self._open.discard(str(message.id))
        self._changed.set()

    async def all_answered(self) -> None:
        while self._open:
            self._changed = anyio.Event()
            await self._changed.wait()


async def _read(incoming: int, into: Incoming, refusals: Answers, questions: _Questions) -> None:
    async with into, refusals:
        async for line in _lines(incoming):
            message, refusal = lines.read(line)
            if refusal is not None:
                await refusals.send(SessionMessage(refusal))
            if message is not None:
                questions.note(message)
                await into.send(SessionMessage(message))
        # Closing the stream makes the SDK drop unanswered requests.
        with anyio.move_on_after(_LAST_ANSWERS_SECONDS):
            await questions.all_answered()


async def _lines(incoming: int) -> AsyncIterator[bytes | None]:
    collected = lines.Lines()
    while chunk := await _read_chunk(incoming):
        for line in collected.of(chunk):
            yield line
    yield collected.last()


async def _read_chunk(incoming: int) -> bytes:
    """Read what is available; empty at the end of input."""
    while True:
        try:
            await anyio.wait_readable(incoming)
        except PermissionError:
            # The event loop can't wait for files, which are always ready.
            await anyio.lowlevel.checkpoint()
        try:
            return os.read(incoming, _CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            log.debug("the client's end is gone", exc_info=True)
            return b""


async def _write(outgoing: int, messages: Outgoing, questions: _Questions) -> None:
    ready = select.poll()
    ready.register(outgoing, select.POLLOUT)
    async with messages:
        async for message in messages:
            try:
                await _write_line(outgoing, ready, lines.encode_line(message.message))
            except OSError:
                # A client that stopped listening may still have asked to store something.
                log.debug("the client does not read any more", exc_info=True)
            questions.note(message.message)


async def _write_line(outgoing: int, ready: select.poll, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        if not ready.poll(0):
            await anyio.wait_writable(outgoing)
        try:
            # A write of this size never blocks on a pipe that is ready.
            rest = rest[os.write(outgoing, rest[: select.PIPE_BUF]) :]
        except BlockingIOError:
            await anyio.wait_writable(outgoing)
