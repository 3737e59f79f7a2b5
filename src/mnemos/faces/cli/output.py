"""Answers on the screen: JSON when asked for, drawn on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mnemos.operations.base import Operation, Progress, Result, builtins
from mnemos.operations.upkeep import Examined

if TYPE_CHECKING:
    from mnemos.memory import Memory

_DISABLED = "Memory is disabled (MNEMOS_DISABLED): nothing was done."


def show(memory: Memory, name: str, request: Operation, *, as_json: bool) -> int:
    """Run a request and show its result; the exit code."""
    if memory.settings.disabled and not request.traits.read_only:
        click.echo(
            msgspec.json.encode({"disabled": True, "text": _DISABLED}).decode() if as_json else _DISABLED
        )
        return 0
    with Bar(name, visible=not as_json and sys.stderr.isatty()) as bar:
        result = request.run(memory, bar.move)
    if as_json:
        plain = builtins(result)
        plain.pop("text")
        click.echo(msgspec.json.encode(plain).decode())
    elif sys.stdout.isatty():
        # rich costs 50 ms to import: only for people at a terminal.
        from mnemos.faces.cli.drawing import draw

        draw(result)
    else:
        click.echo(result.as_text())
    return _exit_code(result)


def _exit_code(result: Result) -> int:
    return 1 if isinstance(result, Examined) and not result.healthy else 0


class Bar:
    """A progress bar that appears when something takes longer than a second."""

    def __init__(self, label: str, *, visible: bool) -> None:
        self._label = label
        self._visible = visible
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def move(self) -> Progress:
        return self._move

    def _move(self, share: float) -> None:
        if not self._visible:
            return
        if self._bar is None:
            if time.monotonic() - self._started < 1.0:
                return
            self._begin()
        self._bar.update(self._task, completed=share)

    def _begin(self) -> None:
        # rich: only when there is something to draw.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(show_speed=True),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._label, total=1.0)
        self._bar.start()
