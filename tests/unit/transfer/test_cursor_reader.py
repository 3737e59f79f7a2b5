"""The reader of Cursor, on databases made by descriptions of its format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from items import conversations, left_out, messages, read_items, spoken, unread

import mnemos
from mnemos.errors import Busy
from mnemos.storage.sqlite import readonly
from mnemos.transfer.import_formats import detect_kind
from mnemos.transfer.reader import load_reader

NOW = 1_794_000_000_000
READER = load_reader("cursor")
TOOL = {
    "name": "read_file",
    "toolCallId": "t1",
    "rawArgs": '{"path": "a.py"}',
    "result": "a = 1",
    "status": "completed",
}
BUBBLES: dict[str, dict[str, Any]] = {
    "b1": {"_v": 3, "type": 1, "text": "Which queue?", "createdAt": "2026-11-01T10:00:00.000Z"},
    "b0": {"_v": 3, "type": 2, "text": "", "toolFormerData": TOOL},
    "b2": {
        "_v": 3,
        "type": 2,
        "text": "Redis streams.",
        "thinking": {"text": "Look first"},
        "tokenCount": {"inputTokens": 9, "outputTokens": 4},
        "attachedCodeChunks": ["x" * 1_000],
    },
}
SAID = [
    ("user", "Which queue?"),
    ("assistant", ["read_file"]),
    ("tool", "a = 1"),
    ("assistant", "Redis streams."),
]


class Cursor:
    """The folder of Cursor's settings."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "globalStorage" / "state.vscdb"
        self._workspace = folder / "workspaceStorage" / "0f" / "state.vscdb"
        for path in (self.path, self._workspace):
            path.parent.mkdir(parents=True)
            table = "(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
            self.execute(f"CREATE TABLE ItemTable {table}", path)
            self.execute(f"CREATE TABLE cursorDiskKV {table}", path)
        listed = {"allComposers": [{"composerId": "c1"}]}
        self.put("composer.composerData", listed, "ItemTable", self._workspace)
        about = {"folder": "file:///home/ada/my%20shop"}
        self._workspace.with_name("workspace.json").write_text(json.dumps(about))
        self.put("secret://token", "sk-secret", "ItemTable")
        self.put("composerContent:token", "sk-secret")

    def execute(self, sql: str, path: Path | None = None, bindings: tuple[Any, ...] = ()) -> None:
        connection = apsw.Connection(str(path or self.path))
        connection.execute(sql, bindings)
        connection.close()

    def put(self, key: str, value: Any, table: str = "cursorDiskKV", path: Path | None = None) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        self.execute(f"INSERT INTO {table} VALUES (?, ?)", path, (key, text.encode()))

    def talk(self, composer: str = "c1", bubbles: Any = None, *, at: int = NOW, **about: Any) -> None:
        bubbles = BUBBLES if bubbles is None else bubbles
        headers = [{"bubbleId": key, "type": one.get("type")} for key, one in bubbles.items()]
        head = {"_v": 10, "composerId": composer, "name": "Queues", "createdAt": at, "lastUpdatedAt": at}
        self.put(f"composerData:{composer}", {**head, "fullConversationHeadersOnly": headers, **about})
        for key, bubble in bubbles.items():
            self.put(f"bubbleId:{composer}:{key}", bubble)


@pytest.fixture
def cursor(tmp_path: Path) -> Cursor:
    return Cursor(tmp_path)


def test_a_conversation_is_read_in_its_order_with_its_folder(cursor: Cursor) -> None:
    cursor.talk()
    items = read_items(READER, cursor.path)
    assert spoken(messages(items)) == SAID
    (session,) = conversations(items).values()
    assert (session.title, session.metadata) == ("Queues", {"cwd": "/home/ada/my shop"})
    assert messages(items)[-1].output_tokens == 4
    assert unread(items) == []
    assert "sk-secret" not in repr(items)
    assert detect_kind(cursor.path) == "cursor"


def test_the_folder_may_be_in_a_message(cursor: Cursor) -> None:
    said = {**BUBBLES["b1"], "workspaceUris": ["file:///home/ada/blog"]}
    cursor.talk("elsewhere", {"b1": said})
    (session,) = conversations(read_items(READER, cursor.path)).values()
    assert session.metadata == {"cwd": "/home/ada/blog"}


def test_messages_of_older_versions_are_within_the_conversation(cursor: Cursor) -> None:
    inline = [{"bubbleId": key, **bubble} for key, bubble in BUBBLES.items()]
    cursor.put("composerData:c1", {"_v": 1, "createdAt": NOW, "conversation": inline})
    assert spoken(messages(read_items(READER, cursor.path))) == SAID


def test_an_answer_that_is_being_written_is_read_when_it_is_complete(cursor: Cursor) -> None:
    with mnemos.open(":memory:") as memory:
        cursor.talk(bubbles=BUBBLES, status="generating")
        report = memory.imports.import_files(READER, cursor.path)
        assert (report.messages, report.left_out) == (3, {"unfinished answers": 1})
        # A newer conversation does not hide it.
        cursor.talk("c2", {"b9": {"type": 1, "text": "Hello"}}, at=NOW + 60_000)
        cursor.talk(bubbles=BUBBLES, status="completed")
        assert memory.imports.import_files(READER, cursor.path).messages == 2
        assert memory.imports.import_files(READER, cursor.path).unchanged == 1
        assert memory.sessions.message_count() == 5


def test_what_is_not_known_is_noted_and_the_rest_is_read(cursor: Cursor) -> None:
    cursor.talk("c1", {**BUBBLES, "b3": {"type": 7, "text": "?"}})
    cursor.put("bubbleId:c1:b1", "{not json")
    cursor.put("composerData:c2", {"_v": 99, "createdAt": NOW})
    cursor.put("composerData:c3", "{not json")
    items = read_items(READER, cursor.path)
    assert spoken(messages(items)) == SAID[1:]
    assert len(unread(items)) == 4
    assert left_out(items) == {}


def test_a_database_that_cursor_keeps_locked_is_tried_again(
    cursor: Cursor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readonly, "_WAIT_SECONDS", 0.0)
    cursor.talk()
    owner = apsw.Connection(str(cursor.path))
    owner.execute("BEGIN EXCLUSIVE")
    with mnemos.open(":memory:") as memory:
        with pytest.raises(Busy):
            memory.imports.import_files(READER, cursor.path)
        owner.execute("COMMIT")
        assert memory.imports.import_files(READER, cursor.path).messages == 4
    owner.close()
