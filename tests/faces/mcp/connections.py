"""The official client, kept open in a thread, for tests that do not await."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

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


@dataclass(frozen=True, slots=True)
class Served:
    """A server over HTTP, and the token that it asks for."""

    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].partition("/")[0])

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


@contextmanager
def connected(to: StdioServerParameters | Served, era: str) -> Iterator[Connected]:
    """``era``: "legacy" greets as 2025's clients do, "auto" as today's."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        transport: Any = to
        if isinstance(to, Served):
            web = httpx2.AsyncClient(headers=to.headers, timeout=SECONDS)
            stack.enter_context(portal.wrap_async_context_manager(web))
            transport = streamable_http_client(to.url, http_client=web)
        client = Client(transport, mode=era, read_timeout_seconds=SECONDS)
        stack.enter_context(portal.wrap_async_context_manager(client))
        yield Connected(portal, client)


def over_pipe(home: Path, *arguments: str) -> StdioServerParameters:
    program, *rest = command(home, *arguments)
    return StdioServerParameters(command=program, args=rest, env=environment())


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[Served]:
    """A server on a free port of this machine, stopped at the end."""
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--mcp", "--port", "0", "--home", str(home), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        begun = "".join(process.stderr.readline().decode() for _ in range(2))
        found = LISTENING.search(begun)
        assert found is not None, begun
        file = home / "token"
        token = file.read_text().strip() if file.exists() else ""
        yield Served(found[0], token)
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (0, b"")
        assert b"Traceback" not in said
        assert not token or token not in begun + said.decode()
    finally:
        process.kill()
        process.communicate()
