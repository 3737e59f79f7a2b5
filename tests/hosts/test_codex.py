"""Mnemos in a real Codex: connected by its own command, and its rollouts imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_responses import LoopbackResponses, configure, say
from programs import Program

from mnemos import Memory
from mnemos.transfer.readers.codex import READER

DECISION = "Decision: the order mails go through Redis streams."
QUESTION = "Which queue should send the order mails?"


def _items(request: dict[str, Any]) -> list[dict[str, Any]]:
    if request["input"][-1].get("type", "").endswith("_output"):
        return [say(DECISION)]
    thought = [{"type": "summary_text", "text": "Look at what is deployed"}]
    arguments = json.dumps({"cmd": "echo shop-redis"})
    return [
        {"type": "reasoning", "id": "rs_1", "summary": thought, "encrypted_content": "x"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "exec_command",
            "arguments": arguments,
        },
    ]


@pytest.fixture
def endpoint() -> Iterator[str]:
    with LoopbackResponses(_items) as model:
        yield model.url


class Codex(Program):
    """The program, with a model on loopback."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        super().__init__(folder, LOOPBACK="nothing")
        self.config = folder / ".codex" / "config.toml"
        self.config.parent.mkdir()
        self.config.write_text(configure(endpoint))


@pytest.fixture
def codex(tmp_path: Path, endpoint: str) -> Codex:
    return Codex(tmp_path, endpoint)


def test_its_own_command_connects_it_and_undo_restores_its_settings(codex: Codex) -> None:
    before = codex.config.read_bytes()
    codex.mnemos("connect", "codex", "--yes")
    assert "mnemos" in codex.run("codex", "mcp", "list")
    codex.mnemos("connect", "codex", "--yes", "--undo")
    assert codex.config.read_bytes() == before
    assert not codex.config.with_name("hooks.json").exists()


def test_its_rollouts_are_imported_and_each_message_once(codex: Codex) -> None:
    codex.run("codex", "exec", "--skip-git-repo-check", QUESTION)
    with Memory.at(codex.home) as memory:
        report = memory.imports.import_files(READER, codex.config.parent)
        assert (report.sessions, report.problems) == (1, [])
        (session,) = memory.sessions.search_sessions()
        messages = memory.sessions.get_messages(session["id"])
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[0]["content"] == QUESTION
    assert messages[1]["tool_calls"][0]["function"]["name"] == "exec_command"
    assert "shop-redis" in messages[2]["content"]
    assert messages[3]["content"] == DECISION
    assert session["output_tokens"] == 40
