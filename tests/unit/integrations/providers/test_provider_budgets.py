"""Prompt blocks keep to their budget, whatever is stored and whatever providers return."""

from __future__ import annotations

from typing import Any

import pytest
from builtin_steps import looked_up
from hypothesis import given
from hypothesis import strategies as st

from mnemos import Memory
from mnemos.integrations.providers import BuiltinMemoryProvider, MemoryManager
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens

NOTEBOOK, FACTS = 1_100, 180
WORDS = st.sampled_from(
    "staging database port shop price order 5433 東京 naïve <b> ``` \n § </recalled-memory>".split(" ")
)
TEXTS = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
VISIBLE = st.text(st.characters(blacklist_categories=("Cc", "Cs")), min_size=1, max_size=200)
CONTENTS = VISIBLE.map(str.strip).filter(bool)
TARGETS = st.sampled_from(["a", "b.c", "port", "db"])
FACT = st.builds("{}[{}]: {}".format, st.sampled_from("CDV?"), TARGETS, CONTENTS)


def open_memory(**flags: Any) -> Memory:
    return Memory.at(":memory:", clock=FixedClock(), embedder="none", redact=False, **flags)


@given(
    messages=st.lists(TEXTS, max_size=40),
    facts=st.lists(FACT, max_size=15),
    later=st.lists(FACT, max_size=8),
    query=TEXTS,
    budget=st.integers(50, 900),
)
def test_text_of_the_built_in_provider_stays_within_budget(
    messages: list[str], facts: list[str], later: list[str], query: str, budget: int
) -> None:
    with open_memory(prefetch_tokens=budget) as memory:
        memory.sessions.create_session("past", title="Past things")
        for text in messages:
            memory.sessions.append_message("past", "user", text)
        for line in facts:
            memory.facts.remember(line)
        provider = BuiltinMemoryProvider(memory)
        provider.initialize("s1")
        assert count_tokens(provider.system_prompt_block()) <= NOTEBOOK + FACTS + 2
        for line in later:
            memory.facts.remember(line)
        looked_up(provider._recalls, "s1", query)
        assert count_tokens(provider._look("s1", query, True)) <= budget
        assert count_tokens(provider.prefetch(query)) <= budget
        provider.shutdown()


@given(
    recalled=st.text(max_size=300),
    block=st.text(max_size=300),
    times=st.integers(1, 2_000),
    budget=st.integers(50, 900),
)
def test_text_of_an_external_provider_stays_within_budget(
    recalled: str, block: str, times: int, budget: int
) -> None:
    class Talkative(BuiltinMemoryProvider):
        name = "talkative"  # type: ignore[assignment]

        def initialize(self, session_id: str, **kwargs: Any) -> None:
            pass

        def get_tool_schemas(self) -> list[dict[str, Any]]:
            return []

        def system_prompt_block(self) -> str:
            return block * times

        def prefetch(self, query: str, *, session_id: str = "") -> str:
            return recalled * times

        def on_pre_compress(self, messages: Any) -> str:
            return block * times

        def shutdown(self) -> None:
            pass

    with open_memory() as memory:
        memory.sessions.create_session("past")
        memory.sessions.append_message("past", "user", "The staging database listens on port 5433. " * 30)
        manager = MemoryManager(memory=memory, prefetch_tokens=budget)
        manager.add_provider(Talkative())
        manager.initialize_all("s1")
        assert count_tokens(manager.prefetch_all("Which port has the staging database?")) <= budget
        assert count_tokens(manager.build_system_prompt()) <= NOTEBOOK + FACTS + 2_000
        assert count_tokens(manager.on_pre_compress([])) <= 1_000
        assert manager.status().is_healthy
        manager.shutdown_all()


@pytest.mark.parametrize("count", [0, 1, 10, 1_000])
def test_the_prompt_block_stays_within_budget_at_every_size(count: int) -> None:
    with open_memory(memory_characters=20_000, user_characters=20_000) as memory:
        for start in range(0, count, 100):
            lines = [
                f"C[rule.{n}]: nvr do thing number {n} without asking"
                for n in range(start, min(start + 100, count))
            ]
            memory.facts.write("\n".join(lines))
        notes = [f"Note number {number} about something worth knowing" for number in range(min(count, 200))]
        for target in ("user", "memory"):
            for start in range(0, len(notes), 50):
                adding = [{"action": "add", "content": note} for note in notes[start : start + 50]]
                memory.notebook.change(adding, target=target)
        provider = BuiltinMemoryProvider(memory)
        provider.initialize("s1")
        assert count_tokens(provider.system_prompt_block()) <= NOTEBOOK + FACTS + 2
        provider.shutdown()
