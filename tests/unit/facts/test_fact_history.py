"""History, as_of, and valid times."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound
from mnemos.facts.facts import Facts
from mnemos.testing import FixedClock

DAY = 86_400.0


def believed(facts: Facts, target: str, moment: float, **options: Any) -> list[str]:
    return [str(fact) for fact in facts.history(target, as_of=moment, **options)]


def seconds(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def test_as_of_answers_what_was_believed_then(facts: Facts, clock: FixedClock) -> None:
    start = clock()
    for content in ("V[srv]: one", "V[srv]: two", "~[srv]: switched off", "V[srv]: three"):
        facts.write(content)
        clock.advance(DAY)
    for days, wanted in (
        (-0.001, []),
        (0, ["V[srv]: one"]),
        (0.999, ["V[srv]: one"]),
        (1, ["V[srv]: two"]),
        (2, []),
        (2.5, []),
        (3, ["V[srv]: three"]),
        (1_000, ["V[srv]: three"]),
    ):
        assert believed(facts, "SRV", start + days * DAY) == wanted, days
        assert [str(fact) for fact in facts.list(as_of=start + days * DAY)] == wanted, days


def test_as_of_knows_types_and_scopes_apart(facts: Facts, clock: FixedClock) -> None:
    facts.write("?[db]: which", scope="one")
    facts.write("V[db]: theirs", scope="two")
    asked = clock()
    clock.advance(DAY)
    facts.write("D[db]: postgres", scope="one")
    assert believed(facts, "db", asked) == ["?[db]: which", "V[db]: theirs"]
    assert believed(facts, "db", asked, scope="one") == ["?[db]: which"]
    assert believed(facts, "db", clock(), scope="one") == ["D[db]: postgres"]


def test_what_was_replaced_in_the_same_moment_was_never_believed(facts: Facts, clock: FixedClock) -> None:
    facts.write("V[a]: 1")
    facts.write("V[a]: 2")
    assert believed(facts, "a", clock()) == ["V[a]: 2"]
    assert len(facts.history("a")) == 2


def test_learning_late_does_not_change_what_was_believed(facts: Facts, clock: FixedClock) -> None:
    start = clock()
    facts.write("V[price]: 10")
    clock.advance(30 * DAY)
    facts.write("V[price]: 12", valid_from=start + 10 * DAY)
    old, new = facts.history("price")
    assert believed(facts, "price", start + 20 * DAY) == ["V[price]: 10"]
    assert (old.valid_from, old.valid_to) == (start, start + 10 * DAY)
    assert (new.valid_from, new.valid_to, new.at) == (start + 10 * DAY, None, clock())
    assert old.ended_at == clock()


def test_nothing_ends_in_the_world_before_it_began(facts: Facts, clock: FixedClock) -> None:
    facts.write("V[price]: 10", valid_from=clock() + 5 * DAY)
    facts.write("V[price]: 12", valid_from=clock() - 5 * DAY)
    old, _ = facts.history("price")
    assert old.valid_to is not None
    assert old.valid_from <= old.valid_to


def test_a_clock_that_goes_back_loses_nothing(facts: Facts, clock: FixedClock) -> None:
    facts.write("V[a]: 1")
    clock.advance(-DAY)
    facts.write("V[a]: 2")
    clock.advance(-DAY)
    facts.write("V[a]: 3")
    assert [fact.content for fact in facts.history("a")] == ["1", "2", "3"]
    assert [fact.content for fact in facts.list()] == ["3"]
    facts.tick(1)
    assert facts.status().tokens <= 180


def test_history_is_a_chain_from_the_oldest_to_the_newest(facts: Facts, clock: FixedClock) -> None:
    for n in range(40):
        facts.write(f"V[a]: {n}")
        clock.advance(1)
    chain = facts.history("a")
    assert [fact.content for fact in chain] == [str(n) for n in range(40)]
    for fact, following in pairwise(chain):
        assert (fact.state, fact.superseded_by, fact.ended_at) == ("superseded", following.id, following.at)
    assert chain[-1].state == "live"
    assert [fact.content for fact in facts.history("a", limit=3)] == ["37", "38", "39"]


def test_history_has_all_scopes_or_one(facts: Facts) -> None:
    facts.write("V[a]: 1", scope="one")
    facts.write("V[a]: 2", scope="two")
    facts.write("V[b]: 3", scope="three")
    assert len(facts.history("a")) == 2
    assert [fact.scope for fact in facts.history("a", scope="TWO")] == ["two"]
    with pytest.raises(NotFound):
        facts.history("a", scope="three")
    with pytest.raises(NotFound):
        facts.history("a", scope="unknown")
    with pytest.raises(NotFound):
        facts.history("nothing")


@pytest.mark.parametrize("target", [None, 5, "", " ", "a..b", "a[b]", "a\nb", b"a", "x" * 10_000])
def test_history_is_of_a_target(facts: Facts, target: Any) -> None:
    facts.write("V[a]: 1")
    with pytest.raises(InvalidInput):
        facts.history(target)


@pytest.mark.parametrize("options", [{"as_of": "x"}, {"as_of": float("inf")}, {"limit": -1}, {"limit": "3"}])
def test_history_refuses_arguments_of_the_wrong_kind(facts: Facts, options: dict[str, Any]) -> None:
    facts.write("V[a]: 1")
    with pytest.raises(InvalidInput):
        facts.history("a", **options)


def test_as_of_takes_a_day(memory: Memory, clock: FixedClock) -> None:
    clock.now = seconds("2026-02-10")
    memory.facts.write("V[srv.prod]: one")
    clock.now = seconds("2026-03-10")
    memory.facts.write("V[srv.prod]: two")
    answer = memory.call("memory_history", {"target": "srv.prod", "as_of": "2026-03-01"})
    assert [fact["content"] for fact in answer["facts"]] == ["one"]
    assert answer["facts"][0]["at"] == "2026-02-10T00:00:00.000Z"
    assert answer["facts"][0]["ended_at"] == "2026-03-10T00:00:00.000Z"
    whole = memory.call("memory_history", {"target": "srv.prod"})
    assert [fact["content"] for fact in whole["facts"]] == ["one", "two"]
