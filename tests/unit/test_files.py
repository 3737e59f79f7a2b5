"""Small files and their folders: private, locked, replaced whole."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemos import files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_every_folder_that_is_made_for_a_lock_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "person" / "home" / "hooks"
    with files.locked(folder, ".lock", 1.0):
        assert [mode(one) for one in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    with files.locked(there / "home", ".lock", 1.0):
        assert mode(there) == 0o755


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        files.make_private(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        files.make_private(tmp_path / "file" / "home")
