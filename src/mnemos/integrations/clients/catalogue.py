"""The clients that are known: one declaration each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos.integrations.clients import claude_code
from mnemos.integrations.clients.editing import Target
from mnemos.integrations.clients.edits import Addition, Format
from mnemos.integrations.clients.json_edits import Json
from mnemos.integrations.clients.places import NAME, Starting, Surroundings
from mnemos.integrations.clients.toml_edits import Toml
from mnemos.integrations.clients.tools import Tool


@dataclass(frozen=True, slots=True)
class Client:
    """A program that speaks MCP, and where it keeps the list of its servers."""

    key: str
    """What is typed after ``mnemos connect``."""
    name: str
    file: Callable[[Surroundings], Path]
    """Where the list is, unless somebody names another file."""
    table: str
    """The member of it that holds the servers."""
    format: Format
    programs: tuple[str, ...]
    """Commands that come with it."""
    folders: Callable[[Surroundings], tuple[Path, ...]]
    """One of them is there when it is installed."""
    afterwards: str
    """What a person does next."""
    names_type: bool = False
    """Its entries say that they are programs, and no addresses."""
    tool: Callable[[Starting], Tool] | None = None

    def is_installed(self, surroundings: Surroundings) -> bool:
        there = any(folder.exists() for folder in self.folders(surroundings))
        return there or any(surroundings.program(name) for name in self.programs)

    def target(self, surroundings: Surroundings, starting: Starting, config: Path | None) -> Target:
        """The list of servers, and our entry in it."""
        kind = {"type": "stdio"} if self.names_type else {}
        entry = Addition(path=(self.table, NAME), value=kind | starting.entry())
        return Target(config or self.file(surroundings), self.format, (entry,), self.key)


def _claude_tool(starting: Starting) -> Tool:
    return Tool(
        "claude",
        add=("mcp", "add", "--scope", "user", NAME, "--", *starting.words()),
        remove=("mcp", "remove", "--scope", "user", NAME),
    )


def _codex_tool(starting: Starting) -> Tool:
    return Tool("codex", add=("mcp", "add", NAME, "--", *starting.words()), remove=("mcp", "remove", NAME))


CLIENTS: Final = {
    client.key: client
    for client in (
        Client(
            key="claude-code",
            name="Claude Code",
            file=claude_code.servers_file,
            table="mcpServers",
            format=Json(),
            programs=("claude",),
            folders=lambda here: (claude_code.folder(here), claude_code.servers_file(here)),
            names_type=True,
            tool=_claude_tool,
            afterwards="Start a new session of Claude Code; /mcp shows the server, /hooks the hooks.",
        ),
        Client(
            key="claude-desktop",
            name="Claude Desktop",
            file=lambda here: here.app_folder("Claude") / "claude_desktop_config.json",
            table="mcpServers",
            format=Json(),
            programs=("claude-desktop",),
            folders=lambda here: (here.app_folder("Claude"),),
            afterwards="Quit Claude Desktop and start it again; Settings, Developer shows the server.",
        ),
        Client(
            key="cursor",
            name="Cursor",
            file=lambda here: here.home / ".cursor" / "mcp.json",
            table="mcpServers",
            format=Json(comments=True),
            programs=("cursor",),
            folders=lambda here: (here.home / ".cursor", here.app_folder("Cursor")),
            afterwards="Cursor reads it by itself; its settings show the server under MCP.",
        ),
        Client(
            key="vscode",
            name="VS Code",
            file=lambda here: here.app_folder("Code") / "User" / "mcp.json",
            table="servers",
            format=Json(comments=True),
            programs=("code",),
            folders=lambda here: (here.app_folder("Code"),),
            names_type=True,
            afterwards="VS Code asks whether it may start the server; MCP: List Servers shows it.",
        ),
        Client(
            key="codex",
            name="Codex",
            file=lambda here: here.folder("CODEX_HOME", ".codex") / "config.toml",
            table="mcp_servers",
            format=Toml(),
            programs=("codex",),
            folders=lambda here: (here.folder("CODEX_HOME", ".codex"),),
            tool=_codex_tool,
            afterwards="Start a new session of Codex; /mcp shows the server.",
        ),
    )
}
