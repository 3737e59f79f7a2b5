"""Operations that connect other programs to a memory."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from dataclasses import replace as altered
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import NotFound, how_to_install
from mnemos.hermes_folder import hermes_home
from mnemos.integrations.clients import client_connection as connection
from mnemos.integrations.clients import machine
from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.integrations.clients.client_connection import Request
from mnemos.integrations.clients.settings_files import Records
from mnemos.integrations.hermes import host, plugin
from mnemos.integrations.watch.recorders import describe_recording, needs_watch
from mnemos.operations.arguments import path_of
from mnemos.operations.base import Info, Operation, Question, Result, Traits, check_confirmed, confirmation

if TYPE_CHECKING:
    from mnemos.memory import Memory

HERMES = "hermes"
_PAST = {"add": "added", "update": "updated", "remove": "removed", "write": "wrote", "clear": "cleared"}

Undo = Annotated[bool, Meta(description="Disconnect; the memory is kept")]
Print = Annotated[bool, Meta(description="Only show what would be changed")]
Diff = Annotated[bool, Meta(description="Only show the changes line by line")]


def _traits(title: str) -> Traits:
    return Traits(
        title=title, idempotent=True, local=True, begins=True, asks=True, needs_yes=True, example="--print"
    )


class SettingsChange(Info, frozen=True, kw_only=True):
    """A changed file, with the lines removed and added."""

    file: str
    diff: str


@dataclass(frozen=True, slots=True)
class _Planned:
    """Changes, planned or made."""

    summary: list[str]
    changes: list[SettingsChange]
    details: dict[str, Any]
    """Other fields of the result."""


class _Connect(Operation, frozen=True, kw_only=True):
    """Connect a program, or disconnect it."""

    client: ClassVar[str]
    """The word after ``mnemos connect``."""

    undo: Undo = False
    print: Print = False
    diff: Diff = False

    def writes(self) -> bool:
        return not (self.print or self.diff)

    def run(self, memory: Memory) -> Connected:
        done = self.plan(memory, carry_out=self.writes())
        return Connected(
            client=self.client,
            name=name_client(self.client),
            done=self.writes(),
            undo=self.undo,
            as_diff=self.diff,
            summary=done.summary,
            changes=done.changes,
            **done.details,
        )

    def questions(self, memory: Memory) -> Sequence[Question]:
        if not self.writes() or memory.settings.disabled:
            return ()
        planned = self.plan(memory, carry_out=False)
        if not planned.changes:
            return ()
        text = _render_summary(self.client, planned.summary, undo=self.undo)
        diff = _render_diff(planned.changes, planned.details.get("command", ""))
        return [confirmation(f"{text}\nContinue?", details=diff)]

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        check_confirmed(answers)
        return self

    def plan(self, memory: Memory, *, carry_out: bool) -> _Planned:
        """Plan the changes, and make them with ``carry_out``."""
        raise NotImplementedError


class Connected(Result, frozen=True, kw_only=True):
    client: str
    name: str
    home: str
    space: str
    connected: bool
    done: bool
    """False if the changes are only shown, with ``as_diff`` line by line."""
    undo: bool
    as_diff: bool
    summary: list[str]
    """The change of each file, in words."""
    changes: list[SettingsChange]
    backups: list[str]
    """Copies of the original files."""
    remarks: list[str]
    afterwards: str
    """The next step for a person."""
    undo_command: str
    command: str = ""
    """The client's own command that makes the first change."""

    def as_text(self) -> str:
        return "\n".join([*self._head(), *self.remarks, *self._next()])

    def _head(self) -> Iterator[str]:
        memory = f"the memory in {self.home}, space {self.space}"
        if not self.changes:
            state = f"{self.name} already uses {memory}" if not self.undo else f"{self.name} is not connected"
            yield f"{state}. Nothing {'was' if self.done else 'would be'} changed."
        elif not self.done:
            yield _render_summary(self.client, self.summary, undo=self.undo)
            if self.as_diff:
                yield _render_diff(self.changes, self.command)
        else:
            yield (
                f"Disconnected {self.name}. The memory is kept."
                if self.undo
                else f"Connected: {self.name} uses {memory}."
            )
            yield from (f"  {_to_past(line)}" for line in self.summary)
            yield from (f"  backup: {backup}" for backup in self.backups)

    def _next(self) -> list[str]:
        if not self.done or self.undo or not self.changes:
            return []
        return [self.afterwards, f"To disconnect: {self.undo_command}"]


class ConnectHermes(_Connect, frozen=True, kw_only=True):
    """Connect Hermes Agent to this memory. Installs a plug-in in its home and selects it, unless another
    memory provider is selected. Hermes imports what it already knows when it starts next."""

    client: ClassVar[str] = HERMES
    traits: ClassVar[Traits] = _traits("Connect Hermes Agent")

    hermes_home: Annotated[
        str | None, Meta(description="Home of Hermes; default: $HERMES_HOME or ~/.hermes")
    ] = None

    def plan(self, memory: Memory, *, carry_out: bool) -> _Planned:
        hermes = self._find_hermes()
        settings = memory.settings
        own = host.Place(settings.home, settings.space)
        if own.space == host.DEFAULT_SPACE:
            own = host.Place(own.home, host.profile(hermes) or own.space)
        records = Records(settings.home, HERMES)
        with records.lock() if carry_out else nullcontext():
            steps = plugin.plan_disconnect(hermes, records) if self.undo else plugin.plan_connect(hermes, own)
            changes = [SettingsChange(file=str(step.path), diff=step.render_diff()) for step in steps]
            if carry_out:
                plugin.carry_out(steps, hermes, records, undo=self.undo)
        backup = records.find_backup(hermes / plugin.CONFIG)
        return _Planned(
            plugin.summarise(steps, hermes, this_machine(), undo=self.undo),
            changes,
            {
                "home": str(own.home),
                "space": own.space,
                "connected": plugin.is_installed(hermes),
                "backups": [str(backup)] if backup and not self.undo else [],
                "remarks": plugin.find_remarks(hermes, undo=self.undo),
                "afterwards": "Start a new session of Hermes and restart its gateway. "
                "`hermes memory status` shows it.",
                "undo_command": self._render_undo(memory),
            },
        )

    def _find_hermes(self) -> Path:
        if self.hermes_home is not None:
            path_of(self.hermes_home, "hermes_home")
        hermes = hermes_home(self.hermes_home)
        if not hermes.is_dir():
            raise NotFound(
                f"Hermes was not found in {hermes}. Run it once, or pass its home with --hermes-home."
            )
        return hermes

    def _render_undo(self, memory: Memory) -> str:
        where = ("--hermes-home", self.hermes_home) if self.hermes_home else ()
        launch = _build_launch(memory)
        return shlex.join(("mnemos", "connect", HERMES, *where, "--undo", *launch.options))


class _ConnectClient(_Connect, frozen=True, kw_only=True):
    """Connect a client of MCP."""

    def plan(self, memory: Memory, *, carry_out: bool) -> _Planned:
        request, here = self.request(memory), this_machine()
        done = (connection.carry_out if carry_out else connection.plan)(request, here)
        words = (
            "mnemos",
            "connect",
            self.client,
            *self.settings_options(),
            "--undo",
            *request.launch.options,
        )
        return _Planned(
            done.summarise(request, here),
            [SettingsChange(file=str(one.path), diff=one.render_diff()) for one in done.changes],
            {
                "home": str(request.home),
                "space": request.space,
                "connected": connection.is_connected(request, here),
                "backups": connection.find_backups(request, done.changes) if not self.undo else [],
                "remarks": [
                    *done.remarks,
                    *([] if self.undo else [*check_sdk(), self.describe_recording(memory, request)]),
                ],
                "afterwards": self.next_step(),
                "undo_command": shlex.join(words),
                "command": done.command_line(request),
            },
        )

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

    def describe_recording(self, memory: Memory, request: Request) -> str:
        return describe_recording(memory, self.client, hooks=connection.will_record(request))

    def offer(self, memory: Memory) -> tuple[str, tuple[str, ...]] | None:
        request = self.request(memory)
        has_services = sys.platform == "darwin" or sys.platform.startswith("linux")
        if self.undo or not self.writes() or memory.settings.disabled or not has_services:
            return None
        if not needs_watch(memory, self.client, hooks=connection.will_record(request)):
            return None
        return "Record them with `mnemos watch`, now and at every login?", (
            "watch",
            "install",
            *request.launch.options,
        )


class _ConnectRecorded(_ConnectClient, frozen=True, kw_only=True):
    """Connect a client that can record and recall by itself."""

    no_hooks: Annotated[bool, Meta(description="Only add the server: no automatic recall or recording")] = (
        False
    )

    def request(self, memory: Memory) -> Request:
        return altered(_ConnectClient.request(self, memory), hooks=not self.no_hooks)


class ConnectClaudeCode(_ConnectRecorded, frozen=True, kw_only=True):
    """Connect Claude Code to this memory, for all projects: as an MCP server, with hooks that recall and
    record automatically. With `plugin`, write a plug-in folder and leave the settings alone."""

    client: ClassVar[str] = "claude-code"
    traits: ClassVar[Traits] = _traits("Connect Claude Code")

    config: Annotated[
        str | None, Meta(description="Folder of its settings; default: $CLAUDE_CONFIG_DIR or ~/.claude")
    ] = None
    plugin: Annotated[
        str | None, Meta(description="Write a plug-in into this folder instead, for claude --plugin-dir")
    ] = None

    def request(self, memory: Memory) -> Request:
        folder = None if self.plugin is None else path_of(self.plugin, "plugin")
        return altered(_ConnectRecorded.request(self, memory), plugin=folder)

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


class ConnectCursor(_ConnectRecorded, frozen=True, kw_only=True):
    """Connect Cursor to this memory, for all projects: as an MCP server, with hooks that record
    automatically."""

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


class ConnectCodex(_ConnectRecorded, frozen=True, kw_only=True):
    """Connect Codex to this memory: as an MCP server, with hooks that recall and record automatically, once
    you trust them."""

    client: ClassVar[str] = "codex"
    traits: ClassVar[Traits] = _traits("Connect Codex")

    config: Annotated[
        str | None, Meta(description="Settings file; default: config.toml in $CODEX_HOME or ~/.codex")
    ] = None


class ConnectGemini(_ConnectRecorded, frozen=True, kw_only=True):
    """Connect Gemini CLI to this memory, for all projects: as an MCP server, with hooks that recall and
    record automatically."""

    client: ClassVar[str] = "gemini"
    traits: ClassVar[Traits] = _traits("Connect Gemini CLI")

    config: Annotated[str | None, Meta(description="Settings file; default: ~/.gemini/settings.json")] = None


class ConnectQwen(_ConnectRecorded, frozen=True, kw_only=True):
    """Connect Qwen Code to this memory, for all projects: as an MCP server, with hooks that recall and
    record automatically."""

    client: ClassVar[str] = "qwen"
    traits: ClassVar[Traits] = _traits("Connect Qwen Code")

    config: Annotated[str | None, Meta(description="Settings file; default: ~/.qwen/settings.json")] = None


class ConnectOpenCode(_ConnectRecorded, frozen=True, kw_only=True):
    """Connect OpenCode to this memory, for all projects: as an MCP server, with a plug-in that recalls and
    records automatically."""

    client: ClassVar[str] = "opencode"
    traits: ClassVar[Traits] = _traits("Connect OpenCode")

    config: Annotated[
        str | None, Meta(description="Settings file; default: opencode.json in ~/.config/opencode")
    ] = None


OPERATIONS: Mapping[str, type[_Connect]] = {
    "claude-code": ConnectClaudeCode,
    "claude-desktop": ConnectClaudeDesktop,
    "cursor": ConnectCursor,
    "vscode": ConnectVSCode,
    "codex": ConnectCodex,
    "gemini": ConnectGemini,
    "qwen": ConnectQwen,
    "opencode": ConnectOpenCode,
    HERMES: ConnectHermes,
}

MISSING_SDK = f"The MCP SDK is not installed. {how_to_install('mcp')}"


def check_sdk() -> list[str]:
    """Return a warning if `mnemos mcp`, which clients start, lacks the MCP SDK."""
    return [] if _is_run_by_uvx() or find_spec("mcp_types") else [MISSING_SDK]


def _is_run_by_uvx() -> bool:
    # uvx runs programs from its cache, where they may be deleted at any time.
    return "archive-v0" in Path(sys.prefix).parts


def _find_program(here: machine.Machine) -> tuple[str, ...]:
    if _is_run_by_uvx():
        return (here.find_program("uvx") or "uvx", "--from", "mnemos[mcp]", "mnemos")
    return machine.find_own_program(sys.argv, sys.executable, sys.platform)


def name_client(client: str) -> str:
    return "Hermes Agent" if client == HERMES else CLIENTS[client].name


def this_machine() -> machine.Machine:
    return machine.Machine.of(os.environ, sys.platform)


def _build_launch(memory: Memory) -> machine.Launch:
    here, settings = this_machine(), memory.settings
    return machine.build_launch(here, _find_program(here), settings.home, settings.space)


def _build_request(memory: Memory, client: str, *, undo: bool = False, config: Path | None = None) -> Request:
    settings = memory.settings
    return Request(
        CLIENTS[client], _build_launch(memory), settings.home, settings.space, undo=undo, config=config
    )


def _render_summary(client: str, summary: Sequence[str], *, undo: bool) -> str:
    verb = "Disconnecting" if undo else "Connecting"
    return "\n".join([f"{verb} {name_client(client)} changes:", *(f"  {line}" for line in summary)])


def _render_diff(changes: Sequence[SettingsChange], command: str) -> str:
    files = [f"--- {change.file}\n{change.diff}" for change in changes]
    return "\n".join([f"$ {command}", *files] if command else files)


def _to_past(line: str) -> str:
    """Turn "FILE: add …" into "FILE: added …"."""
    file, _, order = line.partition(": ")
    verb, _, rest = order.partition(" ")
    return f"{file}: {_PAST.get(verb, verb)} {rest}"
