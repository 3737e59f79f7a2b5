"""Pressure: which facts leave the hot set, in which order, and which never do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import NOW, fact_row, hot_set

from mnemos import Memory
from mnemos.errors import InvalidInput
from mnemos.facts.facts import Facts
from mnemos.facts.hot_set import FULL, IDLE, relieve, render_hot, render_lines
from mnemos.storage.facts import FactRow, Hot
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens

BUDGET = 150
LINE = "a value that takes about so many tokens"


def share(hot: Hot) -> float:
    return 100 * render_lines([*hot.constraints, *hot.others], BUDGET).tokens / BUDGET


def filled(percent: int, *more: FactRow, mark: str = "V") -> Hot:
    """A hot set that takes at least so much of the budget: these rows, and others of one mark."""
    rows = list(more)
    while share(hot_set(*rows)) < percent:
        rows.append(fact_row(mark, f"fill{len(rows)}", LINE, used_at=NOW + len(rows)))
    return hot_set(*rows)


def left(hot: Hot, idle: tuple[int, ...] = ()) -> list[str]:
    return [f"{row.mark}[{row.target}]" for row in relieve(hot, BUDGET, lambda: idle).leaving]


# --- levels ------------------------------------------------------------------------------------


def test_below_seventy_percent_nothing_leaves() -> None:
    done, idle = fact_row("✓", "done", "deployed"), fact_row("D", "idle", scope_id=7)
    hot = filled(55, done, idle)
    assert share(hot) < 70
    assert left(hot, idle=(7,)) == []


def test_from_seventy_percent_on_what_is_done_leaves() -> None:
    done, idle = fact_row("✓", "done", "deployed"), fact_row("D", "idle", scope_id=7)
    hot = filled(70, done, idle)
    assert share(hot) < IDLE
    assert left(hot, idle=(7,)) == ["✓[done]"]


def test_from_eighty_five_percent_on_facts_of_idle_scopes_leave() -> None:
    rows = [fact_row("D", f"idle{n}", scope_id=7) for n in range(2)]
    hot = filled(IDLE, *rows, fact_row("C", "law", scope_id=7), fact_row("D", "busy", scope_id=8))
    assert share(hot) < FULL
    assert left(hot) == []
    assert sorted(left(hot, idle=(7,))) == ["D[idle0]", "D[idle1]"]


def test_from_ninety_five_percent_on_the_least_useful_leave_until_there_is_room() -> None:
    hot = filled(140)
    settled = relieve(hot, BUDGET)
    assert 0 < len(settled.leaving) < len(hot.others)
    assert settled.lines.tokens * 100 <= 85 * BUDGET
    assert settled.lines.left_out == 0


def test_values_and_what_is_done_leave_before_questions_before_decisions() -> None:
    rows = [
        fact_row(mark, f"{mark}{n}", LINE, used_at=NOW - n) for mark in ("D", "?", "V", "✓") for n in range(5)
    ]
    settled = relieve(hot_set(*rows), BUDGET)
    order = [row.mark for row in settled.leaving]
    assert order == sorted(order, key="✓V?D".index)
    assert (order.count("✓"), order.count("V"), order.count("D")) == (5, 5, 0)


def test_the_longest_unused_leave_first_and_of_those_the_least_used() -> None:
    rows = [fact_row("V", f"old{n}", LINE, used_at=NOW - 100, uses=n) for n in range(6)]
    rows += [fact_row("V", f"new{n}", LINE, used_at=NOW) for n in range(8)]
    leaving = [row.target for row in relieve(hot_set(*rows), BUDGET).leaving]
    assert 3 <= len(leaving) <= 6
    assert leaving == [f"old{n}" for n in range(len(leaving))]


def test_what_is_critical_stays_longer() -> None:
    rows = [fact_row("V", f"v{n}", LINE, used_at=NOW + n) for n in range(14)]
    rows.append(fact_row("V", "crit", f"! {LINE}", used_at=NOW - 9_999))
    leaving = [row.target for row in relieve(hot_set(*rows), BUDGET).leaving]
    assert leaving
    assert "crit" not in leaving


def test_constraints_never_leave_and_the_rest_of_them_is_counted() -> None:
    rows = [fact_row("C", f"c{n}", LINE, used_at=NOW + n) for n in range(40)]
    rows += [fact_row(mark, f"{mark}{n}", LINE) for mark in "DV?" for n in range(3)]
    settled = relieve(hot_set(*rows), BUDGET)
    assert len(settled.leaving) == 9
    assert settled.lines.left_out > 20
    assert settled.lines.tokens <= BUDGET
    printed = [line for line in settled.lines.lines if line.startswith("C[")]
    assert all(any(line.startswith(f"C[c{n}]") for n in range(25, 40)) for line in printed)


def test_a_fact_that_can_never_fit_costs_the_others_nothing() -> None:
    small = [fact_row("V", f"v{n}", "small") for n in range(4)]
    for mark in ("D", "C"):
        settled = relieve(hot_set(*small, fact_row(mark, "big", "重" * 400)), BUDGET)
        assert {row.target for row in settled.leaving} <= {"big"}
        assert sum(line.startswith("V[") for line in settled.lines.lines) == 4


MARKS = st.sampled_from("CDV?✓")
ROWS = st.lists(
    st.builds(
        fact_row,
        MARKS,
        st.sampled_from(["a", "b.c", "x" * 60, "重要"]),
        st.one_of(st.text(max_size=300), st.text("重 ", max_size=300), st.just(LINE)),
        scope_id=st.sampled_from([None, 7, 8]),
        used_at=st.floats(0, 9),
        uses=st.integers(0, 5),
    ),
    max_size=50,
)


@given(ROWS, st.integers(0, 500), st.sampled_from([(), (7,), (7, 8)]), st.sampled_from([5, 40, 150]))
@settings(max_examples=75)
def test_relief_is_enough_never_takes_constraints_and_comes_to_rest(
    rows: list[FactRow], further: int, idle: tuple[int, ...], budget: int
) -> None:
    hot = hot_set(*rows, further=further)
    settled = relieve(hot, budget, lambda: idle)
    assert settled.lines.tokens <= budget
    assert all(row.mark != "C" for row in settled.leaving)
    gone = {row.id for row in settled.leaving}
    assert len(gone) == len(settled.leaving)
    rest = Hot(hot.constraints, further, tuple(row for row in hot.others if row.id not in gone))
    assert render_hot(rest, budget) == settled.lines
    again = relieve(rest, budget, lambda: idle)
    assert (again.leaving, again.lines) == ((), settled.lines)


# --- through a write ---------------------------------------------------------------------------


def test_no_write_is_refused_and_what_left_is_named_and_found(facts: Facts, clock: FixedClock) -> None:
    gone: dict[str, str] = {}
    for n in range(60):
        clock.advance(1)
        written = facts.write(f"V[srv.n{n}]: machine number{n} listens on port {3000 + n}")
        gone |= {fact.id: fact.target for fact in written.left_hot}
        assert all(fact.tier == "hot" for fact in written.left_hot) or not written.left_hot
        assert written.gauge == facts.status().gauge
        assert facts.status().tokens <= 180
    assert len(gone) > 30
    assert {fact.id for fact in facts.list(tier="cold")} == set(gone)
    for target in list(gone.values())[::7]:
        assert facts.search(target, limit=1)[0].target == target
    assert facts.count() == 60


def test_facts_of_an_idle_scope_leave_hot_before_the_budget_is_full(facts: Facts, clock: FixedClock) -> None:
    for n in range(8):
        facts.write(f"D[old.t{n}]: some decision number {n} taken long ago", scope="old", session_id="a")
    clock.advance(3_601)
    facts.tick(1, session_id="b")
    for n in range(20):
        written = facts.write(f"V[x{n}]: value {n}", scope="new", session_id="b")
        if written.left_hot:
            break
        assert written.gauge.percent < IDLE
    assert {fact.scope for fact in written.left_hot} == {"old"}
    assert {fact.scope for fact in facts.list(tier="hot")} == {"new"}
    assert {scope.label for scope in facts.scopes() if scope.is_open} == {"old", "new"}


def test_constraints_stay_hot_whatever_is_written(facts: Facts) -> None:
    laws = facts.write("\n".join(f"C[law{n}]: rule {n}" for n in range(10))).facts
    facts.write("C[scoped]: a rule of an open scope", scope="auth")
    for n in range(40):
        facts.write(f"D[d{n}]: {LINE} {n}", scope=("auth", "other")[n % 2])
    hot = {fact.id for fact in facts.list(tier="hot")}
    assert {law.id for law in laws} <= hot
    assert any(fact.target == "scoped" for fact in facts.list(tier="hot", types=["C"]))
    assert all(f"C[law{n}]" in facts.status().text for n in range(10))


def test_far_too_many_constraints_are_printed_by_use_and_counted(facts: Facts, clock: FixedClock) -> None:
    for start in range(0, 300, 100):
        clock.advance(1)
        facts.write("\n".join(f"C[law{n}]: {LINE} {n}" for n in range(start, start + 100)))
    clock.advance(1)
    facts.write(f"C[law7]: {LINE} 7")
    status = facts.status()
    assert status.tokens <= 180
    assert "C[law7]" in status.text
    printed = status.text.count("C[law")
    assert f"{300 - printed} more facts" in status.text
    assert sum(1 for _ in facts.list(tier="hot")) == 300
    # There is no room for anything else; it is stored all the same.
    written = facts.write("V[late]: value")
    assert [fact.target for fact in written.left_hot] == ["late"]
    assert facts.search("late value")[0].target == "late"


def test_one_huge_fact_does_not_empty_the_hot_set(facts: Facts) -> None:
    facts.write("\n".join(f"V[v{n}]: val {n}" for n in range(4)) + "\nC[law]: rule")
    written = facts.write("D[big]: " + "重" * 400)
    assert {fact.target for fact in written.left_hot} <= {"big"}
    assert facts.status().text.count("V[v") == 4
    assert facts.search("big", limit=1)[0].content == "重" * 400


@pytest.mark.parametrize("hot_tokens", [50, 51, 100, 400])
def test_any_budget_is_kept(clock: FixedClock, hot_tokens: int) -> None:
    with Memory.at(":memory:", clock=clock, embedder="none", hot_tokens=hot_tokens) as memory:
        for n in range(10):
            memory.facts.write(f"C[a{n}]: {LINE}\nD[b{n}]: {LINE}")
        status = memory.facts.status()
        assert count_tokens(status.text) == status.tokens <= hot_tokens + 30
        assert status.gauge.budget == hot_tokens


@pytest.mark.parametrize("hot_tokens", [0, 1, 49, -5])
def test_a_budget_that_holds_nothing_is_refused(hot_tokens: int) -> None:
    with pytest.raises(InvalidInput):
        Memory.at(":memory:", hot_tokens=hot_tokens)


CALLS = st.lists(
    st.builds(
        lambda mark, target, content, scope: (f"{mark}[{target}]: {content}x", scope),
        st.sampled_from("CDV?✓"),
        st.one_of(st.sampled_from(["a", "b.c", "重" * 60]), st.text("abc.日éx ", min_size=1, max_size=20)),
        st.one_of(
            st.text(st.characters(blacklist_categories=("Cc", "Cs")), max_size=120),
            st.text("重要 🎉", max_size=300),
            st.just("<system>" * 20),
        ),
        st.sampled_from([None, "auth", "a long label with several words", "日本語"]),
    ),
    max_size=25,
)


@given(CALLS)
def test_the_status_is_within_its_budget_whatever_was_written(calls: list[tuple[str, str | None]]) -> None:
    with Memory.at(":memory:", clock=FixedClock(), embedder="none") as memory:
        for content, scope in calls:
            try:
                written = memory.facts.write(content, scope=scope, allow=True)
            except InvalidInput:
                continue
            status = memory.facts.status()
            assert count_tokens(status.text) == status.tokens <= 180
            assert status.gauge == written.gauge
            assert status.gauge.percent <= 100
            assert memory.facts.status() == status
