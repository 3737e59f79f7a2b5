"""Each program is recorded by its hooks or plug-in, which also recall what another program said."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from loopback_anthropic import LoopbackAnthropic, text
from loopback_gemini import LoopbackGemini
from loopback_model import LoopbackModel
from loopback_responses import LoopbackResponses, configure, say
from programs import Program

from mnemos import Memory

_SECONDS = 60.0
# A program decides the first, and the next one is asked for it.
DECISIONS = {
    "claude-code": (
        "Decision: the order mails go through Redis streams.",
        "Which queue sends the order mails?",
    ),
    "codex": ("Decision: invoices are rendered by WeasyPrint.", "What renders the invoices?"),
    "gemini": ("Decision: the price list is cached by Varnish.", "What caches the price list?"),
    "opencode": ("Decision: customer photos are resized by libvips.", "What resizes the customer photos?"),
    "qwen": ("Decision: the night backup is written by restic.", "What writes the night backup?"),
}


class Agents(Program):
    """All programs in one repository, each with a model on loopback that decides."""

    def __init__(self, folder: Path, models: ExitStack) -> None:
        self.asked: list[Any] = []
        self.decision = ""
        anthropic, gemini = LoopbackAnthropic(), LoopbackGemini(self._parts)
        anthropic.answer = self._blocks
        chat, responses = LoopbackModel(self._chat), LoopbackResponses(self._items)
        for model in (anthropic, gemini, chat, responses):
            models.enter_context(model)
        super().__init__(
            folder,
            ANTHROPIC_BASE_URL=anthropic.url,
            ANTHROPIC_API_KEY="none",
            DISABLE_AUTOUPDATER="1",
            DISABLE_TELEMETRY="1",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            GEMINI_API_KEY="none",
            GOOGLE_GEMINI_BASE_URL=gemini.url,
            GEMINI_CLI_TRUST_WORKSPACE="true",
            LOOPBACK="none",
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=chat.base_url,
            OPENAI_MODEL="loopback",
            HTTPS_PROXY="",
        )
        self.run("git", "init", "-q")
        self._write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": chat.base_url, "apiKey": "none"},
            "models": {"loopback": {}},
        }
        loop = "loop/loopback"
        self._write(
            ".config/opencode/opencode.json",
            {"model": loop, "small_model": loop, "autoupdate": False, "provider": {"loop": provider}},
        )
        (folder / ".codex").mkdir()
        (folder / ".codex" / "config.toml").write_text(configure(responses.url))

    def _write(self, name: str, settings: dict[str, Any]) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(settings))

    def _blocks(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        return [text(self._decide(request["messages"]))]

    def _parts(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"text": self._decide(request["contents"])}]

    def _items(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        return [say(self._decide(request["input"]))]

    def _chat(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"content": self._decide(request["messages"])}

    def _decide(self, asked: Any) -> str:
        self.asked.append(asked)
        return self.decision

    def says(self, program: str, prompt: str) -> None:
        commands = {
            "claude-code": ("claude", "-p", prompt),
            # Hooks run only after a person has trusted them, which needs a terminal.
            "codex": ("codex", "exec", "--dangerously-bypass-hook-trust", prompt),
            "gemini": ("gemini", "-m", "gemini-2.5-pro", "--yolo", "-p", prompt),
            "opencode": ("opencode", "run", prompt),
            "qwen": ("qwen", "--auth-type", "openai", "--yolo", "-p", prompt),
        }
        self.run(*commands[program])

    def wait_for(self, program: str) -> tuple[list[Any], list[Any]]:
        """Return the sessions and messages of a program: on a busy machine, the background stores them."""
        until = time.monotonic() + _SECONDS
        with Memory.at(self.home) as memory:
            while True:
                sessions: list[Any] = memory.sessions.search_sessions(source=program)
                messages: list[Any] = [
                    message for one in sessions for message in memory.sessions.get_messages(one["id"])
                ]
                if len(messages) >= 2 or time.monotonic() > until:
                    return sessions, messages
                time.sleep(0.1)


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Agents]:
    with ExitStack() as models:
        yield Agents(tmp_path, models)


def test_each_is_recorded_and_recalls_what_another_decided(agents: Agents) -> None:
    question = "Which queue should send the mails about orders?"
    decided = ""
    for program, (decision, next_question) in DECISIONS.items():
        agents.mnemos("connect", program, "--yes")
        agents.asked.clear()
        agents.decision = decision
        agents.says(program, question)
        assert decided in json.dumps(agents.asked), (program, agents.asked)
        (session,), messages = agents.wait_for(program)
        assert session["project"] == str(agents.project.resolve()), program
        # OpenCode puts a prompt of the command line in quotes.
        said = [(message["role"], message["content"].strip('"')) for message in messages]
        assert said == [("user", question), ("assistant", decision)], program
        question, decided = next_question, decision
    agents.asked.clear()
    agents.says("claude-code", question)
    assert decided in json.dumps(agents.asked)
    log = agents.home / "logs" / "hooks.log"
    assert not log.exists(), log.read_text()
