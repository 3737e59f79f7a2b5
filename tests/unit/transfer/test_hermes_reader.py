"""The ``state.db`` of Hermes Agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from items import DATA, assert_storable, conversations, left_out, messages, read_items, spoken, unread

import mnemos
from mnemos.errors import InvalidInput
from mnemos.sessions.transcript import sort_parents_first
from mnemos.transfer.reader import Mark
from mnemos.transfer.readers.hermes import READER

SCHEMA = (DATA / "hermes" / "schema.sql").read_text()
SESSIONS = DATA / "hermes" / "sessions.json"


class Database:
    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = apsw.Connection(str(path))
        self.connection.execute(SCHEMA)

    def add(self, table: str, row: dict[str, Any]) -> None:
        marks = ", ".join("?" * len(row))
        self.connection.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )

    def close(self) -> None:
        self.connection.close()


def hermes_database(path: Path) -> Database:
    database = Database(path)
    for table, rows in json.loads(SESSIONS.read_text()).items():
        for row in rows:
            database.add(table, row)
    return database


@pytest.fixture
def state(tmp_path: Path) -> Path:
    database = hermes_database(tmp_path / "state.db")
    database.close()
    return database.path


def test_sessions_come_with_their_messages_parents_first(state: Path) -> None:
    items = read_items(READER, state)
    assert list(conversations(items)) == ["20260110_090000_aaaa", "20260110_080000_bbbb"]
    assert spoken(items) == [
        ("user", "Water the ferns on Friday"),
        ("assistant", ["remind"]),
        ("tool", "set"),
        ("assistant", "Done 🌿"),
        ("user", [{"type": "text", "text": "What did I ask?"}]),
    ]
    assert left_out(items) == {"messages that were undone, copied or empty": 2}


def test_keys_are_those_of_the_rows(state: Path) -> None:
    assert [said.key for said in messages(read_items(READER, state))] == [
        "20260110_090000_aaaa/1",
        "20260110_090000_aaaa/2",
        "20260110_090000_aaaa/3",
        "20260110_090000_aaaa/4",
        "20260110_080000_bbbb/7",
    ]


def test_a_session_keeps_its_metadata(state: Path) -> None:
    items = read_items(READER, state)
    parent, child = conversations(items).values()
    assert (parent.source, parent.model, parent.title) == ("telegram", "some-model", "Ferns")
    assert parent.metadata == {"cwd": "/home/dev", "program": "hermes"}
    assert parent.end_reason == "compression"
    assert child.parent_id == parent.id
    assert sum(said.input_tokens for said in messages(items)) == 77
    call, result = messages(items)[1:3]
    assert call.fields["tool_calls"][0]["id"] == result.fields["tool_call_id"] == "c9"
    assert result.fields["tool_name"] == "remind"


@pytest.fixture
def memory(home: Path) -> Iterator[mnemos.Memory]:
    with mnemos.open(home, embedder="none") as opened:
        yield opened


def add_sessions(state: Path, *rows: dict[str, Any]) -> None:
    connection = apsw.Connection(str(state))
    for row in rows:
        values = {"source": "cli", "started_at": 1768035000.0} | row
        marks = ", ".join("?" * len(values))
        connection.execute(
            f"INSERT INTO sessions ({', '.join(values)}) VALUES ({marks})", tuple(values.values())
        )
    connection.close()


def test_a_session_keeps_its_system_prompt(state: Path, memory: mnemos.Memory) -> None:
    connection = apsw.Connection(str(state))
    prompt = "You are a gardener. 🌿\n" * 3
    connection.execute("UPDATE sessions SET system_prompt = ? WHERE title = 'Ferns'", (prompt,))
    connection.execute("UPDATE sessions SET system_prompt = ? WHERE title IS NULL", ("x" * 500_000,))
    connection.close()
    memory.imports.import_files(READER, state)
    ferns = memory.sessions.get_session("20260110_090000_aaaa")
    other = memory.sessions.get_session("20260110_080000_bbbb")
    assert ferns is not None
    assert other is not None
    assert ferns["system_prompt"] == prompt
    assert len(other["system_prompt"]) == 100_000


def test_a_session_without_messages_is_imported_once(state: Path, memory: mnemos.Memory) -> None:
    add_sessions(
        state,
        {"id": "quiet", "title": "Nothing said", "system_prompt": "Be brief."},
        {"id": "after", "parent_session_id": "quiet", "started_at": 1768035100.0},
    )
    rehearsed = memory.imports.import_files(READER, state, dry_run=True)
    report = memory.imports.import_files(READER, state)
    assert (rehearsed.sessions, report.sessions, report.messages) == (4, 4, 5)
    quiet, after = memory.sessions.get_session("quiet"), memory.sessions.get_session("after")
    assert quiet is not None
    assert after is not None
    assert (quiet["title"], quiet["system_prompt"], quiet["message_count"]) == (
        "Nothing said",
        "Be brief.",
        0,
    )
    assert (quiet["started_at"], after["parent_session_id"]) == (1768035000.0, "quiet")
    memory.sessions.delete_session("quiet")
    add_sessions(state, {"id": "third"})
    again = memory.imports.import_files(READER, state)
    assert (again.sessions, again.messages) == (1, 0)
    assert memory.sessions.get_session("quiet") is None


def test_sessions_without_messages_follow_since(state: Path, memory: mnemos.Memory) -> None:
    add_sessions(state, {"id": "early", "started_at": 1_000.0}, {"id": "late", "started_at": 1768035700.0})
    report = memory.imports.import_files(READER, state, since=1768035650.0)
    assert memory.sessions.get_session("early") is None
    assert memory.sessions.get_session("late") is not None
    # The messages of the first recorded session are older too.
    assert report.sessions == 2


def test_a_session_that_was_recorded_here_stays_as_it_is(state: Path, memory: mnemos.Memory) -> None:
    add_sessions(state, {"id": "own", "title": "From Hermes"})
    memory.sessions.create_session("own", "cli")
    report = memory.imports.import_files(READER, state)
    own = memory.sessions.get_session("own")
    assert own is not None
    assert own["title"] is None
    assert report.sessions == 2


def test_the_database_in_a_folder_is_found_with_its_log(state: Path) -> None:
    (source,) = READER.find(state.parent, lambda *_: None)
    assert source.path == state
    state.with_name("state.db-wal").write_bytes(b"x" * 100)
    (grown,) = READER.find(state, lambda *_: None)
    assert grown.size == source.size + 100


def test_only_the_last_mark_says_that_all_was_read(state: Path) -> None:
    marks = [item for item in read_items(READER, state) if isinstance(item, Mark)]
    assert [mark.position < state.stat().st_size for mark in marks] == [True, True, False]


def test_invalid_text_spoils_only_its_session(state: Path) -> None:
    connection = apsw.Connection(str(state))
    connection.execute("UPDATE messages SET content = CAST(x'ff41' AS TEXT) WHERE id = 7")
    connection.close()
    items = read_items(READER, state)
    assert unread(items) == [2]
    assert len(messages(items)) == 4


def test_wrong_types_everywhere_are_survived(state: Path) -> None:
    connection = apsw.Connection(str(state))
    connection.execute("UPDATE sessions SET model = x'00ff', title = 7, started_at = 'soon', ended_at = 9e99")
    connection.execute(
        "UPDATE messages SET tool_calls = '[[[', token_count = 'x', tool_name = 5, content = 12.5"
    )
    connection.close()
    items = read_items(READER, state)
    assert_storable(items)
    assert messages(items)


@pytest.mark.parametrize("data", [b"", b"hello", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_not_a_hermes_database_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(data)
    with pytest.raises(InvalidInput):
        read_items(READER, path)


def test_damaged_pages_are_refused_or_survived(state: Path) -> None:
    data = state.read_bytes()
    for at in range(100, len(data), 997):
        state.write_bytes(data[:at] + bytes(40) + data[at + 40 :])
        try:
            items = read_items(READER, state)
        except (InvalidInput, OSError):
            continue
        assert_storable(items)


def test_a_cycle_of_parents_is_walked_once() -> None:
    found = sort_parents_first({"a": "b", "b": "a", "c": "c", "d": "x"}, allow_cycles=True)
    assert sorted(found) == ["a", "b", "c", "d"]
    assert sort_parents_first({"late": "early", "early": None}) == ["early", "late"]
