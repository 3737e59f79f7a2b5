"""Latency for a client of the MCP server: one real server at a time, over its standard input.

Every server is driven by the same client, the official one of SDK 2.x, in the same handshake.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from benchmarks.facts import made
from benchmarks.facts.made import SEED, Turn
from benchmarks.facts.worker import VERBS, WARM_UP
from benchmarks.peers import ROOT, PeerError, clean_environment

TOGETHER = 20
# Alongside all scopes that turns are about.
BULK_SCOPES = 100_000


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    command: tuple[str, ...]
    # The environment variable that says where its store is, and the file in the store's folder.
    variable: str = ""
    file: str = ""
    many_lines: bool = False


def drive(server: Server, store: Path, planned: Sequence[Turn]) -> dict[str, Any]:
    """Start the server on a store, take the turns as ``Worker.work`` does, and write in bulk.

    Nanoseconds per call by verb, until the first answer (``ready``), and per twenty facts written
    at once: as calls under way together (``together``) and as the lines of one call (``lines``).
    """
    try:
        return asyncio.run(_drive(server, store, planned))
    except ExceptionGroup as several:
        # The client runs in task groups: whatever went wrong inside arrives wrapped.
        raise PeerError(f"{server.name} over stdio: {_first(several)}") from several
    except (MCPError, OSError, PeerError) as error:
        raise PeerError(f"{server.name} over stdio: {error}") from error


def _first(group: BaseExceptionGroup) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


async def _drive(server: Server, store: Path, planned: Sequence[Turn]) -> dict[str, Any]:
    environment = clean_environment(store)
    if server.variable:
        environment[server.variable] = str(store / server.file)
    parameters = StdioServerParameters(
        command=server.command[0], args=list(server.command[1:]), env=environment, cwd=ROOT
    )
    started = time.perf_counter_ns()
    async with stdio_client(parameters) as (incoming, outgoing), ClientSession(incoming, outgoing) as client:
        await client.initialize()
        ready = time.perf_counter_ns() - started
        # The client reads the schemas before the first call; that is not part of a call.
        await client.list_tools()
        taken = await _turns(client, planned)
        taken["together"], taken["lines"] = await _bulk(client, server, max(2, len(planned) // 10))
        taken["ready"] = [ready]
        return taken


async def _turns(client: ClientSession, planned: Sequence[Turn]) -> dict[str, Any]:
    taken: dict[str, Any] = {verb: [] for verb in VERBS}
    for turn in planned:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("tick", {"turn": turn.number, "message": turn.message}),
            *(("write", {"content": line, "scope": scope}) for line, scope in turn.writes),
            ("search", {"query": turn.query}),
            ("status", {}),
        ]
        for verb, arguments in calls:
            before = time.perf_counter_ns()
            await _call(client, f"memory_{verb}", arguments)
            if turn.number > WARM_UP:
                taken[verb].append(time.perf_counter_ns() - before)
    return taken


async def _bulk(client: ClientSession, server: Server, times: int) -> tuple[list[int], list[int]]:
    together, lines = [], []
    for number in range(BULK_SCOPES, BULK_SCOPES + times):
        scope = made.scope(number, SEED, TOGETHER)
        before = time.perf_counter_ns()
        await asyncio.gather(*(_write(client, [fact.line], scope.label) for fact in scope.facts))
        together.append(time.perf_counter_ns() - before)
        # Time passes for the peer too: it closes a scope by turns alone, and archives if none pass.
        await _call(client, "memory_tick", {"turn": 10 * number})
        if server.many_lines:
            other = made.scope(2 * BULK_SCOPES + number, SEED, TOGETHER)
            before = time.perf_counter_ns()
            await _write(client, [fact.line for fact in other.facts], other.label)
            lines.append(time.perf_counter_ns() - before)
    return together, lines


async def _write(client: ClientSession, lines: Sequence[str], scope: str) -> None:
    await _call(client, "memory_write", {"content": "\n".join(lines), "scope": scope})


async def _call(client: ClientSession, name: str, arguments: dict[str, Any]) -> None:
    result = await client.call_tool(name, arguments)
    text = "".join(getattr(part, "text", "") for part in result.content)
    # The peer reports a write it refused as a success with these words in it.
    if result.is_error or "WRITE FAILED" in text:
        raise PeerError(f"{name}: {text[:200]}")
