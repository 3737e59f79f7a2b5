"""Share of failed SQL statements that get a hint, the right hint, and a statement that works.

The statements are those of ``tests/data/sql_hints/slips.jsonl``: slips into other dialects, slips of the pen,
refusals and wrong names, each with words that name SQLite's way. An offered statement is run, and compared
where a case has ``rows`` or a ``statement``. The kind ``held out`` was written before the table.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from benchmarks.report import Options, Result, Table
from mnemos.workspace import functions
from mnemos.workspace.sandbox.hints.failure import OFFER, hint

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "sql_hints"


@dataclass(frozen=True, slots=True)
class Answer:
    """One failed statement and what came of its hint."""

    case: dict[str, Any]
    hint: str
    names_the_way: bool
    works: bool | None
    """None where no statement was offered."""


def open_shop() -> apsw.Connection:
    """Return a small database, opened as the worker opens one."""
    connection = apsw.Connection(":memory:")
    for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
        connection.config(option, 0)
    functions.register(connection)
    connection.execute((DATA / "shop.sql").read_text())
    return connection


def know_shop() -> dict[str, list[str]]:
    shop = open_shop()
    names = [str(row[0]) for row in shop.execute("SELECT name FROM sqlite_schema WHERE type <> 'index'")]
    return {name: [str(row[1]) for row in shop.execute(f"PRAGMA table_info({name})")] for name in names}


def read_cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / "slips.jsonl").read_text().splitlines()]


def run_statement(sql: str, probe: str | None = None) -> Any:
    """Return the rows of a statement in a new shop, or of a probe after it, as JSON has them."""
    shop = open_shop()
    rows = shop.execute(sql).fetchall()
    return json.loads(json.dumps(shop.execute(probe).fetchall() if probe else rows))


def find_refusal(sql: str) -> tuple[str, int]:
    try:
        open_shop().execute(sql).fetchall()
    except apsw.Error as exc:
        return str(exc), getattr(exc, "error_offset", -1)
    raise AssertionError(f"SQLite takes this: {sql}")


def judge(case: dict[str, Any], known: dict[str, list[str]]) -> Answer:
    message, offset = find_refusal(case["sql"])
    text = hint(case["sql"], message, offset, known) or ""
    _, offered, statement = text.partition(OFFER)
    works = _is_right(statement, case) if offered else None
    words = [group.lower().split("|") for group in case.get("words", ())]
    names = bool(words) and all(any(word in text.lower() for word in group) for group in words)
    return Answer(case, text, names or bool(works), works)


def _is_right(statement: str, case: dict[str, Any]) -> bool:
    try:
        rows = run_statement(statement, case.get("probe"))
    except apsw.Error:
        return False
    if "statement" in case:
        return bool(" ".join(statement.split()) == case["statement"])
    return bool(rows == case["rows"]) if "rows" in case else True


def judge_all() -> Iterator[Answer]:
    known = know_shop()
    return (judge(case, known) for case in read_cases())


def run(_options: Options) -> Result:
    started = time.perf_counter()
    answers = list(judge_all())
    seconds = time.perf_counter() - started
    figures: dict[str, Any] = {"ms_per_case": 1_000 * seconds / len(answers)}
    for kind in dict.fromkeys(answer.case["kind"] for answer in answers):
        of_kind = [answer for answer in answers if answer.case["kind"] == kind]
        figures[kind] = {
            "cases": len(of_kind),
            "hint": sum(bool(answer.hint) for answer in of_kind),
            "names_the_way": sum(answer.names_the_way for answer in of_kind),
            "statement_works": sum(bool(answer.works) for answer in of_kind),
            "statement_wrong": sum(answer.works is False for answer in of_kind),
        }
    headings = ("kind", "cases", "hint", "names the way", "statement works", "wrong")
    rows = [
        (kind, *map(str, counts.values())) for kind, counts in figures.items() if isinstance(counts, dict)
    ]
    return Result("sql_hints", [Table("Hints for failed SQL", headings, rows)], figures)
