"""A real Hermes Agent with Mnemos as its provider: its own loader, manager, commands and agent loop."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from loopback_model import LoopbackModel, Reply

from mnemos import Memory
from mnemos.integrations import hermes as integration

pytest.importorskip("agent.memory_manager", reason="hermes-agent is not installed; see `make test-hosts`")

from agent.memory_manager import MemoryManager, build_memory_context_block, inject_memory_provider_tools
from agent.memory_provider import MemoryProvider
from hermes_cli.backup import _collect_memory_provider_external_paths
from hermes_cli.memory_setup import _get_available_providers, cmd_setup_provider
from hermes_state import SessionDB
from plugins import memory as loader
from run_agent import AIAgent
from tools.memory_tool import MemoryStore, memory_tool

SECONDS = 60.0

Begin = Callable[..., MemoryManager]


@pytest.fixture
def begin(hermes: Path) -> Iterator[Begin]:
    """A session of the host, begun as its agent begins one; those that are not over in the end are ended."""
    running: list[MemoryManager] = []

    def begun(session_id: str, **more: Any) -> MemoryManager:
        manager = MemoryManager()
        manager.add_provider(loader.load_memory_provider("mnemos"))
        running.append(manager)
        manager.initialize_all(session_id=session_id, platform="cli", agent_context="primary", **more)
        return manager

    yield begun
    for manager in running:
        manager.shutdown_all()


def settle(manager: MemoryManager) -> None:
    """Wait for what the host and the provider do in the background."""
    assert manager.flush_pending(SECONDS)
    assert manager.get_provider("mnemos").flush(SECONDS)


def recalled(manager: MemoryManager, question: str) -> str:
    """Recall for a question, also on a machine that is too busy to answer in time at once."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        # The first call begins to look, and waits only a moment; another one waits for the same.
        text: str = manager.prefetch_all(question)
        if text:
            return text
    return ""


def said(memory: Memory, session_id: str) -> list[Any]:
    return [message["content"] for message in memory.sessions.get_messages(session_id)]


def command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hermes_cli.main", *words], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- being found ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("hermes")
def test_the_host_lists_the_provider_as_available() -> None:
    found = {name: is_available for name, _, is_available in loader.discover_memory_providers()}
    assert found["mnemos"] is True
    assert "mnemos" in loader.list_memory_provider_names()
    assert ("mnemos", "local") in [(name, hint) for name, hint, _ in _get_available_providers()]


def test_its_status_command_calls_it_installed_available_and_active(hermes: Path, home: Path) -> None:
    shown = command("memory", "status")
    assert "Provider:  mnemos" in shown
    assert "installed ✓" in shown
    assert "available ✓" in shown
    assert "mnemos  (local) ← active" in shown
    assert f"home: {home}" in shown


@pytest.mark.usefixtures("hermes")
def test_the_provider_derives_from_the_contract_of_the_host() -> None:
    one, other = (loader.load_memory_provider("mnemos") for _ in range(2))
    assert one is not other
    for made in (one, other):
        assert isinstance(made, MemoryProvider)
        assert made.name == "mnemos"
        assert made.is_available()


@pytest.mark.usefixtures("home")
def test_the_entry_point_registers_a_provider() -> None:
    (declared,) = entry_points(group="hermes_agent.memory_providers", name="mnemos")
    collector = loader._ProviderCollector()
    declared.load().register(collector)
    assert isinstance(collector.provider, MemoryProvider)


@pytest.mark.usefixtures("home")
def test_later_hosts_load_the_package_by_its_folder() -> None:
    made = loader._load_provider_from_dir(Path(integration.__file__).parent)
    assert isinstance(made, MemoryProvider)
    assert made.name == "mnemos"


@pytest.mark.usefixtures("hermes")
def test_a_host_without_mnemos_finds_it_where_it_was_connected_from(tmp_path: Path) -> None:
    """Without the module site, a package that is installed in place is not there, and others are."""
    code = (
        "import sys, importlib.util; sys.path.append(sys.argv[1]); "
        "assert importlib.util.find_spec('mnemos') is None; "
        "from plugins.memory import load_memory_provider; "
        "print(load_memory_provider('mnemos').name, sys.modules['mnemos'].__file__)"
    )
    packages = sysconfig.get_path("purelib")
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", code, packages],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout.split() == ["mnemos", str(Path(integration.__file__).parents[2] / "__init__.py")]


def test_the_host_can_choose_it_by_itself(hermes: Path) -> None:
    (hermes / "config.yaml").write_text("memory:\n  provider: ''\n")
    cmd_setup_provider("mnemos")
    assert loader._get_active_memory_provider() == "mnemos"


@pytest.mark.usefixtures("hermes")
def test_its_backup_includes_the_memory(memory: Memory) -> None:
    memory.sessions.create_session("s1", "cli")
    assert _collect_memory_provider_external_paths() == [memory.settings.home]


@pytest.mark.usefixtures("hermes")
def test_the_commands_of_mnemos_are_commands_of_the_host() -> None:
    command("mnemos", "remember", "The staging database listens on port 5433")
    assert "5433" in command("mnemos", "recall", "which port does staging use?")
    assert "space: default" in command("mnemos")


def test_undo_removes_the_provider(hermes: Path, memory: Memory) -> None:
    memory.call("connect_hermes", {"undo": True})
    assert loader.find_provider_dir("mnemos") is None
    assert loader._get_active_memory_provider() is None


# --- a session -----------------------------------------------------------------------------------


def test_a_whole_session_is_kept_and_recalled_in_the_next(
    begin: Begin, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    host = begin("first", user_id="u1")
    assert host.build_system_prompt() == ""
    host.on_turn_start(1, "We decided to deploy on Mondays only.")
    assert host.prefetch_all("We decided to deploy on Mondays only.") == ""
    question, answer = "We decided to deploy on Mondays only.", "Noted: Mondays only."
    calls = [{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "3 pipelines changed"},
        {"role": "assistant", "content": answer},
    ]
    host.sync_all(question, answer, session_id="first", messages=messages)
    host.queue_prefetch_all(question, session_id="first")
    settle(host)
    assert said(memory, "first") == [question, None, "3 pipelines changed", answer]

    kept = host.on_pre_compress(messages)
    assert "Mondays" in kept
    host.on_session_switch("second", parent_session_id="first", reset=False, reason="compression")
    assert "Mondays" in host.build_system_prompt()
    host.on_turn_start(2, "and the gateway?")
    host.sync_all("and the gateway?", "It is restarted at night.", session_id="second", messages=[])
    host.on_delegation("count the files", "there are 17", child_session_id="child")
    settle(host)
    assert memory.sessions.get_lineage("second") == ["first", "second"]
    assert said(memory, "child") == ["count the files", "there are 17"]

    host.commit_session_boundary_async(messages, new_session_id="third", parent_session_id="second")
    settle(host)
    ended = memory.sessions.get_session("second")
    assert ended is not None
    assert ended["ended_at"] is not None
    host.shutdown_all()
    assert host.shutdown_drain_state["status"] == "drained"

    later = begin("another day")
    later.on_turn_start(1, "when is the gateway restarted?")
    found = recalled(later, "when is the gateway restarted?")
    assert "at night" in found
    assert "at night" in build_memory_context_block(found)
    assert [record for record in caplog.records if "mnemos" in record.getMessage().lower()] == []


def test_its_tools_reach_the_model_and_answer(begin: Begin) -> None:
    host = begin("s1")
    agent = type("Agent", (), {"_memory_manager": host, "tools": [], "enabled_toolsets": None})()
    offered = {"recall", "remember", "notebook", "memory_write", "memory_search", "memory_history"}
    offered |= {"forget", "sqlite_query", "sqlite_schema"}
    assert inject_memory_provider_tools(agent) == len(offered)
    assert agent.valid_tool_names == host.get_all_tool_names() == offered
    assert json.loads(host.handle_tool_call("memory_write", {"content": "V[port]: 5433"}))["success"] is True
    assert "5433" in host.handle_tool_call("memory_search", {"query": "port"})
    assert "5433" in host.handle_tool_call("memory_history", {"target": "port"})
    assert "5433" in host.handle_tool_call("recall", {"query": "which port?"})
    assert json.loads(host.handle_tool_call("recall", {"query": 7}))["success"] is False
    assert (
        json.loads(host.handle_tool_call("notebook", {"action": "add", "content": "A note"}))["success"]
        is True
    )


def test_notes_of_its_memory_tool_are_copied(begin: Begin, memory: Memory) -> None:
    host = begin("s1")
    store = MemoryStore()
    store.load_from_disk()
    for arguments in (
        {"action": "add", "target": "memory", "content": "Deploys on Fridays"},
        {"action": "add", "target": "user", "content": "Prefers tea"},
        {"action": "replace", "target": "memory", "old_text": "Fridays", "content": "Deploys on Mondays"},
        {"action": "remove", "target": "user", "old_text": "tea"},
    ):
        host.notify_memory_tool_write(memory_tool(store=store, **arguments), arguments)
    settle(host)
    assert store.memory_entries == memory.notebook.entries("memory") == ["Deploys on Mondays"]
    assert store.user_entries == memory.notebook.entries("user") == []
    host.on_session_switch("s2", reset=True)
    assert "Mondays" not in host.build_system_prompt()


def test_existing_data_of_the_host_is_imported_once(begin: Begin, hermes: Path, memory: Memory) -> None:
    database = SessionDB(hermes / "state.db")
    parts = [{"type": "text", "text": "look at this"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    database.create_session("root", "telegram", model="m", user_id="u1")
    database.append_message("root", "user", "The invoices are in the blue folder")
    database.append_message("root", "assistant", None, tool_calls=[{"id": "c", "function": {"name": "ls"}}])
    database.append_message("root", "tool", "blue", tool_name="ls", tool_call_id="c")
    database.end_session("root", "compression")
    database.create_session("tip", "telegram", parent_session_id="root")
    database.append_message("tip", "user", parts)
    database.set_session_title("tip", "Invoices")
    (hermes / "memories").mkdir(exist_ok=True)
    (hermes / "memories" / "MEMORY.md").write_text("Tests run with make test\n§\nDeploys on Mondays")

    host = begin("tip")
    settle(host)
    assert said(memory, "root") == ["The invoices are in the blue folder", None, "blue"]
    assert said(memory, "tip") == [parts]
    assert memory.sessions.get_lineage("tip") == ["root", "tip"]
    tip = memory.sessions.get_session("tip")
    assert tip is not None
    assert (tip["source"], tip["title"]) == ("telegram", "Invoices")
    assert memory.notebook.entries() == ["Tests run with make test", "Deploys on Mondays"]
    assert host.build_system_prompt() == ""
    assert "blue folder" in recalled(host, "where are the invoices?")
    host.sync_all("thank you", "gladly", session_id="tip")
    settle(host)

    database.append_message("tip", "user", "thank you")
    settle(begin("tip"))
    assert said(memory, "tip") == [parts, "thank you", "gladly"]
    assert database.get_messages("root")[0]["content"] == "The invoices are in the blue folder"


def test_a_compacted_and_rewound_session_is_imported_correctly(
    begin: Begin, hermes: Path, memory: Memory
) -> None:
    database = SessionDB(hermes / "state.db")
    database.create_session("s1", "cli")
    for number in range(4):
        database.append_message("s1", "user", f"question {number}, long enough to be told from any other one")
        database.append_message(
            "s1", "assistant", f"answer {number}, long enough to be told from any other one"
        )
    tail = database.get_messages_as_conversation("s1")[-2:]
    database.archive_and_compact("s1", [{"role": "user", "content": "[summary] questions"}, *tail])
    taken_back = database.append_message("s1", "user", "I take this back")
    database.rewind_to_message("s1", taken_back)
    settle(begin("s2"))
    texts = said(memory, "s1")
    assert "I take this back" not in texts
    assert len(texts) == 9
    assert len(set(texts)) == 9


# --- its agent ---


class Agent:
    """An agent of the host with a model that gives prepared answers."""

    def __init__(self, session_id: str, reply: Reply) -> None:
        self.model = LoopbackModel(reply)
        self._session_id = session_id

    def __enter__(self) -> Agent:
        self.model.__enter__()
        self._agent = AIAgent(
            base_url=self.model.base_url,
            api_key="none",
            model="loopback",
            enabled_toolsets=["memory"],
            session_id=self._session_id,
            platform="cli",
            quiet_mode=True,
            skip_context_files=True,
            max_iterations=4,
            tool_delay=0.0,
        )
        self._said: list[dict[str, Any]] = []
        return self

    def ask(self, message: str) -> str:
        done = self._agent.run_conversation(message, conversation_history=self._said)
        self._said = done["messages"]
        settle(self.memory)
        return str(done["final_response"])

    @property
    def memory(self) -> MemoryManager:
        return self._agent._memory_manager

    def __exit__(self, *_: object) -> None:
        self._agent.shutdown_memory_provider(self._said)
        self.model.__exit__(None, None, None)


def calling(name: str, **arguments: Any) -> Reply:
    """Call a tool for every question, then say what it answered."""
    heard = 0

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        nonlocal heard
        answers = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if len(answers) > heard:
            heard = len(answers)
            return {"content": f"It said: {answers[-1]}"}
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"tool_calls": [{"id": f"c{heard}", "type": "function", "function": function}]}

    return reply


@pytest.mark.usefixtures("hermes")
def test_an_agent_recalls_another_session(memory: Memory) -> None:
    question = "Which port does the staging database use?"
    with Agent("first", lambda _: {"content": "I will keep that in mind."}) as agent:
        agent.ask("The staging database listens on port 5433")
    with Agent("second", lambda _: {"content": "Port 5433."}) as agent:
        assert recalled(agent.memory, question)
        agent.ask(question)
        seen = agent.model.asked[-1]["messages"][-1]["content"]
    assert seen.startswith(question)
    assert "listens on port 5433" in seen
    assert said(memory, "second") == [question, "Port 5433."]
    first = memory.sessions.get_session("first")
    assert first is not None
    assert first["ended_at"] is not None


@pytest.mark.usefixtures("hermes")
def test_a_fact_of_an_agent_is_in_the_prompt_of_the_next(memory: Memory) -> None:
    with Agent("first", calling("memory_write", content="C[db.id]: uuid mandatory")) as agent:
        assert "db.id" in agent.ask("Ids of the database must be uuids")
    assert [fact["target"] for fact in memory.call("facts_list")["facts"]] == ["db.id"]
    with Agent("second", lambda _: {"content": "Yes."}) as agent:
        agent.ask("hello")
        system = agent.model.asked[-1]["messages"][0]
    assert system["role"] == "system"
    assert "db.id" in system["content"]


@pytest.mark.usefixtures("hermes")
def test_a_note_of_an_agent_is_in_both_notebooks(hermes: Path, memory: Memory) -> None:
    with Agent(
        "first", calling("memory", action="add", target="memory", content="Deploys on Mondays")
    ) as agent:
        agent.ask("We deploy on Mondays")
    assert (hermes / "memories" / "MEMORY.md").read_text() == "Deploys on Mondays"
    assert memory.notebook.entries() == ["Deploys on Mondays"]
    with Agent("second", lambda _: {"content": "Yes."}) as agent:
        agent.ask("When do we deploy?")
        system = agent.model.asked[-1]["messages"][0]["content"]
    assert system.count("Deploys on Mondays") == 1


@pytest.mark.usefixtures("hermes")
def test_an_agent_continues_when_the_database_becomes_unreadable(home: Path) -> None:
    with Agent("first", calling("recall", query="port")) as agent:
        assert "It said" in agent.ask("The staging database listens on port 5433")
        spoil(home)
        answer = agent.ask("Which port does the staging database use?")
        assert "It said" in answer
        assert "error" in answer


# --- when something breaks -----------------------------------------------------------------------


def everything(host: MemoryManager) -> str:
    """The calls of an agent to its manager in a turn, and the answer about a failed tool."""
    host.build_system_prompt()
    host.on_turn_start(3, "which port does the staging database use?")
    host.prefetch_all("which port does the staging database use?")
    host.sync_all("which port?", "5433", session_id="s1", messages=[])
    host.queue_prefetch_all("which port?", session_id="s1")
    host.on_pre_compress([{"role": "user", "content": "We decided to use port 5433."}])
    host.on_session_switch("s2", parent_session_id="s1", reason="compression")
    host.on_memory_write("add", "memory", "A note")
    host.on_delegation("a task", "a result")
    answer: str = host.handle_tool_call("memory_write", {"content": "V[port]: 5433"})
    host.on_session_end([])
    assert host.flush_pending(SECONDS)
    return answer


def spoil(home: Path) -> None:
    """Overwrite the database, its log and what processes share of it, so that no cache answers any more.

    In place: cutting a file that SQLite has mapped would kill the process instead.
    """
    for name in ("mnemos.db", "mnemos.db-wal", "mnemos.db-shm"):
        path = home / name
        if path.exists():
            with path.open("r+b") as file:
                file.write(b"\xde\xad\xbe\xef" * (path.stat().st_size // 4))


def test_the_host_keeps_running_when_the_database_becomes_unreadable(begin: Begin, home: Path) -> None:
    host = begin("s1")
    host.sync_all("the staging database listens on port 5433", "noted", session_id="s1", messages=[])
    settle(host)
    host.on_session_switch("s2", reset=True)
    assert "5433" in recalled(host, "which port does the staging database use?")
    spoil(home)
    said_of_it = json.loads(everything(host))
    assert "error" in said_of_it
    host.shutdown_all()
    assert host.shutdown_drain_state["status"] == "drained"


def test_the_host_starts_when_the_database_cannot_be_opened(begin: Begin, home: Path) -> None:
    (home / "mnemos.db").mkdir(parents=True)
    assert "error" in json.loads(everything(begin("s1")))


def test_the_host_starts_when_its_own_database_is_locked(begin: Begin, hermes: Path, memory: Memory) -> None:
    database = SessionDB(hermes / "state.db")
    database.create_session("old", "cli")
    database.append_message("old", "user", "hello")
    database._conn.execute("BEGIN IMMEDIATE")
    host = begin("s1")
    host.sync_all("a question", "an answer", session_id="s1")
    settle(host)
    database._conn.execute("ROLLBACK")
    assert said(memory, "s1") == ["a question", "an answer"]
    assert said(memory, "old") == ["hello"]
