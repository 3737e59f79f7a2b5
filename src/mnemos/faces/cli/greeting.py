"""What ``mnemos`` alone says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mnemos import __version__

if TYPE_CHECKING:
    from mnemos.faces.cli.commands import Chosen


def greet(chosen: Chosen) -> None:
    """Where the home is, what is in it, and the next three useful commands."""
    with chosen.memory() as memory:
        click.echo(f"Mnemos {__version__}: the memory of an LLM agent.\n")
        click.echo(f"home    {memory.settings.home}")
        click.echo(f"space   {memory.settings.space}")
        if not memory.database.exists():
            click.echo("memory  empty: nothing has been recorded yet\n")
            _suggest(
                ("mnemos demo", "see it at work on a throw-away home"),
                ("mnemos sessions import FILE", "bring conversations in (JSON lines)"),
                ("mnemos --help", "all commands"),
            )
            return
        sessions, messages = memory.sessions.session_count(archived=None), memory.sessions.message_count()
        click.echo(f"memory  {sessions:,} sessions, {messages:,} messages\n")
        _suggest(
            ('mnemos sessions search "WORDS"', "find what was said"),
            ("mnemos sessions list", "the newest conversations"),
            ("mnemos doctor", "check that all is well"),
        )


def _suggest(*commands: tuple[str, str]) -> None:
    click.echo("Next:")
    for command, what in commands:
        click.echo(f"  {command:34} {what}")
