"""Several things forgotten or deleted in one call, with one preview."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound
from mnemos.operations import registry


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with mnemos.open(home, embedder="none") as opened:
        for name in ("one", "two", "three"):
            opened.sessions.create_session(name, "cli", title=name.title())
            opened.sessions.append_message(name, "user", f"The {name} codeword is zebra-{name}.")
        yield opened


def test_several_references_are_erased_in_one_call(memory: Memory, home: Path) -> None:
    done = memory.call("forget", {"refs": ["message:1", "message:2", "message:1"]})
    assert done["forgotten"]
    assert done["permanent"]
    assert done["ref"] == "message:1, message:2"
    assert [memory.sessions.get_messages(name)[0].get("forgotten") for name in ("one", "two", "three")] == [
        True,
        True,
        None,
    ]
    stored = b"".join(path.read_bytes() for path in home.glob("mnemos.db*"))
    assert b"zebra-one" not in stored
    assert b"zebra-two" not in stored
    assert b"zebra-three" in stored


def test_one_unknown_message_keeps_all_others(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.forget(["message:1", "message:999"])
    assert memory.sessions.get_messages("one")[0].get("forgotten") is None


def test_several_facts_are_withdrawn_and_undone_together(memory: Memory) -> None:
    for text in ("I live in Berlin", "The staging port is 5433", "I play chess"):
        memory.remember(text)
    done = memory.call("forget", {"refs": ["f1", "f3"]})
    assert (done["permanent"], [one["id"] for one in done["withdrawn"]]) == (False, ["f1", "f3"])
    assert memory.facts.count() == 1
    memory.undo(done["entry"])
    assert memory.facts.count() == 3


def test_what_can_be_undone_and_what_cannot_are_not_mixed(memory: Memory) -> None:
    memory.remember("I live in Berlin")
    with pytest.raises(InvalidInput):
        memory.forget(["f1", "message:1"])
    assert memory.facts.count() == 1


def test_a_preview_names_everything_that_would_go(memory: Memory) -> None:
    asked = registry.read("forget", {"refs": ["message:1", "session:two"]})
    stake = asked.at_stake(memory)
    assert "message:1" in stake
    assert "the session Two (two) with 1 message" in stake
    assert stake.endswith("permanently")
    deleted = registry.read("sessions_delete", {"sessions": ["one", "Two"]}).at_stake(memory)
    assert "One (one)" in deleted
    assert "Two (two)" in deleted


@pytest.mark.parametrize("arguments", [{}, {"ref": "f1", "refs": ["f2"]}, {"refs": []}])
def test_something_must_be_named(memory: Memory, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        memory.call("forget", arguments)


def test_several_sessions_are_deleted_or_none(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.call("sessions_delete", {"sessions": ["one", "nothing"]})
    assert memory.sessions.session_count() == 3
    done = memory.call("sessions_delete", {"sessions": ["one", "Two", "one"]})
    assert done["done"].count("Deleted") == 2
    assert memory.sessions.session_count() == 1
    for _ in range(2):
        memory.undo()
    assert memory.sessions.session_count() == 3
    for wrong in ({}, {"session": "one", "sessions": ["two"]}):
        with pytest.raises(InvalidInput):
            memory.call("sessions_delete", wrong)
