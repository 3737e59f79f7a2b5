"""Starting and stopping the server."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shlex
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from mnemos.errors import InvalidInput, MnemosError
from mnemos.faces.http.address import NAMES, Address, Exposure
from mnemos.faces.http.api import MCP_PATH, Api
from mnemos.faces.http.connections import make_server
from mnemos.faces.http.page import Page
from mnemos.faces.http.page_address import announce
from mnemos.faces.http.request_log import RequestLog, log_to_stderr
from mnemos.faces.http.supervisor import supervise
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import NAME, Doorkeeper, load_owner_token
from mnemos.memory.page_sessions import PageSessions, make_code
from mnemos.memory.recall_log import asked_in
from mnemos.settings import Settings

log = logging.getLogger("mnemos.serve")

# Between two turns of Python's threads, 0.005 by default. A quick call takes its turn after each statement of
# SQL, and next to two recalls it would wait for each of them each time.
_TURN_SECONDS = 0.0005

_LOCAL = Exposure()


def serve(
    memory: Memory,
    listening: socket.socket,
    *,
    tools: str | None,
    exposure: Exposure = _LOCAL,
    show: Callable[[str], None] | None = None,
    workers: int = 1,
) -> None:
    """Serve operations, and MCP with ``tools``, until SIGINT or SIGTERM.

    Writes that have begun are finished. With ``show``, the page is served too, and ``show`` is called with a
    link to it. ``workers``: the number of processes.
    """
    if tools is not None and workers > 1:
        raise InvalidInput("--mcp needs a single process. Use --workers 1, or omit --mcp.")
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    url = f"http{'s' if exposure.has_tls else ''}://{shown}:{port}"
    log_to_stderr()
    log.setLevel(logging.INFO)
    run = partial(_run, memory, listening, tools, exposure, has_page=show is not None)
    with ExitStack() as stack:
        if Address(host, port).is_local:
            # Created before several processes look for it.
            load_owner_token(memory.settings)
            file = shlex.quote(str(memory.settings.home / NAME))
            log.info("clients must send this header: Authorization: Bearer $(cat %s)", file)
        else:
            log.info("clients must send this header: Authorization: Bearer TOKEN, see `mnemos tokens`")
        log.info("listening on %s%s", url, "" if tools is None else MCP_PATH)
        if show is not None:
            stack.enter_context(announce(memory.settings.home, f"{url}/"))
            show(make_link(memory.settings, f"{url}/"))
        if workers > 1:
            supervise(workers, run)
        else:
            run()


def _run(
    memory: Memory,
    listening: socket.socket,
    tools: str | None,
    exposure: Exposure,
    parent: int | None = None,
    *,
    has_page: bool,
) -> None:
    """Serve in this process. ``parent``: see ``Serving.run_on``."""
    sys.setswitchinterval(_TURN_SECONDS)
    calls, mcp = None, None
    spaces, workers = Spaces(memory), Workers()
    if tools is not None:
        # Imported here, because the MCP SDK takes more than half a second to import.
        from mnemos.faces.mcp import endpoint

        calls, mcp = endpoint.make(memory, spaces, tools)
    host, port = listening.getsockname()[:2]
    app = Api(
        spaces,
        workers,
        Doorkeeper(memory.settings),
        _list_hosts(f"[{host}]" if ":" in host else host, port, exposure.hosts),
        RequestLog(partial(os.write, sys.stderr.fileno())),
        mcp,
        Page(PageSessions(memory.settings)) if has_page else None,
        is_public=not Address(host, port).is_local,
    )
    server = make_server(app, lifespan=mcp is not None, certificate=exposure.certificate, key=exposure.key)
    try:
        workers.start("memory_status", "", lambda _: open_ahead(memory), _freeze_loaded)
        asyncio.run(server.run_on(listening, app.stop, parent))
    finally:
        if calls is not None:
            calls.settle()
        if not workers.close(server.stops_by):
            # Their transactions are rolled back, as after a power failure.
            log.warning("stopped in the middle of an operation; what it had not committed is lost")
            logging.shutdown()
            os._exit(0)
        spaces.close()


def make_link(settings: Settings, url: str) -> str:
    """Return a link that opens the page once. Browsers don't send its fragment."""
    return f"{url}#t={make_code(settings, time.time())}"


def _list_hosts(host: str, port: int, allowed: Sequence[str]) -> list[str]:
    names = dict.fromkeys((host, *NAMES))
    # Clients leave out the default port, and a proxy may listen on another one.
    usual = [name for name in names if port in (80, 443)]
    return [f"{name}:{port}" for name in (*names, *allowed)] + usual + list(allowed)


def open_ahead(memory: Memory) -> None:
    """Open an existing memory and load the model, so that no first call has to wait."""
    try:
        if memory.home.exists:
            with asked_in(None, private=True):
                memory.recall("ready", limit=1)
    except (MnemosError, OSError, ValueError):
        log.debug("opening ahead failed; the first call will report it", exc_info=True)


def _freeze_loaded(*_: object) -> None:
    """Exempt loaded modules from garbage collection, whose pauses reached 56 ms."""
    gc.freeze()
