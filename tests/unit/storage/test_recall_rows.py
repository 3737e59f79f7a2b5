"""The table of recalls in a file of a former version."""

from __future__ import annotations

from pathlib import Path

from contract.storage.openers import messages
from mnemos.sessions.message_text import document_of
from mnemos.storage.recalls import RecallRow
from mnemos.storage.sqlite.engine import SqliteStorage
from unit.storage.former_files import write_former_file


def test_a_file_of_the_former_version_gets_an_empty_log(tmp_path: Path) -> None:
    write_former_file(tmp_path / "x.db", 6, ["a parrot in the garden"])
    storage = SqliteStorage(tmp_path / "x.db", space="default", documents=document_of)
    assert storage.read(lambda tx: tx.recalls.newest(5)) == []
    storage.write(
        lambda tx: tx.recalls.add([RecallRow(1.0, "sam", None, "parrot", "[]", "good", 0, 1.0)], keep=5)
    )
    assert [row.query for row in storage.read(lambda tx: tx.recalls.newest(5))] == ["parrot"]
    assert [row.content for row in messages(storage)] == ["a parrot in the garden"]
    assert [check.name for check in storage.examine(repair=False) if not check.ok] == []
    storage.close()
