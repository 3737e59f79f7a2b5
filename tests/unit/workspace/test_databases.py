"""Databases as a whole: named, copied, compacted, restored, deleted."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from mnemos.errors import (
    AlreadyExists,
    Corrupt,
    InvalidInput,
    NotADatabase,
    NotFound,
    PermissionDenied,
    ReadOnly,
    Refused,
    TooLarge,
    Unavailable,
)
from mnemos.workspace import limits
from mnemos.workspace.workspace import Workspace


def names(workspace: Workspace) -> set[str]:
    return {info.name for info in workspace.databases()}


def items(workspace: Workspace, database: str = "default") -> int:
    return int(workspace.query("SELECT count(*) FROM prices", database=database).rows[0][0])


def test_nothing_is_made_before_the_first_call(workspace, folder):
    assert workspace.databases() == []
    assert workspace.snapshots() == []
    assert not folder.exists()


def test_databases_do_not_see_each_other(workspace):
    workspace.query("CREATE TABLE t (a)", database="research")
    workspace.query("CREATE TABLE t (a, b)")
    assert names(workspace) == {"default", "research"}
    assert workspace.tables("research")[0]["columns"] == ["a"]


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "A", "", "a" * 65, "a.db", "a\0", "ａ", "-a", "a/b", 5, None]
)
def test_invalid_names_never_become_paths(workspace, folder, name):
    with pytest.raises(InvalidInput):
        workspace.query("SELECT 1", database=name)
    assert not folder.exists()


def test_a_link_is_not_followed(workspace, folder, tmp_path):
    folder.mkdir()
    (folder / "default.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(PermissionDenied):
        workspace.query("CREATE TABLE t (a)")
    assert not (tmp_path / "elsewhere.db").exists()


def test_the_number_of_databases_is_limited(workspace, folder):
    folder.mkdir()
    for number in range(limits.Quota().databases):
        (folder / f"d{number}.db").touch()
    with pytest.raises(TooLarge):
        workspace.query("SELECT 1", database="another")


def test_files_are_for_their_owner_only(prices, folder):
    prices.query("DROP TABLE prices")
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


# --- copies ------------------------------------------------------------------------------------


def test_a_copy_is_as_the_database_was(prices):
    prices.copy("default", "before")
    prices.query("DELETE FROM prices")
    assert (items(prices, "before"), items(prices)) == (250, 0)
    with pytest.raises(AlreadyExists):
        prices.copy("default", "before")


def test_what_was_copied_can_be_renamed(prices):
    prices.copy("default", "before")
    prices.close()
    prices.copy("default", "again")
    prices.rename("default", "renamed")
    assert names(prices) == {"again", "before", "renamed"}


def test_a_renamed_database_has_its_snapshots_still(prices):
    prices.query("DELETE FROM prices")
    prices.rename("default", "old")
    assert names(prices) == {"old"}
    prices.restore("old")
    assert items(prices, "old") == 250


def test_a_rename_that_fails_leaves_the_database_as_it_was(prices, folder):
    prices.query("DELETE FROM prices")
    left = folder / "snapshots" / "other"
    left.mkdir()
    (left / "20200101T000000.000000Z.db").touch()
    with pytest.raises(Unavailable):
        prices.rename("default", "other")
    assert names(prices) == {"default"}
    prices.restore()
    assert items(prices) == 250


def test_what_is_not_there_cannot_be_copied_renamed_compacted_or_deleted(workspace):
    for call in (
        lambda: workspace.copy("nothing", "b"),
        lambda: workspace.rename("nothing", "b"),
        lambda: workspace.compact("nothing"),
        lambda: workspace.delete("nothing", confirm="nothing"),
        lambda: workspace.check("nothing"),
    ):
        with pytest.raises(NotFound):
            call()


def test_a_database_is_deleted_only_by_its_name(prices, folder):
    with pytest.raises(Refused):
        prices.delete("default", confirm="yes")
    prices.query("DELETE FROM prices")
    prices.delete("default", confirm="default")
    assert names(prices) == set()
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_compacting_gives_space_back_and_keeps_the_rows(prices):
    prices.query("CREATE TABLE big AS SELECT zeroblob(100000) AS b FROM prices")
    prices.query("DROP TABLE big")
    before, after = prices.compact()
    assert after < before / 10
    assert items(prices) == 250


def test_a_database_whose_index_calls_our_functions_can_be_compacted(prices):
    prices.query("CREATE INDEX by_slug ON prices (slugify(item))")
    prices.compact()
    assert prices.query("SELECT count(*) FROM prices WHERE slugify(item) = 'item-007'").rows == [[1]]


# --- snapshots -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE prices",
        "ALTER TABLE prices DROP COLUMN eur",
        "DELETE FROM prices",
        "DELETE FROM prices WHERE eur > 1",
        "UPDATE prices SET eur = 0",
        "INSERT OR REPLACE INTO prices SELECT item, 0 FROM prices",
        "REPLACE /* all */ INTO prices SELECT item, 0 FROM prices",
        "INSERT INTO prices SELECT item, 0 FROM prices WHERE TRUE ON CONFLICT DO UPDATE SET eur = 0",
    ],
)
def test_what_takes_much_away_can_be_restored(prices, statement):
    before = prices.query("SELECT * FROM prices", max_rows=1000).rows
    prices.query(statement)
    assert len(prices.snapshots()) == 1
    prices.restore()
    assert prices.query("SELECT * FROM prices", max_rows=1000).rows == before


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO prices VALUES ('x', 1)",
        "INSERT INTO prices SELECT replace(item, 'item', 'thing'), eur FROM prices",
        "INSERT OR REPLACE INTO prices VALUES ('x', 1)",
        "CREATE TABLE t (a)",
        "DELETE FROM prices WHERE item = 'item 001'",
        "SELECT * FROM prices",
        "CREATE TEMP TABLE t AS SELECT * FROM prices; DELETE FROM t; DROP TABLE t",
    ],
)
def test_what_takes_little_or_nothing_away_keeps_no_snapshot(prices, statement):
    prices.query(statement)
    assert prices.snapshots() == []


def test_a_call_that_fails_keeps_no_snapshot(prices):
    with pytest.raises(InvalidInput):
        prices.query("DELETE FROM prices; SELECT nonsense")
    assert prices.snapshots() == []


def test_restoring_can_be_undone_by_restoring(prices):
    prices.query("DELETE FROM prices")
    prices.restore()
    prices.restore()
    assert items(prices) == 0


def test_of_many_snapshots_the_newest_and_the_first_are_kept(prices, tmp_path):
    for number in range(12):
        prices.query(f"ALTER TABLE prices ADD COLUMN c{number}")
    columns = []
    for snapshot in prices.snapshots():
        prices.save("default", tmp_path / f"{snapshot.name}.db", snapshot=snapshot.name)
        with closing(apsw.Connection(str(tmp_path / f"{snapshot.name}.db"))) as copy:
            columns.append(copy.execute("SELECT count(*) FROM pragma_table_info('prices')").get - 2)
    assert columns == [11, 10, 9, 8, 7, 0]


def test_a_snapshot_equal_to_the_newest_is_not_kept_twice(prices):
    for _ in range(8):
        prices.query("CREATE TABLE t (a); DROP TABLE t")
    assert len(prices.snapshots()) <= 2
    prices.restore(snapshot=prices.snapshots()[-1].name)
    assert items(prices) == 250


def test_the_default_is_to_restore_what_was_there_before_the_last_loss(prices):
    for rows in (250, 120, 120):
        prices.query("DELETE FROM prices WHERE rowid > ?", [rows])
        prices.query("DELETE FROM prices")
        prices.restore()
        assert items(prices) == rows


def test_a_snapshot_whose_file_is_gone_when_it_is_looked_at_is_left_out(prices, folder):
    prices.query("DELETE FROM prices")
    kept = prices.snapshots()
    # A listing of a file that another process deletes meanwhile: a name, and nothing behind it.
    (folder / "snapshots" / "default" / "20200101T000000.000000Z.db").symlink_to("nothing")
    assert prices.snapshots() == kept
    assert [info.snapshots for info in prices.databases()] == [1]


def test_an_unknown_snapshot_changes_nothing(prices):
    with pytest.raises(NotFound):
        prices.restore()
    prices.query("DELETE FROM prices")
    with pytest.raises(NotFound):
        prices.restore(snapshot="20200101T000000.000000Z")
    assert items(prices) == 0


def test_a_file_that_is_not_a_database_is_left_alone_and_can_be_restored(prices, folder):
    prices.query("DELETE FROM prices")
    prices.close()
    for path in folder.glob("default.db*"):
        path.unlink()
    (folder / "default.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises((NotADatabase, Corrupt)):
        prices.query("SELECT 1 FROM prices")
    assert (folder / "default.db").read_bytes().startswith(b"this is no database")
    prices.restore()
    assert items(prices) == 250
    assert (folder / "default.damaged").read_bytes().startswith(b"this is no database")


def test_a_file_that_was_replaced_is_opened_anew(prices, folder):
    prices.copy("default", "other")
    prices.query("DELETE FROM prices", database="other")
    prices.close()
    (folder / "other.db").replace(folder / "default.db")
    assert items(prices) == 0


# --- for reading only ------------------------------------------------------------------------------


def test_a_workspace_for_reading_changes_nothing(prices, folder):
    reader = Workspace(folder, read_only=True)
    try:
        assert items(reader) == 250
        for call in (
            lambda: reader.query("DELETE FROM prices"),
            lambda: reader.compact(),
            lambda: reader.copy("default", "b"),
            lambda: reader.delete("default", confirm="default"),
        ):
            with pytest.raises(ReadOnly):
                call()
        with pytest.raises(NotFound):
            reader.query("SELECT 1", database="new")
    finally:
        reader.close()
    assert items(prices) == 250
