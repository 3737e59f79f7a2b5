"""The clients that can be connected: their servers, hooks and plug-ins."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemos import __version__
from mnemos.integrations.clients.additions import Addition
from mnemos.integrations.clients.formats import Format, Json, Script, Toml
from mnemos.integrations.clients.machine import CLAUDE_CODE, NAME, Launch, Machine

CURSOR: Final = "cursor"
_JSON: Final = Json()
_CLAUDE_FOLDER: Final = "CLAUDE_CONFIG_DIR"
_CLAUDE_SERVERS: Final = ".claude.json"

# The time limit of each hook in seconds, and the names of its event in most programs.
_HOOKS: Final = {"session-start": 10, "user-prompt": 10, "pre-compact": 30, "stop": 30, "session-end": 30}
_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
_GEMINI_EVENTS: Final = ("SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd")
# An empty name means that the program has no suitable event.
_CURSOR_EVENTS: Final = ("sessionStart", "", "", "stop", "sessionEnd")

# OpenCode loads it as a module, so no failure in it may disturb the program.
_OPENCODE: Final = """// Records and recalls for OpenCode.
// Written by `mnemos connect opencode`; --undo removes it.
import { spawn } from "node:child_process";

const commands = COMMANDS;

function run(event, about, most) {
  return new Promise((done) => {
    let text = "";
    const finish = () => {
      try {
        done(JSON.parse(text).hookSpecificOutput.additionalContext);
      } catch {
        done("");
      }
    };
    try {
      const [program, ...words] = commands[event];
      const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"] });
      setTimeout(finish, most).unref();
      child.on("error", finish);
      child.on("close", finish);
      child.stdout.on("data", (part) => (text += part));
      child.stdin.on("error", finish);
      child.stdin.end(JSON.stringify(about));
    } catch {
      done("");
    }
  });
}

export const Mnemos = async ({ directory }) => {
  const begun = new Set();
  return {
    "chat.message": async (input, output) => {
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = said.map((part) => part.text).join("\\n");
      const about = { session_id: input.sessionID, cwd: directory, prompt };
      const texts = begun.has(input.sessionID) ? [] : [await run("session-start", about, 10000)];
      begun.add(input.sessionID);
      texts.push(await run("user-prompt", about, 10000));
      const text = texts.filter(Boolean).join("\\n\\n");
      if (text && said.length) {
        output.parts.push({ ...said[0], id: `${said[0].id}m`, text, synthetic: true });
      }
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") {
        await run("stop", { session_id: event.properties.sessionID, cwd: directory }, 30000);
      }
    },
  };
};
"""

_README: Final = """# Mnemos for Claude Code

This folder is a plug-in. It gives Claude Code the tools of the memory in {home}, space {space}, and hooks
that recall and record automatically. Use it for one session with

    claude --plugin-dir FOLDER

Written by `mnemos connect claude-code --plugin FOLDER`. Add --undo to remove it.
"""


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """A client's own command to add a server."""

    program: str
    add: tuple[str, ...]
    """Arguments that add our server; the command that starts it follows."""

    def arguments(self, launch: Launch) -> tuple[str, ...]:
        return (*self.add, *launch.server_command())


@dataclass(frozen=True, slots=True)
class Recorder:
    """Hooks in a client's settings, or a plug-in, that record and recall."""

    file: str
    """The file of hooks; empty if it is the file with the list of servers."""
    additions: Callable[[Launch], tuple[Addition, ...]]
    format: Format = _JSON
    empty: str = ""
    """The text that a new file begins with."""
    name: str = "hooks"
    condition: str = ""
    """A step that a person has to take first."""
    caveat: str = ""
    is_anywhere: bool = True
    """False if the client only reads it in its own folder."""


@dataclass(frozen=True, slots=True)
class Client:
    """A program that uses MCP servers."""

    key: str
    """The word after ``mnemos connect``."""
    name: str
    file: Callable[[Machine], Path]
    """The file with the list of servers."""
    program: str
    """A command that is installed with the client."""
    afterwards: str
    """The next step for a person."""
    table: str = "mcpServers"
    """The member of that file that holds the servers."""
    format: Format = _JSON
    folder: Callable[[Machine], Path] | None = None
    """Another folder than the file's that exists if the client is installed."""
    names_type: bool = False
    """Entries must say that they are programs and not URLs."""
    is_local: bool = False
    """Entries have the type ``local`` and the command as one list."""
    command: ClientCommand | None = None
    recorder: Recorder | None = None

    def is_installed(self, machine: Machine) -> bool:
        file = self.file(machine)
        paths = [file, file.parent, *([self.folder(machine)] if self.folder else [])]
        # The user's own folder always exists.
        is_there = any(path.exists() for path in paths if path != machine.home)
        return is_there or machine.find_program(self.program) is not None

    def server(self, launch: Launch) -> Addition:
        """Return our entry for the list of servers."""
        if self.is_local:
            value = {
                "type": "local",
                "command": launch.server_command(),
                "enabled": True,
                # The client's default, five seconds, is too short for a busy machine.
                "timeout": 30_000,
            }
            return Addition(path=(self.table, NAME), value=value)
        kind = {"type": "stdio"} if self.names_type else {}
        return Addition(path=(self.table, NAME), value=kind | launch.server_entry())


def _hooks(
    agent: str, events: tuple[str, ...] = _EVENTS, unit: int = 1, *, is_flat: bool = False
) -> Callable[[Launch], tuple[Addition, ...]]:
    """Return a function that makes hooks. ``unit``: 1,000 if time limits are in ms."""

    def make(launch: Launch) -> tuple[Addition, ...]:
        additions = []
        for event, (name, seconds) in zip(events, _HOOKS.items(), strict=True):
            if not event:
                continue
            hook = {"command": launch.hook_command(name, agent), "timeout": seconds * unit}
            value = hook if is_flat else {"hooks": [{"type": "command", **hook}]}
            additions.append(Addition(path=("hooks", event), value=value, is_item=True))
        return tuple(additions)

    return make


def _opencode_plugin(launch: Launch) -> tuple[Addition, ...]:
    commands = {
        name: launch.hook_words(name, "opencode") for name in ("session-start", "user-prompt", "stop")
    }
    return (Addition(path=(NAME,), value=_OPENCODE.replace("COMMANDS", json.dumps(commands, indent=2))),)


def _claude_folder(machine: Machine) -> Path:
    return machine.folder(_CLAUDE_FOLDER, ".claude")


def _claude_servers(machine: Machine) -> Path:
    # Next to the settings folder, unless the variable moves both.
    moved = machine.env.get(_CLAUDE_FOLDER, "").strip()
    return (_claude_folder(machine) if moved else machine.home) / _CLAUDE_SERVERS


def _opencode_settings(machine: Machine) -> Path:
    # Follows XDG on every system. A file with comments comes first.
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


CLIENTS: Final = {
    client.key: client
    for client in (
        Client(
            key=CLAUDE_CODE,
            name="Claude Code",
            file=_claude_servers,
            program="claude",
            folder=_claude_folder,
            names_type=True,
            command=ClientCommand("claude", add=("mcp", "add", "--scope", "user", NAME, "--")),
            afterwards="Start a new session of Claude Code; /mcp shows the server, /hooks the hooks.",
            recorder=Recorder("settings.json", _hooks(CLAUDE_CODE)),
        ),
        Client(
            key="claude-desktop",
            name="Claude Desktop",
            file=lambda machine: machine.app("Claude") / "claude_desktop_config.json",
            program="claude-desktop",
            afterwards="Restart Claude Desktop; the server appears under Settings > Developer.",
        ),
        Client(
            key=CURSOR,
            name="Cursor",
            file=lambda machine: machine.home / ".cursor" / "mcp.json",
            program="cursor",
            folder=lambda machine: machine.app("Cursor"),
            afterwards="Cursor picks up the change automatically; its settings show the server under MCP.",
            recorder=Recorder(
                "hooks.json",
                _hooks(CURSOR, _CURSOR_EVENTS, is_flat=True),
                empty='{\n  "version": 1\n}\n',
                caveat="They follow Cursor's documentation, but were not tested in Cursor itself; `mnemos "
                "watch` records its conversations without them.",
            ),
        ),
        Client(
            key="vscode",
            name="VS Code",
            file=lambda machine: machine.app("Code") / "User" / "mcp.json",
            table="servers",
            program="code",
            folder=lambda machine: machine.app("Code"),
            names_type=True,
            afterwards="VS Code asks whether it may start the server; MCP: List Servers shows it.",
        ),
        Client(
            key="codex",
            name="Codex",
            file=lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
            table="mcp_servers",
            format=Toml(),
            program="codex",
            command=ClientCommand("codex", add=("mcp", "add", NAME, "--")),
            afterwards="Start a new session of Codex; /mcp shows the server, /hooks the hooks.",
            recorder=Recorder(
                "hooks.json",
                _hooks("codex"),
                condition="once you trust them: Codex asks when it starts",
            ),
        ),
        Client(
            key="gemini",
            name="Gemini CLI",
            file=lambda machine: machine.folder("GEMINI_CLI_HOME", "") / ".gemini" / "settings.json",
            program="gemini",
            afterwards="Start a new session of Gemini CLI; /mcp shows the server, /hooks the hooks.",
            recorder=Recorder("", _hooks("gemini", _GEMINI_EVENTS, 1_000)),
        ),
        Client(
            key="qwen",
            name="Qwen Code",
            file=lambda machine: machine.folder("QWEN_HOME", ".qwen") / "settings.json",
            program="qwen",
            afterwards="Start a new session of Qwen Code; /mcp shows the server, /hooks the hooks.",
            recorder=Recorder("", _hooks("qwen", unit=1_000)),
        ),
        Client(
            key="opencode",
            name="OpenCode",
            file=_opencode_settings,
            table="mcp",
            program="opencode",
            is_local=True,
            afterwards="Start OpenCode again; `opencode mcp list` shows the server.",
            recorder=Recorder(
                f"plugin/{NAME}.js", _opencode_plugin, Script(), name="plug-in", is_anywhere=False
            ),
        ),
    )
}


# --- Claude Code ----------------------------------------------------------------------------------


def claude_files(machine: Machine, folder: Path | None) -> tuple[Path, Path]:
    """Return the files of servers and of hooks, by default in the usual place."""
    servers = folder / _CLAUDE_SERVERS if folder else _claude_servers(machine)
    return servers, (folder or _claude_folder(machine)) / "settings.json"


def claude_plugin(launch: Launch, home: Path, space: str, *, with_hooks: bool) -> dict[str, str]:
    """Return the files of a plug-in folder by name."""
    about = {
        "name": NAME,
        "version": __version__,
        "description": "A memory on this machine: conversations, notes and facts, recalled when they fit.",
    }
    texts = {
        ".claude-plugin/plugin.json": _render_json(about),
        ".mcp.json": _render_json({"mcpServers": {NAME: launch.server_entry()}}),
        "README.md": _README.format(home=home, space=space),
    }
    if with_hooks:
        groups = {one.path[-1]: [one.value] for one in _hooks(CLAUDE_CODE)(launch)}
        texts["hooks/hooks.json"] = _render_json({"hooks": groups})
    return texts


def _render_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
