"""The contract on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.storage import Opener, StorageContract
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Storage
from mnemos.storage.passages import PART_CHARACTERS
from postgres_server import HOW, IS_WANTED, lend_schema, url_of

if not IS_WANTED:
    pytest.skip(HOW, allow_module_level=True)

from mnemos.storage.postgres.engine import PostgresStorage


class TestPostgres(StorageContract):
    counts_by_space = True
    # Both ends of the overlap of two parts.
    seams = tuple(part * PART_CHARACTERS + end for part in (1, 2) for end in (0, 200))

    @pytest.fixture
    def open_storage(self) -> Iterator[Opener]:
        opened: list[PostgresStorage] = []
        with lend_schema() as schema:

            def open_it(space: str = "default", *, read_only: bool = False) -> Storage:
                opened.append(
                    PostgresStorage(url_of(schema), space=space, documents=document_of, read_only=read_only)
                )
                return opened[-1]

            yield open_it
            for storage in opened:
                storage.close()
