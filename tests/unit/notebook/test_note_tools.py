"""Answers of the tools: short, true, and with a warning when a file is nearly full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hands import ByHand

from mnemos import Memory
from mnemos.errors import InvalidInput, MnemosError
from mnemos.text.tokens import count_tokens


def test_a_success_is_short_and_echoes_nothing(memory: Memory) -> None:
    entry = "The build server is called barrel " * 20
    for answer in (
        memory.call("memory", {"action": "add", "content": entry}),
        memory.call("memory", {"action": "replace", "old_text": "barrel", "content": entry + "too"}),
        memory.call("remember", {"text": "Another note of barrels", "kind": "note"}),
        memory.call("notebook_add", {"content": "A third one of barrels"}),
        memory.call("notebook_edit", {"target": "user", "text": entry}),
    ):
        assert "barrel" not in str(answer)
        assert count_tokens(answer["text"]) < 50


def test_the_answer_has_the_use_of_the_file(memory: Memory) -> None:
    answer = memory.call("memory", {"action": "add", "content": "x" * 275, "target": "user"})
    assert {key: answer[key] for key in ("target", "entries", "used", "limit", "percent", "warning")} == {
        "target": "user", "entries": 1, "used": 275, "limit": 1375, "percent": 20, "warning": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("memory", {"action": "add", "content": "new"}),
        ("memory", {"operations": [{"action": "add", "content": "new"}]}),
        ("memory", {"action": "replace", "old_text": "short", "content": "new"}),
        ("memory", {"action": "remove", "old_text": "short"}),
        ("remember", {"text": "new", "kind": "note"}),
        ("notebook_add", {"content": "new"}),
        ("notebook_edit", {"target": "memory", "text": "y" * 1_900}),
    ],
)
def test_every_answer_about_a_file_that_is_nearly_full_warns(
    memory: Memory, name: str, asked: dict[str, Any]
) -> None:
    memory.notebook.write("memory", "short\n§\n" + "x" * 1_800)
    answer = memory.call(name, asked)
    assert "MEMORY.md" in answer["warning"]
    assert answer["warning"] in answer["text"]


def test_one_entry_is_not_called_entries(memory: Memory) -> None:
    assert "1 entry," in memory.call("memory", {"action": "add", "content": "one"})["text"]
    assert "2 entries," in memory.call("memory", {"action": "add", "content": "two"})["text"]


def test_what_was_noted_already_is_not_called_done(memory: Memory) -> None:
    asked = {"action": "add", "content": "one"}
    assert memory.call("memory", asked)["changed"] is True
    again = memory.call("memory", asked)
    assert again["changed"] is False
    assert "Done" not in again["text"]


def test_making_room_and_adding_is_one_call(memory: Memory) -> None:
    memory.notebook.write("memory", "old " + "x" * 2_000)
    operations = [{"action": "remove", "old_text": "old "}, {"action": "add", "content": "y" * 2_000}]
    assert memory.call("memory", {"operations": operations})["entries"] == 1
    assert memory.notebook.entries() == ["y" * 2_000]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"action": "add"},
        {"action": "read"},
        {"action": "add", "content": "x", "target": "other"},
        {"action": "add", "content": 5},
        {"action": "add", "content": "x", "operations": [{"action": "remove", "old_text": "one"}]},
        {"operations": [{"action": "add", "content": "x", "target": "user"}]},
        {"operations": ["add"]},
        {"operations": "add"},
        {"operations": {"action": "add", "content": "x"}},
        {"operations": [{}]},
        {"content": "x"},
        {"action": "add", "content": "x", "nonsense": 1},
    ],
)
def test_what_is_not_meant_that_way_is_an_error_and_changes_nothing(
    memory: Memory, asked: dict[str, Any]
) -> None:
    memory.notebook.add("one")
    with pytest.raises(InvalidInput):
        memory.call("memory", asked)
    assert (memory.notebook.entries(), memory.notebook.entries("user")) == (["one"], [])


@pytest.mark.parametrize(
    "empty", [{"operations": []}, {"operations": None}, {"old_text": ""}, {"old_text": None}]
)
def test_what_models_leave_empty_is_left_out(memory: Memory, empty: dict[str, Any]) -> None:
    memory.call("memory", {"action": "add", "content": "one", **empty})
    memory.call("memory", {"action": "remove", "old_text": "one", "content": ""})
    assert memory.notebook.entries() == []


def test_there_is_no_way_to_read_through_the_tool(memory: Memory) -> None:
    (tool,) = [tool for tool in memory.tools("mcp", "notebook") if tool["name"] == "memory"]
    assert tool["inputSchema"]["properties"]["action"]["enum"] == ["add", "remove", "replace"]
    assert tool["inputSchema"]["properties"]["target"]["enum"] == ["memory", "user"]


def test_the_notebook_is_shown_with_its_use(memory: Memory) -> None:
    memory.notebook.add("one\nand a half")
    memory.notebook.add("two")
    shown = memory.call("notebook_show")
    assert [(file["target"], file["entries"], file["percent"]) for file in shown["files"]] == [
        ("memory", ["one\nand a half", "two"], 1),
        ("user", [], 0),
    ]
    assert "and a half" in shown["text"]


def test_showing_goes_on_when_a_file_cannot_be_read(memory: Memory, by_hand: ByHand) -> None:
    by_hand(b"\xff")
    memory.notebook.add("Sam", target="user")
    shown = memory.call("notebook_show")
    assert "Sam" in shown["text"]
    assert "MEMORY.md" in shown["text"]


def test_undoing_says_which_file(memory: Memory) -> None:
    memory.notebook.add("Sam", target="user")
    assert "USER.md" in memory.call("notebook_undo")["text"]
    with pytest.raises(MnemosError):
        memory.call("notebook_undo")


def test_the_status_shows_how_full_both_files_are(memory: Memory) -> None:
    memory.notebook.add("x" * 1_100)
    memory.notebook.add("y" * 275, target="user")
    status = memory.call("memory_status")
    assert "50%" in status["text"]
    assert "20%" in status["text"]
    assert status["tokens"] <= 180


def test_optimizing_lists_every_step(home: Path) -> None:
    with Memory.at(home, embedder="none", memory_characters=100) as memory:
        memory.notebook.write("memory", "C[db.id]: UUID\n§\n" + "x" * 60)
        answer = memory.call("memory_optimize", {"session_id": "chat"})
        assert (answer["before"]["memory"], answer["after"]["memory"], answer["dry_run"]) == (77, 60, False)
        assert [(step["action"], step["facts"]) for step in answer["steps"]] == [
            ("migrated", ["C[db.id]: UUID"])
        ]
        assert "C[db.id]" in answer["text"]
        assert memory.call("memory_optimize")["steps"] == []


def test_a_note_is_found_and_a_fact_is_not_a_note(memory: Memory) -> None:
    memory.call("remember", {"text": "The build server is called barrel", "kind": "note"})
    memory.call("remember", {"text": "The staging database listens on port 5433", "kind": "fact"})
    memory.call("remember", {"text": "We never deploy on Fridays"})
    assert memory.notebook.entries() == ["The build server is called barrel"]
    assert memory.facts.count() == 2
    assert memory.call("recall", {"query": "how is the build server called?"})["hits"][0]["kind"] == "note"


def test_the_twice_a_day_run_is_harmless_on_a_new_home(home: Path) -> None:
    with Memory.at(home, embedder="none") as memory:
        memory.call("memory_optimize")
        assert memory.call("memory_optimize")["steps"] == []
        assert memory.log() == []
