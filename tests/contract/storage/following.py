"""Followers read what comes after a place, in order, and notice every commit."""

from __future__ import annotations

from contract.storage.openers import NOW, Contract, Opener, create, message, tell
from mnemos.storage.base import Storage


class FollowingContract(Contract):
    def test_messages_of_all_sessions_come_in_the_order_of_their_appends(self, storage: Storage) -> None:
        first = tell(storage, "b", "one", "two")
        second = tell(storage, "a", message("three", timestamp=NOW - 1000))
        rows = storage.read(lambda tx: tx.sessions.messages_after(0, 10, 100))
        assert [(row.id, row.session_id, row.beginning.content) for row in rows] == [
            (first[0], "b", "one"),
            (first[1], "b", "two"),
            (second[0], "a", "three"),
        ]
        later = storage.read(lambda tx: tx.sessions.messages_after(first[0], 1, 2))
        assert [(row.id, row.beginning.content) for row in later] == [(first[1], "tw")]

    def test_sessions_come_in_the_order_of_their_creation(self, storage: Storage) -> None:
        create(storage, "z", started_at=NOW)
        create(storage, "a", started_at=NOW - 1000)
        rows = storage.read(lambda tx: tx.sessions.sessions_after(0, 10))
        assert [row.id for row in rows] == ["z", "a"]
        rest = storage.read(lambda tx: tx.sessions.sessions_after(rows[0].number, 10))
        assert [row.id for row in rest] == ["a"]

    def test_entries_of_the_log_come_in_the_order_they_were_recorded_in(self, storage: Storage) -> None:
        ids = [_record(storage, at=NOW - n) for n in range(4)]
        assert [row.id for row in storage.read(lambda tx: tx.audit.after(0, 3))] == ids[:3]
        assert [row.id for row in storage.read(lambda tx: tx.audit.after(ids[2], 3))] == ids[3:]

    def test_nothing_comes_after_the_newest_ids(self, storage: Storage) -> None:
        assert storage.read(lambda tx: tx.sessions.newest_ids()) == (0, 0)
        tell(storage, "s", "one", "two")
        last, number = storage.read(lambda tx: tx.sessions.newest_ids())
        assert storage.read(lambda tx: tx.sessions.messages_after(last, 10, 100)) == []
        assert storage.read(lambda tx: tx.sessions.sessions_after(number, 10)) == []
        added = tell(storage, "t", "three")
        assert [row.id for row in storage.read(lambda tx: tx.sessions.messages_after(last, 10, 100))] == added
        assert [row.id for row in storage.read(lambda tx: tx.sessions.sessions_after(number, 10))] == ["t"]

    def test_the_first_since_a_time_is_found_behind_imported_messages(self, storage: Storage) -> None:
        assert storage.read(lambda tx: tx.sessions.first_since(0.0)) == (None, None)
        said = tell(storage, "s", message("one", timestamp=NOW), "two")
        tell(storage, "s", message("imported", timestamp=NOW - 1000))
        first, number = storage.read(lambda tx: tx.sessions.first_since(NOW))
        assert first == said[0]
        assert number == storage.read(lambda tx: tx.sessions.newest_ids())[1]
        assert storage.read(lambda tx: tx.sessions.first_since(9e11)) == (None, None)
        assert storage.read(lambda tx: tx.audit.first_since(0.0)) is None
        recorded = _record(storage)
        assert storage.read(lambda tx: tx.audit.first_since(0.0)) == recorded

    def test_a_deleted_session_is_not_followed(self, storage: Storage) -> None:
        tell(storage, "s", "one")
        before = storage.read(lambda tx: tx.sessions.newest_ids())
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        assert storage.read(lambda tx: tx.sessions.messages_after(0, 10, 100)) == []
        assert storage.read(lambda tx: tx.sessions.sessions_after(0, 10)) == []
        storage.finish_deletes()
        added = tell(storage, "t", "two")
        after = storage.read(lambda tx: tx.sessions.messages_after(before[0], 10, 100))
        assert [row.id for row in after] == added

    def test_followers_of_one_space_see_nothing_of_another(self, open_another: Opener) -> None:
        ours, theirs = open_another("ours"), open_another("theirs")
        tell(theirs, "s", "private")
        _record(theirs)
        assert ours.read(lambda tx: tx.sessions.messages_after(0, 10, 100)) == []
        assert ours.read(lambda tx: tx.sessions.sessions_after(0, 10)) == []
        assert ours.read(lambda tx: tx.audit.after(0, 10)) == []

    def test_a_watch_changes_with_every_commit_and_not_without(self, storage: Storage) -> None:
        with storage.watch() as look:
            seen = look()
            assert look() == seen
            tell(storage, "s", "one")
            assert look() != seen

    def test_a_watch_sees_the_commits_of_other_openers(self, open_another: Opener) -> None:
        ours, theirs = open_another("ours"), open_another("theirs")
        with ours.watch() as look:
            seen = look()
            assert look() == seen
            tell(theirs, "s", "one")
            assert look() != seen


def _record(storage: Storage, at: float = NOW) -> int:
    return storage.write(lambda tx: tx.audit.record(at=at, actor="me", operation="x", ref="session:s"))
