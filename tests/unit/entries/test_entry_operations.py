"""The results of the entry tool and commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import Disabled, InvalidInput, NotFound, Refused
from mnemos.memory import Memory
from mnemos.testing import FixedClock


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(home, backend="local", clock=clock) as opened:
        yield opened


def tool(memory: Memory, action: str, **more: Any) -> dict[str, Any]:
    answer = memory.call("memory_backend", {"action": action, **more})
    assert isinstance(answer.pop("text"), str)
    return answer


def test_each_action_returns_its_fields(memory: Memory, clock: FixedClock) -> None:
    given = {"key": "pref_editor", "value": "vim", "metadata": {"since": 2020}}
    assert tool(memory, "store", **given) == {"success": True, "key": "pref_editor"}
    assert tool(memory, "retrieve", key="pref_editor") == {"success": True, **given, "updated_at": clock()}
    assert tool(memory, "query", query_text="editor") == {"success": True, "results": [given], "count": 1}
    assert tool(memory, "list") == {"success": True, "keys": ["pref_editor"], "count": 1}
    assert tool(memory, "list", user_id="alice") == {"success": True, "keys": [], "count": 0}
    assert tool(memory, "info") == {
        "success": True,
        "backend": "local (SQLite)",
        "is_cloud": False,
        "available": True,
    }
    assert tool(memory, "delete", key="pref_editor") == {"success": True}


def test_evaluate_returns_the_report(memory: Memory) -> None:
    memory.entries.store("default", "mine", "stays")
    answer = tool(memory, "evaluate")
    assert answer["success"] is True
    assert set(answer["report"]) >= {"timestamp", "backends_evaluated", "evaluations", "recommendation"}
    assert memory.entries.users() == ["default"]


@pytest.mark.parametrize(
    ("action", "given", "missing"),
    [
        ("store", {}, "key and value"),
        ("store", {"key": "k"}, "value"),
        ("store", {"value": "v"}, "key"),
        ("retrieve", {}, "key"),
        ("query", {}, "query_text"),
        ("query", {"query_text": ""}, "query_text"),
        ("delete", {}, "key"),
    ],
)
def test_a_missing_argument_is_named(
    memory: Memory, action: str, given: dict[str, str], missing: str
) -> None:
    answer = tool(memory, action, **given)
    assert answer == {"success": False, "error": f"invalid_input: {action} needs {missing}"}


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("retrieve", {"key": "nothing"}),
        ("delete", {"key": "nothing"}),
        ("store", {"key": "k", "value": "v", "user_id": ""}),
        ("store", {"key": "k\0", "value": "v"}),
        ("store", {"key": "k", "value": "v\0"}),
        ("list", {"user_id": " "}),
    ],
)
def test_a_failed_action_reports_no_success_and_why(
    memory: Memory, action: str, given: dict[str, str]
) -> None:
    answer = tool(memory, action, **given)
    assert answer["success"] is False
    assert answer["error"]
    assert set(answer) == {"success", "error"}


def test_an_empty_value_is_a_value(memory: Memory) -> None:
    assert tool(memory, "store", key="k", value="")["success"]
    assert tool(memory, "retrieve", key="k")["value"] == ""


def test_an_unknown_action_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.call("memory_backend", {"action": "explode"})


def test_results_similar_in_meaning_are_marked(memory: Memory) -> None:
    tool(memory, "store", key="pet", value="a beagle")
    (found,) = tool(memory, "query", query_text="which animal lives with them?")["results"]
    assert found == {"key": "pet", "value": "a beagle", "metadata": {}, "match": "semantic"}


def test_a_disabled_backend_says_that_nothing_is_kept(home: Path) -> None:
    with Memory.at(home) as memory:
        stored = tool(memory, "store", key="k", value="v")
        assert (stored["success"], stored["key"]) == (True, "k")
        assert "Nothing is stored" in stored["note"]
        assert tool(memory, "retrieve", key="k")["success"] is False
        assert tool(memory, "info")["backend"] == "null (disabled)"
        with pytest.raises(Disabled):
            memory.call("entries_set", {"key": "k", "value": "v"})
        with pytest.raises(Refused):
            memory.call("remember", {"text": "likes tea", "kind": "entry", "target": "drink"})
    assert not home.exists()


def test_a_backend_that_cannot_be_used_is_a_failure_of_the_tool(home: Path) -> None:
    with Memory.at(home, backend="redis") as memory:
        answer = tool(memory, "store", key="k", value="v")
        assert answer["success"] is False
        assert "redis" in answer["error"]
        with pytest.raises(InvalidInput):
            memory.call("entries_list")


def test_the_commands_do_the_same(memory: Memory, clock: FixedClock) -> None:
    memory.call("entries_set", {"key": "theme", "value": "dark", "user": "alice", "metadata": {"a": 1}})
    shown = memory.call("entries_get", {"key": "theme", "user": "alice"})
    assert (shown["value"], shown["metadata"], shown["text"]) == ("dark", {"a": 1}, "dark")
    assert memory.call("entries_list", {"user": "alice"})["keys"] == ["theme"]
    assert memory.call("entries_list")["keys"] == []
    found = memory.call("entries_query", {"query": "them", "user": "alice"})["entries"]
    assert [(one["key"], one["match"]) for one in found] == [("theme", "words")]
    assert memory.call("entries_info")["location"] == memory.storage.location
    memory.call("entries_delete", {"key": "theme", "user": "alice"})
    for name in ("entries_get", "entries_delete"):
        with pytest.raises(NotFound):
            memory.call(name, {"key": "theme", "user": "alice"})


def test_remembering_an_entry_keeps_it_under_its_target(memory: Memory) -> None:
    memory.call("remember", {"text": "likes green tea", "kind": "entry", "target": "drink"})
    assert memory.entries.retrieve("default", "drink").value == "likes green tea"  # type: ignore[union-attr]
    with pytest.raises(InvalidInput):
        memory.call("remember", {"text": "likes green tea", "kind": "entry"})


def test_a_disabled_memory_refuses_before_anything_is_done(home: Path) -> None:
    with Memory.at(home, backend="local", disabled=True) as memory:
        assert memory.call("memory_backend", {"action": "store", "key": "k", "value": "v"})["disabled"]
        assert memory.call("evaluate")["disabled"]
        with pytest.raises(Disabled):
            memory.entries.store("a", "k", "v")


def test_the_page_is_written_to_the_given_file(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    answer = memory.call("evaluate", {"html": str(path), "quick": True})
    assert answer["html"] == str(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    for wrong in (str(tmp_path), str(tmp_path / "no" / "x.html"), ""):
        with pytest.raises(InvalidInput):
            memory.call("evaluate", {"html": wrong, "quick": True})


@pytest.mark.parametrize("backend", ["null", "local"])
def test_a_list_has_entries_of_namespaces_below_the_user(home: Path, backend: str) -> None:
    with Memory.at(home, backend=backend) as memory:
        memory.entries.put(("default", "memory-tool"), "/memories/a.md", "text")
        memory.entries.put(("alice", "memory-tool"), "/memories/b.md", "text")
        listed = memory.call("entries_list")
        [one] = listed["placed"]
        assert (one["namespace"], one["key"]) == (["default", "memory-tool"], "/memories/a.md")
        assert one["ref"] in listed["text"]
        memory.forget(one["ref"])
        assert memory.call("entries_list")["placed"] == []
