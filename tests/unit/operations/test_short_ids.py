"""Ids are shown shortened and accepted shortened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemos.errors import Ambiguous, NotFound
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.testing import FixedClock

ONE = "5bc8fbbc-bde5-4099-8164-d8399f767c45"
OTHER = "5bc8fbbc-0000-4099-8164-d8399f767c45"
THIRD = "77aa0011-0000-4099-8164-d8399f767c45"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.at(":memory:", clock=FixedClock(1_772_323_200.0)) as memory:
        for name, title, user in (
            (ONE, "修复登录 页面", "ada"),
            (OTHER, None, "ada"),
            (THIRD, "Bob's secret", "bob"),
        ):
            memory.sessions.create_session(name, "cli", title=title, user_id=user)
            memory.sessions.append_message(name, "user", "the queue 🚀 is full")
        yield memory


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("sessions_show", {"session": "77aa"}),
        ("sessions_read", {"session": "77aa"}),
        ("sessions_lineage", {"session": "77aa"}),
        ("sessions_append", {"session_id": "77aa", "role": "user", "content": "hi"}),
        ("sessions_create", {"session_id": "next", "parent_session_id": "77aa"}),
        ("sessions_end", {"session": "77aa"}),
        ("sessions_archive", {"session": "77aa"}),
        ("sessions_title", {"session": "77aa", "title": "New"}),
        ("sessions_search", {"query": "queue", "session": ["77aa"]}),
        ("session_search", {"query": "queue", "session_id": "77aa"}),
        ("session_search", {"query": "queue", "exclude_session_ids": ["5bc8fbbc-b", "5bc8fbbc-0"]}),
        ("recall", {"query": "queue", "session": ["77aa"]}),
        ("sessions_delete", {"session": "77aa"}),
        ("forget", {"ref": "session:77aa"}),
        ("show", {"id": "77aa"}),
    ],
)
def test_the_beginning_of_an_id_is_enough(
    memory: Memory, operation: str, arguments: dict[str, object]
) -> None:
    text = memory.call(operation, arguments)["text"]
    assert THIRD not in text or operation == "forget"
    assert "5bc8" not in text


def test_forgetting_a_session_by_the_beginning_of_its_id_erases_that_one(memory: Memory) -> None:
    assert memory.call("forget", {"ref": "session:77aa"})["ref"] == f"session:{THIRD}"
    assert memory.sessions.get_session(THIRD) is None or not memory.sessions.get_messages(THIRD)
    assert len(memory.sessions.get_messages(ONE)) == 1


def test_ids_are_shown_as_long_as_it_takes_and_whole_as_data(memory: Memory) -> None:
    listed = memory.call("sessions_list", {})
    assert [one["short_id"] for one in listed["sessions"]] == ["5bc8fbbc-0", "5bc8fbbc-b", "77aa0011"]
    assert {one["id"] for one in listed["sessions"]} == {ONE, OTHER, THIRD}
    assert ONE not in listed["text"]
    assert "5bc8fbbc-b" in listed["text"]
    memory.sessions.set_title(ONE, "Login")
    logged = memory.call("log", {})["entries"][0]
    assert (logged["ref"], logged["short_ref"]) == (f"session:{ONE}", "session:5bc8fbbc-b")


def test_an_ambiguous_beginning_lists_the_candidates(memory: Memory) -> None:
    with pytest.raises(Ambiguous) as raised:
        memory.call("sessions_show", {"session": "5bc8"})
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert {line.rpartition(", ")[2] for line in lines[1:]} == {"5bc8fbbc-b", "5bc8fbbc-0"}
    assert any("修复登录 页面" in line for line in lines[1:])
    assert any("the queue 🚀 is full" in line for line in lines[1:])
    assert all("2026-0" in line for line in lines[1:])


def test_many_candidates_are_counted(memory: Memory) -> None:
    for number in range(40):
        memory.sessions.create_session(f"ab{number:02}-0000-0000-0000-000000000000", "cli")
    with pytest.raises(Ambiguous) as raised:
        memory.call("sessions_show", {"session": "ab"})
    assert len(str(raised.value).splitlines()) == 10
    assert "32 more" in str(raised.value)


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("recall", {"query": "queue", "session": ["77aa"]}),
        ("sessions_read", {"session": "77aa"}),
        ("sessions_search", {"query": "queue", "session": ["77aa"]}),
        ("forget", {"ref": "session:77aa"}),
    ],
)
def test_the_beginning_of_an_id_reaches_nothing_of_another_user(
    memory: Memory, operation: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(NotFound) as raised:
        registry.call(memory, operation, arguments, user_id="ada")
    assert "secret" not in str(raised.value)


def test_candidates_of_another_user_are_not_listed(memory: Memory) -> None:
    memory.sessions.create_session(
        "77aa9999-0000-4099-8164-d8399f767c45", "cli", title="Ada's", user_id="ada"
    )
    found = registry.call(memory, "sessions_read", {"session": "77aa"}, user_id="ada")
    assert found["session"]["title"] == "Ada's"


def test_a_snapshot_is_restored_by_the_beginning_of_its_name(tmp_path: object) -> None:
    with Memory.at(str(tmp_path)) as memory:
        for number in range(2):
            memory.workspace.query(f"CREATE TABLE t{number} (a); INSERT INTO t{number} VALUES (1)")
            memory.workspace.query(f"DROP TABLE t{number}")
        names = [one.name for one in memory.workspace.snapshots()]
        listed = memory.call("sqlite_snapshots", {})["snapshots"]
        assert [one["name"] for one in listed] == names
        assert all(one["name"].startswith(one["short_name"]) for one in listed)
        with pytest.raises(Ambiguous):
            memory.call("sqlite_restore", {"snapshot": "20"})
        with pytest.raises(NotFound):
            memory.call("sqlite_restore", {"snapshot": "x"})
        oldest = listed[-1]["short_name"]
        assert names[-1] in memory.call("sqlite_restore", {"snapshot": oldest})["text"]
