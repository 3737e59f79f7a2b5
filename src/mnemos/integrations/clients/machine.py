"""The machine: settings folders, programs, and the command that starts Mnemos."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput
from mnemos.transfer.agent_places import Folders

NAME: Final = "mnemos"
CLAUDE_CODE: Final = "claude-code"
_DEFAULT_HOME: Final = ".mnemos"
_DEFAULT_SPACE: Final = "default"
_COMMAND_SECONDS: Final = 30.0
_LONGEST_PROBLEM: Final = 200


@dataclass(frozen=True, slots=True)
class Machine(Folders):
    """A person's machine: folders, and programs to run."""

    @classmethod
    def of(cls, env: Mapping[str, str], platform: str) -> Machine:
        home = env.get("USERPROFILE" if platform == "win32" else "HOME", "").strip()
        try:
            return cls(env, platform, Path(home) if home else Path.home())
        except RuntimeError as exc:
            raise InvalidInput(f"Your home folder is unknown ({exc}). Set HOME.") from exc

    def shorten(self, path: Path) -> str:
        """Return a path with ~ for the user's folder."""
        return f"~/{path.relative_to(self.home).as_posix()}" if path.is_relative_to(self.home) else str(path)

    def find_program(self, name: str) -> str | None:
        return shutil.which(name, path=self.env.get("PATH", ""))

    def run(self, program: str, arguments: Sequence[str]) -> str:
        """Run a program. Returns the problem, or an empty string if it succeeded."""
        path = self.find_program(program)
        if path is None:
            return f"{program} was not found"
        try:
            done = subprocess.run(  # noqa: S603 - a client's own command, with our arguments
                [path, *arguments],
                env=dict(self.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_COMMAND_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {_COMMAND_SECONDS:g} seconds"
        except OSError as exc:
            return exc.strerror or str(exc)
        if done.returncode == 0:
            return ""
        output = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        return output[:_LONGEST_PROBLEM] or f"exit status {done.returncode}"


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that starts Mnemos on a memory."""

    program: tuple[str, ...]
    options: tuple[str, ...]
    platform: str

    def server_entry(self) -> dict[str, object]:
        """Return the MCP server as clients write it in their settings."""
        command, *args = self.server_command()
        return {"command": command, "args": args}

    def server_command(self) -> list[str]:
        return [*self.program, "mcp", *self.options]

    def hook_words(self, event: str, agent: str) -> list[str]:
        """Return the command of a hook."""
        named = [] if agent == CLAUDE_CODE else ["--agent", agent]
        return [*self.program, "hook", event, *named, *self.options]

    def hook_command(self, event: str, agent: str) -> str:
        """Return the command of a hook as a shell reads it."""
        words = self.hook_words(event, agent)
        return subprocess.list2cmdline(words) if self.platform == "win32" else shlex.join(words)


def find_own_program(arguments: Sequence[str], executable: str, platform: str) -> tuple[str, ...]:
    """Return the full path of the running Mnemos, as other programs' PATH may differ.

    A symbolic link to it, as installers make, is not resolved, because the link survives an upgrade.
    """
    suffix = ".exe" if platform == "win32" else ""
    running = Path(arguments[0]) if arguments and arguments[0] else Path()
    beside = Path(executable).absolute().with_name(NAME + suffix) if executable else None
    for program in (running, beside):
        if program is not None and program.name == NAME + suffix and program.is_file():
            return (str(program.absolute()),)
    # -P: don't import a file called mnemos.py from an agent's folder.
    return (executable, "-P", "-m", NAME) if executable else (NAME,)


def build_launch(machine: Machine, program: tuple[str, ...], home: Path, space: str) -> Launch:
    """Build the command for a home and a space, leaving out defaults."""
    options: list[str] = []
    if home != machine.home / _DEFAULT_HOME:
        options += ["--home", str(home)]
    if space != _DEFAULT_SPACE:
        options += ["--space", space]
    return Launch(program, tuple(options), machine.platform)
