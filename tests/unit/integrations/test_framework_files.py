"""The files of a memory tool, with several writers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.entries.backend import NewEntry
from mnemos.errors import Busy
from mnemos.integrations.shared.files import FileProblem, MemoryFiles

NAMESPACE = ("default", "memory-tool")
_CHILD = """
import sys, mnemos
from mnemos.integrations.shared.files import MemoryFiles
with mnemos.open(sys.argv[1]) as memory:
    for number in range(40):
        MemoryFiles(memory).insert("/memories/a.md", 0, f"{sys.argv[2]}{number}")
"""


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with mnemos.open(tmp_path) as opened:
        yield opened


def test_two_processes_that_edit_a_file_lose_no_edit(memory: Any, tmp_path: Path) -> None:
    files = MemoryFiles(memory)
    files.create("/memories/a.md", "")
    children = [subprocess.Popen([sys.executable, "-c", _CHILD, str(tmp_path), name]) for name in "xy"]
    assert [child.wait() for child in children] == [0, 0]
    lines = {line.split("\t")[1] for line in files.view("/memories/a.md").split("\n")[1:]}
    assert lines >= {f"{name}{number}" for name in "xy" for number in range(40)}


def make_files(memory: Any, count: int) -> None:
    folder = NewEntry("/memories/d", {"folder": True}, fields=[])
    memory.entries.write(NAMESPACE, [folder] + [NewEntry(f"/memories/d/{n}", str(n)) for n in range(count)])


def test_a_folder_of_many_files_is_renamed_and_deleted_whole(memory: Any) -> None:
    make_files(memory, 120)
    files = MemoryFiles(memory)
    files.rename("/memories/d", "/memories/e")
    keys = memory.entries.list_keys(NAMESPACE)
    assert sorted(keys) == sorted(["/memories/e"] + [f"/memories/e/{n}" for n in range(120)])
    assert "\t119" in files.view("/memories/e/119")
    files.delete("/memories/e")
    assert memory.entries.list_keys(NAMESPACE) == []


@pytest.mark.parametrize("command", ["rename", "delete"])
def test_an_interrupted_command_is_finished_by_the_same_command(
    memory: Any, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    make_files(memory, 120)
    files, write, calls = MemoryFiles(memory), memory.entries.write, []

    def fail_late(*args: Any, **kwargs: Any) -> None:
        calls.append(args)
        if len(calls) > 2:
            raise Busy("the disk is busy")
        write(*args, **kwargs)

    given = ("/memories/d", "/memories/e") if command == "rename" else ("/memories/d",)
    with monkeypatch.context() as patch:
        patch.setattr(memory.entries, "write", fail_late)
        with pytest.raises(Busy):
            getattr(files, command)(*given)
    getattr(files, command)(*given)
    with pytest.raises(FileProblem):
        files.view("/memories/d")
    assert len(memory.entries.list_keys(NAMESPACE)) == (121 if command == "rename" else 0)


@pytest.mark.parametrize("command", ["rename", "delete"])
def test_a_file_made_in_a_folder_that_is_leaving_leaves_with_it(
    memory: Any, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    make_files(memory, 2)
    files, list_keys = MemoryFiles(memory), memory.entries.list_keys

    def list_then_create(namespace: Any) -> list[str]:
        known = list_keys(namespace)
        monkeypatch.undo()
        MemoryFiles(memory).create("/memories/d/late", "text")
        return known

    monkeypatch.setattr(memory.entries, "list_keys", list_then_create)
    given = ("/memories/d", "/memories/e") if command == "rename" else ("/memories/d",)
    getattr(files, command)(*given)
    left = ["/memories/e", "/memories/e/0", "/memories/e/1", "/memories/e/late"]
    assert sorted(list_keys(NAMESPACE)) == (left if command == "rename" else [])
