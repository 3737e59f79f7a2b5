"""A command at a real terminal: a pseudo-terminal with somebody typing."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = (sys.executable, "-c", "from mnemos.faces.cli import main; main()")


@dataclass(frozen=True, slots=True)
class Seen:
    code: int
    screen: str


def at_a_terminal(
    *arguments: str, home: Path, typed: str = "", kind: str = "xterm-256color", **more: str
) -> Seen:
    """Run a command whose three streams are a terminal; all that appeared on it, echo included.

    ``more``: further variables of its environment.
    """
    master, slave = pty.openpty()
    environment = {**os.environ, "MNEMOS_HOME": str(home), "TERM": kind, "COLUMNS": "100"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    environment |= {"MNEMOS_PAGER": "cat"} | more
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(slave)
        os.write(master, typed.encode())
        screen = b"".join(_pieces(master))
        code = process.wait()
    os.close(master)
    return Seen(code, screen.decode().replace("\r\n", "\n"))


def _pieces(terminal: int) -> list[bytes]:
    pieces = []
    try:
        while piece := os.read(terminal, 65536):
            pieces.append(piece)
    except OSError:
        pass  # Linux says EIO when the last program has left the terminal
    return pieces
