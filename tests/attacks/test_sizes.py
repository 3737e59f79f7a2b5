"""Too much, too long, too deep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import InvalidInput, TooLarge
from mnemos.sessions.sessions import Sessions

from .checks import code_of, index_all

FIFTY_MEGABYTES = 50 * 1024 * 1024


@pytest.mark.parametrize("field", ["content", "parts", "tool_calls", "metadata"])
def test_a_message_of_fifty_megabytes_is_refused_and_nothing_is_written(
    sessions: Sessions, home: Path, field: str
) -> None:
    text = "word " * (FIFTY_MEGABYTES // 5)
    message: dict[str, Any] = {
        "content": {"role": "user", "content": text},
        "parts": {"role": "user", "content": [{"type": "text", "text": text}]},
        "tool_calls": {"role": "assistant", "tool_calls": [{"id": "c", "arguments": text}]},
        "metadata": {"role": "user", "content": "short", "metadata": {"long": text}},
    }[field]
    size = bytes_in(home)
    with pytest.raises(TooLarge):
        sessions.append_message("s", **message)
    with pytest.raises(TooLarge):
        sessions.append_messages("s", [{"role": "user", "content": "first"}, message])
    assert sessions.message_count() == 4
    # Less than one piece of it: the index may have grown meanwhile.
    assert bytes_in(home) < size + 1_000_000
    assert sessions.search_messages("first") == []
    assert sessions.append_message("s", "user", "next") > 0


def test_bytes_are_counted_and_not_characters(sessions: Sessions) -> None:
    with pytest.raises(TooLarge):
        sessions.append_message("s", "user", "京" * (6 * 1024 * 1024))


def test_the_longest_message_allowed_is_stored_and_found(home: Path) -> None:
    with mnemos.open(home, max_message_bytes=2_000_000) as memory:
        memory.sessions.create_session("s", "cli")
        text = "beginning " + "middle " * 280_000 + " ending"
        id = memory.sessions.append_message("s", "user", text)
        for pending in (True, False):
            if not pending:
                index_all(memory)
            for word in ("beginning", "ending"):
                assert [hit["id"] for hit in memory.sessions.search_messages(word)] == [id]
        assert memory.sessions.get_messages("s")[0]["content"] == text
        assert memory.sessions.delete_session("s") is True
        assert memory.sessions.search_messages("middle") == []
        assert all(check.ok for check in memory.doctor())


@pytest.mark.parametrize("field", ["system_prompt", "model_config", "metadata", "title", "user_id"])
def test_a_session_of_fifty_megabytes_is_refused(sessions: Sessions, home: Path, field: str) -> None:
    text = "word " * (FIFTY_MEGABYTES // 5)
    size = bytes_in(home)
    with pytest.raises(TooLarge):
        sessions.create_session("new", "cli", **{field: text})
    if field == "system_prompt":
        with pytest.raises(TooLarge):
            sessions.update_system_prompt("s", text)
    if field == "metadata":
        with pytest.raises(TooLarge):
            sessions.update_metadata("s", {"a": text})
    assert sessions.session_count() == 1
    # Less than one piece of it: the index may have grown meanwhile.
    assert bytes_in(home) < size + 1_000_000


def nested(depth: int, kind: str) -> Any:
    value: Any = "deepest"
    for _ in range(depth):
        value = {
            "list": [value],
            "dict": {"a": value},
            "content": [{"type": "text", "content": value}],
            "arguments": {"function": {"arguments": value}},
        }[kind]
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("depth", [10, 100, 200, 300, 400, 480, 600, 900, 990, 2_000, 100_000])
@pytest.mark.parametrize("kind", ["list", "dict", "content", "arguments"])
def test_what_is_deep_is_refused_or_can_be_used_like_anything_else(
    sessions: Sessions, memory: mnemos.Memory, depth: int, kind: str
) -> None:
    deep = nested(depth, kind)
    stored: list[tuple[int, str]] = []
    for field in ("content", "tool_calls", "metadata"):
        message = {"role": "user", "content": "deep words"} | {field: deep}
        code = code_of(lambda: stored.append((sessions.append_message("s", **message), field)))  # noqa: B023
        assert code in {None, "invalid_input"}
    index_all(memory)
    by_id = {message["id"]: message for message in sessions.get_messages("s")}
    for id, field in stored:
        assert by_id[id][field] == deep
    sessions.get_messages_as_conversation("s")
    assert sessions.search_messages("gateway")
    assert len(sessions.export_session("s")["messages"]) == 4 + len(stored)
    if stored:
        memory.forget(f"message:{stored[0][0]}")
    assert sessions.delete_session("s") is True
    memory.undo()
    assert sessions.message_count("s") == 4 + len(stored)
    index_all(memory)


def test_json_text_that_is_deep_in_arguments_is_only_text(sessions: Sessions, memory: mnemos.Memory) -> None:
    bomb = "[" * 100_000
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": bomb}}
    sessions.append_message("s", "assistant", bomb, tool_calls=[call])
    index_all(memory)
    assert sessions.get_messages("s")[-1]["content"] == bomb
    with pytest.raises(InvalidInput):
        sessions.import_jsonl([bomb])
    with pytest.raises(InvalidInput):
        sessions.import_jsonl(['{"id": "x", "messages": ' + bomb])


def test_a_list_that_contains_itself_is_refused(sessions: Sessions) -> None:
    circle: list[Any] = []
    circle.append(circle)
    for field in ("content", "tool_calls", "metadata"):
        with pytest.raises(InvalidInput):
            sessions.append_message("s", "user", **{field: circle})
    assert sessions.message_count() == 4


def test_a_turn_of_very_many_messages_is_one_turn(sessions: Sessions, memory: mnemos.Memory) -> None:
    turn = [{"role": "user", "content": f"word{number}"} for number in range(20_000)]
    assert len(sessions.append_messages("s", turn)) == 20_000
    assert sessions.message_count("s") == 20_004
    assert len(sessions.search_messages("word19999")) == 1
    index_all(memory)
    assert len(sessions.search_messages("word19999")) == 1


def test_a_message_of_many_parts_and_calls_is_stored(sessions: Sessions) -> None:
    parts = [{"type": "text", "text": f"part{number}"} for number in range(20_000)]
    calls = [{"id": f"c{number}", "function": {"name": "f", "arguments": "{}"}} for number in range(5_000)]
    sessions.append_message("s", "assistant", parts, tool_calls=calls)
    session = sessions.get_session("s")
    assert session is not None
    assert session["tool_call_count"] == 5_001
    assert len(sessions.search_messages("part19999")) == 1


def test_a_long_line_of_sessions_can_be_followed(sessions: Sessions) -> None:
    parent = "s"
    for number in range(1_500):
        parent = sessions.create_session(f"child{number}", "cli", parent_session_id=parent)
    sessions.append_message(parent, "user", "at the end")
    assert len(sessions.get_lineage("s")) == 1_501
    assert sessions.get_tip("child700") == parent
    assert sessions.search_messages("at the end")[0]["root_session_id"] == "s"


def test_words_of_any_length_are_stored_and_found(sessions: Sessions, memory: mnemos.Memory) -> None:
    for length in (63, 64, 65, 1_000, 300_000):
        id = sessions.append_message("s", "user", "q" * length + str(length))
        found = sessions.search_messages("q" * length + str(length), limit=100)
        assert id in {hit["id"] for hit in found}
    index_all(memory)
    assert json.dumps(sessions.export_session("s"))


def bytes_in(home: Path) -> int:
    return sum(path.stat().st_size for path in home.iterdir())
