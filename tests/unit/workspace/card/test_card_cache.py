from __future__ import annotations

from pathlib import Path

import apsw

from .opened import Opened


def test_the_same_question_gets_the_kept_answer(made: Opened) -> None:
    made.run("CREATE TABLE t (a)")
    assert made.card() is made.card()
    assert made.card(table="t") is made.card(table="T")
    assert made.card(tokens=50) is not made.card()


def test_another_row_makes_another_card(made: Opened) -> None:
    made.run("CREATE TABLE t (a)")
    assert made.table("t")["rows"] == 0
    made.run("INSERT INTO t VALUES (1)")
    assert made.table("t")["rows"] == 1


def test_a_row_of_another_connection_makes_another_card(made: Opened, tmp_path: Path) -> None:
    made.run("CREATE TABLE t (a)")
    assert made.table("t")["rows"] == 0
    other = apsw.Connection(str(tmp_path / "made.db"))
    other.execute("INSERT INTO t VALUES (1); CREATE TABLE u (b)")
    other.close()
    assert made.table("t")["rows"] == 1
    assert made.table("u")["rows"] == 0


def test_the_use_of_a_table_changes_the_order_and_reads_nothing_again(made: Opened) -> None:
    made.run("CREATE TABLE a (x); CREATE TABLE b (x)")
    assert [table["name"] for table in made.card()["tables"]] == ["b", "a"]
    described = dict(made.database.current_cache()["card"]["described"])
    made.database.recent["a"] = 5.0
    assert [table["name"] for table in made.card()["tables"]] == ["a", "b"]
    again = made.database.current_cache()["card"]["described"]
    assert all(again[key] is one for key, one in described.items())


def test_the_number_of_cached_cards_is_limited(made: Opened) -> None:
    made.run("CREATE TABLE t (a)")
    for tokens in range(100):
        made.card(tokens=tokens)
    assert len(made.database.current_cache()["card"]["cards"]) <= 16
