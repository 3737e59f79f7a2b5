"""No room left in the middle of a turn: an error with its code, nothing half-written, the next call works."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import mnemos
from mnemos.errors import DiskFull, MnemosError
from mnemos.integrations.watch.importer import import_named
from mnemos.progress import no_progress
from mnemos.settings import Settings
from mnemos.transfer.sync.peers import SyncFolder

from .processes import Spawn
from .soundness import assert_sound, code_of

OUT_OF_ROOM = {"disk_full", "unavailable"}


def test_a_turn_is_stored_or_refused_at_whichever_write_the_disk_is_full(home: Path, spawn: Spawn) -> None:
    reports = spawn("run_out_of_room", home=str(home)).finish()
    refused = [report for report in reports if report["outcome"] != "stored"]
    assert {report["outcome"] for report in refused} == {"disk_full"}
    assert {report["added"] for report in refused} == {0}
    assert {report["added"] for report in reports if report["outcome"] == "stored"} == {3}
    stored = 0
    for report in reports:
        stored += report["added"]
        assert report["kept"] == stored
        if report["found"] is not None:
            assert report["found"] == report["added"]
    assert_sound(home)


def test_a_file_that_may_not_grow_keeps_what_it_has(home: Path, spawn: Spawn) -> None:
    full, forgotten, found = spawn("outgrow_a_file_size_limit", home=str(home)).finish()
    assert full["code"] in OUT_OF_ROOM
    assert full["messages"] == 3 * full["turns"]
    assert forgotten == "forgotten" or forgotten in OUT_OF_ROOM
    assert found == 3
    assert_sound(home)
    with mnemos.open(home) as memory:
        assert memory.sessions.message_count("s") == full["messages"] + 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("a small disk can only be mounted by root; the other tests of this file need none")
    yield folder
    # Lazily: an error that a test holds may hold a file.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_keeps_what_was_stored_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    home = small_disk / "home"
    ballast = small_disk / "ballast"
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        ballast.write_bytes(b"x" * 1_500_000)
        stored, code = 0, None
        while code is None:
            turn = [{"role": "user", "content": f"line{stored}n{part} " * 200} for part in range(3)]
            code = code_of(lambda: memory.sessions.append_messages("s", turn))  # noqa: B023
            stored += code is None
        assert code == "disk_full"
        assert memory.sessions.message_count("s") == stored * 3
        assert len(memory.sessions.get_messages("s")) == stored * 3
        assert len(memory.sessions.search_messages(f"line{stored - 1}n2")) == 1
        with pytest.raises(MnemosError) as failure:
            memory.backup(small_disk / "copy.db")
        assert failure.value.code in OUT_OF_ROOM
        assert not list(small_disk.glob("copy.db*"))
        ballast.unlink()
        memory.sessions.append_message("s", "user", "room again")
        assert len(memory.sessions.search_messages("room again")) == 1
    assert_sound(home)


def test_a_disk_too_full_for_a_new_home_says_so(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        all(file.write(b"x" * 4096) for _ in itertools.count())
    with pytest.raises(MnemosError) as failure:
        mnemos.open(small_disk / "home")
    assert failure.value.code in OUT_OF_ROOM
    ballast.unlink()
    with mnemos.open(small_disk / "home") as memory:
        memory.sessions.create_session("s", "cli")
    assert_sound(small_disk / "home")


def test_the_watch_imports_the_rest_when_there_is_room(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    transcript = tmp_path / "claude" / "projects" / "x" / "s.jsonl"
    transcript.parent.mkdir(parents=True)
    lines = [
        {"type": "user", "uuid": str(number), "sessionId": "s", "message": {"content": _prose(number, 100)}}
        for number in range(300)
    ]
    transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 2_400_000)
    settings = Settings.load(small_disk / "home", embedder="none")
    assert import_named(settings, ["claude-code\n"]) == 1
    with mnemos.open(small_disk / "home") as memory:
        assert memory.sessions.message_count() < 300
    ballast.unlink()
    assert import_named(settings, ["claude-code\n"]) == 0
    with mnemos.open(small_disk / "home") as memory:
        assert memory.sessions.message_count("s") == 300
    assert_sound(small_disk / "home")


def test_a_sync_with_a_full_drive_is_completed_when_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "a") as here, mnemos.open(tmp_path / "b") as there:
        here.sessions.create_session("s", "cli")
        here.sessions.append_messages(
            "s", [{"role": "user", "content": _prose(n, 2_000)} for n in range(100)]
        )
        ballast = small_disk / "ballast"
        ballast.write_bytes(b"x" * 2_900_000)
        for _ in range(2):
            with pytest.raises(DiskFull, match="sync again"):
                SyncFolder(here, small_disk).sync(no_progress)
        ballast.unlink()
        SyncFolder(here, small_disk).sync(no_progress)
        assert SyncFolder(there, small_disk).sync(no_progress).received.added["messages"] == 100
        assert there.sessions.get_messages("s")[99]["content"] == _prose(99, 2_000)


def _prose(seed: int, words: int) -> str:
    """Text that does not shrink to nothing when it is packed."""
    chance = Random(seed)
    return " ".join(f"{chance.getrandbits(40):x}" for _ in range(words))
