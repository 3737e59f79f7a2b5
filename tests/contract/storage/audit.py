"""The audit log: entries stay, their texts can be erased."""

from __future__ import annotations

from typing import Any

from contract.storage.openers import NOW, Contract
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Storage


class AuditContract(Contract):
    def test_an_entry_comes_back_as_it_was_recorded(self, storage: Storage) -> None:
        entry = _record(storage, ref="session:s", before="old", after="new")
        assert storage.read(lambda tx: tx.audit.get(entry)) == AuditRow(
            id=entry,
            at=NOW,
            actor="me",
            operation="sessions.title",
            ref="session:s",
            before="old",
            after="new",
            undone_by=None,
        )

    def test_an_unknown_entry_is_none(self, storage: Storage) -> None:
        _record(storage)
        ids = (0, -1, 999_999, 1 << 70)
        assert storage.read(lambda tx: [tx.audit.get(unknown) for unknown in ids]) == [None] * len(ids)

    def test_an_empty_log_has_no_entries(self, storage: Storage) -> None:
        assert storage.read(lambda tx: tx.audit.newest(10)) == []

    def test_the_newest_entries_come_first(self, storage: Storage) -> None:
        # Recorded later is newer, whatever the clock of the writer said.
        ids = [_record(storage, ref=str(n), at=NOW - n) for n in range(6)]
        assert ids == sorted(set(ids))
        assert _newest(storage, 3) == ids[:2:-1]
        assert _newest(storage, 100) == ids[::-1]

    def test_the_log_can_be_paged_back(self, storage: Storage) -> None:
        ids = [_record(storage, ref=str(n)) for n in range(6)]
        older = storage.read(lambda tx: tx.audit.newest(2, before=ids[3]))
        assert [entry.id for entry in older] == [ids[2], ids[1]]
        assert storage.read(lambda tx: tx.audit.newest(2, before=ids[0])) == []

    def test_an_undone_entry_names_what_undid_it(self, storage: Storage) -> None:
        done, other = _record(storage), _record(storage)
        undo = _record(storage, operation="undo sessions.title")
        storage.write(lambda tx: tx.audit.mark_undone(done, undo))
        assert _get(storage, done).undone_by == undo
        assert _get(storage, other).undone_by is None

    def test_scrubbing_erases_the_texts_of_one_ref(self, storage: Storage) -> None:
        first = _record(storage, ref="session:s", before="secret")
        second = _record(storage, ref="session:s", after="secret")
        other = _record(storage, ref="session:s2", before="kept")
        _record(storage, ref="session:s")
        assert storage.write(lambda tx: tx.audit.scrub("session:s")) == 2
        assert storage.write(lambda tx: tx.audit.scrub("session:s")) == 0
        assert storage.write(lambda tx: tx.audit.scrub("session:nobody")) == 0
        for entry in (first, second):
            row = _get(storage, entry)
            assert (row.before, row.after, row.operation) == (None, None, "sessions.title")
        assert _get(storage, other).before == "kept"

    def test_one_entry_can_be_cleared(self, storage: Storage) -> None:
        first = _record(storage, before="secret", after="secret")
        other = _record(storage, before="kept")
        storage.write(lambda tx: tx.audit.clear(first))
        assert (_get(storage, first).before, _get(storage, first).after) == (None, None)
        assert _get(storage, other).before == "kept"

    def test_expiring_erases_the_texts_of_old_entries(self, storage: Storage) -> None:
        old = _record(storage, at=NOW - 100, before="a", after="b")
        edge = _record(storage, at=NOW, before="c")
        storage.write(lambda tx: tx.audit.expire(NOW, ""))
        row = _get(storage, old)
        assert (row.before, row.after, row.at) == (None, None, NOW - 100)
        assert _get(storage, edge).before == "c"

    def test_long_texts_are_kept_whole(self, storage: Storage) -> None:
        text = "Straße 🎉 " * 20_000
        assert _get(storage, _record(storage, before=text)).before == text

    def test_refs_of_a_kind_are_listed_once_each(self, storage: Storage) -> None:
        for ref in ("file:/b", "file:/a", "file:/b", "files:/c", "fact:f1", "file", "file:", "filf:x"):
            _record(storage, ref=ref)
        assert sorted(storage.read(lambda tx: tx.audit.refs("file"))) == ["file:", "file:/a", "file:/b"]
        assert storage.read(lambda tx: tx.audit.refs("nothing")) == []

    def test_backups_are_remembered_once_each(self, storage: Storage) -> None:
        storage.write(lambda tx: tx.audit.note_backup("/backups/one.db", NOW))
        storage.write(lambda tx: tx.audit.note_backup("/backups/two.db", NOW + 1))
        storage.write(lambda tx: tx.audit.note_backup("/backups/one.db", NOW + 2))
        backups = storage.read(lambda tx: tx.audit.backups())
        assert sorted(backups) == [("/backups/one.db", NOW + 2), ("/backups/two.db", NOW + 1)]


def _record(storage: Storage, **fields: Any) -> int:
    entry: dict[str, Any] = {
        "at": NOW,
        "actor": "me",
        "operation": "sessions.title",
        "ref": "session:s",
    } | fields
    return storage.write(lambda tx: tx.audit.record(**entry))


def _get(storage: Storage, entry: int) -> AuditRow:
    row = storage.read(lambda tx: tx.audit.get(entry))
    assert row is not None
    return row


def _newest(storage: Storage, limit: int) -> list[int]:
    return [entry.id for entry in storage.read(lambda tx: tx.audit.newest(limit))]
