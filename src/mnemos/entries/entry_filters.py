"""The filter language of entries, and its translation for the engines.

A filter is a mapping: ``{"status": "open", "size": {"$gt": 3}}``. All of its conditions must hold. Keys are
dotted paths of names; values are compared for equality, or by ``$eq``, ``$ne``, ``$gt``, ``$gte``, ``$lt``,
``$lte`` and ``$in``. ``$and`` and ``$or`` take a list of filters, ``$not`` a filter.

It is compiled to JSON: a list of alternatives, each with conditions that must all hold. An engine binds this
JSON to a fixed query, so nothing in a filter can be taken for SQL.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from mnemos.errors import InvalidInput, TooLarge

_NAME = re.compile(r"[\w-]+")
_COMPARISONS = {"$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
_MOST_CONDITIONS = 2_000

Condition = dict[str, Any]
Alternatives = list[list[Condition]]


def compile_filter(filters: Mapping[str, Any]) -> str:
    """Compile a filter for an engine. A mistake in it raises InvalidInput."""
    alternatives = _all_of(filters, (), negated=False)
    return json.dumps(alternatives, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _all_of(filters: Any, path: tuple[str, ...], *, negated: bool) -> Alternatives:
    if not isinstance(filters, Mapping):
        raise InvalidInput(f"A filter must be a mapping, not {filters!r:.100}.")
    return _join(list(_read(filters, path, negated=negated)), as_alternatives=negated)


def _read(filters: Mapping[Any, Any], path: tuple[str, ...], *, negated: bool) -> Iterator[Alternatives]:
    """Yield the conditions of each key."""
    for key, wanted in filters.items():
        if key in ("$and", "$or"):
            if not isinstance(wanted, (list, tuple)):
                raise InvalidInput(f"{key} must be a list of filters, not {wanted!r:.100}.")
            parts = [_all_of(one, path, negated=negated) for one in wanted]
            yield _join(parts, as_alternatives=(key == "$or") is not negated)
        elif key == "$not":
            yield _all_of(wanted, path, negated=not negated)
        elif isinstance(key, str) and key.startswith("$"):
            yield _compare(path, key, wanted, negated=negated)
        else:
            yield _at(path + _split(key), wanted, negated=negated)


def _at(path: tuple[str, ...], wanted: Any, *, negated: bool) -> Alternatives:
    """Return the conditions that a value states: operators, the keys of an object, or equality."""
    if isinstance(wanted, Mapping) and wanted:
        return _all_of(wanted, path, negated=negated)
    return _compare(path, "$eq", wanted, negated=negated)


def _compare(path: tuple[str, ...], operator: str, wanted: Any, *, negated: bool) -> Alternatives:
    if not path:
        raise InvalidInput(f"{operator} needs the name of a field before it.")
    if operator == "$in":
        if not isinstance(wanted, (list, tuple)):
            raise InvalidInput(f"$in needs a list, not {wanted!r:.100}.")
        parts = [_compare(path, "$eq", one, negated=negated) for one in wanted]
        return _join(parts, as_alternatives=not negated)
    if operator in ("$eq", "$ne"):
        return _condition(path, "eq", wanted, negated=negated is (operator == "$eq"))
    if operator not in _COMPARISONS:
        known = ", ".join(["$eq", "$ne", *_COMPARISONS, "$in", "$and", "$or", "$not"])
        raise InvalidInput(f"Unknown operator {operator!r} in the filter. Use {known}.")
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float, str)):
        raise InvalidInput(f"{operator} compares numbers or strings, not {wanted!r:.100}.")
    return _condition(path, _COMPARISONS[operator], wanted, negated=negated)


def _condition(path: tuple[str, ...], operator: str, wanted: Any, *, negated: bool) -> Alternatives:
    if isinstance(wanted, float) and not math.isfinite(wanted):
        if math.isnan(wanted):
            # NaN equals nothing, not even itself.
            return [[]] if negated else []
        # JSON has no infinity, and every other number compares the same way with the largest float.
        wanted = math.copysign(sys.float_info.max, wanted)
    try:
        json.dumps(wanted, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(f"The filter has a value that is not JSON: {exc}.") from exc
    where = "$" + "".join(f'."{one}"' for one in path)
    return [[{"path": where, "op": operator, "value": wanted, "not": int(negated)}]]


def _join(parts: list[Alternatives], *, as_alternatives: bool) -> Alternatives:
    """Join conditions of which one, or all, must hold. With no parts, "all" is true and "one" is false."""
    if as_alternatives:
        joined = [conditions for part in parts for conditions in part]
    else:
        count = 1
        for part in parts:
            count *= max(len(part), 1)
            if count > _MOST_CONDITIONS:
                raise TooLarge("The filter has too many alternatives. Use fewer in $or and $in.")
        joined = [[one for conditions in choice for one in conditions] for choice in product(*parts)]
    if sum(map(len, joined)) > _MOST_CONDITIONS:
        raise TooLarge(f"The filter has more than {_MOST_CONDITIONS:,} conditions. Use fewer.")
    return joined


def _split(key: Any) -> tuple[str, ...]:
    names = key.split(".") if isinstance(key, str) else [key]
    for one in names:
        if not isinstance(one, str) or not _NAME.fullmatch(one):
            raise InvalidInput(
                f"The filter has the key {key!r:.100}. Use names of letters, digits, _ and -, "
                "with a dot between those of nested fields."
            )
    return tuple(names)
