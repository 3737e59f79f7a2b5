"""A sync of two homes that is killed in the middle."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from unit.transfer.sync.homes import START, meet, open_home
from unit.transfer.sync.test_sync_faults import check_end, fill

from . import processes
from .processes import Spawn
from .soundness import assert_sound

MOST = 200


@pytest.fixture(autouse=True)
def roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", Path(__file__).with_name("sync_roles.py"))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Two homes that have something of every kind to tell each other."""
    with (
        open_home(tmp_path / "filled" / "a") as here,
        open_home(tmp_path / "filled" / "b", now=START + 1) as there,
    ):
        fill(here, there)
    return tmp_path / "filled"


def kill(filled: Path, spawn: Spawn, side: str, places: Iterator[int]) -> int:
    """Kill a sync after these numbers of commits; return the number of times it was killed."""
    for killed, commits in enumerate(places):
        both = filled.with_name(f"{side}{commits}")
        shutil.copytree(filled, both)
        one, two = both / "a", both / "b"
        child = spawn("exchange", one=str(one), two=str(two), now=START + 100, commits=commits, side=side)
        if child.wait() == 0:
            return killed
        assert_sound(one)
        assert_sound(two)
        with open_home(one, now=START + 200) as here, open_home(two, now=START + 200) as there:
            check_end(here, there)
            assert meet(there, here).sent.is_empty
        shutil.rmtree(both)
    return MOST


@pytest.mark.parametrize("side", ["here", "there"])
def test_a_sync_killed_after_a_commit_can_be_repeated(filled: Path, spawn: Spawn, side: str) -> None:
    assert kill(filled, spawn, side, iter(range(1, MOST, 4))) > 1


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["here", "there"])
def test_a_sync_killed_after_any_commit_can_be_repeated(filled: Path, spawn: Spawn, side: str) -> None:
    assert kill(filled, spawn, side, iter(range(1, MOST))) > 7
