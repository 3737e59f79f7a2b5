"""Forgetting a message or a session: items that go with it, and items that are only named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemos import Memory
from mnemos.errors import MnemosError, NotFound
from mnemos.integrations.hooks.compaction import save_statements
from mnemos.testing import FixedClock

SAID = "I play the theremin. My badge number is 77123."


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(":memory:", clock=clock, actor="tester", embedder="none") as opened:
        opened.sessions.create_session("chat", "cli")
        yield opened


def say(memory: Memory, text: str = SAID, session: str = "chat") -> int:
    """Say something, which is saved as facts before compaction; return the message."""
    message = memory.sessions.append_message(session, "user", text)
    save_statements(memory, session)
    return message


def contents(memory: Memory) -> list[str]:
    return [fact.content for fact in memory.facts.list()]


def test_facts_taken_from_a_message_alone_are_erased_with_it(memory: Memory) -> None:
    message = say(memory)
    assert contents(memory) == ["I play the theremin", "My badge number is 77123"]
    answer = memory.call("forget", {"ref": f"message:{message}"})
    assert (answer["erased"], answer["kept"]) == (["fact:f1", "fact:f2"], [])
    assert "fact:f1" in answer["text"]
    assert contents(memory) == []
    assert memory.recall("theremin").hits == ()
    with pytest.raises(NotFound):
        memory.facts.get("f1")


def test_a_fact_that_somebody_stated_again_stays_and_is_named(memory: Memory) -> None:
    message = say(memory)
    memory.facts.remember("I play the theremin")
    answer = memory.call("forget", {"ref": f"message:{message}"})
    assert (answer["erased"], answer["kept"]) == (["fact:f2"], ["fact:f1"])
    assert contents(memory) == ["I play the theremin"]
    assert "fact:f1" in answer["text"]
    memory.forget("fact:f1")
    assert contents(memory) == []


def test_a_fact_that_a_second_message_states_stays(memory: Memory) -> None:
    first = say(memory)
    second = say(memory, "I play the theremin, every evening. I play the theremin.")
    assert memory.forget(f"message:{first}")["kept"] == ["fact:f1"]
    assert "I play the theremin" in contents(memory)
    assert "fact:f1" in memory.forget(f"message:{second}")["kept"]


def test_saving_the_same_message_twice_is_not_a_second_source(memory: Memory) -> None:
    message = memory.sessions.append_message("chat", "user", SAID)
    for _ in range(3):
        memory.facts.remember("I play the theremin", session_id="chat", message_id=message)
    assert memory.forget(f"message:{message}")["erased"] == ["fact:f1"]
    assert contents(memory) == []


def test_stating_a_fact_again_is_logged_once_and_without_its_text(memory: Memory) -> None:
    say(memory)
    for _ in range(5):
        memory.facts.remember("I play the theremin")
    confirmed = [row for row in memory.log() if row.operation == "facts.confirm"]
    assert [(row.ref, row.before, row.after) for row in confirmed] == [("fact:f1", None, None)]


def test_a_fact_of_a_message_that_was_replaced_since_is_erased_from_the_history(memory: Memory) -> None:
    message = memory.sessions.append_message("chat", "user", "The port is 5432")
    memory.facts.write("V[db.port]: 5432", session_id="chat", message_id=message)
    memory.facts.write("V[db.port]: 6432")
    assert memory.forget(f"message:{message}")["erased"] == ["fact:f1"]
    assert [fact.content for fact in memory.facts.history("db.port")] == ["6432"]


def test_a_fact_stated_in_the_session_that_the_message_contains_is_named(memory: Memory) -> None:
    memory.facts.remember("I PLAY the theremin", session_id="chat")
    memory.facts.remember("We use Redis for caching", session_id="chat")
    memory.facts.remember("I collect stamps")
    message = memory.sessions.append_message("chat", "user", SAID)
    answer = memory.forget(f"message:{message}")
    assert (answer["erased"], answer["kept"]) == ([], ["fact:f1"])


def test_facts_of_another_message_are_left_alone(memory: Memory) -> None:
    other = say(memory)
    message = memory.sessions.append_message("chat", "user", "something else")
    answer = memory.forget(f"message:{message}")
    assert (answer["erased"], answer["kept"]) == ([], [])
    assert memory.forget(f"message:{other}")["erased"] == ["fact:f1", "fact:f2"]


@pytest.mark.parametrize("is_deleted", [False, True])
def test_facts_taken_from_a_session_go_with_it_and_others_are_named(memory: Memory, is_deleted: bool) -> None:
    say(memory)
    memory.facts.remember("We use Redis for caching", session_id="chat")
    memory.facts.remember("I collect stamps")
    if is_deleted:
        memory.sessions.delete_session("chat")
    answer = memory.forget("session:chat")
    assert (answer["erased"], answer["kept"]) == (["fact:f1", "fact:f2"], ["fact:f3"])
    assert contents(memory) == ["We use Redis for caching", "I collect stamps"]


def test_nothing_of_a_session_of_another_user_is_erased(memory: Memory) -> None:
    memory.sessions.create_session("hers", "cli", user_id="ada")
    message = say(memory, session="hers")
    for ref in (f"message:{message}", "session:hers"):
        with pytest.raises(NotFound):
            memory.forget(ref, user_id="bob")
    assert len(contents(memory)) == 2
    assert len(memory.forget(f"message:{message}", user_id="ada")["erased"]) == 2


def test_forgetting_a_message_again_erases_what_was_taken_from_it_meanwhile(memory: Memory) -> None:
    message = say(memory)
    memory.forget(f"message:{message}")
    memory.facts.remember("I play the theremin", session_id="chat", message_id=message)
    assert memory.forget(f"message:{message}")["erased"] == ["fact:f3"]


def test_an_unknown_message_or_session_erases_nothing(memory: Memory) -> None:
    say(memory)
    for ref in ("message:99", "session:nobody", "message:", "message:x", "session:", "facts:f1"):
        with pytest.raises(MnemosError):
            memory.forget(ref)
    assert len(contents(memory)) == 2


@pytest.mark.parametrize(
    "value", [{"plan": {"steps": ["meet at the quince orchard"]}, "n": 1}, [7], 7.5, None]
)
def test_an_entry_with_json_can_be_forgotten(memory: Memory, value: object) -> None:
    memory.entries.put("default", "k", value)
    memory.recall("meet at the quince orchard")
    (entry,) = memory.storage.read(lambda tx: tx.entries.page(after=0, limit=9))
    memory.forget(f"entry:{entry.id}")
    assert memory.entries.list_keys("default") == []
    assert memory.feeds.asked.list() == []
