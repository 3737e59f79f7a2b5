"""Facts: statements never change, and at most one of each kind is live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from contract.storage.openers import DAY, NOW, Contract, Opener
from mnemos.errors import MnemosError
from mnemos.storage.base import Storage
from mnemos.storage.facts import FactRow, Hot, NewFact, Wanted

MARKS = ["C", "D", "V", "?", "✓"]
ODD_TARGETS = ["a.b", "日本.語", "it's", '"', "%", "a:b", "x" * 200, "🎉"]
ODD_CONTENTS = [
    "plain",
    "quotes \" and ' and -- ; DROP TABLE facts",
    "tab\tand separator\u2028 and \u202e",
    "🎉" * 100,
    "",
]


def new_fact(target: str = "srv.prod", content: str = "one", **fields: Any) -> NewFact:
    plain = NewFact(
        mark="V",
        target=target,
        key=target.casefold(),
        content=content,
        scope_id=None,
        recorded_at=NOW,
        valid_from=NOW,
        session_id=None,
        message_id=None,
        actor="tester",
    )
    return replace(plain, **fields)


def add_fact(
    storage: Storage,
    target: str = "srv.prod",
    content: str = "one",
    *,
    ending: Sequence[int] = (),
    ends_as: str = "superseded",
    **fields: Any,
) -> int:
    fact = new_fact(target, content, **fields)
    return storage.write(lambda tx: tx.facts.add(fact, ending=ending, state=ends_as))


def add_gone(storage: Storage, target: str = "srv.prod", at: float = NOW, **more: Any) -> int:
    """A statement that is history from the beginning."""
    return add_fact(storage, target, mark="~", state="retired", recorded_at=at, ended_at=at, **more)


def versions(storage: Storage, count: int, target: str = "srv.prod", **fields: Any) -> list[int]:
    """A number of statements on a target, a second apart, each in place of the one before."""
    ids: list[int] = []
    for n in range(count):
        own = add_fact(storage, target, f"version {n}", ending=ids[-1:], recorded_at=NOW + n, **fields)
        ids.append(own)
    return ids


def open_scope(storage: Storage, label: str, at: float = NOW) -> int:
    return storage.write(lambda tx: tx.facts.open_scope(label, label.casefold(), at)[0].id)


def fact(storage: Storage, fact_id: int) -> FactRow:
    return storage.read(lambda tx: tx.facts.get([fact_id]))[fact_id]


def history_of(storage: Storage, target: str = "srv.prod", **asked: Any) -> list[int]:
    options = {"scope_id": None, "as_of": None, "limit": 1_000, "before": None} | asked
    return [row.id for row in storage.read(lambda tx: tx.facts.history(target, **options))]


def all_listed(storage: Storage, *, limit: int = 1_000, **wanted: Any) -> list[int]:
    """Through all pages."""
    asked, last = Wanted(**wanted), 0
    ids: list[int] = []
    while page := storage.read(lambda tx: tx.facts.select(asked, after=last, through=1 << 60, limit=limit)):  # noqa: B023
        ids += [row.id for row in page]
        last = ids[-1]
    return ids


def hot_facts(storage: Storage, *, constraints: int = 100, count: int = 1_000) -> Hot:
    return storage.read(lambda tx: tx.facts.hot(constraints=constraints, count=count))


def is_hot(storage: Storage, *ids: int) -> list[bool]:
    return [fact(storage, one).hot for one in ids]


def open_conflicts(storage: Storage) -> list[tuple[int, int]]:
    return [(link.older.id, link.newer.id) for link in storage.read(lambda tx: tx.facts.conflicts(100))]


class FactContract(Contract):
    # --- one fact ---------------------------------------------------------------------------

    def test_a_fact_comes_back_as_it_was_added(self, storage: Storage) -> None:
        scope = open_scope(storage, "Auth Refactor")
        own = add_fact(
            storage,
            "Srv.Prod",
            "api.example.com:3005",
            mark="D",
            scope_id=scope,
            recorded_at=NOW + 0.25,
            valid_from=NOW - DAY,
            session_id="s9",
            message_id=77,
            actor="ada",
        )
        assert fact(storage, own) == FactRow(
            id=own,
            mark="D",
            target="Srv.Prod",
            key="srv.prod",
            content="api.example.com:3005",
            scope_id=scope,
            scope="Auth Refactor",
            state="live",
            hot=True,
            recorded_at=NOW + 0.25,
            ended_at=None,
            superseded_by=None,
            valid_from=NOW - DAY,
            valid_to=None,
            used_at=NOW + 0.25,
            uses=0,
            session_id="s9",
            message_id=77,
            actor="ada",
        )

    def test_any_target_and_content_can_be_added(self, storage: Storage) -> None:
        ids = {
            (target, content, mark): add_fact(storage, target, content, mark=mark)
            for target in ODD_TARGETS
            for content, mark in zip(ODD_CONTENTS, MARKS, strict=True)
        }
        assert len(set(ids.values())) == len(ids)
        for (target, content, mark), own in ids.items():
            row = fact(storage, own)
            assert (row.target, row.content, row.mark) == (target, content, mark)
            assert own in {row.id for row in storage.read(lambda tx: tx.facts.live_in(target, None))}  # noqa: B023

    def test_unknown_facts_are_left_out(self, storage: Storage) -> None:
        own = add_fact(storage)
        found = storage.read(lambda tx: tx.facts.get([own, own + 1, 0, -1, 1 << 52]))
        assert list(found) == [own]
        assert storage.read(lambda tx: tx.facts.get([])) == {}
        assert history_of(storage, "elsewhere") == []
        assert storage.read(lambda tx: tx.facts.live_on("elsewhere", 10)) == []

    def test_history_from_the_beginning_is_never_live(self, storage: Storage) -> None:
        own = add_fact(storage, mark="~", state="retired", ended_at=NOW + 3)
        row = fact(storage, own)
        assert (row.state, row.hot, row.recorded_at, row.ended_at) == ("retired", False, NOW, NOW + 3)
        assert storage.read(lambda tx: tx.facts.live_on("srv.prod", 10)) == []
        assert history_of(storage) == [own]
        assert storage.read(lambda tx: tx.facts.rows_in()) == (0, 1)

    # --- one live fact for each key ---------------------------------------------------------

    def test_a_second_live_fact_of_a_kind_is_refused_and_changes_nothing(self, storage: Storage) -> None:
        scope = open_scope(storage, "auth")
        for scope_id in (None, scope):
            own = add_fact(storage, content="first", scope_id=scope_id)

            def both(tx: Any, scope_id: int | None = scope_id) -> None:
                tx.facts.add(new_fact("other", "beside", scope_id=scope_id))
                tx.facts.add(new_fact(content="second", scope_id=scope_id))

            with pytest.raises(MnemosError):
                storage.write(both)
            live = storage.read(lambda tx: tx.facts.live_in("srv.prod", scope_id))  # noqa: B023
            assert [row.id for row in live] == [own]
        assert history_of(storage, "other") == []

    def test_marks_scopes_and_targets_are_keys_of_their_own(self, storage: Storage) -> None:
        scopes = [None, open_scope(storage, "a"), open_scope(storage, "b")]
        for scope in scopes:
            for mark in MARKS:
                add_fact(storage, mark=mark, scope_id=scope)
                add_fact(storage, "srv.test", mark=mark, scope_id=scope)
        for scope in scopes:
            live = storage.read(lambda tx: tx.facts.live_in("srv.prod", scope))  # noqa: B023
            assert sorted(row.mark for row in live) == sorted(MARKS)
            assert {row.scope_id for row in live} == {scope}
        assert len(storage.read(lambda tx: tx.facts.live_on("srv.prod", 100))) == 15

    def test_a_new_fact_ends_the_old_one_in_one_go(self, storage: Storage) -> None:
        old = add_fact(storage, content="old")
        new = add_fact(storage, content="new", ending=[old], recorded_at=NOW + 9, valid_from=NOW + 5)
        row = fact(storage, old)
        assert (row.state, row.hot, row.superseded_by) == ("superseded", False, new)
        assert (row.ended_at, row.valid_to) == (NOW + 9, NOW + 5)
        assert [one.id for one in storage.read(lambda tx: tx.facts.live_on("srv.prod", 9))] == [new]

    def test_a_cold_fact_is_ended_as_a_hot_one_is(self, storage: Storage) -> None:
        old = add_fact(storage)
        storage.write(lambda tx: tx.facts.cool([old]))
        new = add_fact(storage, content="new", ending=[old])
        assert fact(storage, old).superseded_by == new

    def test_what_held_never_ends_before_it_began(self, storage: Storage) -> None:
        old = add_fact(storage, valid_from=NOW + DAY)
        add_fact(storage, content="new", ending=[old], recorded_at=NOW + 1, valid_from=NOW - DAY)
        assert fact(storage, old).valid_to == NOW + DAY

    def test_an_ended_fact_is_not_ended_again(self, storage: Storage) -> None:
        first, second = versions(storage, 2)
        before = fact(storage, first)
        storage.write(lambda tx: tx.facts.end([first], "retired", NOW + 50))
        assert fact(storage, first) == before
        storage.write(lambda tx: tx.facts.end([second], "retired", NOW + 50))
        row = fact(storage, second)
        assert (row.state, row.ended_at, row.superseded_by, row.hot) == ("retired", NOW + 50, None, False)

    def test_several_facts_end_by_one(self, storage: Storage) -> None:
        ids = [add_fact(storage, mark=mark) for mark in MARKS]
        gone = add_gone(storage, at=NOW + 1, ending=ids, ends_as="retired")
        assert {fact(storage, one).state for one in ids} == {"retired"}
        assert {fact(storage, one).superseded_by for one in ids} == {gone}

    def test_an_add_that_was_undone_leaves_nothing(self, storage: Storage) -> None:
        old = add_fact(storage)

        def work(tx: Any) -> None:
            tx.facts.add(new_fact(content="new"), ending=[old])
            raise KeyError("no")

        with pytest.raises(KeyError):
            storage.write(work)
        assert fact(storage, old).state == "live"
        assert history_of(storage) == [old]

    # --- history ----------------------------------------------------------------------------

    def test_history_is_whole_and_newest_first(self, storage: Storage) -> None:
        ids = versions(storage, 30)
        add_fact(storage, "srv.test")
        assert history_of(storage) == ids[::-1]
        assert history_of(storage, limit=4) == ids[:-5:-1]
        assert history_of(storage, before=ids[10]) == ids[9::-1]
        assert storage.read(lambda tx: tx.facts.rows_in()) == (2, 31)

    def test_history_can_be_limited_to_one_scope(self, storage: Storage) -> None:
        scope = open_scope(storage, "auth")
        own = versions(storage, 3, scope_id=scope)
        versions(storage, 3)
        assert history_of(storage, scope_id=scope) == own[::-1]

    def test_history_as_of_a_moment_shows_what_was_believed_then(self, storage: Storage) -> None:
        first, second, third = versions(storage, 3)
        storage.write(lambda tx: tx.facts.end([third], "retired", NOW + 3))
        for moment, wanted in (
            (NOW - 0.5, []),
            (NOW, [first]),
            (NOW + 0.999, [first]),
            (NOW + 1, [second]),
            (NOW + 2.5, [third]),
            (NOW + 3, []),
        ):
            assert history_of(storage, as_of=moment) == wanted, moment
            assert all_listed(storage, as_of=moment) == wanted, moment

    def test_earlier_versions_are_listed_newest_first(self, storage: Storage) -> None:
        ids = versions(storage, 6)
        question = add_fact(storage, mark="?")
        new = add_fact(storage, content="new", ending=[ids[-1], question], recorded_at=NOW + 9)
        row = fact(storage, new)
        assert storage.read(lambda tx: tx.facts.earlier(row, 4)) == ids[:1:-1]
        assert storage.read(lambda tx: tx.facts.earlier(row, 100)) == ids[::-1]
        oldest = fact(storage, ids[0])
        assert storage.read(lambda tx: tx.facts.earlier(oldest, 3)) == []

    def test_a_chain_of_replacements_is_followed_both_ways_across_targets(self, storage: Storage) -> None:
        first, second = versions(storage, 2)
        other = add_fact(storage, mark="D", target="elsewhere", key="elsewhere", ending=[second])
        last = add_fact(storage, target="third", key="third", ending=[other])
        alone = add_fact(storage, target="alone", key="alone")

        def successors(number: int, limit: int = 100) -> list[int]:
            return [row.id for row in storage.read(lambda tx: tx.facts.successors(number, limit))]

        def predecessors(number: int, limit: int = 100) -> list[int]:
            return [row.id for row in storage.read(lambda tx: tx.facts.predecessors(number, limit))]

        assert successors(first) == [second, other, last]
        assert successors(first, 1) == [last]
        assert predecessors(last) == [first, second, other]
        assert predecessors(last, 2) == [second, other]
        assert (successors(last), predecessors(first)) == ([], [])
        assert (successors(alone), predecessors(alone), successors(999)) == ([], [], [])

    # --- lists ------------------------------------------------------------------------------

    def test_lists_choose_by_scope_tier_state_and_mark(self, storage: Storage) -> None:
        scope = open_scope(storage, "auth")
        plain, own = add_fact(storage, "a"), add_fact(storage, "a", scope_id=scope)
        law, cold = add_fact(storage, "a", mark="C"), add_fact(storage, "b")
        storage.write(lambda tx: tx.facts.cool([cold]))
        ended = versions(storage, 2, "c")
        gone = add_gone(storage, "d")
        assert all_listed(storage) == sorted([plain, own, law, cold, ended[1]])
        assert all_listed(storage, hot=True) == sorted([plain, own, law, ended[1]])
        assert all_listed(storage, hot=False) == [cold]
        assert all_listed(storage, scope_id=scope) == all_listed(storage, scope_id=scope, hot=True) == [own]
        assert all_listed(storage, marks=["C"]) == all_listed(storage, marks=["C"], hot=True) == [law]
        assert all_listed(storage, states=("superseded",)) == [ended[0]]
        assert all_listed(storage, states=("retired",)) == [gone]
        assert len(all_listed(storage, states=("live", "superseded", "retired"))) == 7
        assert all_listed(storage, marks=[]) == []

    def test_lists_come_in_pages_by_id(self, storage: Storage) -> None:
        ids = [add_fact(storage, f"t{n}") for n in range(25)]
        for limit in (1, 7, 25, 100):
            for hot in (None, True):
                assert all_listed(storage, limit=limit, hot=hot) == ids

    def test_facts_of_a_session_or_of_messages_are_found_in_any_state(self, open_another: Opener) -> None:
        storage, other = open_another("default"), open_another("other")
        add_fact(other, session_id="s", message_id=1)
        first = add_fact(storage, session_id="s", message_id=1)
        second = add_fact(storage, session_id="s", ending=[first], content="new")
        third = add_fact(storage, target="b", session_id="t", message_id=7)
        add_fact(storage, target="c", session_id="t", message_id=8)
        add_fact(storage, target="d", session_id=None, message_id=None)

        def of_source(session: str, *messages: int) -> list[int]:
            return [row.id for row in storage.read(lambda tx: tx.facts.of_source(session, messages))]

        assert of_source("s") == [first, second]
        assert of_source("s", 7) == [first, second, third]
        assert of_source("", 1) == [first]
        assert of_source("nobody", 99) == []

    def test_ended_facts_are_listed_by_end_oldest_first(self, storage: Storage) -> None:
        scope = open_scope(storage, "auth")
        first, second, third = versions(storage, 3)
        other, _ = versions(storage, 2, scope_id=scope)
        gone = add_gone(storage, "x", NOW + 50)

        def ended(scope_id: int | None, before: float | None, limit: int = 100) -> list[int]:
            found = storage.read(lambda tx: tx.facts.list_ended(scope_id, before, limit))
            count = storage.read(lambda tx: tx.facts.count_ended(scope_id, before))
            assert count >= len(found)
            assert count == len(found) or len(found) == limit
            return found

        assert ended(None, None) == [first, other, second, gone]
        assert ended(None, None, 2) == [first, other]
        assert ended(None, NOW + 2) == [first, other]
        assert ended(scope, None) == [other]
        assert ended(scope, NOW) == []
        assert third not in ended(None, NOW + 1e6)

    # --- hot and cold -----------------------------------------------------------------------

    def test_the_hot_set_has_constraints_apart_and_the_last_used_first(self, storage: Storage) -> None:
        laws = [add_fact(storage, f"c{n}", mark="C", recorded_at=NOW + n) for n in range(8)]
        others = [
            add_fact(storage, f"o{n}", mark=mark, recorded_at=NOW + n)
            for n, mark in enumerate(["D", "V", "?", "✓"])
        ]
        hot = hot_facts(storage)
        assert [row.id for row in hot.constraints] == laws[::-1]
        assert ([row.id for row in hot.others], hot.further_constraints) == (others[::-1], 0)
        storage.write(lambda tx: tx.facts.refer({laws[0]: 1, others[0]: 2}, NOW + 100))
        hot = hot_facts(storage, constraints=3)
        assert [row.id for row in hot.constraints] == [laws[0], laws[7], laws[6]]
        assert hot.further_constraints == 5
        assert hot.others[0].id == others[0]
        assert hot_facts(storage, constraints=3, count=2).further_constraints == 2
        assert hot_facts(storage, constraints=8).further_constraints == 0

    def test_a_fact_may_be_cold_from_the_beginning(self, storage: Storage) -> None:
        own = add_fact(storage, hot=False)
        assert (fact(storage, own).state, is_hot(storage, own)) == ("live", [False])

    def test_facts_go_cold_and_hot_again(self, storage: Storage) -> None:
        one, two = add_fact(storage, "a"), add_fact(storage, "b", mark="C")
        storage.write(lambda tx: tx.facts.cool([one, two]))
        assert is_hot(storage, one, two) == [False, False]
        assert hot_facts(storage) == Hot((), 0, ())
        storage.write(lambda tx: tx.facts.heat(two))
        assert is_hot(storage, one, two) == [False, True]

    def test_an_ended_fact_cannot_be_heated_or_used(self, storage: Storage) -> None:
        old, _ = versions(storage, 2)
        before = fact(storage, old)

        def work(tx: Any) -> None:
            tx.facts.heat(old)
            tx.facts.refer({old: 3, 999_999: 1}, NOW + 50)

        storage.write(work)
        assert fact(storage, old) == before

    def test_references_add_up_and_time_never_goes_back(self, storage: Storage) -> None:
        own = add_fact(storage)
        storage.write(lambda tx: tx.facts.refer({own: 2}, NOW + 10))
        storage.write(lambda tx: tx.facts.refer({own: 3}, NOW + 5))
        row = fact(storage, own)
        assert (row.uses, row.used_at) == (5, NOW + 10)

    # --- contradictions ---------------------------------------------------------------------

    def test_contradictions_are_listed_once_and_newest_first(self, storage: Storage) -> None:
        one, two, three = (add_fact(storage, mark=mark) for mark in "CDV")

        def work(tx: Any) -> None:
            tx.facts.contradict(one, two)
            tx.facts.contradict(two, three)
            tx.facts.contradict(one, two)

        storage.write(work)
        assert open_conflicts(storage) == [(two, three), (one, two)]
        assert len(storage.read(lambda tx: tx.facts.conflicts(1))) == 1

    def test_a_contradiction_is_over_when_either_fact_ends(self, storage: Storage) -> None:
        one, two, three, four = (add_fact(storage, mark=mark) for mark in "CDV?")

        def work(tx: Any) -> None:
            for older, newer in ((one, two), (two, three), (three, four)):
                tx.facts.contradict(older, newer)

        storage.write(work)
        add_fact(storage, content="new", mark="C", ending=[one], recorded_at=NOW + 1)
        assert open_conflicts(storage) == [(three, four), (two, three)]
        storage.write(lambda tx: tx.facts.end([three], "retired", NOW + 2))
        assert open_conflicts(storage) == []

    # --- erasing ----------------------------------------------------------------------------

    def test_erased_facts_are_gone_and_ids_are_not_given_again(self, storage: Storage) -> None:
        ids = versions(storage, 3)
        storage.write(lambda tx: tx.facts.erase(ids))
        assert storage.read(lambda tx: tx.facts.get(ids)) == {}
        assert history_of(storage) == []
        assert storage.read(lambda tx: tx.facts.rows_in()) == (0, 0)
        assert add_fact(storage) > max(ids)

    @pytest.mark.parametrize("erased", [[1], [2, 1], [0], [1, 3], [3], [4]])
    def test_a_chain_closes_over_what_is_erased(self, storage: Storage, erased: list[int]) -> None:
        ids = versions(storage, 5)
        storage.write(lambda tx: tx.facts.erase([ids[n] for n in erased]))
        left = [one for n, one in enumerate(ids) if n not in erased]
        last = None if 4 in erased else left[-1]
        wanted = dict(zip(left, [*left[1:], None], strict=True)) if last else None
        for one in left:
            following = fact(storage, one).superseded_by
            assert following is None or following in left
            assert wanted is None or following == wanted[one]

    def test_an_erased_fact_contradicts_nothing(self, storage: Storage) -> None:
        one, two = add_fact(storage, mark="C"), add_fact(storage, mark="D")
        storage.write(lambda tx: tx.facts.contradict(one, two))
        storage.write(lambda tx: tx.facts.erase([one]))
        assert open_conflicts(storage) == []

    # --- spaces and openers -----------------------------------------------------------------

    def test_spaces_do_not_see_each_others_facts(self, open_another: Opener) -> None:
        ours, theirs = open_another("team-a/alice"), open_another("team-a/bob")
        add_fact(theirs, "before")
        own, other = add_fact(ours, content="ours"), add_fact(theirs, content="theirs")
        law = add_fact(theirs, mark="C")
        theirs.write(lambda tx: tx.facts.contradict(other, law))
        assert own != other
        assert list(ours.read(lambda tx: tx.facts.get([own, other, law]))) == [own]
        assert history_of(ours) == all_listed(ours) == [own]
        assert all_listed(ours, hot=True) == [own]
        assert [row.id for row in hot_facts(ours).others] == [own]
        assert (open_conflicts(ours), hot_facts(ours).constraints) == ([], ())
        assert ours.read(lambda tx: tx.facts.rows_in()) == (1, 1)

    def test_a_space_cannot_change_facts_of_another(self, open_another: Opener) -> None:
        ours, theirs = open_another("team-a/alice"), open_another("team-a/bob")
        chain = versions(theirs, 3)
        law = add_fact(theirs, mark="C")
        theirs.write(lambda tx: tx.facts.contradict(chain[2], law))
        before = theirs.read(lambda tx: tx.facts.get([*chain, law]))
        add_fact(ours)

        def work(tx: Any) -> None:
            tx.facts.refer({law: 5}, NOW + 9)
            tx.facts.cool([law, chain[2]])
            tx.facts.end([law, chain[2]], "retired", NOW + 9)
            tx.facts.add(new_fact("x"), ending=[law])
            tx.facts.erase(chain)

        ours.write(work)
        assert theirs.read(lambda tx: tx.facts.get([*chain, law])) == before
        assert open_conflicts(theirs) == [(chain[2], law)]

    def test_nothing_is_known_in_a_space_that_does_not_exist(self, open_another: Opener) -> None:
        add_fact(open_another())
        reader = open_another("elsewhere", read_only=True)
        assert history_of(reader) == all_listed(reader) == []
        assert open_conflicts(reader) == []
        assert hot_facts(reader) == Hot((), 0, ())
        assert reader.read(lambda tx: tx.facts.rows_in()) == (0, 0)
        assert reader.read(lambda tx: tx.facts.attendance("s")) is None

    def test_other_openers_see_a_fact_at_once(self, open_another: Opener) -> None:
        writer, other = open_another(), open_another()
        reader = open_another(read_only=True)
        assert history_of(other) == history_of(reader) == []
        own = add_fact(writer)
        assert history_of(other) == history_of(reader) == [own]
        new = add_fact(other, content="new", ending=[own])
        assert fact(reader, own).superseded_by == fact(writer, own).superseded_by == new
