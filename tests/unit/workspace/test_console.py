"""Queries that may not write, and their plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound, ReadOnly
from mnemos.faces.http.scopes import find_needed_scope
from mnemos.memory.access_tokens import Scope
from mnemos.operations import registry


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with mnemos.open(home, embedder="none") as opened:
        opened.workspace.query("CREATE TABLE prices (item TEXT PRIMARY KEY, eur REAL)")
        yield opened


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO prices VALUES ('a', 1)",
        "DROP TABLE prices",
        "SELECT 1; DELETE FROM prices",
        "CREATE TEMP TABLE t (x)",
        "WITH x AS (SELECT 1) INSERT INTO prices SELECT 'b', 2",
    ],
)
def test_a_read_only_query_changes_nothing(memory: Memory, sql: str) -> None:
    with pytest.raises(ReadOnly):
        memory.call("sqlite_query", {"query": sql, "read_only": True})
    assert memory.call("sqlite_query", {"query": "SELECT count(*) FROM prices"})["rows"] == [[0]]


def test_a_read_only_query_makes_no_database(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.call("sqlite_query", {"query": "SELECT 1", "database": "new", "read_only": True})
    assert [one.name for one in memory.workspace.databases()] == ["default"]


def test_a_read_token_is_enough_to_read() -> None:
    asked = registry.read("sqlite_query", {"query": "SELECT 1", "read_only": True})
    assert find_needed_scope(asked) is Scope.READ
    assert find_needed_scope(registry.read("sqlite_query", {"query": "SELECT 1"})) > Scope.READ


def test_a_plan_has_the_steps_of_the_query(memory: Memory) -> None:
    sql = "SELECT a.eur FROM prices AS a JOIN prices AS b USING (item) WHERE a.eur > ? UNION SELECT 1"
    answer = memory.call("sqlite_query", {"query": sql, "params": [1], "plan": True, "read_only": True})
    assert any("SEARCH b USING" in step for step in answer["plan"])
    assert any(step.startswith("  ") for step in answer["plan"])
    assert "Plan:" in answer["text"]
    assert "plan" not in memory.call("sqlite_query", {"query": "SELECT 1"})


def test_the_plan_of_a_change_does_not_make_it_twice(memory: Memory) -> None:
    rows = [["a", 1], ["b", 2]]
    asked = {"query": "INSERT INTO prices VALUES (?, ?)", "rows": rows, "plan": True}
    assert memory.call("sqlite_query", asked)["changes"] == 2


def test_a_plan_is_for_one_statement(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.call("sqlite_query", {"query": "SELECT 1; SELECT 2", "plan": True})
