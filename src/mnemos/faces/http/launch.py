"""Starting and stopping the server."""

from __future__ import annotations

import asyncio
import logging
import shlex
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from mnemos.errors import MnemosError
from mnemos.faces.http.address import NAMES
from mnemos.faces.http.api import MCP_PATH, Api
from mnemos.faces.http.connections import make_server
from mnemos.faces.http.page import Page
from mnemos.faces.http.request_log import RequestLog, log_to_stderr
from mnemos.faces.http.running import announce
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import NAME, Doorkeeper
from mnemos.memory.page_sessions import PageSessions, make_code
from mnemos.settings import Settings

log = logging.getLogger("mnemos.serve")


def serve(
    memory: Memory,
    listening: socket.socket,
    *,
    tools: str | None,
    allowed_hosts: Sequence[str] = (),
    show: Callable[[str], None] | None = None,
) -> None:
    """Serve the operations, and with ``tools`` MCP, until SIGINT or SIGTERM; then finish what is written.

    With ``show`` also the page: it is called with a link to it.
    """
    calls, mcp = None, None
    spaces, workers = Spaces(memory), Workers()
    if tools is not None:
        # Imports the MCP SDK, which takes more than half a second.
        from mnemos.faces.mcp import endpoint

        calls, mcp = endpoint.make(memory, spaces, tools)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    hosts = _list_hosts(shown, port, allowed_hosts)
    page = None if show is None else Page(PageSessions(memory.settings))
    app = Api(spaces, workers, Doorkeeper(memory.settings), hosts, RequestLog(), mcp, page)
    log_to_stderr()
    log.setLevel(logging.INFO)
    file = shlex.quote(str(memory.settings.home / NAME))
    log.info("clients must send this header: Authorization: Bearer $(cat %s)", file)
    log.info("listening on http://%s:%d%s", shown, port, MCP_PATH if mcp else "")
    stack = ExitStack()
    try:
        workers.start("memory_status", lambda _: _open(memory))
        if show is not None:
            url = f"http://{shown}:{port}/"
            stack.enter_context(announce(memory.settings.home, url))
            show(make_link(memory.settings, url))
        asyncio.run(make_server(app, lifespan=mcp is not None).run_on(listening, app.stop))
    finally:
        stack.close()
        if calls is not None:
            calls.settle()
        workers.close()
        spaces.close()


def make_link(settings: Settings, url: str) -> str:
    """Return a link to the page that can be opened once. Browsers don't send what follows ``#``."""
    return f"{url}#t={make_code(settings, time.time())}"


def _list_hosts(host: str, port: int, allowed: Sequence[str]) -> list[str]:
    names = dict.fromkeys((host, *NAMES))
    # Clients leave the usual port out.
    return [f"{name}:{port}" for name in names] + [name for name in names if port == 80] + list(allowed)


def _open(memory: Memory) -> None:
    """Open a memory that is there, so that the first call need not wait for it."""
    try:
        if memory.database.exists():
            memory.storage  # noqa: B018
    except (MnemosError, OSError, ValueError):
        log.debug("opening ahead failed; the first call will report it", exc_info=True)
