"""Contradictions across types and scopes: both facts stay, and both are reported."""

from __future__ import annotations

import pytest
from rows import fact_row

from mnemos import Memory
from mnemos.facts.fact import are_contradictory
from mnemos.facts.facts import Facts


def open_ones(facts: Facts) -> list[tuple[str, str]]:
    return [(str(one.older), str(one.newer)) for one in facts.conflicts()]


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (("C", None, "x"), ("D", None, "y"), True),
        (("C", 1, "x"), ("D", 2, "y"), True),
        (("V", 1, "x"), ("V", 2, "y"), True),
        (("V", None, "x"), ("V", 2, "y"), True),
        (("D", 1, "x"), ("D", 2, "y"), True),
        (("C", 1, "x"), ("C", 2, "y"), True),
        (("V", 1, "x"), ("V", 2, "x"), False),
        (("C", 1, "x"), ("D", 1, " x "), False),
        (("?", 1, "x"), ("?", 2, "y"), False),
        (("✓", 1, "x"), ("✓", 2, "y"), False),
        (("?", 1, "x"), ("V", 2, "y"), False),
    ],
)
def test_what_contradicts(
    one: tuple[str, int | None, str], other: tuple[str, int | None, str], wanted: bool
) -> None:
    first = fact_row(one[0], content=one[2], scope_id=one[1], id=1)
    second = fact_row(other[0], content=other[2], scope_id=other[1], id=2)
    assert are_contradictory(first, second) is are_contradictory(second, first) is wanted


def test_facts_on_other_targets_never_contradict() -> None:
    assert are_contradictory(fact_row("C", "a", id=1), fact_row("D", "b", "c", id=2)) is False


def test_a_decision_against_a_law_is_named_and_both_stay(facts: Facts) -> None:
    facts.write("C[db.id]: UUID only")
    written = facts.write("D[db.id]: serial")
    (conflict,) = written.conflicts
    assert (str(conflict.older), str(conflict.newer)) == ("C[db.id]: UUID only", "D[db.id]: serial")
    assert conflict.target == "db.id"
    assert len(list(facts.list())) == 2
    assert open_ones(facts) == [("C[db.id]: UUID only", "D[db.id]: serial")]


def test_values_of_two_scopes_are_named(facts: Facts) -> None:
    facts.write("V[Port]: 80", scope="one")
    (conflict,) = facts.write("V[port]: 90", scope="two").conflicts
    assert (conflict.older.scope, conflict.newer.scope) == ("one", "two")


def test_the_status_lists_open_conflicts(facts: Facts) -> None:
    facts.write("C[db.id]: UUID only")
    assert facts.status().conflicts == ()
    facts.write("D[db.id]: serial")
    status = facts.status()
    assert [conflict.target for conflict in status.conflicts] == ["db.id"]
    assert "in conflict: db.id" in status.text


@pytest.mark.parametrize("end", ["D[db.id]: UUID only", "~[db.id]: dropped"])
def test_a_conflict_is_over_when_one_side_gives_in(facts: Facts, end: str) -> None:
    facts.write("C[db.id]: UUID only")
    facts.write("D[db.id]: serial")
    assert facts.write(end).conflicts == ()
    assert open_ones(facts) == []
    assert facts.status().conflicts == ()


def test_a_new_statement_that_still_contradicts_is_named_anew(facts: Facts) -> None:
    facts.write("C[db.id]: UUID only")
    facts.write("D[db.id]: serial")
    facts.write("D[db.id]: bigserial")
    assert open_ones(facts) == [("C[db.id]: UUID only", "D[db.id]: bigserial")]


def test_a_conflict_is_over_when_one_side_is_forgotten(facts: Facts) -> None:
    law = facts.write("C[db.id]: UUID only").facts[0]
    facts.write("D[db.id]: serial")
    facts.forget(law.id)
    assert open_ones(facts) == []


def test_many_scopes_that_disagree_are_named_in_part(facts: Facts) -> None:
    for n in range(40):
        written = facts.write(f"V[port]: {n}", scope=f"scope {n}")
    assert 1 <= len(written.conflicts) <= 10
    status = facts.status()
    assert status.tokens <= 180
    assert 1 <= len(status.conflicts) <= 20
    assert len(facts.conflicts(3)) == 3


def test_conflicts_reach_the_tools(memory: Memory) -> None:
    memory.call("memory_write", {"content": "C[db.id]: UUID only"})
    answer = memory.call("memory_write", {"content": "D[db.id]: serial"})
    (conflict,) = answer["conflicts"]
    assert (conflict["older"]["type"], conflict["newer"]["type"]) == ("C", "D")
    assert "UUID only" in answer["text"]
    assert [one["target"] for one in memory.call("memory_status")["conflicts"]] == ["db.id"]
    assert len(memory.call("facts_conflicts")["conflicts"]) == 1
