"""Changes are logged, and most can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.testing import FixedClock

DAY = 86_400.0


def talk(memory: Memory, session_id: str, *texts: str, **options: Any) -> list[int]:
    memory.sessions.create_session(session_id, "cli", **options)
    return memory.sessions.append_messages(session_id, [{"role": "user", "content": text} for text in texts])


def without_ids(memory: Memory, session_id: str) -> dict[str, Any]:
    session = memory.sessions.export_session(session_id)
    messages = [{key: value for key, value in m.items() if key != "id"} for m in session["messages"]]
    return session | {"messages": messages}


def title_of(memory: Memory, session_id: str = "s") -> str | None:
    session = memory.sessions.get_session(session_id)
    assert session is not None
    title: str | None = session["title"]
    return title


def test_changes_are_noted_newest_first(memory: Memory, clock: FixedClock) -> None:
    talk(memory, "s", "x")
    memory.sessions.set_title("s", "Title")
    clock.advance(5)
    memory.sessions.archive("s")
    newest, oldest = memory.log()
    assert (newest.operation, newest.ref, newest.at) == ("sessions.archive", "session:s", clock())
    assert (oldest.operation, oldest.before, oldest.after) == ("sessions.title", None, "Title")
    assert {newest.actor, oldest.actor} == {"tester"}
    assert [entry.id for entry in memory.log(1)] == [newest.id]
    assert [entry.id for entry in memory.log(before=newest.id)] == [oldest.id]


def test_appending_is_not_noted(memory: Memory) -> None:
    talk(memory, "s", "x", "y")
    memory.sessions.end_session("s", "done")
    assert memory.log() == []


def test_archiving_twice_is_noted_once(memory: Memory) -> None:
    talk(memory, "s", "x")
    memory.sessions.archive("s")
    memory.sessions.archive("s")
    assert len(memory.log()) == 1


def test_a_title_can_be_undone(memory: Memory) -> None:
    talk(memory, "s", "x", title="first")
    memory.sessions.set_title("s", "second")
    memory.sessions.set_title("s", None)
    memory.undo()
    assert title_of(memory) == "second"
    memory.undo()
    assert title_of(memory) == "first"
    with pytest.raises(NotFound):
        memory.undo()


def test_a_first_title_can_be_undone(memory: Memory) -> None:
    talk(memory, "s", "x")
    memory.sessions.set_title("s", "Title")
    memory.undo()
    assert title_of(memory) is None


def test_a_title_changed_since_is_not_undone(memory: Memory) -> None:
    talk(memory, "s", "x")
    memory.sessions.set_title("s", "first")
    memory.sessions.set_title("s", "second")
    with pytest.raises(Refused) as caught:
        memory.undo(memory.log()[1].id)
    assert caught.value.code == "refused"
    assert title_of(memory) == "second"


def test_archiving_can_be_undone(memory: Memory) -> None:
    talk(memory, "s", "x")
    memory.sessions.archive("s")
    memory.undo()
    assert memory.sessions.session_count() == 1
    memory.sessions.archive("s")
    memory.sessions.unarchive("s")
    memory.undo()
    assert memory.sessions.session_count() == 0


def test_a_deleted_session_can_be_restored(memory: Memory) -> None:
    talk(memory, "root", "x")
    talk(
        memory,
        "s",
        "parrot one",
        "parrot two",
        parent_session_id="root",
        title="Title",
        system_prompt="Be kind.",
        metadata={"a": 1},
    )
    memory.sessions.append_message("s", "tool", "nul \0 lone \ud800", tool_name="run", tool_call_id="c")
    memory.sessions.end_session("s", "done")
    before = without_ids(memory, "s")
    memory.sessions.delete_session("s")
    memory.undo()
    assert without_ids(memory, "s") == before
    assert len(memory.sessions.search_messages("parrot")) == 2


def test_what_was_forgotten_stays_so_when_its_session_comes_back(memory: Memory) -> None:
    gone, _ = talk(memory, "s", "secret", "parrot")
    memory.sessions.forget_message(gone)
    before = without_ids(memory, "s")
    memory.sessions.delete_session("s")
    memory.undo()
    assert without_ids(memory, "s") == before


def test_children_come_back_to_their_parent(memory: Memory, clock: FixedClock) -> None:
    talk(memory, "one", "x")
    clock.advance(1)
    talk(memory, "two", "y", parent_session_id="one")
    clock.advance(1)
    talk(memory, "three", "z", parent_session_id="two")
    memory.sessions.delete_session("two")
    assert memory.sessions.get_lineage("one") == ["one", "three"]
    memory.undo()
    assert memory.sessions.get_lineage("one") == ["one", "two", "three"]


def test_a_deleted_session_does_not_replace_a_new_one_of_its_name(memory: Memory) -> None:
    talk(memory, "s", "old")
    memory.sessions.delete_session("s")
    talk(memory, "s", "new")
    with pytest.raises(Refused):
        memory.undo()
    assert [message["content"] for message in memory.sessions.get_messages("s")] == ["new"]


def test_a_deletion_can_be_undone_for_some_weeks_only(memory: Memory, clock: FixedClock) -> None:
    talk(memory, "s", "parrot")
    memory.sessions.delete_session("s")
    entry = memory.log()[0].id
    clock.advance(31 * DAY)
    memory.sessions.optimize()
    with pytest.raises((NotFound, Refused)):
        memory.undo(entry)
    assert memory.sessions.get_session("s") is None


def test_an_import_can_be_undone(memory: Memory) -> None:
    talk(memory, "own", "parrot")
    sessions = [{"id": name, "messages": [{"role": "user", "content": "pigeon"}]} for name in ("a", "b")]
    memory.sessions.import_sessions(sessions)
    memory.undo(memory.log()[0].id)
    assert [session["id"] for session in memory.sessions.search_sessions()] == ["own"]
    assert memory.sessions.search_messages("pigeon") == []


def test_undo_without_a_number_deletes_no_imported_sessions(memory: Memory) -> None:
    memory.sessions.import_sessions([{"id": "a", "messages": [{"role": "user", "content": "pigeon"}]}])
    with pytest.raises(Refused, match="entry 1"):
        memory.undo()
    with pytest.raises(Refused):
        memory.call("undo", {})
    assert memory.sessions.session_count() == 1


def test_undo_never_reaches_past_a_change_that_cannot_be_undone(memory: Memory) -> None:
    talk(memory, "s", "x")
    memory.sessions.set_title("s", "Title")
    (gone,) = talk(memory, "t", "secret")
    memory.forget(f"message:{gone}")
    with pytest.raises(Refused, match="mnemos undo 1"):
        memory.undo()
    assert title_of(memory) == "Title"


def test_exports_do_not_stop_undo(memory: Memory, tmp_path: Path) -> None:
    talk(memory, "s", "x")
    memory.sessions.set_title("s", "Title")
    memory.changes.record_export(tmp_path / "out.jsonl")
    memory.undo()
    assert title_of(memory) is None


def test_an_import_that_was_continued_is_not_undone(memory: Memory) -> None:
    memory.sessions.import_sessions([{"id": "a", "messages": [{"role": "user", "content": "pigeon"}]}])
    memory.sessions.append_message("a", "user", "our own words")
    with pytest.raises(Refused):
        memory.undo(memory.log()[0].id)
    assert len(memory.sessions.get_messages("a")) == 2


def test_undoing_an_import_leaves_what_was_there_before(memory: Memory) -> None:
    talk(memory, "a", "parrot")
    (whole,) = memory.sessions.export_all()
    longer = whole | {"messages": [*whole["messages"], {"role": "user", "content": "pigeon"}]}
    assert memory.sessions.import_sessions([longer])["imported"] == ["a"]
    with pytest.raises((Refused, NotFound)):
        memory.undo()
    assert memory.sessions.get_messages("a")[0]["content"] == "parrot"


def test_an_import_that_added_nothing_is_not_noted(memory: Memory) -> None:
    talk(memory, "a", "parrot")
    memory.sessions.import_sessions(list(memory.sessions.export_all()))
    assert memory.log() == []


def test_undoing_is_noted_and_cannot_be_repeated(memory: Memory) -> None:
    talk(memory, "s", "x")
    memory.sessions.set_title("s", "Title")
    done = memory.log()[0].id
    memory.undo(done)
    newest = memory.log()[0]
    assert newest.operation == "undo sessions.title"
    assert memory.log()[1].undone_by == newest.id
    with pytest.raises(Refused):
        memory.undo(done)


@pytest.mark.parametrize("unknown", [0, -5, 999, 1 << 70])
def test_undoing_what_is_not_in_the_log_is_not_found(memory: Memory, unknown: int) -> None:
    with pytest.raises(NotFound):
        memory.undo(unknown)


def test_there_may_be_nothing_to_undo(memory: Memory) -> None:
    with pytest.raises(NotFound) as caught:
        memory.undo()
    assert caught.value.code == "not_found"


def test_pruning_is_noted_and_cannot_be_undone(memory: Memory, clock: FixedClock) -> None:
    talk(memory, "s", "x")
    memory.sessions.end_session("s", "done")
    clock.advance(100 * DAY)
    memory.sessions.prune_sessions()
    entry = memory.log()[0]
    assert entry.operation == "sessions.prune"
    with pytest.raises(Refused):
        memory.undo(entry.id)


# --- forgetting reaches the log -------------------------------------------------------------------


def test_forgetting_cannot_be_undone(memory: Memory) -> None:
    (gone,) = talk(memory, "s", "secret")
    memory.forget(f"message:{gone}")
    with pytest.raises(Refused):
        memory.undo()
    with pytest.raises(Refused):
        memory.undo(memory.log()[0].id)


def test_a_forgotten_session_leaves_no_text_in_the_log(memory: Memory) -> None:
    talk(memory, "s", "x", title="first secret")
    memory.sessions.set_title("s", "second secret")
    assert memory.forget("session:s")["forgotten"] is True
    assert [(entry.before, entry.after) for entry in memory.log()] == [(None, None)] * 2


def test_a_deleted_session_can_still_be_forgotten(memory: Memory) -> None:
    talk(memory, "s", "secret")
    memory.sessions.delete_session("s")
    assert memory.forget("session:s")["forgotten"] is True
    assert all(entry.before is None for entry in memory.log())
    with pytest.raises(Refused):
        memory.undo()


def test_a_message_of_a_session_that_came_back_is_forgotten_in_the_log_too(memory: Memory) -> None:
    talk(memory, "s", "secret")
    memory.sessions.delete_session("s")
    memory.undo()
    (message,) = memory.sessions.get_messages("s")
    memory.forget(f"message:{message['id']}")
    assert all(entry.before is None for entry in memory.log())


def test_forgetting_a_message_leaves_no_copy_for_undo(memory: Memory) -> None:
    gone, _ = talk(memory, "s", "secret", "parrot")
    memory.forget(f"message:{gone}")
    memory.sessions.delete_session("s")
    memory.undo()
    texts = [message["content"] for message in memory.sessions.get_messages("s")]
    assert texts == ["[forgotten]", "parrot"]


@pytest.mark.parametrize("unknown", ["message:999", "message:0", f"message:{10**30}", "session:nobody"])
def test_forgetting_what_is_unknown_is_not_found(memory: Memory, unknown: str) -> None:
    # A number no message can have may also be called wrong.
    with pytest.raises((NotFound, InvalidInput) if len(unknown) > 20 else NotFound):
        memory.forget(unknown)


@pytest.mark.parametrize("wrong", ["", "s", "message:", "message:x", "message:-1", "note:1"])
def test_a_reference_that_names_nothing_is_invalid_input(memory: Memory, wrong: str) -> None:
    with pytest.raises(InvalidInput):
        memory.forget(wrong)
