"""The functions of dates that MySQL, PostgreSQL and T-SQL have and SQLite lacks.

Dates are ISO 8601, as everywhere in SQLite; anything else gives NULL. The clock is UTC, as SQLite's is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemos.workspace.functions.base import (
    Function,
    FunctionFailed,
    Value,
    as_number,
    as_text,
    as_whole,
    shown,
)
from mnemos.workspace.functions.dates import Moment, iso_moment

if TYPE_CHECKING:
    from datetime import datetime

_UNITS = {
    name: unit
    for unit, names in {
        "year": "year years yyyy yy y",
        "quarter": "quarter quarters qq q",
        "month": "month months mm m mon mons",
        "week": "week weeks wk ww",
        "day": "day days dd d",
        "hour": "hour hours hh h hr hrs",
        "minute": "minute minutes mi n min mins",
        "second": "second seconds ss s sec secs",
    }.items()
    for name in names.split()
}
_LONG_UNITS = ("year", "quarter", "month", "week", "day")
_MONTHS_IN = {"year": 12, "quarter": 3, "month": 1}
_SECONDS_IN = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}

_PARTS: dict[str, Callable[[datetime], Value]] = {
    "year": lambda at: at.year,
    "quarter": lambda at: (at.month + 2) // 3,
    "month": lambda at: at.month,
    "week": lambda at: at.isocalendar().week,
    "day": lambda at: at.day,
    "hour": lambda at: at.hour,
    "minute": lambda at: at.minute,
    "second": lambda at: at.second,
    "dow": lambda at: at.isoweekday() % 7,
    "isodow": lambda at: at.isoweekday(),
    "doy": lambda at: at.timetuple().tm_yday,
    "epoch": lambda at: _epoch(at),
}


def now() -> Value:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())


def today() -> Value:
    return time.strftime("%Y-%m-%d", time.gmtime())


def time_of_day() -> Value:
    return time.strftime("%H:%M:%S", time.gmtime())


def unix_timestamp(*date: Value) -> Value:
    if not date:
        return int(time.time())
    moment = iso_moment(date[0])
    return None if moment is None else _epoch(moment.at)


def from_unixtime(seconds: Value) -> Value:
    # datetime: only for those who use it.
    from datetime import datetime, timedelta

    number = as_number(seconds)
    try:
        return str(Moment(datetime(1970, 1, 1) + timedelta(seconds=number), has_time=True))
    except OverflowError:
        return None


def _epoch(at: datetime) -> int:
    return (at.toordinal() - 719_163) * 86_400 + at.hour * 3_600 + at.minute * 60 + at.second


def date_trunc(unit: Value, date: Value) -> Value:
    if _is_unit(date) and not _is_unit(unit):
        # BigQuery has them the other way round, and no date is the name of a unit.
        unit, date = date, unit
    kind, moment = _unit(unit), iso_moment(date)
    if moment is None:
        return None
    # datetime: only for those who use it.
    from datetime import timedelta

    at = moment.at.replace(microsecond=0)
    if kind in _LONG_UNITS:
        at = at.replace(hour=0, minute=0, second=0)
        if kind == "week":
            # The first Monday there is has no day before it, so this stays within the calendar.
            at -= timedelta(days=at.weekday())
        elif kind != "day":
            first = {"year": 1, "quarter": (at.month - 1) // 3 * 3 + 1, "month": at.month}[kind]
            at = at.replace(month=first, day=1)
        return str(Moment(at, has_time=False))
    if kind != "second":
        at = at.replace(second=0, minute=at.minute if kind == "minute" else 0)
    return str(Moment(at, has_time=True))


def _is_unit(value: Value) -> bool:
    return isinstance(value, str) and value.strip().lower() in _UNITS


def _unit(value: Value) -> str:
    unit = _UNITS.get(as_text(value).strip().lower())
    if unit is None:
        raise FunctionFailed(f"unit is {shown(value)}; use {', '.join(map(repr, _MONTHS_IN | _SECONDS_IN))}")
    return unit


def date_part(part: Value, date: Value) -> Value:
    name = as_text(part).strip().lower()
    name = _UNITS.get(name, name)
    if name not in _PARTS:
        raise FunctionFailed(f"part is {shown(part)}; use {', '.join(map(repr, _PARTS))}")
    moment = iso_moment(date)
    return None if moment is None else _PARTS[name](moment.at)


def _part(name: str) -> Callable[[Value], Value]:
    return lambda date: date_part(name, date)


def dayofweek(date: Value) -> Value:
    moment = iso_moment(date)
    return None if moment is None else moment.at.isoweekday() % 7 + 1


def weekday(date: Value) -> Value:
    moment = iso_moment(date)
    return None if moment is None else moment.at.weekday()


def last_day(date: Value) -> Value:
    # calendar: only for those who use it.
    from calendar import monthrange

    moment = iso_moment(date)
    if moment is None:
        return None
    last = monthrange(moment.at.year, moment.at.month)[1]
    return str(Moment(moment.at.replace(day=last), has_time=False))


def datediff(first: Value, second: Value, third: Value = None) -> Value:
    if third is None:
        return _boundaries("day", second, first)
    return _boundaries(_unit(first), second, third)


def _boundaries(unit: str, start: Value, end: Value) -> Value:
    """How many times the unit changes between them, as T-SQL counts."""
    first, last = iso_moment(start), iso_moment(end)
    if first is None or last is None:
        return None
    return _number_of(unit, last.at) - _number_of(unit, first.at)


def _number_of(unit: str, at: datetime) -> int:
    """The number of the year, month, ... since the beginning of the calendar."""
    if unit in _MONTHS_IN:
        return (at.year * 12 + at.month - 1) // _MONTHS_IN[unit]
    if unit == "week":
        # Weeks begin on Sundays in T-SQL; day 7 was the first.
        return at.toordinal() // 7
    return _epoch(at) // _SECONDS_IN[unit]


def dateadd(unit: Value, number: Value, date: Value) -> Value:
    # datetime, calendar: only for those who use them.
    from calendar import monthrange
    from datetime import timedelta

    kind, count, moment = _unit(unit), as_whole(number, "number"), iso_moment(date)
    if moment is None:
        return None
    has_time = moment.has_time or kind not in _LONG_UNITS
    try:
        if kind in _SECONDS_IN:
            return str(Moment(moment.at + timedelta(seconds=count * _SECONDS_IN[kind]), has_time))
        year, month = divmod(_number_of("month", moment.at) + count * _MONTHS_IN[kind], 12)
        if not 1 <= year <= 9999:
            return None
        day = min(moment.at.day, monthrange(year, month + 1)[1])
        return str(Moment(moment.at.replace(year=year, month=month + 1, day=day), has_time))
    except OverflowError:
        return None


_FIELDS = (
    ("year", 2024),
    ("month", 2),
    ("day", 3),
    ("hour", 16),
    ("minute", 5),
    ("second", 6),
    ("quarter", 1),
)

FUNCTIONS = (
    Function(
        "now",
        "now()",
        "Date and time, YYYY-MM-DD HH:MM:SS in UTC.",
        "now()",
        call=now,
        arity=(0,),
        pure=False,
    ),
    Function("getdate", "getdate()", "Same as now().", "getdate()", call=now, arity=(0,), pure=False),
    Function(
        "curdate", "curdate()", "Today, YYYY-MM-DD in UTC.", "curdate()", call=today, arity=(0,), pure=False
    ),
    Function(
        "curtime",
        "curtime()",
        "The time, HH:MM:SS in UTC.",
        "curtime()",
        call=time_of_day,
        arity=(0,),
        pure=False,
    ),
    Function(
        "unix_timestamp",
        "unix_timestamp([date])",
        "Seconds from 1970 to a date, or to now.",
        "unix_timestamp('1970-01-02')",
        "86400",
        call=unix_timestamp,
        arity=(0, 1),
        pure=False,
    ),
    Function(
        "from_unixtime",
        "from_unixtime(seconds)",
        "The date and time of seconds since 1970.",
        "from_unixtime(86400)",
        "'1970-01-02 00:00:00'",
        call=from_unixtime,
    ),
    Function(
        "date_trunc",
        "date_trunc(unit, date)",
        "The first day of the year, quarter, month or week (Monday); to an hour, minute or second with time.",
        "date_trunc('month', '2024-02-29 10:11:12')",
        "'2024-02-01'",
        call=date_trunc,
        arity=(2,),
    ),
    Function(
        "datediff",
        "datediff([unit,] ...)",
        "Two dates: days from the second to the first, as in MySQL. With a quoted unit first: how many times"
        " it changes from the second argument to the third, as in T-SQL.",
        "datediff('month', '2024-01-31', '2024-03-01')",
        "2",
        call=datediff,
        arity=(2, 3),
    ),
    Function(
        "dateadd",
        "dateadd(unit, number, date)",
        "The date that many units later; the last day where the month is shorter. The unit is quoted.",
        "dateadd('month', 1, '2024-01-31')",
        "'2024-02-29'",
        call=dateadd,
        arity=(3,),
    ),
    Function(
        "date_part",
        "date_part(part, date)",
        "A number of the date: year, quarter, month, week, day, hour, minute, second, dow (Sunday 0), isodow,"
        " doy or epoch.",
        "date_part('week', '2024-02-29')",
        "9",
        call=date_part,
        arity=(2,),
    ),
    *(
        Function(
            name,
            f"{name}(date)",
            f"The {name} of a date, as a number.",
            f"{name}('2024-02-03 16:05:06')",
            str(answer),
            call=_part(name),
        )
        for name, answer in _FIELDS
    ),
    Function("dayofyear", "dayofyear(date)", "1 to 366.", "dayofyear('2024-02-03')", "34", call=_part("doy")),
    Function("dayofweek", "dayofweek(date)", "1 is Sunday.", "dayofweek('2024-02-04')", "1", call=dayofweek),
    Function("weekday", "weekday(date)", "0 is Monday.", "weekday('2024-02-04')", "6", call=weekday),
    Function(
        "last_day",
        "last_day(date)",
        "Last of the month.",
        "last_day('2024-02-03')",
        "'2024-02-29'",
        call=last_day,
    ),
    Function(
        "eomonth",
        "eomonth(date)",
        "Same as last_day().",
        "eomonth('2024-02-03')",
        "'2024-02-29'",
        call=last_day,
    ),
)
