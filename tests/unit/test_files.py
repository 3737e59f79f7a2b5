"""Small files and their folders: private, locked, replaced whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemos import files
from mnemos.errors import InvalidInput, PermissionDenied


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_folders_made_for_a_lock_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "person" / "home" / "hooks"
    with files.lock(folder, ".lock", 1.0):
        assert [mode(one) for one in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3


def test_an_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    with files.lock(there / "home", ".lock", 1.0):
        assert mode(there) == 0o755


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        files.make_private(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        files.make_private(tmp_path / "file" / "home")


def test_a_link_to_something_else_than_a_file_is_not_replaced(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(PermissionDenied):
            files.replace(path, b"data")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir])
def test_only_regular_files_are_read(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    kind(tmp_path / "other")
    with pytest.raises(OSError, match="regular"):
        files.open_regular(tmp_path / "other")


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert files.read_bounded(file, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        files.read_bounded(file, 4)


@pytest.fixture
def ended() -> int:
    """The number of a process that is over."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for data in (b"one", b"two"):
        files.replace(file, data)
        assert (file.read_bytes(), mode(file)) == (data, 0o600)
    file.chmod(0o640)
    files.replace(file, b"three", keeps_mode=True, durable=False)
    assert (file.read_bytes(), mode(file)) == (b"three", 0o640)
    files.replace(file, b"four")
    assert (file.read_bytes(), mode(file)) == (b"four", 0o600)
    assert list(tmp_path.iterdir()) == [file]


def test_the_next_change_deletes_files_of_a_killed_process(tmp_path: Path, ended: int) -> None:
    (tmp_path / f".file.{ended}.new").write_text("a secret")
    (tmp_path / f".file.{os.getpid()}.new").write_text("of a process that had our number")
    files.replace(tmp_path / "file", b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_files_of_a_running_process_stay_unless_alone(tmp_path: Path) -> None:
    others = {tmp_path / f".file.{os.getppid()}.new", tmp_path / ".file.mine.new", tmp_path / ".files.1.new"}
    for other in others:
        other.touch()
    file = tmp_path / "file"
    files.replace(file, b"new")
    assert set(tmp_path.iterdir()) == {file, *others}
    files.replace(file, b"newer", alone=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == [".file.mine.new", ".files.1.new", "file"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    files.replace(link, b"new")
    assert (link.is_symlink(), (tmp_path / "file").read_bytes()) == (True, b"new")


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(InvalidInput):
        files.replace(circle, b"new")
    assert circle.is_symlink()


def test_a_scratch_folder_is_private_and_gone_at_the_end(tmp_path: Path) -> None:
    def fail() -> None:
        with files.scratch_folder(tmp_path) as folder:
            (folder / "file").touch()
            assert mode(folder) == 0o700
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_only_abandoned_scratch_folders_are_deleted_by_the_next(tmp_path: Path, ended: int) -> None:
    names = (".mnemos-00ff.unfinished", f".mnemos-{ended}.unfinished", f".mnemos-{os.getpid()}.unfinished")
    for name in names:
        (tmp_path / name / "deep").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".mnemos-link.unfinished").symlink_to(elsewhere)
    (tmp_path / ".mnemos-file.unfinished").touch()
    with files.scratch_folder(tmp_path) as first, files.scratch_folder(tmp_path) as second:
        assert first.exists()
        assert second.exists()
        assert not any((tmp_path / name).exists() for name in names)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".mnemos-file.unfinished",
        ".mnemos-link.unfinished",
        "elsewhere",
    ]
    assert list(elsewhere.iterdir()) == []


def test_a_scratch_folder_of_a_killed_process_is_deleted(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from mnemos import files\n"
    script += "with files.scratch_folder(Path(sys.argv[1])) as made: print(made, flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    made = Path(process.stdout.readline().strip())
    with files.scratch_folder(tmp_path):
        assert made.exists()
    process.kill()
    process.communicate()
    assert made.exists()
    with files.scratch_folder(tmp_path):
        assert not made.exists()
