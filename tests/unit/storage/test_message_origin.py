"""The origin of messages in files of before there was one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contract.storage.openers import append, call, message, settle, tell
from contract.storage.passages import best
from contract.storage.vectors import embed_all, near_ids
from mnemos.sessions.message_text import document_of
from mnemos.setting_values import Durability
from mnemos.storage.sqlite import schema
from mnemos.storage.sqlite.connection import connect
from mnemos.storage.sqlite.engine import SqliteStorage
from unit.storage.former_files import write_former_file

FENCED = "<recalled-memory>\n[2026-01-01] user: parrot\n</recalled-memory>"


def called(name: str, call_id: str = "c1") -> dict[str, str]:
    return {"role": "assistant", "tool_calls": json.dumps([call(name, call_id, query="parrot")])}


def result(content: str, **columns: str | None) -> dict[str, str | None]:
    return {"role": "tool", "content": content, "tool_call_id": "c1", **columns}


def open_file(path: Path) -> SqliteStorage:
    return SqliteStorage(path, space="default", documents=document_of)


def origins(storage: SqliteStorage) -> list[str | None]:
    return [row.origin for row in storage.read(lambda tx: tx.sessions.messages("s", after=0, limit=99))]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([called("mcp__mnemos__recall"), result("parrot", tool_name="mcp__mnemos__recall")], "mm"),
        ([called("mnemos.recall"), result("parrot")], "mm"),
        ([called("session_search"), result("parrot")], "mm"),
        ([called("recall"), result(FENCED)], "mm"),
        ([called("recall"), result(f"Asked about May\n{FENCED}", tool_name="recall")], "mm"),
        ([called("recall"), result("parrot")], "--"),
        ([called("read_file"), result(f"text {FENCED}", tool_name="read_file")], "--"),
        (
            [called("mcp__mnemos__sqlite_query"), result("parrot", tool_name="mcp__mnemos__sqlite_query")],
            "--",
        ),
        ([{"role": "assistant", "tool_calls": "{damaged"}, result("parrot")], "--"),
        ([{"role": "assistant", "tool_calls": '["recall", 7, null, {"id": 1}]'}], "-"),
    ],
)
def test_a_migration_marks_the_memory_s_own_calls_and_results(
    tmp_path: Path, messages: list[dict[str, str | None]], expected: str
) -> None:
    write_former_file(tmp_path / "x.db", 6, messages)
    storage = open_file(tmp_path / "x.db")
    assert origins(storage) == [{"m": "memory", "-": None}[sign] for sign in expected]
    storage.close()


def test_a_migration_takes_echoes_out_of_index_and_vectors(tmp_path: Path) -> None:
    texts = ["a parrot in the garden", f"what I was given: {FENCED}", "another bird"]
    echo = [called("mcp__mnemos__recall"), result("parrot", tool_name="mcp__mnemos__recall")]
    ids = write_former_file(tmp_path / "x.db", 6, [*texts, *echo])
    storage = open_file(tmp_path / "x.db")
    settle(storage)
    embed_all(storage)
    assert best(storage, "parrot") == [ids[0]]
    assert set(near_ids(storage, "parrot", limit=9)) <= set(ids[:3])
    assert [check.name for check in storage.examine(repair=False) if not check.ok] == []
    storage.close()


@pytest.mark.parametrize(("text", "indexed"), [("a parrot", 1), (FENCED, 0)])
def test_a_file_without_echoes_keeps_its_index(tmp_path: Path, text: str, indexed: int) -> None:
    """Making the index of a large file again takes minutes."""
    write_former_file(tmp_path / "x.db", 6, [text])
    connection = connect(
        str(tmp_path / "x.db"), read_only=False, durability=Durability.NORMAL, busy_seconds=1.0
    )
    connection.execute("UPDATE spaces SET indexed = 1")
    schema.migrate(connection)
    assert connection.execute("SELECT indexed FROM spaces").get == indexed
    assert connection.execute("SELECT value FROM properties WHERE name = 'words'").get == (
        "1" if indexed else ""
    )
    connection.close()


def test_an_origin_set_later_takes_the_call_out_of_the_index(tmp_path: Path) -> None:
    storage = open_file(tmp_path / "x.db")
    (said,) = tell(
        storage, "s", message("Let me look.", "assistant", tool_calls=[call("recall", q="parrot")])
    )
    (pending,) = append(storage, "s", message(None, "assistant", tool_calls=[call("recall", q="macaw")]))
    settle(storage)
    assert best(storage, "parrot") == [said]
    for one in (said, pending):
        storage.write(lambda tx: tx.sessions.set_origin(one, "memory"))  # noqa: B023
    assert best(storage, "parrot") == best(storage, "macaw") == []
    assert best(storage, "look") == [said]
    assert [check.name for check in storage.examine(repair=False) if not check.ok] == []
    storage.write(lambda tx: tx.sessions.forget_message(said, tool_calls=None, at=1.0))
    assert best(storage, "look") == []
    storage.close()
