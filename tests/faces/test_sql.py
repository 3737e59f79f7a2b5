"""``mnemos sql``: a query from the command line, from a pipe, and at a prompt."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.cli.sql import Prompt
from mnemos.memory import Memory
from mnemos.workspace.worker import Worker

from .conftest import Mnemos
from .terminal import at_a_terminal

MAKE = "CREATE TABLE prices (item, eur); INSERT INTO prices VALUES ('chair', parse_number('1.234,56 €'))"


def test_a_query_prints_a_table(mnemos: Mnemos) -> None:
    answer = mnemos("sql", "-c", f"{MAKE}; SELECT * FROM prices")
    assert (answer.code, answer.err) == (0, "")
    assert "item  |     eur\n------+--------\nchair | 1234.56\n(1 row)" in answer.out


def test_a_query_answers_in_json(mnemos: Mnemos) -> None:
    mnemos("sql", "research", "-c", MAKE)
    answer = mnemos("sql", "research", "-c", "SELECT * FROM prices", "--json")
    assert (answer.json["columns"], answer.json["rows"]) == (["item", "eur"], [["chair", 1234.56]])


def test_a_query_may_take_the_place_of_a_database(mnemos: Mnemos) -> None:
    mnemos("sql", MAKE)
    assert mnemos("sql", "SELECT count(*) FROM prices", "--json").json["rows"] == [[1]]
    assert mnemos("sql", "SELECT", "1", "+", "2", "--json").json["rows"] == [[3]]


def test_a_query_can_come_through_a_pipe(mnemos: Mnemos) -> None:
    assert mnemos("sql", stdin=f"{MAKE};\nSELECT count(*) AS n FROM prices;\n").code == 0
    assert mnemos("sql", "--json", stdin="SELECT count(*) FROM prices").json["rows"] == [[1]]


def test_a_failed_query_says_why_and_ends_with_2(mnemos: Mnemos) -> None:
    answer = mnemos("sql", "-c", "SELECT 1; SELECT nowhere")
    assert answer.code == 2
    assert answer.err.startswith("mnemos: no such column: nowhere\nIn statement 2: SELECT nowhere")


def test_reading_only_refuses_every_change(mnemos: Mnemos) -> None:
    mnemos("sql", "-c", MAKE)
    assert mnemos("sql", "--read-only", "-c", "DROP TABLE prices").code == 4
    assert mnemos("sql", "--json", "-c", "SELECT count(*) FROM prices").json["rows"] == [[1]]


def test_a_person_may_name_any_file_and_read_a_pipe(mnemos: Mnemos, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere" / "rows.csv.gz"
    file.parent.mkdir()
    file.write_bytes(gzip.compress(b"a,b\n1,x\n2,y\n"))
    assert mnemos("workspace", "import", "t", str(file)).code == 0
    assert mnemos("workspace", "import", "u", "-", stdin="a\n5\n").code == 0
    answer = mnemos("workspace", "export", str(tmp_path / "out.jsonl"), "SELECT * FROM t ORDER BY a")
    assert answer.code == 0
    assert (tmp_path / "out.jsonl").read_text() == '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'
    assert mnemos("workspace", "export", "-", "SELECT * FROM u").out.split() == ["a", "5"]


def test_line_breaks_in_cells_go_to_a_pipe_as_they_go_to_a_file(mnemos: Mnemos, tmp_path: Path) -> None:
    query = "SELECT 'a' || char(13, 10) || 'b' AS cell"
    assert mnemos("workspace", "export", str(tmp_path / "out.csv"), query).code == 0
    piped = mnemos("workspace", "export", "-", query).out
    assert piped.encode() == (tmp_path / "out.csv").read_bytes() == b'cell\n"a\r\nb"\n'


def test_a_database_is_deleted_when_its_name_is_given_twice(mnemos: Mnemos) -> None:
    mnemos("sql", "trial", "-c", MAKE)
    assert mnemos("workspace", "delete", "trial", "--confirm", "other", "--yes").code == 4
    assert mnemos("workspace", "delete", "trial", "--confirm", "trial").code == 4
    assert mnemos("workspace", "delete", "trial", "--confirm", "trial", "--yes").code == 0
    assert mnemos("workspace", "list", "--json").json["databases"] == []


# --- at the prompt ---------------------------------------------------------------------------------


def prompt(home: Path, *lines: str, options: tuple[str, ...] = ()) -> str:
    seen = at_a_terminal("sql", *options, home=home, typed="".join(f"{line}\n" for line in (*lines, ".quit")))
    assert seen.code == 0
    return seen.screen


def test_statements_go_over_lines_until_their_semicolon(home: Path) -> None:
    screen = prompt(
        home, "CREATE TABLE t (a);", "INSERT INTO t", "VALUES (41 + 1);", "SELECT a AS answer FROM t;"
    )
    assert "...>" in screen
    assert "answer" in screen
    assert "42" in screen


def test_an_error_does_not_end_the_prompt(home: Path) -> None:
    screen = prompt(home, "SELECT nowhere;", ".nonsense", "SELECT 6 * 7;")
    assert "no such column: nowhere" in screen
    assert "There is no command .nonsense" in screen
    assert "42" in screen


def test_lines_with_a_point_show_import_and_export(home: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("item,eur\nchair,49\n")
    screen = prompt(
        home,
        f".import {tmp_path / 'rows.csv'} prices",
        ".tables",
        ".schema prices",
        f".export {tmp_path / 'out.csv'} SELECT item FROM prices",
        ".use other",
        ".databases",
        ".functions",
        ".help",
    )
    assert "1 row into the new table prices" in screen
    assert "prices (item, eur)" in screen
    assert "other>" in screen
    assert "parse_number(" in screen
    assert "chair" in (tmp_path / "out.csv").read_text()


def test_a_prompt_that_only_reads_imports_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("item,eur\nchair,49\n")
    screen = prompt(home, f".import {tmp_path / 'rows.csv'} prices", ".tables", options=("--read-only",))
    assert "--read-only does not allow changes" in screen
    assert "prices (item, eur)" not in screen


def test_a_line_with_a_point_that_lacks_a_word_says_which_it_takes(home: Path) -> None:
    screen = prompt(home, ".import rows.csv", ".import", ".export rows.csv", ".export")
    assert screen.count(": .import FILE TABLE") == 2
    assert screen.count(": .export FILE QUERY") == 2


def test_an_interrupt_stops_the_statement_and_not_the_prompt(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;"
    typed = iter([f"DROP TABLE prices; {endless}", "SELECT count(*) + 41 FROM prices;", ".quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    send, is_first = Worker._send, iter([True])

    def send_and_interrupt(*given: Any) -> object:
        process = send(*given)
        if next(is_first, False):
            raise KeyboardInterrupt
        return process

    with Memory.at(home) as memory:
        memory.workspace.query(MAKE)
        monkeypatch.setattr(Worker, "_send", send_and_interrupt)
        Prompt(memory, "default", read_only=False).run()
    assert "42" in capsys.readouterr().out


def test_the_history_of_the_prompt_is_for_its_owner_only(home: Path) -> None:
    prompt(home, "SELECT 'remember me';")
    history = home / "sql_history"
    assert "remember me" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0
