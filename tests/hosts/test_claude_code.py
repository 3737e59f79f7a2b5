"""Mnemos in a real Claude Code: connected by its own command, recording and recalling by its hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_anthropic import LoopbackAnthropic, call, last_content, text
from programs import Program

from mnemos import Memory
from mnemos.transfer.readers.claude_code import READER

DECISION = "Decision: the order mails go through Redis streams, because Redis is deployed already."
RECALL = "mcp__mnemos__recall"


class ClaudeCode(Program):
    """The program, with a model on loopback."""

    def __init__(self, folder: Path, model: LoopbackAnthropic) -> None:
        super().__init__(
            folder,
            ANTHROPIC_BASE_URL=model.url,
            ANTHROPIC_API_KEY="nothing",
            DISABLE_AUTOUPDATER="1",
            DISABLE_TELEMETRY="1",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )

    def says(self, prompt: str) -> str:
        """Return the answer of a session with one prompt."""
        return self.run("claude", "-p", prompt, "--allowedTools", RECALL, "Bash(sleep:*)")


@pytest.fixture
def model() -> Iterator[LoopbackAnthropic]:
    with LoopbackAnthropic() as served:
        yield served


@pytest.fixture
def host(tmp_path: Path, model: LoopbackAnthropic) -> ClaudeCode:
    return ClaudeCode(tmp_path, model)


def stored(host: ClaudeCode) -> list[str]:
    with Memory.at(host.home) as memory:
        sessions = memory.sessions.search_sessions(limit=50)
        return [
            str(message["content"])
            for session in sessions
            for message in memory.sessions.get_messages(session["id"])
        ]


@pytest.mark.parametrize("before", [None, {"theme": "light"}])
def test_its_own_command_connects_it_and_undo_keeps_what_it_wrote(
    host: ClaudeCode, before: dict[str, str] | None
) -> None:
    settings = host.folder / ".claude.json"
    if before is not None:
        settings.write_text(json.dumps(before))
    host.mnemos("connect", "claude-code", "--yes")
    assert "mnemos" in json.loads(settings.read_text())["mcpServers"]
    host.mnemos("connect", "claude-code", "--yes", "--undo")
    left = json.loads(settings.read_text())
    assert "firstStartTime" in left
    assert "mcpServers" not in left
    # It moves some settings there when it first runs.
    settings = host.folder / ".claude" / "settings.json"
    assert (json.loads(settings.read_text()) if settings.exists() else None) == before


def test_it_reaches_the_server_and_undo_removes_only_our_entries(host: ClaudeCode) -> None:
    host.mnemos("connect", "claude-code", "--yes")
    # The program writes into its settings whenever it runs.
    assert "Connected" in host.run("claude", "mcp", "list")
    host.mnemos("connect", "claude-code", "--yes", "--undo")
    left = json.loads((host.folder / ".claude.json").read_text())
    assert "mnemos" not in left.get("mcpServers", {})
    assert "firstStartTime" in left


def test_decisions_of_a_session_reach_the_next(host: ClaudeCode, model: LoopbackAnthropic) -> None:
    host.mnemos("connect", "claude-code", "--yes")
    model.answer = lambda _: [text(DECISION)]
    host.says("Which queue should send the order mails?")
    assert DECISION in stored(host)
    model.answer = lambda _: [text("Understood.")]
    model.requests.clear()
    host.says("Remind me which queue sends the order mails")
    assert any("Redis streams" in json.dumps(request["messages"]) for request in model.requests)


def test_a_session_starts_with_facts_and_notes(host: ClaudeCode, model: LoopbackAnthropic) -> None:
    host.mnemos("connect", "claude-code", "--yes")
    host.mnemos("facts", "write", "C[deploy.day]: never on Fridays")
    host.mnemos("notebook", "add", "Tests run with make test")
    host.says("Hello")
    asked = json.dumps(model.requests)
    assert "never on Fridays" in asked
    assert "Tests run with make test" in asked


def test_the_model_can_call_its_tools(host: ClaudeCode, model: LoopbackAnthropic) -> None:
    host.mnemos("connect", "claude-code", "--yes", "--no-hooks")
    host.mnemos("remember", "The office moves to Porto in May")
    results: list[str] = []

    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        content = last_content(request)
        if "Porto" in content:
            results.append(content)
            return [text("In May.")]
        if not any(tool["name"] == RECALL for tool in request["tools"]):
            # The program does not wait for its servers; each is there a moment later.
            return [call("Bash", command="sleep 1", description="wait")]
        return [call(RECALL, query="when does the office move")]

    model.answer = answer
    assert "In May." in host.says("When do we move?")
    assert results


def test_its_transcripts_are_imported_whole(host: ClaudeCode, model: LoopbackAnthropic) -> None:
    model.answer = lambda _: [text(DECISION)]
    host.says("Which queue should send the order mails?")
    with Memory.at(host.home) as memory:
        report = memory.imports.import_files(READER, host.folder / ".claude")
        assert (report.sessions, report.messages, report.problems) == (1, 2, [])
    assert stored(host) == ["Which queue should send the order mails?", DECISION]


def test_a_memory_that_cannot_be_opened_does_not_disturb_it(
    host: ClaudeCode, model: LoopbackAnthropic
) -> None:
    host.mnemos("connect", "claude-code", "--yes")
    home = host.home
    (home / "mnemos.db").write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    assert "Understood." in host.says("Hello")
    assert "session-start" in (home / "logs" / "hooks.log").read_text()
