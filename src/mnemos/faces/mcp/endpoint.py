"""MCP over streamable HTTP, as an application behind the checks of the server."""

from __future__ import annotations

from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemos.errors import Refused
from mnemos.faces.http.workers import Spaces
from mnemos.faces.mcp.calls import Calls
from mnemos.faces.mcp.lines import LONGEST
from mnemos.faces.mcp.server import server_of
from mnemos.memory import Memory
from mnemos.operations import registry

PATH = "/mcp"


def make(memory: Memory, spaces: Spaces, tools: str) -> tuple[Calls, ASGIApp]:
    """Return an application for tools. Tools that touch files are not offered."""
    chosen = registry.choose_entries(tools)
    offered = [entry for entry in chosen if not registry.load(entry).traits.local]
    if not offered:
        raise Refused(f"The tools {tools} use files of this machine and are not available over HTTP.")
    calls = Calls(memory, offered, spaces)
    app = server_of(calls).streamable_http_app(
        streamable_http_path=PATH,
        # Only the answer is sent, so it needs no event stream.
        json_response=True,
        max_request_body_size=LONGEST,
        # The server has already checked both headers.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    async def without_streams(scope: Scope, receive: Receive, send: Send) -> None:
        # Clients may listen for notifications. This server sends none, and could not stop before all clients
        # stop listening.
        if scope["type"] == "http" and scope["method"] == "GET":
            await Response(status_code=405, headers={"allow": "POST, DELETE"})(scope, receive, send)
        else:
            await app(scope, receive, send)

    return calls, without_streams
