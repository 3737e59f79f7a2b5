"""Imported conversations that used Mnemos's tools: recorded completely, and found without the echo."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemos import Memory

FENCED = "<recalled-memory>\nRecords.\n[2026-01-01] user: a quetzal\n</recalled-memory>"
QUERY = {"query": "quetzal"}
AT = "2026-03-02T09:00:00Z"


def openai_messages() -> list[dict[str, Any]]:
    function = {"name": "recall", "arguments": json.dumps(QUERY)}
    call = {"id": "c1", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"{FENCED}\nWhich bird is it?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call],
        },
        {"role": "tool", "tool_call_id": "c1", "content": f"Asked about May\n{FENCED}"},
        {"role": "assistant", "content": "The macaw."},
    ]


def write_jsonl(folder: Path) -> str:
    lines = [json.dumps({"id": "s", "messages": openai_messages()})]
    (folder / "x.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "import_jsonl"


def write_hermes(folder: Path) -> str:
    connection = apsw.Connection(str(folder / "state.db"))
    connection.execute(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, parent_session_id TEXT, started_at REAL);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, "
        "tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL);"
        "INSERT INTO sessions VALUES ('s', 'cli', NULL, 1760000000.0)"
    )
    for number, one in enumerate(openai_messages()):
        calls = json.dumps(one["tool_calls"]) if "tool_calls" in one else None
        row = (one["role"], one["content"], one.get("tool_call_id"), calls, 1760000001.0 + number)
        connection.execute(
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, timestamp) "
            "VALUES ('s', ?, ?, ?, ?, ?)",
            row,
        )
    connection.close()
    return "import_hermes"


def write_codex(folder: Path) -> str:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [text("Which bird is it?", "input")]},
        {"type": "function_call", "name": "mnemos__recall", "call_id": "c1", "arguments": json.dumps(QUERY)},
        {"type": "function_call_output", "call_id": "c1", "output": f"Wall time: 1 s\n{FENCED}"},
        {"type": "message", "role": "assistant", "content": [text("The macaw.", "output")]},
    ]
    kinds = [("session_meta", {"id": "s", "timestamp": AT, "cwd": "/birds"})]
    kinds += [("response_item", item) for item in items]
    lines = [json.dumps({"timestamp": AT, "type": kind, "payload": payload}) for kind, payload in kinds]
    place = folder / "sessions" / "rollout-2026-03-02T09-00-00-s.jsonl"
    place.parent.mkdir()
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "import_codex"


def text(said: str, direction: str) -> dict[str, str]:
    return {"type": f"{direction}_text", "text": said}


def write_claude(folder: Path) -> str:
    use = {"type": "tool_use", "name": "recall", "input": QUERY}
    found = {"type": "tool_result", "name": "recall", "content": [{"type": "text", "text": FENCED}]}
    messages = [
        {"uuid": "1", "sender": "human", "text": "Which bird is it?", "created_at": AT},
        {"uuid": "2", "sender": "assistant", "created_at": AT,
         "content": [use, found, {"type": "text", "text": "The macaw."}]},
    ]  # fmt: skip
    conversation = {"uuid": "s", "name": "Birds", "created_at": AT, "chat_messages": messages}
    (folder / "conversations.json").write_text(json.dumps([conversation]), encoding="utf-8")
    return "import_claude"


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.at(home, embedder="none") as opened:
        yield opened


@pytest.mark.parametrize("write", [write_jsonl, write_hermes, write_codex, write_claude])
def test_an_import_records_the_memory_s_tools_and_never_finds_them(
    memory: Memory, tmp_path: Path, write: Callable[[Path], str]
) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    report = memory.call(write(folder), {"path": str(folder)})
    assert report["messages"] == 4, report
    (session,) = memory.sessions.search_sessions()
    stored = memory.sessions.get_messages(session["id"])
    assert [one.get("origin") for one in stored] == [None, "memory", "memory", None]
    assert "a quetzal" in stored[2]["content"]
    assert memory.sessions.search_messages("quetzal") == []
    hits = memory.recall("quetzal, which bird is it?", words_only=True).hits
    assert [hit.text for hit in hits] == ["The macaw."]


def test_an_archive_keeps_the_origin(memory: Memory, tmp_path: Path) -> None:
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_messages("s", openai_messages())
    memory.call("export", {"path": str(tmp_path / "all.tar.zst")})
    with Memory.at(tmp_path / "other", embedder="none") as other:
        other.call("import_archive", {"path": str(tmp_path / "all.tar.zst")})
        assert [one.get("origin") for one in other.sessions.get_messages("s")] == [
            None, "memory", "memory", None
        ]  # fmt: skip
        assert other.call("verify", {"path": str(tmp_path / "all.tar.zst")})["holds_all"]
