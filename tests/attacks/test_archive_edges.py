"""Archives that are cut off, lie about their format, or bring a table in place of the history."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import MnemosError
from mnemos.transfer.archive.archive_reader import open_archive
from mnemos.workspace.workspace import Workspace

from .test_archives import archive, manifest, refusal

Attempts = Callable[[int], None]
HISTORY = ("mnemos_sessions", "mnemos_messages", "mnemos_facts")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[mnemos.Memory]:
    with mnemos.open(tmp_path / "home", embedder="none") as opened:
        opened.sessions.create_session("mine", "cli")
        yield opened


def code_of(call: Callable[..., Any], *given: Any, **named: Any) -> str | None:
    try:
        call(*given, **named)
    except MnemosError as exc:
        return exc.code
    return None


def export(tmp_path: Path, name: str) -> Path:
    with mnemos.open(tmp_path / "first", embedder="none") as first:
        first.sessions.create_session("s", "cli")
        first.sessions.append_message("s", "user", "hello")
        first.facts.write("V[a]: b")
        first.export(tmp_path / name)
    return tmp_path / name


def code_of_opening(path: Path, beside: Path) -> str | None:
    def open_it() -> None:
        with open_archive(path, beside, lambda _: None):
            pass

    return code_of(open_it)


# --- cut off --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["a.tar", "a.tar.gz", "a.tar.zst"])
def test_an_archive_that_is_cut_off_anywhere_is_refused(
    tmp_path: Path, form: str, attempts: Attempts
) -> None:
    whole = export(tmp_path, form).read_bytes()
    cut = tmp_path / f"cut-{form}"
    # A tar ends with two blocks of zeros; those after them fill it up.
    needed = len(whole) if form != "a.tar" else -(-len(whole.rstrip(b"\0")) // 512) * 512 + 1024
    sizes = range(needed) if form != "a.tar" else [*range(0, needed, 64), *range(needed - 1024, needed)]
    for size in sizes:
        cut.write_bytes(whole[:size])
        assert code_of_opening(cut, tmp_path) in ("corrupt", "invalid_input"), size
    cut.write_bytes(whole[:needed])
    assert code_of_opening(cut, tmp_path) is None
    cut.write_bytes(whole[: needed + 100] if form == "a.tar" else whole + b"more")
    assert code_of_opening(cut, tmp_path) == "corrupt"
    assert not list(tmp_path.glob(".mnemos-*"))
    attempts(len(sizes) + 1)


@pytest.mark.parametrize("form", ["a.tar.zst", "a.tar.gz", "folder"])
def test_nothing_of_a_cut_archive_is_stored_and_verify_refuses_it(
    memory: mnemos.Memory, tmp_path: Path, form: str, attempts: Attempts
) -> None:
    whole = export(tmp_path, form)
    files = sorted(path for path in whole.rglob("*") if path.is_file()) if form == "folder" else [whole]
    tried = 0
    for file in files:
        content = file.read_bytes()
        # The manifest of a folder ends with a line break, which says nothing.
        for size in (0, len(content) // 2, len(content) - 2):
            if 0 <= size < len(content):
                file.write_bytes(content[:size])
                assert refusal(memory, whole) in ("corrupt", "invalid_input")
                tried += 1
        file.unlink()
        assert refusal(memory, whole) in ("corrupt", "invalid_input", "not_found")
        file.write_bytes(content)
    assert memory.import_archive(whole).is_new
    attempts(tried + len(files))


@pytest.mark.parametrize(
    "after", [b"x", bytes(100), bytes(512) + b"x" * 512, bytes(3 << 20)], ids=["byte", "part", "data", "long"]
)
def test_a_tar_that_goes_on_after_its_end_is_refused(
    memory: mnemos.Memory, tmp_path: Path, after: bytes
) -> None:
    path = archive(tmp_path / "a.tar", {})
    path.write_bytes(path.read_bytes() + after)
    assert refusal(memory, path) in ("corrupt", "invalid_input")


# --- formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "code"),
    [
        *[(wrong, "invalid_input") for wrong in (-1, 0, -(2**63), True, False, 1.0, 0.5, 1e300)],
        *[(wrong, "invalid_input") for wrong in ("1", "", None, [1], {"1": 1}, [])],
        *[(newer, "schema_too_new") for newer in (2, 99, 2**63, 10**30, int("9" * 4_000))],
    ],
    ids=lambda value: str(value)[:20],
)
def test_only_the_formats_that_were_ever_written_are_read(
    memory: mnemos.Memory, tmp_path: Path, format: Any, code: str
) -> None:
    assert refusal(memory, archive(tmp_path / "a.tar", {}, format=format)) == code


def test_a_manifest_without_a_format_is_refused(memory: mnemos.Memory, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    head = manifest({})
    del head["format"]
    (folder / "manifest.json").write_bytes(json.dumps(head).encode())
    assert refusal(memory, folder) == "invalid_input"


# --- in place of the history ------------------------------------------------------------------


def database_with(path: Path, *statements: str) -> bytes:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path.read_bytes()


def forgeries() -> list[tuple[str, ...]]:
    return [
        *[(f"CREATE TABLE {name} (content)", f"INSERT INTO {name} VALUES ('forged')") for name in HISTORY],
        ('CREATE TABLE "Mnemos_MESSAGES" (content)',),
        ("CREATE VIEW mnemos_messages AS SELECT 'forged' AS content",),
        ("CREATE VIRTUAL TABLE mnemos_messages USING fts5(content)",),
        ("PRAGMA journal_mode = WAL", "CREATE TABLE mnemos_facts (content)"),
    ]


def test_a_database_with_a_table_in_place_of_the_history_is_not_imported(
    memory: mnemos.Memory, tmp_path: Path, attempts: Attempts
) -> None:
    innocent = database_with(tmp_path / "x.db", "CREATE TABLE t (a)")
    for number, statements in enumerate(forgeries()):
        forged = database_with(tmp_path / "x.db", *statements)
        for contents in (
            {f"databases/d{number}.db": forged},
            {
                f"databases/d{number}.db": innocent,
                f"databases/d{number}.snapshots/20260101T000000.000000Z.db": forged,
            },
        ):
            report = memory.import_archive(archive(tmp_path / "a.tar", contents)).parts[-1]
            assert (report.imported, report.not_taken) == (0, 1), report
            assert "history" in report.reasons[0]
    assert memory.workspace.databases() == []
    attempts(2 * len(forgeries()))


def test_a_table_in_place_of_the_history_never_answers_for_it(tmp_path: Path, attempts: Attempts) -> None:
    """Reading says what is wrong with the file, and it can be renamed."""
    folder = tmp_path / "home" / "databases" / "default"
    with mnemos.open(tmp_path / "home", embedder="none") as memory:
        memory.sessions.create_session("mine", "cli")
        memory.workspace.query("SELECT 1")
        workspace = memory.workspace
        for number, statements in enumerate(forgeries()[:4]):
            database_with(folder / f"d{number}.db", *statements)
            name = statements[0].split()[2].strip('"')
            for query in (
                f"SELECT * FROM {name}",
                f"SELECT count(*) FROM main.{name.upper()}",
                f"INSERT INTO {name} VALUES ('more')",
                f"SELECT 1; SELECT content FROM (SELECT * FROM {name})",
                "CREATE TABLE other (a)",
            ):
                assert code_of(workspace.query, query, database=f"d{number}") == "refused", query
            export = code_of(workspace.export, f"SELECT * FROM {name}", "a.csv", database=f"d{number}")
            assert export == "refused"
            assert workspace.check(f"d{number}") != []
            workspace.query(f"ALTER TABLE {name} RENAME TO mine", database=f"d{number}")
            assert workspace.query(f"SELECT count(*) FROM {name}", database=f"d{number}").rows
            assert workspace.check(f"d{number}") == []
    attempts(6 * 4)


def test_the_names_of_the_history_are_reserved_where_there_is_none_too(
    tmp_path: Path, attempts: Attempts
) -> None:
    workspace = Workspace(tmp_path / "databases", files=tmp_path / "files")
    try:
        for name in HISTORY:
            for statement in (
                f"CREATE TABLE {name} (a)",
                f"CREATE TABLE {name.title()} (a)",
                f"CREATE VIEW {name} AS SELECT 1",
                f"CREATE TABLE t (a); ALTER TABLE t RENAME TO {name}",
                f"CREATE TEMP TABLE {name} (a); SELECT * FROM {name}",
            ):
                assert code_of(workspace.query, statement) == "refused", statement
            assert code_of(workspace.import_file, text="a\n1\n", table=name) == "invalid_input"
        assert workspace.tables() == []
    finally:
        workspace.close()
    attempts(len(HISTORY) * 6)


def test_the_databases_of_a_folder_are_only_read(memory: mnemos.Memory, tmp_path: Path) -> None:
    """SQLite would write journals beside a database in WAL mode, and read one that the manifest omits."""
    folder = tmp_path / "folder"
    (folder / "databases").mkdir(parents=True)
    content = database_with(tmp_path / "x.db", "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)")
    (folder / "databases" / "x.db").write_bytes(content)
    (folder / "manifest.json").write_bytes(json.dumps(manifest({"databases/x.db": content})).encode())
    with closing(sqlite3.connect(tmp_path / "y.db")) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE mnemos_facts (a)")
        other.commit()
        shutil.copy(tmp_path / "y.db-wal", folder / "databases" / "x.db-wal")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert memory.import_archive(folder).parts[-1].imported == 1
    assert memory.compare_archive(folder).holds_all
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [table["name"] for table in memory.workspace.tables("x")] == ["t"]


@pytest.mark.parametrize(
    "name", ["99991231T235959.999999Z", "1", "20260101T000000Z", "20261301T000000.000000Z", "a-b", "…"]
)
def test_a_snapshot_with_another_name_than_ours_is_refused(
    memory: mnemos.Memory, tmp_path: Path, name: str
) -> None:
    content = database_with(tmp_path / "x.db", "CREATE TABLE t (a)")
    contents = {"databases/x.db": content, f"databases/x.snapshots/{name}.db": content}
    assert refusal(memory, archive(tmp_path / "a.tar", contents)) == "invalid_input"


def test_more_snapshots_than_are_kept_are_thinned_on_import(memory: mnemos.Memory, tmp_path: Path) -> None:
    content = database_with(tmp_path / "x.db", "CREATE TABLE t (a)")
    days = ("0101", "0109", "0201", "0209")
    names = [f"2026{day}T{hour:02}0000.000000Z" for day in days for hour in range(24)]
    contents = {f"databases/x.snapshots/{name}.db": content for name in names}
    report = memory.import_archive(archive(tmp_path / "a.tar", {"databases/x.db": content, **contents}))
    assert report.parts[-1].imported == 1
    kept = [snapshot.name for snapshot in memory.workspace.snapshots("x")]
    assert kept[0] == names[-1]
    assert kept[-1] == names[0]
    assert len(kept) < 20
    memory.workspace.query("DROP TABLE t", database="x")
    memory.workspace.restore("x")
