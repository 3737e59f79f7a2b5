"""Versions of the notebook, and edits of a version that others changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import Refused, TooLarge
from mnemos.testing import FixedClock

GAP = "\n§\n"


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with mnemos.open(home, clock=clock, actor="tester", embedder="none") as opened:
        yield opened


def shown(memory: Memory) -> tuple[list[str], str]:
    file = memory.call("notebook_show")["files"][0]
    return file["entries"], file["version"]


def edit(memory: Memory, *entries: str, base: str | None = None) -> dict[str, Any]:
    return memory.call("notebook_edit", {"target": "memory", "text": GAP.join(entries), "base": base})


def test_versions_are_listed_newest_first_and_can_be_restored(memory: Memory, clock: FixedClock) -> None:
    for note in ("one", "two", "three"):
        memory.notebook.add(note)
        clock.advance(60)
    memory.notebook.remove("two")
    found = memory.call("notebook_versions")["versions"]
    states = [["one", "three"], ["one", "two", "three"], ["one", "two"], ["one"]]
    assert [one["entries"] for one in found] == states
    assert found[0]["version"] == shown(memory)[1]
    assert {one["actor"] for one in found} == {"tester"}
    assert memory.call("notebook_versions", {"limit": 2})["versions"] == found[:2]
    memory.call("notebook_edit", {"target": "memory", "text": found[1]["text"]})
    assert shown(memory) == (["one", "two", "three"], found[1]["version"])


def test_an_edit_by_hand_is_the_newest_version_before_it_is_logged(memory: Memory, home: Path) -> None:
    memory.notebook.add("one")
    (home / "memories" / "MEMORY.md").write_text(f"one{GAP}by hand")
    found = memory.call("notebook_versions")["versions"]
    assert [one["entries"] for one in found] == [["one", "by hand"], ["one"]]
    assert (found[0]["at"], found[0]["entry"]) == (None, None)


def test_a_file_that_was_never_written_has_one_empty_version(memory: Memory) -> None:
    (only,) = memory.call("notebook_versions", {"target": "user"})["versions"]
    assert only["entries"] == []


def test_two_editors_lose_nothing(memory: Memory) -> None:
    edit(memory, "a", "b", "c")
    _, base = shown(memory)
    first = edit(memory, "a", "b by the first", "c", "new by the first", base=base)
    second = edit(memory, "a", "b by the second", "new by the second", base=base)
    assert (first["merged"], second["merged"]) == (False, True)
    entries, version = shown(memory)
    assert entries == ["a", "b by the second", "new by the second", "b by the first", "new by the first"]
    assert second["version"] == version


def test_a_manual_edit_meanwhile_is_kept(memory: Memory, home: Path) -> None:
    edit(memory, "a")
    _, base = shown(memory)
    (home / "memories" / "MEMORY.md").write_text(f"a{GAP}by hand")
    edit(memory, "a", "in the editor", base=base)
    assert shown(memory)[0] == ["a", "in the editor", "by hand"]


def test_a_version_that_is_not_there_changes_nothing(memory: Memory) -> None:
    edit(memory, "a")
    with pytest.raises(Refused):
        edit(memory, "b", base="0123456789ab")
    assert shown(memory)[0] == ["a"]


def test_a_forgotten_version_can_be_neither_seen_nor_edited(memory: Memory) -> None:
    memory.notebook.add("keep this")
    memory.notebook.add("the secret plan")
    _, base = shown(memory)
    (hit,) = [hit for hit in memory.recall("secret plan", kinds=["note"]).hits if "secret" in hit.text]
    memory.forget(f"note:{hit.ref}")
    assert "secret" not in str(memory.call("notebook_versions"))
    with pytest.raises(Refused):
        edit(memory, "keep this", "more", base=base)


def test_a_merge_keeps_the_limit(memory: Memory) -> None:
    half = memory.notebook.limit("memory") // 2
    edit(memory, "a")
    _, base = shown(memory)
    edit(memory, "a", "x" * half, base=base)
    with pytest.raises(TooLarge):
        edit(memory, "a", "y" * half, base=base)
    assert shown(memory)[0] == ["a", "x" * half]
