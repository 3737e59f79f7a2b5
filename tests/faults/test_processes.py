"""Many processes on one file, at the same moment."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos
from mnemos.errors import Busy

from .processes import Spawn
from .soundness import assert_sound

PROCESSES = 8


def test_eight_processes_append_to_one_file_and_nothing_is_lost(
    home: Path, spawn: Spawn, nightly: bool
) -> None:
    turns = 5_000 if nightly else 500
    names = [f"writer{number}" for number in range(PROCESSES)]
    writers = [spawn("append_many", home=str(home), name=name, turns=turns) for name in names]
    assert [writer.line() for writer in writers] == ["ready"] * PROCESSES
    # The home does not exist yet: all of them make it.
    for writer in writers:
        writer.go()
    reader = spawn("search_until_told", home=str(home))
    reader.line()
    assert [writer.finish() for writer in writers] == [["done"]] * PROCESSES
    (seen,) = reader.finish()
    assert seen["halves"] == []
    assert seen["searches"] > 0

    assert_sound(home)
    with mnemos.open(home) as memory:
        sessions = memory.sessions
        assert sessions.message_count() == PROCESSES * turns * 2
        assert {name: sessions.message_count(name) for name in names} == dict.fromkeys(names, turns)
        assert sessions.message_count("shared") == PROCESSES * turns
        shared = sessions.get_messages("shared")
        words = [message["content"].split()[1] for message in shared]
        assert words[0::2] == words[1::2]
        for name in names:
            own = [word for word in words[0::2] if word.startswith(f"{name}n")]
            assert own == [f"{name}n{number}" for number in range(1, turns, 2)]
        assert len(sessions.search_messages("writer3n7")) == 2


def test_processes_that_make_the_same_home_at_once_all_succeed(
    tmp_path: Path, spawn: Spawn, nightly: bool
) -> None:
    for attempt in range(200 if nightly else 5):
        home = tmp_path / f"home{attempt}"
        makers = [spawn("create", home=str(home)) for _ in range(PROCESSES)]
        assert [maker.line() for maker in makers] == ["ready"] * PROCESSES
        for maker in makers:
            maker.go()
        written = [report for maker in makers for report in maker.finish()]
        for maker in makers:
            maker.end()
        assert len({message for _, message in written}) == PROCESSES
        with mnemos.open(home) as memory:
            assert memory.sessions.session_count() == PROCESSES
            assert len(memory.sessions.search_messages("first words")) == PROCESSES
        assert_sound(home)


def test_a_forked_child_and_its_parent_both_go_on_writing(home: Path, spawn: Spawn) -> None:
    (end,) = spawn("fork_writers", home=str(home), children=3, turns=100).finish()
    assert end == {"codes": [0, 0, 0], "messages": 3 + 3 * 4 * 100}
    assert_sound(home)


def test_a_write_that_waits_too_long_fails_as_busy_and_the_next_one_works(home: Path, spawn: Spawn) -> None:
    with mnemos.open(home, busy_seconds=0.05) as memory:
        memory.sessions.create_session("s", "cli")
        holder = spawn("hold_the_write_lock", database=str(home / "mnemos.db"))
        holder.line()
        with pytest.raises(Busy):
            memory.sessions.append_message("s", "user", "too early")
        assert memory.sessions.search_messages("early") == []
        holder.finish()
        memory.sessions.append_message("s", "user", "in time")
        assert [m["content"] for m in memory.sessions.get_messages("s")] == ["in time"]


def test_a_killed_process_leaves_no_lock_behind(home: Path, spawn: Spawn) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
    holder = spawn("hold_the_write_lock", database=str(home / "mnemos.db"))
    holder.line()
    holder.kill()
    with mnemos.open(home, busy_seconds=0.05) as memory:
        assert memory.sessions.append_message("s", "user", "words") > 0


def test_closing_leaves_nothing_pending(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "words")
    with mnemos.open(home, read_only=True) as memory:
        assert memory.sessions.stats()["pending"] == 0
