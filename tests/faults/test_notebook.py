"""Notes under racing and killed processes, full disks and missing rights."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import Busy, MnemosError

from . import processes
from .processes import Child, Spawn
from .soundness import assert_sound

ROLES = Path(__file__).with_name("notebook_roles.py")
PROCESSES = 4
NOTES = 50
LARGE: dict[str, Any] = {"embedder": "none", "memory_characters": 20_000}
SMALL: dict[str, Any] = {"embedder": "none", "memory_characters": 300}


@pytest.fixture(autouse=True)
def roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", ROLES)


def assert_notes_sound(home: Path, **options: Any) -> None:
    """Recall knows exactly the notes of the file, and the log is a chain that ends at it."""
    with mnemos.open(home, **options) as memory:
        entries = memory.notebook.entries()
        memory.notebook.sync()
        passages = memory.storage.read(lambda tx: tx.passages.of_kind("note"))
        assert sorted(passage.text for passage in passages) == sorted(entries)
        rows = [row for row in reversed(memory.log(100_000)) if row.ref == "notebook:memory"]
        chain = [(row.before, row.after) for row in rows if row.after is not None]
        assert all(after == before for (_, after), (before, _) in pairwise(chain))
        memory.notebook.add("and one more")
        memory.undo_notes()
        assert memory.notebook.entries() == entries
    assert_sound(home, **options)


# --- races ------------------------------------------------------------------------------------


def test_four_processes_that_add_notes_at_once_lose_none(home: Path, spawn: Spawn) -> None:
    names = [f"writer{number}" for number in range(PROCESSES)]
    writers = [spawn("add_notes", home=str(home), name=name, count=NOTES) for name in names]
    assert [writer.line() for writer in writers] == ["ready"] * PROCESSES
    # The home does not exist yet: all of them make it.
    for writer in writers:
        writer.go()
    reader = spawn("read_notes", home=str(home))
    reader.line()
    assert [writer.finish() for writer in writers] == [["done"]] * PROCESSES
    (seen,) = reader.finish()
    assert (seen["wrong"], seen["reads"] > 0) == ([], True)

    with mnemos.open(home, **LARGE) as memory:
        entries = memory.notebook.entries()
        assert len(entries) == len(set(entries)) == PROCESSES * NOTES
        for name in names:
            own = [entry for entry in entries if entry.startswith(f"{name} ")]
            assert own == [f"{name} note {number}" for number in range(NOTES)]
        passages = memory.storage.read(lambda tx: tx.passages.of_kind("note"))
        assert {passage.text for passage in passages} == set(entries)
        rows = list(reversed(memory.log(1_000)))
        assert [len((row.after or "").split("\n§\n")) for row in rows] == [*range(1, 201)]
        assert {row.operation for row in rows} == {"notebook.change"}
        assert len({row.actor for row in rows}) == 1
    assert_notes_sound(home, **LARGE)


# --- kills ------------------------------------------------------------------------------------


def test_no_kill_leaves_a_broken_or_an_empty_file(home: Path, spawn: Spawn, nightly: bool) -> None:
    kills = 1_000 if nightly else 50
    with mnemos.open(home, **LARGE) as memory:
        memory.notebook.write("memory", "one of 0\n§\ntwo of 0\n§\nthree of 0")
    reports = spawn("kill_writers", home=str(home), kills=kills, seed=20_261_115).finish()
    assert len(reports) == kills
    assert [left for left in reports if not left["whole"]] == []
    # The acknowledged version is there, or the one being written.
    assert {left["found"] - left["last"] for left in reports} <= {0, 1}
    assert reports[-1]["found"] > kills
    assert_notes_sound(home, **LARGE)


FACTS = [f"V[port{number}]: {number}443" for number in range(5)]
NOTED = ["the lamp is red", "C[known]: UUID", *FACTS, "the configuration of the database in production"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, nightly: bool) -> dict[str, list[Path]]:
    """Copies of a home as processes left them that were killed in a piece of work, by the work."""
    home = tmp_path_factory.mktemp("template") / "home"
    with mnemos.open(home, **SMALL) as memory:
        memory.facts.write("C[known]: UUID")
        memory.notebook.write("memory", "\n§\n".join(NOTED[:-1]))
        memory.notebook.write("memory", "\n§\n".join(NOTED))
        memory.recall("lamp")
    points = {"optimize": 12, "change": 4, "undo": 4, "forget": 5}
    if nightly:
        points = dict.fromkeys(points, 1_000)
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "ROLES", ROLES)
        child = Child("crash_with_notes", template=str(home), folder=str(folder), points=points, seed=5)
    copies: dict[str, list[Path]] = {}
    try:
        for work, copy in child.finish():
            copies.setdefault(work, []).append(Path(copy))
    finally:
        child.end()
    return copies


def test_making_room_loses_nothing_when_it_is_killed_at_any_step(killed: dict[str, list[Path]]) -> None:
    left = []
    for home in killed["optimize"]:
        with mnemos.open(home, **SMALL) as memory:
            notes = memory.notebook.entries()
            facts = [str(fact) for fact in memory.facts.list()]
            assert set(NOTED[:-1]) <= {*notes, *facts}
            assert {NOTED[-1], "the cfg of the db in prod"} & set(notes)
            assert len(facts) == len(set(facts))
            left.append(len(notes))
            memory.optimize_notebook(threshold=0)
            assert set(memory.notebook.entries()) | {*map(str, memory.facts.list())} >= set(NOTED[:-1])
        assert_notes_sound(home, **SMALL)
    assert len(set(left)) > 2


@pytest.mark.parametrize(
    ("work", "after"),
    [("change", [*NOTED[1:], "the boat is green"]), ("undo", NOTED[:-1]), ("forget", NOTED[1:])],
)
def test_a_change_happened_or_not_after_a_kill_at_any_step(
    killed: dict[str, list[Path]], work: str, after: list[str]
) -> None:
    found = []
    for home in killed[work]:
        with mnemos.open(home, **SMALL) as memory:
            found.append(memory.notebook.entries())
            assert found[-1] in (NOTED, after)
            if work == "forget":
                # An interrupted change can be repeated, and then leaves nothing behind.
                memory.notebook.write("memory", "\n§\n".join(NOTED))
                (hit,) = memory.recall("lamp", kinds=["note"]).hits
                assert memory.forget(f"note:{hit.ref}")["pending"] is False
        if work == "forget":
            files = [path for path in home.rglob("*") if path.is_file()]
            assert [path.name for path in files if b"lamp" in path.read_bytes()] == []
        assert_notes_sound(home, **SMALL)
    assert after in found


# --- no room ----------------------------------------------------------------------------------


def test_without_room_a_note_is_refused_and_the_file_is_as_it_was(home: Path, spawn: Spawn) -> None:
    files, database, user, copy, after = spawn("outgrow", home=str(home)).finish()
    assert files == ["disk_full", ["one"]]
    assert database[0] in ("disk_full", "unavailable")
    assert database[1] == ["one"]
    assert user == ["disk_full", False]
    assert copy == ["refused", 1_500]
    assert after == ["one", "two"]
    assert [path.name for path in (home / "memories").glob(".*.new")] == []
    # It was made longer than its limit, which the doctor would name.
    (home / "memories/USER.md").unlink()
    assert_notes_sound(home, **LARGE)


# --- no rights --------------------------------------------------------------------------------


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    folder = Path("/var/tmp" if Path("/var/tmp").is_dir() else "/tmp") / f"mnemos-notes-{os.getpid()}"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


def test_without_rights_notes_are_left_and_everything_else_goes_on(open_to_all: Path, spawn: Spawn) -> None:
    rights = [("memories/MEMORY.md", 0o400), ("memories", 0o500), ("memories/MEMORY.md", 0), ("memories", 0)]
    homes = [open_to_all / str(number) for number in range(len(rights))]
    for home, (path, mode) in zip(homes, rights, strict=True):
        with mnemos.open(home, **LARGE) as memory:
            memory.notebook.add("the lamp is red")
            memory.recall("lamp")
        for one in (home, *home.rglob("*")):
            os.chown(one, 65534, 65534)
        (home / path).chmod(mode)
    answers = spawn("notes_as_nobody", homes=list(map(str, homes))).finish()
    for (_, mode), answer in zip(rights, answers, strict=True):
        assert answer == {
            "add": "permission_denied",
            "write": "permission_denied",
            "undo": "permission_denied",
            "entries": None if mode else "permission_denied",
            "block": True,
            "recall": None,
            "sessions": None,
        }
    for home, (path, _) in zip(homes, rights, strict=True):
        (home / path).chmod(0o700)
        assert (home / "memories" / "MEMORY.md").read_text() == "the lamp is red"


# --- no lock ----------------------------------------------------------------------------------


def test_a_process_that_keeps_the_lock_is_waited_for_only_so_long(home: Path, spawn: Spawn) -> None:
    with mnemos.open(home, **LARGE, busy_seconds=0.2) as memory:
        memory.notebook.add("one")
        (lock,) = (home / "memories").glob(".*lock*")
        holder = spawn("hold_the_lock", file=str(lock))
        assert holder.line() == "locked"
        with pytest.raises(Busy):
            memory.notebook.add("two")
        # Reading needs no lock.
        assert memory.notebook.entries() == ["one"]
        assert memory.notebook.block()
        memory.notebook.add("Sam", target="user")
        holder.kill()
        memory.notebook.add("two")
        assert memory.notebook.entries() == ["one", "two"]


def test_a_damaged_database_leaves_the_notes_in_their_files(home: Path) -> None:
    with mnemos.open(home, **LARGE) as memory:
        memory.notebook.add("the lamp is red")
        memory.sessions.optimize()
    (home / "mnemos.db").write_bytes(b"no database at all" * 1_000)
    for rest in ("mnemos.db-wal", "mnemos.db-shm"):
        (home / rest).unlink(missing_ok=True)
    with mnemos.Memory.at(home, **LARGE) as memory, pytest.raises(MnemosError):
        memory.notebook.add("two")
    (home / "mnemos.db").unlink()
    with mnemos.open(home, **LARGE) as memory:
        assert memory.notebook.entries() == ["the lamp is red"]
        assert [hit.text for hit in memory.recall("lamp").hits] == ["the lamp is red"]
        memory.notebook.add("two")
    assert_notes_sound(home, **LARGE)
