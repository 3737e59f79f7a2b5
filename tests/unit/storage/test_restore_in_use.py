"""A backup is put back while others have the file open and go on writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mnemos
from contract.storage.openers import message
from mnemos.errors import Busy
from mnemos.storage.sqlite import files


def _home(path: Path, *spaces: str) -> Path:
    """A home whose spaces were made in this order, and are numbered so."""
    for space in spaces:
        with mnemos.open(path, space=space) as memory:
            memory.sessions.create_session("s", "cli", title=space)
    return path


def _words(home: Path, space: str) -> list[str]:
    with mnemos.open(home, space=space) as memory:
        return [said["content"] for said in memory.sessions.get_messages("s")]


def test_nothing_can_be_stored_between_putting_aside_what_was_there_and_restoring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _home(tmp_path / "home", "a")
    with mnemos.open(home, space="a") as memory, mnemos.open(home, space="a") as other:
        memory.backup(tmp_path / "backup.db")
        put_aside = memory.storage.backup

        def then_append(target: Path, *rest: Any) -> None:
            put_aside(target, *rest)
            with pytest.raises(Busy):
                other.storage.write(
                    lambda tx: tx.sessions.append("s", [message("in neither")], 0.0), within=0.0
                )

        monkeypatch.setattr(memory.storage, "backup", then_append)
        assert memory.restore(tmp_path / "backup.db") is not None
        other.sessions.append_message("s", "user", "afterwards")
    assert _words(home, "a") == ["afterwards"]


def test_when_nothing_can_be_put_aside_nothing_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _home(tmp_path / "home", "a")
    with mnemos.open(home, space="a") as memory:
        memory.backup(tmp_path / "backup.db")
        memory.sessions.append_message("s", "user", "one")

        def fail(*_: Any) -> None:
            raise Busy("not now")

        monkeypatch.setattr(memory.storage, "backup", fail)
        with pytest.raises(Busy):
            memory.restore(tmp_path / "backup.db")
        memory.sessions.append_message("s", "user", "two")
    assert _words(home, "a") == ["one", "two"]


def test_a_write_at_the_moment_of_a_restore_goes_to_its_own_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mnemos.open(_home(tmp_path / "elsewhere", "b", "a")) as memory:
        memory.backup(tmp_path / "backup.db")
    home = _home(tmp_path / "home", "a", "b")
    with mnemos.open(home) as memory, mnemos.open(home, space="a") as other:
        other.sessions.append_message("s", "user", "before")
        finish = files.use_log

        def append_then_finish(connection: Any) -> None:
            other.sessions.append_message("s", "user", "meant for a")
            finish(connection)

        monkeypatch.setattr(files, "use_log", append_then_finish)
        memory.restore(tmp_path / "backup.db")
        assert other.sessions.get_session("s")["title"] == "a"
    assert _words(home, "b") == []
    assert _words(home, "a") == ["meant for a"]
