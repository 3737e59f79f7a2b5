"""Imports and exports: paths that lead elsewhere, files that are bombs, cells that spreadsheets would run."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.workspace import limits
from mnemos.workspace.limits import Quota

from .prey import Prey, attempt, peak_bytes

OUTSIDE = {"permission_denied", "invalid_input", "not_found", "already_exists"}
BAD_FILE = {"invalid_input", "too_large", "timed_out", "sql_error"}


@pytest.fixture
def files(prey: Prey) -> Iterator[Path]:
    """The folder for files, empty."""
    folder = prey.workspace.files.folder
    folder.mkdir(exist_ok=True)
    yield folder
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


PATHS: list[Any] = [
    *(
        "../x.csv",
        "../../outside/new.csv",
        "../../outside/precious.txt",
        "/etc/passwd",
        "/tmp/new.csv",
        "a/../../x.csv",
    ),
    *(
        "..",
        ".",
        "",
        "/",
        "~/x.csv",
        "~root/x.csv",
        "~nobody_here/x.csv",
        "a\0b.csv",
        "\0",
        "x" * 300 + ".csv",
        "a/" * 3_000 + "x.csv",
    ),
    *("\ud800.csv", "/dev/null", "/dev/zero", "/dev/stdin", "/proc/self/mem", "/proc/self/environ"),
    *(
        "../databases/c1.db",
        "../snapshots",
        "../files/../../outside/precious.txt",
        "..\\x.csv/../../../x.csv",
    ),
    *(5, None, b"x.csv", ["x.csv"], {"a": 1}, object, 5.5, True),
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ascii(path)[:30])
def test_no_file_is_written_or_read_outside_of_the_folder(
    prey: Prey, files: Path, path: Any, tried: Callable[[int], None]
) -> None:
    for overwrite in (False, True):
        outcome = attempt(
            lambda overwrite=overwrite: prey.workspace.export(
                "SELECT 1", path, "csv", database=prey.database, overwrite=overwrite
            )
        )
        assert outcome.code in OUTSIDE, outcome
    outcome = attempt(lambda: prey.workspace.import_file(path, "t", format="csv", database=prey.database))
    assert outcome.code in OUTSIDE, outcome
    assert list(files.iterdir()) == []
    tried(3)


@pytest.mark.parametrize(
    "path", ["file:///etc/passwd", "x.csv/", "....//x.csv", "$HOME/x.csv", "a b\n.csv", "-rf.csv", "COM1.csv"]
)
def test_a_strange_name_stays_within_the_folder(prey: Prey, files: Path, path: str) -> None:
    written = prey.workspace.export("SELECT 1 AS a", path, "csv", database=prey.database)
    assert written.path.resolve().is_relative_to(files.resolve())
    assert prey.workspace.import_file(path, "t", database=prey.database, format="csv").rows == 1


def test_links_are_not_a_way_out_of_the_folder(prey: Prey, files: Path, tried: Callable[[int], None]) -> None:
    (files / "file.csv").symlink_to(prey.outside / "deeper" / "notes.csv")
    (files / "new.csv").symlink_to(prey.outside / "new.csv")
    (files / "folder").symlink_to(prey.outside)
    (files / "loop.csv").symlink_to(files / "loop.csv")
    (files / "chain.csv").symlink_to(files / "file.csv")
    names = [
        "file.csv",
        "new.csv",
        "folder/new.csv",
        "folder/deeper/notes.csv",
        "loop.csv",
        "chain.csv",
        "folder/../x.csv",
    ]
    for name in names:
        for call in (
            lambda name=name: prey.workspace.export(
                "SELECT 1", name, "csv", database=prey.database, overwrite=True
            ),
            lambda name=name: prey.workspace.import_file(name, "t", database=prey.database),
        ):
            assert attempt(call).code in OUTSIDE, name
    tried(2 * len(names))


def test_only_plain_files_are_read(prey: Prey, files: Path) -> None:
    os.mkfifo(files / "pipe.csv")
    outcome = attempt(lambda: prey.workspace.import_file("pipe.csv", "t", database=prey.database, timeout=2))
    assert outcome.code in OUTSIDE
    outcome = attempt(
        lambda: prey.workspace.export("SELECT 1", "pipe.csv", database=prey.database, overwrite=True)
    )
    assert outcome.code in OUTSIDE | {None}
    (files / "dir.csv").mkdir()
    assert attempt(lambda: prey.workspace.import_file("dir.csv", "t", database=prey.database)).code in OUTSIDE
    assert (
        attempt(lambda: prey.workspace.export("SELECT 1", "dir.csv", database=prey.database)).code in OUTSIDE
    )


STATEMENTS = [
    "DELETE FROM canary",
    "DELETE FROM canary RETURNING *",
    "DROP TABLE canary",
    "CREATE TABLE t AS SELECT 1",
    "SELECT 1; DELETE FROM canary",
    "SELECT 1; SELECT 2",
    "ATTACH 'x' AS y",
    "VACUUM INTO 'x'",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA user_version = 5",
    "SELECT load_extension('x')",
    "SELECT * FROM dbstat",
    "COMMIT",
    "ROLLBACK",
    "BEGIN IMMEDIATE",
    "SELECT nothing",
    "",
    "-- nothing",
    "SELECT 'abc",
    "WITH d AS (SELECT 1) DELETE FROM canary",
    "INSERT INTO canary VALUES(99, '', NULL) RETURNING id",
    "SELECT zeroblob(2000000000)",
    "\ud800",
    "SELECT 1\0",
]


@pytest.mark.parametrize("format", ["csv", "json", "jsonl", "markdown", "tsv"])
def test_an_export_only_reads_and_leaves_no_half_file(
    prey: Prey, files: Path, format: str, tried: Callable[[int], None]
) -> None:
    (files / "there.csv").write_text("there before")
    for sql in STATEMENTS:
        outcome = attempt(
            lambda sql=sql: prey.workspace.export(
                sql, "there.csv", format, database=prey.database, overwrite=True
            )
        )
        assert outcome.code in {"refused", "sql_error", "read_only", "invalid_input", "too_large"}, (
            sql,
            outcome,
        )
    assert [path.name for path in files.iterdir()] == ["there.csv"]
    assert (files / "there.csv").read_text() == "there before"
    tried(len(STATEMENTS))


def test_an_export_without_end_stops_and_leaves_nothing(
    prey: Prey, files: Path, tried: Callable[[int], None]
) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    for sql in (
        f"{endless} SELECT i FROM n",
        f"{endless} SELECT zeroblob(4000000) FROM n",
        f"{endless} SELECT i FROM n WHERE i < 0",
        f"SELECT {', '.join(['zeroblob(4000000)'] * 40)}",
    ):
        outcome = attempt(
            lambda sql=sql: prey.workspace.export(sql, "x.jsonl", database=prey.database, timeout=0.5)
        )
        assert outcome.code in {"timed_out", "too_large", None}
        assert outcome.seconds < 5
        for path in files.iterdir():
            assert outcome.code is None
            assert path.name == "x.jsonl"
            path.unlink()
    assert peak_bytes(prey) < limits.ADDRESS_SPACE.value
    tried(4)


FORMULAS = [
    *(
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(1)",
        "=cmd|'/C calc'!A0",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        " =1+1",
        "＝1+1",
        "＋1",
        "－1",
        "＠x",
    ),
    *(
        '=HYPERLINK("http://evil")',
        "=1+1;",
        '"=1+1',
        "';=1+1",
        "a\n=1+1",
        "a;=1+1",
        "a,=1+1",
        "\ufeff=1+1",
        "\u200b=1+1",
        "\x00=1+1",
        "|=x",
        "%=x",
    ),
]


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_no_cell_of_an_export_is_run_by_a_spreadsheet(
    prey: Prey, files: Path, format: str, tried: Callable[[int], None]
) -> None:
    prey.query("CREATE TABLE f(n, a)")
    prey.query("INSERT INTO f VALUES(?, ?)", rows=list(enumerate(FORMULAS)))
    names = ", ".join(
        f'a AS "{formula.replace(chr(34), chr(34) * 2)}"' for formula in FORMULAS if "\0" not in formula
    )
    prey.workspace.export(f"SELECT a, {names} FROM f ORDER BY n", f"x.{format}", database=prey.database)
    written = (files / f"x.{format}").read_bytes().decode("utf-8-sig")
    cells = [
        cell
        for row in csv.reader(io.StringIO(written, newline=""), delimiter="," if format == "csv" else "\t")
        for cell in row
    ]
    for cell in cells:
        # Characters that a spreadsheet skips before the sign of a formula.
        assert cell.lstrip(" \t\r\n\ufeff\u200b\x00")[:1] not in set("=+-@＝＋－＠"), ascii(cell)
    # They come back as they were.
    answer = prey.workspace.import_file(f"x.{format}", "back", database=prey.database, header=True)
    back = prey.query("SELECT a FROM back ORDER BY rowid").rows if answer.columns[0][0] == "a" else []
    assert [row[0] for row in back] == [row[0] for row in prey.query("SELECT a FROM f ORDER BY n").rows]
    tried(len(FORMULAS))


def test_numbers_that_are_negative_stay_numbers(prey: Prey, files: Path) -> None:
    prey.workspace.export("SELECT -1 AS a, -1.5 AS b, -9e999 AS c", "x.csv", database=prey.database)
    assert (files / "x.csv").read_text(encoding="utf-8-sig").splitlines()[1].startswith("-1,-1.5,")


def bomb(size: int, fill: bytes = b"a") -> bytes:
    """The beginning of gzip that unpacks to ``size`` bytes: one packed megabyte, repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin = packer.compress(b"h\n") + packer.flush(zlib.Z_FULL_FLUSH)
    megabyte = packer.compress(fill * ((1 << 20) // len(fill))) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + megabyte * (size >> 20)


def bad_files() -> dict[str, Callable[[], bytes]]:
    return {
        "a gzip bomb of one cell": lambda: bomb(1 << 30),
        "a gzip bomb of lines": lambda: bomb(1 << 30, b"1\n"),
        "a gzip bomb of quotes": lambda: bomb(1 << 30, b'"'),
        "a gzip bomb of commas": lambda: bomb(1 << 30, b","),
        "gzip in gzip": lambda: gzip.compress(gzip.compress(b"a\n1\n")),
        "gzip that is cut short": lambda: gzip.compress(b"a\n1\n" * 100_000)[:-100],
        "gzip that is damaged": lambda: gzip.compress(b"a,b\n1,2\n" * 1_000)[:50] + b"\xff" * 100,
        "gzip of nothing": lambda: gzip.compress(b""),
        "100,000 members of gzip": lambda: gzip.compress(b"a\n") * 100_000,
        "nothing": lambda: b"",
        "NUL": lambda: b"\0" * 100_000,
        "noise": lambda: bytes(range(256)) * 1_000,
        "one long line": lambda: b"a" * 10_000_000,
        "a quote that stays open": lambda: b'a,b\n"' + b"x\n" * 3_000_000,
        "10,000 columns": lambda: ",".join(f"c{n}" for n in range(10_000)).encode() + b"\n" + b"1," * 10_000,
        "10,000 columns in one row": lambda: b"a,b\n" + b"1," * 10_000,
        "UTF-16": lambda: "a,b\nä,é\n".encode("utf-16"),
        "UTF-16 without a mark": lambda: "a,b\nä,é\n".encode("utf-16-le"),
        "UTF-16 cut in the middle": lambda: "a,b\nä,é\n".encode("utf-16")[:-1],
        "UTF-32": lambda: "a,b\nä,é\n".encode("utf-32"),
        "latin-1": lambda: "name,größe\nMüller,1\n".encode("latin-1"),
        "half characters": lambda: b"a,b\n\xed\xa0\x80,\xff\xfe\n",
        "deep JSON": lambda: b"[" * 1_000_000,
        "deep JSON in a row": lambda: b'[{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]",
        "JSON that stays open": lambda: b'[{"a": 1}, {"a": "' + b"x" * 5_000_000,
        "JSON of a number": lambda: b"1" * 1_000_000,
        "JSON of huge numbers": lambda: b'[{"a": 1e999999999, "b": -' + b"9" * 100_000 + b"}]",
        "JSON with one key twice": lambda: b'[{"a": 1, "a": 2}]',
        "JSON with many keys": lambda: b"[" + b",".join(b'{"k%d": 1}' % n for n in range(10_000)) + b"]",
        "JSON with NaN": lambda: b'[{"a": NaN, "b": Infinity}]',
        "JSON with half characters": lambda: b'[{"a": "\\ud800", "\\udfff": 1}]',
        "JSON lines that are none": lambda: b'{"a": 1}\nnonsense\n{"a": 2\n',
        "evil names of columns": lambda: (
            b'"a"");DROP TABLE canary;--",rowid,"",sqlite_x,"\x1b[2J"\n1,2,3,4,5\n'
        ),
        "names of columns that are the same": lambda: b"a,A,a,_a,a_1\n1,2,3,4,5\n",
        "names of columns without end": lambda: b"x" * 1_000_000 + b",b\n1,2\n",
        "a zip": lambda: b"PK\x03\x04" + b"\0" * 1_000,
        "a database": lambda: b"SQLite format 3\0" + b"\0" * 1_000,
    }


@pytest.mark.parametrize("kind", bad_files())
def test_a_bad_file_is_imported_as_far_as_it_makes_sense_or_not_at_all(
    prey: Prey, files: Path, kind: str
) -> None:
    suffix = ".json" if "JSON" in kind else ".csv"
    if "lines" in kind and "JSON" in kind:
        suffix = ".jsonl"
    (files / f"bad{suffix}").write_bytes(bad_files()[kind]())
    outcome = attempt(
        lambda: prey.workspace.import_file(f"bad{suffix}", "t", database=prey.database, timeout=0.4)
    )
    assert outcome.code in BAD_FILE | {None}, outcome
    assert outcome.seconds < 5
    assert len(outcome.message) < 5_000
    there = prey.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'").rows == [[1]]
    assert there == (outcome.code is None)
    assert peak_bytes(prey) < limits.ADDRESS_SPACE.value


TABLES: list[Any] = [
    *(
        "sqlite_schema",
        "sqlite_master",
        "SQLITE_x",
        "mnemos_messages",
        "",
        " ",
        "a\0b",
        "x" * 10_000,
        "\ud800",
        5,
        None,
        ["t"],
    ),
    *(
        "notes_data",
        "notes",
        "v",
        "no such schema.t",
        'a"; DROP TABLE canary; --',
        "main.canary",
        "temp.t",
        "../x",
        "\x1b[2J",
    ),
]


@pytest.mark.parametrize("mode", ["create", "append", "replace", "upsert"])
def test_a_name_of_a_table_is_a_name_and_nothing_else(
    prey: Prey, files: Path, mode: str, tried: Callable[[int], None]
) -> None:
    prey.query(
        "CREATE VIRTUAL TABLE notes USING fts5(id, block); INSERT INTO notes VALUES(1, 'hello'); "
        "CREATE VIEW v AS SELECT id, song AS block FROM canary"
    )
    for table in TABLES:
        outcome = attempt(
            lambda table=table: prey.workspace.import_file(
                text="id,block\n1,x\n2,y\n",
                table=table,
                mode=mode,
                key="id" if mode == "upsert" else None,
                database=prey.database,
            )
        )
        allowed = {None, "invalid_input", "refused", "already_exists", "sql_error", "too_large"}
        assert outcome.code in allowed, (table, outcome)
    if mode != "replace":
        assert prey.query("SELECT count(*) FROM notes WHERE notes MATCH 'hello'").rows == [[1]]
    assert prey.query("SELECT count(*) FROM v").rows == [[20]]
    tried(len(TABLES))


ARGUMENTS: list[dict[str, Any]] = [
    {"mode": "drop"},
    {"mode": None},
    {"mode": ["create"]},
    {"format": "xlsx"},
    {"format": 5},
    {"key": 5},
    {"key": [""]},
    {"key": "nothing"},
    {"mode": "upsert"},
    {"mode": "upsert", "key": "a; DROP TABLE canary"},
    {"mode": "upsert", "key": ["a", "a", "a"] * 1_000},
    {"timeout": -1},
    {"timeout": "x"},
    {"text": 5},
    {"text": "\ud800"},
    {"path": "x.csv"},
    {"header": "maybe"},
]


@pytest.mark.parametrize("given", ARGUMENTS, ids=str)
def test_an_argument_of_an_import_that_makes_no_sense_is_refused(
    prey: Prey, files: Path, given: dict[str, Any]
) -> None:
    asked = {"text": "a,b\n1,2\n", "table": "t", "database": prey.database} | given
    outcome = attempt(lambda: prey.workspace.import_file(**asked))
    assert outcome.code in {"invalid_input", "sql_error"}, outcome
    assert prey.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'").rows == [[0]]


@pytest.mark.parametrize(
    "error", [TypeError, RecursionError, OverflowError, ZeroDivisionError, KeyboardInterrupt]
)
def test_a_progress_that_raises_ends_the_import_and_nothing_else(
    prey: Prey, files: Path, error: type[BaseException]
) -> None:
    def progress(_share: float) -> None:
        raise error("from the caller")

    text = "a\n" + "1\n" * 200_000
    with pytest.raises(error):
        prey.workspace.import_file(text=text, table="t", database=prey.database, progress=progress)
    for number in range(3):
        assert prey.query("SELECT ?", [number]).rows == [[number]]
    assert prey.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'").rows == [[0]]


CHANGES: dict[str, Callable[[Path], object]] = {
    "cut short": lambda path: os.truncate(path, 1_000),
    "emptied": lambda path: os.truncate(path, 0),
    "grown": lambda path: path.write_text(path.read_text() + "1,2,3,4,5\n" * 100_000),
    "other columns": lambda path: path.write_text("x;y;z\n" * 50_000),
    "other types": lambda path: path.write_text("é,日\n" * 50_000),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 2_000),
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_while_it_is_imported_is_taken_whole_or_not_at_all(
    prey: Prey, files: Path, how: str
) -> None:
    """It is read twice, for its types and for its rows: what is between belongs to nobody."""
    path = files / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 200_000)
    changed = []

    def progress(share: float) -> None:
        if share > 0.45 and not changed:
            changed.append(CHANGES[how](path))

    outcome = attempt(
        lambda: prey.workspace.import_file("x.csv", "t", database=prey.database, progress=progress)
    )
    assert outcome.code in BAD_FILE | {None, "busy", "storage_error"}, outcome
    there = prey.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'").rows == [[1]]
    assert there == (outcome.code is None)


def test_an_import_beyond_the_room_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Prey(tmp_path / "small", quota=Quota(database_bytes=1_000_000))
    monkeypatch.chdir(small.cwd)
    monkeypatch.setenv("TMPDIR", str(small.temporary))
    small.next_database()
    outcome = attempt(
        lambda: small.workspace.import_file(
            text="a\n" + "x" * 1_000 + "\n" + ("y" * 1_000 + "\n") * 2_000, table="t", database=small.database
        )
    )
    assert outcome.code == "too_large"
    assert small.query("SELECT count(*) FROM sqlite_schema").rows == [[1]]
    small.assert_unharmed()
    small.close()
