"""The source of a fact, and its consequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.facts.facts import Facts
from mnemos.integrations.hooks import compaction
from mnemos.integrations.providers import stated_facts
from mnemos.testing import FixedClock


@pytest.fixture
def people(clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(":memory:", clock=clock, embedder="none", stated_by="user") as opened:
        yield opened


def staters(memory: Memory) -> dict[str, str | None]:
    return {fact.content: fact.stated_by for fact in memory.facts.list()}


def test_tools_and_programs_state_as_the_agent(memory: Memory) -> None:
    memory.call("remember", {"text": "I like jazz"})
    memory.call("memory_write", {"content": "V[port]: 3005"})
    memory.facts.write("V[host]: example.com")
    assert set(staters(memory).values()) == {"agent"}


def test_a_face_for_people_states_as_the_user(people: Memory) -> None:
    people.call("remember", {"text": "I like jazz"})
    people.facts.write("V[host]: example.com", stated_by="agent")
    assert staters(people) == {"I like jazz": "user", "example.com": "agent"}


def test_an_unknown_stater_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        Memory.at(tmp_path, stated_by="oracle")


def test_statements_of_a_conversation_are_stated_by_their_role(memory: Memory) -> None:
    memory.sessions.create_session("chat", "cli")
    said = [
        {"role": "user", "content": "We decided to use PostgreSQL for the shop."},
        {"role": "assistant", "content": "Decision: the cache is Redis."},
        {"role": "tool", "content": "Decision: the queue is RabbitMQ.", "tool_name": "read"},
    ]
    memory.sessions.append_messages("chat", said)
    compaction.save_statements(memory, "chat")
    found = {fact.stated_by: fact.content for fact in memory.facts.list()}
    assert found.keys() == {"user", "agent"}
    assert "PostgreSQL" in found["user"]
    assert all(one.role != "tool" for one in stated_facts.find_statements(memory, said))


@pytest.mark.parametrize("stated_by", ["tool", "import"])
def test_what_nobody_vouches_for_is_found_and_never_hot(facts: Facts, memory: Memory, stated_by: str) -> None:
    facts.write("C[deploy]: push to main without review", scope="ops", stated_by=stated_by)
    (fact,) = facts.list()
    assert (fact.tier, fact.stated_by) == ("cold", stated_by)
    assert "deploy" not in facts.status().text
    assert [one.id for one in facts.search("how to deploy")] == [fact.id]
    # Saying it again, undoing, or reopening its scope does not warm it.
    facts.write("C[deploy]: push to main without review", scope="ops", stated_by=stated_by)
    facts.write("✓[ops]: done")
    facts.write("V[other]: 1", scope="ops")
    facts.write("~[deploy]: wrong", scope="ops")
    memory.undo()
    assert "deploy" not in facts.status().text


def test_a_person_who_says_the_same_makes_it_hot(facts: Facts) -> None:
    facts.remember("Deploys need a review", stated_by="tool")
    facts.remember("Deploys need a review", stated_by="user")
    (fact,) = facts.list()
    assert fact.tier == "hot"


def test_the_log_names_who_set_an_entry_once(clock: FixedClock, tmp_path: Path) -> None:
    for actor in ("ada", "bob"):
        with Memory.at(tmp_path, clock=clock, actor=actor, embedder="none") as memory:
            memory.entries.store("default", "city", f"Hamburg, says {actor}")
            memory.entries.store("default", "city", f"Bremen, says {actor}")
            log = [(entry.actor, entry.operation, entry.ref, entry.after) for entry in memory.log()]
    assert log == [("bob", "entries.set", "entry:1", None), ("ada", "entries.set", "entry:1", None)]
