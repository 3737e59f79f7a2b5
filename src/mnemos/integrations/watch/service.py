"""The watch as a user service, started at login: systemd unit or launchd agent."""

from __future__ import annotations

import os
import plistlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from mnemos.errors import Unavailable
from mnemos.files import replace
from mnemos.integrations.clients.machine import Launch, Machine
from mnemos.transfer import agent_places

_NAME: Final = "mnemos-watch"
_LABEL: Final = "dev.mnemos.watch"

_UNIT: Final = """[Unit]
Description=Mnemos: record what agent programs write

[Service]
{environment}ExecStart={command}
Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class Service:
    """A file that makes the system start the watch, and the commands to apply it."""

    path: Path
    content: bytes
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]

    def is_installed(self) -> bool:
        return self.path.is_file()

    def install(self, machine: Machine) -> list[str]:
        """Write the file and start the service. Returns failed commands and the reason."""
        if self.is_installed():
            # launchd refuses to load a service twice.
            _run_all(machine, self.stop)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace(self.path, self.content)
        return _run_all(machine, self.start)

    def uninstall(self, machine: Machine) -> list[str]:
        """Stop the service and delete its file."""
        problems = _run_all(machine, self.stop)
        self.path.unlink(missing_ok=True)
        return problems


def plan_service(machine: Machine, launch: Launch, programs: Sequence[str] = ()) -> Service:
    """Return the service that watches some or all programs for a memory.

    It finds their folders as this process does, with the same variables. Raises Unavailable on a system
    without user services.
    """
    command = [*launch.program, "watch", "run", *programs, *launch.options]
    variables = {name: machine.env[name] for name in agent_places.VARIABLES if machine.env.get(name)}
    # Each memory has its own service.
    suffix = f"-{blake2b(repr(launch.options).encode(), digest_size=4).hexdigest()}" if launch.options else ""
    if machine.platform == "darwin":
        return _plan_launchd(machine, command, variables, f"{_LABEL}{suffix}")
    if machine.platform.startswith("linux"):
        return _plan_systemd(machine, command, variables, f"{_NAME}{suffix}.service")
    raise Unavailable(
        "This system has neither systemd nor launchd. Start `mnemos watch` at login in another way."
    )


def _plan_systemd(machine: Machine, command: list[str], variables: Mapping[str, str], unit: str) -> Service:
    folder = machine.app("systemd") / "user"
    # systemd specifiers begin with a percent sign.
    line = shlex.join(command).replace("%", "%%")
    environment = "".join(f"Environment={_quote(f'{name}={variables[name]}')}\n" for name in variables)
    manage = ("systemctl", "--user")
    return Service(
        folder / unit,
        _UNIT.format(command=line, environment=environment).encode(),
        ((*manage, "daemon-reload"), (*manage, "enable", "--now", unit)),
        ((*manage, "disable", "--now", unit),),
    )


def _quote(text: str) -> str:
    """Quote a value of a unit file."""
    for special, escaped in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n")):
        text = text.replace(special, escaped)
    return f'"{text}"'


def _plan_launchd(machine: Machine, command: list[str], variables: Mapping[str, str], label: str) -> Service:
    path = machine.home / "Library" / "LaunchAgents" / f"{label}.plist"
    agent = {
        "Label": label,
        "ProgramArguments": command,
        **({"EnvironmentVariables": dict(variables)} if variables else {}),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    domain = f"gui/{os.getuid()}"
    return Service(
        path,
        plistlib.dumps(agent),
        (("launchctl", "bootstrap", domain, str(path)),),
        (("launchctl", "bootout", f"{domain}/{label}"),),
    )


def _run_all(machine: Machine, commands: tuple[tuple[str, ...], ...]) -> list[str]:
    """Run commands until one fails. Returns it and the rest, for a person to run."""
    for number, (program, *arguments) in enumerate(commands):
        problem = machine.run(program, arguments)
        if problem:
            left = [shlex.join(command) for command in commands[number:]]
            return [f"`{left[0]}` failed: {problem}", *(f"`{command}` was not run." for command in left[1:])]
    return []
