"""Files of other versions of Mnemos."""

from __future__ import annotations

import itertools
import shutil
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from mnemos.errors import MnemosError, SchemaChanged, SchemaTooNew
from mnemos.storage.sqlite import schema
from mnemos.storage.sqlite.connection import APPLICATION_ID

from .soundness import assert_sound, code_of


@pytest.fixture
def filled(home: Path) -> Path:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli", title="a title")
        memory.sessions.append_messages("s", [{"role": "user", "content": f"line{n}"} for n in range(50)])
    return home


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it to be the next version of Mnemos, with one migration more."""

    def upgrade(sql: str = "ALTER TABLE sessions ADD COLUMN mood TEXT;") -> None:
        file = tmp_path / "9999_next.sql"
        file.write_text(sql)
        monkeypatch.setattr(schema, "_FILES", [*schema._FILES, file])
        monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)

    return upgrade


def raw(path: Path, sql: str) -> Any:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql).get
    finally:
        connection.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_a_newer_version_is_refused_and_left_alone(filled: Path, read_only: bool) -> None:
    file = filled / "mnemos.db"
    raw(file, f"PRAGMA user_version = {schema.VERSION + 1}")
    before = file.read_bytes()
    with pytest.raises(SchemaTooNew):
        mnemos.open(filled, read_only=read_only)
    assert file.read_bytes() == before


def test_a_process_whose_file_is_migrated_under_it_writes_nothing_more(filled: Path) -> None:
    file = filled / "mnemos.db"
    with mnemos.open(filled) as memory:
        memory.sessions.append_message("s", "user", "before the upgrade")
        raw(file, f"PRAGMA user_version = {schema.VERSION + 1}")
        changes: list[Any] = [
            lambda: memory.sessions.append_message("s", "user", "after the upgrade"),
            lambda: memory.sessions.create_session("new", "cli"),
            lambda: memory.sessions.delete_session("s"),
            lambda: memory.forget("session:s"),
            lambda: memory.storage.catch_up(),
        ]
        for change in changes:
            with pytest.raises(SchemaChanged):
                change()
    assert raw(file, "SELECT count(*) FROM messages") == 51
    assert raw(file, "SELECT count(*) FROM sessions WHERE NOT doomed") == 1


@pytest.mark.parametrize("moment", range(8))
def test_a_home_made_by_another_process_while_we_look_is_ours(home: Path, moment: int) -> None:
    """The file is empty when we begin to look; between two of our looks it becomes a home."""
    home.mkdir()
    file = home / "mnemos.db"
    file.touch(mode=0o600)
    looks = itertools.count()

    def another(*_: Any) -> bool:
        if next(looks) == moment:
            make_at_once(file)
        return True

    connection = apsw.Connection(str(file))
    connection.exec_trace = another
    try:
        assert schema.version_of(connection) in (0, schema.VERSION)
    finally:
        connection.close()


def make_at_once(file: Path) -> None:
    """The commit of another process that makes the home; nothing if it would have to wait for us."""
    other = apsw.Connection(str(file))
    try:
        other.execute(
            f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {schema.VERSION}; CREATE TABLE spaces (id); COMMIT"
        )
    except apsw.BusyError:
        pass
    finally:
        other.close()


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_new_home_waits_for_another_process_that_makes_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, begin: str
) -> None:
    """Another process on a new file delays us for a moment, not for good."""
    home.mkdir()
    (home / "mnemos.db").touch(mode=0o600)
    other = apsw.Connection(str(home / "mnemos.db"))
    # As an earlier version began: pages, but no tables yet.
    other.execute("CREATE TABLE x (y); DROP TABLE x")
    other.execute(f"{begin}; SELECT count(*) FROM sqlite_schema").fetchall()
    # It is done by the time that we have waited.
    monkeypatch.setattr(time, "sleep", lambda _: other.close())
    with mnemos.open(home, busy_seconds=5) as memory:
        memory.sessions.create_session("s", "cli")
    assert_sound(home)


def test_an_older_file_is_migrated_after_a_backup(filled: Path, next_version: Any) -> None:
    old = schema.VERSION
    next_version()
    with mnemos.open(filled) as memory:
        assert memory.sessions.message_count() == 50
        assert len(memory.sessions.search_messages("line7")) == 1
        assert any(str(old) in Path(copy).name for copy in memory.backups())
    assert_sound(filled)
    assert raw(filled / "mnemos.db", "PRAGMA user_version") == old + 1
    assert raw(filled / "mnemos.db", "SELECT count(mood) FROM sessions") == 0
    copy = filled / f"mnemos.before-schema-{old}.db"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert raw(copy, "PRAGMA user_version") == old
    assert raw(copy, "SELECT count(*) FROM messages") == 50
    assert raw(copy, "PRAGMA integrity_check") == "ok"


def test_a_migration_that_fails_leaves_the_file_as_it_was(filled: Path, next_version: Any) -> None:
    old = schema.VERSION
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_FILES", schema._FILES)
        patch.setattr(schema, "VERSION", schema.VERSION)
        next_version("ALTER TABLE sessions ADD COLUMN mood TEXT; ALTER TABLE nowhere ADD COLUMN x;")
        with pytest.raises(MnemosError):
            mnemos.open(filled)
    assert raw(filled / "mnemos.db", "PRAGMA user_version") == old
    with mnemos.open(filled) as memory:
        assert memory.sessions.message_count() == 50
    assert_sound(filled)


def test_an_older_file_is_not_opened_for_reading_only(filled: Path, next_version: Any) -> None:
    next_version()
    with pytest.raises(SchemaChanged):
        mnemos.open(filled, read_only=True)


def test_a_backup_of_an_older_version_can_be_restored(
    filled: Path, tmp_path: Path, next_version: Any
) -> None:
    backup = tmp_path / "backup.db"
    with mnemos.open(filled) as memory:
        memory.backup(backup)
        memory.sessions.append_message("s", "user", "later")
    next_version()
    with mnemos.open(filled) as memory:
        memory.restore(backup)
        assert memory.sessions.message_count() == 50
        memory.sessions.append_message("s", "user", "goes on")
    assert_sound(filled)
    assert raw(filled / "mnemos.db", "SELECT count(mood) FROM sessions") == 0


def test_restoring_puts_the_former_data_aside(filled: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    with mnemos.open(filled) as memory:
        memory.backup(backup)
        memory.sessions.append_message("s", "user", "later")
        aside = memory.restore(backup)
        assert aside is not None
        assert raw(aside, "SELECT count(*) FROM messages") == 51
        assert memory.sessions.message_count() == 50
        assert memory.sessions.search_messages("later") == []
        assert len(memory.sessions.search_messages("line7")) == 1
    assert_sound(filled)


def test_a_backup_that_cannot_be_used_changes_nothing(filled: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.db"
    newer, junk, cut, empty = (tmp_path / name for name in ("newer.db", "junk.db", "cut.db", "empty.db"))
    with mnemos.open(filled) as memory:
        memory.backup(good)
        shutil.copy(good, newer)
        raw(newer, f"PRAGMA user_version = {schema.VERSION + 1}")
        junk.write_bytes(b"junk" * 5_000)
        cut.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
        empty.touch()
        for path, code in (
            (newer, "schema_too_new"),
            (junk, "not_a_database"),
            (cut, "corrupt"),
            (empty, "not_a_database"),
            (tmp_path / "missing.db", "not_found"),
            (tmp_path, "not_found"),
        ):
            with pytest.raises(MnemosError) as failure:
                memory.restore(path)
            assert failure.value.code == code, path
        assert memory.sessions.message_count() == 50
        assert memory.sessions.append_message("s", "user", "goes on") > 0
    assert_sound(filled)
    assert not list(filled.glob("*before-restore*"))


def test_restoring_the_database_from_itself_changes_nothing(filled: Path) -> None:
    with mnemos.open(filled) as memory:
        code = code_of(lambda: memory.restore(filled / "mnemos.db"))
        assert code in {None, "refused", "invalid_input"}
        assert memory.sessions.message_count() == 50
        assert memory.sessions.append_message("s", "user", "goes on") > 0
    assert_sound(filled)
