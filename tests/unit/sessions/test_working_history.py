"""Newest messages, pops, rewrites, keys and revisions, as a host uses them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import SessionDB
from mnemos.errors import Conflict, InvalidInput, NotFound


def texts(db: Any, **options: Any) -> list[Any]:
    return [message["content"] for message in db.get_messages("s", **options)]


def revision(db: Any) -> int:
    return int(db.get_session("s")["revision"])


@pytest.fixture
def chat(db: SessionDB) -> SessionDB:
    db.create_session("s", "cli")
    db.append_messages("s", [{"role": "user", "content": word} for word in ("one", "two", "three")])
    return db


def test_the_newest_messages_come_in_order(chat: SessionDB) -> None:
    assert texts(chat, last=2) == ["two", "three"]
    assert texts(chat, last=9) == ["one", "two", "three"]
    assert texts(chat, last=0) == []
    assert texts(chat, since=1.0) == ["one", "two", "three"]
    with pytest.raises(InvalidInput):
        chat.get_messages("s", last=-1)
    with pytest.raises(NotFound):
        chat.get_messages("unknown", last=1)


def test_a_popped_message_is_returned_and_gone(chat: SessionDB) -> None:
    popped = chat.pop_message("s")
    assert popped is not None
    assert popped["content"] == "three"
    assert texts(chat) == ["one", "two"]
    assert chat.search_messages("three") == []
    assert [chat.pop_message("s") is None for _ in range(3)] == [False, False, True]
    with pytest.raises(NotFound):
        chat.pop_message("unknown")


def test_a_rewritten_history_is_replaced_and_still_found(chat: SessionDB) -> None:
    second = chat.get_messages("s")[1]["id"]
    chat.rewrite("s", [{"role": "user", "content": "a summary"}], from_id=second)
    assert texts(chat) == ["one", "a summary"]
    assert [hit["id"] for hit in chat.search_messages("two")] == [second]
    assert chat.conversation("s") == [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "a summary"},
    ]
    chat.rewrite("s", [])
    assert texts(chat) == []
    assert chat.message_count("s") == 4


def test_a_rewrite_from_a_message_of_another_session_changes_nothing(chat: SessionDB) -> None:
    chat.create_session("t", "cli")
    other = chat.append_message("t", "user", "elsewhere")
    with pytest.raises(NotFound):
        chat.rewrite("s", [{"role": "user", "content": "x"}], from_id=other)
    assert texts(chat) == ["one", "two", "three"]


def test_exports_carry_keys_and_retired_messages(chat: SessionDB, tmp_path: Path) -> None:
    chat.append_message("s", "user", "four", key="k4")
    chat.rewrite("s", [{"role": "user", "content": "short", "key": "k5"}], from_id=2)
    exported = chat.export_session("s")
    with SessionDB(tmp_path / "other.db") as other:
        other.import_sessions([exported])
        assert texts(other) == ["one", "short"]
        again = other.export_session("s")
        for message in [*exported["messages"], *again["messages"]]:
            del message["id"]  # type: ignore[misc]
        assert again == exported


def test_an_import_retires_what_was_retired_since(chat: SessionDB, tmp_path: Path) -> None:
    with SessionDB(tmp_path / "other.db") as other:
        other.import_sessions([chat.export_session("s")])
        chat.rewrite("s", [{"role": "user", "content": "short"}])
        assert other.import_sessions([chat.export_session("s")])["imported"] == ["s"]
        assert texts(other) == ["short"]


def test_a_deleted_session_comes_back_with_its_working_history(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "long talk", key="k")
        memory.sessions.rewrite("s", [{"role": "user", "content": "short"}])
        memory.sessions.delete_session("s")
        memory.undo()
        assert texts(memory.sessions) == ["short"]


def test_a_key_makes_an_append_repeatable(chat: SessionDB) -> None:
    first = chat.append_message("s", "user", "four", key="k")
    assert chat.append_message("s", "user", "four again", key="k") == first
    assert chat.append_messages("s", [{"role": "user", "content": "x", "key": "k"}]) == [first]
    assert texts(chat, last=1) == ["four"]
    assert chat.get_messages("s")[-1]["key"] == "k"


def test_split_messages_have_keys_of_their_own(chat: SessionDB) -> None:
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("a", "b")]
    for _ in range(2):
        chat.append_messages("s", [{"role": "user", "content": results, "key": "k"}])
    assert texts(chat, last=2) == ["a", "b"]
    assert chat.message_count("s") == 5


def test_every_write_counts_once(chat: SessionDB) -> None:
    start = revision(chat)
    writes = [
        lambda: chat.append_message("s", "user", "x"),
        lambda: chat.append_messages("s", [{"role": "user", "content": "x"}], metadata={"a": 1}),
        lambda: chat.rewrite("s", [{"role": "user", "content": "x"}], metadata={"a": 2}),
        lambda: chat.rewrite("s", []),
        lambda: chat.append_message("s", "user", "x"),
        lambda: chat.pop_message("s"),
        lambda: chat.update_metadata("s", {"b": 1}),
        lambda: chat.set_title("s", "t"),
        lambda: chat.archive("s"),
        lambda: chat.unarchive("s"),
        lambda: chat.end_session("s", "done"),
        lambda: chat.reopen_session("s"),
        lambda: chat.update_token_counts("s", 1, 2),
        lambda: chat.update_system_prompt("s", "p"),
        lambda: chat.ensure_session("s", user_id="ada"),
        lambda: chat.append_message("s", "user", "x"),
        lambda: chat.forget_message(chat.get_messages("s")[0]["id"]),
    ]
    for number, write in enumerate(writes, start=1):
        write()
        assert revision(chat) == start + number, number
    chat.forget_message(chat.get_messages("s")[0]["id"])
    chat.append_messages("s", [])
    chat.ensure_session("s", user_id="bob")
    assert revision(chat) == start + len(writes)


def test_popping_an_empty_session_changes_nothing(chat: SessionDB) -> None:
    chat.rewrite("s", [])
    before = revision(chat)
    assert chat.pop_message("s") is None
    assert revision(chat) == before


def test_a_rewrite_of_what_was_read_before_a_message_was_forgotten_is_refused(chat: SessionDB) -> None:
    read, known = chat.get_messages("s"), revision(chat)
    chat.forget_message(read[0]["id"])
    copies = [{"role": one["role"], "content": one["content"]} for one in read]
    with pytest.raises(Conflict):
        chat.rewrite("s", copies, if_revision=known)
    assert texts(chat)[0] == "[forgotten]"


def test_a_late_writer_is_refused_and_changes_nothing(chat: SessionDB) -> None:
    late = revision(chat)
    chat.append_message("s", "user", "in between")
    before = chat.export_session("s")
    for write in (
        lambda: chat.append_message("s", "user", "x", if_revision=late),
        lambda: chat.append_messages("s", [{"role": "user", "content": "x"}], if_revision=late),
        lambda: chat.rewrite("s", [], if_revision=late),
        lambda: chat.pop_message("s", if_revision=late),
        lambda: chat.update_metadata("s", {"b": 1}, if_revision=late),
        lambda: chat.set_title("s", "t", if_revision=late),
        lambda: chat.archive("s", if_revision=late),
        lambda: chat.end_session("s", "done", if_revision=late),
        lambda: chat.delete_session("s", if_revision=late),
    ):
        with pytest.raises(Conflict):
            write()
    assert chat.export_session("s") == before
    chat.append_message("s", "user", "x", if_revision=late + 1)


def test_of_several_writers_with_one_revision_one_wins(tmp_path: Path) -> None:
    path, outcomes = tmp_path / "x.db", []
    with SessionDB(path) as db:
        db.create_session("s", "cli")
        known = revision(db)

        def write(word: str) -> None:
            with SessionDB(path) as mine:
                try:
                    mine.append_message("s", "user", word, if_revision=known)
                    outcomes.append(word)
                except Conflict:
                    outcomes.append("refused")

        threads = [threading.Thread(target=write, args=(word,)) for word in ("a", "b", "c")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes)[1:] == ["refused", "refused"]
        assert texts(db) == [min(outcomes)]


def test_metadata_can_be_changed_by_a_function(chat: SessionDB) -> None:
    chat.update_metadata("s", lambda old: {"count": 1, "old": old})
    chat.update_metadata("s", lambda old: old | {"count": old["count"] + 1})
    session = chat.get_session("s")
    assert session is not None
    assert session["metadata"] == {"count": 2, "old": None}

    def fail(old: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        chat.append_messages("s", [{"role": "user", "content": "lost"}], metadata=fail)
    assert texts(chat, last=1) == ["three"]
    with pytest.raises(InvalidInput):
        chat.update_metadata("s", 7)  # type: ignore[arg-type]


def test_sessions_are_listed_by_parent_and_metadata(chat: SessionDB) -> None:
    chat.create_session("child", "cli", parent_session_id="s", metadata={"app": "a"})
    assert [one["id"] for one in chat.children("s")] == ["child"]
    assert chat.children("unknown") == []
    assert [one["id"] for one in chat.search_sessions(parent="s")] == ["child"]
    assert [one["id"] for one in chat.search_sessions(metadata={"app": "a"})] == ["child"]
    assert chat.session_count(metadata={"app": "b"}) == 0
    assert {one["id"] for one in chat.search_sessions(sort="updated")} == {"s", "child"}
    with pytest.raises(InvalidInput):
        chat.search_sessions(metadata={"app": ["a"]})
    with pytest.raises(InvalidInput):
        chat.search_sessions(sort="other")  # type: ignore[arg-type]


def test_the_output_of_a_tool_in_a_part_is_found(chat: SessionDB) -> None:
    item = {"type": "function_call_output", "call_id": "c", "output": "a macaw in the garden"}
    parts = item | {"output": [{"type": "input_text", "text": "an ibis"}]}
    first = chat.append_message("s", "tool", [item])
    second = chat.append_message("s", "tool", [parts])
    assert [hit["id"] for hit in chat.search_messages("macaw")] == [first]
    assert [hit["id"] for hit in chat.search_messages("ibis")] == [second]
    assert texts(chat, last=2) == [[item], [parts]]


def test_a_private_session_has_nothing_to_pop(db: SessionDB) -> None:
    db.create_session("p", "cli", private=True)
    assert db.rewrite("p", [{"role": "user", "content": "x"}]) == [0]
    assert db.pop_message("p") is None
