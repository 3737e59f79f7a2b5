"""Names of databases, which become paths, and links in their place."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemos.workspace.workspace import Workspace

from .prey import Prey, attempt

NAMES: list[Any] = [
    *(
        "",
        " ",
        ".",
        "..",
        "../x",
        "../outside/other",
        "..\\x",
        "/etc/passwd",
        "/tmp/x",
        "a/b",
        "a\\b",
        "a.db",
        "default.db",
    ),
    *(
        "A",
        "Default",
        "ä",
        "é",
        "日本",
        "a b",
        "a\tb",
        "a\n",
        "\na",
        "a\0",
        "\0",
        "a\0b",
        "-a",
        "_a",
        "--",
        ".a",
        "~",
        "~root",
    ),
    *(
        "a" * 65,
        "a" * 1_000_000,
        "a%00",
        "%2e%2e%2fx",
        "．．／x",
        "‥",
        "a\u200b",
        "a\u202e",
        "\ufeffa",
        "a\ud800",
        "ａ",
        "a:b",
    ),
    *(
        "con/x",
        "$HOME",
        "${x}",
        "`x`",
        "*",
        "?",
        "a;b",
        "a'b",
        'a"b',
        "file:x?mode=memory",
        ":memory:",
        "x?mode=ro",
        "a#b",
    ),
    *("snapshots/default/x", "files/../../outside/other", "a\r\n", "a ", " a", "١", "a²"),
    *(None, 5, 5.5, True, b"a", ["a"], {"a": 1}, ("a",), object, Path("a"), float("nan")),
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:30])
def test_an_invalid_name_never_becomes_a_path(prey: Prey, name: Any, tried: Callable[[int], None]) -> None:
    workspace = prey.workspace
    calls: list[Callable[[], Any]] = [
        lambda: workspace.query("CREATE TABLE t(a)", database=name),
        lambda: workspace.has(name),
        lambda: workspace.copy(prey.database, name),
        lambda: workspace.copy(name, "copy"),
        lambda: workspace.rename(prey.database, name),
        lambda: workspace.rename(name, "renamed"),
        lambda: workspace.delete(name, confirm=name),
        lambda: workspace.compact(name),
        lambda: workspace.snapshots(name),
        lambda: workspace.restore(name),
        lambda: workspace.check(name),
        lambda: workspace.tables(name),
        lambda: workspace.schema(name),
        lambda: workspace.import_file(text="a\n1\n", table="t", database=name),
        lambda: workspace.export("SELECT 1", "x.csv", database=name),
    ]
    for number, call in enumerate(calls):
        assert attempt(call).code == "invalid_input", number
    tried(len(calls))


@pytest.mark.parametrize(
    "snapshot",
    ["", "..", "../../outside/other", "/etc/passwd", "a\0", "\ud800", "*", 5, [], object, "x" * 100_000],
    ids=lambda one: ascii(one)[:20],
)
def test_a_file_that_is_not_a_snapshot_is_not_restored(prey: Prey, snapshot: Any) -> None:
    prey.query("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
    prey.query("DROP TABLE t")
    outcome = attempt(lambda: prey.workspace.restore(prey.database, snapshot))
    assert outcome.code in {"not_found", "invalid_input"}
    assert len(outcome.message) < 2_000


def test_the_names_of_the_other_files_are_not_names_of_databases(prey: Prey) -> None:
    """Journals, snapshots and notes lie beside the databases; none of them is listed or opened as one."""
    prey.query("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
    prey.query("DROP TABLE t")
    assert [info.name for info in prey.workspace.databases()] == [prey.database]
    assert (
        attempt(lambda: prey.workspace.query("SELECT 1", database=f"{prey.database}.db-wal")).code
        == "invalid_input"
    )


def test_no_more_databases_are_made_than_the_limit(tmp_path: Path, tried: Callable[[int], None]) -> None:
    workspace = Workspace(tmp_path / "many")
    (tmp_path / "many").mkdir()
    for number in range(99):
        (tmp_path / "many" / f"d{number}.db").touch()
    try:
        workspace.query("CREATE TABLE t(a)", database="last")
        for call in (
            lambda: workspace.query("SELECT 1", database="onemore"),
            lambda: workspace.copy("last", "onemore"),
            lambda: workspace.rename("last", "onemore") or workspace.copy("onemore", "last"),
            lambda: workspace.import_file(text="a\n1\n", table="t", database="another"),
            lambda: workspace.restore("another"),
        ):
            assert attempt(call).code == "too_large"
        assert len(workspace.databases()) == 100
    finally:
        workspace.close()
    tried(5)


class Links:
    """A workspace whose folder somebody filled with links that lead elsewhere."""

    def __init__(self, root: Path) -> None:
        self.prey = Prey(root)
        self.prey.next_database()
        self.folder, self.outside = self.prey.folder, self.prey.outside
        self.before = self.listing()

    def listing(self) -> dict[str, bytes]:
        return {
            str(path): path.read_bytes() if path.is_file() else b""
            for path in sorted(self.outside.rglob("*"))
        }


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Links]:
    links = Links(tmp_path / "links")
    monkeypatch.chdir(links.prey.cwd)
    yield links
    assert links.listing() == links.before
    links.prey.close()


REFUSED = {"permission_denied", "storage_error", "invalid_input", "not_found", "refused"}


@pytest.mark.parametrize("target", ["other.db", "precious.txt", "nowhere.db", "deeper"])
def test_a_link_in_the_place_of_a_database_is_not_followed(links: Links, target: str) -> None:
    link = links.folder / "linked.db"
    link.symlink_to(links.outside / target)
    workspace = links.prey.workspace
    for call in (
        lambda: workspace.query("SELECT 1", database="linked"),
        lambda: workspace.query("CREATE TABLE t(a)", database="linked"),
        lambda: workspace.copy("linked", "copy"),
        lambda: workspace.copy(links.prey.database, "linked"),
        lambda: workspace.rename("linked", "renamed"),
        lambda: workspace.rename(links.prey.database, "linked"),
        lambda: workspace.compact("linked"),
        lambda: workspace.restore("linked"),
        lambda: workspace.delete("linked", confirm="linked"),
        lambda: workspace.schema("linked"),
        lambda: workspace.tables("linked"),
    ):
        assert attempt(call).code in REFUSED
    assert "linked" not in [info.name for info in workspace.databases()]
    link.unlink()
    links.prey.assert_unharmed()


@pytest.mark.parametrize("ending", [".db-wal", ".db-shm", ".db-journal", ".recent"])
@pytest.mark.parametrize("target", ["precious.txt", "nowhere"])
def test_a_link_in_the_place_of_a_journal_is_not_written(links: Links, ending: str, target: str) -> None:
    name = links.prey.database
    (links.folder / f"{name}{ending}").symlink_to(links.outside / target)
    for _ in range(2):
        outcome = attempt(
            lambda: links.prey.query("CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(1)")
        )
        assert outcome.code in REFUSED | {None, "corrupt"}, outcome.message
        links.prey.workspace.close()


def test_a_link_in_the_place_of_the_snapshots_is_not_followed(links: Links) -> None:
    prey = links.prey
    (links.folder / "snapshots").symlink_to(links.outside)
    prey.query("CREATE TABLE t(a)")
    assert attempt(lambda: prey.query("DROP TABLE t")).code in REFUSED
    assert attempt(lambda: prey.workspace.snapshots(prey.database)).code in REFUSED | {None}
    assert attempt(lambda: prey.workspace.restore(prey.database)).code in REFUSED
    assert attempt(lambda: prey.workspace.delete(prey.database, confirm=prey.database)).code in REFUSED | {
        None
    }
    assert attempt(lambda: prey.workspace.databases()).code in REFUSED | {None}


@pytest.mark.parametrize("where", ["outside", "outside/deeper"])
def test_a_link_in_the_place_of_a_databases_snapshots_is_not_followed(links: Links, where: str) -> None:
    prey = links.prey
    (links.folder / "snapshots").mkdir(exist_ok=True)
    (links.folder / "snapshots" / prey.database).symlink_to(prey.root / where)
    prey.query("CREATE TABLE t(a)")
    assert attempt(lambda: prey.query("DROP TABLE t")).code in REFUSED
    for info in prey.workspace.databases():
        assert info.snapshots == 0
    assert attempt(lambda: prey.workspace.restore(prey.database)).code in REFUSED
    assert attempt(lambda: prey.workspace.restore(prey.database, "other")).code in REFUSED
    attempt(lambda: prey.workspace.rename(prey.database, "renamed"))
    for name in (prey.database, "renamed"):
        attempt(lambda name=name: prey.workspace.delete(name, confirm=name))


def test_a_link_among_the_snapshots_is_not_restored(links: Links) -> None:
    prey = links.prey
    prey.query("CREATE TABLE t(a)")
    prey.query("DROP TABLE t")
    kept = links.folder / "snapshots" / prey.database
    (kept / "20990101T000000.000000Z.db").symlink_to(links.outside / "other.db")
    outcome = attempt(lambda: prey.workspace.restore(prey.database, "20990101T000000.000000Z"))
    assert outcome.code in REFUSED
    for _ in range(8):
        # The oldest go: a link among them is unlinked and never what it leads to.
        prey.query("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        prey.query("DROP TABLE t")
    prey.assert_unharmed()


def test_a_folder_in_the_place_of_a_database_is_refused(links: Links) -> None:
    (links.folder / "dir.db").mkdir()
    workspace = links.prey.workspace
    for call in (
        lambda: workspace.query("SELECT 1", database="dir"),
        lambda: workspace.delete("dir", confirm="dir"),
        lambda: workspace.copy(links.prey.database, "dir"),
        lambda: workspace.rename(links.prey.database, "dir"),
        lambda: workspace.compact("dir"),
    ):
        assert attempt(call).code in REFUSED | {"already_exists"}
    (links.folder / "dir.db").rmdir()
    links.prey.assert_unharmed()


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_link_or_folder_in_the_place_of_a_database_is_refused(
    links: Links, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = links.folder / "odd.db"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        # A path of a socket is short: made from within the folder.
        monkeypatch.chdir(links.folder)
        with closing(socket.socket(socket.AF_UNIX)) as made:
            made.bind("odd.db")
    outcome = attempt(lambda: links.prey.workspace.query("SELECT 1", database="odd", timeout=1))
    assert outcome.code in REFUSED | {"timed_out", "unavailable"}
    assert outcome.seconds < 5
    path.unlink()
    links.prey.assert_unharmed()


EVIL_SCHEMAS = [
    "CREATE TABLE t(a, b AS (load_extension('x')))",
    "CREATE VIEW v AS SELECT load_extension('/tmp/x.so')",
    "CREATE VIEW v AS SELECT * FROM dbstat",
    "CREATE VIEW v AS SELECT * FROM pragma_writable_schema(1)",
    "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN SELECT writefile('x', 'y'); END",
    "CREATE VIRTUAL TABLE f USING fts4(a, tokenize=simple)",
    "CREATE VIRTUAL TABLE g USING geopoly(a)",
    "CREATE TABLE x(a DEFAULT (fts3_tokenizer('simple')))",
    "CREATE TABLE x(a CHECK (sqlite_log(1, 'x')))",
]


@pytest.mark.parametrize("evil", EVIL_SCHEMAS)
def test_a_database_that_another_program_made_has_no_more_rights(prey: Prey, evil: str) -> None:
    with closing(apsw.Connection(str(prey.path))) as raw:
        raw.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
        try:
            raw.execute(evil)
        except apsw.SQLError:
            # SQLite looks at some of it when it is made; past it with a pen.
            raw.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
            raw.execute("PRAGMA writable_schema = ON")
            kind, name = evil.split()[1].lower(), evil.split()[2].partition("(")[0]
            root = 2 if kind == "table" else 0
            raw.execute("INSERT INTO sqlite_schema VALUES(?, ?, ?, ?, ?)", (kind, name, name, root, evil))
    for sql in (
        "SELECT * FROM v",
        "SELECT * FROM t",
        "SELECT * FROM f",
        "SELECT * FROM g",
        "INSERT INTO x DEFAULT VALUES",
    ):
        assert prey.attack(sql).code in {"sql_error", "refused", None, "corrupt"}
    attempt(lambda: prey.workspace.schema(prey.database))
    attempt(lambda: prey.workspace.tables(prey.database))
    attempt(lambda: prey.workspace.compact(prey.database))
    # SQLite itself takes some of these for damage, and then the whole file.
    assert prey.attack("SELECT count(*) FROM canary").code in {None, "corrupt"}
    with closing(apsw.Connection(str(prey.path))) as raw:
        raw.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute("DELETE FROM sqlite_schema WHERE name <> 'canary'")
        raw.execute("PRAGMA writable_schema = RESET")
        raw.execute("VACUUM")
