"""Deleting, pruning, forgetting and statistics."""

from __future__ import annotations

from typing import Any

import pytest

from mnemos import SessionDB
from mnemos.errors import InvalidInput, NotFound
from mnemos.testing import FixedClock

DAY = 86_400.0


def talk(db: SessionDB, session_id: str, *texts: str, **options: Any) -> list[int]:
    db.create_session(session_id, **({"source": "cli"} | options))
    return db.append_messages(session_id, [{"role": "user", "content": text} for text in texts])


# --- deleting ---------------------------------------------------------------------------------


def test_a_deleted_session_is_gone(db: SessionDB) -> None:
    ids = talk(db, "s", "parrot one", "parrot two", title="Title")
    assert db.delete_session("s") is True
    assert db.get_session("s") is None
    assert db.search_messages("parrot") == []
    assert (db.session_count(), db.message_count()) == (0, 0)
    for message_id in ids:
        with pytest.raises(NotFound):
            db.get_messages_around(message_id)
    with pytest.raises(NotFound):
        db.resolve_session("Title")


def test_deleting_an_unknown_session_answers_false(db: SessionDB) -> None:
    assert db.delete_session("nobody") is False
    talk(db, "s", "x")
    assert db.delete_session("s") is True
    assert db.delete_session("s") is False


def test_children_of_a_deleted_session_go_to_the_grandparent(db: SessionDB) -> None:
    talk(db, "root", "x")
    talk(db, "middle", "y", parent_session_id="root")
    talk(db, "child", "z", parent_session_id="middle")
    db.delete_session("middle")
    session = db.get_session("child")
    assert session is not None
    assert session["parent_session_id"] == "root"


def test_the_name_of_a_deleted_session_is_free(db: SessionDB) -> None:
    talk(db, "s", "old parrot")
    db.delete_session("s")
    talk(db, "s", "new pigeon")
    assert [message["content"] for message in db.get_messages("s")] == ["new pigeon"]
    assert db.search_messages("old") == []


def test_nothing_of_a_deleted_session_is_left_in_the_checks(db: SessionDB) -> None:
    talk(db, "s", *(f"parrot number{n}" for n in range(120)))
    db.delete_session("s")
    stats = db.stats()
    assert (stats["sessions"], stats["messages"], stats["by_source"]) == (0, 0, [])


# --- pruning ----------------------------------------------------------------------------------


def aged(db: SessionDB, clock: FixedClock) -> None:
    talk(db, "old ended", "x")
    db.end_session("old ended", "done")
    talk(db, "old running", "x")
    talk(db, "old web", "x", source="web")
    db.end_session("old web", "done")
    talk(db, "went on", "x")
    db.end_session("went on", "done")
    clock.advance(100 * DAY)
    db.append_message("went on", "user", "later")
    talk(db, "new ended", "x")
    db.end_session("new ended", "done")


def names(db: SessionDB) -> set[str]:
    return {session["id"] for session in db.search_sessions(limit=100, archived=None)}


def test_only_old_ended_sessions_are_pruned(db: SessionDB, clock: FixedClock) -> None:
    aged(db, clock)
    assert db.prune_sessions() == 2
    assert names(db) == {"old running", "went on", "new ended"}
    assert db.prune_sessions() == 0


def test_pruning_can_be_of_one_source(db: SessionDB, clock: FixedClock) -> None:
    aged(db, clock)
    assert db.prune_sessions(source="web") == 1
    assert "old ended" in names(db)


def test_pruning_can_be_tried(db: SessionDB, clock: FixedClock) -> None:
    aged(db, clock)
    before = names(db)
    assert db.prune_sessions(dry_run=True) == 2
    assert names(db) == before


def test_pruning_has_an_age(db: SessionDB, clock: FixedClock) -> None:
    aged(db, clock)
    assert db.prune_sessions(101) == 0
    assert db.prune_sessions(99.5) == 2
    clock.advance(1)
    assert db.prune_sessions(0) == 2
    assert names(db) == {"old running"}


def test_pruning_can_go_by_the_start(db: SessionDB, clock: FixedClock) -> None:
    aged(db, clock)
    assert db.prune_sessions(by="start", dry_run=True) == 3
    assert db.prune_sessions(by="start", source="web") == 1
    assert db.prune_sessions(101, by="start") == 0
    assert db.prune_sessions(by="start") == 2
    assert names(db) == {"old running", "new ended"}


@pytest.mark.parametrize("wrong", ["end", "", None, True])
def test_another_kind_of_age_is_invalid_input(db: SessionDB, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        db.prune_sessions(by=wrong)


def test_children_of_a_pruned_session_stay(db: SessionDB, clock: FixedClock) -> None:
    talk(db, "parent", "x")
    db.end_session("parent", "compression")
    talk(db, "child", "y", parent_session_id="parent")
    clock.advance(100 * DAY)
    assert db.prune_sessions() == 1
    assert db.get_lineage("child") == ["child"]


@pytest.mark.parametrize("wrong", [-1, "90", None, True, float("nan"), float("inf")])
def test_a_wrong_age_is_invalid_input(db: SessionDB, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        db.prune_sessions(wrong)


# --- forgetting -------------------------------------------------------------------------------


def test_a_forgotten_message_keeps_its_place_and_says_nothing(db: SessionDB) -> None:
    _, gone, _ = talk(db, "s", "before", "the secret parrot", "after")
    db.forget_message(gone)
    messages = db.get_messages("s")
    assert [message["content"] for message in messages] == ["before", "[forgotten]", "after"]
    assert (messages[1]["id"], messages[1]["forgotten"]) == (gone, True)
    assert "forgotten" not in messages[0]
    for query in ("secret", "parrot", "forgotten"):
        assert db.search_messages(query) == []
    session = db.get_session("s")
    assert session is not None
    assert session["message_count"] == 3


def test_the_calls_of_a_forgotten_message_keep_their_names(db: SessionDB) -> None:
    db.create_session("s", "cli")
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "secret"}'}}
    gone = db.append_message("s", "assistant", None, tool_calls=[call], metadata={"why": "secret"})
    db.forget_message(gone)
    (message,) = db.get_messages("s")
    assert message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    ]
    assert message["metadata"] is None
    assert db.search_messages("secret") == []


def test_forgetting_twice_does_no_harm(db: SessionDB) -> None:
    (gone,) = talk(db, "s", "secret")
    db.forget_message(gone)
    db.forget_message(gone)
    assert db.get_messages("s")[0]["forgotten"]


def test_a_forgotten_session_is_gone(db: SessionDB) -> None:
    talk(db, "s", "secret")
    db.forget_session("s")
    assert db.get_session("s") is None
    with pytest.raises(NotFound):
        db.forget_session("s")


# --- where the space goes -----------------------------------------------------------------------


def test_stats_say_how_much_there_is_and_where(db: SessionDB) -> None:
    talk(db, "a", "one", "two")
    talk(db, "b", "three", source="web")
    stats = db.stats()
    assert (stats["sessions"], stats["messages"]) == (2, 3)
    assert stats["by_source"] == [
        {"source": "cli", "sessions": 1, "messages": 2},
        {"source": "web", "sessions": 1, "messages": 1},
    ]
    assert stats["file_bytes"] > 0
    assert {"messages", "messages_fts", "sessions"} <= set(stats["tables"])
    assert stats["pending"] >= 0


def test_stats_of_an_empty_store(db: SessionDB) -> None:
    stats = db.stats()
    assert (stats["sessions"], stats["messages"], stats["by_source"], stats["pending"]) == (0, 0, [], 0)


def test_optimizing_changes_nothing_that_is_stored(db: SessionDB) -> None:
    talk(db, "s", *(f"parrot number{n}" for n in range(50)))
    before = db.export_session("s")
    db.optimize()
    db.optimize(0.01)
    assert db.export_session("s") == before
    assert len(db.search_messages("parrot", limit=100)) == 50
