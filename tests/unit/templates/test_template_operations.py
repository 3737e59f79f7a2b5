"""Results of the operations on templates, as data and as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import record, step, user

from mnemos import Memory
from mnemos.errors import NotFound
from mnemos.operations import registry
from mnemos.sessions.sessions import Sessions
from mnemos.templates import SessionTemplate, TaskType, ToolCallExample


@pytest.fixture
def good(sessions: Sessions) -> str:
    runs = [
        *step("a", "terminal", "Error: no", command="make tset"),
        *step("b", "terminal", "ok", command="make"),
    ]
    return record(sessions, "good-one", [user("go"), *runs], ended="done", title="Make it")


def test_suggest_create_show_list_stats_delete(memory: Memory, good: str) -> None:
    (one,) = memory.call("templates_suggest")["suggestions"]
    assert (one["session_id"], one["task_type"], one["loops"]) == ("good-one", "code", 1)
    made = memory.call("templates_create", {"session": "good", "name": "make", "tags": ["a,b"]})
    assert made["text"] == "Created template make (code) with 1 example: terminal."
    assert made["template"]["tags"] == ["a", "b"]
    shown = memory.call("templates_show", {"name": "make"})
    assert '1. terminal {"command":"make"}\n  ok' in shown["text"]
    assert shown["template"]["source_session_id"] == "good-one"
    assert "used 0×  a, b" in memory.call("templates_list")["text"]
    assert memory.call("templates_stats")["text"] == "1 template (1 code), 1 example, used 0 times."
    assert memory.call("templates_suggest")["suggestions"] == []
    assert memory.call("templates_delete", {"name": "make"})["done"] == "Deleted make."
    assert memory.call("templates_list")["text"] == "No templates."
    assert memory.call("templates_stats")["text"] == "0 templates, 0 examples, used 0 times."


def test_a_missing_template_is_not_found(memory: Memory, sessions: Sessions) -> None:
    record(sessions, "talk", [user("hello")])
    for name, arguments in (
        ("templates_create", {"session": "talk"}),
        ("templates_create", {"session": "nobody"}),
        ("templates_show", {"name": "nothing"}),
        ("templates_delete", {"name": "../x"}),
    ):
        with pytest.raises(NotFound):
            memory.call(name, arguments)


def test_a_list_and_a_question_before_deleting_name_what_cannot_be_read(memory: Memory, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "bad.json").write_text("{", encoding="utf-8")
    answer = memory.call("templates_list")
    assert str(folder / "bad.json") in answer["unread"][0]
    assert answer["unread"][0] in answer["text"]
    assert "cannot be read" in registry.read("templates_delete", {"name": "bad"}).at_stake(memory)


def test_the_experiment_reports_its_result_and_its_limits(memory: Memory, sessions: Sessions) -> None:
    assert "Not enough data: 10" in memory.call("templates_experiment")["text"]
    template = SessionTemplate("lift", TaskType.CODE, [ToolCallExample("terminal", {}, "ok", success=True)])
    began = memory.templates.inject_into_messages(template, [user("go")])
    for number in range(10):
        record(sessions, f"w{number}", [*began, *step("a", "terminal", "ok", n=number)])
        record(sessions, f"o{number}", [user("go"), *step("a", "terminal", "Error: no", n=number)])
    answer = memory.call("templates_experiment")
    assert answer["enough"] is True
    assert "10 conversations with a template, 10 without (20 sessions looked at)" in answer["text"]
    assert (
        "error rate in the first 30 turns: 0.00 with, 1.00 without; difference -1.00 (-1.00 to -1.00); "
        "n = 10 and 10: lower with a template" in answer["text"]
    )
    assert "not a trial" in answer["text"]
    assert "raise sessions" in memory.call("templates_experiment", {"sessions": 5})["text"]
