"""The manager: who takes part, what is fanned out, what a host gets back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builtin_steps import looked_up

from mnemos import Memory
from mnemos.errors import AlreadyExists, InvalidInput, Refused
from mnemos.integrations.providers import MemoryManager, MemoryProvider
from mnemos.text.fences import CLOSE, OPEN
from mnemos.text.tokens import count_tokens

LONG = 30.0
BLOCK = f"{OPEN}\nsomething recalled\n{CLOSE}"


@pytest.fixture
def notes(make_notes: Any) -> Any:
    return make_notes()


@pytest.fixture
def both(manager: MemoryManager, notes: Any) -> MemoryManager:
    """The built-in one and another, begun in session ``s1``."""
    manager.add_provider(notes)
    manager.initialize_all("s1", platform="cli")
    return manager


def told(manager: MemoryManager, notes: Any, hook: str) -> list[tuple[Any, ...]]:
    assert manager.flush_pending(LONG)
    found: list[tuple[Any, ...]] = notes.told(hook)
    return found


# --- who takes part -------------------------------------------------------------------------------


def test_the_built_in_provider_is_always_first(manager: MemoryManager, notes: Any) -> None:
    assert [provider.name for provider in manager.providers] == ["builtin"]
    manager.add_provider(notes)
    assert [provider.name for provider in manager.providers] == ["builtin", "notes"]
    assert manager.get_provider("notes") is notes
    assert manager.get_provider("nobody") is None


def test_nothing_is_opened_before_it_is_initialized(home: Path) -> None:
    manager = MemoryManager()
    assert manager.get_all_tool_names()
    assert not home.exists()
    assert manager.build_system_prompt() == manager.prefetch_all("Which port?") == ""
    manager.sync_all("a", "b")
    assert json.loads(manager.handle_tool_call("recall", {"query": "x"}))["success"] is False
    manager.shutdown_all()
    assert not home.exists()


def test_a_second_external_provider_is_refused(manager: MemoryManager, make_notes: Any) -> None:
    manager.add_provider(make_notes("first"))
    with pytest.raises(Refused):
        manager.add_provider(make_notes("second"))
    assert len(manager.providers) == 2


@pytest.mark.parametrize("name", ["builtin", "", " ", None, 5])
def test_the_name_of_a_provider_must_be_unique(manager: MemoryManager, make_notes: Any, name: Any) -> None:
    with pytest.raises((AlreadyExists, InvalidInput)):
        manager.add_provider(make_notes(name))


@pytest.mark.parametrize("odd", [None, object(), dict, MemoryProvider, "notes"])
def test_an_object_that_is_not_a_provider_is_refused(manager: MemoryManager, odd: Any) -> None:
    with pytest.raises(InvalidInput):
        manager.add_provider(odd)


def test_a_provider_with_a_tool_name_that_is_taken_is_refused(
    manager: MemoryManager, make_notes: Any, make_tool: Any
) -> None:
    with pytest.raises(AlreadyExists):
        manager.add_provider(make_notes(tools=[make_tool("mine"), make_tool("recall")]))
    assert len(manager.providers) == 1


def test_a_tool_that_later_takes_a_used_name_is_left_out_and_reported(
    manager: MemoryManager, notes: Any, make_tool: Any
) -> None:
    manager.add_provider(notes)
    notes.answers["tools"] = [make_tool("recall"), make_tool("mine")]
    manager.initialize_all("s1")
    names = [schema["name"] for schema in manager.get_all_tool_schemas()]
    assert names.count("recall") == 1
    assert "mine" in names
    assert any("recall" in problem for problem in manager.status().problems)
    assert json.loads(manager.handle_tool_call("recall", {"query": "x"}))["success"] is True
    assert notes.told("handle_tool_call") == []


def test_providers_get_home_and_platform(both: MemoryManager, notes: Any, memory: Memory) -> None:
    ((session_id, given),) = notes.told("initialize")
    home = str(memory.settings.home)
    assert session_id == "s1"
    assert given == {"platform": "cli", "home": home, "hermes_home": home}


def test_an_unavailable_provider_is_not_called(manager: MemoryManager, make_notes: Any) -> None:
    notes = make_notes(is_available=False, block="mine")
    manager.add_provider(notes)
    manager.initialize_all("s1")
    manager.sync_all("a", "b")
    assert manager.build_system_prompt() == ""
    assert told(manager, notes, "sync_turn") == notes.calls == []
    status = manager.status().providers[1]
    assert not status.is_active
    assert "not available" in status.why_not


def test_a_home_that_cannot_be_opened_does_not_break_the_host(tmp_path: Path, notes: Any) -> None:
    (tmp_path / "file").write_text("")
    manager = MemoryManager()
    manager.add_provider(notes)
    manager.initialize_all("s1", home=str(tmp_path / "file"))
    manager.on_turn_start(1, "hello there")
    assert manager.prefetch_all("hello there") == ""
    manager.sync_all("hello there", "hi")
    assert told(manager, notes, "sync_turn")
    first = manager.status().providers[0]
    assert not first.is_active
    assert "file" in first.why_not
    answer = json.loads(manager.handle_tool_call("recall", {"query": "x"}))
    assert (answer["success"], answer["code"]) == (False, "unavailable")
    assert "recall" not in manager.get_all_tool_names()
    manager.shutdown_all()


def test_invalid_settings_are_reported_and_nothing_is_opened(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home.mkdir()
    (home / "config.toml").write_text("colour = 'red'")
    manager = MemoryManager()
    manager.initialize_all("s1")
    assert any("colour" in problem for problem in manager.status().problems)
    assert not manager.status().is_healthy
    manager.shutdown_all()
    assert [path.name for path in tmp_path.rglob("*")] == ["home", "config.toml"]


def test_a_manager_can_be_initialized_again(both: MemoryManager, notes: Any) -> None:
    both.shutdown_all()
    both.shutdown_all()
    assert notes.told("shutdown")
    both.initialize_all("s2")
    both.sync_all("one", "1")
    assert told(both, notes, "sync_turn") == [("one", "1", "s2", None)]
    assert both.status().is_healthy


# --- the provider that the settings name -------------------------------------------------------------


PLUG_IN = """
import os
from mnemos.integrations.providers import MemoryProvider

class Shelf(MemoryProvider):
    name = "shelf"
    def is_available(self): return os.environ.get("SHELF_KEY") == "s3cr3t"
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []
    def system_prompt_block(self): return "from the shelf"
    def get_config_schema(self): return [{"key": "key", "secret": True, "env_var": "SHELF_KEY"}]
"""


def test_the_provider_in_the_settings_is_added_with_its_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELF_KEY", "")
    folder = home / "plugins" / "shelf"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: shelf")
    (folder / "__init__.py").write_text(PLUG_IN)
    (home / "config.toml").write_text('[memory]\nprovider = "shelf"\n')
    (home / ".env").write_text("SHELF_KEY=s3cr3t\n")
    manager = MemoryManager()
    manager.initialize_all("s1")
    assert manager.build_system_prompt() == "from the shelf"
    assert manager.status().is_healthy
    manager.shutdown_all()


def test_a_missing_provider_is_reported_and_the_host_continues(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_PROVIDER", "nobody")
    manager = MemoryManager()
    manager.initialize_all("s1")
    assert any("nobody" in problem for problem in manager.status().problems)
    assert manager.status().providers[0].is_active
    manager.shutdown_all()


def test_a_provider_of_the_host_wins_over_the_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch, notes: Any
) -> None:
    monkeypatch.setenv("MNEMOS_PROVIDER", "nobody")
    manager = MemoryManager()
    manager.add_provider(notes)
    manager.initialize_all("s1")
    assert manager.status().problems == ()
    manager.shutdown_all()


# --- prompts --------------------------------------------------------------------------------------


def test_the_prompt_has_all_blocks_in_order(memory: Memory, manager: MemoryManager, make_notes: Any) -> None:
    memory.notebook.add("Tests run with make test")
    manager.add_provider(make_notes(block="Mine.\x00"))
    manager.initialize_all("s1")
    prompt = manager.build_system_prompt()
    assert prompt.index("make test") < prompt.index("Mine.")
    assert prompt.endswith("\n\nMine.\\u0000")


def test_the_prompt_stays_the_same_until_the_session_is_compressed_or_left(
    both: MemoryManager, notes: Any
) -> None:
    notes.answers["block"] = "one"
    assert both.build_system_prompt() == "one"
    notes.answers["block"] = "two"
    assert both.build_system_prompt() == "one"
    both.on_pre_compress([])
    assert both.build_system_prompt() == "two"
    notes.answers["block"] = "three"
    both.on_session_switch("s2")
    assert both.build_system_prompt() == "three"


def test_recalled_text_is_fenced_and_in_order(past: Memory, both: MemoryManager, notes: Any) -> None:
    notes.answers["recalled"] = f"It may be 5433.{CLOSE}"
    looked_up(both._builtin._recalls, "s1", "Which port has the staging database?")
    text = both.prefetch_all("Which port has the staging database?")
    assert text.startswith(OPEN)
    assert text.endswith(CLOSE)
    assert (text.count(OPEN), text.count(CLOSE)) == (2, 2)
    assert text.index("listens on port 5433") < text.index("Recalled by notes")


@pytest.mark.parametrize("query", ["ok", "thanks", "", BLOCK, f"ok {BLOCK}", None])
def test_a_trivial_message_triggers_no_recall(both: MemoryManager, notes: Any, query: Any) -> None:
    assert both.prefetch_all(query) == ""
    both.queue_prefetch_all(query)
    assert told(both, notes, "queue_prefetch") == notes.told("prefetch") == []


def test_queries_are_stripped_of_recalled_text(both: MemoryManager, notes: Any) -> None:
    both.prefetch_all(f"Which port?\n{BLOCK}")
    both.queue_prefetch_all(f"Which port?\n{BLOCK}", session_id="other")
    assert told(both, notes, "prefetch") == [("Which port?", "s1")]
    assert notes.told("queue_prefetch") == [("Which port?", "other")]


# --- fan-out --------------------------------------------------------------------------------------


def test_turns_are_stripped_of_recalled_text(both: MemoryManager, notes: Any, memory: Memory) -> None:
    messages = [
        {"role": "user", "content": f"Which port?\n{BLOCK}"},
        {"role": "assistant", "content": "5433."},
    ]
    both.on_turn_start(1, f"Which port?\n{BLOCK}", model="m")
    both.sync_all(f"Which port?\n{BLOCK}", "5433.", messages=messages)
    both.sync_all("And now?", "Still.", session_id="other")
    plain = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "5433."}]
    assert told(both, notes, "sync_turn") == [
        ("Which port?", "5433.", "s1", plain),
        ("And now?", "Still.", "other", None),
    ]
    assert notes.told("on_turn_start") == [(1, "Which port?", {"model": "m"})]
    assert [one["content"] for one in memory.sessions.get_messages("s1")] == ["Which port?", "5433."]
    assert BLOCK in messages[0]["content"]


@pytest.mark.parametrize("context", ["subagent", "cron", "flush"])
def test_only_a_primary_agent_is_recorded(
    manager: MemoryManager, notes: Any, memory: Memory, context: str
) -> None:
    manager.add_provider(notes)
    manager.initialize_all("s1", agent_context=context)
    manager.sync_all("one", "1")
    manager.on_session_end([])
    manager.on_delegation("task", "result")
    assert told(manager, notes, "sync_turn") == []
    assert notes.told("on_session_end") == notes.told("on_delegation") == []
    assert memory.sessions.session_count() == 0


def test_an_empty_turn_is_not_stored(both: MemoryManager, notes: Any) -> None:
    both.sync_all("", "")
    both.sync_all(BLOCK, "")
    assert told(both, notes, "sync_turn") == []


def test_session_events_are_sent_in_order(both: MemoryManager, notes: Any) -> None:
    both.sync_all("one", "1")
    both.on_delegation("task", "result", child_session_id="child", more=1)
    both.on_session_switch("s2", parent_session_id="s1", reason="compression")
    both.on_session_switch("")
    both.sync_all("two", "2")
    both.on_session_end([{"role": "user", "content": f"two {BLOCK}"}])
    assert both.flush_pending(LONG)
    assert [call for call in notes.calls if call[0] != "initialize"] == [
        ("sync_turn", "one", "1", "s1", None),
        ("on_delegation", "task", "result", "child", {"more": 1}),
        ("on_session_switch", "s2", "s1", False, {"reason": "compression"}),
        ("sync_turn", "two", "2", "s2", None),
        ("on_session_end", [{"role": "user", "content": "two"}]),
    ]


def test_lines_for_the_summary_come_from_all_providers(both: MemoryManager, notes: Any) -> None:
    notes.answers["lines"] = "Keep the tea."
    lines = both.on_pre_compress([{"role": "user", "content": "V[srv.port]: 3005"}])
    assert lines.index("V[srv.port]: 3005") < lines.index("Keep the tea.")


def test_providers_of_an_older_contract_work(manager: MemoryManager) -> None:
    class Old:
        name = "old"

        def __init__(self) -> None:
            self.calls: list[Any] = []

        def is_available(self) -> bool:
            return True

        def initialize(self, session_id: str) -> None:
            self.calls.append(session_id)

        def get_tool_schemas(self) -> list[dict[str, Any]]:
            return []

        def prefetch(self, query: str) -> str:
            return f"about {query}"

        def sync_turn(self, user: str, assistant: str) -> None:
            self.calls.append((user, assistant))

        def on_memory_write(self, action: str, target: str, content: str) -> None:
            self.calls.append((action, target, content))

    old = Old()
    manager.add_provider(old)  # type: ignore[arg-type]
    manager.initialize_all("s1", user_id="u")
    assert "about Which port?" in manager.prefetch_all("Which port?")
    manager.sync_all("one", "1", messages=[])
    manager.on_memory_write("add", "memory", "note", {"session_id": "s1"})
    manager.on_turn_start(1, "hello there")
    manager.on_session_switch("s2", reset=True)
    manager.on_session_end([])
    assert manager.flush_pending(LONG)
    assert old.calls == ["s1", ("one", "1"), ("add", "memory", "note")]
    assert manager.status().is_healthy


# --- tools ----------------------------------------------------------------------------------------


def test_tools_are_offered_and_routed(manager: MemoryManager, make_notes: Any, make_tool: Any) -> None:
    notes = make_notes(tools=[make_tool("mine"), {"type": "function", "function": make_tool("wrapped")}],
                       answer='{"success": true}')  # fmt: skip
    manager.add_provider(notes)
    manager.initialize_all("s1")
    assert manager.get_all_tool_names() == {schema["name"] for schema in manager.get_all_tool_schemas()}
    assert manager.has_tool("wrapped")
    assert not manager.has_tool("nothing")
    assert manager.handle_tool_call("mine", {"a": 1}, session_id="s1") == '{"success": true}'
    assert notes.told("handle_tool_call") == [("mine", {"a": 1}, {"session_id": "s1"})]
    assert json.loads(manager.handle_tool_call("remember", {"text": "The port is 5433."}))["success"] is True


@pytest.mark.parametrize(
    ("name", "args"),
    [("nothing", {}), (None, {}), ({}, {}), ([], {}), ("recall", None), ("recall", "query"), ("recall", [])],
)
def test_an_invalid_call_is_an_error_in_json(manager: MemoryManager, name: Any, args: Any) -> None:
    manager.initialize_all("s1")
    answer = json.loads(manager.handle_tool_call(name, args))
    assert answer["success"] is False
    assert answer["error"]


def test_changes_of_the_notebook_are_mirrored(both: MemoryManager, notes: Any) -> None:
    both.handle_tool_call("memory", {"action": "add", "content": "Likes tea", "target": "user"})
    both.handle_tool_call(
        "memory",
        {
            "target": "user",
            "operations": [
                {"action": "replace", "old_text": "tea", "content": "Likes coffee"},
                {"action": "add", "content": "Lives in Bonn"},
            ],
        },
        tool_call_id="c1",
    )
    both.handle_tool_call("memory", {"action": "remove", "old_text": "nothing like that"})
    both.handle_tool_call("memory", {"action": "dance", "content": "x"})
    known = {"session_id": "s1", "tool_name": "memory"}
    assert told(both, notes, "on_memory_write") == [
        ("add", "user", "Likes tea", known),
        ("replace", "user", "Likes coffee", known | {"old_text": "tea", "tool_call_id": "c1"}),
        ("add", "user", "Lives in Bonn", known | {"tool_call_id": "c1"}),
    ]


def test_the_built_in_tools_cost_no_more_than_their_share_of_a_prompt(manager: MemoryManager) -> None:
    tools = manager.get_all_tool_schemas()
    tables = [tool for tool in tools if tool["name"].startswith("sqlite_")]
    assert count_tokens(json.dumps(tables, ensure_ascii=False)) <= 450
    rest = [tool for tool in tools if tool not in tables]
    assert count_tokens(json.dumps(rest, ensure_ascii=False)) <= 2_000


# --- status ---------------------------------------------------------------------------------------


def test_a_manager_that_is_not_initialized_says_so(manager: MemoryManager) -> None:
    status = manager.status()
    assert [(one.name, one.is_builtin, one.is_active) for one in status.providers] == [
        ("builtin", True, False)
    ]
    assert status.providers[0].why_not


def test_status_is_healthy_after_a_session(both: MemoryManager) -> None:
    both.on_turn_start(1, "hello there")
    both.prefetch_all("hello there")
    both.sync_all("hello there", "hi")
    assert both.flush_pending(LONG)
    status = both.status()
    assert status.is_healthy
    assert (status.session_id, status.pending) == ("s1", 0)
    assert [one.is_answering for one in status.providers] == [True, True]


def test_background_failures_of_the_built_in_provider_are_counted(manager: MemoryManager) -> None:
    manager.initialize_all("s1")
    manager.sync_all("one", "1", session_id="not\na name")
    assert manager.flush_pending(LONG)
    status = manager.status()
    assert status.providers[0].failures == {"sync_turn": 1}
    assert "sync_turn" in status.providers[0].last_failure
    assert not status.is_healthy
