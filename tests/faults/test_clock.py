"""A clock that goes backwards, stops or leaps."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos

from .soundness import index_all

YEAR = 365 * 86400.0


@pytest.mark.parametrize("step", [-1.0, -YEAR, 0.0, -1e-7, YEAR])
def test_messages_stay_in_the_order_they_were_appended(home: Path, step: float) -> None:
    now = 1_800_000_000.0

    def clock() -> float:
        nonlocal now
        now += step
        return now

    with mnemos.open(home, clock=clock) as memory:
        memory.sessions.create_session("s", "cli")
        ids = [memory.sessions.append_message("s", "user", f"word{number}") for number in range(25)]
        ids += memory.sessions.append_messages(
            "s", [{"role": "user", "content": f"word{number}"} for number in range(25, 50)]
        )
        index_all(memory)
        assert ids == sorted(set(ids))
        messages = memory.sessions.get_messages("s")
        assert [m["content"] for m in messages] == [f"word{number}" for number in range(50)]
        assert [m["id"] for m in messages] == ids
        around = memory.sessions.get_messages_around(ids[10], before=1, after=1)
        assert [m["content"] for m in around] == ["word9", "word10", "word11"]


def test_times_of_messages_order_the_results_when_asked_for(home: Path) -> None:
    times = iter([5e8, 1e9, 2e8, 9e8, 3e8])
    with mnemos.open(home, clock=lambda: 1e9) as memory:
        memory.sessions.create_session("s", "cli")
        for time in times:
            memory.sessions.append_message("s", "user", "same word", timestamp=time)
        for indexed in (False, True):
            if indexed:
                index_all(memory)
            newest = memory.sessions.search_messages("same", sort="newest")
            assert [hit["timestamp"] for hit in newest] == [1e9, 9e8, 5e8, 3e8, 2e8]
            within = memory.sessions.search_messages("same", since=3e8, until=9e8, sort="oldest")
            assert [hit["timestamp"] for hit in within] == [3e8, 5e8]


def test_a_session_that_ends_before_it_began_can_be_listed_and_pruned(home: Path) -> None:
    now = 2_000_000_000.0
    with mnemos.open(home, clock=lambda: now) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "words")
        now -= YEAR
        memory.sessions.end_session("s", "done")
        assert (
            memory.sessions.search_sessions()[0]["ended_at"]
            < memory.sessions.search_sessions()[0]["started_at"]
        )
        assert memory.sessions.prune_sessions(0) == 0
        now += 2 * YEAR
        assert memory.sessions.prune_sessions(90) == 1
        assert memory.sessions.message_count() == 0
