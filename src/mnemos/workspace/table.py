"""Answers as text: aligned tables in which no cell can look like another cell or line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unicodedata import combining, east_asian_width

from mnemos.text.stored_text import one_line, reveal
from mnemos.workspace.answers import Answer, StatementResult
from mnemos.workspace.identifiers import shorten

# A longer cell does not widen its column.
_WIDEST = 40
_STATEMENT = 60
_MOST_WARNINGS = 10
_MOST_RESULTS = 50


def render_cell(value: Any) -> str:
    """Return a value on one line. NULL is a word, and a text that reads NULL gets quotes."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"<blob, {len(value)} bytes>"
    text = value if isinstance(value, str) else str(value)
    if text == "NULL":
        return "'NULL'"
    return reveal(text)


def fit(answer: Answer, most_bytes: int) -> Answer:
    """Return the answer with as many rows as its text has room for, at least one of each result."""
    left = most_bytes
    shown = [result for result in answer.results if result.columns]
    results: list[StatementResult] = []
    for result in answer.results:
        if result.columns:
            lines = render_rows(result.columns, result.rows)
            keeps = _count_fitting(lines, left // max(len(shown), 1))
            shown.pop(0)
            left -= sum(_size(line) for line in lines[: keeps + 2])
            if keeps < len(result.rows):
                result = replace(result, rows=result.rows[:keeps], truncated=True)
        results.append(result)
    for place in range(_MOST_RESULTS, len(results) - 1):
        # Of very many statements, those in the middle only report their changes.
        one = results[place]
        beginning = shorten(one.statement, _STATEMENT)
        results[place] = replace(one, statement=beginning, columns=[], rows=[], truncated=bool(one.rows))
    return replace(answer, results=results)


def render(
    results: Sequence[StatementResult],
    *,
    next_offset: int | None,
    warnings: Sequence[str],
    most_bytes: int | None = None,
) -> str:
    """Return the text for a model: rows of every statement, changes, where the next page is.

    Statements that don't fit in ``most_bytes`` are only counted, except for the last one.
    """
    several = len(results) > 1
    lines: list[str] = []
    for number, result in enumerate(results, 1):
        if most_bytes is not None and number < len(results) and sum(map(_size, lines)) > most_bytes // 2:
            lines.append(f"Statements {number} to {len(results) - 1} are not shown for lack of room")
            lines += _render_result(len(results), results[-1])
            break
        lines += _render_result(number if several else 0, result)
    if any(result.truncated for result in results):
        lines.append(_explain_paging(next_offset))
    return "\n".join([*lines, *(f"Note: {one_line(warning)}" for warning in warnings[:_MOST_WARNINGS])])


def _render_result(number: int, result: StatementResult) -> list[str]:
    """Return the lines of one result. ``number`` is 0 for the only one."""
    lines = [f"{number}. {shorten(result.statement, _STATEMENT)}"] if number else []
    if result.columns:
        lines += render_rows(result.columns, result.rows)
    return [*lines, describe_outcome(result)]


def render_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return a line of column names, a rule, and one line per row."""
    head = [render_cell(name) for name in columns]
    body = [[render_cell(value) for value in row] for row in rows]
    right = [_is_numeric(place, rows) for place in range(len(head))]
    widths = [
        min(max([_width(name), *(_width(row[place]) for row in body)]), max(_WIDEST, _width(name)))
        for place, name in enumerate(head)
    ]
    return [
        _line(head, widths, right),
        "-+-".join("-" * width for width in widths),
        *(_line(row, widths, right) for row in body),
    ]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        " " * (width - _width(text)) + text if to_the_right else text + " " * (width - _width(text))
        for text, width, to_the_right in zip(cells, widths, right, strict=True)
    ]
    return " | ".join(padded).rstrip()


def _count_fitting(lines: Sequence[str], most: int) -> int:
    size = sum(_size(line) for line in lines[:2])
    for number, line in enumerate(lines[2:]):
        size += _size(line)
        if size > most and number:
            return number
    return len(lines) - 2


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1


def describe_outcome(result: StatementResult) -> str:
    """Return how many rows a statement returned and changed."""
    changed = f"{result.changes:,} row{'s' * (result.changes != 1)} changed" if result.changes else "done"
    if not result.columns:
        return f"({changed})"
    rows = f"{result.row_count:,} row{'s' * (result.row_count != 1)}{', more follow' * result.truncated}"
    return f"({rows}; {changed})" if result.changes else f"({rows})"


def _explain_paging(next_offset: int | None) -> str:
    if next_offset is not None:
        return f"There is more: the next page begins at offset {next_offset}."
    return "There is more: run the SELECT alone, with an offset, to see it."


def _is_numeric(place: int, rows: Sequence[Sequence[Any]]) -> bool:
    values = [row[place] for row in rows if row[place] is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _width(text: str) -> int:
    """Return the columns a text takes on a screen. East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)
