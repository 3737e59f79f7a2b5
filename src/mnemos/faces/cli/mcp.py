"""``mnemos mcp`` and ``mnemos serve``: the memory for clients of the Model Context Protocol."""

from __future__ import annotations

import gc
import sys
from importlib.util import find_spec

import click

from mnemos.errors import Unavailable
from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import is_terminal

PORT = 8765

_tools = click.option(
    "--tools",
    default="default",
    show_default=True,
    metavar="SETS",
    help="Tools to offer: sets or names, separated by commas, or all.",
)


_no_token = click.option(
    "--no-token",
    is_flag=True,
    help="Over HTTP, don't ask for a token: every user of this machine can read and change the memory.",
)


def _where() -> list[click.Parameter]:
    return [option for option in common_options() if option.name in ("home", "space")]


@click.command(cls=HelpedCommand, params=_where(), example="mcp --tools default,workspace")
@_tools
@click.option("--http", "address", metavar="HOST:PORT", help="Over HTTP on this machine instead of a pipe.")
@_no_token
@click.pass_obj
def mcp(chosen: Chosen, tools: str, address: str | None, no_token: bool) -> None:  # noqa: FBT001
    """Serve the memory to an MCP client, which starts this command itself."""
    if address is None and is_terminal(sys.stdin):
        click.echo("Waiting for an MCP client on standard input; Ctrl-C ends.", err=True)
    _run(chosen, tools, address, asks_for_token=not no_token)


@click.command(cls=HelpedCommand, params=_where(), example="serve --mcp --port 8765")
@click.option(
    "--mcp", "wants_mcp", is_flag=True, help="For MCP clients, at /mcp. Nothing else is served yet."
)
@_tools
@click.option("--host", default="127.0.0.1", show_default=True, help="A loopback address.")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0: any.")
@_no_token
@click.pass_obj
def serve(
    chosen: Chosen,
    tools: str,
    host: str,
    port: int,
    wants_mcp: bool,  # noqa: FBT001
    no_token: bool,  # noqa: FBT001
) -> None:
    """Serve the memory over HTTP to clients on this machine."""
    if not wants_mcp:
        raise click.UsageError("Nothing to serve. Add --mcp.")
    _run(chosen, tools, f"[{host}]:{port}", asks_for_token=not no_token)


def _run(chosen: Chosen, tools: str, address: str | None, *, asks_for_token: bool) -> None:
    if find_spec("mcp_types") is None:
        # Imports all clients: only if the SDK is missing.
        from mnemos.operations.connect import MISSING_SDK

        raise Unavailable(MISSING_SDK)
    # The SDK takes more than half a second to import, and makes very many things that stay. Going through
    # them again and again would take a tenth of that time, and pauses later.
    gc.disable()
    from mnemos.faces.mcp import launch

    gc.freeze()
    gc.enable()
    # Over HTTP, clients work elsewhere.
    with chosen.memory(is_local=address is None) as memory:
        if address is None:
            launch.over_pipe(memory, tools)
        else:
            launch.over_http(memory, tools, address, asks_for_token=asks_for_token)
