"""``mnemos watch``: record agent programs by reading their files as they grow."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mnemos.errors import InvalidInput, NotFound, Unavailable
from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import in_json, plain
from mnemos.integrations.watch import poller
from mnemos.integrations.watch.watch_lock import RunningWatch, find_running, take_lock
from mnemos.settings import Settings
from mnemos.transfer import agent_places

if TYPE_CHECKING:
    from mnemos.integrations.clients.machine import Machine
    from mnemos.integrations.watch.service import Service

_PROGRAMS = click.Choice(agent_places.KINDS)


@click.command(
    cls=HelpedCommand,
    params=common_options(),
    arguments=[("PROGRAM", "Programs to watch; default: all")],
    example="watch codex gemini",
)
@click.argument("programs", type=_PROGRAMS, nargs=-1, metavar="[PROGRAM]...")
@click.pass_obj
def run(chosen: Chosen, programs: tuple[str, ...]) -> None:
    """Import what agent programs write, as they write it, until Ctrl-C.

    Starts with what they have written so far. Only one runs per space, and it can be killed at any time.
    """
    settings = Settings.load(chosen.home, space=chosen.space)
    if settings.disabled:
        raise InvalidInput("Memory is disabled (MNEMOS_DISABLED is set), so nothing would be recorded.")
    kinds = programs or agent_places.KINDS
    places = [
        (kind, str(path), agent_places.ONLY.get(kind, ""))
        for kind in kinds
        for path in agent_places.find_default_places(kind, settings)
    ]
    watch = RunningWatch(os.getpid(), time.time(), settings.space, tuple(kinds))
    # Held until the process ends, even after it becomes the poller.
    take_lock(settings.home, watch)
    module = "mnemos.integrations.watch"
    command = [sys.executable, "-P", "-m", f"{module}.importer", str(settings.home), settings.space]
    click.echo(f"Watching {', '.join(programs) or 'all programs'}; press Ctrl-C to stop.", err=True)
    task = json.dumps({"places": places, "command": command})
    # Replace this process, which has loaded more than the poller needs.
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", poller.__name__, task])  # noqa: S606 - ourselves


@click.command(cls=HelpedCommand, params=common_options(), example="watch status")
@click.pass_obj
def status(chosen: Chosen) -> None:
    """Show whether the watch is running, and what is recorded."""
    # Imported here, because it opens the memory, which the other commands don't.
    from mnemos.faces.cli.greeting import list_agents

    settings = Settings.load(chosen.home, space=chosen.space)
    running = find_running(settings.home, settings.space)
    is_installed, at_login = _describe_service(settings)
    with chosen.memory() as memory:
        agents = list_agents(memory)
    if chosen.json:
        click.echo(
            in_json(
                {
                    "running": None if running is None else asdict(running),
                    "installed": is_installed,
                    "agents": [asdict(one) for one in agents],
                }
            )
        )
        return
    since = "" if running is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(running.since))
    state = f"running since {since} (process {running.pid})" if running else "not running"
    lines = [f"watch   {state}", f"service {at_login}", *(one.as_text() for one in agents)]
    click.echo(plain("\n".join(lines)))


@click.command(
    cls=HelpedCommand,
    params=common_options(),
    arguments=[("PROGRAM", "Programs to watch; default: all")],
    example="watch install --print",
)
@click.argument("programs", type=_PROGRAMS, nargs=-1, metavar="[PROGRAM]...")
@click.option("--print", "only_show", is_flag=True, help="Only show what would be written.")
@click.pass_obj
def install(chosen: Chosen, programs: tuple[str, ...], only_show: bool) -> int:  # noqa: FBT001
    """Start the watch now and at every login: a systemd user unit or a launchd agent.

    Variables that move the folders of programs, such as CODEX_HOME, are kept as they are now.
    """
    service, machine = _plan(Settings.load(chosen.home, space=chosen.space), programs)
    if only_show:
        click.echo(plain(f"{service.path}\n\n{service.content.decode()}"))
        return 0
    problems = service.install(machine)
    click.echo(plain("\n".join([f"Wrote {machine.shorten(service.path)}.", *problems])))
    if problems:
        click.echo(
            "mnemos: The watch was not started. Run these commands, or `mnemos watch` itself.", err=True
        )
        return 1
    click.echo("The watch is running. `mnemos watch uninstall` stops it.")
    return 0


@click.command(cls=HelpedCommand, params=common_options(), example="watch uninstall")
@click.pass_obj
def uninstall(chosen: Chosen) -> None:
    """Stop the watch and no longer start it at login. The memory is kept."""
    service, machine = _plan(Settings.load(chosen.home, space=chosen.space))
    if not service.is_installed():
        raise NotFound(f"The watch service is not installed: {service.path} does not exist.")
    problems = service.uninstall(machine)
    click.echo(plain("\n".join([f"Deleted {machine.shorten(service.path)}.", *problems])))


def _describe_service(settings: Settings) -> tuple[bool, str]:
    try:
        service, _ = _plan(settings)
    except Unavailable as exc:
        return False, str(exc)
    if service.is_installed():
        return True, "starts at every login"
    return False, "not installed; `mnemos watch install` starts it at every login"


def _plan(settings: Settings, programs: tuple[str, ...] = ()) -> tuple[Service, Machine]:
    # The watch itself does not need these imports.
    from mnemos.integrations.clients.machine import Machine, build_launch, find_own_program
    from mnemos.integrations.watch.service import plan_service

    here = Machine.of(os.environ, sys.platform)
    program = find_own_program(sys.argv, sys.executable, sys.platform)
    return plan_service(here, build_launch(here, program, settings.home, settings.space), programs), here


COMMANDS = (run, status, install, uninstall)
