"""Damaged files, files that are not ours, and what the doctor makes of them."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from mnemos.errors import Corrupt, MnemosError, NotADatabase, PermissionDenied

from .processes import Spawn
from .soundness import assert_kept, assert_sound, code_of, complaints, index_all

SESSIONS = 3
MESSAGES = 1_500
PAGE = 4096


@dataclass(frozen=True)
class Page:
    number: int
    cells: int


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with sessions whose messages lie side by side in the file, all of them indexed."""
    home = tmp_path_factory.mktemp("template") / "home"
    with mnemos.open(home) as memory:
        for number in range(SESSIONS):
            memory.sessions.create_session(
                f"s{number}", "cli", title=f"title{number}", system_prompt="be kind"
            )
        for line in range(0, MESSAGES, 10):
            for number in range(SESSIONS):
                turn = [
                    {"role": "user", "content": f"word{number}n{line + part} " + "said " * (part * 10)}
                    for part in range(10)
                ]
                memory.sessions.append_messages(f"s{number}", turn)
        memory.sessions.optimize()
    return home


@pytest.fixture
def damaged(template: Path, home: Path) -> Path:
    """A copy for a test to damage."""
    shutil.copytree(template, home)
    return home


@pytest.fixture
def original(template: Path) -> dict[int, str]:
    return contents(template)


def contents(home: Path) -> dict[int, str]:
    with mnemos.open(home, read_only=True) as memory:
        return {
            message["id"]: message["content"]
            for number in range(SESSIONS)
            for message in memory.sessions.get_messages(f"s{number}")
        }


def pages_of(home: Path, table: str, kind: str = "leaf") -> list[Page]:
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        sql = "SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path"
        return [Page(*row) for row in connection.execute(sql, (table, kind))]
    finally:
        connection.close()


def overwrite(home: Path, number: int, data: bytes = b"\xa5" * PAGE, offset: int = 0) -> None:
    with (home / "mnemos.db").open("r+b") as file:
        file.seek((number - 1) * PAGE + offset)
        file.write(data)


def repaired(home: Path) -> dict[str, bool]:
    with mnemos.open(home) as memory:
        return {check.name: check.ok for check in memory.doctor(repair=True)}


def assert_mended(home: Path, was: bytes) -> None:
    """The home works again, and the damaged file is beside it as it was."""
    assert_sound(home)
    kept = list(home.glob("mnemos.damaged-*.db"))
    assert [path.read_bytes() for path in kept] == [was]
    with mnemos.open(home) as memory:
        memory.sessions.ensure_session("after", "cli")
        memory.sessions.append_message("after", "user", "written afterwards")
        assert len(memory.sessions.search_messages("written afterwards")) == 1


# --- damage -----------------------------------------------------------------------------------


def test_a_damaged_page_of_messages_is_reported_with_its_code(damaged: Path) -> None:
    page = pages_of(damaged, "messages")[7]
    overwrite(damaged, page.number)
    with mnemos.open(damaged) as memory:
        with pytest.raises(Corrupt):
            list(memory.sessions.export_all())
        assert not {check.name: check.ok for check in memory.doctor()}["integrity"]
        # Data on other pages can still be read and written.
        assert memory.sessions.search_sessions()
        memory.sessions.append_message("s0", "user", "in spite of all")
        assert len(memory.sessions.search_messages("spite")) == 1


@pytest.mark.parametrize("junk", [b"\xa5" * PAGE, b"\0" * PAGE, random.Random(5).randbytes(PAGE)])
def test_a_damaged_page_of_messages_costs_only_the_messages_on_it(
    damaged: Path, original: dict[int, str], junk: bytes
) -> None:
    page = pages_of(damaged, "messages")[7]
    overwrite(damaged, page.number, junk)
    was = (damaged / "mnemos.db").read_bytes()
    assert repaired(damaged)["salvage"]
    assert_mended(damaged, was)
    saved = contents(damaged)
    assert len(saved) == len(original) - page.cells
    assert saved.items() <= original.items()
    assert_found(damaged, saved)


def test_several_damaged_pages_of_messages_cost_only_the_messages_on_them(
    damaged: Path, original: dict[int, str]
) -> None:
    pages = pages_of(damaged, "messages")
    lost = [pages[0], pages[5], pages[6], pages[20], pages[-1]]
    for page in lost:
        overwrite(damaged, page.number)
    was = (damaged / "mnemos.db").read_bytes()
    repaired(damaged)
    assert_mended(damaged, was)
    saved = contents(damaged)
    assert len(saved) == len(original) - sum(page.cells for page in lost)
    assert_found(damaged, saved)


@pytest.mark.parametrize(
    "table",
    ["messages_fts_data", "messages_fts_idx", "messages_fts_docsize", "messages_by_session", "audit_by_ref"],
)
def test_a_damaged_index_costs_no_message(damaged: Path, original: dict[int, str], table: str) -> None:
    pages = pages_of(damaged, table)
    overwrite(damaged, pages[len(pages) // 2].number)
    repaired(damaged)
    assert_sound(damaged)
    assert contents(damaged) == original
    assert_found(damaged, original)


def test_a_damaged_page_of_sessions_leaves_the_messages_to_be_found(
    damaged: Path, original: dict[int, str]
) -> None:
    overwrite(damaged, pages_of(damaged, "sessions")[0].number)
    was = (damaged / "mnemos.db").read_bytes()
    repaired(damaged)
    assert_mended(damaged, was)
    with mnemos.open(damaged) as memory:
        saved = {
            message["id"]: message["content"]
            for session in memory.sessions.search_sessions(limit=100)
            if session["id"] != "after"
            for message in memory.sessions.get_messages(session["id"])
        }
    assert saved == original
    assert_found(damaged, saved)


def test_who_has_a_damaged_file_open_goes_on_with_the_repaired_one(damaged: Path) -> None:
    with mnemos.open(damaged) as other:
        other.sessions.append_message("s0", "user", "before the repair")
        overwrite(damaged, pages_of(damaged, "messages")[7].number)
        assert repaired(damaged)["salvage"]
        assert len(other.sessions.search_messages("before the repair")) == 1
        other.sessions.append_message("s0", "user", "after the repair")
    with mnemos.open(damaged) as memory:
        last = memory.sessions.get_messages("s0")[-2:]
    assert [message["content"] for message in last] == ["before the repair", "after the repair"]
    assert_sound(damaged)


def test_losing_the_root_of_the_messages_leaves_the_sessions(damaged: Path) -> None:
    overwrite(damaged, pages_of(damaged, "messages", "internal")[0].number)
    was = (damaged / "mnemos.db").read_bytes()
    repaired(damaged)
    assert_mended(damaged, was)
    with mnemos.open(damaged) as memory:
        assert memory.sessions.get_session("s1")["title"] == "title1"


def test_a_record_that_claims_to_be_huge_is_passed_over(damaged: Path, original: dict[int, str]) -> None:
    """The lengths of a record are easily hit: here its role is said to have a billion letters."""
    page = pages_of(damaged, "messages")[7]
    with (damaged / "mnemos.db").open("rb") as file:
        file.seek((page.number - 1) * PAGE + 8)
        cell = int.from_bytes(file.read(2), "big")
    types = varint(0) + varint(1) + varint(2 * 1_500_000_000 + 13) + varint(0) * 9
    record = varint(4_000_000_000) + varint(77) + varint(len(types) + 1) + types
    overwrite(damaged, page.number, record, offset=cell)
    with mnemos.Memory.at(damaged) as memory:
        assert code_of(lambda: list(memory.sessions.export_all())) == "corrupt"
        list(memory.doctor(repair=True))
    assert_sound(damaged)
    saved = contents(damaged)
    assert len(original) - page.cells <= len(saved) < len(original)
    assert saved.items() <= original.items()


def varint(number: int) -> bytes:
    """A number as SQLite writes it: seven bits a byte, the last one below 128."""
    data = [number & 0x7F]
    while number := number >> 7:
        data.insert(0, 0x80 | number & 0x7F)
    return bytes(data)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_what_a_truncated_file_still_holds_is_saved(
    damaged: Path, original: dict[int, str], share: float
) -> None:
    file = damaged / "mnemos.db"
    size = int(file.stat().st_size * share)
    pages = pages_of(damaged, "messages")
    whole = sum(page.cells for page in pages if page.number <= size // PAGE)
    cut = sum(page.cells for page in pages if page.number == size // PAGE + 1)
    os.truncate(file, size)
    with pytest.raises(Corrupt), mnemos.open(damaged) as memory:
        list(memory.sessions.export_all())
    was = file.read_bytes()
    with mnemos.Memory.at(damaged) as memory:
        assert {check.name: check.ok for check in memory.doctor(repair=True)}["salvage"]
    assert_mended(damaged, was)
    saved = contents(damaged)
    # Of the page that was cut in two, what lies in its first half may be there too.
    assert whole <= len(saved) <= whole + cut
    assert saved.items() <= original.items()


def test_a_damaged_schema_page_is_reported_and_the_file_left_alone(damaged: Path) -> None:
    overwrite(damaged, 1, b"\xa5" * (PAGE - 100), offset=100)
    was = (damaged / "mnemos.db").read_bytes()
    with pytest.raises(MnemosError) as failure, mnemos.open(damaged) as memory:
        memory.sessions.search_sessions()
    assert failure.value.code == "corrupt"
    with mnemos.Memory.at(damaged) as memory, pytest.raises(Corrupt):
        list(memory.doctor(repair=True))
    assert (damaged / "mnemos.db").read_bytes() == was


def test_a_damaged_letter_of_the_schema_costs_nothing(damaged: Path, original: dict[int, str]) -> None:
    file = damaged / "mnemos.db"
    data = file.read_bytes()
    assert data.count(b"indexed INTEGER") == 1
    file.write_bytes(data.replace(b"indexed INTEGER", b"imdexed INTEGER"))
    was = file.read_bytes()
    assert code_of(lambda: mnemos.open(damaged)) == "corrupt"
    with mnemos.Memory.at(damaged) as memory:
        assert {check.name: check.ok for check in memory.doctor(repair=True)}["salvage"]
    assert_mended(damaged, was)
    assert contents(damaged) == original
    assert_found(damaged, original)


def test_a_healthy_file_is_left_as_it_is_by_the_doctor(damaged: Path) -> None:
    file = damaged / "mnemos.db"
    with mnemos.open(damaged) as memory:
        assert complaints(memory) == []
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    with mnemos.open(damaged) as memory:
        assert complaints(memory, repair=True) == []
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert sorted(path.name for path in damaged.iterdir()) == ["mnemos.db", "mnemos.db-upkeep"]


def test_a_healthy_file_in_use_is_not_taken_for_damaged(home: Path) -> None:
    """A connection's cache of the index may be older than the index."""
    with mnemos.open(home) as memory, mnemos.open(home) as other:
        memory.sessions.create_session("s", "cli")
        for start in range(0, 4_000, 200):
            turn = [{"role": "user", "content": f"said word{start + part} " * 9} for part in range(200)]
            other.sessions.append_messages("s", turn)
            index_all(other)
            if start == 800:
                assert memory.sessions.search_messages("said")
        assert complaints(memory) == []
        assert complaints(memory, repair=True) == []
    assert not list(home.glob("*damaged*"))


def test_random_damage_gives_our_errors_and_a_repair_that_ends(
    template: Path, tmp_path: Path, nightly: bool
) -> None:
    chance = random.Random(20_260_102)
    size = (template / "mnemos.db").stat().st_size
    for attempt in range(400 if nightly else 8):
        home = tmp_path / f"home{attempt}"
        shutil.copytree(template, home)
        for _ in range(chance.choice((1, 1, 3, 30))):
            length = chance.choice((1, 8, 64, 512))
            overwrite(home, 1, chance.randbytes(length), offset=chance.randrange(100, size - length))
        use_in_every_way(home)
        with mnemos.Memory.at(home) as memory:
            code = code_of(lambda: list(memory.doctor(repair=True)))
        assert code in {None, "corrupt", "not_a_database"}
        if code is None:
            assert_sound(home)
        shutil.rmtree(home)


def use_in_every_way(home: Path) -> None:
    """Every damaged file raises only our errors."""

    def try_out(use: Any) -> None:
        assert code_of(use) in {None, "corrupt", "not_a_database", "storage_error", "schema_too_new"}

    with mnemos.Memory.at(home) as memory:
        try_out(lambda: memory.sessions.search_sessions())
        for number in range(SESSIONS):
            try_out(lambda: memory.sessions.get_messages(f"s{number}"))  # noqa: B023
        try_out(lambda: memory.sessions.search_messages("said"))
        try_out(lambda: memory.sessions.search_messages("word1n700 OR word2n3", sort="newest"))
        try_out(lambda: memory.sessions.append_message("s0", "user", "more"))
        try_out(lambda: memory.sessions.stats())
        try_out(lambda: memory.storage.catch_up())


# --- files that are missing or are something else ----------------------------------------------


def test_a_deleted_log_costs_at_most_what_was_in_it(damaged: Path, original: dict[int, str]) -> None:
    with mnemos.open(damaged) as memory:
        memory.sessions.append_message("s0", "user", "only in the log")
        # As after a power cut: the files as they are, without the log.
        copy = damaged.with_name("copy")
        copy.mkdir()
        shutil.copy(damaged / "mnemos.db", copy)
    assert_sound(copy)
    assert contents(copy) == original


def test_a_damaged_log_costs_at_most_what_comes_after_the_damage(home: Path, spawn: Spawn) -> None:
    writer = spawn("append_turns", home=str(home), session="s", seed=1)
    acknowledged = [writer.line() for _ in range(20)]
    writer.kill()
    log = home / "mnemos.db-wal"
    size = log.stat().st_size
    assert size > 0
    with log.open("r+b") as file:
        file.seek(size * 2 // 3)
        file.write(b"\xa5" * 5_000)
    assert_sound(home)
    with mnemos.open(home) as memory:
        messages = memory.sessions.get_messages("s")
        assert len(messages) % 3 == 0
        assert_kept(memory, acknowledged[: len(messages) // 3], "s")


@pytest.mark.parametrize("data", [b"not a database", random.Random(6).randbytes(20_000), b"\0" * 8192])
def test_a_file_that_is_not_a_database_is_refused_and_left_alone(home: Path, data: bytes) -> None:
    home.mkdir()
    file = home / "mnemos.db"
    file.write_bytes(data)
    with pytest.raises(NotADatabase) as failure:
        mnemos.open(home)
    with pytest.raises(NotADatabase), mnemos.Memory.at(home) as memory:
        list(memory.doctor(repair=True))
    assert file.read_bytes() == data
    # A reference to the error is not one to the file.
    assert not is_open(file), failure


def test_a_database_of_another_program_is_refused_and_left_alone(home: Path) -> None:
    home.mkdir()
    file = home / "mnemos.db"
    connection = apsw.Connection(str(file))
    connection.execute("CREATE TABLE bookmarks (url); INSERT INTO bookmarks VALUES ('x')")
    connection.close()
    before = file.read_bytes()
    for read_only in (False, True):
        with pytest.raises(NotADatabase) as failure:
            mnemos.open(home, read_only=read_only)
        assert not is_open(file), failure
    assert file.read_bytes() == before


def test_a_folder_in_the_place_of_the_file_is_refused(home: Path) -> None:
    (home / "mnemos.db").mkdir(parents=True)
    with pytest.raises(PermissionDenied):
        mnemos.open(home)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_the_place_of_the_file_is_refused_and_not_followed(home: Path, exists: bool) -> None:
    home.mkdir()
    target = home.with_name("elsewhere")
    if exists:
        target.write_bytes(b"")
    (home / "mnemos.db").symlink_to(target)
    with pytest.raises(PermissionDenied):
        mnemos.open(home)
    with pytest.raises(MnemosError) as failure:
        mnemos.open(home, read_only=True)
    assert failure.value.code == ("permission_denied" if exists else "not_found")
    assert target.exists() is exists
    assert not exists or target.read_bytes() == b""


def test_a_pipe_in_the_place_of_the_file_is_refused(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "mnemos.db")
    with pytest.raises(MnemosError) as failure:
        mnemos.open(home)
    assert failure.value.code in {"permission_denied", "unavailable", "not_a_database"}


def test_a_home_behind_a_link_to_a_folder_works(tmp_path: Path) -> None:
    (tmp_path / "big disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "big disk")
    with mnemos.open(tmp_path / "link" / "home") as memory:
        memory.sessions.create_session("s", "cli")
    with mnemos.open(tmp_path / "link" / "home", read_only=True) as memory:
        assert memory.sessions.session_count() == 1


def test_a_file_in_the_place_of_the_home_is_refused(home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(MnemosError) as failure:
        mnemos.open(home)
    assert failure.value.code in {"invalid_input", "permission_denied"}


# --- inside -----------------------------------------------------------------------------------


def assert_found(home: Path, saved: dict[int, str]) -> None:
    """Some of the saved messages, and a search for each."""
    chance = random.Random(7)
    with mnemos.open(home) as memory:
        for id in chance.sample(sorted(saved), 20):
            word = saved[id].split()[0]
            assert [hit["id"] for hit in memory.sessions.search_messages(word)] == [id]


def is_open(file: Path) -> bool:
    return str(file) in set(_open_files())


def _open_files() -> Iterator[str]:
    listed = Path("/proc/self/fd")
    if listed.is_dir():
        for entry in listed.iterdir():
            try:
                yield str(entry.readlink())
            except OSError:
                continue


def test_salvage_keeps_whose_facts_are_and_how_they_are_linked(damaged: Path) -> None:
    with mnemos.open(damaged) as memory:
        memory.facts.remember("I live in Berlin", user_id="alice", stated_by="user")
        memory.facts.remember("Sessions are cached in Memcached")
        memory.facts.remember("We dropped Memcached")
        before = [(fact.content, fact.user_id, fact.stated_by) for fact in memory.facts.list()]
        linked = [(one.older.id, one.newer.id, one.reason) for one in memory.facts.conflicts()]
    assert linked
    page = pages_of(damaged, "messages")[-1]
    overwrite(damaged, page.number, b"\xa5" * PAGE)
    assert repaired(damaged)["salvage"]
    with mnemos.open(damaged) as memory:
        assert [(fact.content, fact.user_id, fact.stated_by) for fact in memory.facts.list()] == before
        assert [(one.older.id, one.newer.id, one.reason) for one in memory.facts.conflicts()] == linked
