"""Letting other programs use a memory."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace as altered
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import InvalidInput, MnemosError, NotFound
from mnemos.integrations.clients import client_connection
from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.integrations.clients.client_connection import Request
from mnemos.integrations.clients.settings_files import Records
from mnemos.integrations.hermes import host, plugin
from mnemos.operations.base import Operation, Question, Result, Traits
from mnemos.operations.clients import ClientConnected as ClientConnected
from mnemos.operations.clients import OneClient, build_request, described, path_of, surroundings
from mnemos.settings import hermes_home

if TYPE_CHECKING:
    from pathlib import Path

    from mnemos.memory import Memory

_HERMES = "hermes"


def _traits(title: str) -> Traits:
    return Traits(title=title, idempotent=True, local=True, begins=True, example=("--print",))


class ConnectHermes(Operation, frozen=True, kw_only=True):
    """Let a Hermes Agent use this memory. Writes a plug-in into its home and chooses it there, unless another
    provider is chosen; says what it changes. What Hermes knows already is brought in when it starts next."""

    traits: ClassVar[Traits] = _traits("Connect Hermes Agent")

    hermes_home: Annotated[
        str | None, Meta(description="The home of Hermes; default $HERMES_HOME or ~/.hermes")
    ] = None
    undo: Annotated[bool, Meta(description="Take the connection away; the memory stays")] = False
    print: Annotated[bool, Meta(description="Only show what would be written")] = False

    def writes(self) -> bool:
        return not self.print

    def run(self, memory: Memory) -> HermesConnected:
        hermes = self._hermes()
        settings = memory.settings
        own = host.Place(settings.home, settings.space)
        if own.space == host.DEFAULT_SPACE:
            own = host.Place(own.home, host.profile(hermes) or own.space)
        records = Records(settings.home, _HERMES)
        with nullcontext() if self.print else records.lock():
            steps = plugin.plan_disconnect(hermes, records) if self.undo else plugin.plan_connect(hermes, own)
            if not self.print and self.undo:
                plugin.disconnect(steps, hermes, records)
            elif not self.print:
                plugin.connect(steps, hermes, records)
        return HermesConnected(
            hermes_home=str(hermes),
            home=str(own.home),
            space=own.space,
            connected=plugin.is_installed(hermes),
            changes=[step.summary for step in steps],
            done=not self.print,
            files={str(step.path): step.text for step in steps if step.text is not None}
            if self.print
            else {},
            remarks=[] if self.undo else plugin.find_remarks(hermes),
        )

    def _hermes(self) -> Path:
        if self.hermes_home is not None and (not self.hermes_home.strip() or "\0" in self.hermes_home):
            raise InvalidInput(f"hermes_home is {self.hermes_home!r}; use the name of a folder")
        hermes = hermes_home(self.hermes_home)
        if not hermes.is_dir():
            raise NotFound(
                f"there is no Hermes in {hermes}; run it once, or name its home with --hermes-home"
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
            shown = [f"--- {path}\n{text}" for path, text in self.files.items()]
            return (
                "\n".join([*(f"would {change}" for change in self.changes), *shown]) or "Nothing to change."
            )
        is_new = "Connected" if self.changes else "Connected already"
        head = (
            f"{is_new}: the Hermes in {self.hermes_home} uses the memory in {self.home}, space {self.space}."
            if self.connected
            else f"The Hermes in {self.hermes_home} is not connected. The memory in {self.home} stays."
        )
        return "\n".join([head, *(f"  {change}" for change in self.changes), *self._next()])

    def _next(self) -> list[str]:
        if not self.connected:
            return []
        return [
            *self.remarks,
            "Start a new session of Hermes, and restart its gateway; `hermes memory status` shows it.",
        ]


class ConnectClaudeCode(OneClient, Operation, frozen=True, kw_only=True):
    """Let Claude Code use this memory, in all projects. It becomes an MCP server, with hooks that recall and
    record by themselves. With a plug-in folder, its settings stay as they are."""

    client: ClassVar[str] = "claude-code"
    traits: ClassVar[Traits] = _traits("Connect Claude Code")

    config: Annotated[
        str | None, Meta(description="The folder of its settings; default $CLAUDE_CONFIG_DIR or ~/.claude")
    ] = None
    no_hooks: Annotated[
        bool, Meta(description="Only the server; nothing is recalled or recorded by itself")
    ] = False
    plugin: Annotated[
        str | None, Meta(description="Write a plug-in into this folder instead, for claude --plugin-dir")
    ] = None

    def request(self, memory: Memory) -> Request:
        folder = None if self.plugin is None else path_of(self.plugin, "plugin")
        request = build_request(memory, self.client, undo=self.undo, config=self.named_config())
        return altered(request, hooks=not self.no_hooks, plugin=folder)

    def where(self) -> tuple[str, ...]:
        return ("--plugin", str(path_of(self.plugin, "plugin"))) if self.plugin else OneClient.where(self)

    def afterwards(self) -> str:
        if self.plugin is not None:
            command = shlex.join(("claude", "--plugin-dir", str(path_of(self.plugin, "plugin"))))
            return f"That is a plug-in folder; use it with: {command}"
        return CLIENTS[self.client].afterwards


class ConnectClaudeDesktop(OneClient, Operation, frozen=True, kw_only=True):
    """Let Claude Desktop use this memory as an MCP server. Says what it changes in its settings."""

    client: ClassVar[str] = "claude-desktop"
    traits: ClassVar[Traits] = _traits("Connect Claude Desktop")

    config: Annotated[str | None, Meta(description="Another file than its claude_desktop_config.json")] = None


class ConnectCursor(OneClient, Operation, frozen=True, kw_only=True):
    """Let Cursor use this memory as an MCP server, in all projects. Says what it changes in its settings."""

    client: ClassVar[str] = "cursor"
    traits: ClassVar[Traits] = _traits("Connect Cursor")

    config: Annotated[
        str | None, Meta(description="Another file than ~/.cursor/mcp.json, such as that of a project")
    ] = None


class ConnectVSCode(OneClient, Operation, frozen=True, kw_only=True):
    """Let VS Code use this memory as an MCP server, in all projects. Says what it changes in its settings."""

    client: ClassVar[str] = "vscode"
    traits: ClassVar[Traits] = _traits("Connect VS Code")

    config: Annotated[
        str | None, Meta(description="Another file than the user's mcp.json, such as .vscode/mcp.json")
    ] = None


class ConnectCodex(OneClient, Operation, frozen=True, kw_only=True):
    """Let Codex use this memory as an MCP server. Says what it changes in its settings."""

    client: ClassVar[str] = "codex"
    traits: ClassVar[Traits] = _traits("Connect Codex")

    config: Annotated[
        str | None, Meta(description="Another file than config.toml in $CODEX_HOME or ~/.codex")
    ] = None


class ConnectFound(Operation, frozen=True, kw_only=True):
    """Look which programs on this machine could use this memory, and connect those that are named. At a
    terminal each that is not connected yet is asked for."""

    traits: ClassVar[Traits] = Traits(
        title="Find programs to connect", idempotent=True, local=True, begins=True
    )

    client: Annotated[
        list[Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex", "hermes"]] | None,
        Meta(description="Connect this one; may be given several times"),
    ] = None

    def run(self, memory: Memory) -> ClientsFound:
        said = [
            f"{client}: {_operation(client).run(memory).as_text()}"
            for client in dict.fromkeys(self.client or ())
        ]
        return ClientsFound(clients=[_state(memory, client) for client in (*CLIENTS, _HERMES)], said=said)

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.client or memory.settings.disabled:
            return ()
        return [_offer(memory, client) for client in _open_choices(memory)]

    def answered(self, answers: Mapping[str, str]) -> Operation:
        return replace(self, client=[client for client, answer in answers.items() if answer == "yes"] or None)


class ClientsFound(Result, frozen=True, kw_only=True):
    clients: list[dict[str, Any]]
    """Each that is known: whether it is there, whether it is connected, what is wrong with its settings."""
    said: list[str]
    """What connecting said, of those that were named."""

    def as_text(self) -> str:
        there = [one for one in self.clients if one["found"]]
        absent = [one["client"] for one in self.clients if not one["found"]]
        lines = [*self.said, ""] if self.said else []
        lines += ["On this machine:", *map(_client_line, there)] if there else ["No program was found."]
        lines += [f"Not found: {', '.join(absent)}."] if absent else []
        return "\n".join(lines)


def _client_line(one: Mapping[str, Any]) -> str:
    if one["problem"]:
        return f"  {one['name']}: {one['problem']}"
    if one["connected"]:
        return f"  {one['name']}: connected; to take it away: mnemos connect {one['client']} --undo"
    return f"  {one['name']}: not connected; to connect it: mnemos connect {one['client']}"


_OPERATIONS: Mapping[str, type[Operation]] = {
    "claude-code": ConnectClaudeCode,
    "claude-desktop": ConnectClaudeDesktop,
    "cursor": ConnectCursor,
    "vscode": ConnectVSCode,
    "codex": ConnectCodex,
    _HERMES: ConnectHermes,
}


def _operation(client: str) -> Operation:
    return _OPERATIONS[client]()


def _state(memory: Memory, client: str) -> dict[str, Any]:
    """Whether a client is there and connected; settings that cannot be read are told, and stop nobody."""
    if client == _HERMES:
        hermes = hermes_home(None)
        found, connected = hermes.is_dir(), plugin.is_installed(hermes)
        return _told(client, "Hermes Agent", found=found, connected=connected)
    name, here = CLIENTS[client].name, surroundings()
    if not CLIENTS[client].is_installed(here):
        return _told(client, name, found=False, connected=False)
    try:
        connected = client_connection.is_connected(build_request(memory, client), here)
    except MnemosError as exc:
        return _told(client, name, found=True, connected=False, problem=str(exc))
    return _told(client, name, found=True, connected=connected)


def _told(client: str, name: str, *, found: bool, connected: bool, problem: str = "") -> dict[str, Any]:
    return {"client": client, "name": name, "found": found, "connected": connected, "problem": problem}


def _open_choices(memory: Memory) -> list[str]:
    states = [_state(memory, client) for client in (*CLIENTS, _HERMES)]
    return [one["client"] for one in states if one["found"] and not one["connected"] and not one["problem"]]


def _offer(memory: Memory, client: str) -> Question:
    if client == _HERMES:
        settings = memory.settings
        steps = plugin.plan_connect(hermes_home(None), host.Place(settings.home, settings.space))
        name, would = "Hermes Agent", "\n".join(f"  {step.summary}" for step in steps)
    else:
        name, request = CLIENTS[client].name, build_request(memory, client)
        would = described(client_connection.plan(request, surroundings()), request)
    return Question(
        client,
        f"{name} is here. Connecting it would\n{would}\nConnect it?",
        default="no",
        choices=("yes", "no"),
    )
