"""Functions under the names of other databases, which models write: one row of a table each."""

from __future__ import annotations

import time
from collections.abc import Callable

from mnemos.workspace.functions import dates, patterns
from mnemos.workspace.functions.dates import apply
from mnemos.workspace.functions.function import (
    Function,
    FunctionFailed,
    Value,
    as_text,
    as_whole,
    count_arguments,
    refuse_longer,
)

_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _repeat(text: Value, count: Value) -> Value:
    whole, times = as_text(text), max(as_whole(count, "count"), 0)
    refuse_longer(len(whole) * times, "the result")
    return whole * times


def _right(text: Value, count: Value) -> Value:
    whole, size = as_text(text), as_whole(count, "count")
    return whole[max(len(whole) - size, 0) :] if size >= 0 else whole[-size:]


def _lpad(text: Value, length: Value, fill: Value = " ") -> Value:
    whole, padding = _cut_and_fill(text, length, fill)
    return padding + whole


def _rpad(text: Value, length: Value, fill: Value = " ") -> Value:
    whole, padding = _cut_and_fill(text, length, fill)
    return whole + padding


def _cut_and_fill(text: Value, length: Value, fill: Value) -> tuple[str, str]:
    """Return the text cut to the length, and the padding that it lacks."""
    wanted = max(as_whole(length, "length"), 0)
    refuse_longer(wanted, "the result")
    whole, unit = as_text(text)[:wanted], as_text(fill)
    missing = wanted - len(whole)
    return whole, (unit * (missing // len(unit) + 1))[:missing] if unit else ""


def _locate(part: Value, text: Value, start: Value = 1) -> Value:
    first = as_whole(start, "start")
    return as_text(text).find(as_text(part), first - 1) + 1 if first >= 1 else 0


def _greatest(*values: Value) -> Value:
    return max(_check_any(values), key=order_of)


def _least(*values: Value) -> Value:
    return min(_check_any(values), key=order_of)


def _check_any(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if not values:
        raise FunctionFailed("there is nothing to compare; give two or more values")
    return values


def order_of(value: Value) -> tuple[int, Value]:
    """Return a key that sorts as SQLite does: numbers, then text, then blobs."""
    return (2, value) if isinstance(value, bytes) else (1, value) if isinstance(value, str) else (0, value)


def _unix_timestamp(date: Value = None) -> Value:
    return int(time.time()) if date is None else dates.date_part("epoch", date)


def _part(name: str) -> Callable[[Value], Value]:
    return lambda date: dates.date_part(name, date)


# Signature, documentation, example, its result, what is called.
_Row = tuple[str, str, str, str, Callable[..., Value]]
_PURE: tuple[_Row, ...] = (
    ("len(text)", "Number of characters.", "len('naïve')", "5", lambda text: len(as_text(text))),
    ("char_length(text)", "Same as len(text).", "char_length('naïve')", "5", lambda text: len(as_text(text))),
    ("left(text, count)", "The first characters; a negative count leaves out the last ones.",
     "left('abcdef', 2)", "'ab'", lambda text, count: as_text(text)[: as_whole(count, "count")]),
    ("right(text, count)", "The last characters; a negative count leaves out the first ones.",
     "right('abcdef', 2)", "'ef'", _right),
    ("reverse(text)", "The characters in reverse order.", "reverse('abc')", "'cba'",
     lambda text: as_text(text)[::-1]),
    ("lpad(text, length [, fill])", "Padded on the left, or cut, to the length.", "lpad(7, 3, '0')",
     "'007'", _lpad),
    ("rpad(text, length [, fill])", "Padded on the right, or cut, to the length.", "rpad('ab', 4, '.')",
     "'ab..'",
     _rpad),
    ("repeat(text, count)", "The text, count times.", "repeat('ab', 2)", "'abab'", _repeat),
    ("space(count)", "That many blanks.", "space(2)", "'  '", lambda count: _repeat(" ", count)),
    ("ucase(text)", "Upper case in every script.", "ucase('é')", "'É'", lambda text: as_text(text).upper()),
    ("lcase(text)", "Lower case in every script.", "lcase('É')", "'é'", lambda text: as_text(text).lower()),
    ("strpos(text, part)", "Position of the part, from 1; 0 if it is missing.", "strpos('banana', 'nan')",
     "3",
     lambda text, part: _locate(part, text)),
    ("locate(part, text [, start])", "Position of the part in the text, from 1; 0 if it is missing.",
     "locate('an', 'banana', 3)", "4", _locate),
    ("charindex(part, text [, start])", "Same as locate.", "charindex('an', 'banana', 3)", "4", _locate),
    ("starts_with(text, part)", "1 or 0.", "starts_with('abc', 'ab')", "1",
     lambda text, part: int(as_text(text).startswith(as_text(part)))),
    ("ends_with(text, part)", "1 or 0.", "ends_with('abc', 'bc')", "1",
     lambda text, part: int(as_text(text).endswith(as_text(part)))),
    ("contains(text, part)", "1 or 0.", "contains('abc', 'b')", "1",
     lambda text, part: int(as_text(part) in as_text(text))),
    ("greatest(value, ...)", "The largest value; NULL if one is NULL.", "greatest(3, 10, 7)", "10",
     _greatest),
    ("least(value, ...)", "The smallest value; NULL if one is NULL.", "least(3, 10, 7)", "3", _least),
    ("regexp_substr(text, pattern)", "The whole first match; NULL without one.",
     "regexp_substr('a1b22', '[0-9]+')", "'1'",
     lambda text, pattern: patterns.regexp_extract(text, pattern, 0)),
    ("from_unixtime(seconds)", "Date and time of seconds since 1970.", "from_unixtime(86400)",
     "'1970-01-02 00:00:00'", dates.from_epoch),
    *((f"{name}(date)", f"The {name} of a date, as a number.", f"{name}('2024-02-03 16:05:06')", gives,
       _part(name))
      for name, gives in zip("year month day hour minute second quarter".split(), "2024 2 3 16 5 6 1".split(),
                             strict=True)),
    ("dayofyear(date)", "1 to 366.", "dayofyear('2024-02-03')", "34", lambda date: dates.date_part("doy",
     date)),
    ("dayofweek(date)", "1 is Sunday.", "dayofweek('2024-02-04')", "1",
     lambda date: apply(date, lambda at: at.isoweekday() % 7 + 1)),
    ("weekday(date)", "0 is Monday.", "weekday('2024-02-04')", "6", lambda date: apply(date,
     lambda at: at.weekday())),
    ("monthname(date)", "In English.", "monthname('2024-02-03')", "'February'",
     lambda date: apply(date, lambda at: _MONTHS[at.month - 1])),
    ("dayname(date)", "In English.", "dayname('2024-02-03')", "'Saturday'",
     lambda date: apply(date, lambda at: _DAYS[at.weekday()])),
    ("last_day(date)", "The last day of the month.", "last_day('2024-02-03')", "'2024-02-29'",
     dates.end_of_month),
    ("eomonth(date)", "Same as last_day(date).", "eomonth('2024-02-03')", "'2024-02-29'", dates.end_of_month),
)  # fmt: skip

_OF_THE_CLOCK: tuple[_Row, ...] = (
    ("now()", "Date and time in UTC, YYYY-MM-DD HH:MM:SS.", "now()", "",
     lambda: time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())),
    ("getdate()", "Same as now().", "getdate()", "", lambda: time.strftime("%Y-%m-%d %H:%M:%S",
     time.gmtime())),
    ("curdate()", "Today in UTC, YYYY-MM-DD.", "curdate()", "", lambda: time.strftime("%Y-%m-%d",
     time.gmtime())),
    ("curtime()", "The time in UTC, HH:MM:SS.", "curtime()", "", lambda: time.strftime("%H:%M:%S",
     time.gmtime())),
    ("unix_timestamp([date])", "Seconds from 1970 to a date, or to now.", "unix_timestamp('1970-01-02')",
     "86400",
     _unix_timestamp),
)  # fmt: skip

_OF_NULL: tuple[_Row, ...] = (
    ("nvl(value, other)", "The value, or the other one if it is NULL.", "nvl(NULL, 'none')", "'none'",
     lambda value, other: other if value is None else value),
    ("nvl2(value, present, absent)", "The second if the first is not NULL, otherwise the third.",
     "nvl2(NULL, 'yes', 'no')", "'no'", lambda value, present, absent: absent if value is None else present),
)  # fmt: skip

_OF_SQLITE = (
    ("concat(value, ...)", "All values as one text; NULL is left out.", "concat('a', NULL, 1)", "'a1'",
     (-1,)),
    ("concat_ws(separator, value, ...)", "The values that are not NULL, with the separator between them.",
     "concat_ws(', ', 'a', NULL, 'b')", "'a, b'", (-1,)),
    ("if(condition, value, other)", "The value if the condition is true, otherwise the other; also iif().",
     "if(1 < 2, 'yes', 'no')", "'yes'", (2, 3)),
    ("string_agg(text, separator)", "The texts of all rows as one; also group_concat().",
     "string_agg(column1, '-') FROM (VALUES ('a'), ('b'))", "'a-b'", (2,)),
)  # fmt: skip


def _make(row: _Row) -> Function:
    signature, doc, example, gives, call = row
    name = signature.partition("(")[0]
    return Function(name, signature, doc, example, gives, call=call, arity=count_arguments(call))


FUNCTIONS = (
    *map(_make, _PURE),
    *(_make(row)._replace(pure=False) for row in _OF_THE_CLOCK),
    *(_make(row)._replace(wants_null=True) for row in _OF_NULL),
    *(
        Function(signature.partition("(")[0], signature, doc, example, gives, arity=arity, builtin=True)
        for signature, doc, example, gives, arity in _OF_SQLITE
    ),
)
