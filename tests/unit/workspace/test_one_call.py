"""One call: its statements, its parameters, its rows, all or nothing."""

from __future__ import annotations

import datetime
import math

import pytest

from mnemos.errors import InvalidInput, ReadOnly, Refused, SqlError, TimedOut, TooLarge
from mnemos.workspace.limits import Quota
from mnemos.workspace.workspace import Workspace


def count(workspace: Workspace) -> int:
    return int(workspace.query("SELECT count(*) FROM prices").rows[0][0])


# --- statements --------------------------------------------------------------------------------


def test_the_answer_is_that_of_the_last_statement_that_returns_rows(workspace):
    answer = workspace.query("CREATE TABLE t (a); SELECT 1 AS one; SELECT 2 AS two; INSERT INTO t VALUES (3)")
    assert (answer.columns, answer.rows) == (["two"], [[2]])
    assert [result.changes for result in answer.results] == [0, 0, 0, 1]


def test_a_select_without_rows_still_has_its_columns(prices):
    answer = prices.query("SELECT item, eur FROM prices WHERE FALSE")
    assert (answer.columns, answer.rows) == (["item", "eur"], [])


def test_a_failed_statement_rolls_back_those_before_it(prices):
    with pytest.raises(SqlError):
        prices.query("DELETE FROM prices; INSERT INTO prices VALUES ('a', 1); SELECT nonsense FROM prices")
    assert count(prices) == 250


def test_an_error_says_which_statement_failed(prices):
    with pytest.raises(SqlError, match="In statement 2: SELECT nonsense FROM prices"):
        prices.query("SELECT 1; SELECT nonsense FROM prices")


def test_begin_and_commit_are_left_out_and_that_is_reported(prices):
    answer = prices.query("BEGIN; INSERT INTO prices VALUES ('x', 1); COMMIT")
    assert count(prices) == 251
    assert any("BEGIN" in warning for warning in answer.warnings)


def test_commit_in_the_middle_keeps_nothing_of_a_call_that_fails(prices):
    with pytest.raises(SqlError):
        prices.query("BEGIN; DELETE FROM prices; COMMIT; SELECT nonsense FROM prices")
    assert count(prices) == 250


def test_rollback_undoes_what_the_call_did_before_it(prices):
    answer = prices.query("DELETE FROM prices; ROLLBACK; INSERT INTO prices VALUES ('x', 1)")
    assert (count(prices), answer.changes) == (251, 1)


def test_text_that_only_begins_like_a_transaction_is_not_one(prices):
    for statement in ("BEGIN nonsense", "ROLLBACK rubbish", "COMMIT x", "END of story"):
        with pytest.raises((SqlError, Refused)):
            prices.query(f"DELETE FROM prices; {statement}")
    assert count(prices) == 250


def test_a_savepoint_works_within_a_call(prices):
    prices.query("SAVEPOINT s; DELETE FROM prices; ROLLBACK TO s; RELEASE s")
    assert count(prices) == 250


def test_a_trigger_with_semicolons_is_one_statement(prices):
    prices.query(
        "CREATE TABLE log (item); CREATE TRIGGER t AFTER INSERT ON prices BEGIN "
        "INSERT INTO log VALUES (new.item); INSERT INTO log VALUES ('again'); END; "
        "INSERT INTO prices VALUES ('x', 1)"
    )
    assert prices.query("SELECT * FROM log").rows == [["x"], ["again"]]


def test_a_query_without_a_statement_is_refused(workspace):
    for empty in ("", "  ;; ", "-- nothing"):
        with pytest.raises(InvalidInput):
            workspace.query(empty)


def test_temporary_tables_end_with_the_call(workspace):
    assert workspace.query("CREATE TEMP TABLE t (a); INSERT INTO t VALUES (1); SELECT * FROM t").rows == [[1]]
    with pytest.raises(SqlError):
        workspace.query("SELECT * FROM t")


# --- parameters --------------------------------------------------------------------------------


def test_values_by_position_go_to_the_statements_in_order(workspace):
    answer = workspace.query("SELECT ?, ?; SELECT ?", [1, 2, 3])
    assert [result.rows for result in answer.results] == [[[1, 2]], [[3]]]


def test_values_by_number_and_by_name_reach_every_statement(workspace):
    assert workspace.query("SELECT ?2; SELECT ?1", ["a", "b"]).rows == [["a"]]
    assert workspace.query("SELECT :x; SELECT @x || $y", {"x": "a", ":y": "b"}).rows == [["ab"]]


@pytest.mark.parametrize("params", [[1], [1, 2, 3], {"a": 1}, "ab", 5])
def test_parameters_that_do_not_fit_are_refused(workspace, params):
    with pytest.raises(InvalidInput):
        workspace.query("SELECT ?, ?" if not isinstance(params, dict) else "SELECT :a, :b", params)


def test_a_question_mark_in_a_text_is_not_a_parameter(workspace):
    assert workspace.query('SELECT \'?\', "a?" FROM (SELECT 1 AS "a?"); SELECT ?', [7]).rows == [[7]]


def test_lists_and_objects_become_json_and_moments_text(workspace):
    moment = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)
    (row,) = workspace.query("SELECT ?, ?, ?", [[1, "a"], {"k": None}, moment]).rows
    assert row == ['[1,"a"]', '{"k":null}', "2026-11-15T12:00:00Z"]


def test_rows_are_inserted_one_by_one_as_lists_or_objects(workspace):
    workspace.query("CREATE TABLE t (a, b)")
    assert workspace.query("INSERT INTO t VALUES (?, ?)", rows=[[1, 2], (3, 4)]).changes == 2
    assert workspace.query("INSERT INTO t VALUES (:a, :b)", rows=[{"a": 5, "b": 6}]).changes == 1
    assert workspace.query("SELECT sum(a), sum(b) FROM t").rows == [[9, 12]]


def test_one_row_that_does_not_fit_keeps_out_all_others(prices):
    with pytest.raises(SqlError):
        prices.query("INSERT INTO prices VALUES (?, ?)", rows=[["new", 1], ["item 001", 2]])
    assert count(prices) == 250


def test_a_row_that_does_not_fit_is_named(prices):
    insert = "INSERT INTO prices VALUES (?, ?)"
    for rows in ([["new", 1], ["item 001", 2]], [["new", 1], ["x"]], [["new", 1], ["x", 2**63]]):
        with pytest.raises(InvalidInput, match=r"\(row 1 of rows\)"):
            prices.query(insert, rows=rows)


def test_names_in_rows_may_have_their_sign_as_in_params(workspace):
    workspace.query("CREATE TABLE t (a)")
    assert workspace.query("INSERT INTO t VALUES (:a)", rows=[{":a": 1}, {":a": 2}]).changes == 2


def test_params_beside_rows_are_refused_and_not_left_out(prices):
    with pytest.raises(InvalidInput):
        prices.query("INSERT INTO prices VALUES (?, ?)", ["a", 1], rows=[["b", 2]])
    assert count(prices) == 250


@pytest.mark.parametrize("params", [None, [1], {"a": 1}])
def test_missing_values_are_invalid_input(workspace, params):
    with pytest.raises(InvalidInput):
        workspace.query("SELECT ?, ?", params)


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1])
def test_a_number_too_large_for_sqlite_can_be_passed_as_a_text(workspace, number):
    with pytest.raises(InvalidInput):
        workspace.query("SELECT ?", [number])
    assert workspace.query("SELECT ?", [str(number)]).rows == [[str(number)]]


def test_rows_go_with_one_statement_only(prices):
    with pytest.raises(InvalidInput):
        prices.query("INSERT INTO prices VALUES (?, ?); SELECT 1", rows=[["a", 1]])


# --- values ------------------------------------------------------------------------------------


def test_every_value_of_sqlite_comes_back_as_it_is(workspace):
    values = [None, 0, -(2**63), 2**63 - 1, 1.5, -0.0, "", "日本 🎉 \0 end", b"", b"\x00\xff"]
    assert workspace.query(f"SELECT {', '.join('?' * len(values))}", values).rows == [values]


def test_infinity_comes_back_and_nan_is_null(workspace):
    (row,) = workspace.query("SELECT ?, ?, ?", [math.inf, -math.inf, math.nan]).rows
    assert row == [math.inf, -math.inf, None]


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**63) - 1, "\ud800", {1: object()}])
def test_a_value_that_sqlite_cannot_hold_is_refused(workspace, value):
    with pytest.raises(InvalidInput):
        workspace.query("SELECT ?", [value])


def test_text_that_is_not_utf8_is_shown_with_a_sign_and_a_warning(workspace):
    answer = workspace.query("SELECT CAST(x'61ff62' AS TEXT) AS t, 5 AS n, x'ff' AS b, NULL AS z")
    assert answer.rows == [["a�b", 5, b"\xff", None]]
    assert any("UTF-8" in warning for warning in answer.warnings)


def test_columns_of_one_name_stay_apart(workspace):
    answer = workspace.query("SELECT 1 AS a, 2 AS a, 3 AS ''")
    assert (answer.columns, answer.rows) == (["a", "a", ""], [[1, 2, 3]])


# --- how much comes back ------------------------------------------------------------------------


def test_pages_show_every_row_once(prices):
    seen, offset = [], 0
    while offset is not None:
        answer = prices.query("SELECT item FROM prices ORDER BY item", offset=offset, max_rows=60)
        seen += [item for (item,) in answer.rows]
        offset = answer.next_offset
    assert seen == [f"item {n:03}" for n in range(250)]


def test_a_page_that_ends_with_the_last_row_is_not_cut(prices):
    answer = prices.query("SELECT * FROM prices", max_rows=250)
    assert (answer.row_count, answer.truncated, answer.next_offset) == (250, False, None)


def test_a_call_that_writes_has_no_next_page_because_it_would_write_again(prices):
    answer = prices.query("UPDATE prices SET eur = 1 RETURNING item", max_rows=10)
    assert (answer.row_count, answer.truncated, answer.next_offset, answer.changes) == (10, True, None, 250)


def test_statements_before_the_last_leave_room_for_it(prices):
    answer = prices.query("SELECT * FROM prices; SELECT * FROM prices", max_rows=100)
    assert [result.row_count for result in answer.results] == [50, 50]


def test_bytes_are_limited_over_the_whole_call_and_a_row_is_always_shown(workspace):
    answer = workspace.query("SELECT hex(zeroblob(5000)) UNION ALL SELECT 'x'", max_bytes=1000)
    assert (answer.row_count, answer.truncated) == (1, True)


def test_long_cells_are_cut_in_the_middle_with_what_is_left_out(workspace):
    (row,) = workspace.query("SELECT 'begin' || hex(zeroblob(5000)) || 'end', x'0102'", max_cell=100).rows
    assert row[0].startswith("begin")
    assert row[0].endswith("end")
    assert "bytes left out" in row[0]
    assert row[1] == "<blob, 2 bytes: 0102>"


def test_an_answer_too_large_to_be_given_changes_nothing(workspace):
    workspace.query("CREATE TABLE t (a)")
    with pytest.raises(TooLarge):
        workspace.query("INSERT INTO t VALUES (1);" + "SELECT zeroblob(4000000);" * 12)
    assert workspace.query("SELECT count(*) FROM t").rows == [[0]]


# --- limits and modes --------------------------------------------------------------------------


def test_a_slow_call_is_stopped_and_the_next_one_answered(prices):
    with pytest.raises(TimedOut):
        prices.query(
            "DELETE FROM prices; "
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
            timeout=0.3,
        )
    assert count(prices) == 250


def test_a_function_that_never_looks_at_the_clock_is_stopped_too(prices):
    with pytest.raises(TimedOut):
        prices.query("SELECT instr(hex(zeroblob(1900000)), hex(zeroblob(900000)) || '1')", timeout=0.3)
    assert count(prices) == 250


def test_a_full_database_keeps_what_it_has(tmp_path):
    workspace = Workspace(tmp_path / "small", quota=Quota(database_bytes=500_000))
    try:
        workspace.query("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
        with pytest.raises(TooLarge):
            workspace.query("INSERT INTO t VALUES (zeroblob(300000)), (zeroblob(300000))")
        assert workspace.query("SELECT count(*), sum(length(a)) FROM t").rows == [[1, 100_000]]
    finally:
        workspace.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM prices",
        "INSERT INTO prices VALUES ('x', 1) RETURNING item",
        "WITH x AS (SELECT 1) INSERT INTO prices SELECT 'x', 1 FROM x",
        "/* SELECT */ UPDATE prices SET eur = 0",
        "CREATE TABLE t (a)",
        "DROP TABLE prices",
        "PRAGMA user_version = 7",
    ],
)
def test_reading_only_is_decided_by_the_engine(prices, statement):
    with pytest.raises((ReadOnly, Refused)):
        prices.query(statement, read_only=True)
    assert prices.query(
        "SELECT count(*), (SELECT user_version FROM pragma_user_version) FROM prices"
    ).rows == [[250, 0]]


def test_reading_only_is_no_longer_so_in_the_next_call(prices):
    prices.query("SELECT 1", read_only=True)
    assert prices.query("DELETE FROM prices").changes == 250


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_rows": -1},
        {"offset": 1.5},
        {"timeout": 0},
        {"timeout": "x"},
        {"max_bytes": "x"},
        {"max_cell": -1},
    ],
)
def test_limits_that_make_no_sense_are_refused(workspace, wrong):
    with pytest.raises(InvalidInput):
        workspace.query("SELECT 1", **wrong)
