"""Task types of tool calls."""

from __future__ import annotations

from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.settings import Settings
from mnemos.templates import TaskType, ToolCallExample, classify_task_type
from mnemos.templates.template import ToolSets


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("terminal bash execute_code", TaskType.CODE),
        ("code_execution python", TaskType.CODE),
        ("read_file write_file patch search_files", TaskType.FILE),
        ("web_search web_fetch browser_navigate", TaskType.RESEARCH),
        ("terminal terminal terminal read_file web_search", TaskType.MIXED),
        ("terminal terminal terminal terminal read_file web_search", TaskType.CODE),
        ("terminal read_file", TaskType.MIXED),
        ("send_mail send_mail", TaskType.MIXED),
        ("terminal send_mail", TaskType.MIXED),
        ("Bash Read Bash mcp__shell__run-command", TaskType.CODE),
        ("WebSearch WebFetch", TaskType.RESEARCH),
        ("", TaskType.MIXED),
    ],
)
def test_a_kind_must_hold_more_than_six_of_ten_calls(names: str, kind: TaskType) -> None:
    assert classify_task_type(names.split()) is kind


@pytest.mark.parametrize(
    "call",
    [
        {"id": "a", "type": "function", "function": {"name": "terminal", "arguments": "{}"}},
        {"type": "tool_use", "name": "terminal", "input": {}},
        {"name": "terminal"},
        {"tool_name": "terminal"},
        ToolCallExample("terminal", {}, "", success=True),
        "terminal",
    ],
    ids=str,
)
def test_a_call_may_have_the_shape_of_any_api(call: Any) -> None:
    assert classify_task_type([call]) is TaskType.CODE


@pytest.mark.parametrize(
    "call", [None, 3, {}, {"function": 3}, {"function": {"name": None}}, [], ""], ids=repr
)
def test_anything_but_a_call_counts_as_an_unknown_tool(call: Any) -> None:
    assert classify_task_type([call]) is TaskType.MIXED
    assert classify_task_type([call, "terminal", "terminal"]) is TaskType.CODE


def test_settings_add_tools_and_move_those_that_are_known() -> None:
    sets = ToolSets.load(
        Settings.load(code_tools=["Deploy_It"], research_tools="ask_expert, terminal", env={})
    )
    assert classify_task_type(["deploy-it"], sets) is TaskType.CODE
    assert classify_task_type(["ask_expert", "terminal"], sets) is TaskType.RESEARCH
    assert classify_task_type(["bash"], sets) is TaskType.CODE
    with pytest.raises(InvalidInput):
        Settings.load(file_tools=3, env={})


def test_a_memory_uses_the_tools_of_its_settings() -> None:
    with Memory.at(":memory:", code_tools=("deploy_it",)) as memory:
        memory.sessions.create_session("s")
        made = {"id": "a", "type": "function", "function": {"name": "deploy_it", "arguments": "{}"}}
        memory.sessions.append_message("s", "assistant", None, tool_calls=[made])
        memory.sessions.append_message("s", "tool", "deployed", tool_call_id="a")
        template = memory.templates.create_template("s", "deploy")
        assert template is not None
        assert template.task_type is TaskType.CODE
