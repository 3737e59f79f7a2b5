"""Reading CSV that stands in a value.

The delimiter is found from the first lines (comma, semicolon, tab or bar) unless it is given. Cells are text:
leading zeros and long numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import StringIO
from itertools import islice
from typing import Any

from mnemos.workspace.functions.base import (
    LONGEST,
    Function,
    FunctionFailed,
    Value,
    as_json,
    as_text,
    as_whole,
    expression,
    refuse_longer,
    shown,
)

_DELIMITERS = ",;\t|"
# Enough lines to tell a delimiter from a sign that stands in cells.
_SAMPLE_ROWS = 20
_SAMPLE = 50_000
# Each needs a name of its own; more come of a wrong delimiter.
MOST_COLUMNS = 100_000


def csv_parse(text: Value, header: Value = 1, delimiter: Value = None) -> Value:
    has_header, between = _options(header, delimiter)
    rows = _rows(as_text(text), between)
    names = _distinct(next(rows, [])) if has_header else []
    overhead = sum(map(len, names)) + 4 * len(names)
    kept: list[dict[str, str | None] | list[str]] = []
    length = 0
    for cells in rows:
        # Never more than the JSON will have, and known before a wide header is repeated.
        length += overhead + sum(map(len, cells)) + 3
        refuse_longer(length, "the JSON of all rows")
        kept.append(_named(names, cells) if has_header else cells)
    return as_json(kept)


def csv_column(text: Value, column: Value, header: Value = 1, delimiter: Value = None) -> Value:
    has_header, between = _options(header, delimiter)
    rows = _rows(as_text(text), between)
    names = _distinct(next(rows, [])) if has_header else []
    place = _place(names, column) if has_header else as_whole(column, "column") - 1
    if place < 0:
        raise FunctionFailed(f"column is {shown(column)}; columns count from 1")
    return as_json([cells[place] if place < len(cells) else None for cells in rows])


def csv_headers(text: Value, delimiter: Value = None) -> Value:
    return as_json(next(_rows(as_text(text), _delimiter(delimiter)), []))


def _options(header: Value, delimiter: Value) -> tuple[bool, str | None]:
    """Whether there is a header, and the delimiter, which may also stand in the place of the header."""
    if isinstance(header, str | bytes) and delimiter is None and as_text(header).strip() not in {"0", "1"}:
        return True, _delimiter(header)
    return as_whole(header, "header") != 0, _delimiter(delimiter)


def _delimiter(value: Value) -> str | None:
    if value is None:
        return None
    between = {"\\t": "\t", "tab": "\t"}.get(as_text(value), as_text(value))
    if len(between) != 1 or between == '"' or (between < " " and between != "\t"):
        raise FunctionFailed(f"delimiter is {shown(value)}; give one character such as ',' or ';' or 'tab'")
    return between


def _rows(text: str, delimiter: str | None) -> Iterator[list[str]]:
    """The rows that are not empty."""
    # A carriage return alone ends a line too, and the reader would stumble over it.
    lines = expression("\r\n?").sub("\n", text.removeprefix("\ufeff"))
    reader = _reader()(StringIO(lines, newline="\n"), delimiter=delimiter or _found(lines))
    return (cells for cells in reader if cells)


@cache
def _reader() -> Any:
    # csv: only for those who use it.
    import csv

    # A cell may be as long as a value; the module has one limit for all.
    csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    return csv.reader


def _found(lines: str) -> str:
    """The delimiter that cuts the first rows into the same number of cells, the more the better."""

    def fitness(delimiter: str) -> tuple[int, int]:
        rows = _reader()(StringIO(sample, newline="\n"), delimiter=delimiter)
        sizes = [len(cells) for cells in islice(rows, _SAMPLE_ROWS) if cells]
        if not sizes or sizes[0] < 2:
            return (0, 0)
        return (sizes.count(sizes[0]), sizes[0])

    sample = lines[:_SAMPLE]
    return max(_DELIMITERS, key=fitness)


def _distinct(header: list[str]) -> list[str]:
    """A name for each column: one without a name gets its number, one seen before a number behind."""
    if len(header) > MOST_COLUMNS:
        raise FunctionFailed(
            f"a row has {len(header):,} cells, over {MOST_COLUMNS:,}; give the right delimiter"
        )
    names: list[str] = []
    used: set[str] = set()
    seen: dict[str, int] = {}
    for number, cell in enumerate(header, start=1):
        wanted = name = cell.strip() or f"column_{number}"
        while name in used:
            seen[wanted] = seen.get(wanted, 1) + 1
            name = f"{wanted}_{seen[wanted]}"
        used.add(name)
        names.append(name)
    return names


def _named(names: list[str], cells: list[str]) -> dict[str, str | None]:
    """A row as an object: missing cells are null, cells without a header are kept by number."""
    row: dict[str, str | None] = dict(zip(names, cells, strict=False))
    for name in names[len(cells) :]:
        row[name] = None
    if len(cells) > len(names):
        every = _distinct([*names, *[""] * (len(cells) - len(names))])
        row.update(zip(every[len(names) :], cells[len(names) :], strict=True))
    return row


def _place(names: list[str], column: Value) -> int:
    if isinstance(column, str | bytes):
        wanted = as_text(column).strip()
        folded = wanted.casefold()
        for same in (wanted.__eq__, lambda name: name.casefold() == folded):
            for place, name in enumerate(names):
                if same(name):
                    return place
    number = as_whole(column, "column") if not isinstance(column, str | bytes) else 0
    if not 1 <= number <= len(names):
        known = ", ".join(names[:20])
        raise FunctionFailed(f"column is {shown(column)}; there are {len(names)} from 1 on: {known[:500]}")
    return number - 1


FUNCTIONS = (
    Function(
        "csv_parse",
        "csv_parse(text [, header [, delimiter]])",
        "JSON array with an object for each row, or with header 0 an array for each row, for json_each. The"
        " delimiter is found unless given.",
        "csv_parse('id;name' || char(10) || '07;Ada', 1, ';')",
        """'[{"id":"07","name":"Ada"}]'""",
        call=csv_parse,
        arity=(1, 2, 3),
    ),
    Function(
        "csv_column",
        "csv_column(text, column [, header [, delimiter]])",
        "JSON array of the cells of one column, by its header or its number from 1.",
        "csv_column('id,name' || char(10) || '1,Ada' || char(10) || '2,Bo', 'name')",
        """'["Ada","Bo"]'""",
        call=csv_column,
        arity=(2, 3, 4),
    ),
    Function(
        "csv_headers",
        "csv_headers(text [, delimiter])",
        "JSON array of the cells of the first row.",
        "csv_headers('id,name' || char(10) || '1,Ada')",
        """'["id","name"]'""",
        call=csv_headers,
        arity=(1, 2),
    ),
)
