"""Operations that connect other programs to a memory."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace as altered
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import MnemosError, NotFound
from mnemos.hermes_folder import hermes_home
from mnemos.integrations.clients import client_connection as connection
from mnemos.integrations.clients import machine
from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.integrations.clients.client_connection import Plan, Request
from mnemos.integrations.clients.settings_files import Records
from mnemos.integrations.hermes import host, plugin
from mnemos.operations.arguments import path_of
from mnemos.operations.base import Info, Operation, Question, Result, Traits, check_confirmed, confirmation

if TYPE_CHECKING:
    from mnemos.memory import Memory

_HERMES = "hermes"
_VERBS = {"write": "wrote", "change": "changed", "remove": "removed"}

Undo = Annotated[bool, Meta(description="Disconnect again; the memory is kept")]
Print = Annotated[bool, Meta(description="Only show what would be changed")]


def _traits(title: str) -> Traits:
    return Traits(title=title, idempotent=True, local=True, begins=True, asks=True, example="--print")


class ConnectHermes(Operation, frozen=True, kw_only=True):
    """Connect Hermes Agent to this memory. Installs a plug-in in its home and selects it, unless another
    memory provider is selected. Hermes imports what it already knows when it starts next."""

    traits: ClassVar[Traits] = _traits("Connect Hermes Agent")

    hermes_home: Annotated[
        str | None, Meta(description="Home of Hermes; default: $HERMES_HOME or ~/.hermes")
    ] = None
    undo: Undo = False
    print: Print = False

    def writes(self) -> bool:
        return not self.print

    def run(self, memory: Memory) -> HermesConnected:
        hermes = self._find_hermes()
        settings = memory.settings
        own = host.Place(settings.home, settings.space)
        if own.space == host.DEFAULT_SPACE:
            own = host.Place(own.home, host.profile(hermes) or own.space)
        records = Records(settings.home, _HERMES)
        with nullcontext() if self.print else records.lock():
            steps = plugin.plan_disconnect(hermes, records) if self.undo else plugin.plan_connect(hermes, own)
            if not self.print:
                plugin.carry_out(steps, hermes, records, undo=self.undo)
        return HermesConnected(
            hermes_home=str(hermes),
            home=str(own.home),
            space=own.space,
            connected=plugin.is_installed(hermes),
            changes=[step.summary for step in steps],
            done=not self.print,
            files={str(step.path): step.text for step in steps if self.print and step.text is not None},
            remarks=[] if self.undo else plugin.find_remarks(hermes),
        )

    def _find_hermes(self) -> Path:
        if self.hermes_home is not None:
            path_of(self.hermes_home, "hermes_home")
        hermes = hermes_home(self.hermes_home)
        if not hermes.is_dir():
            raise NotFound(
                f"There is no Hermes in {hermes}. Run it once, or name its home with --hermes-home."
            )
        return hermes


class HermesConnected(Result, frozen=True, kw_only=True):
    hermes_home: str
    home: str
    space: str
    connected: bool
    changes: list[str]
    done: bool
    files: dict[str, str]
    remarks: list[str]

    def as_text(self) -> str:
        if not self.done:
            files = [f"--- {path}\n{text}" for path, text in self.files.items()]
            changes = [f"would {change}" for change in self.changes]
            return "\n".join([*changes, *files]) or "Nothing to change."
        state = "Connected" if self.changes else "Already connected"
        head = (
            f"{state}: the Hermes in {self.hermes_home} uses the memory in {self.home}, space {self.space}."
            if self.connected
            else f"The Hermes in {self.hermes_home} is not connected. The memory in {self.home} is kept."
        )
        return "\n".join([head, *(f"  {change}" for change in self.changes), *self._next()])

    def _next(self) -> list[str]:
        restart = "Start a new session of Hermes and restart its gateway. `hermes memory status` shows it."
        return [*self.remarks, restart] if self.connected else []


class _ConnectClient(Operation, frozen=True, kw_only=True):
    """Connect a client of MCP."""

    client: ClassVar[str]
    """Its key in the catalogue."""

    undo: Undo = False
    print: Print = False

    def writes(self) -> bool:
        return not self.print

    def run(self, memory: Memory) -> ClientConnected:
        request, here = self.request(memory), machine.Machine.of(os.environ, sys.platform)
        done = connection.plan(request, here) if self.print else connection.carry_out(request, here)
        return ClientConnected(
            client=self.client,
            name=request.client.name,
            home=str(request.home),
            space=request.space,
            connected=connection.is_connected(request, here),
            done=not self.print,
            undo=self.undo,
            changes=_describe_changes(done),
            command=done.command_line(request),
            backups=[] if self.print or self.undo else connection.find_backups(request, done.changes),
            remarks=[*done.remarks, *([] if self.undo else check_sdk())],
            afterwards=self.next_step(),
            take_away=shlex.join(
                (
                    "mnemos",
                    "connect",
                    self.client,
                    *self.settings_options(),
                    "--undo",
                    *request.launch.options,
                )
            ),
        )

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.print or memory.settings.disabled:
            return ()
        request = self.request(memory)
        plan = connection.plan(request, machine.Machine.of(os.environ, sys.platform))
        if not plan.changes:
            return ()
        verb = "Disconnecting" if self.undo else "Connecting"
        return [confirmation(f"{verb} {request.client.name} would\n{_render_plan(plan, request)}\nContinue?")]

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        check_confirmed(answers)
        return self

    def request(self, memory: Memory) -> Request:
        return _build_request(memory, self.client, undo=self.undo, config=self.config_path())

    def config_path(self) -> Path | None:
        config: str | None = getattr(self, "config", None)
        return None if config is None else path_of(config, "config")

    def settings_options(self) -> tuple[str, ...]:
        """Return the options that select settings other than the default ones."""
        config = self.config_path()
        return () if config is None else ("--config", str(config))

    def next_step(self) -> str:
        return CLIENTS[self.client].afterwards


class SettingsChange(Info, frozen=True, kw_only=True):
    """A changed file: what happens to it, and the lines removed and added."""

    file: str
    says: str
    diff: str
    restored: bool


class ClientConnected(Result, frozen=True, kw_only=True):
    client: str
    name: str
    home: str
    space: str
    connected: bool
    done: bool
    undo: bool
    changes: list[SettingsChange]
    command: str
    """The client's own command that made the first change; empty for none."""
    backups: list[str]
    remarks: list[str]
    afterwards: str
    take_away: str
    """The command that undoes it."""

    def as_text(self) -> str:
        return "\n".join([*self._head(), *self.remarks, *self._next()])

    def _head(self) -> Iterator[str]:
        memory = f"the memory in {self.home}, space {self.space}"
        if not self.changes:
            state = f"{self.name} already uses {memory}" if not self.undo else f"{self.name} is not connected"
            yield f"{state}. Nothing {'was' if self.done else 'would be'} changed."
            return
        if not self.done:
            yield f"mnemos connect {self.client}{' --undo' if self.undo else ''} would"
            yield _render_changes(self.changes, self.command)
            return
        yield (
            f"Disconnected {self.name}. The memory is kept."
            if self.undo
            else f"Connected: {self.name} uses {memory}."
        )
        if self.command and not self.remarks:
            yield f"  ran {self.command}"
        for change in self.changes:
            yield f"  {_render_done(change, undo=self.undo)}"
        for backup in self.backups:
            yield f"  backup: {backup}"

    def _next(self) -> list[str]:
        if not self.done or self.undo or not self.changes:
            return []
        return [self.afterwards, f"To disconnect: {self.take_away}"]


class ConnectClaudeCode(_ConnectClient, frozen=True, kw_only=True):
    """Connect Claude Code to this memory, for all projects: as an MCP server, with hooks that recall and
    record automatically. With plugin, write a plug-in folder and leave the settings alone."""

    client: ClassVar[str] = "claude-code"
    traits: ClassVar[Traits] = _traits("Connect Claude Code")

    config: Annotated[
        str | None, Meta(description="Folder of its settings; default: $CLAUDE_CONFIG_DIR or ~/.claude")
    ] = None
    no_hooks: Annotated[bool, Meta(description="Only the server, without automatic recall and recording")] = (
        False
    )
    plugin: Annotated[
        str | None, Meta(description="Write a plug-in into this folder instead, for claude --plugin-dir")
    ] = None

    def request(self, memory: Memory) -> Request:
        folder = None if self.plugin is None else path_of(self.plugin, "plugin")
        request = _build_request(memory, self.client, undo=self.undo, config=self.config_path())
        return altered(request, hooks=not self.no_hooks, plugin=folder)

    def settings_options(self) -> tuple[str, ...]:
        if self.plugin:
            return ("--plugin", str(path_of(self.plugin, "plugin")))
        return _ConnectClient.settings_options(self)

    def next_step(self) -> str:
        if self.plugin is None:
            return CLIENTS[self.client].afterwards
        folder = shlex.quote(str(path_of(self.plugin, "plugin")))
        return f"Use the plug-in folder with: claude --plugin-dir {folder}"


class ConnectClaudeDesktop(_ConnectClient, frozen=True, kw_only=True):
    """Connect Claude Desktop to this memory as an MCP server."""

    client: ClassVar[str] = "claude-desktop"
    traits: ClassVar[Traits] = _traits("Connect Claude Desktop")

    config: Annotated[
        str | None, Meta(description="Settings file; default: its claude_desktop_config.json")
    ] = None


class ConnectCursor(_ConnectClient, frozen=True, kw_only=True):
    """Connect Cursor to this memory as an MCP server, for all projects."""

    client: ClassVar[str] = "cursor"
    traits: ClassVar[Traits] = _traits("Connect Cursor")

    config: Annotated[
        str | None, Meta(description="Settings file, e.g. of a project; default: ~/.cursor/mcp.json")
    ] = None


class ConnectVSCode(_ConnectClient, frozen=True, kw_only=True):
    """Connect VS Code to this memory as an MCP server, for all projects."""

    client: ClassVar[str] = "vscode"
    traits: ClassVar[Traits] = _traits("Connect VS Code")

    config: Annotated[
        str | None, Meta(description="Settings file, e.g. .vscode/mcp.json; default: the user's mcp.json")
    ] = None


class ConnectCodex(_ConnectClient, frozen=True, kw_only=True):
    """Connect Codex to this memory as an MCP server."""

    client: ClassVar[str] = "codex"
    traits: ClassVar[Traits] = _traits("Connect Codex")

    config: Annotated[
        str | None, Meta(description="Settings file; default: config.toml in $CODEX_HOME or ~/.codex")
    ] = None


class ConnectFound(Operation, frozen=True, kw_only=True):
    """Find programs on this machine that could use this memory, and connect the chosen ones."""

    traits: ClassVar[Traits] = Traits(
        title="Find programs to connect",
        help="Find programs on this machine that could use this memory. At a terminal, offers to connect "
        "each of them; --yes connects them all.",
        idempotent=True,
        local=True,
        begins=True,
        asks=True,
    )

    client: Annotated[
        list[Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex", "hermes"]] | None,
        Meta(description="Program to connect; can be repeated"),
    ] = None

    def run(self, memory: Memory) -> ClientsFound:
        said = [
            f"{client}: {_OPERATIONS[client]().run(memory).as_text()}"
            for client in dict.fromkeys(self.client or ())
        ]
        return ClientsFound(clients=[_state(memory, client) for client in (*CLIENTS, _HERMES)], said=said)

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.client or memory.settings.disabled:
            return ()
        states = [_state(memory, client) for client in (*CLIENTS, _HERMES)]
        return [_offer(memory, one.client) for one in states if one.is_offered]

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        return replace(self, client=[client for client, answer in answers.items() if answer == "yes"] or None)


class ClientInfo(Info, frozen=True, kw_only=True):
    """A program that could use the memory; ``problem`` says what is wrong with its settings."""

    client: str
    name: str
    found: bool
    connected: bool
    problem: str = ""

    @property
    def is_offered(self) -> bool:
        return self.found and not self.connected and not self.problem

    def render(self) -> str:
        if self.problem:
            return f"  {self.name}: {self.problem}"
        if self.connected:
            return f"  {self.name}: connected (disconnect with: mnemos connect {self.client} --undo)"
        return f"  {self.name}: not connected (connect with: mnemos connect {self.client})"


class ClientsFound(Result, frozen=True, kw_only=True):
    clients: list[ClientInfo]
    said: list[str]
    """Results of connecting the chosen ones."""

    def as_text(self) -> str:
        there = [one for one in self.clients if one.found]
        absent = [one.client for one in self.clients if not one.found]
        lines = [*self.said, ""] if self.said else []
        lines += ["On this machine:", *(one.render() for one in there)] if there else ["No programs found."]
        lines += [f"Not found: {', '.join(absent)}."] if absent else []
        return "\n".join([*lines, *(check_sdk() if there else [])])


_OPERATIONS: Mapping[str, type[Operation]] = {
    "claude-code": ConnectClaudeCode,
    "claude-desktop": ConnectClaudeDesktop,
    "cursor": ConnectCursor,
    "vscode": ConnectVSCode,
    "codex": ConnectCodex,
    _HERMES: ConnectHermes,
}


MISSING_SDK = (
    'the MCP SDK is not installed; run `pip install "mnemos[mcp]"`, `uv tool install "mnemos[mcp]"` or '
    '`pipx install --force "mnemos[mcp]"`, depending on how you installed mnemos'
)


def check_sdk() -> list[str]:
    """Return a warning if `mnemos mcp`, which clients start, lacks the MCP SDK."""
    return [] if _is_run_by_uvx() or find_spec("mcp_types") else [f"Before you use it: {MISSING_SDK}."]


def _is_run_by_uvx() -> bool:
    # uvx runs a program from its cache, where it may be deleted any time.
    return "archive-v0" in Path(sys.prefix).parts


def _find_program(here: machine.Machine) -> tuple[str, ...]:
    if _is_run_by_uvx():
        return (here.find_program("uvx") or "uvx", "--from", "mnemos[mcp]", "mnemos")
    return machine.find_own_program(sys.argv, sys.executable, sys.platform)


def _state(memory: Memory, client: str) -> ClientInfo:
    """Look up a client; settings that cannot be read are reported as its problem."""
    if client == _HERMES:
        hermes = hermes_home(None)
        connected = plugin.is_installed(hermes)
        return ClientInfo(client=client, name="Hermes Agent", found=hermes.is_dir(), connected=connected)
    here = machine.Machine.of(os.environ, sys.platform)
    info = ClientInfo(
        client=client,
        name=CLIENTS[client].name,
        found=CLIENTS[client].is_installed(here),
        connected=False,
    )
    if not info.found:
        return info
    try:
        return replace(info, connected=connection.is_connected(_build_request(memory, client), here))
    except MnemosError as exc:
        return replace(info, problem=str(exc))


def _offer(memory: Memory, client: str) -> Question:
    if client == _HERMES:
        settings = memory.settings
        steps = plugin.plan_connect(hermes_home(None), host.Place(settings.home, settings.space))
        name, would = "Hermes Agent", "\n".join(f"  {step.summary}" for step in steps)
    else:
        name, request = CLIENTS[client].name, _build_request(memory, client)
        would = _render_plan(connection.plan(request, machine.Machine.of(os.environ, sys.platform)), request)
    return Question(
        client,
        f"Found {name}. Connecting it would\n{would}\nConnect it?",
        default="no",
        choices=("yes", "no"),
    )


def _build_request(memory: Memory, client: str, *, undo: bool = False, config: Path | None = None) -> Request:
    settings, here = memory.settings, machine.Machine.of(os.environ, sys.platform)
    launch = machine.build_launch(here, _find_program(here), settings.home, settings.space)
    return Request(CLIENTS[client], launch, settings.home, settings.space, undo=undo, config=config)


def _describe_changes(plan: Plan) -> list[SettingsChange]:
    return [
        SettingsChange(
            file=str(change.path),
            says=change.describe(),
            diff=change.render_diff(),
            restored=change.is_restored,
        )
        for change in plan.changes
    ]


def _render_plan(plan: Plan, request: Request) -> str:
    return _render_changes(_describe_changes(plan), plan.command_line(request))


def _render_changes(changes: Sequence[SettingsChange], command: str) -> str:
    lines = [f"run {command}, which would"] if command else []
    for change in changes:
        lines += [change.says, *(f"  {line}" for line in change.diff.splitlines())]
    return "\n".join(f"  {line}" for line in lines)


def _render_done(change: SettingsChange, *, undo: bool) -> str:
    verb = change.says.split()[0]
    if not undo or verb == "remove":
        return f"{_VERBS[verb]} {change.file}"
    return f"restored {change.file}" if change.restored else f"removed our settings from {change.file}"
