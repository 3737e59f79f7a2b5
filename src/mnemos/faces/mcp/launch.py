"""Starting and stopping the server."""

from __future__ import annotations

import logging
import shlex
import sys

import anyio

from mnemos.errors import Refused
from mnemos.faces.mcp.calls import Calls
from mnemos.faces.mcp.server import server_of
from mnemos.memory import Memory
from mnemos.operations import registry

log = logging.getLogger("mnemos.mcp")


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


def over_http(memory: Memory, tools: str, address: str, *, asks_for_token: bool = True) -> None:
    """Serve clients of this machine. Operations on files are not offered: a client's files may be others."""
    # uvicorn: not for a pipe.
    from mnemos.faces.mcp import http, token_file

    chosen = registry.choose_entries(tools)
    offered = [entry for entry in chosen if not registry.load(entry).traits.local]
    if not offered:
        raise Refused(f"All of {tools} touches files, which is not offered over HTTP. Use a pipe.")
    calls = Calls(memory, offered)
    with http.Address.parse(address).listen() as listening:
        token = token_file.load_token(memory.settings) if asks_for_token else None
        _log_to_stderr()
        if token is None:
            log.warning("no token is asked for: every user of this machine can read and change this memory")
        else:
            file = shlex.quote(str(memory.settings.home / token_file.NAME))
            log.info("clients must send this header: Authorization: Bearer $(cat %s)", file)
        try:
            anyio.run(http.serve, server_of(calls), calls, listening, token)
        finally:
            calls.settle()


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mnemos: %(message)s")
    log.setLevel(logging.INFO)
