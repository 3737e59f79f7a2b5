"""Facts and entries restored from elsewhere keep their times and, if free, their ids."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from contract.storage.entries import put, settle_entries
from contract.storage.facts import add_fact, fact, history_of, open_scope
from contract.storage.openers import DAY, NOW, Contract, Opener
from mnemos.errors import MnemosError
from mnemos.storage.base import Storage
from mnemos.storage.entries import EntryRow
from mnemos.storage.facts import FactRow, ScopeRow


def fact_row(fact_id: int = 1, content: str = "one", **fields: Any) -> FactRow:
    plain = FactRow(
        id=fact_id,
        mark="V",
        target="Srv.Prod",
        key="srv.prod",
        content=content,
        scope_id=None,
        scope=None,
        state="superseded",
        hot=False,
        recorded_at=NOW,
        ended_at=NOW + 5,
        superseded_by=None,
        valid_from=NOW - DAY,
        valid_to=NOW + 4,
        used_at=NOW + 3,
        uses=7,
        session_id="s1",
        message_id=12,
        actor="ada",
    )
    return replace(plain, **fields)


def live_row(fact_id: int = 1, content: str = "one", **fields: Any) -> FactRow:
    alive: dict[str, Any] = {"state": "live", "ended_at": None, "valid_to": None}
    return fact_row(fact_id, content, **(alive | fields))


def restored(storage: Storage, row: FactRow) -> int:
    return storage.write(lambda tx: tx.facts.restore(row))


def entry_row(key: str = "city", value: str = "Rome", **fields: Any) -> EntryRow:
    plain = EntryRow(0, "alice", key, value, '{"a": 1}', NOW - DAY, NOW - 1, 0)
    return replace(plain, **fields)


def entries_in(storage: Storage, limit: int = 100) -> list[EntryRow]:
    """Through all pages."""
    found: list[EntryRow] = []
    last = 0
    while page := storage.read(lambda tx: tx.entries.page(after=last, limit=limit)):  # noqa: B023
        found += page
        last = found[-1].id
    return found


class RestoreContract(Contract):
    # --- facts ------------------------------------------------------------------------------

    def test_a_fact_is_restored_as_it_was(self, storage: Storage) -> None:
        row = fact_row(41, superseded_by=50)
        assert restored(storage, row) == 41
        assert fact(storage, 41) == row

    def test_a_restored_fact_is_believed_when_it_was(self, storage: Storage) -> None:
        restored(storage, fact_row(3))
        restored(storage, live_row(8, "two", recorded_at=NOW + 5))
        assert history_of(storage, as_of=NOW + 2) == [3]
        assert history_of(storage, as_of=NOW + 6) == [8]

    def test_a_fact_whose_id_is_taken_gets_another(self, storage: Storage) -> None:
        own = add_fact(storage, "elsewhere")
        other = restored(storage, fact_row(own))
        assert other != own
        assert fact(storage, own).target == "elsewhere"
        assert fact(storage, other) == fact_row(other)

    def test_an_id_that_another_space_gave_is_taken(self, open_another: Opener) -> None:
        if self.counts_by_space:
            pytest.skip("ids of another space mean nothing here")
        own = add_fact(open_another("elsewhere"))
        here = open_another()
        assert restored(here, fact_row(own)) != own

    def test_ids_go_on_above_a_restored_one_however_high_it_is(self, storage: Storage) -> None:
        restored(storage, fact_row(1_000))
        assert add_fact(storage) > 1_000
        highest = restored(storage, fact_row(1 << 53, "far"))
        assert highest < 1 << 41
        assert add_fact(storage, "other") < 1 << 41

    def test_a_second_live_fact_of_a_kind_is_not_restored(self, storage: Storage) -> None:
        add_fact(storage, "srv.prod")
        with pytest.raises(MnemosError):
            restored(storage, live_row(99))
        assert storage.read(lambda tx: tx.facts.rows_in()) == (1, 1)

    def test_a_fact_is_restored_hot_only_where_its_scope_is_open(self, storage: Storage) -> None:
        open_one, closed = open_scope(storage, "open"), open_scope(storage, "closed")
        storage.write(lambda tx: tx.facts.close_scope(closed, NOW))
        for number, scope in enumerate((None, open_one, closed), start=1):
            restored(storage, live_row(number, hot=True, scope_id=scope))
        restored(storage, live_row(4, hot=False, mark="D"))
        assert [fact(storage, number).hot for number in (1, 2, 3, 4)] == [True, True, False, False]

    @pytest.mark.parametrize(
        "other",
        [{"content": "two"}, {"recorded_at": NOW + 1}, {"mark": "D"}, {"actor": "bo"}, {"key": "else"}],
        ids=lambda other: next(iter(other)),
    )
    def test_a_fact_is_identical_only_in_all_that_was_said(
        self, storage: Storage, other: dict[str, Any]
    ) -> None:
        row = fact_row(5)
        restored(storage, row)
        restored(storage, replace(row, id=6, state="retired", session_id=None, uses=0))
        same = storage.read(lambda tx: tx.facts.identical(replace(row, id=77, state="live")))
        assert same == [5, 6]
        assert storage.read(lambda tx: tx.facts.identical(replace(row, **other))) == []

    def test_what_another_scope_or_space_says_is_not_identical(self, open_another: Opener) -> None:
        storage = open_another()
        scope = open_scope(storage, "auth")
        restored(storage, fact_row(5, scope_id=scope))
        assert storage.read(lambda tx: tx.facts.identical(fact_row(5))) == []
        assert storage.read(lambda tx: tx.facts.identical(fact_row(5, scope_id=scope))) == [5]
        there = open_another("elsewhere")
        assert there.read(lambda tx: tx.facts.identical(fact_row(5, scope_id=scope))) == []

    def test_what_replaced_a_fact_is_noted_once_and_never_of_a_live_one(self, storage: Storage) -> None:
        restored(storage, fact_row(1))
        restored(storage, fact_row(2, "two", superseded_by=9))
        restored(storage, live_row(3, "three"))
        storage.write(lambda tx: tx.facts.supersede({1: 3, 2: 3, 3: 1, 77: 3}))
        assert [fact(storage, number).superseded_by for number in (1, 2, 3)] == [3, 9, None]
        storage.write(lambda tx: tx.facts.supersede({1: 2}))
        assert fact(storage, 1).superseded_by == 3

    @pytest.mark.parametrize("closed_at", [None, NOW + 9])
    def test_a_scope_is_restored_open_or_closed(self, storage: Storage, closed_at: float | None) -> None:
        row = ScopeRow(77, "Auth Refactor", "auth refactor", NOW, NOW + 8, closed_at)
        made = storage.write(lambda tx: tx.facts.restore_scope(row))
        assert replace(made, id=77) == row
        assert storage.read(lambda tx: tx.facts.scope("auth refactor")) == made

    def test_a_scope_that_is_there_stays_as_it_is(self, storage: Storage) -> None:
        own = open_scope(storage, "auth")
        row = ScopeRow(0, "AUTH", "auth", NOW - 9, NOW + 9, NOW + 9)
        made = storage.write(lambda tx: tx.facts.restore_scope(row))
        assert made == ScopeRow(own, "auth", "auth", NOW, NOW, None)

    # --- entries ----------------------------------------------------------------------------

    def test_an_entry_is_restored_with_its_times(self, storage: Storage) -> None:
        made = storage.write(lambda tx: tx.entries.restore(entry_row()))
        assert replace(made, id=0, version=0) == entry_row()
        assert storage.read(lambda tx: tx.entries.get("alice", "city")) == made

    def test_a_restored_entry_takes_the_place_of_the_one_before(self, storage: Storage) -> None:
        before = put(storage, "city", "Lisbon")
        made = storage.write(lambda tx: tx.entries.restore(entry_row()))
        assert (made.id, made.value, made.created_at) == (before.id, "Rome", NOW - DAY)
        assert made.version > before.version

    def test_a_restored_entry_is_found_once_it_is_settled(self, storage: Storage) -> None:
        storage.write(lambda tx: tx.entries.restore(entry_row()))
        settle_entries(storage)
        assert storage.read(lambda tx: tx.entries.counts("alice", ["Rome"])) == {"Rome": 1}

    def test_all_entries_of_all_users_are_paged_in_the_order_they_were_made(self, storage: Storage) -> None:
        made = [put(storage, f"k{n}", user=user) for n in range(5) for user in ("alice", "bo", "çelik")]
        for limit in (1, 4, 15, 100):
            assert entries_in(storage, limit) == made

    def test_entries_of_another_space_are_on_no_page(self, open_another: Opener) -> None:
        put(open_another("elsewhere"), "city")
        assert entries_in(open_another()) == []
