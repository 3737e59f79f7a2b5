"""Settings files of clients, for tests."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mnemos import Memory

JSON_CLIENTS = {
    "claude_desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
    "claude_code": (".claude.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
}
FILES = {name: file for name, (file, _) in JSON_CLIENTS.items()} | {"codex": ".codex/config.toml"}
WITH_COMMENTS = ("cursor", "vscode")
EVENTS = ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"]

every_client = pytest.mark.parametrize("client", sorted(FILES))
every_json_client = pytest.mark.parametrize("client", sorted(JSON_CLIENTS))


def connect(memory: Memory, client: str, /, **given: Any) -> dict[str, Any]:
    return memory.call(f"connect_{client}", given)


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def everything(folder: Path) -> dict[str, bytes | None]:
    """Return all files and folders in a person's folder except the memory."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if ".mnemos" not in path.parts
    }


def entry_of(client: str, person: Path) -> dict[str, Any]:
    path = person / FILES[client]
    if client == "codex":
        found = tomllib.loads(path.read_text())["mcp_servers"]["mnemos"]
    else:
        found = json.loads(path.read_text())[JSON_CLIENTS[client][1]]["mnemos"]
    assert isinstance(found, dict)
    if isinstance(found["command"], list):
        command, *args = found["command"]
        found |= {"command": command, "args": args}
    return found
