"""Where things are on this machine: folders of settings, programs, and the command that starts Mnemos."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput

NAME: Final = "mnemos"
_DEFAULT_HOME: Final = ".mnemos"
_DEFAULT_SPACE: Final = "default"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine as a program sees it."""

    env: Mapping[str, str]
    platform: str
    """As ``sys.platform`` says it."""
    home: Path
    """The folder of the person."""

    @classmethod
    def of(cls, env: Mapping[str, str], platform: str) -> Surroundings:
        named = env.get("USERPROFILE" if platform == "win32" else "HOME", "").strip()
        try:
            return cls(env, platform, Path(named) if named else Path.home())
        except RuntimeError as exc:
            raise InvalidInput(f"there is no folder of settings: {exc}; set HOME") from exc

    def app_folder(self, name: str) -> Path:
        """Where a desktop program keeps its settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        if self.platform == "win32":
            return Path(self.env.get("APPDATA") or self.home / "AppData" / "Roaming") / name
        return Path(self.env.get("XDG_CONFIG_HOME") or self.home / ".config") / name

    def folder(self, variable: str, default: str) -> Path:
        """The folder that a variable names, or the one of that name in the folder of the person."""
        named = self.env.get(variable, "").strip()
        return Path(named).expanduser().absolute() if named else self.home / default

    def program(self, name: str) -> str | None:
        """Where a program is; None when a shell would not find it."""
        return shutil.which(name, path=self.env.get("PATH", ""))


@dataclass(frozen=True, slots=True)
class Starting:
    """How Mnemos is started from anywhere, on a certain memory."""

    program: tuple[str, ...]
    options: tuple[str, ...]
    platform: str

    def entry(self) -> dict[str, object]:
        """The server as clients name it."""
        return {"command": self.program[0], "args": [*self.program[1:], "mcp", *self.options]}

    def words(self) -> list[str]:
        """The server as a command line."""
        return [*self.program, "mcp", *self.options]

    def hook(self, event: str) -> str:
        """What a shell runs at an event."""
        words = [*self.program, "hook", event, *self.options]
        return subprocess.list2cmdline(words) if self.platform == "win32" else shlex.join(words)


def program_of(arguments: Sequence[str], executable: str, platform: str) -> tuple[str, ...]:
    """The running Mnemos as other programs can start it, which know another PATH: by its whole path.

    A link, as installers of commands make, stays one: it outlives an upgrade.
    """
    suffix = ".exe" if platform == "win32" else ""
    running = Path(arguments[0]) if arguments and arguments[0] else Path()
    beside = Path(executable).absolute().with_name(NAME + suffix) if executable else None
    for program in (running, beside):
        if program is not None and program.name == NAME + suffix and program.is_file():
            return (str(program.absolute()),)
    # -P: a file of that name where an agent works is not ours.
    return (executable, "-P", "-m", NAME) if executable else (NAME,)


def starting(surroundings: Surroundings, program: tuple[str, ...], home: Path, space: str) -> Starting:
    """How the memory in that home and space is started; what is the default is left out."""
    options: list[str] = []
    if home != surroundings.home / _DEFAULT_HOME:
        options += ["--home", str(home)]
    if space != _DEFAULT_SPACE:
        options += ["--space", space]
    return Starting(program, tuple(options), surroundings.platform)
