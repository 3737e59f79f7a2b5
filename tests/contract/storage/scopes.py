"""Scopes: they open and close with their facts, and every session counts its own turns."""

from __future__ import annotations

from typing import Any

from contract.storage.facts import add_fact, fact, hot_facts, is_hot, open_scope
from contract.storage.openers import DAY, NOW, Contract, Opener
from mnemos.storage.base import Storage
from mnemos.storage.facts import Attendance, ScopeRow

HOUR = 3_600.0


def scope_row(storage: Storage, key: str) -> ScopeRow:
    row = storage.read(lambda tx: tx.facts.scope(key))
    assert row is not None, f"scope {key!r} is not there"
    return row


def close_scope(storage: Storage, scope_id: int, at: float = NOW) -> None:
    storage.write(lambda tx: tx.facts.close_scope(scope_id, at))


def touch(storage: Storage, session_id: str, *scope_ids: int, turn: int, at: float = NOW) -> None:
    """The session is at that turn and refers to these scopes."""

    def work(tx: Any) -> None:
        tx.facts.attend(session_id, Attendance(turn, scope_ids[0] if scope_ids else None), at)
        tx.facts.touch(session_id, scope_ids, turn, at)

    storage.write(work)


def idle_scopes(storage: Storage, session_id: str, turn: int, since: float = NOW - HOUR) -> list[str]:
    found = storage.read(lambda tx: tx.facts.idle(session_id, turn=turn, since=since))
    return [scope.label for scope in found]


def attendance_of(storage: Storage, session_id: str) -> Attendance | None:
    return storage.read(lambda tx: tx.facts.attendance(session_id))


class ScopeContract(Contract):
    # --- opening and closing ----------------------------------------------------------------

    def test_opening_an_unknown_scope_creates_it(self, storage: Storage) -> None:
        assert storage.read(lambda tx: tx.facts.scope("auth")) is None
        row, was_closed = storage.write(lambda tx: tx.facts.open_scope("Auth", "auth", NOW))
        assert row == ScopeRow(row.id, "Auth", "auth", NOW, NOW, None)
        assert was_closed is False
        assert scope_row(storage, "auth") == row
        assert storage.read(lambda tx: tx.facts.scopes([row.id, row.id + 1, 0])) == {row.id: row}

    def test_opening_an_open_scope_changes_nothing(self, storage: Storage) -> None:
        own = open_scope(storage, "Auth")
        again, was_closed = storage.write(lambda tx: tx.facts.open_scope("AUTH", "auth", NOW + 9))
        assert (again.id, again.label, again.opened_at, was_closed) == (own, "Auth", NOW, False)

    def test_closing_cools_its_facts_and_no_others(self, storage: Storage) -> None:
        one, two = open_scope(storage, "one"), open_scope(storage, "two")
        ids = [add_fact(storage, "t", mark=mark, scope_id=one) for mark in "CDV?"]
        kept = [add_fact(storage, "t", scope_id=two), add_fact(storage, "t")]
        close_scope(storage, one, NOW + 5)
        assert is_hot(storage, *ids, *kept) == [False] * 4 + [True] * 2
        assert {fact(storage, own).state for own in ids} == {"live"}
        assert scope_row(storage, "one").closed_at == NOW + 5

    def test_a_fact_of_a_closed_scope_is_cold_from_the_beginning(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        close_scope(storage, scope)
        assert is_hot(storage, add_fact(storage, scope_id=scope), add_fact(storage)) == [False, True]

    def test_a_closed_scope_is_opened_again_under_its_own_label(self, storage: Storage) -> None:
        own = open_scope(storage, "Auth")
        close_scope(storage, own, NOW + 1)
        row, was_closed = storage.write(lambda tx: tx.facts.open_scope("auth", "auth", NOW + 9))
        assert (row.id, row.label, row.closed_at, was_closed) == (own, "Auth", None, True)
        assert (row.opened_at, row.touched_at) == (NOW + 9, NOW + 9)

    def test_warming_takes_constraints_and_the_last_used_of_the_others(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        laws = [add_fact(storage, f"c{n}", mark="C", scope_id=scope, recorded_at=NOW + n) for n in range(4)]
        others = [
            add_fact(storage, f"o{n}", mark=mark, scope_id=scope, recorded_at=NOW + n)
            for n, mark in enumerate("DV?DV")
        ]
        stranger = add_fact(storage, "x")
        storage.write(lambda tx: tx.facts.cool([*laws, *others, stranger]))
        assert storage.write(lambda tx: tx.facts.warm(scope, constraints=3, others=2)) == 5
        assert is_hot(storage, *laws) == [False, True, True, True]
        assert is_hot(storage, *others, stranger) == [False, False, False, True, True, False]

    # --- lists ------------------------------------------------------------------------------

    def test_open_scopes_are_listed_most_recently_touched_first(self, storage: Storage) -> None:
        ids = [open_scope(storage, f"s{n}", NOW + n) for n in range(5)]
        touch(storage, "session", ids[1], turn=1, at=NOW + 50)
        close_scope(storage, ids[3], NOW + 90)

        def labels(limit: int) -> list[str]:
            return [scope.label for scope in storage.read(lambda tx: tx.facts.open_scopes(limit))]

        assert labels(10) == ["s1", "s4", "s2", "s0"]
        assert labels(2) == ["s1", "s4"]
        newest = storage.read(lambda tx: tx.facts.newest_scopes(4))
        assert [scope.label for scope in newest] == ["s1", "s4", "s3", "s2"]

    def test_scopes_are_counted_with_their_facts(self, storage: Storage) -> None:
        one, two = open_scope(storage, "one", NOW), open_scope(storage, "two", NOW + 1)
        three = open_scope(storage, "three", NOW + 2)
        cold = add_fact(storage, "a", scope_id=one)
        old = add_fact(storage, "b", scope_id=one)
        add_fact(storage, "b", "new", scope_id=one, ending=[old])
        add_fact(storage, "b", scope_id=three)
        storage.write(lambda tx: tx.facts.cool([cold]))
        close_scope(storage, three)
        found = storage.read(lambda tx: tx.facts.all_scopes(limit=10, offset=0))
        assert [(one.scope.id, one.hot, one.live) for one in found] == [
            (two, 0, 0),
            (one, 1, 2),
            (three, 0, 1),
        ]
        page = storage.read(lambda tx: tx.facts.all_scopes(limit=1, offset=1))
        assert [one.scope.id for one in page] == [one]

    def test_scopes_are_found_by_name_open_or_closed(self, storage: Storage) -> None:
        one, two = open_scope(storage, "one"), open_scope(storage, "zwei 二")
        close_scope(storage, two)

        def named(*keys: str) -> list[int]:
            return sorted(scope.id for scope in storage.read(lambda tx: tx.facts.scopes_named(keys)))

        assert named("one", "zwei 二", "three", "") == [one, two]
        assert named() == named("on", "one ", "%", "'") == []

    def test_open_scopes_are_found_by_the_targets_of_live_facts(self, storage: Storage) -> None:
        one, two, three = (open_scope(storage, label) for label in ("one", "two", "three"))
        add_fact(storage, "srv.prod", scope_id=one)
        add_fact(storage, "srv.prod", mark="D", scope_id=one)
        gone = add_fact(storage, "srv.prod", scope_id=two)
        add_fact(storage, "srv.prod", scope_id=three)
        add_fact(storage, "nowhere")
        storage.write(lambda tx: tx.facts.end([gone], "retired", NOW))
        close_scope(storage, three)

        def of(*keys: str) -> list[int]:
            return [scope.id for scope in storage.read(lambda tx: tx.facts.scopes_of_targets(keys))]

        assert of("srv.prod", "nowhere", "else") == [one]
        assert of("nowhere") == of("srv") == of() == []

    # --- sessions and turns -----------------------------------------------------------------

    def test_the_attendance_of_a_session_is_kept(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        assert attendance_of(storage, "s") is None
        for attendance in (
            Attendance(),
            Attendance(7, scope, frozenset({0, scope}), 2, scope),
            Attendance(3, None),
        ):
            storage.write(lambda tx: tx.facts.attend("s", attendance, NOW))  # noqa: B023
            assert attendance_of(storage, "s") == attendance
        assert attendance_of(storage, "S") is None

    def test_no_session_writes_to_a_closed_scope(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        touch(storage, "s", scope, turn=1)
        close_scope(storage, scope)
        attendance = attendance_of(storage, "s")
        assert attendance is not None
        assert attendance.scope_id is None
        open_scope(storage, "one", NOW + 5)
        assert idle_scopes(storage, "s", turn=100) == []

    def test_a_scope_is_idle_by_the_turns_of_its_session(self, storage: Storage) -> None:
        one, two = open_scope(storage, "one"), open_scope(storage, "two")
        touch(storage, "s", one, turn=3)
        touch(storage, "s", two, turn=5)
        assert idle_scopes(storage, "s", turn=2) == []
        assert idle_scopes(storage, "s", turn=3) == ["one"]
        assert idle_scopes(storage, "s", turn=5) == ["one", "two"]
        touch(storage, "s", one, turn=9)
        assert idle_scopes(storage, "s", turn=5) == ["two"]
        close_scope(storage, two)
        assert idle_scopes(storage, "s", turn=5) == idle_scopes(storage, "other", turn=99) == []

    def test_a_scope_that_another_session_touched_lately_is_not_idle(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        touch(storage, "s", scope, turn=3, at=NOW)
        touch(storage, "other", scope, turn=900, at=NOW + 10)
        assert idle_scopes(storage, "s", turn=3, since=NOW) == []
        assert idle_scopes(storage, "s", turn=3, since=NOW + 9.5) == []
        assert idle_scopes(storage, "s", turn=3, since=NOW + 10) == ["one"]
        assert idle_scopes(storage, "other", turn=900, since=NOW + 10) == ["one"]

    def test_restarting_turns_counts_every_scope_as_used_now(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        touch(storage, "s", scope, turn=300)
        touch(storage, "other", scope, turn=300, at=NOW - DAY)
        storage.write(lambda tx: tx.facts.restart("s", 1))
        storage.write(lambda tx: tx.facts.restart("unknown", 1))
        assert idle_scopes(storage, "s", turn=0) == []
        assert idle_scopes(storage, "s", turn=1) == ["one"]
        assert idle_scopes(storage, "other", turn=299, since=NOW) == []

    def test_touching_never_moves_a_scope_back_in_time(self, storage: Storage) -> None:
        scope = open_scope(storage, "one", NOW)
        touch(storage, "s", scope, turn=1, at=NOW - DAY)
        assert scope_row(storage, "one").touched_at == NOW
        touch(storage, "s", scope, turn=2, at=NOW + DAY)
        assert scope_row(storage, "one").touched_at == NOW + DAY

    def test_sessions_not_seen_for_a_month_are_dropped(self, storage: Storage) -> None:
        scope = open_scope(storage, "one")
        touch(storage, "old", scope, turn=5, at=NOW)
        touch(storage, "recent", scope, turn=5, at=NOW + 20 * DAY)
        touch(storage, "new", scope, turn=5, at=NOW + 40 * DAY)
        assert attendance_of(storage, "old") is None
        assert attendance_of(storage, "recent") is not None
        assert idle_scopes(storage, "old", turn=100) == []

    # --- spaces -----------------------------------------------------------------------------

    def test_spaces_have_scopes_and_sessions_of_the_same_name_apart(self, open_another: Opener) -> None:
        ours, theirs = open_another("team-a/alice"), open_another("team-a/bob")
        open_scope(theirs, "before")
        own, other = open_scope(ours, "one"), open_scope(theirs, "one")
        assert own != other
        touch(ours, "s", own, turn=3)
        touch(theirs, "s", other, turn=90)
        attendance = attendance_of(ours, "s")
        assert attendance is not None
        assert (attendance.turn, attendance.scope_id) == (3, own)
        assert idle_scopes(ours, "s", turn=3) == ["one"]
        add_fact(theirs, "srv", scope_id=other)
        assert ours.read(lambda tx: tx.facts.scopes_of_targets(["srv"])) == []
        assert list(ours.read(lambda tx: tx.facts.scopes([own, other]))) == [own]
        assert [scope.id for scope in ours.read(lambda tx: tx.facts.open_scopes(9))] == [own]
        assert [scope.id for scope in ours.read(lambda tx: tx.facts.newest_scopes(9))] == [own]
        assert len(ours.read(lambda tx: tx.facts.all_scopes(limit=9, offset=0))) == 1

    def test_a_space_cannot_close_or_warm_a_scope_of_another(self, open_another: Opener) -> None:
        ours, theirs = open_another("team-a/alice"), open_another("team-a/bob")
        other = open_scope(theirs, "one")
        kept, cold = add_fact(theirs, "a", scope_id=other), add_fact(theirs, "b", scope_id=other)
        theirs.write(lambda tx: tx.facts.cool([cold]))
        open_scope(ours, "mine")
        close_scope(ours, other)
        ours.write(lambda tx: tx.facts.warm(other, constraints=9, others=9))
        assert scope_row(theirs, "one").closed_at is None
        assert is_hot(theirs, kept, cold) == [True, False]
        assert [row.id for row in hot_facts(theirs).others] == [kept]
