"""``show`` shows whatever an id names, and ``sessions_search`` finds what is not a message too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound
from mnemos.notebook.notebook import digest
from mnemos.operations import registry
from mnemos.testing import FixedClock


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(":memory:", clock=clock, embedder="none", backend="local") as opened:
        opened.sessions.create_session("f1a2-garden", "cli", title="The garden", user_id="zoe")
        for text in ("The quince is by the wall", "Water it 水 🌱", "Done"):
            opened.sessions.append_message("f1a2-garden", "user", text)
        opened.facts.remember("The staging database listens on port 5433")
        opened.notebook.add("Tests run with make test")
        opened.entries.store("default", "city", "Lisbon, near the river")
        yield opened


@pytest.mark.parametrize("name", ["f1a2-garden", "f1a2", "The garden", "session:f1a2-garden", " f1a2 "])
def test_a_session_is_shown_by_its_id_its_beginning_or_its_title(memory: Memory, name: str) -> None:
    shown = memory.call("show", {"id": name})
    assert shown["kind"] == "session"
    assert [one["id"] for one in shown["session"]["messages"]] == [1, 2, 3]


@pytest.mark.parametrize(("name", "around", "ids"), [("message:2", 0, [2]), ("2", 1, [1, 2, 3])])
def test_a_message_is_shown_whole_with_those_around_it(
    memory: Memory, name: str, around: int, ids: list[int]
) -> None:
    shown = memory.call("show", {"id": name, "around": around})
    assert shown["kind"] == "message"
    assert [one["id"] for one in shown["session"]["messages"]] == ids
    assert "Water it 水 🌱" in shown["text"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("f1", "fact"),
        ("fact:f1", "fact"),
        (f"note:memory:{digest('Tests run with make test')}", "note"),
        ("entry:city", "entry"),
    ],
)
def test_a_fact_a_note_and_an_entry_are_shown_with_where_they_come_from(
    memory: Memory, name: str, kind: str
) -> None:
    shown = memory.call("show", {"id": name})
    assert shown["kind"] == kind
    assert shown["explained"] == {
        key: value for key, value in memory.call("explain", {"ref": name}).items() if key != "text"
    }


@pytest.mark.parametrize(
    "name", ["nobody", "f99", "message:99", "99", "template:none", "entry:none", "session:x", "9" * 30]
)
def test_an_id_that_nothing_has_is_not_found(memory: Memory, name: str) -> None:
    with pytest.raises(NotFound):
        memory.call("show", {"id": name})


def test_nothing_of_another_user_is_shown(memory: Memory) -> None:
    for name in ("f1a2", "message:1", "1"):
        assert registry.call(memory, "show", {"id": name}, user_id="zoe")["kind"]
        with pytest.raises(NotFound):
            registry.call(memory, "show", {"id": name}, user_id="sam")


@pytest.mark.parametrize(
    ("kind", "query", "ref"),
    [("fact", "staging port", "f1"), ("entry", "river", "1"), ("note", "make test", None)],
)
def test_search_finds_other_kinds_than_messages(memory: Memory, kind: str, query: str, ref: object) -> None:
    found = memory.call("sessions_search", {"query": query, "kind": kind})
    assert [one["kind"] for one in found["others"]] == [kind]
    assert ref in (None, found["others"][0]["ref"])
    assert found["hits"] == []
    assert memory.call("show", {"id": f"{kind}:{found['others'][0]['ref']}"})["kind"] == kind


def test_search_of_another_kind_refuses_filters_for_messages(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.call("sessions_search", {"query": "port", "kind": "fact", "role": "user"})
