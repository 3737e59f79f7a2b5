"""Homes that are written to and synced in any order have the same memory in the end."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from mnemos.transfer.sync.state import State
from unit.transfer.sync.homes import Scribbler, export, meet, say, settle, texts, three_homes


def scribble_and_sync(seed: int, writes: int) -> Counter[str]:
    """Write and sync by chance, then sync all; return how often each change was made."""
    chance = Random(seed)
    scribbler = Scribbler(chance)
    made: Counter[str] = Counter()
    with three_homes() as homes:
        for _ in range(writes):
            made[scribbler.write(chance.choice(homes))] += 1
            if chance.random() < 0.15:
                one, two = chance.sample(homes, 2)
                meet(one, two)
                made["sync"] += 1
        made["rounds"] = settle(homes)
        first, second, third = (export(home) for home in homes)
        assert first == second == third
        assert len({frozenset(State(home).digests.items()) for home in homes}) == 1
    return made


@pytest.mark.parametrize("seed", range(4))
def test_three_homes_have_the_same_memory_in_the_end(seed: int) -> None:
    scribble_and_sync(seed, 40)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1_000, 1_200))
def test_three_homes_have_the_same_memory_in_the_end_200_times(seed: int) -> None:
    scribble_and_sync(seed, 60)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_and_nothing_is_there_twice(seed: int) -> None:
    chance = Random(seed)
    written: Counter[str] = Counter()
    with three_homes() as homes:
        for number in range(60):
            home = chance.choice(homes)
            home.clock.advance(chance.choice([0.0, 0.000001, 300.0]))  # type: ignore[attr-defined]
            new = [f"message {number}.{part}" for part in range(chance.randint(1, 4))]
            # Now and then two machines say the same at the same moment.
            role = chance.choice(["user", "assistant", "tool"])
            say(home, f"s{chance.randrange(3)}", *new, role=role)
            home.facts.write(f"V[t{chance.randrange(5)}]: value {number}")
            home.entries.store("default", f"k{number}", "v")
            written.update(new)
            if chance.random() < 0.2:
                meet(*chance.sample(homes, 2))
        settle(homes)
        for home in homes:
            assert Counter(text for one in range(3) for text in texts(home, f"s{one}")) == written
            facts = home.facts.list(states=("live", "superseded", "retired"))
            assert sorted(int(fact.content.split()[1]) for fact in facts) == list(range(60))
            assert len(home.entries.list_keys("default")) == 60
