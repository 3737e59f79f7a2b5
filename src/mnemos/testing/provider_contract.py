"""The contract of a memory provider as tests that every provider must pass.

A subclass makes the provider in ``make``, and may set:

- ``given``: further arguments of ``initialize``;
- ``calls``: arguments of a call that should succeed, by the name of the tool;
- ``seconds``: the time limit of the manager.

As under a manager, a provider need not have every optional method, nor take every optional argument.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import pytest

from mnemos.integrations.providers.contract import MemoryProvider
from mnemos.integrations.providers.manager import MemoryManager
from mnemos.integrations.providers.member import call_compatibly

# In OpenAI's format, with a tool call and its result.
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "Which port does the staging database use?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"cmd": "ss -l"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "shell", "content": "LISTEN 0.0.0.0:5433"},
    {"role": "assistant", "content": "It listens on port 5433."},
]

ODD_TEXTS = [
    "",
    " ",
    "?",
    "a" * 20_000,
    "naïve 漢字 🎉",
    "\x00\x1b[31m",
    "half \ud83d a character",
    "<b>&amp;</b>",
]


def call(provider: MemoryProvider, hook: str, *args: Any, **extras: Any) -> Any:
    """Call a method as a manager does: with the extras it takes, or the default if it is missing."""
    method = getattr(provider, hook, None)
    if not callable(method):
        return getattr(MemoryProvider, hook)(provider, *args, **extras)
    return call_compatibly(method, args, extras)


class ProviderContract:
    """The whole contract. The name of a subclass must begin with ``Test``."""

    given: ClassVar[Mapping[str, Any]] = {}
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    seconds: ClassVar[float] = 30.0

    def make(self, home: Path) -> MemoryProvider:
        """Make a provider that stores its data in this folder; not initialized."""
        raise NotImplementedError

    def make_manager(self, home: Path) -> MemoryManager:  # noqa: ARG002
        """Make a manager that the provider can be added to."""
        return MemoryManager(prefetch_seconds=self.seconds, write_seconds=self.seconds)

    @pytest.fixture
    def provider(self, tmp_path: Path) -> Iterator[MemoryProvider]:
        made = self.make(tmp_path)
        yield made
        call(made, "shutdown")

    @pytest.fixture
    def active(self, provider: MemoryProvider, tmp_path: Path) -> MemoryProvider:
        self.begin(provider, tmp_path)
        return provider

    def begin(self, provider: MemoryProvider, home: Path, **more: Any) -> None:
        where = {"home": str(home), "hermes_home": str(home), "platform": "cli"}
        call(
            provider, "initialize", "session-1", **{**where, "agent_context": "primary", **self.given, **more}
        )

    # --- before a session -------------------------------------------------------------------

    def test_its_name_is_short_and_constant(self, provider: MemoryProvider) -> None:
        assert isinstance(provider.name, str)
        assert 0 < len(provider.name) <= 64
        assert provider.name.isprintable()
        assert provider.name == provider.name.strip() == provider.name

    def test_it_is_available_without_the_network(
        self, provider: MemoryProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any, **__: Any) -> NoReturn:
            raise AssertionError("is_available must not use the network")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        assert provider.is_available() is True

    def test_its_tools_have_names_descriptions_and_schemas(self, provider: MemoryProvider) -> None:
        schemas = call(provider, "get_tool_schemas")
        assert isinstance(schemas, list)
        assert json.loads(json.dumps(schemas)) == schemas
        functions = [schema.get("function", schema) for schema in schemas]
        for function in functions:
            assert isinstance(function["name"], str)
            assert function["name"]
            assert isinstance(function["description"], str)
            assert function["parameters"]["type"] == "object"
        names = [function["name"] for function in functions]
        assert len(set(names)) == len(names)

    def test_its_config_fields_have_unique_keys(self, provider: MemoryProvider) -> None:
        fields = call(provider, "get_config_schema")
        assert isinstance(fields, list)
        keys = [field["key"] for field in fields]
        assert all(isinstance(key, str) and key and "=" not in key for key in keys)
        assert len(set(keys)) == len(keys)

    def test_its_backup_paths_are_absolute(self, provider: MemoryProvider) -> None:
        paths = call(provider, "backup_paths")
        assert isinstance(paths, list)
        assert all(isinstance(path, str) and Path(path).is_absolute() for path in paths)

    def test_it_can_shut_down_twice_without_a_session(self, provider: MemoryProvider) -> None:
        call(provider, "shutdown")
        call(provider, "shutdown")

    # --- in a session -----------------------------------------------------------------------

    @pytest.mark.parametrize("context", ["primary", "subagent", "cron", "flush"])
    def test_it_starts_in_every_context_and_ignores_unknown_arguments(
        self, provider: MemoryProvider, tmp_path: Path, context: str
    ) -> None:
        more = {
            "agent_context": context,
            "user_id": "u",
            "agent_identity": "coder",
            "something_new": object(),
        }
        self.begin(provider, tmp_path, **more)
        assert isinstance(call(provider, "system_prompt_block"), str)

    def test_its_prompt_block_stays_the_same_during_a_session(self, active: MemoryProvider) -> None:
        before = call(active, "system_prompt_block")
        assert isinstance(before, str)
        call(active, "on_turn_start", 1, "Which port does the staging database use?")
        call(
            active, "sync_turn", "Which port does the staging database use?", "5433.", session_id="session-1"
        )
        call(active, "on_memory_write", "add", "memory", "Staging listens on 5433.", metadata={})
        assert call(active, "system_prompt_block") == before

    @pytest.mark.parametrize("query", ODD_TEXTS)
    def test_it_returns_a_string_for_any_query(self, active: MemoryProvider, query: str) -> None:
        call(active, "queue_prefetch", query, session_id="session-1")
        assert isinstance(call(active, "prefetch", query, session_id="session-1"), str)
        assert isinstance(call(active, "prefetch", query, session_id=""), str)

    @pytest.mark.parametrize("text", ODD_TEXTS)
    def test_it_accepts_any_turn(self, active: MemoryProvider, text: str) -> None:
        call(active, "sync_turn", text, text, session_id="session-1")
        call(active, "sync_turn", text, text, session_id="session-1", messages=MESSAGES)
        call(active, "sync_turn", text, text, session_id="", messages=[])

    def test_it_does_not_change_its_arguments(self, active: MemoryProvider) -> None:
        messages = json.loads(json.dumps(MESSAGES))
        call(active, "sync_turn", "one", "two", session_id="session-1", messages=messages)
        call(active, "on_pre_compress", messages)
        call(active, "on_session_end", messages)
        assert messages == MESSAGES

    def test_it_returns_a_string_before_compression(self, active: MemoryProvider) -> None:
        assert isinstance(call(active, "on_pre_compress", MESSAGES), str)
        assert isinstance(call(active, "on_pre_compress", []), str)

    def test_every_hook_ignores_unknown_arguments(self, active: MemoryProvider) -> None:
        call(active, "on_turn_start", 1, "hello", remaining_tokens=1000, model="m", something_new=1)
        call(active, "on_delegation", "task", "result", child_session_id="child-1", something_new=1)
        call(active, "on_memory_write", "replace", "user", "Likes tea.", metadata={"old_text": "coffee"})
        call(active, "on_memory_write", "remove", "memory", "", metadata={})
        call(
            active,
            "on_session_switch",
            "session-2",
            parent_session_id="session-1",
            reset=False,
            something_new=1,
        )
        call(active, "on_session_switch", "session-3", parent_session_id="", reset=True)
        call(active, "on_session_end", MESSAGES)

    def test_it_can_start_again_after_shutdown(self, active: MemoryProvider, tmp_path: Path) -> None:
        call(active, "shutdown")
        self.begin(active, tmp_path)
        assert isinstance(call(active, "system_prompt_block"), str)

    # --- tools ------------------------------------------------------------------------------

    def test_its_tools_answer_in_json(self, active: MemoryProvider) -> None:
        for schema in call(active, "get_tool_schemas"):
            name = schema.get("function", schema)["name"]
            arguments = dict(self.calls.get(name, {}))
            answer = call(active, "handle_tool_call", name, arguments)
            assert isinstance(answer, str)
            result = json.loads(answer)
            assert isinstance(result, dict)
            if name in self.calls:
                assert result.get("success") is True, answer
            else:
                assert result.get("success") is True or result.get("error"), answer

    def test_its_tools_report_invalid_arguments_in_json(self, active: MemoryProvider) -> None:
        for schema in call(active, "get_tool_schemas"):
            name = schema.get("function", schema)["name"]
            result = json.loads(call(active, "handle_tool_call", name, {"no_such_argument": ["?"]}))
            assert result.get("success") is not True
            assert result["error"]

    # --- under a manager --------------------------------------------------------------------

    def test_a_whole_session_under_a_manager_leaves_no_failure(
        self, provider: MemoryProvider, tmp_path: Path
    ) -> None:
        manager = self.make_manager(tmp_path)
        if provider.name not in [other.name for other in manager.providers]:
            manager.add_provider(provider)
        manager.initialize_all("session-1", home=str(tmp_path), platform="cli", **self.given)
        manager.build_system_prompt()
        for number, message in enumerate(MESSAGES[1:], start=1):
            text = message["content"] or "?"
            manager.on_turn_start(number, text)
            manager.prefetch_all(text)
            manager.sync_all(text, "All right.", messages=MESSAGES)
            manager.queue_prefetch_all(text)
        manager.on_memory_write("add", "memory", "Staging listens on 5433.", {"session_id": "session-1"})
        manager.on_delegation("look", "looked", child_session_id="child-1")
        manager.on_pre_compress(MESSAGES)
        manager.on_session_switch("session-2", parent_session_id="session-1", reason="compression")
        manager.on_session_end(MESSAGES)
        assert manager.flush_pending(self.seconds)
        status = manager.status()
        manager.shutdown_all()
        assert status.is_healthy, status
        assert provider.name in [other.name for other in status.providers]
