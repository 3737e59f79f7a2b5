"""SIGKILL at any moment: nothing acknowledged is lost, and the next process goes on with the file."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from mnemos.storage.sqlite import schema

from .processes import Spawn
from .roles_data import IMPORTED
from .soundness import Acknowledged, assert_kept, assert_sound, index_all

LINES = 1_200


def test_no_acknowledged_turn_is_lost_when_writers_are_killed(
    home: Path, spawn: Spawn, nightly: bool
) -> None:
    chance = random.Random(20_260_101)
    acknowledged: list[Acknowledged] = []
    others: list[Acknowledged] = []
    seeds = itertools.count(1)
    for _ in range(20 if nightly else 1):
        # One process that is not killed goes on writing beside those that are.
        survivor = spawn("append_turns", home=str(home), session="survivor", seed=next(seeds))
        others.append(survivor.line())
        acknowledged += kill_writers(home, spawn, chance, seeds, kills=50)
        others += survivor.finish()
        with mnemos.open(home, read_only=True) as memory:
            kept_whole(memory, acknowledged)

    assert_sound(home)
    with mnemos.open(home) as memory:
        kept_whole(memory, acknowledged)
        assert_kept(memory, others, "survivor")
        for word, ids in chance.sample(acknowledged, 100):
            hits = memory.sessions.search_messages(word)
            assert {hit["id"] for hit in hits if not hit["partial"]} == set(ids)


def kill_writers(
    home: Path, spawn: Spawn, chance: random.Random, seeds: Iterator[int], *, kills: int
) -> list[Acknowledged]:
    """Start writers and kill each after some turns; the turns that were acknowledged."""
    acknowledged: list[Acknowledged] = []
    writer = spawn("append_turns", home=str(home), session="s", seed=next(seeds))
    for _ in range(kills):
        # The next one starts up while this one is still at work.
        following = spawn("append_turns", home=str(home), session="s", seed=next(seeds))
        acknowledged += [writer.line() for _ in range(chance.randint(1, 30))]
        acknowledged += writer.kill()
        writer.end()
        writer = following
    return [*acknowledged, writer.line(), *writer.finish()]


def kept_whole(memory: mnemos.Memory, acknowledged: list[Acknowledged]) -> None:
    """As ``assert_kept``, for a session in which the turns of several writers are side by side."""
    stored = {message["id"]: message["content"] for message in memory.sessions.get_messages("s")}
    words = [content.split()[1] for content in stored.values()]
    for word, ids in acknowledged:
        assert [stored[id].split()[:2] for id in ids] == [["ask", word], ["call", word], ["found", word]]
    assert words[0::3] == words[1::3] == words[2::3]
    assert list(stored) == sorted(stored)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one long session, one short one, and a backup of both beside it."""
    folder = tmp_path_factory.mktemp("template")
    with mnemos.open(folder / "home") as memory:
        memory.sessions.create_session("long", "cli", title="The long one")
        memory.sessions.create_session("child", "cli", parent_session_id="long")
        lines = [{"role": "user", "content": f"long line{number} " * 20} for number in range(LINES)]
        memory.sessions.append_messages("long", lines)
        memory.sessions.append_messages("child", [{"role": "user", "content": "short"}])
        memory.backup(folder / "backup.db")
        memory.sessions.append_messages("child", [{"role": "user", "content": "after the backup"}])
    return folder


class Crashes:
    """The same work again and again on a fresh copy, killed at other operations of the disk each time."""

    def __init__(self, folder: Path, spawn: Spawn, nightly: bool) -> None:
        self._folder = folder
        self._spawn = spawn
        self._points = 200 if nightly else 10

    def homes(
        self, work: str, *, on: Path | None = None, moves_only: bool = False, **more: Any
    ) -> list[Path]:
        """Homes as the killed processes left them; ``on`` None: there was no home before.

        ``moves_only``: killed only where a whole file is renamed or removed.
        """
        more["moves_only"] = moves_only
        counted = self._copy(on, 0)
        whole = self._spawn("crash", home=str(counted), work=work, at=0, **more)
        (operations,) = whole.finish()
        chance = random.Random(operations)
        points = chance.sample(range(1, operations + 1), min(self._points, operations))
        children = []
        for at in sorted(points):
            home = self._copy(on, at)
            children.append((home, self._spawn("crash", home=str(home), work=work, at=at, **more)))
            if len(children) % 2 == 0:
                for _, child in children[-2:]:
                    child.wait()
        codes = [child.wait() for _, child in children]
        # The thread that indexes in the background makes the number of operations vary a little.
        assert codes.count(-9) >= len(codes) / 2, "too few of the processes died in the middle of the work"
        return [home for home, _ in children]

    def _copy(self, on: Path | None, number: int) -> Path:
        folder = self._folder / f"at{number}"
        if on is None:
            folder.mkdir()
        else:
            shutil.copytree(on, folder)
        return folder / "home"


@pytest.fixture
def crashes(tmp_path: Path, spawn: Spawn, nightly: bool) -> Crashes:
    return Crashes(tmp_path, spawn, nightly)


def test_a_turn_is_whole_or_absent_after_a_kill_at_any_write(crashes: Crashes, template: Path) -> None:
    for home in crashes.homes("append", on=template):
        assert_sound(home)
        with mnemos.open(home) as memory:
            assert memory.sessions.message_count("long") in (LINES, LINES + 3)
            found = memory.sessions.search_messages("crashed")
            assert len(found) == memory.sessions.message_count("long") - LINES


def test_a_new_home_can_be_opened_after_a_kill_while_it_was_made(crashes: Crashes) -> None:
    for home in crashes.homes("create"):
        database = home / "mnemos.db"
        assert not database.exists() or database.stat().st_size > 0
        with mnemos.open(home) as memory:
            memory.sessions.ensure_session("long", "cli")
            memory.sessions.append_message("long", "user", "words")
            assert len(memory.sessions.search_messages("words")) == 1
        assert_sound(home)


def test_indexing_goes_on_after_a_kill_in_the_middle_of_it(
    crashes: Crashes, template: Path, tmp_path: Path
) -> None:
    unindexed = tmp_path / "unindexed"
    shutil.copytree(template, unindexed)
    # As after an upgrade that changed what a word is: the index is made again.
    connection = apsw.Connection(str(unindexed / "home" / "mnemos.db"))
    connection.execute("UPDATE properties SET value = 'old' WHERE name = 'words'")
    connection.close()
    for home in crashes.homes("index", on=unindexed):
        with mnemos.open(home, read_only=True) as memory:
            assert len(memory.sessions.search_messages("line77")) == 1
        with mnemos.open(home) as memory:
            index_all(memory)
            assert len(memory.sessions.search_messages("long", limit=1000)) == 1000
        assert_sound(home)


@pytest.mark.parametrize("work", ["delete", "forget"])
def test_a_session_is_wholly_there_or_gone_after_a_kill_while_it_is_deleted(
    crashes: Crashes, template: Path, work: str
) -> None:
    for home in crashes.homes(work, on=template):
        with mnemos.open(home) as memory:
            there = memory.sessions.get_session("long") is not None
            assert memory.sessions.message_count() == (LINES + 2 if there else 2)
            assert bool(memory.sessions.search_messages("line77")) is there
            assert memory.sessions.get_lineage("child")[0] == ("long" if there else "child")
            memory.storage.finish_deletes()
        assert_sound(home)
        rows = raw(home, "SELECT count(*) FROM messages")
        assert rows == (LINES + 2 if there else 2)


def test_an_import_killed_in_the_middle_is_completed_by_the_next(crashes: Crashes, template: Path) -> None:
    for home in crashes.homes("import", on=template):
        assert_sound(home)
        with mnemos.open(home) as memory:
            memory.sessions.import_sessions(IMPORTED)
            for session in IMPORTED:
                messages = memory.sessions.get_messages(session["id"])
                assert [m["content"] for m in messages] == [m["content"] for m in session["messages"]]
            assert len(memory.sessions.search_messages("import1 line", limit=1000)) == 450
        assert_sound(home)


def test_a_backup_is_whole_or_absent_after_a_kill(crashes: Crashes, template: Path) -> None:
    for home in crashes.homes("back up", on=template):
        copy = home / "copy.db"
        if copy.exists():
            assert raw(home, "PRAGMA integrity_check", "copy.db") == "ok"
            copy.unlink()
        with mnemos.open(home) as memory:
            memory.backup(copy)
        assert raw(home, "SELECT count(*) FROM messages", "copy.db") == LINES + 2
        assert_sound(home)


def test_a_restore_happened_or_not_after_a_kill(crashes: Crashes, template: Path) -> None:
    for home in crashes.homes("restore", on=template):
        with mnemos.open(home) as memory:
            assert memory.sessions.message_count() in (LINES + 1, LINES + 2)
            memory.restore(home.parent / "backup.db")
            assert memory.sessions.message_count() == LINES + 1
        assert_sound(home)


@pytest.mark.parametrize("moves_only", [False, True])
def test_a_repair_killed_in_the_middle_can_be_made_again(
    crashes: Crashes, template: Path, tmp_path: Path, moves_only: bool
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(template, broken)
    sql = "SELECT pageno, ncell FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf' LIMIT 1 OFFSET 5"
    ((page, lost),) = rows(broken / "home", sql)
    with (broken / "home" / "mnemos.db").open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    for home in crashes.homes("repair", on=broken, moves_only=moves_only):
        with mnemos.Memory.at(home) as memory:
            list(memory.doctor(repair=True))
            assert memory.sessions.message_count() == LINES + 2 - lost
            assert memory.sessions.search_messages("after the backup")
        assert_sound(home)


def test_nothing_is_lost_by_a_kill_while_the_index_is_cleaned_up(crashes: Crashes, template: Path) -> None:
    for home in crashes.homes("optimize", on=template):
        with mnemos.open(home) as memory:
            assert memory.sessions.message_count() == LINES + 2
            assert len(memory.sessions.search_messages("line77")) == 1
        assert_sound(home)


def test_a_migration_happened_or_not_after_a_kill(
    crashes: Crashes, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = tmp_path / "0002_extra.sql"
    extra.write_text("CREATE TABLE extra AS SELECT id, content FROM messages;\n")
    homes = crashes.homes("migrate", on=template, migrations=[str(extra)])
    monkeypatch.setattr(schema, "_FILES", [*schema._FILES, extra])
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    for home in homes:
        with mnemos.open(home) as memory:
            assert memory.sessions.message_count() == LINES + 2
        assert_sound(home)
        assert raw(home, "SELECT count(*) FROM extra") == LINES + 2
        kept = next(home.glob("mnemos.before-schema-*.db"))
        assert raw(home, "PRAGMA integrity_check", kept.name) == "ok"
        assert raw(home, "SELECT count(*) FROM messages", kept.name) == LINES + 2


def raw(home: Path, sql: str, name: str = "mnemos.db") -> Any:
    return rows(home, sql, name)[0][0]


def rows(home: Path, sql: str, name: str = "mnemos.db") -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(home / name), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()
