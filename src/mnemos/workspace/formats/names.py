"""Names of columns: whether the first record has them, and making them fit a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from mnemos.errors import TooLarge
from mnemos.workspace.formats.cells import resembles_number
from mnemos.workspace.formats.model import Limits

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
# Dates and times, addresses of mail and of pages: values, not names.
_VALUE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}:\d\d.*|[^@\s]+@[^@\s]+\.\w+|\w+://.*", re.DOTALL
)
_YEAR = re.compile(r"(?:19|20)\d\d")
# A longer first cell is prose.
_LONGEST_NAME = 100
# A first record is compared with so many others, and so much of their cells.
FOLLOWING = 200
COMPARED = _LONGEST_NAME + 1


def tidy(names: Iterable[str], limits: Limits) -> list[str]:
    """The names stripped and bounded; empty ones become ``column_3``, and none is like another.

    SQLite does not tell names apart by case, so ``ID`` after ``id`` becomes ``ID_2``.
    """
    given = list(names)
    checked_count(len(given), limits)
    plain = [
        " ".join(_UNPRINTABLE.sub(" ", name[: limits.name * 4]).split())[: limits.name] for name in given
    ]
    return distinct(
        [name.strip() or f"column_{place}" for place, name in enumerate(plain, 1)], longest=limits.name
    )


def distinct(names: Iterable[str], *, longest: int = 1_000) -> list[str]:
    """The names, in which no two are the same but for case: ``name``, ``name_2``, ``name_3``."""
    taken: dict[str, int] = {}
    return [_distinct(name, taken, longest) for name in names]


def checked_count(columns: int, limits: Limits) -> int:
    if columns > limits.columns:
        raise TooLarge(
            f"the file has {columns:,} columns; at most {limits.columns:,} fit a table: leave some out, or "
            "turn columns into rows"
        )
    return columns


def looks_like_header(
    first: Sequence[str], are_numbers: Sequence[bool], following: Sequence[Sequence[str]]
) -> bool:
    """Whether a record names the columns under it.

    ``are_numbers``: for each column, whether all of the file under the record is numbers; ``following``: the
    records right after it.
    """
    cells = [cell.strip() for cell in first]
    named = [cell for cell in cells if cell]
    if not named:
        return False
    if any(
        is_number and cell and not resembles_number(cell)
        for cell, is_number in zip(cells, are_numbers, strict=True)
    ):
        return True
    figures = [cell for cell in named if resembles_number(cell)]
    if figures:
        return len(figures) < len(named) and _are_years(figures)
    if any(len(cell) > _LONGEST_NAME or _VALUE.fullmatch(cell) for cell in named):
        return False
    if len({cell.lower() for cell in named}) < len(named):
        return False
    return not _come_again(first, following)


def _come_again(first: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """More than half of the cells are also values further down: then they are values here too."""
    again = sum(
        bool(cell) and any(record[place] == cell for record in following) for place, cell in enumerate(first)
    )
    return again * 2 > len(first)


def _are_years(cells: Sequence[str]) -> bool:
    """Columns of a table that goes through the years."""
    if not all(map(_YEAR.fullmatch, cells)):
        return False
    years = [int(cell) for cell in cells]
    steps = {after - before for before, after in pairwise(years)}
    return len(steps) == 1 and steps != {0}


def _distinct(name: str, taken: dict[str, int], longest: int) -> str:
    """``taken``: the names so far, each with the last number that was tried after it."""
    key = name.lower()
    if key not in taken:
        taken[key] = 1
        return name
    while True:
        taken[key] += 1
        ending = f"_{taken[key]}"
        candidate = name[: longest - len(ending)] + ending
        if candidate.lower() not in taken:
            taken[candidate.lower()] = 1
            return candidate
