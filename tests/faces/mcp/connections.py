"""The official client, kept open in a thread, for tests that do not await."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters

from .wire import PROGRAM, SECONDS, command, environment

LISTENING = re.compile(r"http://\S+/mcp")


class Connected:
    """The client's methods, waited for."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def start(self, name: str, *args: Any) -> Future[Any]:
        """Begin a call without waiting for it; cancelling the future cancels the call."""
        return self._portal.start_task_soon(partial(getattr(self.client, name), *args))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def waited(*args: Any, **kwargs: Any) -> Any:
            return self._portal.call(partial(method, *args, **kwargs))

        return waited


@contextmanager
def connected(to: StdioServerParameters | str, era: str) -> Iterator[Connected]:
    """``era``: "legacy" greets as 2025's clients do, "auto" as today's."""
    client = Client(to, mode=era, read_timeout_seconds=SECONDS)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Connected(portal, client)


def over_pipe(home: Path, *arguments: str) -> StdioServerParameters:
    program, *rest = command(home, *arguments)
    return StdioServerParameters(command=program, args=rest, env=environment())


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[str]:
    """A server on a free port of this machine, told to stop at the end; its URL."""
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--mcp", "--port", "0", "--home", str(home), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        found = LISTENING.search(process.stderr.readline().decode())
        assert found is not None
        yield found[0]
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (0, b"")
        assert b"Traceback" not in said
    finally:
        process.kill()
        process.communicate()
