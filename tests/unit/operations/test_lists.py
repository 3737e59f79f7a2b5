"""Lists in pages: facts, sessions, entries, users, spaces, and single entries of the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.memory.change_feed import Cursor
from mnemos.testing import FixedClock


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with mnemos.open(home, clock=clock, embedder="none", backend="local") as opened:
        yield opened


def test_pages_of_facts_are_all_facts_in_one_order(memory: Memory) -> None:
    memory.facts.write("\n".join(f"V[srv.{number}]: host-{number}" for number in range(7)))
    everything = memory.call("facts_list")
    assert (everything["total"], everything["left"]) == (7, 0)
    pages = [memory.call("facts_list", {"limit": 3, "offset": offset}) for offset in (0, 3, 6, 9)]
    assert [fact for page in pages for fact in page["facts"]] == everything["facts"]
    assert [page["left"] for page in pages] == [4, 1, 0, 0]
    assert "and 4 more" in pages[0]["text"]


def test_sessions_are_listed_by_words_of_titles_and_messages(memory: Memory) -> None:
    for name, title, said in (
        ("a", "Moving the Database", "hello"),
        ("b", None, "we moved the database on Tuesday"),
        ("c", "Holidays", "a beach and a book"),
    ):
        memory.sessions.create_session(name, "cli", title=title)
        memory.sessions.append_message(name, "user", said)

    def find(query: str, **more: object) -> tuple[list[str], int]:
        found = memory.call("sessions_list", {"query": query, **more})
        return sorted(one["id"] for one in found["sessions"]), found["total"]

    assert find("database") == (["a", "b"], 2)
    assert find("the DATA") == (["a"], 1)
    assert find("database Tuesday") == (["b"], 1)
    assert find("nobody said this") == ([], 0)
    assert find("database", limit=1)[1] == 2
    assert find("") == (["a", "b", "c"], 3)
    assert find("database", source="mail") == ([], 0)


def test_a_query_finds_no_session_of_another_user(memory: Memory) -> None:
    memory.sessions.create_session("of-ada", "cli", title="The database", user_id="ada")
    assert memory.call("sessions_list", {"query": "database"}, user_id="ada")["total"] == 1
    assert memory.call("sessions_list", {"query": "database"}, user_id="ben")["total"] == 0


def test_entries_are_listed_with_their_values_in_pages(memory: Memory, clock: FixedClock) -> None:
    for number in range(3):
        memory.entries.store("sam", f"key-{number}", f"value {number}", {"number": number})
        clock.advance(1)
    page = memory.call("entries_list", {"user": "sam", "values": True, "limit": 2, "offset": 1})
    assert page["keys"] == ["key-1", "key-0"]
    assert [(one["value"], one["metadata"]["number"]) for one in page["entries"]] == [
        ("value 1", 1),
        ("value 0", 0),
    ]
    assert page["count"] == 3
    assert memory.call("entries_list", {"user": "sam"})["entries"] == []
    assert len(memory.call("entries_list", {"user": "sam"})["keys"]) == 3


def test_users_are_listed_with_the_number_of_their_entries(memory: Memory) -> None:
    assert memory.call("entries_users")["users"] == []
    for user, key in (("sam", "city"), ("ada", "city"), ("sam", "editor")):
        memory.entries.store(user, key, "x")
    found = memory.call("entries_users")["users"]
    assert [(one["user"], one["entries"]) for one in found] == [("ada", 1), ("sam", 2)]


def test_no_user_learns_who_the_others_are(memory: Memory) -> None:
    for name in ("entries_users", "spaces_list", "overview"):
        with pytest.raises(Refused):
            memory.call(name, user_id="ada")


def test_a_single_entry_of_the_log_is_whole(memory: Memory) -> None:
    memory.notebook.add("A long note. " * 20)
    newest = memory.log(1)[0]
    shown = memory.call("log", {"entry": newest.id})
    assert [one["id"] for one in shown["entries"]] == [newest.id]
    assert shown["entries"][0]["after"] == newest.after
    assert "A long note. A long note." in shown["text"]
    with pytest.raises(NotFound):
        memory.call("log", {"entry": newest.id + 1})


def test_spaces_are_listed_with_what_they_hold(home: Path, clock: FixedClock) -> None:
    for space, count in (("default", 1), ("team/red", 2)):
        with mnemos.open(home, space=space, clock=clock) as memory:
            for number in range(count):
                memory.sessions.create_session(f"s{number}", "cli")
                memory.sessions.append_message(f"s{number}", "user", "hello")
    with mnemos.open(home, space="team/red", clock=clock) as memory:
        shown = memory.call("spaces_list")
    found = [(one["name"], one["sessions"], one["messages"]) for one in shown["spaces"]]
    assert found == [("default", 1, 1), ("team/red", 2, 2)]
    assert shown["current"] == "team/red"


def test_lists_take_a_time_that_they_begin_at(memory: Memory, clock: FixedClock, tmp_path: Path) -> None:
    memory.facts.write("V[a]: old")
    memory.sessions.create_session("old", "cli")
    memory.sessions.append_message("old", "user", "old words")
    clock.advance(3 * 86_400)
    memory.facts.write("V[b]: new")
    memory.sessions.create_session("new", "cli")
    memory.sessions.append_message("new", "user", "new words")
    assert [one["target"] for one in memory.call("facts_list", {"since": "yesterday"})["facts"]] == ["b"]
    assert [one["target"] for one in memory.call("facts_list", {"until": "yesterday"})["facts"]] == ["a"]
    memory.call("sessions_export", {"path": str(tmp_path / "new.jsonl"), "since": "2 days ago"})
    assert json.loads((tmp_path / "new.jsonl").read_text())["id"] == "new"
    refs = [one["ref"] for one in memory.call("changes", {"since": "yesterday"})["changes"]]
    assert {"fact:f2", "session:new", "message:2"} < set(refs)
    assert {"fact:f1", "session:old", "message:1"}.isdisjoint(refs)
    with pytest.raises(InvalidInput):
        memory.call("changes", {"since": "banana"})


def test_a_cursor_is_never_read_as_a_date(memory: Memory) -> None:
    assert str(Cursor(2026, 10, 15)) == "02026-10-15"
    assert str(Cursor(2026, 1, 15)) == "2026-1-15"
    memory.facts.write("V[a]: x")
    assert memory.call("changes", {"since": "02026-10-15"})["changes"] == []
    assert len(memory.call("changes", {"since": "2020-10-15"})["changes"]) == 1


def test_old_sessions_are_deleted_by_a_date(memory: Memory, clock: FixedClock) -> None:
    memory.sessions.create_session("old", "cli")
    memory.sessions.end_session("old", "done")
    clock.advance(3 * 86_400)
    assert memory.call("sessions_prune", {"before": "5 days ago", "dry_run": True})["sessions"] == 0
    assert memory.call("sessions_prune", {"before": "yesterday"})["sessions"] == 1
    for wrong in ({"before": "yesterday", "older_than_days": 3}, {"before": "tomorrow"}):
        with pytest.raises(InvalidInput):
            memory.call("sessions_prune", wrong)


def test_the_log_says_in_words_what_was_changed(memory: Memory) -> None:
    imported = [{"id": "a", "title": "Old", "messages": [{"role": "user", "content": "pigeon"}]}]
    memory.sessions.import_sessions(imported)
    memory.facts.remember("I live in Berlin")
    memory.sessions.set_title("a", "Pigeons")
    memory.sessions.archive("a")
    memory.notebook.add("Tests run with make test")
    memory.undo()
    memory.forget("session:a")
    said = [one["what"] for one in memory.call("log")["entries"]]
    assert said == [
        "Erased session:a",
        "Undid: Changed MEMORY.md",
        "Changed MEMORY.md: Tests run with make test",
        "Archived a",
        "Changed the title of a",
        "Stored f1: V[user.home]: I live in Berlin",
        "Imported 1 session, 1 message",
    ]
    assert "Before" not in memory.call("log", {"entry": 2})["text"]


def test_the_log_names_an_entry_by_its_user_and_key_while_it_is_there(memory: Memory) -> None:
    memory.call("entries_set", {"user": "ana", "key": "city", "value": "Lisbon"})
    said = "city of ana: Lisbon"
    assert memory.call("log")["entries"][0]["what"] == f"Set {said}"
    assert memory.call("changes")["changes"][-1]["text"] == said
    memory.call("entries_delete", {"user": "ana", "key": "city"})
    assert memory.call("log")["entries"][-1]["what"] == "Set entry:1, which was deleted since"
    assert memory.call("changes")["changes"][0]["text"] == ""


def test_an_erased_sub_agent_is_not_named_as_its_session(memory: Memory) -> None:
    parent = "3f2c9a10-0000-4000-8000-000000000001"
    for one in (parent, f"{parent}:agent-7be1"):
        memory.sessions.create_session(one, "cli")
    memory.forget(f"session:{parent}:agent-7be1")
    assert memory.call("log")["entries"][0]["what"] == "Erased session:3f2c9a10:7be1"
