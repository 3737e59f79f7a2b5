"""Arithmetic on dates, and parts of them, as other databases write it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

# How other databases call a unit, and how many of which unit of SQLite's modifiers it is.
_UNITS = {
    name: unit
    for names, unit in {
        "SECOND SECONDS SEC SECS SS S": (1, "second"),
        "MINUTE MINUTES MIN MINS MI": (1, "minute"),
        "HOUR HOURS HH HR HRS": (1, "hour"),
        "DAY DAYS DD D DAYOFYEAR DY": (1, "day"),
        "WEEK WEEKS WK WW": (7, "day"),
        "MONTH MONTHS MM MON MONS M": (1, "month"),
        "QUARTER QUARTERS QQ Q": (3, "month"),
        "YEAR YEARS YY YYYY Y YRS": (1, "year"),
        "DECADE DECADES": (10, "year"),
    }.items()
    for name in names.split()
}
_TIMES = frozenset({"second", "minute", "hour"})
_AMOUNT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*(?:,|and\b)?", re.IGNORECASE)
_TODAY = frozenset({"CURRENT_DATE", "CURDATE", "DATE", "DATE_TRUNC", "TODAY"})
_NOW = frozenset(
    {"NOW", "CURRENT_TIMESTAMP", "GETDATE", "DATETIME", "SYSDATE", "LOCALTIMESTAMP", "SYSDATETIME"}
)

INTERVALS = (
    "SQLite has no INTERVAL; date(x, '+7 days') moves a date, datetime(x, '-3 hours') one with its time"
)


@dataclass(frozen=True, slots=True)
class _Shift:
    """How far to move: the modifiers of SQLite's date functions, each an expression."""

    modifiers: tuple[str, ...]
    has_time: bool


def _shift(amount: str, unit: str, *, back: bool) -> _Shift | None:
    """So many units; the amount is a number, or an expression that gives one."""
    if unit.upper() not in _UNITS:
        return None
    times, name = _UNITS[unit.upper()]
    bare = amount.strip().strip("'")
    if re.fullmatch(r"[+-]?\s*\d+", bare):
        number = int(bare.replace(" ", "")) * times * (-1 if back else 1)
        modifier = f"'{number:+d} {name}{'' if abs(number) == 1 else 's'}'"
    else:
        factor = "" if times == 1 else f"{times} * "
        modifier = f"({'-' if back else ''}{factor}({amount})) || ' {name}s'"
    return _Shift((modifier,), name in _TIMES)


def _said(string: str, *, back: bool) -> _Shift | None:
    """What PostgreSQL writes in one string: ``'1 year 2 months'``."""
    inside, position = string.strip("'").strip(), 0
    modifiers: list[str] = []
    has_time = False
    while position < len(inside):
        match = _AMOUNT.match(inside, position)
        shift = _shift(match[1], match[2], back=back) if match else None
        if match is None or shift is None:
            return None
        modifiers += shift.modifiers
        has_time |= shift.has_time
        position = match.end()
    return _Shift(tuple(modifiers), has_time) if modifiers else None


def _moved(base: str, shift: _Shift) -> str:
    """The base moved; a bare column is taken for a date unless the shift is smaller than a day."""
    word = re.match(r"\w*", base)
    name = word[0].upper() if word else ""
    keeps_time = shift.has_time or (name in _NOW and name not in _TODAY)
    base = re.sub(r"(?i)^now\(\)$|^getdate\(\)$|^current_timestamp$|^sysdate(time)?\(\)$", "'now'", base)
    base = re.sub(r"(?i)^current_date(\(\))?$|^curdate\(\)$", "'now'", base)
    if nested := re.fullmatch(r"(date|datetime)\((.*)\)", base, re.DOTALL):
        # Two shifts in a row are modifiers of one call, if the first is ours.
        base = (
            nested[2]
            if base.count("(") == 1 and nested[1] == ("datetime" if keeps_time else "date")
            else base
        )
    return f"{'datetime' if keeps_time else 'date'}({base}, {', '.join(shift.modifiers)})"


def _interval(text: Text, index: int, *, back: bool) -> tuple[_Shift, int] | None:
    """The interval at the word INTERVAL, and the token after it."""
    last = text.operand_after(index + 1)
    if last is None:
        return None
    amount = text.source(index + 1, last)
    if text.word(last) in _UNITS:
        shift = _shift(amount, text.word(last), back=back)
        return (shift, last + 1) if shift else None
    shift = _said(amount, back=back) if text.kind(index + 1) is Kind.STRING else None
    return (shift, last) if shift else None


def intervals(text: Text, _schema: Schema) -> Iterable[Change]:
    """``x - INTERVAL '7 days'``, ``x + INTERVAL 1 MONTH``."""
    for index in text.places("INTERVAL"):
        sign = text.word(index - 1)
        if sign not in ("+", "-"):
            if text.operand_after(index + 1) is not None and text.word(index - 1) != ",":
                yield Change(INTERVALS)
            continue
        first, found = text.operand_before(index - 1), _interval(text, index, back=sign == "-")
        if first is None or found is None or text.word(first - 1) == "INTERVAL" or text.word(first) in _UNITS:
            yield Change(INTERVALS)
            continue
        shift, last = found
        base = text.source(first, index - 1)
        if text.word(first - 1) in ("DATE", "TIMESTAMP"):
            first -= 1
        yield Change(INTERVALS, (Edit(first, last, _moved(base, shift)),))


_ADDING = {"DATE_ADD": False, "ADDDATE": False, "DATE_SUB": True, "SUBDATE": True, "TIMESTAMP_ADD": False}


def additions(text: Text, schema: Schema) -> Iterable[Change]:
    """``DATE_ADD(x, INTERVAL 1 MONTH)``, ``DATEADD(day, 7, x)``, ``TIMESTAMPADD(day, 7, x)``."""
    for index, word in enumerate(text.words):
        arguments = text.arguments(index + 1) if text.word(index + 1) == "(" else []
        closed = text.closes.get(index + 1, index)
        if word in _ADDING and len(arguments) == 2:
            one, two = arguments
            if text.word(two[0]) == "INTERVAL":
                found = _interval(text, two[0], back=_ADDING[word])
                shift = found[0] if found else None
            else:
                shift = _shift(text.source(*two), "DAY", back=_ADDING[word])
            if shift:
                yield Change(_called(word), (Edit(index, closed + 1, _moved(text.source(*one), shift)),))
        elif word in ("DATEADD", "TIMESTAMPADD") and len(arguments) == 3:
            unit, amount, base = (text.source(*argument) for argument in arguments)
            if schema.has_function(word):
                yield from _quoted_unit(text, index, arguments[0])
            elif shift := _shift(amount, unit.strip("'"), back=False):
                yield Change(_called(word), (Edit(index, closed + 1, _moved(base, shift)),))


def _called(word: str) -> str:
    return f"SQLite has no {word}; date(x, '+7 days') and datetime(x, '+3 hours') move dates"


def _quoted_unit(text: Text, index: int, argument: tuple[int, int]) -> Iterable[Change]:
    """Our own function takes the unit as a string."""
    first, last = argument
    if last - first == 1 and text.kind(first) is Kind.WORD and text.word(first) in _UNITS:
        name = text.tokens[index].text
        why = f"{name} takes its unit in quotes here"
        yield Change(why, (Edit(first, last, f"'{text.tokens[first].text.lower()}'"),))


# How strftime writes a part, and what is done with the number.
_PARTS = {
    name: code
    for code, names in {
        "%Y": "YEAR YEARS YYYY YY",
        "%G": "ISOYEAR",
        "%m": "MONTH MM",
        "%V": "WEEK WK ISO_WEEK WEEKOFYEAR",
        "%j": "DOY DAYOFYEAR DY",
        "%d": "DAY DD DAYOFMONTH",
        "%w": "DOW DAYOFWEEK WEEKDAY DW",
        "%u": "ISODOW",
        "%H": "HOUR HH",
        "%M": "MINUTE MI",
        "%S": "SECOND SS",
        "%s": "EPOCH",
    }.items()
    for name in names.split()
}


def _part(unit: str, value: str) -> str | None:
    name = unit.strip("'").upper()
    if name in ("QUARTER", "QQ", "Q"):
        return f"(CAST(strftime('%m', {value}) AS INTEGER) + 2) / 3"
    return f"CAST(strftime('{_PARTS[name]}', {value}) AS INTEGER)" if name in _PARTS else None


_NAMES = {"MONTH": "monthname", "MM": "monthname", "WEEKDAY": "dayname", "DW": "dayname"}


def _between(text: Text, unit: str, first: int, last: int) -> str | None:
    """``EXTRACT(EPOCH FROM (a - b))``: dates are text in SQLite and cannot be subtracted."""
    if text.word(first) == "(" and text.closes.get(first) == last - 1:
        first, last = first + 1, last - 1
    minus = text.find(first + 1, last, "-")
    if (
        minus is None
        or text.word(minus + 1) == "INTERVAL"
        or text.find(minus + 1, last, "-", "+") is not None
    ):
        return None
    one, two = text.source(first, minus), text.source(minus + 1, last)
    if unit == "EPOCH":
        return f"(unixepoch({one}) - unixepoch({two}))"
    return f"CAST(julianday({one}) - julianday({two}) AS INTEGER)" if unit in ("DAY", "DAYS") else None


def parts(text: Text, schema: Schema) -> Iterable[Change]:
    """``EXTRACT(YEAR FROM x)``, ``DATEPART(year, x)``, ``DATE_PART('year', x)``, ``YEAR(x)``."""
    for index, word in enumerate(text.words):
        closed = text.closes.get(index + 1)
        if closed is None or text.kind(index) is not Kind.WORD:
            continue
        arguments = text.arguments(index + 1)
        made = None
        if word == "EXTRACT" and text.word(index + 3) == "FROM":
            made = _between(text, text.word(index + 2), index + 4, closed)
            made = made or _part(text.word(index + 2), text.source(index + 4, closed))
        elif word == "DATENAME" and len(arguments) == 2 and text.word(arguments[0][0]) in _NAMES:
            made = f"{_NAMES[text.word(arguments[0][0])]}({text.source(*arguments[1])})"
            made = made if schema.has_function(made.partition("(")[0]) else None
        elif word in ("DATEPART", "DATE_PART", "DATENAME") and len(arguments) == 2:
            if schema.has_function(word):
                yield from _quoted_unit(text, index, arguments[0])
                continue
            made = _part(text.source(*arguments[0]), text.source(*arguments[1]))
        elif word in _PARTS and len(arguments) == 1 and not schema.has_function(word):
            made = _part(word, text.source(*arguments[0]))
        if made:
            why = f"SQLite has no {word}(...); strftime gives the parts of a date"
            yield Change(why, (Edit(index, closed + 1, made),))


# From one date to another, in units: how the difference of their Julian days becomes that number.
_FACTORS = {"second": 86400, "minute": 1440, "hour": 24, "day": 1}


def differences(text: Text, schema: Schema) -> Iterable[Change]:
    """``DATEDIFF(day, a, b)`` and ``TIMESTAMPDIFF(DAY, a, b)``."""
    for index, word in enumerate(text.words):
        arguments = text.arguments(index + 1) if text.word(index + 1) == "(" else []
        if word not in ("DATEDIFF", "TIMESTAMPDIFF", "DATE_DIFF") or len(arguments) != 3:
            continue
        if schema.has_function(word):
            yield from _quoted_unit(text, index, arguments[0])
            continue
        unit, one, two = (text.source(*argument) for argument in arguments)
        times, name = _UNITS.get(unit.strip("'").upper(), (0, ""))
        made = _difference(times, name, one, two)
        if made:
            why = f"SQLite has no {word}; the difference of two julianday(x) is in days"
            yield Change(why, (Edit(index, text.closes[index + 1] + 1, made),))


def _difference(times: int, name: str, one: str, two: str) -> str | None:
    if name in _FACTORS:
        factor = _FACTORS[name]
        scaled = f"(julianday({two}) - julianday({one}))" + (f" * {factor}" if factor > 1 else "")
        return (
            f"CAST(round({scaled}) / {times} AS INTEGER)"
            if times > 1
            else f"CAST(round({scaled}) AS INTEGER)"
        )
    years = f"strftime('%Y', {two}) - strftime('%Y', {one})"
    if name == "year":
        return f"({years}) / {times}" if times > 1 else f"({years})"
    if name == "month":
        months = f"(({years}) * 12 + strftime('%m', {two}) - strftime('%m', {one}))"
        return f"{months} / {times}" if times > 1 else months
    return None


def truncations(text: Text, schema: Schema) -> Iterable[Change]:
    """``DATETRUNC(month, x)`` and ``DATE_TRUNC(month, x)`` with a bare unit."""
    for index, word in enumerate(text.words):
        if word not in ("DATE_TRUNC", "DATETRUNC") or text.word(index + 1) != "(":
            continue
        arguments = text.arguments(index + 1)
        has_unit = bool(arguments) and text.word(arguments[0][0]).strip("'").upper() in _UNITS
        if (
            len(arguments) == 2
            and text.word(arguments[1][0]) in _UNITS
            and word == "DATE_TRUNC"
            and not has_unit
        ):
            # BigQuery has the unit last.
            unit = f"'{text.source(*arguments[1]).lower()}'"
            new = f"{unit}, {text.source(*arguments[0])}"
            why = "DATE_TRUNC takes its unit first, in quotes, here"
            yield Change(why, (Edit(arguments[0][0], arguments[1][1], new),))
        elif arguments and schema.has_function(word):
            yield from _quoted_unit(text, index, arguments[0])
        elif arguments and word == "DATETRUNC" and schema.has_function("DATE_TRUNC"):
            yield Change("the function is DATE_TRUNC here", (Edit(index, index + 1, "DATE_TRUNC"),))


def zones(text: Text, _schema: Schema) -> Iterable[Change]:
    """``x AT TIME ZONE 'UTC'``, of which only UTC can be left out."""
    for index in text.places("AT", "TIME", "ZONE"):
        why = "SQLite has no time zones: times are UTC, and datetime(x, '+02:00') moves one"
        harmless = text.word(index + 3).upper() in ("'UTC'", "'GMT'", "'Z'")
        yield Change(why, (Edit(index, index + 4, ""),) if harmless else ())


_UNIT_WORDS = frozenset({"DATEDIFF", "TIMESTAMPDIFF", "DATE_DIFF"})
RULES = (
    (frozenset({"INTERVAL"}), intervals),
    (frozenset(_ADDING) | {"DATEADD", "TIMESTAMPADD"}, additions),
    (frozenset(_PARTS) | {"EXTRACT", "DATEPART", "DATE_PART", "DATENAME", "QUARTER"}, parts),
    (_UNIT_WORDS, differences),
    (frozenset({"DATE_TRUNC", "DATETRUNC"}), truncations),
    (frozenset({"ZONE"}), zones),
)
