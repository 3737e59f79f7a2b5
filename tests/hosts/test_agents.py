"""Mnemos in real Gemini CLI, Qwen Code and OpenCode: recorded, and recalling what another of them said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_gemini import LoopbackGemini
from loopback_model import LoopbackModel
from programs import Program

from mnemos import Memory

DECISION = "Decision: the order mails go through Redis streams, because Redis is deployed already."
QUESTION = "Which queue should send the order mails?"
AGAIN = "Remind me which queue sends the order mails."


class Model:
    """Decides when it is first asked. Later it calls the tool that recalls, and says what that answered."""

    def __init__(self) -> None:
        self.recalled: list[str] = []

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer in OpenAI's format."""
        last = body["messages"][-1]
        if last["role"] == "tool":
            self.recalled.append(json.dumps(last["content"]))
            return {"content": "I looked it up."}
        tool = _find_recall([tool["function"]["name"] for tool in body.get("tools") or ()])
        if tool is None or AGAIN not in json.dumps(last):
            return {"content": DECISION}
        call = {"name": tool, "arguments": json.dumps({"query": QUESTION})}
        return {"tool_calls": [{"id": "call_1", "type": "function", "function": call}]}

    def parts(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Answer in Gemini's format."""
        last = body["contents"][-1]["parts"]
        results = [part for part in last if "functionResponse" in part]
        if results:
            self.recalled.append(json.dumps(results))
            return [{"text": "I looked it up."}]
        declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ())]
        tool = _find_recall([one["name"] for one in declared])
        if tool is None or AGAIN not in json.dumps(last):
            return [{"text": DECISION}]
        return [{"functionCall": {"name": tool, "args": {"query": QUESTION}}}]


def _find_recall(names: list[str]) -> str | None:
    return next((name for name in names if name.endswith("recall") and "mnemos" in name), None)


class Agents(Program):
    """The three programs in one folder, each with a model on loopback."""

    def __init__(self, folder: Path, gemini: LoopbackGemini, chat: LoopbackModel) -> None:
        super().__init__(
            folder,
            GEMINI_API_KEY="none",
            GOOGLE_GEMINI_BASE_URL=gemini.url,
            GEMINI_CLI_TRUST_WORKSPACE="true",
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=chat.base_url,
            OPENAI_MODEL="loopback",
            # Qwen Code reads no list of hosts that need no proxy.
            HTTPS_PROXY="",
        )
        self.run("git", "init", "-q")
        _write(
            folder / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        )
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": chat.base_url, "apiKey": "none"},
            "models": {"loopback": {}},
        }
        model = "loop/loopback"
        _write(
            folder / ".config" / "opencode" / "opencode.json",
            {"model": model, "small_model": model, "autoupdate": False, "provider": {"loop": provider}},
        )

    def says(self, program: str, prompt: str) -> str:
        """Return the answer of a session with one prompt."""
        commands = {
            "gemini": ("gemini", "-m", "gemini-2.5-pro", "--yolo", "-p", prompt),
            "qwen": ("qwen", "--auth-type", "openai", "--yolo", "-p", prompt),
            "opencode": ("opencode", "run", prompt),
        }
        return self.run(*commands[program])


def _write(path: Path, settings: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(settings))


PROGRAMS = ("gemini", "qwen", "opencode")


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def agents(tmp_path: Path, model: Model) -> Iterator[Agents]:
    with LoopbackGemini(model.parts) as gemini, LoopbackModel(model.chat) as chat:
        yield Agents(tmp_path, gemini, chat)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_it_wrote_is_imported_once(program: str, agents: Agents) -> None:
    agents.says(program, QUESTION)
    agents.mnemos("import", program)
    agents.mnemos("import", program)
    with Memory.at(agents.home) as memory:
        (session,) = memory.sessions.search_sessions(source=program)
        messages = memory.sessions.get_messages(session["id"])
        assert session["project"] == str(agents.project.resolve())
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert QUESTION in messages[0]["content"]
    assert messages[1]["content"] == DECISION


# Qwen Code offers tools of servers only after a search for them, which this model does not make.
@pytest.mark.parametrize(("teller", "asker"), [("gemini", "opencode"), ("qwen", "gemini")])
def test_it_recalls_what_another_program_said(teller: str, asker: str, agents: Agents, model: Model) -> None:
    agents.says(teller, QUESTION)
    agents.mnemos("import", teller)
    agents.mnemos("connect", asker, "--yes")
    agents.says(asker, AGAIN)
    assert any("Redis streams" in answer for answer in model.recalled), model.recalled


@pytest.mark.parametrize("program", PROGRAMS)
def test_undo_restores_its_settings(program: str, agents: Agents) -> None:
    paths = [path for path in agents.folder.rglob("*.json") if path.is_file()]
    before = {path: path.read_bytes() for path in paths}
    agents.mnemos("connect", program, "--yes")
    agents.mnemos("connect", program, "--yes", "--undo")
    assert {path: path.read_bytes() for path in paths} == before
