"""Answers of the worker, with its loop in a thread of this process, where a debugger reaches it.

Without the limits of the operating system, which would bind the tests themselves.
"""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import apsw
import pytest

import mnemos
from mnemos.errors import (
    AlreadyExists,
    DiskFull,
    InvalidInput,
    NotFound,
    PermissionDenied,
    ReadOnly,
    Refused,
    SqlError,
    TimedOut,
    TooLarge,
)
from mnemos.workspace import worker
from mnemos.workspace.frames import Gone, Line
from mnemos.workspace.limits import Quota
from mnemos.workspace.sandbox import request_server
from mnemos.workspace.worker import SandboxFailure
from mnemos.workspace.workspace import Workspace


class InThread:
    """A worker that is a thread."""

    def __init__(self, begin: worker.Begin) -> None:
        ours, theirs = socket.socketpair()
        self.pid = self.owner = os.getpid()
        self.line = Line(ours)
        self._theirs = Line(theirs, takes_files=True)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self.line.send(begin.message())
        self.line.receive()

    def _serve(self) -> None:
        try:
            request_server.Server(self._theirs).serve()
        except Gone:
            self._theirs.close()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def kill(self) -> None:
        self.line.close()

    def end(self, *, kill: bool) -> tuple[int, str]:
        self.line.close()
        self._thread.join(5)
        return 0, ""


@pytest.fixture(autouse=True)
def in_thread(monkeypatch):
    monkeypatch.setattr(worker._Process, "start", InThread)
    monkeypatch.setattr(request_server, "_confine", lambda _: None)
    monkeypatch.setattr(request_server._Cpu, "allow", lambda _self, _seconds: None)
    monkeypatch.setattr(request_server.Server, "_watch_host", lambda _self: None)


def test_statements_of_a_call_are_all_done_or_none(prices):
    answer = prices.query("BEGIN; SELECT ?1; INSERT INTO prices VALUES (?2, ?3); COMMIT", ["a", "new", 1])
    assert (answer.changes, len(answer.warnings)) == (1, 2)
    with pytest.raises(SqlError, match="In statement 2"):
        prices.query("DELETE FROM prices; SELECT nowhere FROM prices")
    prices.query("DELETE FROM prices; ROLLBACK")
    assert prices.query("SELECT count(*) FROM prices").rows == [[251]]


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("", InvalidInput),
        ("SELECT 1;" * 1_001, TooLarge),
        ("SELECT '" + "x" * 4_000_001 + "'", TooLarge),
        ("ATTACH 'x' AS y", Refused),
        ("VACUUM", Refused),
        ("PRAGMA journal_mode = OFF", Refused),
        ("PRAGMA nonsense", Refused),
        ("SELECT load_extension('x')", Refused),
        ("SELECT * FROM dbstat", Refused),
        ("INSERT INTO dbstat DEFAULT VALUES", Refused),
        ("CREATE VIRTUAL TABLE v USING fts4(a)", Refused),
        ("DETACH x", Refused),
        ("SELECT zeroblob(5000000)", TooLarge),
        ("SELECT parse_date('03/04/2024')", SqlError),
        ("SELECT word_count(CAST(x'ff' AS TEXT))", SqlError),
        ("INSERT INTO prices VALUES (CAST(x'ff' AS TEXT), 1) RETURNING item", SqlError),
        ("SELECT :a", InvalidInput),
        ("SELECT zeroblob(4000000);" * 9, TooLarge),
        (";".join(f"CREATE TABLE t{number} (a UNIQUE)" for number in range(600)), TooLarge),
    ],
)
def test_what_fails_says_why_and_changes_nothing(prices, sql, error):
    with pytest.raises(error):
        prices.query(
            f"DELETE FROM prices; {sql}" if sql and len(sql) < 4_000_000 else sql,
            {"b": 1} if ":a" in sql else None,
        )
    assert prices.query("SELECT count(*) FROM prices").rows == [[250]]


def test_a_deadline_is_kept_and_reading_only_refuses(prices):
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    with pytest.raises(TimedOut):
        prices.query(endless, timeout=0.1)
    with pytest.raises(ReadOnly):
        prices.query("DELETE FROM prices", read_only=True)


def test_rows_are_cut_paged_and_described(prices):
    answer = prices.query(
        "SELECT *, x'00', hex(zeroblob(2000)) FROM prices", max_rows=10, max_cell=100, max_bytes=4_000
    )
    assert (answer.truncated, answer.rows[0][2]) == (True, "<blob, 1 bytes: 00>")
    assert prices.query("SELECT CAST(x'ff' AS TEXT), 1").rows == [["�", 1]]
    many = prices.query(
        "INSERT INTO prices VALUES (?, ?) RETURNING item", rows=[[f"n{n}", n] for n in range(200)]
    )
    assert (many.row_count, many.truncated, many.changes) == (100, True, 200)


def test_databases_are_copied_compacted_restored_and_checked(prices):
    prices.query("ALTER TABLE prices ADD COLUMN more")
    prices.copy("default", "other")
    with pytest.raises(AlreadyExists):
        prices.copy("default", "other")
    prices.query("DROP TABLE prices")
    prices.compact()
    with pytest.raises(NotFound):
        prices.restore(snapshot="nothing")
    prices.restore()
    assert prices.check("default") == []
    assert [table["name"] for table in prices.tables()] == ["prices"]
    with pytest.raises(NotFound):
        prices.restore("other")


def test_a_damaged_database_is_set_aside_when_it_is_restored(prices, folder):
    prices.query("DELETE FROM prices")
    prices.close()
    for _ in range(2):
        (folder / "default.db").write_bytes(b"nonsense" * 1_000)
        prices.restore()
        prices.close()
    assert sorted(path.name for path in folder.glob("*.damaged*")) == ["default.damaged", "default.damaged-2"]


def test_snapshots_are_not_kept_behind_a_link(prices, folder, tmp_path):
    (folder / "snapshots").symlink_to(tmp_path)
    with pytest.raises(PermissionDenied):
        prices.query("DROP TABLE prices")


def test_files_come_in_and_go_out(prices, tmp_path):
    (tmp_path / "files").mkdir()
    assert prices.export("SELECT * FROM prices", "out.csv").rows == 250
    for mode in ("create", "append", "replace", "upsert", "upsert"):
        prices.import_file("out.csv", "again", mode=mode, key="item" if mode == "upsert" else None)
    prices.query("CREATE TABLE untyped (item, eur)")
    assert prices.import_file("out.csv", "untyped", mode="append").rows == 250
    for wrong in (
        lambda: prices.import_file("out.csv", "again"),
        lambda: prices.import_file(text="a,b\n1,2\n", table="again", mode="append"),
        lambda: prices.import_file(text="a\n1\n", table="new", mode="upsert", key="b"),
        lambda: prices.import_file(text="", table="new"),
        lambda: prices.export("SELECT 1; SELECT 2", "x.csv"),
        lambda: prices.export("DROP TABLE prices", "x.csv"),
        lambda: prices.export("SELECT nowhere FROM prices", "x.csv"),
    ):
        with pytest.raises((InvalidInput, Refused)):
            wrong()
    prices.export("SELECT CAST(x'ff' AS TEXT) AS t", "odd.jsonl")
    assert (tmp_path / "files" / "odd.jsonl").read_text() == '{"t":"�"}\n'


def test_temporary_tables_and_many_open_databases_are_closed(workspace):
    workspace.query("CREATE TEMP TABLE t (a)")
    for number in range(10):
        workspace.query("CREATE TABLE t (a)", database=f"d{number}")
    assert len(workspace.databases()) == 11


def test_the_card_and_the_history_are_read(tmp_path):
    with mnemos.open(tmp_path / "home", embedder="none") as memory:
        memory.sessions.ensure_session("s1", "test")
        memory.sessions.append_message("s1", "user", "hello")
        memory.workspace.query("CREATE VIEW v AS SELECT role FROM mnemos_messages; CREATE TABLE t (a)")
        assert memory.workspace.query("SELECT *, rowid FROM mnemos_messages").row_count == 1
        assert {table["name"] for table in memory.workspace.schema().tables} == {"t", "v"}
        memory.workspace.close()
        assert memory.workspace.schema(table="t").tables[0]["name"] == "t"


def test_a_reader_reads_what_is_there(prices, folder):
    prices.close()
    reader = Workspace(folder, read_only=True)
    assert reader.query("SELECT count(*) FROM prices").rows == [[250]]
    with pytest.raises(ReadOnly):
        reader.query("DROP TABLE prices")
    reader.close()
    assert Path(folder / "default.recent").exists()


def test_a_full_disk_is_distinguished_from_a_full_database_in_every_call(prices, folder, monkeypatch):
    def no_room(*_):
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(request_server.database_files, "copy_database", no_room)
    with pytest.raises(TooLarge):
        prices.copy("default", "other")
    large = Workspace(folder, quota=Quota(database_bytes=10**15))
    try:
        with pytest.raises(DiskFull):
            large.copy("default", "other")
    finally:
        large.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_export_to_a_full_disk_is_reported_and_ends_no_worker(prices):
    with Path("/dev/full").open("wb") as full, pytest.raises(SandboxFailure) as failed:
        prices._worker.ask(
            "export",
            tuple[int, int],
            seconds=5,
            database="default",
            sql="SELECT * FROM prices",
            params=None,
            format="csv",
            most_bytes=None,
            file=full.fileno(),
        )
    assert failed.value.reply.code == "disk_full"
    assert prices.query("SELECT count(*) FROM prices").rows == [[250]]
