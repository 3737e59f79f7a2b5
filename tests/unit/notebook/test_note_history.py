"""Every change is logged with before, after, actor and time, and any version can be restored."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import apsw
import pytest
from hands import ByHand
from hypothesis import given
from hypothesis import strategies as st

from mnemos import Memory
from mnemos.errors import Busy, MnemosError, NotFound
from mnemos.notebook.notebook import Notebook, digest
from mnemos.testing import FixedClock


def versions(memory: Memory, book: str = "memory") -> list[tuple[str | None, str | None]]:
    """Before and after of each change, the oldest first."""
    rows = [row for row in memory.log(1_000) if row.ref == f"notebook:{book}"]
    return [(row.before, row.after) for row in reversed(rows)]


def test_every_change_is_logged_with_before_and_after_who_and_when(
    memory: Memory, notebook: Notebook, clock: FixedClock
) -> None:
    notebook.add("one")
    clock.advance(60)
    notebook.replace("one", "two")
    notebook.add("Sam", target="user")
    notebook.change([{"action": "remove", "old_text": "two"}, {"action": "add", "content": "three"}])
    notebook.write("user", "")
    assert versions(memory) == [("", "one"), ("one", "two"), ("two", "three")]
    assert versions(memory, "user") == [("", "Sam"), ("Sam", "")]
    rows = memory.log()
    assert {row.actor for row in rows} == {"tester"}
    assert [row.at for row in reversed(rows)][:2] == [clock.now - 60, clock.now]


def test_what_changes_nothing_is_not_logged(memory: Memory, notebook: Notebook) -> None:
    notebook.add("one")
    notebook.add("one")
    notebook.replace("one", "one")
    with pytest.raises(MnemosError):
        notebook.add("x" * 3_000)
    assert len(memory.log()) == 1


def test_undo_walks_back_change_by_change() -> None:
    with Memory.at(":memory:", embedder="none") as memory:
        for number in range(130):
            memory.notebook.write("memory" if number % 3 else "user", f"note {number}")
        for _ in range(130):
            memory.undo_notes()
        assert (memory.notebook.entries(), memory.notebook.entries("user")) == ([], [])
        with pytest.raises(NotFound):
            memory.undo_notes()


def test_undo_of_the_notebook_passes_over_other_changes(memory: Memory, notebook: Notebook) -> None:
    notebook.add("one")
    memory.sessions.create_session("s", "cli")
    for number in range(250):
        memory.sessions.set_title("s", f"title {number}")
    memory.undo_notes()
    assert notebook.entries() == []
    assert memory.sessions.get_session("s")["title"] == "title 249"  # type: ignore[index]


def test_the_newest_change_of_all_can_be_one_of_the_notebook(memory: Memory, notebook: Notebook) -> None:
    memory.facts.write("V[a]: b")
    notebook.add("one")
    assert "MEMORY.md" in memory.undo()
    assert notebook.entries() == []
    memory.undo()
    assert list(memory.facts.list()) == []


def test_undo_restores_any_version(memory: Memory, notebook: Notebook) -> None:
    for text in ("first", "second", "third", "fourth"):
        notebook.write("memory", text)
    rows = list(reversed(memory.log()))
    memory.undo(rows[1].id)
    assert notebook.entries() == ["first"]
    # That was a change too: its deleted notes come back.
    newest = memory.log(1)[0]
    memory.undo(newest.id)
    assert notebook.entries() == ["fourth"]
    memory.undo(rows[3].id)
    assert notebook.entries() == ["third"]
    memory.undo(rows[2].id)
    assert notebook.entries() == ["second"]


def test_what_was_undone_is_not_lost(memory: Memory, notebook: Notebook) -> None:
    notebook.add("one")
    notebook.add("two")
    memory.undo_notes()
    texts = {text for change in versions(memory) for text in change}
    assert "one\n§\ntwo" in texts
    memory.undo(memory.log(1)[0].id)
    assert notebook.entries() == ["one", "two"]


def test_undo_is_not_stuck_at_a_change_whose_former_version_is_there_already(
    memory: Memory, notebook: Notebook
) -> None:
    notebook.add("one")
    first = memory.log()[0].id
    notebook.remove("one")
    notebook.add("two")
    memory.undo(first)
    assert notebook.entries() == []
    memory.undo_notes()
    memory.undo_notes()
    assert notebook.entries() == ["one"]


def test_an_edit_by_hand_is_a_version_too(memory: Memory, notebook: Notebook, by_hand: ByHand) -> None:
    notebook.add("one")
    by_hand("one, by hand")
    notebook.add("two")
    for (_, after), (before, _) in pairwise(versions(memory)):
        assert after == before
    assert len({row.actor for row in memory.log()}) == 2
    memory.undo_notes()
    assert notebook.entries() == ["one, by hand"]
    memory.undo_notes()
    assert notebook.entries() == ["one"]
    memory.undo_notes()
    assert notebook.entries() == []


def test_undo_right_after_an_edit_by_hand_undoes_that(
    memory: Memory, notebook: Notebook, by_hand: ByHand
) -> None:
    notebook.add("one")
    notebook.add("two")
    by_hand("by hand")
    memory.undo_notes()
    assert notebook.entries() == ["one", "two"]


def test_a_file_deleted_by_hand_is_a_version_too(memory: Memory, notebook: Notebook, folder: Path) -> None:
    notebook.add("one")
    (folder / "MEMORY.md").unlink()
    notebook.add("two")
    memory.undo_notes()
    memory.undo_notes()
    assert notebook.entries() == ["one"]


def test_undo_leaves_a_file_that_is_not_text_alone(
    memory: Memory, notebook: Notebook, by_hand: ByHand
) -> None:
    notebook.add("one")
    file = by_hand(b"\xff")
    with pytest.raises(MnemosError):
        memory.undo_notes()
    assert file.read_bytes() == b"\xff"


def test_a_change_that_cannot_be_logged_is_not_made(home: Path, folder: Path) -> None:
    """A change that failed can be tried again."""
    with Memory.at(home, embedder="none", busy_seconds=0.2) as memory:
        memory.notebook.add("one")
        lock = apsw.Connection(str(memory.database))
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy):
            memory.notebook.add("two")
        assert (folder / "MEMORY.md").read_text() == "one"
        lock.close()
        memory.notebook.add("two")
        assert versions(memory) == [("", "one"), ("one", "one\n§\ntwo")]


def test_undo_is_known_to_recall(memory: Memory, notebook: Notebook) -> None:
    notebook.add("the quetzal sleeps")
    notebook.write("memory", "the lamp is red")
    memory.undo_notes()
    assert [hit.text for hit in memory.recall("quetzal lamp", kinds=["note"]).hits] == ["the quetzal sleeps"]


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("abcd")),
        st.tuples(st.just("remove"), st.sampled_from("abcd")),
        st.tuples(st.just("hand"), st.sampled_from(["", "x", "x\n§\ny"])),
        st.tuples(st.just("undo"), st.integers(0, 12)),
    ),
    max_size=14,
)


@given(changes=CHANGES)
def test_the_log_is_a_chain_from_nothing_to_what_is_there(
    changes: list[tuple[str, str | int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("chain")
    with Memory.at(home, embedder="none", clock=FixedClock()) as memory:
        file = home / "memories" / "MEMORY.md"
        for kind, value in changes:
            if kind == "hand":
                file.parent.mkdir(exist_ok=True)
                file.write_text(str(value))
                continue
            try:
                if kind == "undo":
                    memory.undo(int(value))
                else:
                    memory.notebook.change([{"action": kind, "content": value, "old_text": value}])
            except MnemosError:
                continue
        memory.notebook.write("memory", "the end")
        chain = versions(memory)
        assert chain[0][0] == ""
        assert chain[-1][1] == file.read_text() == "the end"
        assert all(after == before for (_, after), (before, _) in pairwise(chain))


# --- forgetting -------------------------------------------------------------------------------


def test_a_forgotten_note_is_gone_from_file_log_and_recall(
    memory: Memory, notebook: Notebook, home: Path
) -> None:
    notebook.add("kept")
    notebook.add("the quetzal sleeps")
    notebook.replace("quetzal", "the quetzal wakes")
    (hit,) = memory.recall("quetzal wakes", kinds=["note"]).hits
    answer = memory.forget(f"note:{hit.ref}")
    assert (answer["forgotten"], answer["pending"], answer["copies"]) == (True, False, [])
    assert notebook.entries() == ["kept"]
    assert memory.recall("quetzal", kinds=["note"]).hits == ()
    found = [path.name for path in home.rglob("*") if path.is_file() and b"quetzal" in path.read_bytes()]
    assert found == []
    assert "quetzal" not in str(memory.log())
    notebook.add("more")
    assert notebook.entries() == ["kept", "more"]


@pytest.mark.parametrize("way", ["remove", "replace", "by hand", "undo", "rewrite"])
def test_a_note_that_was_removed_can_be_forgotten(
    memory: Memory, notebook: Notebook, by_hand: ByHand, home: Path, way: str
) -> None:
    notebook.add("kept")
    notebook.add("the quetzal sleeps")
    if way == "remove":
        notebook.remove("quetzal")
    elif way == "replace":
        notebook.replace("quetzal", "the lamp is red")
    elif way == "by hand":
        by_hand("kept")
    elif way == "undo":
        memory.undo_notes()
    else:
        notebook.write("memory", "all is new")
    left = notebook.entries()
    ref = f"note:memory:{digest('the quetzal sleeps')}"
    assert memory.call("explain", {"ref": ref})["content"] == "the quetzal sleeps"
    assert (memory.forget(ref)["forgotten"], notebook.entries()) == (True, left)
    found = [path.name for path in home.rglob("*") if path.is_file() and b"quetzal" in path.read_bytes()]
    assert found == []
    assert "quetzal" not in str(memory.log())
    for call in (memory.forget, lambda ref: memory.call("explain", {"ref": ref})):
        with pytest.raises(NotFound):
            call(ref)
    with pytest.raises(NotFound):
        memory.undo_notes()
    notebook.add("more")
    assert notebook.entries() == [*left, "more"]


def test_a_file_that_was_edited_by_hand_is_left_as_it_is_when_a_removed_note_is_forgotten(
    memory: Memory, notebook: Notebook, by_hand: ByHand
) -> None:
    notebook.add("the quetzal sleeps")
    file = by_hand("\n\n  one\r\n§  \n\ntwo\n\n")
    before = file.read_bytes()
    memory.forget(f"note:memory:{digest('the quetzal sleeps')}")
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "ref",
    [
        "note:",
        "note:memory",
        "note:memory:",
        "note:memory:000000000000",
        "note:user:x",
        "note:other:x",
        "note:../x:y",
    ],
)
def test_an_unknown_note_cannot_be_forgotten(memory: Memory, notebook: Notebook, ref: str) -> None:
    notebook.add("kept")
    with pytest.raises(MnemosError):
        memory.forget(f"note:{ref}")
    assert notebook.entries() == ["kept"]
    assert len(memory.log()) == 1


def test_forgetting_names_the_copies_that_still_hold_the_text(
    memory: Memory, notebook: Notebook, by_hand: ByHand
) -> None:
    by_hand("the quetzal sleeps\n§\n" + "x" * 2_300)
    with pytest.raises(MnemosError):
        notebook.add("y")
    notebook.write("memory", "the quetzal sleeps")
    (hit,) = memory.recall("quetzal", kinds=["note"]).hits
    copies = memory.forget(f"note:{hit.ref}")["copies"]
    assert [Path(copy).read_text().partition("\n")[0] for copy in copies] == ["the quetzal sleeps"]


def test_undo_after_forgetting_takes_nothing_away(memory: Memory, notebook: Notebook) -> None:
    notebook.add("kept")
    notebook.add("the quetzal sleeps")
    (hit,) = memory.recall("quetzal", kinds=["note"]).hits
    memory.forget(f"note:{hit.ref}")
    with pytest.raises(NotFound):
        memory.undo_notes()
    assert notebook.entries() == ["kept"]
    notebook.add("more")
    memory.undo_notes()
    assert notebook.entries() == ["kept"]
    with pytest.raises(NotFound):
        memory.undo_notes()
    assert notebook.entries() == ["kept"]
    assert {row.actor for row in memory.log()} == {"tester"}


def test_versions_do_not_expire(memory: Memory, notebook: Notebook, clock: FixedClock) -> None:
    """Unlike the copies of deleted sessions, which are large."""
    notebook.add("one")
    notebook.write("memory", "two")
    memory.sessions.create_session("s", "cli")
    clock.advance(400 * 86_400)
    memory.sessions.delete_session("s")
    memory.sessions.optimize()
    memory.undo()
    assert notebook.entries() == ["two"]
    assert memory.sessions.get_session("s") is not None
    memory.undo_notes()
    assert notebook.entries() == ["one"]
