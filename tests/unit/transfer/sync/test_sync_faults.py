"""A sync that is interrupted anywhere, repeated, or spoken to by a peer that lies."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mnemos.errors import DiskFull, InvalidInput, MnemosError, NotFound, Refused, Unavailable
from mnemos.memory import Memory
from mnemos.progress import no_progress
from mnemos.transfer.sync import peers
from mnemos.transfer.sync.exchange import Answering, check_clock, sync
from mnemos.transfer.sync.peers import FOLDER, Program, SyncFolder, connect_ssh, read_frame
from unit.transfer.sync.homes import START, LocalPeer, export, meet, open_home, say, texts


def fill(here: Memory, there: Memory) -> None:
    """Two homes that have something of every kind to tell each other."""
    ids = say(here, "s", "common", "to forget")
    say(here, "deleted", "one")
    here.notebook.add("old note")
    meet(here, there)
    for home, name in ((here, "here"), (there, "there")):
        home.clock.advance(30 if home is here else 40)  # type: ignore[attr-defined]
        say(home, "s", f"{name} 1", f"{name} 2")
        say(home, f"only {name}", "alone")
        home.remember("I live in Berlin." if home is here else "I moved to Munich.")
        home.entries.store("default", name, "v")
        home.notebook.add(f"tabs in the code of {name}")
    here.forget(f"message:{ids[1]}")
    here.sessions.delete_session("deleted")
    there.notebook.remove("old note")


def make_pair() -> tuple[Memory, Memory]:
    here, there = open_home(), open_home(now=START + 1)
    fill(here, there)
    return here, there


def check_end(here: Memory, there: Memory) -> None:
    """Sync to the end: both have everything, once."""
    assert meet(here, there).is_same
    assert export(here) == export(there)
    assert texts(here, "s") == ["common", "[forgotten]", "here 1", "here 2", "there 1", "there 2"]
    assert here.sessions.get_session("deleted") is None
    assert sorted(here.notebook.entries()) == ["tabs in the code of here", "tabs in the code of there"]
    assert [fact.content for fact in there.facts.iterate()] == ["I moved to Munich."]
    assert sorted(there.entries.list_keys("default")) == ["here", "there"]


def test_a_connection_that_ends_at_any_request_loses_nothing() -> None:
    requests = 0
    while True:
        requests += 1
        here, there = make_pair()

        class Cut(LocalPeer):
            left = requests

            def ask(self, request: dict[str, Any]) -> dict[str, Any]:
                # Before the request arrives, or before the answer does.
                for step in (1, 2):
                    self.left -= 1
                    if not self.left:
                        raise Unavailable("cut")
                    answer = super().ask(request) if step == 2 or self.left == 1 else {}
                return answer

        with here, there:
            try:
                sync(here, Cut(there), no_progress)
            except Unavailable:
                check_end(here, there)
                continue
            break
    assert requests > 3


def test_requests_that_come_twice_or_in_another_order_change_nothing_more() -> None:
    here, there = make_pair()
    with here, there:
        sent: list[dict[str, Any]] = []

        class Keeping(LocalPeer):
            def ask(self, request: dict[str, Any]) -> dict[str, Any]:
                sent.append(json.loads(json.dumps(request)))
                return super().ask(request)

        sync(here, Keeping(there), no_progress)
        before = export(there)
        for request in [*reversed(sent), *sent]:
            Answering(there).answer(request)
        assert export(there) == before
        check_end(here, there)


@pytest.mark.parametrize(
    "item",
    [
        {"address": "../../etc/passwd", "records": []},
        {"address": "session/x/y", "records": []},
        {
            "address": "removed/0",
            "records": [{"kind": "session", "key": "s", "at": 1e300, "forgotten": True}],
        },
        {
            "address": "removed/0",
            "records": [{"kind": "message", "key": "[1]", "at": 1.0, "forgotten": True}],
        },
        {"address": "removed/0", "records": [{"kind": "home", "key": "s", "at": 1.0, "forgotten": True}]},
        {"address": "facts/00", "records": [{"content": "x"}]},
        {"address": "facts/00", "records": ["x"]},
        {"address": "notes/other", "records": []},
        {"address": "templates/0", "records": [{"name": "../x", "changed_at": 1.0}]},
        {"session": {"id": "s"}, "skip": -1, "messages": []},
        {"session": {"id": "s"}, "skip": 0, "messages": [{"role": "user", "content": "x", "sql": 1}]},
        {"session": {"id": ""}, "skip": 0, "messages": []},
        {"session": {"id": "t", "started_at": float("nan")}, "skip": 0, "messages": []},
        {"session": {"id": "t", "metadata": {"a": float("inf")}}, "skip": 0, "messages": []},
        {"anything": 1},
    ],
)
def test_a_peer_that_lies_is_refused_and_changes_nothing(item: dict[str, Any]) -> None:
    with open_home() as memory:
        say(memory, "s", "one")
        before = export(memory)
        try:
            Answering(memory).answer({"ask": "merge", "items": [item]})
        except InvalidInput:
            pass
        assert export(memory) == before


ODD: list[Any] = [
    None, True, -1, 1e308, 2**70, "", "../../x", "\0", "\ud800", "x" * 3_000, [], {}, [[]],
    {"a": 1}, "session/0/" + "z" * 2_000, "facts/zz",
]  # fmt: skip


def spoil(chance: Random, value: Any, depth: int = 0) -> Any:
    """Change a part of a frame by chance."""
    if isinstance(value, dict) and value:
        changed, key = dict(value), chance.choice(list(value))
        match chance.randrange(6):
            case 0:
                del changed[key]
            case 1:
                changed[chance.choice(["more", "own", "id", "key"])] = chance.choice(ODD)
            case _:
                changed[key] = spoil(chance, value[key], depth + 1)
        return changed
    if isinstance(value, list) and value:
        place = chance.randrange(len(value))
        kept = [*value[:place], *value[place + 1 :]]
        more = chance.choice([[], [value[place]] * 2, *[[spoil(chance, value[place], depth + 1)]] * 4])
        return [*kept[:place], *more, *kept[place:]]
    return chance.choice(ODD) if depth > 1 else value


@pytest.mark.parametrize("seed", range(8))
def test_frames_with_anything_in_them_are_refused_by_both_sides(seed: int) -> None:
    chance = Random(seed)
    here, there = make_pair()

    class Lying(LocalPeer):
        def ask(self, request: dict[str, Any]) -> dict[str, Any]:
            if seed % 2:
                return super().ask(spoil(chance, request))
            answer: dict[str, Any] = spoil(chance, super().ask(request))
            return answer

    with here, there:
        for _ in range(6):
            try:
                sync(here, Lying(there), no_progress)
            except MnemosError:
                # Anything else is a fault.
                pass
        for home in (here, there):
            assert all(check.ok for check in home.doctor())
            home.recall("where do I live?")


@pytest.mark.parametrize("text", ["", "[]", "nonsense", "[" * 100_000, '{"ask": NaN'])
def test_a_frame_that_is_not_an_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_frame(text.encode())


def test_a_deep_frame_is_refused_by_the_side_that_answers() -> None:
    with open_home() as memory, pytest.raises(InvalidInput):
        Answering(memory).answer(read_frame(b'{"ask": "merge", "items": ' + b"[" * 900 + b"]" * 900 + b"}"))


def test_a_machine_whose_clock_is_far_ahead_is_refused() -> None:
    with open_home() as here, open_home(now=START + 7200) as there:
        with pytest.raises(Refused, match="hours ahead"):
            meet(here, there)
        # The other way round, the later clock is this one's.
        assert meet(there, here).is_same


def test_a_clock_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(Refused):
        check_clock("the other machine", float("nan"), START)


def test_a_memory_is_not_synced_with_itself() -> None:
    with open_home() as memory, pytest.raises(Refused):
        meet(memory, memory)


@pytest.mark.parametrize(
    "url", ["ssh://-oProxyCommand=evil", "ssh://", "ssh://a b", "ssh://-x@host", "ssh://h/path", "ssh://h:x"]
)
def test_a_host_that_ssh_would_read_as_an_option_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        connect_ssh(url, "default")


# --- a folder -------------------------------------------------------------------------------------


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    (tmp_path / "drive").mkdir()
    here, there = open_home(tmp_path / "a"), open_home(tmp_path / "b", now=START + 1)
    yield here, there
    here.close()
    there.close()


def exchange(memory: Memory, drive: Path) -> Any:
    return SyncFolder(memory, drive).sync(no_progress)


def test_a_folder_carries_everything_without_the_machines_meeting(
    homes: tuple[Memory, Memory], tmp_path: Path
) -> None:
    here, there = homes
    drive = tmp_path / "drive"
    say(here, "s", "one")
    there.remember("I live in Berlin.")
    for memory in (here, there, here, there):
        exchange(memory, drive)
    assert export(here) == export(there)
    here.clock.advance(60)  # type: ignore[attr-defined]
    here.sessions.delete_session("s")
    exchange(here, drive)
    assert exchange(there, drive).received.removed == {"sessions": 1}
    last = exchange(here, drive)
    assert last.is_same
    assert not last.sent.added


def test_forgotten_text_leaves_the_folder_with_the_next_sync(
    homes: tuple[Memory, Memory], tmp_path: Path
) -> None:
    here, _ = homes
    ids = say(here, "s", "the pin is 4711")
    exchange(here, tmp_path / "drive")
    copies = here.forget(f"message:{ids[0]}")["copies"]
    assert any(FOLDER in copy for copy in copies)
    exchange(here, tmp_path / "drive")
    for path in (tmp_path / "drive").rglob("*.z"):
        assert b"4711" not in zlib.decompress(path.read_bytes())


def test_a_drive_that_has_not_caught_up_is_read_again_later(
    homes: tuple[Memory, Memory], tmp_path: Path
) -> None:
    here, there = homes
    drive = tmp_path / "drive"
    say(here, "s", *(f"message {number}" for number in range(600)))
    exchange(here, drive)
    whole = tmp_path / "whole"
    shutil.copytree(drive, whole)
    for number, path in enumerate(sorted(drive.rglob("??/*.z"))):
        path.write_bytes(path.read_bytes()[: 10 * (number % 2)])
    report = exchange(there, drive)
    assert "not in the folder yet" in report.received.reasons[0]
    (drive / FOLDER / next(path.name for path in (whole / FOLDER).iterdir()) / "manifest.z").write_bytes(b"x")
    assert exchange(there, drive).received.is_empty
    shutil.copytree(whole, drive, dirs_exist_ok=True)
    exchange(there, drive)
    assert texts(there, "s") == texts(here, "s")


def test_a_bomb_in_the_folder_is_refused(
    homes: tuple[Memory, Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = homes
    drive = tmp_path / "drive"
    say(here, "s", "one")
    exchange(here, drive)
    monkeypatch.setattr(peers, "LONGEST_FRAME", 1 << 16)
    for path in drive.rglob("*.z"):
        path.write_bytes(zlib.compress(b" " * (1 << 20)))
    with pytest.raises(Refused, match="unpacked"):
        exchange(there, drive)


@pytest.mark.parametrize("name", ["../../../a/mnemos.db", "x" * 32, "/etc/passwd"])
def test_a_list_that_names_other_files_is_refused(
    homes: tuple[Memory, Memory], tmp_path: Path, name: str
) -> None:
    here, there = homes
    drive = tmp_path / "drive"
    exchange(here, drive)
    (listing,) = drive.rglob("manifest.z")
    found = json.loads(zlib.decompress(listing.read_bytes()))
    found["parts"] = {"facts/00": ["0" * 32, name]}
    listing.write_bytes(zlib.compress(json.dumps(found).encode()))
    with pytest.raises(Refused):
        exchange(there, drive)


def test_what_came_before_the_drive_was_full_is_kept(
    homes: tuple[Memory, Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = homes
    drive = tmp_path / "drive"
    say(here, "s", "from here")
    say(there, "t", "from there")
    exchange(there, drive)

    def fill_up(path: Path, data: bytes) -> None:
        raise DiskFull(f"{path} could not be written: the disk is full. Nothing was changed.")

    with monkeypatch.context() as full:
        full.setattr(peers.files, "replace", fill_up)
        with pytest.raises(DiskFull, match="Received changes are kept"):
            exchange(here, drive)
    assert texts(here, "t") == ["from there"]
    exchange(here, drive)
    exchange(there, drive)
    assert export(here) == export(there)


@pytest.mark.parametrize("name", ["manifest.z", "00", "."])
def test_a_link_that_a_peer_left_in_the_folder_is_not_followed(
    homes: tuple[Memory, Memory], tmp_path: Path, name: str
) -> None:
    here, _ = homes
    drive = tmp_path / "drive"
    exchange(here, drive)
    say(here, "s", *(f"message {number}" for number in range(200)))
    (own,) = (drive / FOLDER).iterdir()
    victims = tmp_path / "victims"
    victims.mkdir()
    (victims / "precious.z").write_text("precious")
    for link in [own / f"{number:02x}" for number in range(256)] if name == "00" else [own / name]:
        if name != "manifest.z":
            shutil.rmtree(link, ignore_errors=True)
            link.symlink_to(victims, target_is_directory=True)
        else:
            link.unlink()
            link.symlink_to(victims / "precious.z")
    with pytest.raises(Refused, match="is a link"):
        exchange(here, drive)
    assert [path.name for path in victims.iterdir()] == ["precious.z"]
    assert (victims / "precious.z").read_text() == "precious"


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_read(
    homes: tuple[Memory, Memory], tmp_path: Path
) -> None:
    here, there = homes
    drive = tmp_path / "drive"
    say(here, "s", "from here")
    exchange(here, drive)
    broken = drive / FOLDER / ("0" * 16)
    broken.mkdir()
    os.mkfifo(broken / "manifest.z")
    report = exchange(there, drive)
    assert [str(broken) in reason for reason in report.received.reasons] == [True]
    assert texts(there, "s") == ["from here"]
    for part in list(drive.rglob("??/*.z")):
        part.unlink()
        os.mkfifo(part)
    with open_home(now=START + 2) as third:
        assert any("not readable" in reason for reason in exchange(third, drive).received.reasons)


def test_a_drive_that_is_not_there_is_named(homes: tuple[Memory, Memory], tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        SyncFolder(homes[0], tmp_path / "nowhere")


# --- a program -------------------------------------------------------------------------------------


def test_a_program_answers_on_its_standard_output(homes: tuple[Memory, Memory], tmp_path: Path) -> None:
    # The program has the clock of the machine.
    here = Memory.at(tmp_path / "c")
    say(here, "s", "from here", "🚀 \ud800")
    say(homes[1], "t", "from there")
    homes[1].close()
    command = [sys.executable, "-u", "-m", "mnemos", "sync", "--serve", "--home", str(tmp_path / "b")]
    noise = [
        sys.executable,
        "-c",
        f"import subprocess; print('Welcome', flush=True); subprocess.run({command})",
    ]
    with Program("the other machine", noise) as program:
        assert sync(here, program, no_progress).is_same
    assert texts(here, "t") == ["from there"]
    with open_home(tmp_path / "b") as again, here:
        assert export(again) == export(here)


def test_a_program_that_is_not_mnemos_is_named() -> None:
    with (
        pytest.raises(MnemosError, match="the other machine"),
        Program("the other machine", [sys.executable, "-c", "print('hello')"]),
    ):
        pass
    for code in (127, 255, 3):
        failing = [sys.executable, "-c", f"import sys; sys.exit({code})"]
        with pytest.raises(Unavailable, match="No connection to the other machine"):
            Program("the other machine", failing).__enter__()
    with pytest.raises(Unavailable, match="can't be run"):
        Program("the other machine", ["/nonexistent/ssh"])


def test_two_syncs_at_once_store_nothing_twice(homes: tuple[Memory, Memory], tmp_path: Path) -> None:
    here, there = homes
    say(there, "s", *(f"message {number}" for number in range(300)))
    with open_home(tmp_path / "c", now=START + 2) as third, ThreadPoolExecutor() as both:
        meet(there, third)
        running = [
            both.submit(meet, here, there),
            both.submit(meet, third, here),
            both.submit(meet, here, third),
        ]
        for one in running:
            one.result()
        check = texts(there, "s")
        assert texts(here, "s") == texts(third, "s") == check
        assert len(check) == 300
