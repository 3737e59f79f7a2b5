"""Hooks and plug-ins of Claude Code, and the commands with which clients change their own settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from client_settings import EVENTS, connect, entry_of, everything, put

from mnemos import Memory
from mnemos.errors import Refused

# --- Claude Code ---------------------------------------------------------------------------------


def test_hooks_are_added_after_existing_ones(memory: Memory, person: Path) -> None:
    mine = {"matcher": "startup", "hooks": [{"type": "command", "command": "date"}]}
    path = put(
        person / ".claude/settings.json", json.dumps({"hooks": {"SessionStart": [mine]}, "model": "x"})
    )
    connect(memory, "claude_code")
    hooks = json.loads(path.read_text())["hooks"]
    assert list(hooks) == EVENTS
    assert hooks["SessionStart"][0] == mine
    commands = [hooks[event][-1]["hooks"][0]["command"] for event in EVENTS]
    assert [command.rsplit(" ", 1)[1] for command in commands] == [
        "session-start", "user-prompt", "pre-compact", "stop", "session-end"
    ]  # fmt: skip
    assert all(hooks[event][-1]["hooks"][0]["timeout"] >= 10 for event in EVENTS)


def test_undo_removes_only_our_hooks_from_changed_groups(memory: Memory, person: Path) -> None:
    path = person / ".claude/settings.json"
    connect(memory, "claude_code")
    said = json.loads(path.read_text())
    said["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "date"})
    said["hooks"]["PreCompact"][0]["matcher"] = "auto"
    said["hooks"]["PreToolUse"] = []
    path.write_text(json.dumps(said))
    connect(memory, "claude_code", undo=True)
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date"}]}], "PreToolUse": []}
    }


def test_hooks_can_be_left_out_and_removed_later(memory: Memory, person: Path) -> None:
    connect(memory, "claude_code", no_hooks=True)
    assert not (person / ".claude").exists()
    connect(memory, "claude_code")
    assert (person / ".claude/settings.json").exists()
    connect(memory, "claude_code", no_hooks=True)
    assert not (person / ".claude").exists()
    assert entry_of("claude_code", person)


def test_the_environment_variable_moves_both_files(
    memory: Memory, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(person / "elsewhere"))
    connect(memory, "claude_code")
    assert sorted(everything(person)) == [
        "elsewhere", "elsewhere/.claude.json", "elsewhere/settings.json"
    ]  # fmt: skip


def test_a_path_with_spaces_is_quoted_for_the_shell(person: Path) -> None:
    with Memory.at(person / "my home") as memory:
        connect(memory, "claude_code")
    hooks = json.loads((person / ".claude/settings.json").read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"].endswith(f"hook stop --home '{person / 'my home'}'")


def test_a_plug_in_folder_is_written_and_removed(memory: Memory, person: Path) -> None:
    folder = person / "some/plug-in"
    answer = connect(memory, "claude_code", plugin=str(folder))
    files = {name for name, data in everything(folder).items() if data is not None}
    assert files == {".claude-plugin/plugin.json", ".mcp.json", "hooks/hooks.json", "README.md"}
    assert json.loads((folder / ".claude-plugin/plugin.json").read_text())["name"] == "mnemos"
    assert "mnemos" in json.loads((folder / ".mcp.json").read_text())["mcpServers"]
    assert list(json.loads((folder / "hooks/hooks.json").read_text())["hooks"]) == EVENTS
    assert f"--plugin {folder} --undo" in answer["text"]
    assert connect(memory, "claude_code", plugin=str(folder))["changes"] == []
    connect(memory, "claude_code", plugin=str(folder), undo=True)
    assert everything(person) == {}


def test_files_of_others_in_a_plug_in_folder_stay(memory: Memory, person: Path) -> None:
    folder = person / "plug-in"
    put(folder / ".mcp.json", "{}")
    with pytest.raises(Refused):
        connect(memory, "claude_code", plugin=str(folder))
    assert sorted(everything(folder)) == [".mcp.json"]
    (folder / ".mcp.json").unlink()
    connect(memory, "claude_code", plugin=str(folder))
    put(folder / "README.md", "mine")
    answer = connect(memory, "claude_code", plugin=str(folder), undo=True)
    assert sorted(everything(folder)) == ["README.md"]
    assert "changed since" in answer["text"]


# --- the clients' own commands -------------------------------------------------------------------

TOOL = """#!{python}
import json, os, pathlib, sys
log = pathlib.Path(os.environ["HOME"], "calls.jsonl")
log.open("a").write(json.dumps(sys.argv[1:]) + "\\n")
{body}
"""
CLAUDE = """
path = pathlib.Path(os.environ["HOME"], ".claude.json")
said = json.loads(path.read_text()) if path.exists() else {}
if sys.argv[2] == "add":
    words = sys.argv[sys.argv.index("--") + 1:]
    entry = {"type": "stdio", "command": words[0], "args": words[1:], "env": {}}
    said.setdefault("mcpServers", {})["mnemos"] = entry
else:
    del said["mcpServers"]["mnemos"]
path.write_text(json.dumps(said, indent=2))
"""
IDS = """
path = pathlib.Path(os.environ["HOME"], ".claude.json")
if not path.exists():
    path.write_text(json.dumps({"userID": "4f2a"}))
"""
CODEX = """
path = pathlib.Path(os.environ["HOME"], ".codex/config.toml")
path.parent.mkdir(exist_ok=True)
text = path.read_text() if path.exists() else ""
if sys.argv[2] == "add":
    words = sys.argv[sys.argv.index("--") + 1:]
    text += f"[mcp_servers.mnemos]\\ncommand = {json.dumps(words[0])}\\nargs = {json.dumps(words[1:])}\\n"
else:
    text = text.partition("[mcp_servers.mnemos]")[0]
path.write_text(text)
"""


def install(person: Path, name: str, body: str) -> None:
    program = put(person.parent / "bin" / name, TOOL.format(python=sys.executable, body=body))
    program.chmod(0o755)


def calls(person: Path) -> list[list[str]]:
    path = person / "calls.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_claude_code_is_connected_by_its_own_command(memory: Memory, person: Path) -> None:
    install(person, "claude", CLAUDE)
    path = put(person / ".claude.json", '{"numStartups":3}')
    answer = connect(memory, "claude_code", no_hooks=True)
    (call,) = calls(person)
    assert call[:6] == ["mcp", "add", "--scope", "user", "mnemos", "--"]
    assert call[-1] == "mcp"
    assert answer["command"].startswith("claude mcp add")
    assert connect(memory, "claude_code", no_hooks=True)["changes"] == []
    connect(memory, "claude_code", undo=True)
    assert path.read_text() == '{"numStartups":3}'
    assert len(calls(person)) == 1


def test_undo_keeps_the_ids_that_claude_code_wrote_into_a_new_file(memory: Memory, person: Path) -> None:
    install(person, "claude", IDS + CLAUDE)
    connect(memory, "claude_code", no_hooks=True)
    path = person / ".claude.json"
    assert set(json.loads(path.read_text())) == {"userID", "mcpServers"}
    connect(memory, "claude_code", undo=True)
    assert json.loads(path.read_text()) == {"userID": "4f2a"}
    assert len(calls(person)) == 1


def test_undo_removes_a_file_in_which_claude_code_wrote_only_our_entry(memory: Memory, person: Path) -> None:
    install(person, "claude", CLAUDE)
    connect(memory, "claude_code", no_hooks=True)
    connect(memory, "claude_code", undo=True)
    assert not (person / ".claude.json").exists()


def test_codex_is_connected_by_its_own_command_and_undo_restores_every_byte(
    memory: Memory, person: Path
) -> None:
    install(person, "codex", CODEX)
    path = put(person / ".codex/config.toml", "a = 1  # mine\n")
    connect(memory, "codex")
    assert calls(person)[0][:4] == ["mcp", "add", "mnemos", "--"]
    connect(memory, "codex", undo=True)
    assert path.read_text() == "a = 1  # mine\n"
    connect(memory, "codex")
    path.write_text("b = 2\n" + path.read_text())
    connect(memory, "codex", undo=True)
    assert len(calls(person)) == 2
    assert path.read_text() == "b = 2\na = 1  # mine\n"


@pytest.mark.parametrize("body", ["sys.exit('no, thanks')", "pass", "raise SystemExit(3)"])
def test_settings_are_changed_directly_if_the_command_fails(body: str, memory: Memory, person: Path) -> None:
    install(person, "claude", body)
    answer = connect(memory, "claude_code", no_hooks=True)
    assert len(calls(person)) == 1
    assert "changed directly" in answer["text"]
    assert answer["connected"]


def test_settings_are_changed_directly_if_the_command_cannot_start(memory: Memory, person: Path) -> None:
    put(person.parent / "bin/claude", "#!/no/such/interpreter\n").chmod(0o755)
    assert connect(memory, "claude_code")["connected"]


MEANWHILE = """
path.write_text(json.dumps(json.loads(path.read_text()) | {"numStartups": 4}, indent=2))
"""


def test_undo_keeps_what_claude_code_wrote_while_connecting(memory: Memory, person: Path) -> None:
    install(person, "claude", CLAUDE + MEANWHILE)
    path = put(person / ".claude.json", '{"numStartups": 3}')
    connect(memory, "claude_code", no_hooks=True)
    install(person, "claude", CLAUDE)
    connect(memory, "claude_code", undo=True)
    assert json.loads(path.read_text())["numStartups"] == 4


MIGRATES = """
path = pathlib.Path(os.environ["HOME"], ".claude/settings.json")
path.parent.mkdir(exist_ok=True)
path.write_text(json.dumps({"theme": "light"}))
"""


def test_settings_that_claude_code_moves_to_another_file_while_connecting_stay(
    memory: Memory, person: Path
) -> None:
    install(person, "claude", MIGRATES + CLAUDE)
    path = person / ".claude/settings.json"
    connect(memory, "claude_code")
    assert set(json.loads(path.read_text())) == {"theme", "hooks"}
    connect(memory, "claude_code", undo=True)
    assert json.loads(path.read_text()) == {"theme": "light"}


@pytest.mark.parametrize("group", ['{"hooks": true}', '{"hooks": ["x", 7]}', "7", "null"])
def test_hook_groups_of_another_shape_stay(group: str, memory: Memory, person: Path) -> None:
    text = f'{{"hooks": {{"Stop": [{group}]}}}}'
    path = put(person / ".claude/settings.json", text)
    connect(memory, "claude_code")
    assert len(json.loads(path.read_text())["hooks"]["Stop"]) == 2
    connect(memory, "claude_code", undo=True)
    assert path.read_text() == text


def test_our_hook_is_removed_from_a_group_with_other_items(memory: Memory, person: Path) -> None:
    connect(memory, "claude_code")
    path = person / ".claude/settings.json"
    said = json.loads(path.read_text())
    said["hooks"]["Stop"][0]["hooks"].insert(0, "not a hook")
    path.write_text(json.dumps(said))
    connect(memory, "claude_code", undo=True)
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": ["not a hook"]}]}}


def test_commands_are_shown_quoted_for_the_shell(memory: Memory, person: Path) -> None:
    folder = person / "a plug-in"
    assert f"claude --plugin-dir '{folder}'" in connect(memory, "claude_code", plugin=str(folder))["text"]
    install(person, "claude", CLAUDE)
    with Memory.at(person / "my memory") as other:
        assert f"--home '{person / 'my memory'}'" in connect(other, "claude_code", diff=True)["text"]
