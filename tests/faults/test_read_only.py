"""Homes that cannot, or must not, be written."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos.errors import NotFound, ReadOnly

from .processes import Spawn
from .soundness import complaints


def test_a_reader_finds_what_a_writer_appended_a_moment_ago(home: Path) -> None:
    with mnemos.open(home) as writer:
        writer.sessions.create_session("s", "cli")
        with mnemos.open(home, read_only=True) as reader:
            for number in range(200):
                writer.sessions.append_message("s", "user", f"fresh word{number}")
                assert len(reader.sessions.search_messages(f"word{number}")) == 1
            assert reader.sessions.message_count() == 200
            assert len(reader.sessions.search_messages("fresh", limit=1000)) == 200


def test_every_change_through_a_reader_is_refused(home: Path) -> None:
    with mnemos.open(home) as writer:
        writer.sessions.create_session("s", "cli")
        message = writer.sessions.append_message("s", "user", "words")
        writer.backup(home / "copy.db")
    before = (home / "mnemos.db").read_bytes()
    with mnemos.open(home, read_only=True) as reader:
        sessions = reader.sessions
        for change in (
            lambda: sessions.create_session("t", "cli"),
            lambda: sessions.ensure_session("s", "cli"),
            lambda: sessions.append_message("s", "user", "more"),
            lambda: sessions.end_session("s", "done"),
            lambda: sessions.set_title("s", "title"),
            lambda: sessions.archive("s"),
            lambda: sessions.update_system_prompt("s", "prompt"),
            lambda: sessions.update_metadata("s", {"a": 1}),
            lambda: sessions.update_token_counts("s", 1, 1),
            lambda: sessions.delete_session("s"),
            lambda: sessions.import_sessions([{"id": "u", "messages": []}]),
            lambda: sessions.optimize(),
            lambda: reader.forget(f"message:{message}"),
            lambda: reader.forget("session:s"),
            lambda: reader.restore(home / "copy.db"),
        ):
            with pytest.raises(ReadOnly):
                change()
        reader.backup(home / "second.db")
        assert complaints(reader, repair=True) == []
        assert len(sessions.search_messages("words")) == 1
    assert (home / "mnemos.db").read_bytes() == before


def test_a_reader_makes_no_home(home: Path) -> None:
    with pytest.raises(NotFound):
        mnemos.open(home, read_only=True)
    assert not home.exists()


def test_what_we_make_is_for_its_owner_only(home: Path) -> None:
    mask = os.umask(0)
    try:
        with mnemos.open(home) as memory:
            memory.sessions.create_session("s", "cli")
            memory.sessions.append_message("s", "user", "words")
            memory.backup(home / "copy.db")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    finally:
        os.umask(mask)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert modes == dict.fromkeys(modes, 0o600)


# --- somebody else's files ----------------------------------------------------------------------


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else; see the tests below for the owner's own rights")
    folder = Path("/var/tmp" if Path("/var/tmp").is_dir() else "/tmp") / f"mnemos-faults-{os.getpid()}"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


def filled(home: Path) -> Path:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_messages("s", [{"role": "user", "content": f"ask {n}"} for n in range(10)])
    return home


def rights(home: Path, *, folder: int, files: int) -> None:
    for path in home.iterdir():
        path.chmod(files)
    home.chmod(folder)


def test_a_home_of_somebody_else_is_refused_with_its_code(open_to_all: Path, spawn: Spawn) -> None:
    home = filled(open_to_all / "home")
    for what in ("write", "read"):
        assert spawn("as_nobody", home=str(home), what=what).finish() == ["permission_denied"]
    rights(home, folder=0o755, files=0o600)
    for what in ("write", "read"):
        assert spawn("as_nobody", home=str(home), what=what).finish() == ["permission_denied"]


@pytest.mark.parametrize("folder", [0o755, 0o777], ids=["folder and files", "only the files"])
def test_a_home_that_can_only_be_read_opens_for_reading(open_to_all: Path, spawn: Spawn, folder: int) -> None:
    home = filled(open_to_all / "home")
    rights(home, folder=folder, files=0o644)
    for what in ("write", "read"):
        opened, found, refused = spawn("as_nobody", home=str(home), what=what).finish()
        assert opened == {"read_only": True, "count": 10}
        assert found == 10
        assert refused == "read_only"


def test_a_home_cannot_be_made_where_nobody_may_write(open_to_all: Path, spawn: Spawn) -> None:
    assert spawn("as_nobody", home=str(open_to_all / "home"), what="write").finish() == ["permission_denied"]


@pytest.mark.parametrize("index_of_the_log", [True, False])
def test_a_log_that_cannot_be_replayed_is_not_passed_over_in_silence(
    open_to_all: Path, spawn: Spawn, index_of_the_log: bool
) -> None:
    """Read-only media with the files of a killed process: what it acknowledged is in the log."""
    home = filled(open_to_all / "home")
    writer = spawn("append_turns", home=str(home), session="s", seed=3)
    acknowledged = [writer.line() for _ in range(5)]
    acknowledged += writer.kill()
    assert (home / "mnemos.db-wal").stat().st_size > 0
    if not index_of_the_log:
        (home / "mnemos.db-shm").unlink()
    rights(home, folder=0o755, files=0o644)
    reports = spawn("as_nobody", home=str(home), what="read").finish()
    if len(reports) > 1:
        assert reports[0]["count"] >= 10 + 3 * len(acknowledged)
    else:
        assert reports[0] in {"permission_denied", "unavailable", "read_only", "storage_error"}


def test_an_owner_without_the_right_to_write_reads(home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("rights do not bind root; the tests above become somebody else")
    filled(home)
    rights(home, folder=0o500, files=0o400)
    try:
        with mnemos.open(home, read_only=True) as memory:
            assert len(memory.sessions.search_messages("ask", limit=100)) == 10
    finally:
        rights(home, folder=0o700, files=0o600)
