"""Purging history, and forgetting permanently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound
from mnemos.facts.facts import Facts
from mnemos.testing import FixedClock

DAY = 86_400.0


def rows(facts: Facts) -> list[str]:
    states = ("live", "superseded", "retired")
    return [str(fact) for fact in facts.list(states=states)]


@pytest.fixture
def aged(facts: Facts, clock: FixedClock) -> Facts:
    """Two scopes, and history that ended 40, 20 and 0 days ago."""
    facts.write("V[a]: 1", scope="one")
    facts.write("V[b]: 1", scope="two")
    facts.write("V[c]: 1\nD[c]: choice", scope="one")
    facts.write("V[a]: 2", scope="one")
    clock.advance(20 * DAY)
    facts.write("V[b]: 2", scope="two")
    clock.advance(20 * DAY)
    facts.write("~[c]: gone", scope="one")
    return facts


# --- purging -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"older_than_days": 30}, 1),
        ({"older_than_days": 10}, 2),
        ({"older_than_days": 0}, 2),
        ({"scope": "one"}, 4),
        ({"scope": "Two"}, 1),
        ({"scope": "one", "older_than_days": 30}, 1),
        ({"scope": "two", "older_than_days": 30}, 0),
        ({"older_than_days": 1000}, 0),
        ({"older_than_days": 0.5}, 2),
    ],
)
def test_purging_takes_what_ended_of_a_scope_or_of_an_age(
    aged: Facts, options: dict[str, Any], count: int
) -> None:
    live = {str(fact) for fact in aged.list()}
    before = rows(aged)
    assert aged.purge(**options, dry_run=True) == count
    assert rows(aged) == before
    assert aged.purge(**options) == count
    assert len(rows(aged)) == len(before) - count
    assert {str(fact) for fact in aged.list()} == live
    assert aged.purge(**options) == 0


@pytest.mark.parametrize("dry_run", [True, False])
def test_purging_everything_must_be_asked_for(aged: Facts, dry_run: bool) -> None:
    before = rows(aged)
    with pytest.raises(InvalidInput):
        aged.purge(dry_run=dry_run)
    for scope in ("on", "three", "one two", "*", "%", "ONE ONE"):
        with pytest.raises(NotFound):
            aged.purge(scope=scope, dry_run=dry_run)
        with pytest.raises(NotFound):
            aged.purge(scope=scope, older_than_days=0, dry_run=dry_run)
    wrong: list[dict[str, Any]] = [
        {"scope": ""}, {"scope": " "}, {"scope": 5}, {"older_than_days": -1}, {"older_than_days": "30"},
        {"older_than_days": float("nan")}, {"older_than_days": float("inf")}, {"older_than_days": True},
        {"scope": "", "older_than_days": 0}, {"scope": "one", "older_than_days": -1},
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(InvalidInput):
            aged.purge(**options, dry_run=dry_run)
    assert rows(aged) == before


@pytest.mark.parametrize("args", [{}, {"scope": "onw"}, {"scope": ""}, {"dry_run": True}])
def test_the_tool_purges_nothing_when_what_to_purge_is_not_known(
    aged: Facts, memory: Memory, args: dict[str, Any]
) -> None:
    before = rows(aged)
    with pytest.raises((InvalidInput, NotFound)):
        memory.call("memory_purge", args)
    assert rows(aged) == before


def test_the_tool_says_what_it_would_purge(aged: Facts, memory: Memory) -> None:
    before = rows(aged)
    answer = memory.call("memory_purge", {"scope": "one", "dry_run": True})
    assert (answer["purged"], answer["would_purge"], answer["dry_run"]) == (0, 4, True)
    assert rows(aged) == before
    assert memory.call("memory_purge", {"scope": "one"})["purged"] == 4


def test_a_long_history_is_purged_in_steps_and_the_rest_is_whole(facts: Facts, clock: FixedClock) -> None:
    for n in range(130):
        facts.write(f"V[a]: {n}")
        clock.advance(1)
    clock.advance(DAY)
    facts.write("V[a]: last")
    clock.advance(1)
    assert facts.purge(older_than_days=1) == 129
    kept, last = facts.history("a")
    assert (kept.content, kept.superseded_by, last.state) == ("129", last.id, "live")
    assert facts.search("last")[0].content == "last"


def test_what_was_purged_is_found_no_more(aged: Facts, memory: Memory) -> None:
    assert any(fact.state != "live" for fact in aged.reflect("choice gone"))
    aged.purge(scope="one")
    assert all(fact.state == "live" for fact in aged.reflect("choice gone a b c 1 2", scope="one"))
    assert memory.log()[0].operation == "facts.purge"


# --- forgetting --------------------------------------------------------------------------------


def test_a_fact_is_forgotten_by_its_id(facts: Facts, memory: Memory) -> None:
    ids = [facts.write(f"V[a]: secret{n}").facts[0].id for n in range(3)]
    assert facts.forget(ids[1]) == 1
    first, last = facts.history("a")
    assert (first.id, first.superseded_by, last.id) == (ids[0], ids[2], ids[2])
    for call in (lambda: facts.get(ids[1]), lambda: facts.forget(ids[1])):
        with pytest.raises(NotFound):
            call()
    assert all("secret1" not in str(fact) for fact in facts.reflect("secret1"))
    assert memory.forget(f"fact:{ids[2]}")["forgotten"] is True
    assert list(facts.list()) == []


def test_a_target_is_forgotten_with_its_whole_history(facts: Facts) -> None:
    for n in range(70):
        facts.write(f"V[a.key]: secret{n}")
    facts.write("D[a.key]: other kind\n?[b]: stays")
    facts.write("V[a.key]: elsewhere", scope="two")
    facts.write("~[a.key]: gone", scope="two")
    assert facts.forget(target="A.Key") == 73
    with pytest.raises(NotFound):
        facts.history("a.key")
    assert rows(facts) == ["?[b]: stays"]
    assert [str(fact) for fact in facts.search("secret key elsewhere stays")] == ["?[b]: stays"]


def test_forgetting_in_a_scope_leaves_the_others(facts: Facts) -> None:
    facts.write("V[a]: 1", scope="one")
    facts.write("V[a]: 2", scope="two")
    facts.write("V[b]: 3", scope="three")
    assert facts.forget(target="a", scope="ONE") == 1
    assert rows(facts) == ["V[a]: 2", "V[b]: 3"]
    with pytest.raises(NotFound):
        facts.forget(target="a", scope="three")
    with pytest.raises(NotFound):
        facts.forget(target="a", scope="unknown")
    assert rows(facts) == ["V[a]: 2", "V[b]: 3"]


@pytest.mark.parametrize(
    "options", [{}, {"fact_id": "f1", "target": "a"}, {"target": ""}, {"target": 5}, {"target": "a[b]"}]
)
def test_what_to_forget_is_named_once(facts: Facts, options: dict[str, Any]) -> None:
    facts.write("V[a]: 1")
    with pytest.raises(InvalidInput):
        facts.forget(**options)
    assert rows(facts) == ["V[a]: 1"]


def test_unknown_facts_cannot_be_forgotten(facts: Facts, memory: Memory) -> None:
    facts.write("V[a]: 1")
    unknown: list[Callable[[], Any]] = [
        lambda: facts.forget("f999"),
        lambda: facts.forget("a"),
        lambda: facts.forget(target="b"),
        lambda: memory.forget("fact:f999"),
        lambda: memory.call("memory_forget", {"target": "b"}),
    ]
    for call in unknown:
        with pytest.raises(NotFound):
            call()
    assert rows(facts) == ["V[a]: 1"]


def test_forgetting_is_noted_without_what_was_forgotten(facts: Facts, memory: Memory) -> None:
    own = facts.write("V[secret.target]: secret content", scope="auth").facts[0].id
    facts.forget(own)
    newest = memory.log()[0]
    assert (newest.operation, newest.ref, newest.before, newest.after) == (
        "forget",
        f"fact:{own}",
        None,
        None,
    )
    for entry in memory.log():
        assert "secret" not in f"{entry.before} {entry.after} {entry.ref}"


def test_the_log_never_holds_the_text_of_facts(facts: Facts, memory: Memory) -> None:
    facts.write("V[secret.target]: secret content")
    facts.write("V[secret.target]: secret again")
    facts.write("~[secret.target]: secret reason")
    facts.purge(older_than_days=0)
    for entry in memory.log():
        assert "secret" not in f"{entry.before} {entry.after} {entry.ref}"


def test_the_tool_forgets_by_id_or_by_target(facts: Facts, memory: Memory) -> None:
    one = facts.write("V[a]: 1").facts[0].id
    facts.write("V[b]: 1")
    facts.write("V[b]: 2")
    assert memory.call("memory_forget", {"id": one})["forgotten"] == 1
    assert memory.call("memory_forget", {"target": "b"})["forgotten"] == 2
    assert rows(facts) == []
    for args in ({}, {"id": one, "target": "b"}):
        with pytest.raises(InvalidInput):
            memory.call("memory_forget", args)
