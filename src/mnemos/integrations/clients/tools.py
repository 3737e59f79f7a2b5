"""The command by which a client changes its own settings."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemos.integrations.clients.places import Surroundings

_SECONDS: Final = 30.0
_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Tool:
    """What is typed to add our server and to remove it."""

    program: str
    add: tuple[str, ...]
    remove: tuple[str, ...]

    def line(self, arguments: Sequence[str]) -> str:
        """The command as a person reads it."""
        return shlex.join((self.program, *arguments))

    def run(self, surroundings: Surroundings, arguments: Sequence[str]) -> str:
        """Run it; empty when it says that it worked, else what went wrong."""
        program = surroundings.program(self.program)
        if program is None:
            return f"there is no command {self.program}"
        try:
            done = subprocess.run(  # noqa: S603
                [program, *arguments],
                env=dict(surroundings.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {_SECONDS:g} seconds"
        except OSError as exc:
            return exc.strerror or str(exc)
        if done.returncode == 0:
            return ""
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        return said[:_MOST] or f"it ended with {done.returncode}"
