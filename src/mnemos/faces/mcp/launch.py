"""Starting and stopping the server."""

from __future__ import annotations

import logging
import sys

import anyio

from mnemos.faces.mcp.calls import Calls
from mnemos.faces.mcp.server import server_of
from mnemos.memory import Memory
from mnemos.operations import registry


def over_pipe(memory: Memory, tools: str) -> None:
    """Serve one client over standard input and output."""
    from mnemos.faces.mcp import pipe

    calls = Calls(memory, registry.choose_entries(tools))
    incoming, outgoing = pipe.claim()
    _log_to_stderr()
    try:
        anyio.run(pipe.serve, server_of(calls), calls, incoming, outgoing)
    finally:
        calls.settle()


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mnemos: %(message)s")
