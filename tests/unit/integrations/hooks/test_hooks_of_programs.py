"""Hooks of programs other than Claude Code, and who records what."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from hook_steps import Hooks, answer_of

import mnemos
from mnemos.integrations.hooks import events, hook_process
from mnemos.integrations.watch.recorders import is_trusted, list_recordings
from mnemos.transfer.reader import load_reader

IMPORTS = Path(__file__).parents[3] / "data" / "imports"


@pytest.mark.parametrize("agent", ["codex", "gemini", "qwen"])
def test_the_transcript_of_an_event_is_recorded_once(agent: str, hooks: Hooks, home: Path) -> None:
    transcript = max((IMPORTS / agent).rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    with mnemos.open(":memory:") as memory:
        memory.imports.import_files(load_reader(agent), transcript)
        (expected,) = memory.sessions.search_sessions()
    event = {"session_id": expected["id"], "transcript_path": str(transcript), "cwd": "/home/ada/shop"}
    for name in ("stop", "session-end"):
        hooks.run(name, event, agent=agent)
    assert hooks.log == ""
    with mnemos.open(home) as memory:
        session = memory.sessions.get_session(expected["id"])
    assert session is not None
    assert (session["source"], session["message_count"]) == (agent, expected["message_count"])
    assert session["ended_at"] is not None


def test_the_database_of_a_program_is_recorded_without_a_transcript(
    hooks: Hooks, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "opencode"
    folder.mkdir()
    connection = apsw.Connection(str(folder / "opencode.db"))
    connection.execute((IMPORTS / "opencode" / "opencode.sql").read_text())
    connection.close()
    for _ in range(2):
        hooks.run("stop", {"session_id": "ses_1"}, agent="opencode")
    with mnemos.open(home) as memory:
        messages = memory.sessions.message_count()
        assert messages
        hooks.run("stop", {"session_id": "ses_1"}, agent="opencode")
        assert memory.sessions.message_count() == messages


def test_an_answer_names_the_event_as_the_program_does() -> None:
    event = events.parse_event("user-prompt", {"hook_event_name": "BeforeAgent"}, "gemini")
    assert answer_of(hook_process._output(event, "x")).name == "BeforeAgent"
    cursor = events.parse_event("session-start", {"conversation_id": "c1"}, "cursor")
    assert cursor.session_id == "c1"
    assert json.loads(hook_process._output(cursor, "x")) == {"additional_context": "x"}


def test_connected_programs_are_listed_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with mnemos.open(tmp_path / "home") as memory:
        for client in ("claude_code", "claude_desktop", "codex", "vscode"):
            memory.call(f"connect_{client}")
        found = {one.program: one for one in list_recordings(memory, {"HOME": str(tmp_path)}, {})}
    assert {name: (one.connected, one.how, one.can_be) for name, one in found.items()} == {
        "claude-code": (True, "hooks", True),
        "codex": (True, "untrusted", True),
        "claude-desktop": (True, "", False),
        "vscode": (True, "", False),
    }
    settings = tmp_path / ".codex" / "config.toml"
    hooks = settings.with_name("hooks.json")
    with settings.open("a") as file:
        file.write(f'\n[hooks.state."{hooks}:stop:0:0"]\ntrusted_hash = "sha256:1"\n')
    assert is_trusted("codex", {"HOME": str(tmp_path)})
