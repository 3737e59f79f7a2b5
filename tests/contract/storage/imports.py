"""The ledger of imports: how far files were read, and the keys of imported messages."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from contract.storage.openers import NOW, Contract, Opener, session_row
from mnemos.errors import NotFound
from mnemos.storage.base import SessionRow, Storage, Writes
from mnemos.storage.imports import KEY_BITS, ImportedFile

FILE = ImportedFile("a-kind", "/a/file.jsonl", 100, 5, 90, 3, "digest", '{"a": 1}')
HIGHEST = (1 << KEY_BITS) - 1


def begin(storage: Storage, session_id: str, *keys: int) -> None:
    def work(tx: Writes) -> None:
        tx.sessions.create(_row(session_id))
        tx.imports.note(session_id, keys)

    storage.write(work)


def _row(session_id: str) -> SessionRow:
    return session_row(session_id, started_at=NOW)


def note_file(storage: Storage, file: ImportedFile) -> None:
    storage.write(lambda tx: tx.imports.note_file(file))


def page(storage: Storage, after: int | None) -> list[tuple[int, str]]:
    return storage.read(lambda tx: tx.imports.key_page(after=after, limit=10))


def owners(storage: Storage, *keys: int) -> dict[int, str]:
    return storage.read(lambda tx: tx.imports.owners(keys))


class ImportContract(Contract):
    def test_a_file_comes_back_as_it_was_noted(self, storage: Storage) -> None:
        odd = replace(FILE, path="/日本/🎉 ' \".jsonl", size=1 << 50, changed_ns=-5, state=None)
        note_file(storage, FILE)
        note_file(storage, odd)
        assert storage.read(lambda tx: tx.imports.file(odd.kind, odd.path)) == odd
        assert storage.read(lambda tx: tx.imports.file(FILE.kind, FILE.path)) == FILE
        assert storage.read(lambda tx: tx.imports.file("a-kind", "/none")) is None

    def test_the_newest_note_of_a_file_counts_alone(self, storage: Storage) -> None:
        further = replace(FILE, position=100, line=4, digest="other", state=None)
        for file in (FILE, further):
            note_file(storage, file)
        assert storage.read(lambda tx: tx.imports.files("a-kind")) == [further]

    def test_files_of_different_kinds_are_separate(self, storage: Storage) -> None:
        other = replace(FILE, kind="another")
        for file in (FILE, other):
            note_file(storage, file)
        assert storage.read(lambda tx: tx.imports.files("another")) == [other]
        everything = storage.read(lambda tx: tx.imports.files(None))
        assert {file.kind for file in everything} == {"a-kind", "another"}

    def test_files_can_be_forgotten(self, storage: Storage) -> None:
        storage.write(lambda tx: tx.imports.note_file(FILE))
        storage.write(lambda tx: tx.imports.drop_files())
        assert storage.read(lambda tx: tx.imports.files(None)) == []

    def test_a_key_belongs_to_the_session_that_noted_it_first(self, storage: Storage) -> None:
        begin(storage, "one", 0, 7, HIGHEST)
        begin(storage, "two", 7, 8)
        assert owners(storage, 0, 7, 8, 9, HIGHEST) == {0: "one", 7: "one", 8: "two", HIGHEST: "one"}

    def test_keys_of_an_unknown_session_are_refused(self, storage: Storage) -> None:
        with pytest.raises(NotFound):
            storage.write(lambda tx: tx.imports.note("nobody", [1]))
        assert owners(storage, 1) == {}

    def test_keys_outlive_their_session_and_name_none(self, storage: Storage) -> None:
        begin(storage, "one", 7)
        storage.write(lambda tx: tx.sessions.begin_delete("one"))
        assert owners(storage, 7) == {7: ""}
        storage.finish_deletes()
        assert owners(storage, 7) == {7: ""}

    def test_keys_of_a_deleted_session_can_be_noted(self, storage: Storage) -> None:
        storage.write(lambda tx: tx.imports.note_deleted([7]))
        assert owners(storage, 7) == {7: ""}

    def test_keys_are_found_by_session_and_can_be_forgotten(self, storage: Storage) -> None:
        begin(storage, "one", 7, 8)
        begin(storage, "two", 9)
        keys = storage.read(lambda tx: tx.imports.keys_of(["one", "nobody"]))
        assert sorted(keys) == [7, 8]
        storage.write(lambda tx: tx.imports.drop([*keys, 1234]))
        assert owners(storage, 7, 8, 9) == {9: "two"}

    def test_pages_hold_every_key_once(self, storage: Storage) -> None:
        wanted = {number * 1_000_003 for number in range(25)}
        begin(storage, "one", *wanted)
        seen: list[int] = []
        after = None
        while found := page(storage, after):
            assert {owner for _, owner in found} == {"one"}
            seen += [key for key, _ in found]
            after = seen[-1]
        assert len(seen) == len(wanted)
        assert set(seen) == wanted

    def test_spaces_know_nothing_of_each_others_imports(self, open_another: Opener) -> None:
        here, there = open_another(), open_another("other")
        begin(here, "one", 7)
        here.write(lambda tx: tx.imports.note_file(FILE))
        assert owners(there, 7) == {}
        assert there.read(lambda tx: tx.imports.files(None)) == []
        begin(there, "theirs", 7, 8)
        assert owners(there, 7, 8) == {7: "theirs", 8: "theirs"}
        there.write(lambda tx: tx.imports.drop([7]))
        there.write(lambda tx: tx.imports.drop_files())
        assert owners(here, 7) == {7: "one"}
        assert here.read(lambda tx: tx.imports.files(None)) == [FILE]
        assert there.read(lambda tx: tx.imports.key_page(after=None, limit=10)) == [(8, "theirs")]

    def test_what_a_failed_change_noted_is_not_there(self, storage: Storage) -> None:
        def work(tx: Writes) -> None:
            tx.sessions.create(_row("one"))
            tx.imports.note("one", [7])
            tx.imports.note_file(FILE)
            raise LookupError

        with pytest.raises(LookupError):
            storage.write(work)
        assert owners(storage, 7) == {}
        assert storage.read(lambda tx: tx.imports.files(None)) == []
