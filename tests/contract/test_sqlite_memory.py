"""The contract on SQLite in memory, which has one opener."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.storage import Opener, StorageContract
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Storage
from mnemos.storage.passages import PART_CHARACTERS
from mnemos.storage.sqlite.engine import SqliteStorage


class TestSqliteMemory(StorageContract):
    several_openers = False
    restorable = False
    seams = tuple(part * PART_CHARACTERS + end for part in (1, 2) for end in (0, 200))

    @pytest.fixture
    def open_storage(self) -> Iterator[Opener]:
        opened: list[SqliteStorage] = []

        def open_it(space: str = "default", *, read_only: bool = False) -> Storage:
            assert not opened, "a database in memory is opened once"
            opened.append(SqliteStorage(None, space=space, documents=document_of, read_only=read_only))
            return opened[-1]

        yield open_it
        for storage in opened:
            storage.close()
