"""``mnemos mcp``, ``serve`` and ``ui``: over a pipe, over HTTP, in a browser."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from mnemos.errors import InvalidInput, Unavailable, how_to_install
from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import is_terminal
from mnemos.settings import Settings

if TYPE_CHECKING:
    from mnemos.faces.http.address import Address, Exposure

PORT = 8765

_tools = click.option(
    "--tools",
    default="default",
    show_default=True,
    metavar="SETS",
    help="MCP tools to offer: sets or names, separated by commas, or all.",
)


def _where() -> list[click.Parameter]:
    return [option for option in common_options() if option.name in ("home", "space")]


@click.command(cls=HelpedCommand, params=_where(), example="mcp --tools default,workspace")
@_tools
@click.pass_obj
def mcp(chosen: Chosen, tools: str) -> None:
    """Serve the memory to an MCP client, which starts this command itself."""
    if is_terminal(sys.stdin):
        click.echo("Waiting for an MCP client on standard input; press Ctrl-C to stop.", err=True)
    _import_sdk()
    from mnemos.faces.mcp import launch

    with chosen.memory() as memory:
        launch.over_pipe(memory, tools)


@click.command(cls=HelpedCommand, params=_where(), example="serve --mcp --port 8765")
@click.option("--mcp", "wants_mcp", is_flag=True, help="Also serve MCP clients, at /mcp.")
@click.option("--ui", "wants_page", is_flag=True, help="Also serve the web page.")
@_tools
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0: any port.")
@click.option(
    "--allowed-host",
    multiple=True,
    metavar="HOST",
    help="Also answer requests for this host, such as memory.example.com.",
)
@click.option("--tls-cert", "certificate", metavar="FILE", help="Certificate chain, for HTTPS.")
@click.option("--tls-key", "key", metavar="FILE", help="Key of the certificate.")
@click.option("--behind-proxy", is_flag=True, help="Listen without TLS, behind a proxy that handles it.")
@click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Number of processes."
)
@click.pass_obj
def serve(
    chosen: Chosen,
    /,
    tools: str,
    host: str,
    port: int,
    workers: int,
    wants_mcp: bool,  # noqa: FBT001
    wants_page: bool,  # noqa: FBT001
    allowed_host: tuple[str, ...],
    **exposed: Any,
) -> None:
    """Serve the memory over HTTP, every operation at /v1/NAME. Clients need a token: `mnemos tokens`."""
    _check_server()
    if tools != "default" and not wants_mcp:
        raise InvalidInput("--tools chooses MCP tools. Add --mcp, or omit --tools.")
    from mnemos.faces.http.address import Address, Exposure

    exposure = Exposure(allowed_host, **exposed)
    exposure.check_files()
    address = Address.make(host, port)
    exposure.check_address(address, Settings.load(chosen.home, space=chosen.space))
    show = _print_link if wants_page else None
    _serve(chosen, address, tools if wants_mcp else None, exposure, show, workers=workers)


@click.command(cls=HelpedCommand, params=_where(), example="ui --no-open")
@click.option("--port", type=click.IntRange(0, 65535), help=f"Default: {PORT}, or any free port.")
@click.option("--no-open", "is_quiet", is_flag=True, help="Only print the link")
@click.pass_obj
def ui(chosen: Chosen, port: int | None, is_quiet: bool) -> None:  # noqa: FBT001
    """Look at the memory in a browser: ask it, see why, correct and forget."""
    _check_server()
    from mnemos.faces.http.address import Address, Exposure
    from mnemos.faces.http.launch import make_link
    from mnemos.faces.http.page_address import find_running

    show = _print_link if is_quiet else _open_link
    settings = Settings.load(chosen.home, space=chosen.space)
    running = find_running(settings.home) if port is None else None
    if running is not None:
        show(make_link(settings, running))
        return
    address = Address("127.0.0.1", PORT if port is None else port)
    _serve(chosen, address, None, Exposure(), show, or_any=port is None)


def _print_link(link: str) -> None:
    click.echo(f"Open this link within 5 minutes. It works once:\n{link}")


def _open_link(link: str) -> None:
    _print_link(link)
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        # Without a display, the only browser would be one that takes over this terminal.
        return
    import webbrowser

    webbrowser.open(link)


def _serve(
    chosen: Chosen,
    address: Address,
    tools: str | None,
    exposure: Exposure,
    show: Callable[[str], None] | None,
    *,
    or_any: bool = False,
    workers: int = 1,
) -> None:
    """Serve at an address; with ``or_any``, on a free port if this one is taken."""
    if tools is not None:
        _import_sdk()
    from mnemos.faces.http import launch

    try:
        taken = address.listen()
    except Unavailable:
        if not or_any:
            raise
        taken = replace(address, port=0).listen()
    # Clients run in other folders, so the current folder is not the project.
    with taken as listening, chosen.memory(is_local=False) as memory:
        launch.serve(memory, listening, tools=tools, exposure=exposure, show=show, workers=workers)


def _check_server() -> None:
    # uvicorn is only installed with the MCP SDK.
    if find_spec("uvicorn") is None or find_spec("httptools") is None:
        raise Unavailable(f"The HTTP server is not installed. {how_to_install('server')}")


def _import_sdk() -> None:
    if find_spec("mcp_types") is None:
        # Imported here, because it loads all clients, and is only needed if the SDK is missing.
        from mnemos.operations.connect import MISSING_SDK

        raise Unavailable(MISSING_SDK)
    # The SDK takes more than half a second to import, and creates very many permanent objects. Scanning
    # them again and again would take a tenth of that time, and pauses later.
    gc.disable()
    import mnemos.faces.mcp.server  # noqa: F401

    gc.freeze()
    gc.enable()
