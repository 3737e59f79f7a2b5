"""What Claude Code takes besides a server: hooks, which run at certain moments, and plug-in folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from mnemos import __version__
from mnemos.integrations.clients.editing import Target
from mnemos.integrations.clients.edits import Addition
from mnemos.integrations.clients.json_edits import Json
from mnemos.integrations.clients.places import NAME, Starting, Surroundings

KEY: Final = "claude-code"
_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
_SETTINGS: Final = "settings.json"
_SERVERS: Final = ".claude.json"

# When Claude Code runs what, and after how many seconds it gives up.
_EVENTS: Final = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "user-prompt", 10),
    ("PreCompact", "pre-compact", 30),
    ("Stop", "stop", 30),
    ("SessionEnd", "session-end", 30),
)

_README: Final = """# Mnemos for Claude Code

This folder is a plug-in: it gives Claude Code the tools of the memory in {home}, space {space}, and hooks
that recall and record by themselves. Use it for one session with

    claude --plugin-dir FOLDER

Written by `mnemos connect claude-code --plugin FOLDER`; with --undo it is removed again.
"""


def folder(here: Surroundings) -> Path:
    """Where the settings of Claude Code are."""
    return here.folder(_VARIABLE, ".claude")


def servers_file(here: Surroundings) -> Path:
    """Where its list of servers is: beside that folder, unless a variable moves both."""
    return (folder(here) if here.env.get(_VARIABLE, "").strip() else here.home) / _SERVERS


def files_in(config: Path) -> Path:
    """The list of servers of a folder that somebody named."""
    return config / _SERVERS


def hooks(here: Surroundings, starting: Starting, config: Path | None, *, wanted: bool) -> Target:
    """The settings, and our hooks in them."""
    added = tuple(
        Addition(path=("hooks", event), value=_group(starting, name, seconds), is_item=True)
        for event, name, seconds in _EVENTS
    )
    return Target((config or folder(here)) / _SETTINGS, Json(), added if wanted else (), KEY)


def plugin(starting: Starting, home: Path, space: str, *, with_hooks: bool) -> dict[str, str]:
    """The files of a plug-in folder, by name."""
    about = {
        "name": NAME,
        "version": __version__,
        "description": "A memory on this machine: conversations, notes and facts, found again when they fit.",
    }
    files = {
        ".claude-plugin/plugin.json": _text(about),
        ".mcp.json": _text({"mcpServers": {NAME: starting.entry()}}),
        "README.md": _README.format(home=home, space=space),
    }
    if with_hooks:
        groups = {event: [_group(starting, name, seconds)] for event, name, seconds in _EVENTS}
        files["hooks/hooks.json"] = _text({"hooks": groups})
    return files


def _group(starting: Starting, event: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": starting.hook(event), "timeout": seconds}]}


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
