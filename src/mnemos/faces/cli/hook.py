"""``mnemos hook``: for people who look at it. Claude Code's own calls take a shorter way past click."""

from __future__ import annotations

import sys

import click

from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.integrations.claude_code import events
from mnemos.integrations.claude_code.hook_process import Call, run


@click.command(params=[option for option in common_options() if option.name in ("home", "space")])
@click.argument("event", type=click.Choice(events.NAMES))
@click.pass_obj
def hook(chosen: Chosen, event: str) -> None:
    """Record and recall for Claude Code, which runs this itself.

    Reads what happened as JSON from standard input. Whatever fails, it ends with 0 and prints nothing; see
    logs/hooks.log in the home.
    """
    run(Call(event, chosen.home, chosen.space), sys.stdin.fileno(), sys.stdout)
