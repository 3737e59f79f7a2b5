"""Sessions that form one conversation."""

from __future__ import annotations

import pytest

from mnemos import SessionDB
from mnemos.errors import NotFound
from mnemos.testing import FixedClock


def split(db: SessionDB, clock: FixedClock, session_id: str, new_id: str) -> None:
    """Compress a context as a host does."""
    clock.advance(60)
    db.end_session(session_id, "compression")
    clock.advance(1)
    db.create_session(new_id, "cli", parent_session_id=session_id)


def test_a_session_alone_is_its_own_lineage(db: SessionDB) -> None:
    db.create_session("s", "cli")
    assert db.get_lineage("s") == ["s"]
    assert db.get_tip("s") == "s"


def test_compression_splits_are_one_conversation(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("one", "cli")
    split(db, clock, "one", "two")
    split(db, clock, "two", "three")
    for session_id in ("one", "two", "three"):
        assert db.get_lineage(session_id) == ["one", "two", "three"]
        assert db.get_tip(session_id) == "three"


def test_a_delegated_task_is_a_conversation_of_its_own(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("one", "cli")
    clock.advance(10)
    db.create_session("task", "subagent", parent_session_id="one")
    split(db, clock, "one", "two")
    split(db, clock, "task", "task-2")
    clock.advance(10)
    db.create_session("late task", "subagent", parent_session_id="one")
    assert db.get_lineage("one") == ["one", "two"]
    assert db.get_lineage("task") == ["task", "task-2"]
    assert db.get_lineage("task-2") == ["task", "task-2"]
    assert db.get_tip("one") == "two"
    assert db.get_lineage("late task") == ["late task"]


def test_after_a_compression_the_continuation_is_the_child_begun_then(
    db: SessionDB, clock: FixedClock
) -> None:
    db.create_session("one", "cli")
    clock.advance(5)
    db.create_session("branch", "cli", parent_session_id="one")
    split(db, clock, "one", "two")
    clock.advance(100)
    db.create_session("later branch", "cli", parent_session_id="one")
    assert db.get_lineage("one") == ["one", "two"]
    assert db.get_lineage("branch") == ["one", "branch"]
    assert db.get_tip("branch") == "branch"


def test_without_a_compression_the_newest_child_goes_on(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("one", "cli")
    clock.advance(5)
    db.create_session("old", "cli", parent_session_id="one")
    clock.advance(5)
    db.create_session("new", "cli", parent_session_id="one")
    assert db.get_tip("one") == "new"


def test_a_long_line_is_followed_to_its_end(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("s0", "cli")
    for n in range(1, 60):
        split(db, clock, f"s{n - 1}", f"s{n}")
    assert db.get_lineage("s30") == [f"s{n}" for n in range(60)]


def test_an_unknown_session_is_not_found(db: SessionDB) -> None:
    for ask in (db.get_lineage, db.get_tip):
        with pytest.raises(NotFound):
            ask("nobody")


def test_deleting_a_session_keeps_the_line_together(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("one", "cli")
    split(db, clock, "one", "two")
    split(db, clock, "two", "three")
    assert db.delete_session("two")
    assert db.get_lineage("three") == ["one", "three"]
    assert db.delete_session("one")
    assert db.get_lineage("three") == ["three"]
    session = db.get_session("three")
    assert session is not None
    assert session["parent_session_id"] is None
