"""A command that goes on: run again whenever there may be more to do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import click

from mnemos.errors import NotFound, Unavailable
from mnemos.faces.cli.output import say, show
from mnemos.faces.cli.plain import plain
from mnemos.operations.base import Operation

if TYPE_CHECKING:
    from mnemos.memory import Memory

_PAUSE = 2.0


def watch(
    memory: Memory,
    name: str,
    request: Operation,
    *,
    as_json: bool,
    pause: float = _PAUSE,
    ended: threading.Event | None = None,
) -> int:
    """Run a request, and again every few seconds until Ctrl-C; shown when there was something to do.

    One that stores nothing, as a rehearsal or where memory is disabled, is run once.
    """
    ended = ended or threading.Event()
    try:
        outcome = show(memory, name, request, as_json=as_json)
        if memory.settings.disabled or not request.writes():
            return outcome
        if not as_json:
            click.echo("Watching for more; Ctrl-C ends.", err=True)
        told = ""
        while not ended.wait(pause):
            try:
                result = request.run(memory)
            except (NotFound, Unavailable) as exc:
                # What is watched was moved, somebody holds the database, or the disk is full: perhaps not
                # for long.
                if str(exc) != told:
                    told = str(exc)
                    click.echo(f"mnemos: {plain(told)}", err=True)
                continue
            told = ""
            if result.has_news:
                say(result, as_json=as_json)
    except KeyboardInterrupt:
        return 0
    return outcome
