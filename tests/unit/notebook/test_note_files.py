"""Damaged and oversized files are never overwritten, and a copy is kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hands import ByHand

from mnemos import Memory
from mnemos.errors import Corrupt, MnemosError, Refused
from mnemos.notebook.notebook import Notebook

BROKEN = {"not UTF-8": b"caf\xe9\n\xa7\ntwo", "NUL": b"one\0two", "UTF-16": "one\n§\ntwo".encode("utf-16")}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_not_text_is_never_overwritten_and_a_copy_is_kept(
    notebook: Notebook, by_hand: ByHand, folder: Path, kind: str
) -> None:
    notebook.add("before")
    file = by_hand(BROKEN[kind])
    for change in (
        lambda: notebook.add("x"),
        lambda: notebook.remove("before"),
        lambda: notebook.write("memory", "new"),
        lambda: notebook.entries(),
    ):
        with pytest.raises(Corrupt) as raised:
            change()
        assert file.read_bytes() == BROKEN[kind]
        (copy,) = folder.glob("*kept*")
        assert str(copy) in str(raised.value)
        assert copy.read_bytes() == BROKEN[kind]
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    notebook.add("Sam", target="user")
    file.write_text("repaired")
    notebook.add("after")
    assert notebook.entries() == ["repaired", "after"]


def test_a_file_made_larger_than_its_limit_is_left_and_copied_once(
    notebook: Notebook, by_hand: ByHand, folder: Path
) -> None:
    text = "one\n§\n" + "x" * 2_300
    file = by_hand(text)
    for _ in range(3):
        with pytest.raises(Refused) as raised:
            notebook.add("two")
        (copy,) = folder.glob("*kept*")
        assert str(copy) in str(raised.value)
        assert copy.read_text() == text
    with pytest.raises(Refused):
        notebook.remove("one")
    assert file.read_text() == text
    other = text + "y"
    by_hand(other)
    with pytest.raises(Refused):
        notebook.add("two")
    assert {path.read_text() for path in folder.glob("*kept*")} == {text, other}
    assert notebook.use().percent > 100
    assert notebook.use().warning


def test_a_file_that_was_too_large_is_written_again_after_it_was_shortened(
    notebook: Notebook, by_hand: ByHand
) -> None:
    by_hand("x" * 2_300)
    with pytest.raises(Refused):
        notebook.add("two")
    notebook.write("memory", "short\n§\nanother")
    notebook.add("two")
    assert notebook.entries() == ["short", "another", "two"]


def test_a_limit_that_was_lowered_drops_nothing(home: Path, folder: Path) -> None:
    with Memory.at(home, embedder="none") as memory:
        memory.notebook.add("x" * 500)
    with Memory.at(home, memory_characters=100, embedder="none") as memory:
        with pytest.raises(Refused):
            memory.notebook.add("two")
        assert memory.notebook.use().percent == 500
        assert (folder / "MEMORY.md").read_text() == "x" * 500


@pytest.mark.parametrize("obstacle", ["folder", "dangling link"])
def test_a_failed_copy_does_not_hide_the_error(
    notebook: Notebook, by_hand: ByHand, folder: Path, obstacle: str
) -> None:
    file = by_hand("x" * 2_300)
    copy = folder / "MEMORY.kept-1.md"
    if obstacle == "folder":
        copy.mkdir()
    else:
        copy.symlink_to("nowhere")
    with pytest.raises(Refused):
        notebook.add("y")
    file.write_bytes(b"\xff")
    with pytest.raises(Corrupt):
        notebook.add("y")
    assert file.read_bytes() == b"\xff"
    assert not (folder / "nowhere").exists()


def test_a_folder_in_place_of_a_file_is_reported_and_left(notebook: Notebook, folder: Path) -> None:
    (folder / "MEMORY.md" / "inside").mkdir(parents=True)
    for change in (
        lambda: notebook.add("x"),
        lambda: notebook.write("memory", "x"),
        lambda: notebook.entries(),
    ):
        with pytest.raises(Refused):
            change()
    assert (folder / "MEMORY.md" / "inside").is_dir()
    assert "MEMORY.md" in notebook.block()
    notebook.add("Sam", target="user")


def test_the_folder_of_the_files_may_be_gone_or_a_file(notebook: Notebook, folder: Path) -> None:
    assert notebook.entries() == []
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("not a folder")
    with pytest.raises(MnemosError):
        notebook.add("x")
    assert folder.read_text() == "not a folder"
    folder.unlink()
    notebook.add("x")
    assert notebook.entries() == ["x"]


def test_a_file_deleted_while_the_memory_is_open_is_begun_anew(notebook: Notebook, folder: Path) -> None:
    notebook.add("one")
    (folder / "MEMORY.md").unlink()
    assert notebook.entries() == []
    notebook.add("two")
    assert notebook.entries() == ["two"]
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert notebook.entries() == []
    notebook.add("three")
    assert notebook.entries() == ["three"]


@pytest.mark.parametrize("kind", ["fifo", "loop", "device"])
def test_a_special_file_does_not_block(memory: Memory, notebook: Notebook, folder: Path, kind: str) -> None:
    folder.mkdir(parents=True)
    file = folder / "MEMORY.md"
    if kind == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to({"loop": "MEMORY.md", "device": "/dev/zero"}[kind])
    with pytest.raises(MnemosError):
        notebook.add("x")
    assert "MEMORY.md" in notebook.block()
    assert memory.recall("anything").hits == ()
    assert file.is_symlink() or stat.S_ISFIFO(file.stat().st_mode)


def test_a_link_to_a_file_elsewhere_stays_a_link(notebook: Notebook, folder: Path, tmp_path: Path) -> None:
    """People keep such files with their other settings."""
    elsewhere = tmp_path / "dotfiles.md"
    elsewhere.write_text("one")
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").symlink_to(elsewhere)
    assert notebook.entries() == ["one"]
    notebook.add("two")
    assert notebook.entries() == ["one", "two"]
    assert (folder / "MEMORY.md").is_symlink()
    assert elsewhere.read_text() == "one\n§\ntwo"


def test_leftovers_of_a_killed_writer_do_not_block_and_stay_private(notebook: Notebook, folder: Path) -> None:
    folder.mkdir(parents=True)
    # The number is that of a process that runs: numbers come again.
    left = folder / f".MEMORY.md.{os.getppid()}.new"
    left.write_text("half a fi")
    left.chmod(0o644)
    notebook.add("one")
    assert notebook.entries() == ["one"]
    assert stat.S_IMODE((folder / "MEMORY.md").stat().st_mode) == 0o600
    assert not left.exists()


def test_links_laid_where_we_write_lead_nowhere(notebook: Notebook, folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder.mkdir(parents=True)
    (folder / f".MEMORY.md.{os.getpid()}.new").symlink_to(victim)
    (folder / ".USER.md.lock").symlink_to(victim)
    for target in ("memory", "user"):
        try:
            notebook.add("one", target=target)
        except MnemosError:
            continue
    assert victim.read_text() == "precious"
