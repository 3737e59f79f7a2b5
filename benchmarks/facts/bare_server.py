"""The floor of every call: an MCP server that does nothing, ``python -m benchmarks.facts.bare_server``.

It takes the same calls and gives answers of about the same size as a real one, made beforehand.
"""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

_FACT = {"id": "f12", "type": "V", "target": "srv.prod", "content": "api.example.com:3005, behind the proxy"}
_SHOWN = {**_FACT, "scope": "infra", "tier": "cold", "at": "2026-03-01T12:00:00Z"}
_LINE = "V[srv.prod]: api.example.com:3005, behind the proxy (2026-03-01, infra, cold, f12)"
_GAUGE = {"used": 105, "budget": 150, "percent": 70}
ANSWERS: dict[str, dict[str, Any]] = {
    "memory_write": {
        "facts": [{**_FACT, "outcome": "stored"}],
        "gauge": _GAUGE,
        "closed": [],
        "conflicts": [],
        "text": "stored f12; hot facts at 70%",
    },
    "memory_search": {"facts": [_SHOWN] * 5, "text": "\n".join([_LINE] * 5)},
    "memory_tick": {"turn": 7, "gauge": _GAUGE, "closed": [], "text": "turn 7; hot facts at 70%"},
    "memory_status": {
        "tokens": 140,
        "gauge": _GAUGE,
        "conflicts": [],
        "text": "\n".join(["V[srv.prod]: api.example.com:3005, behind the proxy"] * 8),
    },
}
_TOOLS = [types.Tool(name=name, input_schema={"type": "object"}) for name in ANSWERS]
_RESULTS = {
    name: types.CallToolResult(
        content=[types.TextContent(type="text", text=answer["text"])], structured_content=answer
    )
    for name, answer in ANSWERS.items()
}


async def _list(context: object, parameters: object) -> types.ListToolsResult:  # noqa: ARG001
    return types.ListToolsResult(tools=_TOOLS)


async def _call(context: object, parameters: types.CallToolRequestParams) -> types.CallToolResult:  # noqa: ARG001
    return _RESULTS[parameters.name]


async def _run() -> None:
    server = Server("bare", on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_run())
