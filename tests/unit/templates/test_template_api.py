"""The public names of ``mnemos.templates`` and the cost of importing it."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import mnemos.templates
from mnemos import SessionTemplates
from mnemos.templates import SessionTemplate, TaskType, ToolCallExample

HEAVY = ("apsw", "numpy", "click", "msgspec", "rich", "sqlite3", "Stemmer")


def test_the_public_names_are_these() -> None:
    assert mnemos.templates.__all__ == [
        *("SessionTemplate", "TaskType", "ToolCallExample", "classify_task_type")
    ]
    for name in mnemos.templates.__all__:
        assert getattr(mnemos.templates, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = mnemos.templates.nothing_of_the_kind


def test_importing_imports_nothing_heavy() -> None:
    code = f"import mnemos.templates, sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("__init__", "template_dir session_db"),
        ("classify_task_type", "tool_calls"),
        ("extract_from_session", "session_id max_examples"),
        ("create_template", "session_id name task_type max_examples description tags"),
        ("get_template", "task_type tags"),
        ("inject_into_messages", "template messages"),
        ("list_templates", "task_type tags"),
        ("delete_template", "name"),
        ("get_template_stats", ""),
        ("save", "template"),
    ],
)
def test_hosts_find_the_arguments_they_call_by_name(method: str, names: str) -> None:
    wanted = names.split()
    found = [
        name for name in inspect.signature(getattr(SessionTemplates, method)).parameters if name != "self"
    ]
    assert found[: len(wanted)] == wanted


def test_templates_and_examples_are_made_by_position_and_with_defaults() -> None:
    example = ToolCallExample("terminal", {"command": "ls"}, "a.py", True)
    template = SessionTemplate("x", TaskType.CODE, [example])
    assert (example.turn_number, template.description, template.usage_count) == (0, "", 0)
    assert (template.source_session_id, template.tags) == (None, [])
    assert [str(kind) for kind in TaskType] == ["code", "file", "research", "mixed"]
