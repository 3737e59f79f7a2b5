"""Output of commands: JSON on request, drawn at a terminal, plain text in a pipe."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec

from mnemos.errors import InvalidInput, MnemosError, NotFound, Unavailable
from mnemos.faces.cli.help_screens import FORMER
from mnemos.operations import registry
from mnemos.operations.arguments import replace_surrogates
from mnemos.operations.base import Operation, Result, builtins, carry_out
from mnemos.operations.index import ENTRIES
from mnemos.text.stored_text import escape_json, repair_surrogates, reveal

if TYPE_CHECKING:
    from mnemos.memory import Memory


def plain(text: str) -> str:
    """Escape hidden characters, except line breaks and tabs.

    Escape sequences clear screens, rename windows and fill clipboards. Direction marks make a name look like
    another one.
    """
    return reveal(repair_surrogates(text), keep="\n\t")


def is_terminal(stream: TextIO | None) -> bool:
    """True for a terminal, False for a stream that was closed before the start."""
    return stream is not None and stream.isatty()


def show(memory: Memory, request: Operation, *, as_json: bool, most: int = 0) -> int:
    """Run a request and show the first ``most`` parts of its result; return the exit code."""
    if memory.settings.disabled and request.writes():
        answer = registry.answer_disabled()
        click.echo(in_json(answer) if as_json else answer["text"])
        return 0
    if request.traits.stdout and getattr(request, request.traits.stdout) == "-":
        if sys.stdout is None:
            raise InvalidInput("Standard output is closed. Name a file instead of -.")
        write_everything(in_utf8=True)
        request.write_lines(memory, sys.stdout)
        sys.stdout.flush()
        return 0
    with Bar(request.traits.title, visible=not as_json and is_terminal(sys.stderr)) as bar:
        result = carry_out(request, memory, bar)
    say(result.shorten(most) if most else result, as_json=as_json)
    return 0 if result.is_ok else 1


def write_everything(*, in_utf8: bool) -> None:
    """Encode every character: JSON is UTF-8, and text shows ? where the locale lacks one."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8" if in_utf8 else None, errors="replace")


def in_json(value: Any) -> str:
    """Encode a value as JSON that is safe to show at a terminal."""
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # A path may contain bytes that are not UTF-8.
        text = msgspec.json.encode(replace_surrogates(value)).decode()
    return escape_json(text)


def say(result: Result, *, as_json: bool) -> None:
    if as_json:
        answer = builtins(result)
        answer.pop("text")
        click.echo(in_json(answer))
    elif is_terminal(sys.stdout):
        # Imported here, because rich takes 50 ms and is only needed at a terminal.
        from mnemos.faces.cli.drawing import render

        print_pages(render(result))
    else:
        click.echo(replace_surrogates(result.for_person()))


def print_pages(text: str) -> None:
    """Print a text on the terminal, through a pager if it is longer than the screen.

    The pager is $MNEMOS_PAGER, $PAGER or less; an empty one or cat means none.
    """
    pager = os.environ.get("MNEMOS_PAGER", os.environ.get("PAGER", "less")).strip()
    is_short = text.count("\n") < shutil.get_terminal_size().lines
    if is_short or pager in ("", "cat") or not is_terminal(sys.stdin):
        click.echo(text, nl=False, color=True)
        return
    os.environ["PAGER"] = pager
    # Like git, keep colours and don't clear the screen.
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(text.removesuffix("\n"), color=True)


class Bar:
    """A progress bar that appears when something takes longer than a second."""

    def __init__(self, label: str, *, visible: bool) -> None:
        self.label = label
        self._visible = visible
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, share: float, /) -> None:
        if not self._visible:
            return
        if self._bar is None:
            if time.monotonic() - self._started < 1.0:
                return
            self._begin()
        self._bar.update(self._task, completed=share, description=self.label)

    def _begin(self) -> None:
        # Imported here, because rich is only needed when there is something to draw.
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
        self._task = self._bar.add_task(self.label, total=1.0)
        self._bar.start()


def complain(exc: MnemosError) -> None:
    """Print an error for a person, who sees commands where it names tools."""
    commands = {entry.name: f"`mnemos {FORMER.get(entry.command, entry.command)}`" for entry in ENTRIES}
    message = f"{exc} {exc.advice}" if exc.advice else str(exc)
    message = re.sub(r"[Tt]he tool (\w+)", lambda tool: commands.get(tool[1], tool[0]), message)
    click.echo(f"mnemos: {plain(message)}", err=True)


_PAUSE = 2.0


def watch(
    memory: Memory,
    request: Operation,
    *,
    as_json: bool,
    pause: float = _PAUSE,
    ended: threading.Event | None = None,
) -> int:
    """Run a request every few seconds until Ctrl-C and show results with news.

    A request that stores nothing, such as a dry run, is run once.
    """
    ended = ended or threading.Event()
    try:
        outcome = show(memory, request, as_json=as_json)
        if memory.settings.disabled or not request.writes():
            return outcome
        if not as_json:
            click.echo("Watching for changes; press Ctrl-C to stop.", err=True)
        told = ""
        while not ended.wait(pause):
            try:
                result = request.run(memory)
            except (NotFound, Unavailable) as exc:
                # The watched files were moved, another process holds the database, or the disk is full: maybe
                # not for long.
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
