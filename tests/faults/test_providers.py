"""Providers at their worst: they raise, hang, flood and lie, and the turn goes on without them."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest

from mnemos import Memory
from mnemos.integrations.providers import MemoryManager
from mnemos.text.tokens import count_tokens

LONG = 30.0
SHORT = 0.01
# For a write that does not hang, however busy the machine is.
ENOUGH = 1.0
MEGABYTES = 10_000_000

# The calls of a host in a turn, and the answer that each must return.
HOOKS = {
    "system_prompt_block", "prefetch", "queue_prefetch", "sync_turn", "on_turn_start", "on_session_end",
    "on_session_switch", "on_pre_compress", "on_memory_write", "on_delegation", "handle_tool_call",
    "shutdown",
}  # fmt: skip
TOOL = {"name": "bad_tool", "description": "Bad.", "parameters": {"type": "object"}}


class Bad:
    """A provider whose every method does the same bad thing; the four that are required may be good."""

    name = "bad"

    def __init__(self, does: Any, *, begins: bool = True) -> None:
        self._does = does
        self._begins = begins

    def is_available(self) -> Any:
        return True if self._begins else self._does("is_available")

    def initialize(self, session_id: str, **_: Any) -> None:
        if not self._begins:
            self._does("initialize")

    def get_tool_schemas(self) -> Any:
        return [TOOL] if self._begins else self._does("get_tool_schemas")

    def __getattr__(self, hook: str) -> Any:
        if hook not in HOOKS:
            raise AttributeError(hook)
        return lambda *_, **__: self._does(hook)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.at(tmp_path / "home", embedder="none") as opened:
        opened.sessions.create_session("past")
        opened.sessions.append_message("past", "user", "The staging database listens on port 5433.")
        opened.notebook.add("Tests run with make test")
        yield opened


def make_manager(memory: Memory, provider: Any, **seconds: float) -> MemoryManager:
    manager = MemoryManager(memory=memory, **{"drain_seconds": LONG, **seconds})
    manager.add_provider(provider)
    manager.initialize_all("s1")
    return manager


def a_turn(manager: MemoryManager, number: int = 1) -> dict[str, Any]:
    """Everything that a host does around a turn; what it got back."""
    manager.on_turn_start(number, "Which port has the staging database?")
    got = {
        "prompt": manager.build_system_prompt(),
        "recalled": manager.prefetch_all("Which port has the staging database?"),
        "tool": json.loads(manager.handle_tool_call("bad_tool", {})),
        "good tool": json.loads(manager.handle_tool_call("recall", {"query": "port"})),
        "lines": manager.on_pre_compress([{"role": "user", "content": "V[srv.port]: 3005"}]),
    }
    manager.sync_all(f"Question {number}", "Answer.", messages=[])
    manager.queue_prefetch_all("Which port has the staging database?")
    manager.on_memory_write("add", "memory", "note")
    manager.on_delegation("task", "result", child_session_id=f"child-{number}")
    return got


def check_the_turn_went_on(
    manager: MemoryManager, memory: Memory, got: dict[str, Any], turns: int = 1
) -> None:
    assert "make test" in got["prompt"]
    assert got["good tool"]["success"] is True
    assert "V[srv.port]: 3005" in got["lines"]
    said = [one["content"] for one in memory.sessions.get_messages("s1")]
    assert said == [text for n in range(1, turns + 1) for text in (f"Question {n}", "Answer.")]
    assert manager.status().providers[0].failures == {}


def wait_until_it_is_back(manager: MemoryManager) -> None:
    """Until the calls that took too long have come back."""
    assert not wait(manager._members[1]._patience._late, LONG).not_done


def read_prompt_in_time(manager: MemoryManager) -> str:
    """Ask for the prompt of a new session until no provider is late, as each may be on a busy machine."""
    for number in range(2, 1000):
        wait_until_it_is_back(manager)
        manager.on_session_switch(f"s{number}")
        late = manager.status().providers[1].failures.get("system_prompt_block", 0)
        prompt = manager.build_system_prompt()
        if manager.status().providers[1].failures.get("system_prompt_block", 0) == late:
            return prompt
    raise AssertionError("a provider that answers at once was late a thousand times")


# --- raising --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(1), KeyboardInterrupt(), RecursionError(), MemoryError()]
)
def test_a_provider_that_raises_in_every_method_breaks_nothing(
    memory: Memory, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: str) -> None:
        raise error

    manager = make_manager(memory, Bad(fail))
    got = [a_turn(manager, number) for number in (1, 2, 3)]
    manager.on_session_switch("s1")
    manager.on_session_end([])
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got[-1], turns=3)
    assert got[-1]["tool"]["success"] is False
    status = manager.status().providers[1]
    assert set(status.failures) == HOOKS - {"shutdown"}
    assert status.failures["sync_turn"] == 3
    assert status.last_failure
    manager.shutdown_all()
    assert manager.status().providers[1].failures["shutdown"] == 1
    logged = [record for record in caplog.records if record.levelno >= logging.WARNING]
    # Each method once, however often it fails.
    assert len(logged) == len(HOOKS)


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1)])
def test_a_provider_that_cannot_initialize_is_left_out(memory: Memory, error: BaseException) -> None:
    def fail(_: str) -> None:
        raise error

    manager = make_manager(memory, Bad(fail, begins=False))
    got = a_turn(manager)
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got)
    status = manager.status().providers[1]
    assert not status.is_active
    assert status.why_not
    assert set(status.failures) == {"get_tool_schemas", "initialize"}
    manager.shutdown_all()


# --- hanging --------------------------------------------------------------------------------------


def test_a_provider_that_hangs_costs_its_deadline_once_and_is_skipped_until_it_answers(
    memory: Memory,
) -> None:
    gate, asked = threading.Event(), list[str]()

    def hang(hook: str) -> str:
        asked.append(hook)
        gate.wait(LONG)
        return "back again"

    manager = make_manager(
        memory, Bad(hang), prefetch_seconds=SHORT, tool_seconds=SHORT, write_seconds=ENOUGH
    )
    got = [a_turn(manager, number) for number in (1, 2, 3)]
    # The worker went on with the turns of the built-in one.
    assert manager.flush_pending() is False
    check_the_turn_went_on(manager, memory, got[-1], turns=3)
    status = manager.status().providers[1]
    assert not status.is_answering
    # Two roads, each asked once: one while a turn waits, one in the background.
    assert len(asked) == 2
    assert sum(status.failures.values()) == 2
    assert sum(status.skipped.values()) >= 8
    assert status.waiting > 0
    gate.set()
    assert manager.flush_pending(LONG)
    assert asked.count("sync_turn") == 3
    assert "back again" in read_prompt_in_time(manager)
    manager.shutdown_all()


def test_a_provider_that_is_slow_to_initialize_becomes_active_later(memory: Memory) -> None:
    gate = threading.Event()

    class Slow(Bad):
        def initialize(self, session_id: str, **_: Any) -> None:
            gate.wait(LONG)

    manager = make_manager(
        memory, Slow(lambda hook: "here" if hook == "system_prompt_block" else None), prefetch_seconds=SHORT
    )
    assert not manager.status().providers[1].is_active
    assert "here" not in manager.build_system_prompt()
    gate.set()
    assert "here" in read_prompt_in_time(manager)
    manager.shutdown_all()


def test_initialization_that_ends_after_shutdown_does_not_count(memory: Memory) -> None:
    gate = threading.Event()

    class Slow(Bad):
        def initialize(self, session_id: str, **_: Any) -> None:
            gate.wait(LONG)

    manager = make_manager(memory, Slow(lambda _: None), prefetch_seconds=SHORT, drain_seconds=SHORT)
    manager.shutdown_all()
    gate.set()
    wait_until_it_is_back(manager)
    assert not manager.status().providers[1].is_active


def test_a_hanging_provider_does_not_block_shutdown(memory: Memory) -> None:
    gate = threading.Event()
    manager = make_manager(
        memory,
        Bad(lambda _: gate.wait(LONG)),
        prefetch_seconds=SHORT,
        write_seconds=SHORT,
        drain_seconds=SHORT,
    )
    a_turn(manager)
    manager.shutdown_all()
    status = manager.status()
    assert status.providers[1].dropped > 0
    assert not status.providers[0].is_active
    gate.set()


def test_a_program_with_a_hanging_provider_ends(tmp_path: Path) -> None:
    code = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from mnemos.integrations.providers import MemoryManager, MemoryProvider

class Hanging(MemoryProvider):
    name = "hanging"
    def is_available(self): return True
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []
    def sync_turn(self, *args, **kwargs): threading.Event().wait()
    def prefetch(self, *args, **kwargs): threading.Event().wait()

manager = MemoryManager(prefetch_seconds=0.01, write_seconds=0.01)
manager.add_provider(Hanging())
manager.initialize_all("s1")
manager.prefetch_all("Which port?")
manager.sync_all("Which port?", "5433")
print("said")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "MNEMOS_HOME": str(tmp_path / "home")},
    )
    assert ran.stdout == "said\n"
    with Memory.at(tmp_path / "home") as memory:
        # It never said goodbye, and its last turn is there.
        assert [one["content"] for one in memory.sessions.get_messages("s1")] == ["Which port?", "5433"]


# --- flooding and lying ---------------------------------------------------------------------------


def test_megabytes_are_cut_to_their_budget(memory: Memory) -> None:
    manager = make_manager(memory, Bad(lambda _: "words " * (MEGABYTES // 6)))
    got = a_turn(manager)
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got)
    assert count_tokens(got["prompt"]) <= 1_100 + 180 + 2_000
    assert count_tokens(got["recalled"]) <= 800
    assert count_tokens(got["lines"]) <= 800 + 1_000
    assert len(got["tool"]["text"]) <= 200_000
    assert manager.status().is_healthy
    manager.shutdown_all()


def test_megabytes_of_a_turn_are_stored(memory: Memory) -> None:
    manager = make_manager(memory, Bad(lambda _: None))
    manager.sync_all("x" * MEGABYTES, "y" * MEGABYTES)
    manager.on_turn_start(1, "x" * MEGABYTES)
    manager.prefetch_all("port " * (MEGABYTES // 5))
    assert manager.flush_pending(LONG)
    sizes = [len(one["content"]) for one in memory.sessions.get_messages("s1")]
    assert sizes == [memory.settings.max_message_bytes // 4] * 2
    assert manager.status().providers[0].failures == {}
    manager.shutdown_all()


@pytest.mark.parametrize(
    "lie", [5, b"bytes", ["list"], {"a": object()}, object(), 1.5, True], ids=lambda lie: type(lie).__name__
)
def test_answers_of_the_wrong_type_are_failures_and_nothing_else(memory: Memory, lie: Any) -> None:
    manager = make_manager(memory, Bad(lambda _: lie))
    got = a_turn(manager)
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got)
    assert got["tool"]["success"] is False
    failures = manager.status().providers[1].failures
    assert set(failures) == {"system_prompt_block", "prefetch", "on_pre_compress", "handle_tool_call"}
    manager.shutdown_all()


def test_none_counts_as_an_empty_answer(memory: Memory) -> None:
    manager = make_manager(memory, Bad(lambda _: None))
    got = a_turn(manager)
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got)
    assert set(manager.status().providers[1].failures) == {"handle_tool_call"}
    manager.shutdown_all()


@pytest.mark.parametrize(
    "schemas", [None, 5, "tools", [None, 5, {}], [{"name": "x" * 100}], [[TOOL]]], ids=repr
)
def test_invalid_tools_are_left_out(memory: Memory, schemas: Any) -> None:
    class Liar(Bad):
        def get_tool_schemas(self) -> Any:
            return schemas

    manager = make_manager(memory, Liar(lambda _: None))
    assert all(isinstance(schema["name"], str) for schema in manager.get_all_tool_schemas())
    status = manager.status().providers[1]
    assert (status.tools, "get_tool_schemas" in status.failures, status.is_active) == ((), True, True)
    manager.shutdown_all()


def test_a_provider_with_failing_attributes_breaks_nothing(memory: Memory) -> None:
    class Thorny(Bad):
        def __getattr__(self, hook: str) -> Any:
            raise RuntimeError("do not touch")

    manager = make_manager(memory, Thorny(lambda _: None))
    got = a_turn(manager)
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got)
    assert set(manager.status().providers[1].failures) >= {"prefetch", "sync_turn", "handle_tool_call"}
    manager.shutdown_all()


def test_methods_that_are_none_do_nothing(memory: Memory) -> None:
    class Odd(Bad):
        prefetch = sync_turn = system_prompt_block = 5

    manager = make_manager(memory, Odd(lambda _: ""))
    got = a_turn(manager)
    assert manager.flush_pending(LONG)
    check_the_turn_went_on(manager, memory, got)
    manager.shutdown_all()


# --- the home goes away ---------------------------------------------------------------------------


def test_a_database_that_becomes_unreadable_breaks_no_turn(tmp_path: Path) -> None:
    manager = MemoryManager()
    manager.initialize_all("s1", home=str(tmp_path / "home"))
    manager.sync_all("Question 1", "Answer.")
    assert manager.flush_pending(LONG)
    for path in (tmp_path / "home").glob("mnemos.db*"):
        path.write_bytes(b"no database any more" * 10_000)
    manager.on_turn_start(2, "Which port has the staging database?")
    assert isinstance(manager.build_system_prompt(), str)
    assert isinstance(manager.prefetch_all("Which port has the staging database?"), str)
    manager.sync_all("Question 2", "Answer.")
    assert json.loads(manager.handle_tool_call("recall", {"query": "port"}))["success"] in (True, False)
    assert isinstance(manager.on_pre_compress([{"role": "user", "content": "V[srv.port]: 3005"}]), str)
    manager.on_session_end([])
    assert manager.flush_pending(LONG)
    assert manager.status().providers[0].failures
    manager.shutdown_all()


def test_two_hosts_on_one_home_keep_both_their_turns(tmp_path: Path) -> None:
    managers = [MemoryManager() for _ in range(2)]
    for number, manager in enumerate(managers):
        manager.initialize_all(f"s{number}", home=str(tmp_path / "home"))
    for turn in range(20):
        for manager in managers:
            manager.on_turn_start(turn, f"Question {turn}")
            manager.sync_all(f"Question {turn}", "Answer.")
    for manager in managers:
        assert manager.flush_pending(LONG)
        assert manager.status().is_healthy
    with Memory.at(tmp_path / "home") as memory:
        assert [memory.sessions.message_count(f"s{number}") for number in range(2)] == [40, 40]
    for manager in managers:
        manager.shutdown_all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_goes_on_with_a_worker_of_its_own(tmp_path: Path) -> None:
    manager = MemoryManager()
    manager.initialize_all("s1", home=str(tmp_path / "home"))
    manager.sync_all("of the parent", "Answer.")
    assert manager.flush_pending(LONG)
    child = os.fork()
    if child == 0:
        manager.on_turn_start(2, "Which port has the staging database?")
        manager.prefetch_all("Which port has the staging database?")
        manager.sync_all("of the child", "Answer.")
        os._exit(0 if manager.flush_pending(LONG) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    manager.sync_all("of the parent again", "Answer.")
    assert manager.flush_pending(LONG)
    with Memory.at(tmp_path / "home") as memory:
        said = [one["content"] for one in memory.sessions.get_messages("s1") if one["role"] == "user"]
    assert said == ["of the parent", "of the child", "of the parent again"]
    manager.shutdown_all()
