"""Files moved, replaced or deleted while a process writes: all that was acknowledged is found."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import mnemos
from mnemos.errors import Corrupt, DatabaseGone

from .processes import Child, Spawn
from .soundness import assert_sound, code_of

Fault = Callable[[Path], object]


def _replace(file: Path) -> None:
    """Put another database in the place of a file, as a sync program does."""
    other = file.with_name("other")
    with mnemos.open(other) as memory:
        memory.sessions.create_session("other", "cli")
    (other / "mnemos.db").rename(file)


def _delete(home: Path, *names: str) -> None:
    for name in names:
        (home / name).unlink()


def _delete_home(home: Path) -> None:
    # A writer may create a file in it while it is being emptied.
    while home.exists():
        shutil.rmtree(home, ignore_errors=True)


FAULTS: dict[str, Fault] = {
    "database moved": lambda home: (home / "mnemos.db").rename(home / "elsewhere.db"),
    "database replaced": lambda home: _replace(home / "mnemos.db"),
    "database deleted": lambda home: _delete(home, "mnemos.db"),
    "database emptied": lambda home: os.truncate(home / "mnemos.db", 0),
    "home deleted": _delete_home,
    "home renamed": lambda home: home.rename(home.with_name("renamed")),
    "home replaced": lambda home: (home.rename(home.with_name("renamed")), home.mkdir()),
    "log deleted": lambda home: _delete(home, "mnemos.db-wal"),
    "log replaced": lambda home: _replace(home / "mnemos.db-wal"),
    "log and shared memory deleted": lambda home: _delete(home, "mnemos.db-wal", "mnemos.db-shm"),
    "all three deleted": lambda home: _delete(home, "mnemos.db", "mnemos.db-wal", "mnemos.db-shm"),
}


# Of a file that was emptied, a process saves the pages that it remembers; that takes long.
MOVES = [name for name in FAULTS if name != "database emptied"]


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> Fault:
    return FAULTS[request.param]


def words(file: Path) -> set[str]:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {content for (content,) in connection.execute("SELECT content FROM messages")}
    finally:
        connection.close()


def ids(memory: mnemos.Memory) -> list[str]:
    return [session["id"] for session in memory.sessions.search_sessions()]


def rescued(folder: Path) -> list[Path]:
    return sorted(folder.rglob("mnemos.rescued-*"))


def acknowledge(writer: Child, count: int) -> list[str]:
    return [writer.line() for _ in range(count)]


def test_a_writer_stops_and_all_that_it_acknowledged_is_in_one_file(
    home: Path, tmp_path: Path, spawn: Spawn, fault: Fault
) -> None:
    writer = spawn("append_until_refused", home=str(home), session="s")
    acknowledged = acknowledge(writer, 200)
    fault(home)
    *more, error, later_append, later_search = writer.finish_by_itself()
    assert error["code"] == later_append == later_search == "database_gone"
    (file,) = rescued(tmp_path)
    assert str(file) in error["message"]
    assert file.stat().st_mode & 0o777 == 0o600
    # Neither less nor more: the refused call is not in it.
    assert words(file) == {*acknowledged, *more}
    # The error says how to go on.
    with mnemos.Memory.at(home) as memory:
        memory.restore(file)
        assert len(memory.sessions.get_messages("s")) == len(acknowledged) + len(more)
        memory.sessions.append_message("s", "user", "goes on")
    assert_sound_but_rescued(home)


def assert_sound_but_rescued(home: Path) -> None:
    for file in rescued(home):
        file.unlink()
    assert_sound(home)


@pytest.mark.parametrize("fault", MOVES, indirect=True)
def test_two_writers_both_stop_and_nothing_is_lost(
    home: Path, tmp_path: Path, spawn: Spawn, fault: Fault
) -> None:
    writers = [spawn("append_until_refused", home=str(home), session=name) for name in ("a", "b")]
    acknowledged = [word for writer in writers for word in acknowledge(writer, 50)]
    fault(home)
    for writer in writers:
        *more, error, _, _ = writer.finish_by_itself()
        assert error["code"] == "database_gone"
        acknowledged += more
    saved = rescued(tmp_path)
    assert len(saved) == 2
    assert set(acknowledged) <= set().union(*map(words, saved))


@pytest.mark.parametrize("fault", MOVES, indirect=True)
def test_a_process_that_only_closes_saves_what_it_acknowledged(
    home: Path, tmp_path: Path, spawn: Spawn, fault: Fault
) -> None:
    writer = spawn("append_then_close", home=str(home))
    writer.line()
    fault(home)
    assert writer.finish() == ["database_gone"]
    (file,) = rescued(tmp_path)
    assert words(file) == {"s1"}


def test_a_memory_that_lost_its_file_stays_refused_when_the_file_is_back(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        for _ in range(2):
            (home / "mnemos.db").rename(home / "elsewhere.db")
            assert code_of(lambda: memory.sessions.create_session("t", "cli")) == "database_gone"
            (home / "elsewhere.db").rename(home / "mnemos.db")
            assert code_of(lambda: memory.sessions.create_session("t", "cli")) == "database_gone"
            assert code_of(memory.sessions.session_count) == "database_gone"
    assert len(rescued(home)) == 1
    with mnemos.open(home) as memory:
        assert ids(memory) == ["s"]


def test_opening_a_home_whose_log_was_deleted_in_use_says_so(home: Path, spawn: Spawn) -> None:
    writer = spawn("append_then_close", home=str(home))
    writer.line()
    _delete(home, "mnemos.db-wal")
    assert code_of(lambda: mnemos.open(home)) == "database_gone"
    assert writer.finish() == ["database_gone"]


def test_a_log_is_never_left_to_the_database_that_took_its_place(home: Path, spawn: Spawn) -> None:
    writer = spawn("append_until_refused", home=str(home), session="s")
    acknowledge(writer, 50)
    _replace(home / "mnemos.db")
    writer.finish_by_itself()
    with mnemos.open(home) as memory:
        assert ids(memory) == ["other"]
    assert_sound_but_rescued(home)


def test_a_forked_child_and_its_parent_are_both_refused(home: Path, tmp_path: Path, spawn: Spawn) -> None:
    family = spawn("fork_and_append", home=str(home))
    family.line()
    _delete_home(home)
    assert sorted(family.finish()) == [[False, "database_gone"], [True, "database_gone"]]
    # The child had opened nothing; its parent had.
    assert [words(file) for file in rescued(tmp_path)] == [{"s1"}]
    assert not home.exists()


def test_a_restore_and_a_backup_disturb_no_running_writer(home: Path, tmp_path: Path, spawn: Spawn) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.backup(tmp_path / "backup.db")
        writer = spawn("append_until_refused", home=str(home), session="s")
        acknowledged = acknowledge(writer, 50)
        memory.backup(tmp_path / "later.db")
        former = memory.restore(tmp_path / "backup.db")
        acknowledged += acknowledge(writer, 50)
        *more, append, search = writer.finish()
    assert (append, search) == (None, None)
    assert former is not None
    assert {*acknowledged, *more, "too late"} == words(former) | words(home / "mnemos.db")
    assert rescued(tmp_path) == []
    assert_sound(home)


def test_an_idle_process_closes_in_peace_after_a_repair(home: Path, tmp_path: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "before")
        with mnemos.open(home) as other:
            list(other.home.salvage())
            assert other.sessions.message_count() == 1
    assert rescued(tmp_path) == []
    assert_sound(home)


def test_a_reader_follows_the_file_and_saves_nothing(home: Path, tmp_path: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
    with mnemos.open(home, read_only=True) as reader:
        assert reader.sessions.session_count() == 1
        (home / "mnemos.db").rename(home / "elsewhere.db")
        for _ in range(2):
            with pytest.raises(DatabaseGone):
                ids(reader)
        (home / "elsewhere.db").rename(home / "mnemos.db")
        assert ids(reader) == ["s"]
        _replace(home / "mnemos.db")
        assert ids(reader) == ["other"]
    assert rescued(tmp_path) == []


def test_background_work_is_quiet_and_makes_nothing_in_place_of_a_home(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = mnemos.open(home)
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_message("s", "user", "words")
    home.rename(tmp_path / "renamed")
    caplog.clear()
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            assert memory.storage._step() is False
            assert memory.storage._idle_step() is False
            memory.storage.wake()
        with pytest.raises(DatabaseGone):
            memory.close()
        memory.close()
    assert caplog.messages == []
    assert not home.exists()
    assert len(rescued(tmp_path)) == 1


def test_a_rescue_that_fails_is_tried_again_and_made_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise apsw.FullError

    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "words")
        (home / "mnemos.db").unlink()
        with monkeypatch.context() as full:
            full.setattr(os, "urandom", lambda _: b"\0\0\0\0")
            full.setattr(
                "mnemos.storage.sqlite.files._copy", lambda *_: (_ for _ in ()).throw(apsw.FullError())
            )
            for _ in range(2):
                with pytest.raises(DatabaseGone):
                    memory.sessions.create_session("t", "cli")
        assert [file.name for file in home.iterdir() if "rescued" in file.name] == []
        messages = []
        for _ in range(3):
            with pytest.raises(DatabaseGone) as refused:
                memory.sessions.create_session("t", "cli")
            messages.append(str(refused.value))
    assert len(set(messages)) == 1
    (file,) = rescued(tmp_path)
    assert words(file) == {"words"}


def test_a_missing_home_is_restored_to_its_parent_or_the_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with mnemos.open(tmp_path / "a" / "b" / "home") as memory:
        memory.sessions.create_session("s", "cli")
        shutil.rmtree(tmp_path / "a")
        with pytest.raises(DatabaseGone):
            memory.sessions.create_session("t", "cli")
    assert [file.parent for file in rescued(tmp_path)] == [temporary]


# --- opening what is left -----------------------------------------------------------------------


def test_an_empty_file_is_not_taken_for_a_new_home(home: Path, tmp_path: Path, spawn: Spawn) -> None:
    with mnemos.open(home) as memory:
        memory.backup(tmp_path / "backup.db")
    writer = spawn("append_turns", home=str(home), session="s", seed=1)
    writer.line()
    writer.kill()
    os.truncate(home / "mnemos.db", 0)
    log = (home / "mnemos.db-wal").read_bytes()
    for read_only in (False, True):
        assert code_of(lambda: mnemos.open(home, read_only=read_only)) == "corrupt"  # noqa: B023
    with mnemos.Memory.at(home) as memory:
        assert [check.ok for check in memory.doctor()] == [False]
        with pytest.raises(Corrupt):
            list(memory.doctor(repair=True))
    # SQLite itself would delete the log of an empty database.
    assert (home / "mnemos.db").stat().st_size == 0
    assert (home / "mnemos.db-wal").read_bytes() == log
    with mnemos.Memory.at(home) as memory:
        kept = memory.restore(tmp_path / "backup.db")
        assert memory.sessions.message_count() == 0
    assert kept is not None
    assert kept.with_name(kept.name + "-wal").read_bytes() == log
    assert_sound(home)


def test_an_empty_file_alone_is_refused_until_it_is_deleted(home: Path) -> None:
    home.mkdir()
    (home / "mnemos.db").touch(mode=0o600)
    assert code_of(lambda: mnemos.open(home)) == "corrupt"
    (home / "mnemos.db").unlink()
    mnemos.open(home).close()
    assert_sound(home)


def test_a_log_without_its_database_is_kept_until_it_is_put_back(home: Path, spawn: Spawn) -> None:
    writer = spawn("append_turns", home=str(home), session="s", seed=1)
    acknowledged = [writer.line() for _ in range(5)]
    acknowledged += writer.kill()
    (home / "mnemos.db").rename(home / "elsewhere.db")
    for read_only in (False, True):
        assert code_of(lambda: mnemos.open(home, read_only=read_only)) == "corrupt"  # noqa: B023
    (home / "elsewhere.db").rename(home / "mnemos.db")
    with mnemos.open(home) as memory:
        assert memory.sessions.message_count() >= 3 * len(acknowledged)
    assert_sound(home)


def test_a_missing_database_with_a_rescued_copy_is_not_begun_afresh(home: Path, tmp_path: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        for file in home.glob("mnemos.db*"):
            file.unlink()
        assert code_of(lambda: memory.sessions.create_session("t", "cli")) == "database_gone"
    assert code_of(lambda: mnemos.open(home)) == "corrupt"
    (file,) = rescued(home)
    with mnemos.Memory.at(home) as memory:
        memory.restore(file)
        assert ids(memory) == ["s"]
        assert [check.name for check in memory.doctor() if not check.ok] == ["rescued"]
