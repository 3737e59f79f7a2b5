"""What the values of a column have in common: how they are stored, their kind, range and choices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mnemos.workspace.sandbox.card import kinds
from mnemos.workspace.sandbox.card.model import Blob, Cell, Column, Range, Seen, Value

_MOST_VALUES = 8
_MOST_NUMBERS = 5
_LONGEST_VALUE = 30
# Each value comes up so often, on average, before they are taken for all there are.
_REPEATED = 3
_MOST_FIELDS = 8
_LONGEST_RANGE = 40
_WITH_RANGE = frozenset({"date", "datetime"})
_WITHOUT_CHOICES = frozenset({"json", "csv", "html", "boolean", "date", "datetime", "unix time", "unix ms"})


def of_column(column: Column, cells: Sequence[Cell], known: Range | None, *, is_whole: bool) -> Seen:
    """What these cells show; ``known`` is the range that an index gave."""
    values = [cell for cell in cells if cell is not None]
    storage = _storage(values)
    if storage not in ("integer", "real", "text"):
        return Seen(storage=storage)
    plain: list[int | float | str] = [value for value in values if isinstance(value, int | float | str)]
    kind, is_mostly = kinds.kind_of_column(column.name, column.type, plain)
    texts = [value for value in plain if isinstance(value, str)]
    choices = () if kind in _WITHOUT_CHOICES or column.key else _choices(plain)
    return Seen(
        storage=storage,
        kind=kind,
        is_mostly=is_mostly,
        fields=kinds.fields_of(texts)[:_MOST_FIELDS] if kind == "json" else (),
        range=None if choices else _range(plain, kind, known, is_whole=is_whole),
        values=choices,
    )


def _storage(values: Sequence[Cell]) -> str:
    """How the values are stored; whole numbers among others are numbers."""
    found = {type(value) for value in values}
    if not found:
        return ""
    if found == {int}:
        return "integer"
    if found <= {int, float}:
        return "real"
    if found == {str}:
        return "text"
    return "blob" if found == {Blob} else "mixed"


def _choices(values: Sequence[int | float | str]) -> tuple[Value, ...]:
    distinct = set(values)
    texts = any(isinstance(value, str) for value in distinct)
    most = _MOST_VALUES if texts else _MOST_NUMBERS
    if len(distinct) > most or len(values) < _REPEATED * len(distinct):
        return ()
    if any(len(value) > _LONGEST_VALUE for value in distinct if isinstance(value, str)):
        return ()
    return tuple(sorted(distinct, key=str if texts else None))


def _range(
    values: Sequence[int | float | str], kind: str, known: Range | None, *, is_whole: bool
) -> Range | None:
    if kind == "boolean":
        return None
    if known is not None:
        return known if _has_order(known, kind) else None
    if not values:
        return None
    if isinstance(values[0], str) and kind not in _WITH_RANGE:
        return None
    found = Range(min(values), max(values), is_whole)
    return found if _has_order(found, kind) else None


def _has_order(found: Range, kind: str) -> bool:
    """Whether the two ends say something: numbers, or days that sort as they are written."""
    low, high = found.low, found.high
    if isinstance(low, str) and isinstance(high, str):
        return (
            kind in _WITH_RANGE
            and max(len(low), len(high)) <= _LONGEST_RANGE
            and kinds.is_day(low)
            and kinds.is_day(high)
        )
    return not any(value is None or isinstance(value, str) or math.isnan(value) for value in (low, high))
