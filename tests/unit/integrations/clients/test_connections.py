"""``mnemos connect`` writes into the settings of clients, keeps everything else, and can be undone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from client_settings import (
    FILES,
    JSON_CLIENTS,
    WITH_COMMENTS,
    connect,
    entry_of,
    every_client,
    every_json_client,
    everything,
    put,
)

from mnemos import Memory
from mnemos.errors import InvalidInput, PermissionDenied, Refused
from mnemos.integrations.clients.additions import starts_mnemos
from mnemos.integrations.clients.machine import Machine, find_own_program
from mnemos.integrations.clients.settings_files import Records

# --- connect and undo -----------------------------------------------------------------------------


@every_client
def test_a_connected_client_starts_this_memory(client: str, memory: Memory, person: Path) -> None:
    answer = connect(memory, client)
    assert (answer["connected"], answer["done"]) == (True, True)
    entry = entry_of(client, person)
    assert entry["args"][-1] == "mcp"
    assert Path(entry["command"]).is_absolute()
    types = {"vscode": "stdio", "claude_code": "stdio", "opencode": "local"}
    assert entry.get("type") == types.get(client)
    done = subprocess.run(
        [entry["command"], *entry["args"][:-1], "--version"], capture_output=True, check=True, env={}
    )
    assert done.stdout.startswith(b"mnemos ")


@every_client
def test_undo_removes_files_and_folders_that_were_made(client: str, memory: Memory, person: Path) -> None:
    connect(memory, client)
    assert everything(person)
    answer = connect(memory, client, undo=True)
    assert answer["connected"] is False
    assert everything(person) == {}


@pytest.mark.parametrize(
    "text",
    ["", "\n", "{}", "{ }", "{\n}\n", '{"a":1}', '{\n\t"a": [1, 2]\n}', '{\r\n  "b": 1,\r\n  "a": 2\r\n}\r\n',
     '\ufeff{"a": 1}\n', '{"mcpServers": {}, "servers": {}}', '{"servers": {"z": {}}, "mcpServers": {}}',
     '{"hooks": {}}', '{"hooks": {"Stop": []}, "a": "\\u00e9é"}', '   {"deep": {"er": [[[{}]]]}}   '],
)  # fmt: skip
@every_json_client
def test_undo_restores_every_byte(client: str, text: str, memory: Memory, person: Path) -> None:
    put(person / FILES[client], text)
    put(person / ".claude/settings.json", text)
    before = everything(person)
    connect(memory, client)
    assert everything(person) != before
    connect(memory, client, undo=True)
    assert everything(person) == before


@pytest.mark.parametrize("client", WITH_COMMENTS)
def test_comments_and_trailing_commas_stay(client: str, memory: Memory, person: Path) -> None:
    path = put(person / FILES[client], '{\n  // mine\n  "a": 1, /* b */\n}\n')
    before = path.read_bytes()
    connect(memory, client)
    assert b"// mine" in path.read_bytes()
    connect(memory, client, undo=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text", ["", "a = 1", '\ufeffa = 1\r\n[mcp_servers.x]\r\ncommand = "y"\r\n', "# only\n"]
)
def test_undo_restores_every_byte_of_codex_settings(text: str, memory: Memory, person: Path) -> None:
    path = put(person / FILES["codex"], text)
    before = path.read_bytes()
    connect(memory, "codex")
    assert path.read_bytes() != before
    connect(memory, "codex", undo=True)
    assert path.read_bytes() == before


@every_client
def test_connecting_twice_changes_nothing(client: str, memory: Memory, person: Path) -> None:
    connect(memory, client)
    before = everything(person)
    answer = connect(memory, client)
    assert answer["changes"] == []
    assert "already" in answer["text"]
    assert everything(person) == before


@every_client
def test_a_dry_run_writes_nothing(client: str, memory: Memory, person: Path) -> None:
    answer = connect(memory, client, print=True)
    assert answer["done"] is False
    assert "mnemos" in answer["changes"][0]["diff"]
    assert everything(person) == {}
    assert not (person / ".mnemos").exists()


@every_client
def test_undo_keeps_what_the_client_wrote_meanwhile(client: str, memory: Memory, person: Path) -> None:
    path = person / FILES[client]
    connect(memory, client)
    if client == "codex":
        path.write_text('model = "o"\n' + path.read_text() + '\n[mcp_servers.later]\ncommand = "x"\n')
    else:
        said = json.loads(path.read_text())
        table = JSON_CLIENTS[client][1]
        said[table]["mnemos"]["env"] = {}
        said = {"first": 1, **said, "last": [1]}
        said[table]["later"] = {}
        path.write_text(json.dumps(said, indent=4))
    connect(memory, client, undo=True)
    if client == "codex":
        assert tomllib.loads(path.read_text()) == {
            "model": "o",
            "mcp_servers": {"later": {"command": "x"}},
        }
    else:
        assert json.loads(path.read_text()) == {
            "first": 1,
            JSON_CLIENTS[client][1]: {"later": {}},
            "last": [1],
        }


def test_connecting_another_space_replaces_the_entry_and_undo_restores_the_original(
    memory: Memory, person: Path
) -> None:
    put(person / FILES["cursor"], '{"mcpServers": {}}')
    before = everything(person)
    connect(memory, "cursor")
    with Memory.at(person / ".mnemos", space="team/blue") as other:
        assert connect(other, "cursor")["changes"]
    assert entry_of("cursor", person)["args"][-2:] == ["--space", "team/blue"]
    connect(memory, "cursor", undo=True)
    assert everything(person) == before


def test_only_a_home_and_space_that_are_not_the_default_are_written(person: Path) -> None:
    with Memory.at(person / "other home", space="me") as memory:
        answer = connect(memory, "cursor")
    assert entry_of("cursor", person)["args"] == [
        "mcp", "--home", str(person / "other home"), "--space", "me"
    ]  # fmt: skip
    assert answer["undo_command"].endswith(f"--undo --home '{person / 'other home'}' --space me")


def test_a_file_of_a_project_can_be_named(memory: Memory, person: Path) -> None:
    path = put(person / "project/.cursor/mcp.json", "{}")
    connect(memory, "cursor", config=str(path))
    connect(memory, "cursor")
    connect(memory, "cursor", config=str(path), undo=True)
    assert path.read_text() == "{}"
    assert entry_of("cursor", person)


def test_settings_keep_their_mode_and_links(memory: Memory, person: Path) -> None:
    real = put(person / "dotfiles/mcp.json", "{}\n")
    real.chmod(0o640)
    link = person / FILES["cursor"]
    link.parent.mkdir()
    link.symlink_to(real)
    connect(memory, "cursor")
    assert link.is_symlink()
    assert "mnemos" in real.read_text()
    connect(memory, "cursor", undo=True)
    assert (link.is_symlink(), real.read_text(), real.stat().st_mode & 0o777) == (True, "{}\n", 0o640)


def test_the_backup_is_private_and_deleted_by_undo(memory: Memory, person: Path) -> None:
    put(person / FILES["cursor"], '{"key": "abc"}').chmod(0o644)
    (copy,) = connect(memory, "cursor")["backups"]
    assert (Path(copy).read_text(), Path(copy).stat().st_mode & 0o777) == ('{"key": "abc"}', 0o600)
    connect(memory, "cursor", undo=True)
    assert [path.name for path in (person / ".mnemos/connections").iterdir()] == [".lock"]


def test_connecting_concurrently_leaves_one_entry(memory: Memory, person: Path) -> None:
    put(person / FILES["cursor"], '{"a": 1}')
    with ThreadPoolExecutor(4) as several:
        answers = list(several.map(lambda _: connect(memory, "cursor"), range(4)))
    assert all(answer["connected"] for answer in answers)
    connect(memory, "cursor", undo=True)
    assert (person / FILES["cursor"]).read_text() == '{"a": 1}'


# --- refusals -------------------------------------------------------------------------------------


@every_client
@pytest.mark.parametrize("undo", [False, True])
def test_invalid_settings_are_reported_and_stay(
    client: str, undo: bool, memory: Memory, person: Path
) -> None:
    path = put(person / FILES[client], '{"a": 1,\n  oops}\n')
    with pytest.raises(InvalidInput) as raised:
        connect(memory, client, undo=undo)
    assert re.search(rf"{re.escape(str(path))} .*line \d+, column \d+", str(raised.value))
    assert path.read_text() == '{"a": 1,\n  oops}\n'
    assert not (person / ".mnemos").exists()


@every_json_client
def test_an_entry_of_a_person_is_not_changed(client: str, memory: Memory, person: Path) -> None:
    table = JSON_CLIENTS[client][1]
    path = put(person / FILES[client], json.dumps({table: {"mnemos": {"url": "http://127.0.0.1:1/mcp"}}}))
    before = path.read_bytes()
    for undo in (False, True):
        with pytest.raises(Refused):
            connect(memory, client, undo=undo)
    assert path.read_bytes() == before


def test_an_entry_for_another_memory_is_not_changed_and_its_undo_command_is_shown(
    memory: Memory, person: Path
) -> None:
    with Memory.at(person / "other") as other:
        connect(other, "cursor")
    with pytest.raises(Refused) as raised:
        connect(memory, "cursor")
    assert f"mnemos --home {person / 'other'} connect cursor --undo" in str(raised.value)


def test_the_same_entry_written_by_a_person_counts_as_connected(memory: Memory, person: Path) -> None:
    connect(memory, "claude_desktop")
    entry = entry_of("claude_desktop", person)
    connect(memory, "claude_desktop", undo=True)
    put(person / FILES["claude_desktop"], json.dumps({"mcpServers": {"mnemos": entry | {"env": {"A": "b"}}}}))
    assert connect(memory, "claude_desktop")["changes"] == []
    connect(memory, "claude_desktop", undo=True)
    assert json.loads((person / FILES["claude_desktop"]).read_text()) == {"mcpServers": {}}


def test_undo_refuses_an_entry_that_became_something_else(memory: Memory, person: Path) -> None:
    connect(memory, "cursor")
    path = put(person / FILES["cursor"], '{"mcpServers": {"mnemos": {"url": "x"}}}')
    with pytest.raises(Refused):
        connect(memory, "cursor", undo=True)
    assert "url" in path.read_text()


def test_undo_drops_the_record_of_an_entry_that_is_gone(memory: Memory, person: Path) -> None:
    connect(memory, "claude_desktop")
    put(person / FILES["claude_desktop"], '{"mine": 1}')
    assert connect(memory, "claude_desktop", undo=True)["changes"] == []
    assert not (person / ".mnemos/connections/cursor.json").exists()
    assert (person / FILES["claude_desktop"]).read_text() == '{"mine": 1}'


def test_read_only_settings_are_refused_even_to_root(memory: Memory, person: Path) -> None:
    put(person / FILES["cursor"], "{}").chmod(0o444)
    with pytest.raises(PermissionDenied):
        connect(memory, "cursor")
    assert (person / FILES["cursor"]).read_text() == "{}"


def test_nothing_is_written_if_one_of_two_files_is_read_only(memory: Memory, person: Path) -> None:
    put(person / ".claude/settings.json", "{}").chmod(0o444)
    put(person / ".claude.json", "{}")
    with pytest.raises(PermissionDenied):
        connect(memory, "claude_code")
    assert (person / ".claude.json").read_text() == "{}"


def test_settings_that_are_not_a_text_file_are_refused(memory: Memory, person: Path) -> None:
    path = person / FILES["cursor"]
    path.mkdir(parents=True)
    with pytest.raises(InvalidInput):
        connect(memory, "cursor")
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InvalidInput):
        connect(memory, "cursor")
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(InvalidInput):
        connect(memory, "cursor")
    path.unlink()
    put(path, b"\xff\xfe{\x00}\x00")
    with pytest.raises(InvalidInput):
        connect(memory, "cursor")
    path.unlink()
    path.parent.rmdir()
    put(path.parent, "a file")
    with pytest.raises(InvalidInput):
        connect(memory, "cursor")


def test_an_unreadable_record_is_reported(memory: Memory, person: Path) -> None:
    put(person / ".mnemos/connections/cursor.json", "nonsense")
    with pytest.raises(InvalidInput):
        connect(memory, "cursor")


def test_a_large_file_keeps_its_bytes(memory: Memory, person: Path) -> None:
    history = {f"project {n}": {"history": ["x" * 100] * 20, "n": n} for n in range(1000)}
    path = put(person / ".claude.json", json.dumps({"projects": history, "mcpServers": {}}, indent=2))
    before = path.read_bytes()
    assert len(before) > 2_000_000
    answer = connect(memory, "claude_code", no_hooks=True)
    assert len(answer["changes"][0]["diff"].splitlines()) < 12
    connect(memory, "claude_code", undo=True)
    assert path.read_bytes() == before


def test_the_diff_hides_secrets(memory: Memory, person: Path) -> None:
    put(person / FILES["cursor"], '{\n  "apiKey": "sk-ant-' + "a1B2" * 12 + '"\n}')
    diff = connect(memory, "cursor", print=True)["changes"][0]["diff"]
    assert "apiKey" in diff
    assert "a1B2a1B2" not in diff


# --- discovery ------------------------------------------------------------------------------------


def test_clients_are_found_by_folder_or_program(memory: Memory, person: Path) -> None:
    put(person.parent / "bin/codex", "").chmod(0o755)
    put(person / ".cursor/mcp.json", "nonsense")
    (person / ".hermes").mkdir()
    answer = connect(memory, "found")
    states = {one["client"]: one for one in answer["clients"]}
    assert {name for name, one in states.items() if one["found"]} == {"codex", "cursor", "hermes"}
    assert "line 1" in states["cursor"]["problem"]
    assert "mnemos connect codex" in answer["text"]
    assert not (person / ".mnemos").exists()


def test_connect_found_connects_the_clients_named(memory: Memory, person: Path) -> None:
    (person / ".hermes").mkdir()
    answer = connect(memory, "found", client=["cursor", "hermes"])
    states = {one["client"]: one["connected"] for one in answer["clients"]}
    assert (states["cursor"], states["hermes"], states["codex"]) == (True, True, False)


def test_settings_folders_depend_on_the_platform(tmp_path: Path) -> None:
    mac = Machine({}, "darwin", tmp_path)
    assert mac.app("Code") == tmp_path / "Library" / "Application Support" / "Code"
    windows = Machine({"APPDATA": str(tmp_path / "Roaming")}, "win32", tmp_path)
    assert windows.app("Claude") == tmp_path / "Roaming" / "Claude"
    linux = Machine({"XDG_CONFIG_HOME": str(tmp_path / "xdg")}, "linux", tmp_path)
    assert linux.app("Code") == tmp_path / "xdg" / "Code"


def test_the_command_is_the_running_program_or_python(tmp_path: Path) -> None:
    program = put(tmp_path / "bin" / "mnemos", "")
    python = str(put(tmp_path / "venv" / "python3", ""))
    assert find_own_program([str(program)], python, "linux") == (str(program),)
    assert find_own_program(["-c"], python, "linux") == (python, "-P", "-m", "mnemos")
    beside = put(tmp_path / "venv" / "mnemos", "")
    assert find_own_program(["/usr/bin/pytest"], python, "linux") == (str(beside),)
    assert find_own_program([], "", "linux") == ("mnemos",)


def test_python_runs_the_package_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "mnemos", "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"mnemos ")


@pytest.mark.parametrize(
    "entry", ['{"command": "x", "args": true}', '{"command": "/bin/mnemos", "args": 7}', "true", "[]"]
)
def test_an_entry_of_another_shape_is_refused(entry: str, memory: Memory, person: Path) -> None:
    text = f'{{"mcpServers": {{"mnemos": {entry}}}}}'
    path = put(person / ".cursor/mcp.json", text)
    for undo in (False, True):
        with pytest.raises(Refused):
            connect(memory, "cursor", undo=undo)
    assert path.read_text() == text


def test_connecting_makes_a_private_home(memory: Memory, person: Path) -> None:
    connect(memory, "cursor")
    assert (person / ".mnemos").stat().st_mode & 0o777 == 0o700


def test_the_next_change_removes_files_left_by_a_killed_process(memory: Memory, person: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = put(person / ".cursor/mcp.json", '{"key": "secret"}')
    left = put(path.with_name(f".mcp.json.{ended.pid}.new"), '{"key": "secret"}')
    other = put(path.with_name(".mcp.json.mine.new"), "")
    used = put(path.with_name(f".mcp.json.{os.getppid()}.new"), "")
    connect(memory, "cursor")
    assert [left.exists(), other.exists(), used.exists()] == [False, True, True]


def test_a_second_undo_removes_backups_after_the_first_was_killed(
    memory: Memory, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: object) -> None:
        raise Killed

    put(person / ".claude.json", '{"a": 1}')
    put(person / ".claude/settings.json", '{"b": 1}')
    connect(memory, "claude_code")
    with monkeypatch.context() as patch:
        patch.setattr(Records, "drop", kill)
        with pytest.raises(Killed):
            connect(memory, "claude_code", undo=True)
    connect(memory, "claude_code", undo=True)
    assert [path.name for path in (person / ".mnemos/connections").iterdir()] == [".lock"]
    assert (person / ".claude.json").read_text() == '{"a": 1}'
    assert (person / ".claude/settings.json").read_text() == '{"b": 1}'


@every_client
def test_members_added_by_a_person_survive_a_move_of_mnemos(
    client: str, memory: Memory, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(memory, client)
    path = person / FILES[client]
    if client == "codex":
        path.write_text(path.read_text() + 'startup = 2.5\nenv = { "A B" = "x", N = 7 }\n')
    else:
        said = json.loads(path.read_text())
        said[JSON_CLIENTS[client][1]]["mnemos"] |= {"startup": 2.5, "env": {"A B": "x", "N": 7}}
        path.write_text(json.dumps(said))
    moved = put(person / "new place/mnemos", "")
    monkeypatch.setattr(sys, "argv", [str(moved)])
    connect(memory, client)
    entry = entry_of(client, person)
    assert entry["command"] == str(moved)
    assert (entry["startup"], entry["env"]) == (2.5, {"A B": "x", "N": 7})
    connect(memory, client, undo=True)
    assert not path.exists() or "mnemos" not in path.read_text()


@pytest.mark.parametrize(
    ("command", "args", "expected"),
    [
        ("/usr/bin/mnemos", ["mcp"], True),
        ("C:\\Tools\\mnemos.exe", ["mcp", "--space", "x"], True),
        ("/usr/bin/python3", ["-P", "-m", "mnemos", "mcp"], True),
        ("uvx", ["--from", "mnemos[mcp]", "mnemos", "mcp"], True),
        ("/usr/bin/mnemos", ["serve"], False),
        ("npx", ["other", "mcp"], False),
        (7, ["mcp"], False),
        ("/usr/bin/mnemos", "mcp", False),
    ],
)
def test_entries_that_start_mnemos_are_recognised(command: object, args: object, expected: bool) -> None:
    assert starts_mnemos({"command": command, "args": args}) is expected


@pytest.mark.parametrize("client", ["gemini", "qwen"])
def test_hooks_go_into_the_settings_that_were_named(client: str, memory: Memory, person: Path) -> None:
    path = put(person / "other.json", '{"mine": 1}')
    memory.call(f"connect_{client}", {"config": str(path)})
    assert json.loads(path.read_text()).keys() == {"mine", "mcpServers", "hooks"}
    memory.call(f"connect_{client}", {"config": str(path), "no_hooks": True})
    assert json.loads(path.read_text()).keys() == {"mine", "mcpServers"}
    memory.call(f"connect_{client}", {"config": str(path), "undo": True})
    assert path.read_text() == '{"mine": 1}'


def test_a_plug_in_that_was_changed_is_not_removed(memory: Memory, person: Path) -> None:
    connect(memory, "opencode")
    plugin = person / ".config" / "opencode" / "plugin" / "mnemos.js"
    plugin.write_text("// mine\n")
    with pytest.raises(Refused):
        connect(memory, "opencode", undo=True)
    assert plugin.read_text() == "// mine\n"
    plugin.unlink()
    connect(memory, "opencode", undo=True)
    assert not any(everything(person).values())
