"""The SDK's server, filled from the registry.

It uses the low-level ``Server``: tools have their own names, schemas and checks, so the decorators of
``MCPServer`` have nothing to derive, and its validation would be repeated in each call.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from starlette.requests import Request

from mnemos import __version__
from mnemos.faces.http.scopes import GRANT
from mnemos.faces.mcp import prompts, resources
from mnemos.faces.mcp.calls import Calls, Gone
from mnemos.faces.mcp.prompts import instructions
from mnemos.operations import registry

Context = ServerRequestContext[Any, Any]

_SESSION_HEADER = "mcp-session-id"


def server_of(calls: Calls) -> Server[Any]:
    """Return a server for any number of connections that offers ``calls``."""
    # Calls without a session belong to the connection's session, or else to the server's.
    own_session = f"mcp-{uuid.uuid4().hex}"

    def session(context: Context) -> str:
        return _session_of_transport(context) or own_session

    def limit_calls(context: Context) -> Calls:
        # Each request's token counts, even if another token began the session.
        return calls if context.request is None else calls.limited_to(context.request.scope[GRANT])

    @cache
    def tools() -> dict[str, dict[str, Any]]:
        # Built when a client asks, because the schemas import the operations' modules.
        return {tool["name"]: tool for tool in registry.tools("mcp", ",".join(calls.entries))}

    async def list_tools(_: Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools().values()])

    async def call_tool(context: Context, asked: types.CallToolRequestParams) -> dict[str, Any]:
        return await limit_calls(context).tool(
            asked.name, asked.arguments, session(context), _watch_close(context)
        )

    async def list_resources(_: Context, __: object) -> types.ListResourcesResult:
        return resources.list_all()

    async def list_templates(_: Context, __: object) -> types.ListResourceTemplatesResult:
        return resources.list_templates()

    async def read_resource(
        context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await resources.read(limit_calls(context), str(asked.uri), session(context))

    async def list_prompts(_: Context, __: object) -> types.ListPromptsResult:
        return prompts.list_all(calls.entries)

    async def get_prompt(context: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await prompts.fill_in(
            limit_calls(context), asked.name, asked.arguments or {}, session(context)
        )

    def input_schema(name: str) -> Mapping[str, Any] | None:
        tool = tools().get(name)
        return None if tool is None else tool["inputSchema"]

    server: Server[Any] = Server(
        "mnemos",
        version=__version__,
        title="Mnemos",
        description="Memory for LLM agents.",
        instructions=instructions(calls.entries),
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    # Plain data, because the SDK would serialise a model again at every call.
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    # Replaces the SDK's tracing, so that nothing of a memory leaves the machine unnoticed.
    server.middleware[:] = [_explain_errors]
    return server


async def _explain_errors(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Middleware that says in words what an invalid request lacks."""
    try:
        return await call_next(ctx)
    except ValidationError as exc:
        wrong = exc.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, wrong["loc"])) or "params"
        raise MCPError(types.INVALID_PARAMS, f"{ctx.method}: {where}: {wrong['msg']}") from exc


def _session_of_transport(context: Context) -> str | None:
    """Return the transport's session; None over a pipe or for independent requests."""
    if context.request is None:
        return None
    name = context.request.headers.get(_SESSION_HEADER)
    return f"mcp-{name}" if name else None


def _watch_close(context: Context) -> Gone | None:
    """Wait until an HTTP client disconnects; over a pipe, the SDK cancels the call."""
    return None if context.request is None else partial(_wait_for_disconnect, context.request)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
