"""Removals, and the writes that only a sync makes."""

from __future__ import annotations

from msgspec.structs import replace

from contract.storage.openers import (
    Contract,
    Opener,
    append,
    contents,
    create,
    found,
    session,
    session_row,
    settle,
    tell,
)
from mnemos.storage.base import Storage
from mnemos.storage.facts import NewFact, ScopeRow
from mnemos.storage.tombstones import Tombstone


def stones(storage: Storage, kind: str | None = None) -> set[Tombstone]:
    return set(storage.read(lambda tx: tx.tombstones.of_kind(kind)))


class TombstoneContract(Contract):
    def test_removals_come_back_as_they_were_recorded(self, storage: Storage) -> None:
        one, two = Tombstone("session", "日本", 2.5), Tombstone("fact", "k", 3.0, forgotten=True)
        storage.write(lambda tx: tx.tombstones.put([one, two]))
        assert stones(storage) == {one, two}
        assert stones(storage, "fact") == {two}
        assert storage.read(lambda tx: tx.tombstones.get("session", "日本")) == one
        assert storage.read(lambda tx: tx.tombstones.get("session", "k")) is None

    def test_of_two_removals_of_one_thing_the_later_and_the_final_one_count(self, storage: Storage) -> None:
        for at, forgotten in ((2.0, False), (1.0, True), (3.0, False), (2.5, False)):
            stone = Tombstone("note", "k", at, forgotten)
            storage.write(lambda tx: tx.tombstones.put([stone]))  # noqa: B023
        assert stones(storage) == {Tombstone("note", "k", 3.0, forgotten=True)}

    def test_removals_belong_to_a_space(self, open_storage: Opener) -> None:
        if not self.several_openers:
            return
        here, there = open_storage("here"), open_storage("there")
        here.write(lambda tx: tx.tombstones.put([Tombstone("entry", "k", 1.0)]))
        assert stones(there) == set()

    def test_messages_are_removed_from_rows_index_and_counters(self, storage: Storage) -> None:
        ids = tell(storage, "s", "zebra one", "zebra two", "zebra three")
        settle(storage)
        storage.write(lambda tx: tx.sessions.remove([ids[0], ids[2], ids[2] + 99]))
        assert contents(storage) == ["zebra two"]
        assert session(storage).message_count == 1
        assert found(storage, "zebra") == [ids[1]]
        (new,) = append(storage, "s", "four")
        assert new > ids[2]

    def test_a_session_gets_the_fields_of_another_version(self, storage: Storage) -> None:
        create(storage)
        other = session_row(
            title="Straße", started_at=0.5, ended_at=9.0, end_reason="done", input_tokens=3, archived=True,
            updated_at=7.0,
        )  # fmt: skip
        storage.write(lambda tx: tx.sessions.renew(other))
        assert session(storage) == replace(other, revision=2)
        assert [row.id for row in storage.read(lambda tx: tx.sessions.by_title("STRASSE", 5))] == ["s"]

    def test_how_a_fact_ended_can_be_stored_again(self, storage: Storage) -> None:
        new = NewFact("V", "port", "port", "1", None, 1.0, 1.0, "s", 5, "me")
        older = storage.write(lambda tx: tx.facts.add(new))
        newer = storage.write(lambda tx: tx.facts.add(replace(new, content="2", key="p2"), ending=[]))
        fact = storage.read(lambda tx: tx.facts.get([older]))[older]
        ended = replace(fact, state="superseded", hot=False, ended_at=2.0, valid_to=2.0, superseded_by=newer)
        storage.write(lambda tx: tx.facts.settle(ended))
        assert storage.read(lambda tx: tx.facts.get([older]))[older] == ended
        storage.write(lambda tx: tx.facts.settle(replace(ended, state="retired", ended_at=1.5)))
        storage.write(lambda tx: tx.facts.move_sources({5: 6, 7: 8}))
        found = storage.read(lambda tx: tx.facts.get([older]))[older]
        assert (found.state, found.ended_at, found.message_id) == ("retired", 1.5, 6)

    def test_a_scope_gets_the_times_of_another_version(self, storage: Storage) -> None:
        scope, _ = storage.write(lambda tx: tx.facts.open_scope("Work", "work", 1.0))
        new = NewFact("V", "port", "port", "1", scope.id, 1.0, 1.0, None, None, "me")
        number = storage.write(lambda tx: tx.facts.add(new))
        closed = ScopeRow(scope.id, "Work", "work", 0.5, 3.0, 4.0)
        storage.write(lambda tx: tx.facts.renew_scope(closed))
        assert storage.read(lambda tx: tx.facts.scope("work")) == closed
        assert not storage.read(lambda tx: tx.facts.get([number]))[number].hot
        storage.write(lambda tx: tx.facts.renew_scope(replace(closed, closed_at=None)))
        assert storage.read(lambda tx: tx.facts.open_scopes(5)) == [replace(closed, closed_at=None)]
