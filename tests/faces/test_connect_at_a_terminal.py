"""``mnemos connect`` at a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from .conftest import Mnemos
from .terminal import PROGRAM
from .test_setting_up_a_provider import in_a_conversation

CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "hermes")


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "person"
    (folder / ".cursor").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return folder


def test_a_person_sees_a_summary_before_the_change_is_made(person: Path, home: Path) -> None:
    seen = in_a_conversation("connect", "cursor", home=home, answers=[("Continue?", "y")])
    assert seen.code == 0
    shown, _, done = seen.screen.partition("Continue?")
    assert shown.splitlines() == [
        "Connecting Cursor changes:",
        "  ~/.cursor/mcp.json: add the MCP server mnemos",
        "  ~/.cursor/hooks.json: add 3 hooks",
    ]
    assert "Connected: Cursor" in done
    assert (person / ".cursor/mcp.json").exists()
    again = in_a_conversation("connect", "cursor", home=home, answers=[])
    assert (again.code, "Continue?" in again.screen) == (0, False)
    out = in_a_conversation("connect", "cursor", "--undo", home=home, answers=[("Continue?", "yes")])
    assert out.code == 0
    assert not (person / ".cursor/mcp.json").exists()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("undo", [False, True])
def test_every_client_is_asked_for_in_the_same_way(
    client: str, undo: bool, person: Path, home: Path, mnemos: Mnemos
) -> None:
    (person / ".hermes").mkdir()
    words = ["connect", client]
    if undo:
        assert mnemos(*words, "--yes").code == 0
        words.append("--undo")
    answers = [("[y/N/d for the diff]", "d"), ("---", "D"), ("---", "what?"), ("---", "")]
    seen = in_a_conversation(*words, home=home, answers=answers)
    assert seen.code == 4
    summary = seen.screen.partition("Continue?")[0].splitlines()
    assert 2 <= len(summary) <= 3
    assert seen.screen.count("[y/N/d for the diff]") == 4
    assert "mnemos" in seen.screen.partition("---")[2]
    again = mnemos(*words, "--print", "--json").json
    assert (again["done"], again["connected"]) == (False, undo)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("undo", [False, True])
def test_a_pipe_changes_nothing_without_yes(client: str, undo: bool, person: Path, mnemos: Mnemos) -> None:
    (person / ".hermes").mkdir()
    words = ["connect", client]
    if undo:
        assert mnemos(*words, "--yes").code == 0
        words.append("--undo")
    before = contents(person)
    for options in ([], ["--json"]):
        answer = mnemos(*words, *options)
        assert answer.code == 4
    assert contents(person) == before
    for option in ("--print", "--diff"):
        assert mnemos(*words, option, "--yes").code == 0
    assert contents(person) == before
    assert mnemos(*words, "--yes").code == 0
    assert contents(person) != before
    # There is nothing left to agree to.
    assert mnemos(*words).code == 0


def test_output_in_a_pipe_means_that_nobody_is_asked(person: Path, home: Path) -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [*PROGRAM, "connect", "cursor"],
        stdin=slave,
        capture_output=True,
        env={**os.environ, "MNEMOS_HOME": str(home)},
        check=False,
    )
    os.close(master)
    os.close(slave)
    assert done.returncode == 4
    assert list((person / ".cursor").iterdir()) == []


def test_clients_named_to_connect_found_need_yes_in_a_pipe(person: Path, mnemos: Mnemos) -> None:
    assert mnemos("connect", "found", "--client", "cursor").code == 4
    assert contents(person) == {}
    assert mnemos("connect", "found", "--client", "cursor", "--yes").code == 0
    assert (person / ".cursor/mcp.json").exists()


def test_undo_alone_disconnects_every_client_and_keeps_what_they_wrote(person: Path, mnemos: Mnemos) -> None:
    (person / ".codex").mkdir()
    assert mnemos("connect", "--yes").code == 0
    settings = person / ".cursor/mcp.json"
    settings.write_text(settings.read_text().replace("{", '{"mine": 1,', 1))
    before = contents(person)
    assert mnemos("connect", "--undo").code == 4
    assert contents(person) == before
    done = mnemos("connect", "--undo", "--yes")
    assert (done.code, done.out.count("Disconnected")) == (0, 2)
    assert json.loads(settings.read_text()) == {"mine": 1}
    assert "connected (" not in mnemos("connect").out.replace("not connected (", "")
    assert mnemos("connect", "--undo").code == 0


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_person_who_says_no_keeps_everything_as_it_is(person: Path, home: Path) -> None:
    seen = in_a_conversation("connect", "cursor", home=home, answers=[("Continue?", "no")])
    assert seen.code == 4
    assert list((person / ".cursor").iterdir()) == []
    assert not home.exists()


def test_yes_connects_without_a_question(person: Path, home: Path, mnemos: Mnemos) -> None:
    seen = in_a_conversation("connect", "cursor", "--yes", home=home, answers=[])
    assert (seen.code, "Continue?" in seen.screen) == (0, False)
    assert (person / ".cursor/mcp.json").exists()
    assert in_a_conversation("connect", "cursor", "--undo", "--yes", home=home, answers=[]).code == 0
    assert not (person / ".cursor/mcp.json").exists()
    assert mnemos("connect", "--yes").code == 0
    assert (person / ".cursor/mcp.json").exists()


def test_connect_alone_asks_for_each_that_is_there(person: Path, home: Path) -> None:
    (person / ".codex").mkdir()
    seen = in_a_conversation(
        "connect", home=home, answers=[("Connecting Cursor", "yes"), ("Connecting Codex", "")]
    )
    assert seen.code == 0
    assert (person / ".cursor/mcp.json").exists()
    assert not (person / ".codex/config.toml").exists()
    assert "Connected: Cursor uses" in seen.screen


def test_connect_alone_in_a_pipe_lists_what_to_type(person: Path, mnemos: Mnemos) -> None:
    answer = mnemos("connect")
    assert (answer.code, answer.err) == (0, "")
    assert "mnemos connect cursor" in answer.out
    assert mnemos("connect", "--json").json["clients"]
    assert list((person / ".cursor").iterdir()) == []


def test_a_broken_file_ends_with_2_and_says_where(person: Path, mnemos: Mnemos) -> None:
    (person / ".cursor/mcp.json").write_text('{"a": 1 "b": 2}')
    answer = mnemos("connect", "cursor")
    assert answer.code == 2
    assert "line 1, column 9" in answer.err
