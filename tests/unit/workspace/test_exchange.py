"""Files into tables and out again: modes, keys, types, and nothing half done."""

from __future__ import annotations

import csv
import gzip
import os

import pytest

from mnemos.errors import AlreadyExists, Busy, InvalidInput, NotFound, Refused, SqlError, TimedOut, TooLarge
from mnemos.workspace.limits import Quota
from mnemos.workspace.workspace import Workspace

CSV = "item,eur,zip\nWidget,12.5,01234\nGadget,,10115\n"


def rows(workspace, table="t"):
    return workspace.query(f"SELECT * FROM {table} ORDER BY 1").rows


@pytest.fixture
def files(workspace, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


# --- in --------------------------------------------------------------------------------------------


def test_a_table_is_made_with_the_types_that_all_rows_agree_on(workspace):
    done = workspace.import_file(text=CSV, table="t")
    assert done.columns == [("item", "TEXT"), ("eur", "REAL"), ("zip", "TEXT")]
    assert (done.created, done.rows, done.bad_count) == (True, 2, 0)
    assert rows(workspace) == [["Gadget", None, "10115"], ["Widget", 12.5, "01234"]]


def test_a_gzipped_file_is_read_like_any_other(workspace, files):
    (files / "a.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert workspace.import_file("a.csv.gz", "t").rows == 2


def test_a_table_that_is_there_is_not_touched_by_create(workspace):
    workspace.import_file(text=CSV, table="t")
    with pytest.raises(AlreadyExists):
        workspace.import_file(text="a\n1\n", table="T")
    assert len(rows(workspace)) == 2


def test_append_adds_and_makes_the_table_when_it_is_missing(workspace):
    workspace.import_file(text=CSV, table="t", mode="append")
    workspace.import_file(text='{"zip": "99", "ITEM": "Third"}', table="t", mode="append", format="jsonl")
    assert rows(workspace)[1] == ["Third", None, "99"]


def test_append_of_an_unknown_column_says_how_to_add_it(workspace):
    workspace.import_file(text=CSV, table="t")
    with pytest.raises(InvalidInput, match='ALTER TABLE "t" ADD COLUMN "colour" TEXT'):
        workspace.import_file(text="item,colour\nx,red\n", table="t", mode="append")
    assert len(rows(workspace)) == 2


def test_a_generated_column_is_known_and_takes_no_rows(workspace):
    workspace.query("CREATE TABLE t (a, b AS (a * 2))")
    assert workspace.tables()[0]["columns"] == ["a", "b"]
    with pytest.raises(SqlError):
        workspace.import_file(text="a,b\n1,2\n", table="t", mode="append")


def test_replace_makes_the_table_anew_and_the_old_can_be_restored(workspace):
    workspace.import_file(text=CSV, table="t")
    workspace.import_file(text="a\n1\n", table="t", mode="replace")
    assert rows(workspace) == [[1]]
    workspace.restore()
    assert len(rows(workspace)) == 2


def test_upsert_updates_what_is_there_and_adds_what_is_not(workspace):
    for text in (CSV, "item,eur\nWidget,13\nThird,3\n", "item,eur\nWidget,13\nThird,3\n"):
        workspace.import_file(text=text, table="t", mode="upsert", key="item")
    assert rows(workspace) == [["Gadget", None, "10115"], ["Third", 3.0, None], ["Widget", 13.0, "01234"]]


def test_upsert_into_a_table_without_that_key_makes_it_unique_and_says_so(workspace):
    workspace.import_file(text=CSV, table="t")
    done = workspace.import_file(text="item,eur\nWidget,13\n", table="t", mode="upsert", key=["item"])
    assert any("unique" in note for note in done.notes)
    assert len(rows(workspace)) == 2


def test_an_upsert_of_many_rows_can_be_undone(prices):
    cheap = "item,eur\n" + "".join(f"item {number:03},0\n" for number in range(250))
    for _ in range(2):
        prices.import_file(text=cheap, table="prices", mode="upsert", key="item")
    assert len(prices.snapshots()) == 2
    prices.restore(snapshot=prices.snapshots()[-1].name)
    assert prices.query("SELECT sum(eur) > 0 FROM prices").rows == [[1]]


def test_rows_that_triggers_and_indexes_add_are_not_counted(workspace):
    workspace.query(
        "CREATE TABLE t (a); CREATE TABLE log (a); CREATE VIRTUAL TABLE words USING fts5(a);"
        "CREATE TRIGGER logged AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END"
    )
    for table in ("t", "words"):
        assert workspace.import_file(text="a\n1\n2\n", table=table, mode="append").rows == 2


def test_upsert_without_a_key_or_with_an_unknown_one_is_refused(workspace):
    with pytest.raises(InvalidInput):
        workspace.import_file(text=CSV, table="t", mode="upsert")
    with pytest.raises(InvalidInput):
        workspace.import_file(text=CSV, table="t", mode="upsert", key="sku")
    assert workspace.tables() == []


def test_bad_lines_are_left_out_and_reported_with_their_numbers(workspace):
    done = workspace.import_file(text="a,b\n1,2\n3\n4,5,6\n7,8\n", table="t")
    assert (done.rows, done.bad_count, [number for number, _ in done.bad]) == (2, 2, [3, 4])


def test_an_import_names_the_row_that_the_table_does_not_take(workspace):
    workspace.query("CREATE TABLE t (a UNIQUE, b CHECK (b < 9))")
    for text, told in (
        ("a,b\n1,1\n1,2\n", "by row 2 of .* upsert"),
        ("a,b\n1,1\n2,9\n", "by row 2 of "),
    ):
        with pytest.raises(SqlError, match=told):
            workspace.import_file(text=text, table="t", mode="append")


def test_a_key_that_is_not_unique_in_the_table_is_reported(workspace):
    workspace.query("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1), (1, 2)")
    with pytest.raises(SqlError):
        workspace.import_file(text="a,b\n1,3\n", table="t", mode="upsert", key="a")


def test_an_import_that_fails_in_the_middle_leaves_nothing(workspace):
    workspace.query("CREATE TABLE t (a INTEGER CHECK (a < 5))")
    with pytest.raises(SqlError):
        workspace.import_file(text="a\n" + "\n".join(map(str, range(10))), table="t", mode="append")
    assert rows(workspace) == []


def test_an_import_that_does_not_fit_leaves_what_was_there(tmp_path):
    workspace = Workspace(tmp_path / "small", quota=Quota(database_bytes=400_000))
    try:
        workspace.import_file(text=CSV, table="t")
        with pytest.raises(TooLarge):
            workspace.import_file(text="a\n" + ("x" * 1000 + "\n") * 1000, table="u")
        assert [table["name"] for table in workspace.tables()] == ["t"]
    finally:
        workspace.close()


def test_rows_do_not_go_into_views_or_names_of_sqlite(workspace):
    workspace.query("CREATE VIEW v AS SELECT 1 AS a")
    with pytest.raises(Refused):
        workspace.import_file(text="a\n1\n", table="v", mode="append")
    for name in ("sqlite_x", "mnemos_facts", "", "x\0y", "x" * 200, 5):
        with pytest.raises(InvalidInput):
            workspace.import_file(text="a\n1\n", table=name)


def test_hostile_names_of_tables_and_columns_are_only_names(workspace):
    name = 'x"; DROP TABLE t; --'
    workspace.import_file(text=CSV, table="t")
    workspace.import_file(text='"a""b; --",select,' + "😀\n1,2,3\n", table=name)
    assert {table["name"] for table in workspace.tables()} == {"t", name}
    assert workspace.query('SELECT "a""b; --", "select", "😀" FROM "x""; DROP TABLE t; --"').rows == [
        [1, 2, 3]
    ]


def test_a_file_or_a_text_and_one_that_is_there(workspace, files):
    for wrong in ({}, {"path": "a.csv", "text": "a"}):
        with pytest.raises(InvalidInput):
            workspace.import_file(table="t", **wrong)
    with pytest.raises(NotFound):
        workspace.import_file("nothing.csv", "t")
    (files / "folder").mkdir()
    with pytest.raises(InvalidInput):
        workspace.import_file("folder", "t")


def test_an_import_has_a_time_limit_too(workspace, files):
    (files / "big.csv").write_text("a,b\n" + "1,2\n" * 2_000_000)
    with pytest.raises(TimedOut):
        workspace.import_file("big.csv", "t", timeout=0.1)
    assert workspace.tables() == []


@pytest.mark.parametrize("timeout", [0, -1, 601, "5"])
def test_a_time_limit_that_makes_no_sense_is_refused_for_files_too(workspace, files, timeout):
    with pytest.raises(InvalidInput):
        workspace.import_file(text=CSV, table="t", timeout=timeout)
    with pytest.raises(InvalidInput):
        workspace.export("SELECT 1", "out.csv", timeout=timeout)


def test_a_format_that_is_only_written_is_not_offered_for_reading(workspace):
    with pytest.raises(InvalidInput) as refused:
        workspace.import_file(text=CSV, table="t", format="xml")
    assert "markdown" not in str(refused.value)


def test_progress_goes_up_to_the_end(workspace, files):
    (files / "big.csv").write_text("a,b\n" + "1,2\n" * 200_000)
    told = []
    workspace.import_file("big.csv", "t", progress=told.append)
    assert told == sorted(told)
    assert len(told) > 2


def test_a_file_that_is_written_meanwhile_is_not_imported(workspace, files):
    (files / "growing.csv").write_text("a,b\n" + "1,2\n" * 100_000)

    def grow(_: float) -> None:
        with (files / "growing.csv").open("a") as file:
            file.write("3,4\n")

    with pytest.raises(Busy):
        workspace.import_file("growing.csv", "t", progress=grow)
    assert workspace.tables() == []


def test_numbers_appended_to_a_column_without_a_type_are_numbers(workspace):
    workspace.query("CREATE TABLE t (a, b, c TEXT)")
    workspace.import_file(text="a,b,c\n1,0.5,7\n,,\n", table="t", mode="append")
    assert workspace.query("SELECT * FROM t").rows == [[1, 0.5, "7"], [None, None, None]]


# --- out -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl"])
def test_what_is_exported_comes_back_the_same(workspace, files, form):
    workspace.query("CREATE TABLE t (a INTEGER, b REAL, c TEXT)")
    given = [[1, 1.5, "x"], [2, None, '=1+1, "q"\nsecond line'], [3, -2.25, "日本 🎉"], [4, 0.1, None]]
    workspace.query("INSERT INTO t VALUES (?, ?, ?)", rows=given)
    done = workspace.export("SELECT * FROM t", f"out.{form}")
    assert (done.rows, done.bytes) == (4, (files / f"out.{form}").stat().st_size)
    workspace.import_file(f"out.{form}", "back")
    assert rows(workspace, "back") == given


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(workspace, files):
    workspace.export("SELECT '=cmd()' AS a, -5 AS b", "out.csv")
    with (files / "out.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["a", "b"], ["'=cmd()", "-5"]]


def test_markdown_is_a_table(workspace, files):
    workspace.export("SELECT 1 AS a, 'x|y' AS b", "out.md")
    assert (files / "out.md").read_text().splitlines()[0].startswith("| a")


def test_a_file_that_is_there_is_replaced_only_when_asked(workspace, files):
    (files / "out.csv").write_text("mine")
    with pytest.raises(AlreadyExists):
        workspace.export("SELECT 1", "out.csv")
    assert (files / "out.csv").read_text() == "mine"
    workspace.export("SELECT 1 AS a", "out.csv", overwrite=True)
    assert (files / "out.csv").read_text().split() == ["a", "1"]


def test_a_pipe_is_neither_read_nor_replaced(workspace, files):
    os.mkfifo(files / "pipe.csv")
    with pytest.raises(InvalidInput):
        workspace.import_file("pipe.csv", "t")
    with pytest.raises(InvalidInput):
        workspace.export("SELECT 1", "pipe.csv", overwrite=True)
    assert (files / "pipe.csv").is_fifo()


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT nonsense", SqlError),
        ("SELECT 1; SELECT 2", InvalidInput),
        ("CREATE TABLE t (a)", InvalidInput),
        ("DELETE FROM x RETURNING a", InvalidInput),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", TimedOut),
    ],
)
def test_an_export_that_fails_leaves_no_file(workspace, files, query, error):
    with pytest.raises((error, Refused)):
        workspace.export(query, "out.csv", timeout=0.5)
    assert list(files.iterdir()) == []


def test_an_export_only_reads(prices, files):
    with pytest.raises((InvalidInput, Refused)):
        prices.export("DELETE FROM prices RETURNING item", "out.csv")
    assert prices.query("SELECT count(*) FROM prices").rows == [[250]]


def test_the_format_is_that_of_the_name_or_asked_for(workspace, files):
    with pytest.raises(InvalidInput):
        workspace.export("SELECT 1", "out.xlsx")
    workspace.export("SELECT 1 AS a", "out.txt", "jsonl")
    assert (files / "out.txt").read_text() == '{"a":1}\n'
