"""Optimizing, checking and copying change nothing that is stored."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from contract.storage.openers import (
    NOW,
    Contract,
    Opener,
    append,
    contents,
    create,
    found,
    session,
    settle,
    tell,
)
from mnemos.errors import AlreadyExists, MnemosError, NotFound
from mnemos.storage.base import Storage

# These look at the machine, not at the data.
_SURROUNDINGS = frozenset({"file system", "privacy"})


class UpkeepContract(Contract):
    def test_optimizing_changes_nothing_that_is_stored(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot number{n}" for n in range(50)))
        tell(storage, "gone", "parrot")
        storage.write(lambda tx: tx.sessions.begin_delete("gone"))
        storage.optimize()
        storage.optimize(0.5)
        assert len(contents(storage)) == 50
        assert sorted(found(storage, "parrot")) == ids

    def test_waking_runs_idle_work(self, storage: Storage) -> None:
        done = threading.Event()

        def work() -> bool:
            done.set()
            return False

        storage.when_idle(work)
        storage.wake()
        assert done.wait(60)

    def test_waking_a_reader_does_nothing(self, storage: Storage, open_another: Opener) -> None:
        tell(storage, "s", "parrot")
        reader = open_another(read_only=True)
        reader.wake()
        assert found(reader, "parrot")

    def test_usage_counts_pending_messages(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        settle(storage)
        usage = storage.usage()
        assert usage.pending == 0
        assert usage.file_bytes > 0
        assert all(size >= 0 for size in usage.parts.values())

    def test_sound_data_passes_every_check(self, storage: Storage) -> None:
        gone, *_ = tell(storage, "s", "parrot one", "parrot two", "x" * 250_000)
        tell(storage, "deleted", "parrot")
        settle(storage)
        append(storage, "s", "pending parrot")
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        storage.write(lambda tx: tx.sessions.begin_delete("deleted"))
        assert _complaints(storage) == []
        storage.finish_deletes()
        settle(storage)
        assert _complaints(storage) == []

    def test_repairing_sound_data_changes_nothing(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot one", "parrot two")
        settle(storage)
        checks = list(storage.examine(repair=True))
        assert [check for check in checks if not check.ok and check.name not in _SURROUNDINGS] == []
        assert contents(storage) == ["parrot one", "parrot two"]
        assert sorted(found(storage, "parrot")) == ids

    def test_a_backup_does_not_overwrite_a_file(self, storage: Storage, tmp_path: Path) -> None:
        target = tmp_path / "precious"
        target.write_text("precious")
        with pytest.raises(AlreadyExists):
            storage.backup(target)
        assert target.read_text() == "precious"

    def test_a_backup_into_a_missing_folder_is_not_found(self, storage: Storage, tmp_path: Path) -> None:
        with pytest.raises(NotFound):
            storage.backup(tmp_path / "nowhere" / "backup")

    def test_a_backup_reports_its_progress(self, storage: Storage, tmp_path: Path) -> None:
        tell(storage, "s", *["parrot"] * 20)
        seen: list[float] = []
        storage.backup(tmp_path / "backup", seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        assert (tmp_path / "backup").stat().st_size > 0

    def test_restore_replaces_the_data_by_the_backup(self, storage: Storage, tmp_path: Path) -> None:
        ids = tell(storage, "s", "parrot one", "parrot two")
        storage.backup(tmp_path / "backup")
        tell(storage, "later", "parrot three")
        append(storage, "s", "parrot four")
        if not self.restorable:
            with pytest.raises(MnemosError):
                storage.restore(tmp_path / "backup")
            return
        storage.restore(tmp_path / "backup")
        assert contents(storage) == ["parrot one", "parrot two"]
        assert storage.read(lambda tx: tx.sessions.get("later")) is None
        assert sorted(found(storage, "parrot")) == ids
        (new,) = append(storage, "s", "parrot five")
        assert sorted(found(storage, "parrot")) == [*ids, new]
        assert _complaints(storage) == []

    def test_a_backup_made_while_threads_write_is_whole(self, storage: Storage, tmp_path: Path) -> None:
        tell(storage, "s", *(f"parrot number{n}" for n in range(500)))
        written: list[int] = []

        def write_more(_: float) -> None:
            if self.several_openers and not written:
                written.extend(append(storage, "s", "written meanwhile"))

        storage.backup(tmp_path / "backup", write_more)
        assert session(storage).message_count == 500 + len(written)

    def test_a_file_that_is_not_a_backup_is_refused(self, storage: Storage, tmp_path: Path) -> None:
        tell(storage, "s", "parrot")
        wrong = tmp_path / "wrong"
        wrong.write_bytes(b"not a backup at all, but long enough to look into" * 100)
        with pytest.raises(MnemosError):
            storage.restore(wrong)
        with pytest.raises(MnemosError):
            storage.restore(tmp_path / "nothing")
        assert contents(storage) == ["parrot"]

    def test_restoring_keeps_spaces_apart(self, open_another: Opener, tmp_path: Path) -> None:
        """A backup may have known fewer spaces, or met them in another order."""
        first = open_another()
        tell(first, "s", "parrot in default")
        first.backup(tmp_path / "backup")
        alice, bob = open_another("alice"), open_another("bob")
        tell(alice, "s", "parrot of alice")
        tell(bob, "s", "parrot of bob")
        if not self.restorable:
            return
        bob.restore(tmp_path / "backup")
        assert contents(first) == ["parrot in default"]
        assert contents(bob) == []
        # Alice opened before the restore: her space is empty now, and still hers.
        assert contents(alice) == []
        create(bob, "new")
        append(bob, "new", "parrot of bob")
        assert alice.read(lambda tx: tx.sessions.get("new")) is None
        assert found(alice, "parrot") == []
        tell(alice, "s", "parrot of alice")
        assert contents(bob, "s") == []
        assert contents(bob, "new") == ["parrot of bob"]


def _complaints(storage: Storage) -> list[str]:
    checks = storage.examine(repair=False)
    return [
        f"{check.name}: {check.detail}"
        for check in checks
        if not check.ok and check.name not in _SURROUNDINGS
    ]
