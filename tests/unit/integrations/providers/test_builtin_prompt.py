"""The built-in provider's share of a prompt: a block that stays, and recall in time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from builtin_steps import LONG, looked_up, recalled, settle

from mnemos import Memory
from mnemos.errors import Busy, Unavailable
from mnemos.integrations.providers import BuiltinMemoryProvider
from mnemos.integrations.providers.prefetch import Recalls
from mnemos.testing import FixedClock

# --- beginning ------------------------------------------------------------------------------------


def test_nothing_is_opened_before_it_is_initialized(home: Path) -> None:
    provider = BuiltinMemoryProvider()
    assert provider.is_available()
    assert provider.get_tool_schemas()
    assert not home.exists()
    with pytest.raises(Unavailable):
        _ = provider.memory


@pytest.mark.parametrize("argument", ["home", "hermes_home"])
def test_it_opens_and_closes_its_home(tmp_path: Path, argument: str) -> None:
    provider = BuiltinMemoryProvider()
    provider.initialize(
        "s1", **{argument: str(tmp_path / "there")}, agent_identity="coder", platform="telegram"
    )
    assert provider.memory.settings.home == tmp_path / "there"
    assert (provider.memory.settings.actor, provider.memory.settings.source) == ("coder", "telegram")
    provider.shutdown()
    provider.shutdown()
    with pytest.raises(Unavailable):
        _ = provider.memory


def test_a_memory_of_the_host_stays_open(memory: Memory) -> None:
    provider = BuiltinMemoryProvider(memory)
    provider.initialize("s1")
    provider.shutdown()
    assert memory.sessions.session_count() == 0


# --- the block ------------------------------------------------------------------------------------


def test_the_prompt_block_has_notes_and_hot_facts(memory: Memory) -> None:
    memory.notebook.add("Tests run with make test")
    memory.facts.write("V[srv.prod]: api.example.com:3005")
    provider = BuiltinMemoryProvider(memory)
    provider.initialize("s1")
    block = provider.system_prompt_block()
    assert "Tests run with make test" in block
    assert "V[srv.prod]: api.example.com:3005" in block


def test_without_notes_and_facts_there_is_no_block(builtin: BuiltinMemoryProvider) -> None:
    assert builtin.system_prompt_block() == ""


@pytest.mark.parametrize(
    ("parts", "notes", "facts"),
    [
        ("off", False, False),
        ("notebook", True, False),
        ("facts", False, True),
        ("notebook,facts", True, True),
    ],
)
def test_each_part_of_the_block_can_be_switched_off(
    parts: str, notes: bool, facts: bool, clock: FixedClock
) -> None:
    with Memory.at(":memory:", clock=clock, prompt_parts=parts, embedder="none") as memory:
        memory.notebook.add("Tests run with make test")
        memory.facts.write("V[srv.prod]: here")
        provider = BuiltinMemoryProvider(memory)
        provider.initialize("s1")
        block = provider.system_prompt_block()
    assert ("make test" in block, "V[srv.prod]" in block) == (notes, facts)


def test_the_prompt_block_stays_the_same_during_a_session(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    memory.notebook.add("one")
    memory.facts.write("V[a]: 1")
    before = builtin.system_prompt_block()
    memory.notebook.add("two")
    memory.facts.write("V[a]: 2\nC[b]: never")
    builtin.on_turn_start(1, "hello there")
    builtin.sync_turn("hello there", "hi")
    settle(builtin)
    assert builtin.system_prompt_block().encode() == before.encode()


@pytest.mark.parametrize("boundary", ["compression", "switch", "end"])
def test_the_prompt_block_is_rebuilt_after_compression_or_a_session_switch(
    memory: Memory, builtin: BuiltinMemoryProvider, boundary: str
) -> None:
    memory.notebook.add("one")
    assert "two" not in builtin.system_prompt_block()
    memory.notebook.add("two")
    if boundary == "compression":
        builtin.on_pre_compress([])
    elif boundary == "switch":
        builtin.on_session_switch("s2", reset=True)
    else:
        builtin.on_session_end([])
    assert "two" in builtin.system_prompt_block()


# --- recall ---------------------------------------------------------------------------------------


def test_other_sessions_are_recalled(past: Memory, builtin: BuiltinMemoryProvider) -> None:
    assert "5433" in recalled(builtin, "Which port has the staging database?")


def test_the_current_session_is_recalled_only_after_compression(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    builtin.sync_turn("The staging database listens on port 5433.", "Good.")
    settle(builtin)
    assert "5433" not in recalled(builtin, "Which port has the staging database?")
    builtin.on_pre_compress([])
    assert "5433" in recalled(builtin, "Which port has the staging database?")


@pytest.mark.parametrize("query", ["ok", "thanks!", "", "   ", None, 5])
def test_trivial_messages_are_not_looked_up(
    past: Memory, builtin: BuiltinMemoryProvider, query: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Memory, "recall", None)
    assert builtin.prefetch(query) == ""
    builtin.queue_prefetch(query)


def test_changed_facts_come_with_recall(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    memory.facts.write("V[srv.prod]: port 3005\nC[deploy]: nvr on Fridays\nV[old]: gone soon")
    builtin.system_prompt_block()
    assert recalled(builtin, "Which port has production?") == ""
    memory.facts.write("V[srv.prod]: port 3006\n~[old]: nobody needs it")
    text = recalled(builtin, "And which port has production now?")
    assert "V[srv.prod]: port 3006" in text
    assert "~[old]: gone soon" in text
    assert "C[deploy]" not in text


def test_notes_and_facts_in_the_prompt_are_not_recalled_again(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    memory.notebook.add("The staging database listens on port 5433")
    memory.facts.write("V[db.staging]: listens on port 5433", session_id="other")
    assert recalled(builtin, "Which port has the staging database?").count("5433") == 2
    builtin.system_prompt_block()
    builtin._recalls.forget()
    assert recalled(builtin, "Which port has the staging database?") == ""


def test_a_background_result_is_used_without_a_second_search(past: Memory) -> None:
    looked: list[bool] = []

    def look(session_id: str, query: str, words_only: bool) -> str:
        looked.append(words_only)
        return f"{session_id}: {query}"

    recalls = Recalls(look)
    looked_up(recalls, "s1", "port?")
    asked = len(looked)
    assert recalls.take("s1", "port?", 0.0) == "s1: port?"
    assert len(looked) == asked


def test_words_are_searched_first_until_recall_is_known_to_be_quick() -> None:
    looked: list[bool] = []
    # Of each question: when it is asked, when recall by everything begins, and when it is over.
    moments = iter([0.0, 0.0, 1.0, 1.0, 1.0, 1.001, 2.0, 2.0, 2.5])

    def look(_: str, __: str, words_only: bool) -> str:
        looked.append(words_only)
        return "found"

    recalls = Recalls(look, lambda: next(moments))
    for query in ("one", "two", "three"):
        looked_up(recalls, "s", query)
    # Nothing is known before the first, which takes a second; the second takes a millisecond.
    assert looked == [True, False, True, False, False]


def test_a_caller_who_cannot_wait_gets_the_result_by_words() -> None:
    gate = threading.Event()

    def look(_: str, query: str, words_only: bool) -> str:
        if words_only:
            return "by words"
        gate.wait(LONG)
        return "by everything"

    recalls = Recalls(look)
    assert recalls.take("s", "q", LONG) == "by words"
    gate.set()
    looked_up(recalls, "s", "q")
    assert recalls.take("s", "q", 0.0) == "by everything"


def test_a_late_answer_is_replaced_by_the_unused_one_before() -> None:
    gate = threading.Event()

    def look(_: str, query: str, words_only: bool) -> str:
        if query == "slow":
            gate.wait(LONG)
        return f"about {query}"

    recalls = Recalls(look)
    looked_up(recalls, "s", "queued")
    assert recalls.take("s", "slow", 0.0) == "about queued"
    assert recalls.take("s", "slow", 0.0) == ""
    gate.set()


def test_the_same_query_is_searched_again_when_old_or_in_another_turn() -> None:
    looked: list[str] = []
    now = [0.0]

    def look(_: str, query: str, words_only: bool) -> str:
        looked.append(query)
        return f"answer {len(looked)}"

    recalls = Recalls(look, lambda: now[0])
    looked_up(recalls, "s", "words are asked first")
    first = recalls.take("s", "q", LONG)
    assert recalls.take("s", "q", LONG) == first
    recalls.start("s", "q", anew=True)
    second = recalls.take("s", "q", LONG)
    assert second != first
    now[0] += 31
    assert recalls.take("s", "q", LONG) not in (first, second)
    recalls.start("s", "ahead")
    recalls.start("s", "ahead", anew=True)
    recalls.take("s", "ahead", LONG)
    assert looked.count("ahead") == 1


def test_the_number_of_running_searches_is_limited() -> None:
    gate = threading.Event()
    recalls = Recalls(lambda *_: str(gate.wait(LONG)))
    for number in range(20):
        assert recalls.take(f"s{number}", "q", 0.0) == ""
    assert len(recalls._running) == 4
    gate.set()


def test_a_failed_search_raises_and_is_tried_again() -> None:
    failures = [Busy("locked"), Busy("locked")]

    def look(*_: Any) -> str:
        if failures:
            raise failures.pop()
        return "found"

    recalls = Recalls(look)
    for _ in range(2):
        with pytest.raises(Busy):
            recalls.take("s", "q", LONG)
    assert recalls.take("s", "q", LONG) == "found"


def test_the_number_of_remembered_sessions_is_limited() -> None:
    recalls = Recalls(lambda session, query, _: f"{session} {query}")
    for number in range(100):
        assert recalls.take(f"s{number}", "q", LONG) == f"s{number} q"
    assert len(recalls._searches) == 64
