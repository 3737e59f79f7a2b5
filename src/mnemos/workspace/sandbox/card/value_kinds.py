"""The kind of a column's values (an address, a date, an amount), their range and their choices."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date

import msgspec

from mnemos.workspace.sandbox.card.table_description import (
    Blob,
    Cell,
    Column,
    ColumnSummary,
    Value,
)

LONGEST = 1_000
"""Characters of a value that are looked at; a longer one is cut there."""
_LOOKED_AT = 100

_EMAIL = re.compile(r"[\w.+'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s/?#]{2,255}(?:[/?#]\S{0,2000})?", re.IGNORECASE)
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ](?:[01][0-9]|2[0-4]):[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?"
    r"(?:\s?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
)
_GROUPED = r"[+-]?[0-9]{1,3}(?:[.,' \u00a0\u202f]?[0-9]{3}){0,6}(?:[.,][0-9]{1,4})?"
_CURRENCY = r"(?:[$€£¥₹₽₩₺₫₴₦₪฿]|US\$|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|zł|kr)"
_MONEY = re.compile(rf"-?\(?{_CURRENCY}\s?{_GROUPED}\)?|-?\(?{_GROUPED}\s?{_CURRENCY}\)?")
_OF_MONEY = re.compile(
    r"(?:^|_)(?:price|cost|amount|fee|salary|revenue|balance|paid|budget|discount|tax|vat|net|gross|total|subtotal"
    r"|eur|usd|gbp|chf|dollars|euros|money|payment|income|expense|spend|wage)s?(?:_|$)"
)
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def find_kind(name: str, declared: str, values: Sequence[int | float | str]) -> str:
    """Return the kind that all values are of, as far as they are looked at; empty if there is none."""
    looked_at = values[:: -(-len(values) // _LOOKED_AT)] if len(values) > _LOOKED_AT else values
    found = {
        find_kind_of_text(value) if isinstance(value, str) else _kind_of_number(name, declared)
        for value in looked_at
    }
    if found == {"date", "datetime"}:
        return "datetime"
    return found.pop() if len(found) == 1 else ""


def find_kind_of_text(text: str) -> str:
    """Return the kind of a text; empty for a plain one."""
    text = text.strip()
    if not text:
        return ""
    first = text[0]
    if first in "{[":
        return "json" if _is_json(text) else ""
    if len(text) < 400:
        if kind := _kind_of_short(text):
            return kind
    elif _URL.fullmatch(text):
        return "url"
    return "csv" if "\n" in text and _is_csv(text) else ""


def is_day(text: str) -> bool:
    """True if a text begins with a day of the calendar, so that texts sort as days do."""
    match = _DAY.match(text)
    return match is not None and _exists(match)


def _kind_of_short(text: str) -> str:
    if "@" in text and _EMAIL.fullmatch(text):
        return "email"
    if ("://" in text[:20] or text[:4].lower() == "www.") and _URL.fullmatch(text):
        return "url"
    if not any(sign.isdigit() for sign in text[:12]):
        return ""
    for kind, matches in _BY_DIGITS:
        found = matches.fullmatch(text)
        if found is None:
            continue
        if kind in ("date", "datetime") and not _exists(found):
            return ""
        return kind
    return ""


_BY_DIGITS = (
    ("date", _DAY),
    ("datetime", _MOMENT),
    ("money", _MONEY),
)


def _exists(day: re.Match[str]) -> bool:
    try:
        date(int(day[1]), int(day[2]), int(day[3]))
    except ValueError:
        return False
    return True


def _kind_of_number(name: str, declared: str) -> str:
    """Say by its name whether a number is an amount of money."""
    said = _WORD_BEGINS.sub("_", name[:200]).lower()
    is_money = _OF_MONEY.search(said) or "MONEY" in declared.upper() or "CURRENCY" in declared.upper()
    return "money" if is_money else ""


def _is_json(text: str) -> bool:
    if len(text) >= LONGEST:
        # The end is not there to be looked at.
        return re.match(r"""\{\s*["}]|\[\s*(?:["{\[\]0-9-]|true|false|null)""", text) is not None
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


def _is_csv(text: str) -> bool:
    """True if every line has the same number of separators, one at least."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(text) >= LONGEST:
        lines = lines[:-1]
    if len(lines) < 2:
        return False
    for separator in ",;\t|":
        counts = {line.count(separator) for line in lines if '"' not in line}
        if len(counts) == 1 and counts != {0}:
            # Two lines of prose may have a comma each.
            return len(lines) > 2 or separator != "," or ", " not in lines[0]
    return False


# --- one column ---------------------------------------------------------------------------------

_MOST_VALUES = 8
_MOST_NUMBERS = 5
_LONGEST_VALUE = 30
# Each value comes up so often, on average, before they are taken for all there are.
_REPEATED = 3
_LONGEST_RANGE = 40
_WITH_RANGE = frozenset({"date", "datetime"})
_WITHOUT_CHOICES = frozenset({"json", "csv", "date", "datetime"})


def summarize_column(column: Column, cells: Sequence[Cell]) -> ColumnSummary:
    values = [cell for cell in cells if cell is not None]
    storage = _storage(values)
    if storage not in ("integer", "real", "text"):
        return ColumnSummary(storage=storage)
    plain: list[int | float | str] = [value for value in values if isinstance(value, int | float | str)]
    kind = find_kind(column.name, column.type, plain)
    choices = () if kind in _WITHOUT_CHOICES or column.key else _choices(plain)
    return ColumnSummary(
        storage=storage,
        kind=kind,
        range=None if choices else _range(plain, kind),
        values=choices,
    )


def _storage(values: Sequence[Cell]) -> str:
    """Return how the values are stored; whole numbers among others are real."""
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


def _range(values: Sequence[int | float | str], kind: str) -> tuple[Value, Value] | None:
    """Return the range of numbers, or of days that sort as they are written."""
    if not values:
        return None
    if isinstance(values[0], str) and kind not in _WITH_RANGE:
        return None
    low, high = min(values), max(values)
    if isinstance(low, str) and isinstance(high, str):
        has_order = max(len(low), len(high)) <= _LONGEST_RANGE and is_day(low) and is_day(high)
    else:
        has_order = not any(isinstance(value, float) and math.isnan(value) for value in (low, high))
    return (low, high) if has_order else None
