"""Names that become paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import InvalidInput, MnemosError
from mnemos.sessions.sessions import Sessions

from .checks import code_of


def test_a_backup_overwrites_nothing(sessions: Sessions, memory: mnemos.Memory, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    link = tmp_path / "link.db"
    link.symlink_to(precious)
    for target in (
        precious,
        link,
        tmp_path,
        Path("/"),
        Path("/dev/null"),
        Path("/etc/passwd"),
        memory.settings.home,
    ):
        with pytest.raises(MnemosError) as failure:
            memory.backup(target)
        assert failure.value.code in {"already_exists", "invalid_input", "permission_denied"}
    assert precious.read_text() == "precious"
    with pytest.raises(MnemosError):
        memory.backup(memory.settings.home / "mnemos.db")
    assert sessions.message_count() == 4


@pytest.mark.parametrize(
    "name", ["", "a\0b", "x" * 300, "\ud800", "missing/folder/copy.db", "copy.db/", "mnemos.db-wal"]
)
def test_a_name_that_is_not_a_place_for_a_backup_is_refused(
    sessions: Sessions, memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: Any
) -> None:
    monkeypatch.chdir(memory.settings.home)
    sessions.append_message("s", "user", "keeps the log there")
    code = code_of(lambda: memory.backup(name))
    assert code in {None, "invalid_input", "not_found", "already_exists", "permission_denied"}
    assert sessions.message_count() == 5
    assert sessions.append_message("s", "user", "goes on") > 0


def test_a_name_that_leads_elsewhere_is_where_the_copy_goes(
    sessions: Sessions, memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup may be written anywhere its user may write; it says where."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    written = memory.backup("../../up.db")
    assert written.samefile(tmp_path / "up.db")
    assert written.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name", ["", "a\0b", "x" * 300, "\ud800", "/", "/dev/null", "/dev/zero", "/etc/passwd"]
)
def test_a_file_that_is_not_a_backup_is_not_restored(
    sessions: Sessions, memory: mnemos.Memory, name: Any
) -> None:
    with pytest.raises(MnemosError) as failure:
        memory.restore(name)
    assert failure.value.code in {
        "invalid_input",
        "not_found",
        "not_a_database",
        "corrupt",
        "permission_denied",
    }
    assert sessions.message_count() == 4


@pytest.mark.parametrize(
    "home", ["a\0b", "x" * 300, "\ud800", "/dev/null", "/dev/null/home", "/proc/self/nowhere"]
)
def test_a_path_that_is_not_a_home_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MnemosError) as failure:
        mnemos.open(home)
    assert failure.value.code in {"invalid_input", "permission_denied", "not_found", "unavailable"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "space",
    [
        "",
        " ",
        "..",
        "../other",
        "a/../b",
        "/a",
        "a/",
        "a//b",
        "a b",
        "a\0",
        "a\n",
        "é",
        "x" * 201,
        "*",
        "%",
        5,
        None,
        [],
    ],
)
def test_a_name_that_is_not_a_space_is_refused(tmp_path: Path, space: Any) -> None:
    if space is None:
        return
    with pytest.raises(InvalidInput):
        mnemos.open(tmp_path / "new", space=space)


def test_a_session_id_never_becomes_a_path(sessions: Sessions, memory: mnemos.Memory, tmp_path: Path) -> None:
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    sessions.create_session("../../outside", "cli")
    sessions.append_message("../../outside", "user", "words")
    sessions.export_session("../../outside")
    sessions.delete_session("../../outside")
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
