"""Archives whose writer or reader is killed in the middle."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import mnemos

from . import processes
from .processes import Spawn
from .soundness import assert_sound

STATES = ("live", "superseded", "retired")


@pytest.fixture(autouse=True)
def roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", Path(__file__).with_name("archive_roles.py"))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A home with enough in it to be killed in many places."""
    home = tmp_path / "filled"
    with mnemos.open(home, embedder="none") as memory:
        for session in range(12):
            name = f"s{(session * 7) % 12}"
            memory.sessions.create_session(name, "cli")
            ids = memory.sessions.append_messages(
                name, [{"role": "user", "content": f"word{n} of {name} " + "x" * 300} for n in range(450)]
            )
            for fact in range(12):
                memory.facts.write(
                    f"V[t{fact}]: {name}", scope=f"scope{session % 3}", session_id=name, message_id=ids[fact]
                )
            memory.entries.store(f"user{session % 3}", f"key{session}", name)
        for note in range(4):
            memory.notebook.add(f"Note {note}")
        for database in ("default", "research"):
            memory.workspace.query("CREATE TABLE t (x)", database=database)
            memory.workspace.query(
                "INSERT INTO t VALUES (?)", rows=[[n] for n in range(500)], database=database
            )
            memory.workspace.query("DROP TABLE t; CREATE TABLE u (y)", database=database)
    return home


def state_of(home: Path) -> dict[str, Any]:
    with mnemos.open(home, embedder="none") as memory:
        sessions = list(memory.sessions.export_all())
        places = {
            message.pop("id"): (session["id"], number)
            for session in sessions
            for number, message in enumerate(session["messages"])
        }
        facts = [
            (fact.id, str(fact), fact.scope, fact.state, fact.at, fact.ended_at, fact.superseded_by,
             fact.tier, places[fact.message_id or 0])
            for fact in memory.facts.list(states=STATES)
        ]  # fmt: skip
        return {
            "sessions": sessions,
            "facts": facts,
            "entries": [memory.entries.list_keys(user) for user in memory.entries.users()],
            "notes": memory.notebook.entries(),
            "databases": sorted((info.name, info.snapshots) for info in memory.workspace.databases()),
        }


def kill_imports(filled: Path, tmp_path: Path, spawn: Spawn, rounds: int, kills: int) -> None:
    with mnemos.open(filled, embedder="none") as memory:
        memory.export(tmp_path / "archive.tar.zst")
    expected = state_of(filled)
    archive = str(tmp_path / "archive.tar.zst")
    chance = random.Random(7)
    for number in range(rounds):
        home = tmp_path / f"home{number}"
        for _ in range(kills):
            child = spawn("import_archive", home=str(home), archive=archive)
            for _ in range(chance.randrange(1, 190)):
                if child.line() == 1.0:
                    break
            child.kill()
            if (home / "mnemos.db").exists():
                assert_sound(home)
        spawn("import_archive", home=str(home), archive=archive).finish()
        assert state_of(home) == expected
        assert_sound(home)
        with mnemos.open(home, embedder="none") as memory:
            assert not memory.import_archive(archive).is_new
            assert memory.compare_archive(archive).holds_all
        assert list(home.glob(".*unfinished*")) == []


def test_an_import_that_was_killed_ends_the_same_when_it_is_repeated(
    filled: Path, tmp_path: Path, spawn: Spawn, nightly: bool
) -> None:
    kill_imports(filled, tmp_path, spawn, rounds=20 if nightly else 2, kills=3 if nightly else 2)


@pytest.mark.parametrize("name", ["archive.tar.zst", "folder"])
def test_an_export_that_was_killed_leaves_nothing_that_looks_whole(
    filled: Path, tmp_path: Path, spawn: Spawn, name: str
) -> None:
    target = tmp_path / name
    chance = random.Random(3)
    for _ in range(3):
        child = spawn("export", home=str(filled), archive=str(target))
        for _ in range(chance.randrange(1, 140)):
            assert child.line() < 1.0
        child.kill()
        assert not target.exists()
    assert list(tmp_path.glob(".*unfinished*"))
    with mnemos.open(filled, embedder="none") as memory:
        # Under another name: what was left is deleted all the same.
        memory.export(tmp_path / f"other-{name}")
        assert memory.compare_archive(tmp_path / f"other-{name}").holds_all
    assert list(tmp_path.glob(".*unfinished*")) == []
