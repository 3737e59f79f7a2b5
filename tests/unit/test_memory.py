"""Opening a home: what is made, with which rights, and what is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory, SessionDB
from mnemos.errors import (
    AlreadyExists,
    InvalidInput,
    MnemosError,
    NotADatabase,
    NotFound,
    Refused,
    Unavailable,
)
from mnemos.testing import FixedClock


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def talk(memory: Memory, session_id: str, *texts: str) -> list[int]:
    memory.sessions.create_session(session_id, "cli")
    return memory.sessions.append_messages(session_id, [{"role": "user", "content": text} for text in texts])


# --- rights -------------------------------------------------------------------------------------


def test_a_home_is_made_for_its_owner_alone(home: Path) -> None:
    with mnemos.open(home) as memory:
        talk(memory, "s", "x")
        assert mode(home) == 0o700
        files = [path for path in home.iterdir() if path.is_file()]
        assert "mnemos.db" in {path.name for path in files}
        assert {path.name: oct(mode(path)) for path in files if mode(path) != 0o600} == {}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_umask_makes_no_difference(home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with mnemos.open(home) as memory:
            talk(memory, "s", "x")
            memory.backup(home / "copy.db")
            for path in home.iterdir():
                assert mode(path) == 0o600, path.name
        assert mode(home) == 0o700
    finally:
        os.umask(before)


def test_a_home_that_others_could_read_is_closed_to_them(home: Path) -> None:
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    mnemos.open(home).close()
    assert mode(home) == 0o700


def test_a_home_that_its_owner_closed_to_writing_stays_so(home: Path) -> None:
    mnemos.open(home).close()
    home.chmod(0o555)
    mnemos.open(home).close()
    assert mode(home) == 0o500
    home.chmod(0o700)


def test_a_session_database_leaves_the_mode_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    with SessionDB(folder / "state.db") as db:
        db.create_session("s", "cli")
        assert mode(folder) == 0o755
        assert mode(folder / "state.db") == 0o600


def test_a_session_database_makes_the_folder_it_needs(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "new" / "state.db") as db:
        db.create_session("s", "cli")
    assert mode(tmp_path / "new") == 0o700


def test_a_read_only_opener_changes_no_rights(home: Path) -> None:
    with mnemos.open(home) as memory:
        talk(memory, "s", "x")
    home.chmod(0o755)
    mnemos.open(home, read_only=True).close()
    assert mode(home) == 0o755


# --- opening ------------------------------------------------------------------------------------


def test_the_default_home_is_that_of_the_environment(home: Path) -> None:
    with mnemos.open() as memory:
        assert memory.settings.home == home
        assert (home / "mnemos.db").is_file()


def test_nothing_is_said_and_nothing_is_written(home: Path) -> None:
    with mnemos.open(home) as memory:
        assert memory.sessions.session_count(archived=None) == 0
        assert memory.log() == []


def test_a_memory_made_but_not_used_touches_nothing(home: Path) -> None:
    Memory.at(home).close()
    assert not home.exists()


def test_a_memory_in_memory_leaves_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with mnemos.open(":memory:") as memory:
        (own,) = talk(memory, "s", "parrot")
        assert [hit["id"] for hit in memory.sessions.search_messages("parrot")] == [own]
        memory.forget(f"message:{own}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput):
        mnemos.open(tmp_path / "file")
    with pytest.raises(MnemosError):
        mnemos.open(tmp_path / "file" / "below")


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(home: Path) -> None:
    home.mkdir()
    (home / "mnemos.db").write_bytes(b"precious data, not a database " * 50)
    with pytest.raises(NotADatabase) as caught:
        mnemos.open(home)
    assert caught.value.code == "not_a_database"
    assert (home / "mnemos.db").read_bytes().startswith(b"precious")


def test_a_linked_database_is_refused(home: Path, tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "real") as memory:
        talk(memory, "s", "x")
    home.mkdir()
    (home / "mnemos.db").symlink_to(tmp_path / "real" / "mnemos.db")
    with pytest.raises(Refused):
        mnemos.open(home)


def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(Unavailable) as caught:
        mnemos.open("postgresql://somebody:s3cret@127.0.0.1:1/x")
    assert caught.value.code == "unavailable"
    assert "127.0.0.1:1/x" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_home_that_is_not_there_cannot_be_read(home: Path) -> None:
    with pytest.raises(NotFound):
        mnemos.open(home, read_only=True)
    assert not home.exists()


def test_a_wrong_space_or_setting_is_invalid_input(home: Path) -> None:
    with pytest.raises(InvalidInput):
        mnemos.open(home, space="../other")
    with pytest.raises(InvalidInput):
        mnemos.open(home, colour="red")
    assert not home.exists()


def test_spaces_of_one_home_do_not_see_each_other(home: Path) -> None:
    with mnemos.open(home, space="alice") as alice, mnemos.open(home, space="bob") as bob:
        (own,) = talk(alice, "s", "parrot")
        alice.sessions.set_title("s", "Title")
        assert bob.sessions.search_messages("parrot") == []
        assert bob.log() == []
        with pytest.raises(NotFound):
            bob.forget(f"message:{own}")
        with pytest.raises(NotFound):
            bob.forget("session:s")
        with pytest.raises(NotFound):
            bob.undo(alice.log()[0].id)
        assert len(alice.sessions.search_messages("parrot")) == 1


def test_the_space_comes_from_the_environment_unless_given(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_SPACE", "alice")
    with mnemos.open(home) as memory:
        assert memory.settings.space == "alice"
    with mnemos.open(home, space="bob") as memory:
        assert memory.settings.space == "bob"


def test_closing_twice_does_no_harm(home: Path) -> None:
    memory = mnemos.open(home)
    memory.close()
    memory.close()
    with pytest.raises(MnemosError):
        memory.sessions.session_count()


# --- the database as a whole ----------------------------------------------------------------------


def test_a_backup_holds_everything_and_is_remembered(home: Path, tmp_path: Path, clock: FixedClock) -> None:
    with mnemos.open(home, clock=clock) as memory:
        talk(memory, "s", "parrot")
        target = memory.backup(tmp_path / "copy.db")
        assert target == tmp_path / "copy.db"
        assert mode(target) == 0o600
        assert memory.backups() == [str(target)]
        target.rename(tmp_path / "moved.db")
        assert memory.backups() == []
    with SessionDB(tmp_path / "moved.db", read_only=True) as copy:
        assert len(copy.search_messages("parrot")) == 1


def test_a_backup_does_not_overwrite(home: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("precious")
    with mnemos.open(home) as memory:
        with pytest.raises(AlreadyExists):
            memory.backup(tmp_path / "copy.db")
        assert memory.backups() == []
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_restore_returns_to_the_backup_and_keeps_what_was(home: Path, tmp_path: Path) -> None:
    with mnemos.open(home) as memory:
        talk(memory, "old", "parrot")
        copy = memory.backup(tmp_path / "copy.db")
        talk(memory, "new", "pigeon")
        former = memory.restore(copy)
        assert memory.sessions.get_session("new") is None
        assert len(memory.sessions.search_messages("parrot")) == 1
        assert former is not None
        assert str(former) in memory.backups()
        memory.restore(former)
        assert memory.sessions.get_session("new") is not None


def test_forgetting_names_the_copies_that_still_hold_the_text(home: Path, tmp_path: Path) -> None:
    with mnemos.open(home) as memory:
        (own,) = talk(memory, "s", "secret")
        copy = memory.backup(tmp_path / "copy.db")
        answer = memory.forget(f"message:{own}")
        assert answer == {
            "ref": f"message:{own}",
            "forgotten": True,
            "permanent": True,
            "withdrawn": [],
            "candidates": [],
            "entry": None,
            "pending": False,
            "erased": [],
            "kept": [],
            "copies": [str(copy)],
            "tables": [],
            "unsearched": [],
            "dates": {str(copy): copy.stat().st_mtime},
        }


def test_what_was_forgotten_is_in_no_file_of_the_home(home: Path) -> None:
    with mnemos.open(home) as memory:
        ids = talk(memory, "s", "a parrot", "the unspeakable xylophone", "another parrot")
        memory.sessions.optimize()
        memory.forget(f"message:{ids[1]}")
    assert b"xylophone" not in b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("memories/MEMORY.md", b"caf\xe9"),
        ("memories/USER.md", b"a\0b"),
        ("memories/MEMORY.md", b"long " * 500),
        ("memories/MEMORY.md", None),
        ("session-templates/broken.json", b"{"),
        ("session-templates", b"not a folder"),
        ("databases/default/broken.db", b"not a database" * 100),
        ("databases", b"not a folder"),
    ],
)
@pytest.mark.parametrize("repair", [False, True])
def test_the_doctor_names_files_beside_the_database_that_are_broken(
    home: Path, file: str, data: bytes | None, repair: bool
) -> None:
    path = home / file
    with mnemos.open(home) as memory:
        path.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            path.mkdir()
        else:
            path.write_bytes(data)
        answer = memory.call("doctor", {"repair": repair})
        (bad,) = [check for check in answer["checks"] if not check["ok"]]
        assert answer["healthy"] is False
        assert bad["name"] in ("notebook", "templates", "workspace")
        assert (path.name if path.suffix == ".md" else path.stem) in bad["detail"]
        assert data is None or path.read_bytes() == data
        path.unlink() if data is not None else path.rmdir()
        assert memory.call("doctor", {"repair": repair})["healthy"] is True


def test_a_sound_home_passes_the_doctor(home: Path) -> None:
    with mnemos.open(home) as memory:
        talk(memory, "s", "parrot")
        checks = list(memory.doctor())
        names = {check.name for check in checks}
        assert {"integrity", "index", "counters", "orphans", "schema", "privacy"} <= names
        assert {"notebook", "templates", "workspace"} <= names
        assert [check for check in checks if not check.ok and check.name != "file system"] == []
        list(memory.doctor(repair=True))
        assert len(memory.sessions.search_messages("parrot")) == 1
