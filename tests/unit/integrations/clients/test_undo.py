"""``mnemos connect CLIENT --undo`` removes our entries and nothing that the client wrote meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from client_settings import FILES, connect, everything, put

from mnemos import Memory
from mnemos.errors import InvalidInput, PermissionDenied

ALL = {**FILES, "hermes": ".hermes/config.yaml"}
# The settings of each client before, and those it adds while it is connected.
BEFORE: dict[str, Any] = {"theme": "dark", "mcpServers": {"other": {"command": "x"}}, "list": [1, 2]}
ADDED: dict[str, Any] = {"userID": "4f2a", "projects": {"/tmp/x": {"history": ["hé 你好 🙂"]}}}

every_program = pytest.mark.parametrize("client", sorted(ALL))


@pytest.fixture(autouse=True)
def _hermes(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HERMES_HOME", raising=False)
    (person / ".hermes").mkdir()


def render(client: str, settings: dict[str, Any], indent: int) -> str:
    """Write settings as the client does."""
    if client == "codex":
        return tomlkit.dumps(settings)
    if client == "hermes":
        # Flat values only: what Hermes writes is YAML, and tests need no library for that.
        rows = [f"{name}: {json.dumps(value)}" for name, value in settings.items() if name != "memory"]
        table = settings.get("memory")
        rows += ["memory:", *(f"{' ' * indent}{k}: {v}" for k, v in table.items())] if table else []
        return "\n".join(rows) + "\n"
    return json.dumps(settings, indent=indent, ensure_ascii=indent == 3)


def parse(client: str, text: str) -> dict[str, Any]:
    if client == "codex":
        return tomllib.loads(text)
    if client == "hermes":
        found: dict[str, Any] = {}
        for line in text.splitlines():
            name, _, value = line.strip().partition(": ")
            if line.startswith(" "):
                found["memory"][name] = value
            elif line.strip():
                found[name.removesuffix(":")] = json.loads(value) if value else {}
        return found
    loaded = json.loads(text)
    assert isinstance(loaded, dict)
    return loaded


def rewrite(client: str, path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Let the client read its settings, change them and write them in its own style."""
    path.write_text(render(client, change(parse(client, path.read_text())), indent=3))


@every_program
@pytest.mark.parametrize("before", [None, BEFORE], ids=["new", "known"])
def test_undo_leaves_what_the_client_added_and_reformatted(
    client: str, before: dict[str, Any] | None, memory: Memory, person: Path
) -> None:
    path = person / ALL[client]
    if before is not None:
        put(path, render(client, before, indent=2))
    for _ in range(2):
        connect(memory, client)
        rewrite(client, path, lambda said: dict(reversed([*said.items(), *ADDED.items()])))
        connect(memory, client, undo=True)
        assert parse(client, path.read_text()) == {**(before or {}), **ADDED}
    assert connect(memory, client, undo=True)["changes"] == []


@every_program
def test_undo_keeps_what_the_client_changed_and_deleted(client: str, memory: Memory, person: Path) -> None:
    path = put(person / ALL[client], render(client, BEFORE, indent=2))
    connect(memory, client)
    rewrite(client, path, lambda said: {k: v for k, v in said.items() if k != "list"} | {"theme": "light"})
    connect(memory, client, undo=True)
    assert parse(client, path.read_text()) == {
        "theme": "light",
        "mcpServers": {"other": {"command": "x"}},
    }


@every_program
def test_connecting_again_after_the_client_wrote_keeps_undo_exact(
    client: str, memory: Memory, person: Path
) -> None:
    path = put(person / ALL[client], render(client, BEFORE, indent=2))
    connect(memory, client)
    rewrite(client, path, lambda said: said | ADDED)
    connect(memory, client)
    with Memory.at(person / ".mnemos", space="work") as other:
        connect(other, client)
    connect(memory, client, undo=True)
    assert parse(client, path.read_text()) == BEFORE | ADDED


@every_program
def test_undo_without_connect_changes_nothing(client: str, memory: Memory, person: Path) -> None:
    put(person / ALL[client], render(client, BEFORE, indent=2))
    before = everything(person)
    for _ in range(2):
        assert connect(memory, client, undo=True)["changes"] == []
    assert everything(person) == before


@every_program
def test_undo_writes_through_a_link(client: str, memory: Memory, person: Path) -> None:
    real = put(person / "dotfiles/settings", render(client, BEFORE, indent=2))
    link = person / ALL[client]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(real)
    connect(memory, client)
    rewrite(client, real, lambda said: said | ADDED)
    connect(memory, client, undo=True)
    assert link.is_symlink()
    assert parse(client, real.read_text()) == BEFORE | ADDED


@every_program
def test_a_read_only_folder_is_refused_before_anything_is_written(
    client: str, memory: Memory, person: Path
) -> None:
    path = put(person / ALL[client], render(client, BEFORE, indent=2))
    before = everything(person)
    folder = person / ".claude" if client == "claude_code" else path.parent
    folder.mkdir(exist_ok=True)
    folder.chmod(0o555)
    with pytest.raises(PermissionDenied):
        connect(memory, client)
    folder.chmod(0o755)
    assert {name: data for name, data in everything(person).items() if data} == {
        name: data for name, data in before.items() if data
    }
    connect(memory, client)
    connected = everything(person)
    folder.chmod(0o555)
    with pytest.raises(PermissionDenied):
        connect(memory, client, undo=True)
    folder.chmod(0o755)
    assert everything(person) == connected


@every_program
def test_settings_that_became_invalid_are_not_touched_by_undo(
    client: str, memory: Memory, person: Path
) -> None:
    path = person / ALL[client]
    connect(memory, client)
    path.write_bytes(b'{"theme": \xff')
    with pytest.raises(InvalidInput):
        connect(memory, client, undo=True)
    assert path.read_bytes() == b'{"theme": \xff'


# One for each format of settings.
@pytest.mark.parametrize("client", ["claude_code", "codex", "hermes"])
def test_two_processes_connect_at_once(client: str, memory: Memory, person: Path) -> None:
    path = put(person / ALL[client], render(client, BEFORE, indent=2))
    original = path.read_bytes()
    options = ["--yes", "--home", str(person / ".mnemos")]
    command = [sys.executable, "-m", "mnemos", "connect", client.replace("_", "-"), *options]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
    for process in both:
        out, _ = process.communicate()
        assert process.returncode == 0, out
    connect(memory, client, undo=True)
    assert path.read_bytes() == original
