"""``mnemos connect`` at a terminal and in a pipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Mnemos
from .test_setting_up_a_provider import in_a_conversation


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "person"
    (folder / ".cursor").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return folder


def test_a_person_sees_the_change_before_it_is_made(person: Path, home: Path) -> None:
    seen = in_a_conversation("connect", "cursor", home=home, answers=[("Continue?", "yes")])
    assert seen.code == 0
    shown, _, done = seen.screen.partition("Continue?")
    assert '+     "mnemos": {' in shown
    assert "Connected: Cursor" in done
    assert (person / ".cursor/mcp.json").exists()
    again = in_a_conversation("connect", "cursor", home=home, answers=[])
    assert (again.code, "Continue?" in again.screen) == (0, False)
    out = in_a_conversation("connect", "cursor", "--undo", home=home, answers=[("Continue?", "")])
    assert out.code == 0
    assert not (person / ".cursor/mcp.json").exists()


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
    seen = in_a_conversation("connect", home=home, answers=[("Found Cursor", "yes"), ("Found Codex", "")])
    assert seen.code == 0
    assert (person / ".cursor/mcp.json").exists()
    assert not (person / ".codex/config.toml").exists()
    assert "Cursor: connected" in seen.screen


def test_connect_alone_in_a_pipe_lists_what_to_type(person: Path, mnemos: Mnemos) -> None:
    answer = mnemos("connect")
    assert (answer.code, answer.err) == (0, "")
    assert "mnemos connect cursor" in answer.out
    assert mnemos("connect", "--json").json["clients"]
    assert list((person / ".cursor").iterdir()) == []


def test_other_groups_without_a_command_show_their_help(mnemos: Mnemos) -> None:
    answer = mnemos("facts")
    assert answer.code != 0
    assert "Usage: mnemos facts" in answer.out + answer.err


def test_a_broken_file_ends_with_2_and_says_where(person: Path, mnemos: Mnemos) -> None:
    (person / ".cursor/mcp.json").write_text('{"a": 1 "b": 2}')
    answer = mnemos("connect", "cursor")
    assert answer.code == 2
    assert "line 1, column 9" in answer.err
