"""Recall finds notes until their entry is removed, each space its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hands import ByHand

from mnemos import Memory
from mnemos.notebook.notebook import Notebook


def found(memory: Memory, query: str) -> list[str]:
    return [hit.text for hit in memory.recall(query, kinds=["note"]).hits]


def test_a_note_is_found_with_its_kind_and_gone_when_removed(memory: Memory, notebook: Notebook) -> None:
    notebook.add("The build server is called barrel")
    notebook.add("Sam lives in Lisbon", target="user")
    (hit,) = memory.recall("how is the build server called?").hits
    assert (hit.kind, hit.text) == ("note", "The build server is called barrel")
    assert found(memory, "where does Sam live?") == ["Sam lives in Lisbon"]
    notebook.replace("barrel", "The build server is called bucket")
    assert found(memory, "build server") == ["The build server is called bucket"]
    notebook.remove("bucket")
    assert found(memory, "build server") == []
    assert found(memory, "barrel") == []


def test_what_is_edited_by_hand_is_found_at_once(
    memory: Memory, notebook: Notebook, by_hand: ByHand, home: Path
) -> None:
    notebook.add("the quetzal sleeps")
    file = by_hand("the lamp is red\n§\nthe boat is green")
    assert found(memory, "quetzal") == []
    assert found(memory, "which colour has the lamp?") == ["the lamp is red"]
    with Memory.at(home, embedder="none") as other:
        assert found(other, "boat") == ["the boat is green"]
    file.unlink()
    assert found(memory, "lamp boat") == []


def test_what_is_edited_back_by_hand_is_found_again_in_every_process(
    memory: Memory, notebook: Notebook, by_hand: ByHand, home: Path
) -> None:
    notebook.add("the quetzal sleeps")
    assert found(memory, "quetzal")
    by_hand("the lamp is red")
    with Memory.at(home, embedder="none") as other:
        assert found(other, "quetzal") == []
    by_hand("the quetzal sleeps")
    assert found(memory, "quetzal") == ["the quetzal sleeps"]
    assert found(memory, "lamp") == []


def test_spaces_do_not_share_notes(home: Path) -> None:
    spaces = ("default", "team", "team/memories", "team/memories/MEMORY.md", "team/a", "Team")
    opened = {space: Memory.at(home, space=space, embedder="none") for space in spaces}
    for space, memory in opened.items():
        memory.notebook.add(f"the quetzal of {space}")
        memory.notebook.add(f"Sam of {space}", target="user")
    for space, memory in opened.items():
        assert memory.notebook.entries() == [f"the quetzal of {space}"]
        assert found(memory, "quetzal") == [f"the quetzal of {space}"]
        assert memory.notebook.block().count(" of ") == 2
        memory.notebook.remove("quetzal")
        memory.undo_notes()
        assert memory.notebook.entries() == [f"the quetzal of {space}"]
    for memory in opened.values():
        memory.close()


def test_a_memory_without_a_home_has_a_notebook_and_leaves_no_file(home: Path) -> None:
    with Memory.at(":memory:", embedder="none") as memory, Memory.at(":memory:", embedder="none") as other:
        memory.notebook.add("the quetzal sleeps")
        assert found(memory, "quetzal") == ["the quetzal sleeps"]
        assert "quetzal" in memory.notebook.snapshot()
        assert other.notebook.entries() == []
        memory.undo_notes()
        assert memory.notebook.entries() == []
        memory.notebook.add("C[db.id]: always UUID")
        memory.optimize_notebook(threshold=0)
    assert not home.exists()


@pytest.mark.parametrize("where", [":memory:", None], ids=["in memory", "in files"])
def test_threads_lose_nothing(where: str | None) -> None:
    with Memory.at(where, embedder="none", memory_characters=20_000) as memory:

        def add(name: str) -> None:
            for number in range(25):
                memory.notebook.add(f"{name} {number}")

        threads = [threading.Thread(target=add, args=name) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {f"{name} {number}" for name in "abcd" for number in range(25)}
        assert set(memory.notebook.entries()) == expected
        assert len(memory.notebook.entries()) == len(memory.log(1_000)) == 100


def test_recall_takes_no_lock_when_nothing_was_edited(home: Path) -> None:
    with Memory.at(home, embedder="none") as memory:
        memory.notebook.add("the quetzal sleeps")
    with Memory.at(home, embedder="none", busy_seconds=0.2) as memory:
        lock = apsw.Connection(str(memory.database))
        lock.execute("BEGIN IMMEDIATE")
        assert found(memory, "quetzal") == ["the quetzal sleeps"]
        (home / "memories" / "MEMORY.md").write_text("the lamp is red")
        # A note that cannot be indexed now does not prevent an answer.
        assert memory.recall("anything else") is not None
        lock.close()
        assert found(memory, "lamp") == ["the lamp is red"]


def test_a_slow_look_at_a_file_does_not_undo_a_newer_one(
    memory: Memory, by_hand: ByHand, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand("the lamp is red")
    look = memory.storage.read

    def slowly(work: Callable[[Any], Any]) -> Any:
        seen = look(work)
        with Memory.at(home, embedder="none") as other:
            other.notebook.add("the boat is green")
        return seen

    with monkeypatch.context() as patch:
        patch.setattr(memory.storage, "read", slowly)
        memory.notebook.sync()
    passages = memory.storage.read(lambda tx: tx.passages.of_kind("note"))
    assert {passage.text for passage in passages} == {"the lamp is red", "the boat is green"}


def test_a_restored_backup_and_the_files_agree(memory: Memory, notebook: Notebook, tmp_path: Path) -> None:
    notebook.add("the quetzal sleeps")
    memory.backup(tmp_path / "copy.db")
    notebook.write("memory", "the lamp is red")
    memory.restore(tmp_path / "copy.db")
    assert found(memory, "quetzal lamp") == notebook.entries()
    notebook.add("the boat is green")
    assert sorted(found(memory, "quetzal lamp boat")) == sorted(notebook.entries())


def test_a_read_only_memory_finds_the_notes_it_knows(memory: Memory, notebook: Notebook, home: Path) -> None:
    notebook.add("the quetzal sleeps")
    with Memory.at(home, read_only=True, embedder="none") as reader:
        assert found(reader, "quetzal") == ["the quetzal sleeps"]
        assert "quetzal" in reader.notebook.snapshot()


@pytest.mark.parametrize("data", [b"\xff", b"a\0b"])
def test_a_broken_file_leaves_recall_alone(
    memory: Memory, notebook: Notebook, by_hand: ByHand, data: bytes
) -> None:
    memory.facts.write("V[lamp]: the lamp is red")
    memory.notebook.add("Sam likes lamps", target="user")
    by_hand(data)
    assert len(memory.recall("lamp").hits) == 2


def test_vectors_of_a_removed_note_find_nothing(home: Path) -> None:
    with Memory.at(home) as memory:
        memory.notebook.add("the quetzal sleeps")
        memory.notebook.add("the lamp is red")
        memory.embedding.catch_up()
        memory.notebook.remove("quetzal")
        assert all("quetzal" not in hit.text for hit in memory.recall("which bird is asleep?").hits)
