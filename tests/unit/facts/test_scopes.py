"""Scopes close and reopen, and sessions do not disturb each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.facts import scopes as rules
from mnemos.facts.facts import Facts
from mnemos.storage.facts import Attendance
from mnemos.testing import FixedClock

HOUR = 3_600.0


def open_ones(facts: Facts) -> set[str]:
    return {scope.label for scope in facts.scopes() if scope.is_open}


def tiers(facts: Facts, **options: Any) -> dict[str, str]:
    return {fact.target: fact.tier for fact in facts.list(**options)}


def turns(facts: Facts, first: int, last: int, **options: Any) -> list[tuple[int, str]]:
    """Tick through these turns; when which scope closed."""
    return [(turn, label) for turn in range(first, last + 1) for label in facts.tick(turn, **options).closed]


# --- opening -----------------------------------------------------------------------------------


def test_a_scope_opens_with_its_first_fact(facts: Facts, clock: FixedClock) -> None:
    assert facts.scopes() == []
    facts.write("D[a]: b", scope="  Auth   Refactor ")
    (scope,) = facts.scopes()
    assert (scope.label, scope.is_open, scope.opened_at) == ("Auth Refactor", True, clock())
    assert (scope.hot, scope.live) == (1, 1)


def test_labels_are_the_same_whatever_their_case_and_blanks(facts: Facts) -> None:
    for label in ("Auth  refactor", "AUTH REFACTOR", "auth refactor"):
        facts.write("D[a]: b", scope=label)
    assert [(scope.label, scope.live) for scope in facts.scopes()] == [("Auth refactor", 1)]


def test_a_write_without_a_scope_goes_to_the_sessions_current_one(facts: Facts) -> None:
    assert facts.write("V[none]: x", session_id="a").facts[0].scope is None
    facts.write("D[x]: y", scope="one", session_id="a")
    facts.write("D[x]: y", scope="two", session_id="b")
    assert facts.write("V[p]: x", session_id="a").facts[0].scope == "one"
    assert facts.write("V[q]: x", session_id="b").facts[0].scope == "two"
    assert facts.write("V[r]: x", session_id="c").facts[0].scope is None
    facts.write("D[x]: y", scope="three", session_id="a")
    assert facts.write("V[s]: x", session_id="a").facts[0].scope == "three"


def test_a_write_after_the_current_scope_closed_goes_to_none(facts: Facts) -> None:
    facts.write("D[x]: y", scope="one")
    facts.write("✓[one]: done")
    assert facts.write("V[p]: x").facts[0].scope is None


def test_a_memory_object_is_one_session(home: Any, clock: FixedClock) -> None:
    with (
        Memory.at(home, clock=clock, embedder="none") as one,
        Memory.at(home, clock=clock, embedder="none") as two,
    ):
        one.facts.write("D[x]: y", scope="auth")
        assert one.facts.write("V[p]: x").facts[0].scope == "auth"
        assert two.facts.write("V[q]: x").facts[0].scope is None


def test_facts_without_a_scope_never_close(facts: Facts) -> None:
    facts.write("D[x]: y\nV[z]: w")
    facts.write("D[o]: p", scope="other")
    turns(facts, 1, 30)
    assert tiers(facts) == {"x": "hot", "z": "hot", "o": "cold"}


# --- a statement that something is done ---------------------------------------------------------


def test_a_mark_of_done_closes_the_named_scope(facts: Facts) -> None:
    facts.write("C[a]: law\nD[b]: choice", scope="auth")
    facts.write("D[c]: d", scope="billing")
    written = facts.write("✓[deploy]: live", scope="auth")
    assert written.closed == ("auth",)
    assert open_ones(facts) == {"billing"}
    assert tiers(facts, scope="auth") == {"a": "cold", "b": "cold", "deploy": "cold"}
    assert tiers(facts, scope="billing") == {"c": "hot"}


def test_a_mark_of_done_on_the_label_closes_that_scope(facts: Facts) -> None:
    facts.write("D[a]: b", scope="Auth")
    facts.write("D[c]: d", scope="billing")
    assert facts.write("✓[auth]: deployed prod").closed == ("Auth",)


def test_a_mark_of_done_on_a_target_closes_the_scope_it_belongs_to(facts: Facts) -> None:
    facts.write("D[jwt]: b", scope="auth")
    facts.write("D[c]: d", scope="billing", session_id="other")
    assert facts.write("✓[jwt]: works", session_id="other").closed == ("auth",)
    assert open_ones(facts) == {"billing"}


def test_a_mark_of_done_on_a_target_of_several_scopes_closes_the_sessions_own(facts: Facts) -> None:
    facts.write("D[jwt]: b", scope="auth")
    facts.write("D[jwt]: b", scope="billing", session_id="other")
    assert facts.write("✓[jwt]: works").closed == ("auth",)


def test_closing_twice_is_reported_once(facts: Facts) -> None:
    facts.write("D[a]: b", scope="auth")
    assert facts.write("✓[auth]: done").closed == ("auth",)
    assert facts.write("✓[auth]: done").closed == ()


@pytest.mark.parametrize("message", ["merged", "It works!", "done!", "LGTM, ship it", "auth is deployed"])
def test_a_message_that_says_it_is_done_closes_the_current_scope(facts: Facts, message: str) -> None:
    facts.write("D[a]: b", scope="auth")
    ticked = facts.tick(1, message)
    assert ticked.closed == ("auth",)
    assert tiers(facts) == {"a": "cold"}


@pytest.mark.parametrize("message", ["not yet deployed", "is it fixed?", "a fixed-width font", "", "go on"])
def test_a_message_that_does_not_say_so_closes_nothing(facts: Facts, message: str) -> None:
    facts.write("D[a]: b", scope="auth")
    assert facts.tick(1, message).closed == ()


def test_a_message_closes_the_scope_it_names_and_no_other(facts: Facts) -> None:
    facts.write("D[a]: b", scope="auth")
    facts.write("D[c]: d", scope="billing")
    ticked = facts.tick(1, "auth is merged. Let us go on with billing.")
    assert (ticked.closed, ticked.reopened) == (("auth",), ())
    assert open_ones(facts) == {"billing"}


def test_saying_again_that_a_closed_scope_is_done_changes_nothing(facts: Facts) -> None:
    facts.write("D[a]: b", scope="auth")
    facts.write("D[c]: d", scope="billing")
    facts.tick(1, "auth is merged")
    ticked = facts.tick(2, "auth is deployed.")
    assert (ticked.closed, ticked.reopened) == ((), ())
    assert open_ones(facts) == {"billing"}


def test_a_message_about_a_target_of_several_scopes_closes_one_at_most(facts: Facts) -> None:
    for label in ("one", "two", "three"):
        facts.write("D[db]: b", scope=label)
    facts.write("D[x]: b", scope="current")
    assert len(facts.tick(1, "the db is deployed").closed) <= 1
    facts.write("D[db]: b", scope="current")
    assert facts.tick(2, "the db is deployed").closed == ("current",)


def test_a_closing_message_without_a_scope_to_close_closes_nothing(facts: Facts) -> None:
    facts.write("D[a]: b")
    facts.write("D[c]: d", scope="theirs", session_id="other")
    assert facts.tick(1, "done!").closed == ()


# --- six turns ---------------------------------------------------------------------------------


def test_a_scope_closes_six_turns_after_the_last_reference(facts: Facts) -> None:
    facts.tick(10)
    facts.write("C[law]: x\nD[a]: b", scope="auth")
    assert turns(facts, 11, 20) == [(16, "auth")]
    assert tiers(facts) == {"law": "cold", "a": "cold"}


def test_six_turns_are_a_difference_of_numbers(facts: Facts) -> None:
    facts.tick(10)
    facts.write("D[a]: b", scope="auth")
    assert facts.tick(15).closed == ()
    assert facts.tick(1000).closed == ("auth",)


def write(facts: Facts) -> None:
    facts.write("D[other.target]: b", scope="auth")


def rewrite(facts: Facts) -> None:
    facts.write("D[jwt.life]: seven days", scope="auth")


def search(facts: Facts) -> None:
    assert [fact.target for fact in facts.search("seven days")] == ["jwt.life"]


@pytest.mark.parametrize("refer", [write, rewrite, search])
def test_a_write_a_rewrite_and_a_search_are_references(facts: Facts, refer: Any) -> None:
    facts.tick(1)
    facts.write("D[jwt.life]: seven days", scope="auth")
    assert turns(facts, 2, 5) == []
    refer(facts)
    assert turns(facts, 6, 10) == []
    assert turns(facts, 11, 12) == [(11, "auth")]


@pytest.mark.parametrize(
    "message", ["what about auth?", "AUTH again", "is jwt.life right?", "and the Jwt.Life, then"]
)
def test_a_message_that_names_the_scope_or_a_target_is_a_reference(facts: Facts, message: str) -> None:
    facts.tick(1)
    facts.write("D[jwt.life]: seven days", scope="auth")
    assert turns(facts, 2, 5) == []
    assert facts.tick(6, message).closed == ()
    assert turns(facts, 7, 13) == [(12, "auth")]


def test_a_message_in_the_last_turn_comes_in_time(facts: Facts) -> None:
    facts.tick(1)
    facts.write("D[a]: b", scope="auth")
    assert facts.tick(7, "back to auth").closed == ()


@pytest.mark.parametrize("message", ["authority", "the author", "unauth", "a"])
def test_a_part_of_a_word_names_nothing(facts: Facts, message: str) -> None:
    facts.tick(1)
    facts.write("D[jwt]: b", scope="auth")
    assert facts.tick(7, message).closed == ("auth",)


LABELS = [
    ("auth-refactor", "the auth-refactor goes on"),
    ("auth refactor", "now the auth-refactor, please"),
    ("auth_refactor", "see auth refactor"),
    ("user auth token refresh", "back to user auth token refresh please"),
    ("C++", "the C++ part again"),
    ("auth (v2)", "about auth (v2), then"),
    ("on call", "who has the on call rota"),
    ("认证重构", "我们继续认证重构吧"),
    ("PROJ-123", "PROJ-123: look again"),
    ("Über", "weiter mit über"),
    ("phase b", "Phase B!"),
    ("#42", "what about #42"),
    ("far end", "word " * 300 + "far end"),
    ("far end", " ".join(f"word{n}" for n in range(600)) + " far end"),
]


@pytest.mark.parametrize(("label", "message"), LABELS)
def test_a_label_is_recognised_in_a_message(facts: Facts, label: str, message: str) -> None:
    facts.write("D[zz.q]: b", scope=label)
    facts.write("✓[zz.q]: done", scope=label)
    assert open_ones(facts) == set()
    assert facts.tick(1, message).reopened == (label,)


def test_a_lower_number_restarts_the_count(facts: Facts) -> None:
    facts.tick(50)
    facts.write("D[a]: b", scope="auth")
    assert turns(facts, 1, 10) == [(7, "auth")]


def test_a_session_that_restarts_its_count_closes_nothing_by_it(facts: Facts) -> None:
    facts.tick(3)
    facts.write("D[a]: b", scope="auth")
    facts.tick(100, "auth")
    for _ in range(20):
        assert facts.tick(2).closed == ()
        assert facts.tick(1).closed == ()


def test_the_same_turn_again_changes_nothing(facts: Facts) -> None:
    facts.tick(1)
    facts.write("D[a]: b", scope="auth")
    for _ in range(10):
        assert facts.tick(2).closed == ()


@pytest.mark.parametrize("turn", [-1, 1.5, "3", None, True, 1 << 53, float("nan")])
def test_a_turn_is_a_whole_number(facts: Facts, turn: Any) -> None:
    with pytest.raises(InvalidInput):
        facts.tick(turn)


@pytest.mark.parametrize("message", [None, 5, b"x", ["x"]])
def test_a_message_is_a_text(facts: Facts, message: Any) -> None:
    with pytest.raises(InvalidInput):
        facts.tick(1, message)


# --- sessions ----------------------------------------------------------------------------------


def test_two_sessions_at_different_turns_do_not_disturb_each_other(facts: Facts, clock: FixedClock) -> None:
    facts.tick(3, session_id="a")
    facts.tick(100, session_id="b")
    facts.write("D[x]: y", scope="one", session_id="a")
    facts.write("D[x]: y", scope="two", session_id="b")
    for step in range(1, 6):
        clock.advance(60)
        assert facts.tick(3 + step, session_id="a").closed == ()
        assert facts.tick(100 + step, session_id="b").closed == ()
    assert facts.tick(9, session_id="a").closed == ("one",)
    assert facts.tick(105, session_id="b").closed == ()
    assert facts.tick(106, session_id="b").closed == ("two",)


def test_turns_of_another_session_do_not_count(facts: Facts) -> None:
    facts.tick(1, session_id="a")
    facts.write("D[x]: y", scope="one", session_id="a")
    assert turns(facts, 2, 60, session_id="b") == []
    assert open_ones(facts) == {"one"}


@pytest.mark.parametrize(("later", "closes"), [(0.0, False), (HOUR - 1, False), (HOUR + 1, True)])
def test_idleness_closes_only_when_no_other_session_touched_it_within_the_hour(
    facts: Facts, clock: FixedClock, later: float, closes: bool
) -> None:
    facts.tick(1, session_id="a")
    facts.write("D[x]: y", scope="shared", session_id="a")
    clock.advance(10)
    facts.write("D[z]: y", scope="shared", session_id="b")
    clock.advance(later)
    assert facts.tick(20, session_id="a").closed == (("shared",) if closes else ())


def test_a_search_of_another_session_is_a_reference_too(facts: Facts, clock: FixedClock) -> None:
    facts.tick(1, session_id="a")
    facts.write("D[x]: seven days", scope="shared", session_id="a")
    facts.search("seven days", session_id="only searches")
    assert facts.tick(20, session_id="a").closed == ()
    clock.advance(HOUR + 1)
    assert facts.tick(21, session_id="a").closed == ("shared",)


def test_moving_on_does_not_close_what_another_session_works_on(facts: Facts) -> None:
    facts.write("D[b]: seven days", scope="billing", session_id="b")
    facts.search("seven days", session_id="a")
    for turn in (1, 2, 3):
        facts.tick(turn, session_id="a")
        facts.write(f"D[a{turn}]: y", scope="auth", session_id="a")
    assert facts.tick(4, session_id="a").closed == ()
    assert facts.write("D[c]: z", session_id="b").facts[0].scope == "billing"


# --- three turns elsewhere ---------------------------------------------------------------------


def test_three_turns_that_write_only_elsewhere_close_a_scope(facts: Facts) -> None:
    facts.tick(1)
    facts.write("D[a]: b", scope="auth")
    for turn in (2, 3, 4):
        assert facts.tick(turn).closed == ()
        facts.write(f"D[x{turn}]: y", scope="billing")
    assert facts.tick(5).closed == ("auth",)
    assert open_ones(facts) == {"billing"}


@pytest.mark.parametrize(
    "between",
    [
        [],
        [("V[p]: q", "auth")],
        [("V[p]: q", "third")],
        [("V[p]: q", "billing"), ("V[p]: q", "auth")],
    ],
)
def test_three_turns_that_are_not_consecutive_close_nothing(
    facts: Facts, between: list[tuple[str, str]]
) -> None:
    """In the third of four turns nothing is written, or not only to the other scope."""
    facts.tick(1)
    facts.write("D[a]: b", scope="auth")
    for turn in (2, 3, 4, 5):
        facts.tick(turn)
        if turn == 4:
            for content, scope in between:
                facts.write(content, scope=scope)
        else:
            facts.write(f"D[x{turn}]: y", scope="billing")
    assert facts.tick(6).closed == ()


def test_three_turns_without_a_scope_do_not_move_to_another(facts: Facts) -> None:
    facts.tick(1)
    facts.write("D[a]: b", scope="auth")
    rows = [Attendance(1, 5, frozenset({rules.NO_SCOPE}))]
    for turn in (2, 3, 4, 5):
        rows.append(rules.enter_turn(rules.note_write(rows[-1], None), turn))
    assert not any(rules.has_shifted(row) for row in rows)


def test_a_message_that_names_it_keeps_a_scope_open_when_work_moved_on(facts: Facts) -> None:
    facts.tick(1)
    facts.write("D[a]: b", scope="auth")
    for turn in (2, 3, 4):
        facts.tick(turn)
        facts.write(f"D[x{turn}]: y", scope="billing")
    assert facts.tick(5, "and auth?").closed == ()


# --- opening again -----------------------------------------------------------------------------


def closed_scope(facts: Facts) -> None:
    facts.write("C[law]: x\nD[a]: b\nV[c]: d\n?[q]: e", scope="Auth")
    facts.write("✓[auth]: done")
    assert set(tiers(facts, scope="auth").values()) == {"cold"}


def test_writing_into_a_closed_scope_opens_it_and_warms_its_facts(facts: Facts, clock: FixedClock) -> None:
    closed_scope(facts)
    clock.advance(5)
    written = facts.write("V[new]: x", scope="AUTH")
    assert (written.reopened, written.closed) == (("Auth",), ())
    hot = {target for target, tier in tiers(facts, scope="auth").items() if tier == "hot"}
    assert hot >= {"law", "a", "c", "q", "new"}
    (scope,) = facts.scopes()
    assert (scope.label, scope.is_open, scope.closed_at, scope.opened_at) == ("Auth", True, None, clock())


def test_naming_a_closed_scope_opens_it_again(facts: Facts) -> None:
    closed_scope(facts)
    ticked = facts.tick(1, "one more thing about auth")
    assert (ticked.reopened, ticked.closed) == (("Auth",), ())
    assert tiers(facts, scope="auth")["law"] == "hot"


def test_a_closing_is_undone_by_naming_the_scope_again(facts: Facts) -> None:
    facts.write("D[a]: b", scope="auth")
    assert facts.tick(1, "merged").closed == ("auth",)
    assert facts.tick(2, "no wait, auth is not finished").reopened == ("auth",)
    assert turns(facts, 3, 12) == [(8, "auth")]


def test_a_target_alone_does_not_open_a_closed_scope(facts: Facts) -> None:
    facts.write("D[jwt]: b", scope="auth")
    facts.write("✓[auth]: done")
    assert facts.tick(1, "what is jwt?").reopened == ()


def test_constraints_are_warmed_before_others(facts: Facts) -> None:
    long = "a rule of this unit of work that takes some room"
    for n in range(6):
        facts.write(f"C[law{n}]: {long} {n}\nV[v{n}]: {long} {n}\nD[d{n}]: {long} {n}", scope="auth")
    facts.write("✓[auth]: done")
    facts.write("D[new]: x", scope="auth")
    hot = list(facts.list(tier="hot"))
    assert {fact.target for fact in hot if fact.type == "C"} == {f"law{n}" for n in range(6)}
    assert facts.status().tokens <= 180


def test_opening_a_huge_scope_again_keeps_the_budget(facts: Facts) -> None:
    for start in range(0, 400, 200):
        content = "\n".join(f"V[v{n}]: value number {n}" for n in range(start, start + 200))
        facts.write(content, scope="big")
    facts.write("✓[big]: done")
    written = facts.write("V[one]: more", scope="big")
    assert written.gauge.percent <= 100
    assert facts.status().tokens <= 180
    assert facts.count() == 402


# --- rules without storage ---------------------------------------------------------------------

TURNS = st.lists(st.tuples(st.integers(0, 12), st.sets(st.sampled_from([0, 1, 2]))), max_size=30)


@given(TURNS)
def test_a_streak_is_never_longer_than_the_turns_that_wrote_there_alone(
    steps: list[tuple[int, set[int]]],
) -> None:
    attendance = Attendance()
    history: list[set[int]] = [set()]
    for turn, written in steps:
        if turn < attendance.turn:
            history = []
        if turn != attendance.turn:
            history.append(set())
        attendance = rules.enter_turn(attendance, turn)
        assert attendance.turn == turn
        if attendance.streak:
            ended = history[-1 - attendance.streak : -1]
            assert ended == [{attendance.streak_scope}] * attendance.streak
        for scope in written:
            attendance = rules.note_write(attendance, scope or None)
            history[-1].add(scope)
        assert attendance.wrote == history[-1]


@given(st.text(max_size=300))
def test_names_in_any_text_are_keys(text: str) -> None:
    names = rules.list_names(text)
    assert len(names) == len(set(names))
    heard = rules.LabelFinder(text)
    for name in names[:20]:
        assert name.strip()
        assert isinstance(heard.has(name), bool)


def test_names_in_a_huge_text_are_few() -> None:
    assert len(rules.list_names("a1 b2 c3 " * 100_000 + "x" * 1_000_000)) <= 2_000
