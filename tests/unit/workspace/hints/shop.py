"""A small database as the worker opens one, and hints for statements that fail there."""

from __future__ import annotations

from typing import Any

from benchmarks.sql_hints import find_refusal, know_shop, open_shop

from mnemos.workspace.sandbox.hints.failure import OFFER, hint

KNOWN = know_shop()


def hinted(sql: str) -> str:
    """Return the hint for a statement that fails, or an empty text."""
    return hint(sql, *find_refusal(sql), KNOWN) or ""


def offered(text: str) -> str | None:
    _, found, statement = text.partition(OFFER)
    return statement if found else None


def rows(sql: str, probe: str | None = None) -> list[Any]:
    """Return the rows of a statement in a new database, or of a probe after it."""
    connection = open_shop()
    result = connection.execute(sql).fetchall()
    return connection.execute(probe).fetchall() if probe else result
