"""The contract on SQLite in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.storage import Opener, StorageContract
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Storage
from mnemos.storage.passages import PART_CHARACTERS
from mnemos.storage.sqlite.engine import SqliteStorage


class TestSqliteFile(StorageContract):
    # Both ends of the overlap of two parts.
    seams = tuple(part * PART_CHARACTERS + end for part in (1, 2) for end in (0, 200))

    @pytest.fixture
    def open_storage(self, tmp_path: Path) -> Iterator[Opener]:
        opened: list[SqliteStorage] = []

        def open_it(space: str = "default", *, read_only: bool = False) -> Storage:
            path = tmp_path / "mnemos.db"
            opened.append(SqliteStorage(path, space=space, documents=document_of, read_only=read_only))
            return opened[-1]

        yield open_it
        for storage in opened:
            storage.close()
