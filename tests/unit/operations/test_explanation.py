"""``explain`` shows the chain from a line in a prompt to the message it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound
from mnemos.notebook.notebook import digest
from mnemos.operations import registry
from mnemos.testing import FixedClock

DAY = 86_400.0


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(":memory:", clock=clock, actor="tester", embedder="none") as opened:
        yield opened


def explain(memory: Memory, ref: str) -> dict[str, Any]:
    return memory.call("explain", {"ref": ref})


def ids(facts: list[dict[str, Any]]) -> list[str]:
    return [fact["id"] for fact in facts]


def test_a_fact_is_explained_down_to_the_message_that_stated_it(memory: Memory, clock: FixedClock) -> None:
    memory.sessions.create_session("chat", "cli", title="Moving house")
    message = memory.sessions.append_message("chat", "user", "By the way,\nI live in Berlin now.")
    memory.facts.remember("I live in Berlin", session_id="chat", message_id=message, stated_by="user")
    answer = explain(memory, "f1")
    assert (answer["kind"], answer["state"], answer["stated_by"], answer["actor"], answer["at"]) == (
        ("fact", "live", "user", "tester", clock())
    )
    source = answer["source"]
    assert (source["session_id"], source["title"], source["message_id"], source["role"]) == (
        ("chat", "Moving house", message, "user")
    )
    assert source["excerpt"] == "By the way, I live in Berlin now."
    for said in ("V[user.home]: I live in Berlin", "hot", "the user", "Moving house", f"message:{message}"):
        assert said in answer["text"]
    assert explain(memory, "fact:f1") == answer


def test_the_whole_chain_is_shown_in_both_directions_across_targets(
    memory: Memory, clock: FixedClock
) -> None:
    facts = memory.facts
    facts.write("V[build]: nightly")
    clock.advance(DAY)
    facts.remember("We build on every push", about="ci.push", replaces="f1")
    clock.advance(DAY)
    facts.remember("We build twice a day", about="ci.rhythm", replaces="f2")
    middle = explain(memory, "f2")
    assert (ids(middle["replaced"]), ids(middle["replaced_by"]), middle["where"]) == (["f1"], ["f3"], "")
    assert [fact["ended_at"] is None for fact in (middle["replaced"][0], middle["replaced_by"][0])] == [
        False,
        True,
    ]
    assert ids(explain(memory, "f3")["replaced"]) == ["f1", "f2"]
    memory.undo()
    # The restored fact follows the removed one.
    assert ids(explain(memory, "f1")["replaced_by"]) == ["f2", "f3", "f4"]
    memory.call("forget", {"ref": "f4"})
    assert [fact["type"] for fact in explain(memory, "f4")["replaced_by"]] == ["~"]


def test_doubts_are_shown_on_both_sides(memory: Memory) -> None:
    memory.facts.remember("I drink coffee in the morning")
    memory.facts.remember("I drink tea in the morning")
    assert ids(explain(memory, "f1")["may_be_replaced_by"]) == ["f2"]
    assert ids(explain(memory, "f2")["may_replace"]) == ["f1"]


def test_a_cold_fact_is_in_no_prompt(memory: Memory) -> None:
    memory.facts.write("V[a]: 1", stated_by="tool")
    answer = explain(memory, "f1")
    assert answer["where"].startswith("cold")
    assert "tool" in answer["text"]


def test_a_fact_outlives_its_message_and_session(memory: Memory) -> None:
    memory.facts.write("V[a]: 1", session_id="gone", message_id=999)
    source = explain(memory, "f1")["source"]
    assert (source["session_id"], source["message_id"], source["role"]) == ("gone", 999, None)


def test_a_message_is_explained_with_the_facts_it_stated(memory: Memory, clock: FixedClock) -> None:
    memory.sessions.create_session("chat", "cli", title="Ports")
    message = memory.sessions.append_message("chat", "user", "The port is 3005 <memory-facts>\x1b[31m")
    memory.facts.write("V[port]: 3005\nV[host]: a", session_id="chat", message_id=message)
    memory.facts.write("V[port]: 3006")
    answer = explain(memory, f"message:{message}")
    assert (answer["kind"], answer["at"], answer["source"]["title"]) == ("message", clock(), "Ports")
    assert [(fact["id"], fact["state"]) for fact in answer["facts"]] == [("f1", "superseded"), ("f2", "live")]
    assert "\x1b" not in answer["text"]


def test_a_note_is_explained_by_its_author(clock: FixedClock, tmp_path: Path) -> None:
    with Memory.at(tmp_path, clock=clock, actor="ada", embedder="none") as memory:
        memory.notebook.add("Tests run with make check")
        added = clock()
        clock.advance(DAY)
    with Memory.at(tmp_path, clock=clock, actor="bob", embedder="none") as memory:
        memory.notebook.add("Answer in short sentences")
        ref = f"memory:{digest('Tests run with make check')}"
        answer = explain(memory, ref)
        assert (answer["actor"], answer["at"], answer["ref"]) == ("ada", added, f"note:{ref}")
        assert "MEMORY.md" in answer["text"]
        assert explain(memory, f"note:{ref}") == answer


def test_an_entry_is_explained_by_number_or_key(memory: Memory, clock: FixedClock) -> None:
    made = clock()
    memory.entries.store("default", "city", "Hamburg")
    clock.advance(DAY)
    memory.entries.store("default", "city", "Bremen")
    answer = explain(memory, "entry:1")
    assert (answer["actor"], answer["at"], answer["updated_at"]) == ("tester", made, clock())
    assert answer["content"] == "city: Bremen"


@pytest.mark.parametrize("ref", ["f99", "message:99", f"note:memory:{'0' * 12}", "entry:99", "entry:unknown"])
def test_what_is_not_there_is_not_found(memory: Memory, ref: str) -> None:
    with pytest.raises(NotFound):
        explain(memory, ref)


@pytest.mark.parametrize("ref", ["", "where I live", "session:x", "f", "message:x", "f1\x00", "f" * 10_000])
def test_anything_else_is_refused(memory: Memory, ref: str) -> None:
    with pytest.raises(InvalidInput):
        explain(memory, ref)


def test_nothing_of_another_user_is_explained(memory: Memory) -> None:
    memory.sessions.create_session("of-ada", "cli", user_id="ada")
    message = memory.sessions.append_message("of-ada", "user", "I drink tea in the morning")
    memory.facts.remember("I drink coffee in the morning")
    memory.facts.remember("I drink tea in the morning", user_id="ada", message_id=message)
    memory.entries.store("ada", "city", "Hamburg")
    for ref in ("f2", f"message:{message}", "entry:1"):
        read = registry.read("explain", {"ref": ref, "user_id": "bob"}, by_person=True)
        with pytest.raises(NotFound):
            read.run(memory)
    shared = registry.read("explain", {"ref": "f1", "user_id": "bob"}, by_person=True).run(memory)
    assert "tea" not in shared.as_text()
    mine = registry.read("explain", {"ref": "f1", "user_id": "ada"}, by_person=True).run(memory)
    assert "tea" in mine.as_text()


def test_explaining_writes_nothing(memory: Memory) -> None:
    memory.facts.write("V[a]: 1")
    before = memory.facts.get("f1"), len(memory.log())
    explain(memory, "f1")
    memory.facts.flush()
    assert (memory.facts.get("f1"), len(memory.log())) == before
