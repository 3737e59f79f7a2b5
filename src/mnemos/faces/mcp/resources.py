"""Resources: answers of operations that clients read without calling a tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mnemos.errors import InvalidInput, MnemosError, NotFound
from mnemos.faces.mcp.calls import Calls
from mnemos.operations.index import BY_NAME
from mnemos.text.stored_text import join_items

_PLAIN = "text/plain"


def _nothing(_: str) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Readable:
    """An operation at an address. ``arguments`` converts the rest of the address."""

    address: str
    name: str
    title: str
    description: str
    operation: str
    arguments: Callable[[str], dict[str, Any]] = _nothing
    variable: str = ""
    """The rest of the address in the list of templates; empty if there is none."""

    @property
    def is_there(self) -> bool:
        return self.operation in BY_NAME

    def argument_of(self, uri: str) -> str | None:
        """Return the argument in a URI; None for another resource's URI."""
        if not self.variable:
            return "" if uri == self.address else None
        rest = uri.removeprefix(self.address)
        return unquote(rest) if rest not in (uri, "") else None


READABLE: tuple[Readable, ...] = tuple(
    one
    for one in (
        Readable(
            "mnemos://status",
            "status",
            "What must be kept in mind",
            "The facts that belong into every prompt, within their budget.",
            "memory_status",
        ),
        Readable(
            "mnemos://notebook",
            "notebook",
            "Notes",
            "The notes that belong into every prompt, with how full their files are.",
            "notebook_show",
        ),
        Readable(
            "mnemos://schema",
            "schema",
            "Tables",
            "The tables of the SQL workspace, with columns, row counts and samples.",
            "sqlite_schema",
        ),
        Readable(
            "mnemos://facts",
            "facts",
            "Facts",
            "Every current fact, one per line.",
            "memory_export",
        ),
        Readable(
            "mnemos://sessions",
            "sessions",
            "Recent conversations",
            "The newest conversations, one per line.",
            "sessions_list",
        ),
        Readable(
            "mnemos://sessions/",
            "session",
            "A conversation",
            "A conversation with all its messages; by its id, the beginning of its id, or its title.",
            "sessions_show",
            lambda text: {"session": text},
            variable="id",
        ),
    )
    if one.is_there
)


def list_all() -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=one.address,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=_PLAIN,
            )
            for one in READABLE
            if not one.variable
        ]
    )


def list_templates() -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=f"{one.address}{{{one.variable}}}",
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=_PLAIN,
            )
            for one in READABLE
            if one.variable
        ]
    )


async def read(calls: Calls, uri: str, session_id: str) -> types.ReadResourceResult:
    """Return the text of a resource. Failures raise the protocol's error."""
    for one in READABLE:
        argument = one.argument_of(uri)
        if argument is not None:
            result = await run_operation(calls, one.operation, one.arguments(argument), session_id)
            return types.ReadResourceResult(
                contents=[types.TextResourceContents(uri=uri, mime_type=_PLAIN, text=result["text"])]
            )
    known = ", ".join(one.address + (f"{{{one.variable}}}" if one.variable else "") for one in READABLE)
    raise MCPError(types.INVALID_PARAMS, f"not_found: there is no resource {uri[:200]!r}; there are {known}")


async def run_operation(
    calls: Calls, operation: str, arguments: dict[str, Any], session_id: str
) -> dict[str, Any]:
    """Return an operation's result, raising the protocol's error if it fails."""
    try:
        return await calls.run(operation, arguments, session_id)
    except MnemosError as exc:
        asked_wrongly = isinstance(exc, InvalidInput | NotFound)
        code = types.INVALID_PARAMS if asked_wrongly else types.INTERNAL_ERROR
        raise MCPError(code, join_items([f"{exc.code}: {exc}"])) from exc
