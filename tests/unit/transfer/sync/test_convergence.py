"""Homes that are written to and synced in any order have the same memory in the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from mnemos.memory import Memory
from mnemos.progress import no_progress
from mnemos.transfer.sync.peers import SyncFolder
from mnemos.transfer.sync.state import State
from unit.transfer.sync.homes import (
    Scribbler,
    export,
    meet,
    meet_in_part,
    say,
    settle,
    texts,
    three_homes,
)


def sync_somehow(chance: Random, one: Memory, two: Memory, drive: Path) -> str:
    """Sync two homes with each other or by a folder, or begin to, and return which it was."""
    way = chance.choice(["whole", "whole", "folder", "in part"])
    if way == "folder":
        for home in chance.sample([one, two], 2):
            SyncFolder(home, drive).sync(no_progress)
    elif way == "in part":
        meet_in_part(one, two, chance.choice([one, two]), chance.randint(1, 25))
    else:
        meet(one, two)
    return f"sync: {way}"


def scribble_and_sync(seed: int, writes: int, drive: Path) -> Counter[str]:
    """Write and sync by chance, then sync all; return how often each change was made."""
    drive.mkdir(exist_ok=True)
    chance = Random(seed)
    scribbler = Scribbler(chance)
    made: Counter[str] = Counter()
    with three_homes() as homes:
        for _ in range(writes):
            made[scribbler.write(chance.choice(homes))] += 1
            if chance.random() < 0.15:
                made[sync_somehow(chance, *chance.sample(homes, 2), drive)] += 1
                for home in homes:
                    # It takes a while: no machine writes before and after it at the same moment.
                    home.clock.advance(0.000001)  # type: ignore[attr-defined]
        for home in homes:
            # Entries that expire have expired on all of them.
            home.clock.advance(1e6)  # type: ignore[attr-defined]
        made[f"rounds: {settle(homes)}"] += 1
        first, second, third = (export(home) for home in homes)
        assert first == second == third
        assert len({frozenset(State(home).digests.items()) for home in homes}) == 1
    return made


@pytest.mark.parametrize("seed", range(4))
def test_three_homes_have_the_same_memory_in_the_end(seed: int, tmp_path: Path) -> None:
    scribble_and_sync(seed, 60, tmp_path)


@pytest.mark.nightly
def test_three_homes_have_the_same_memory_in_the_end_200_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Counter[str] = Counter()
    for seed in range(1_000, 1_200):
        made += scribble_and_sync(seed, 60, tmp_path / str(seed))
    with capsys.disabled():
        print("\n" + "\n".join(f"{count:7,}  {name}" for name, count in sorted(made.items())))


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
