"""Stretches of local time: weeks, months, seasons, holidays, and their distance from a day.

All times are naive, as a wall clock shows them. A stretch outside the calendar (before the year 1, after
9999) raises ValueError or OverflowError.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
_NONE: Final = timedelta(0)
_TWO_MONTHS: Final = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Stretch:
    """From ``start`` to before ``end``; people who round may mean ``slack`` more on either side.

    ``elapsed``: counted from now in hours and minutes, whatever happens to the clocks in between.
    """

    start: datetime
    end: datetime
    slack: timedelta = _NONE
    elapsed: bool = False


class Lean(Enum):
    """The choice among times with one name: the latest, the next, or the nearest."""

    PAST = -1
    NEAR = 0
    FUTURE = 1


def day(of: datetime) -> Stretch:
    start = of.replace(hour=0, minute=0, second=0, microsecond=0)
    return Stretch(start, start + DAY)


def days(first: datetime, last: datetime) -> Stretch:
    """Return both days and those between."""
    return Stretch(day(first).start, day(last).end)


def week(of: datetime) -> Stretch:
    """Return Monday to Sunday; the day of slack covers weeks that begin on Sunday."""
    monday = day(of).start - of.weekday() * DAY
    return Stretch(monday, monday + _WEEK, DAY)


def weekend(of: datetime) -> Stretch:
    monday = week(of).start
    return Stretch(monday + 5 * DAY, monday + _WEEK)


def month(year_number: int, number: int) -> Stretch:
    start = datetime(year_number, number, 1)
    return Stretch(start, start + monthrange(year_number, number)[1] * DAY)


def months(year_number: int, number: int, count: int) -> Stretch:
    start = datetime(year_number, number, 1)
    return Stretch(start, shift(start, count, "month"))


def year(number: int) -> Stretch:
    return months(number, 1, 12)


def part_of_day(of: datetime, hours: tuple[int, int]) -> Stretch:
    start = day(of).start
    return Stretch(start + timedelta(hours=hours[0]), start + timedelta(hours=hours[1]))


def third(whole: Stretch, which: int) -> Stretch:
    """Return the early, middle or late part: whole months of a year or season, ten days of a month."""
    length = (whole.end - whole.start).days
    count, unit = (length // 90, "month") if length >= 90 else (max(1, length // 3), "day")
    start = shift(whole.start, which * count, unit)
    return Stretch(start, whole.end if which == 2 else shift(start, count, unit))


def shift(moment: datetime, count: int, unit: str) -> datetime:
    """Return the moment ``count`` units later; a day that the month lacks becomes its last."""
    if unit in ("month", "quarter", "year"):
        several = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        years, index = divmod(moment.year * 12 + moment.month - 1 + several, 12)
        first = moment.replace(year=years, month=index + 1, day=1)
        return first.replace(day=min(moment.day, monthrange(years, index + 1)[1]))
    length = {
        "minute": timedelta(minutes=1),
        "hour": timedelta(hours=1),
        "day": DAY,
        "week": _WEEK,
        "weekend": _WEEK,
        "fortnight": 2 * _WEEK,
    }
    return moment + count * length[unit]


def period(now: datetime, count: int, unit: str) -> Stretch | None:
    """Return the calendar unit ``count`` after the current one; None for units without a calendar."""
    then = shift(now.replace(day=1) if unit in ("month", "quarter") else now, count, unit)
    if unit == "week":
        return week(then)
    if unit == "weekend":
        return weekend(then)
    if unit == "month":
        return month(then.year, then.month)
    if unit == "quarter":
        return months(then.year, (then.month - 1) // 3 * 3 + 1, 3)
    if unit == "year":
        return year(then.year)
    return None


def around(now: datetime, count: int, unit: str) -> Stretch:
    """Return "count units ago" (negative) or "in count units": one unit wide, with slack."""
    then = shift(now, count, unit)
    many = abs(count)
    if unit in ("minute", "hour"):
        near = timedelta(minutes=30) if unit == "hour" else timedelta(minutes=max(1, many // 4))
        return Stretch(then - near, then + near, near)
    if unit == "day":
        return _add_slack(day(then), 0 if many == 1 else 1 if many < 7 else 2 if many < 14 else 3)
    if unit in ("week", "fortnight"):
        # Three days either way already round; people who count many weeks round to months.
        return _add_slack(days(then - 3 * DAY, then + 3 * DAY), 0 if many < 5 else 4)
    found = period(now, count, unit) or day(then)
    return _add_slack(found, {"weekend": 0, "year": 30}.get(unit, 7 if many < 6 else 15))


def count(now: datetime, counts: tuple[int, int], unit: str) -> Stretch:
    """Return the same as ``between``, counted from now."""
    stretch = between(now, counts, unit)
    return replace(stretch, elapsed=True) if unit in ("minute", "hour") else stretch


def between(now: datetime, counts: tuple[int, int], unit: str) -> Stretch:
    """Return the time from one number of units off to another, both rounded."""
    low, high = sorted(counts)
    if low == high:
        return around(now, low, unit)
    first, last = around(now, low, unit), around(now, high, unit)
    return Stretch(first.start, last.end, max(first.slack, last.slack))


def window(now: datetime, count: int, unit: str) -> Stretch:
    """Return the last (negative) or next ``count`` units, today included."""
    then = shift(now, count, unit)
    if unit in ("minute", "hour"):
        return Stretch(min(now, then), max(now, then), elapsed=True)
    return days(min(now, then), max(now, then))


def weekday(now: datetime, number: int, turn: int | None, lean: Lean) -> Stretch:
    """Return the last (-1), this (0) or next (1) such day; without a turn, by ``lean``.

    Last and next are the nearest before and after today. This is the one of the current week, unless the
    tense says otherwise.
    """
    ahead = (number - now.weekday()) % 7
    if turn == 0:
        offset = number - now.weekday()
        if (lean is Lean.FUTURE and offset < 0) or (lean is Lean.PAST and offset > 0):
            offset -= 7 if offset > 0 else -7
    elif turn == 1 or (turn is None and lean is Lean.FUTURE):
        offset = ahead or 7
    else:
        offset = ahead - 7
    return day(now + offset * DAY)


def choose_yearly(
    now: datetime, make: Callable[[int], Stretch], turn: int | None, lean: Lean
) -> Stretch | None:
    """Choose one of the stretches that come back every year (or every leap year).

    Last is over, next has not begun. Otherwise by ``lean``, where the current one counts as past and future;
    without a lean the nearest one, and of two equally near ones the past one.
    """
    # A winter that is over may have begun the year before last.
    found = list(_make_all(make, range(now.year - 2, now.year + 2)))
    if len(found) < 4:
        found = list(_make_all(make, range(now.year - 8, now.year + 9)))
    if turn == -1:
        found = [one for one in found if one.end <= now]
        return max(found, key=_start, default=None)
    if turn == 1:
        return min((one for one in found if one.start > now), key=_start, default=None)
    return _choose(now, found, lean)


def choose(
    now: datetime, make: Callable[[int], Stretch], numbers: Iterable[int], lean: Lean
) -> Stretch | None:
    """Choose one of several by ``lean``."""
    return _choose(now, list(_make_all(make, numbers)), lean)


def find_nearby(now: datetime, make: Callable[[int], Stretch]) -> Stretch | None:
    """Return the yearly stretch that is at most two months away, if any."""
    near = choose_yearly(now, make, None, Lean.NEAR)
    return near if near and _distance(near, now)[0] <= _TWO_MONTHS else None


def _choose(now: datetime, found: list[Stretch], lean: Lean) -> Stretch | None:
    if lean is Lean.PAST:
        return max((one for one in found if one.start <= now), key=_start, default=None)
    if lean is Lean.FUTURE:
        return min((one for one in found if one.end > now), key=_start, default=None)
    return min(found, key=lambda one: _distance(one, now), default=None)


def holiday(name: str, in_year: int) -> Stretch:
    """Return a holiday with the days that people include."""
    if name == "thanksgiving":
        november = datetime(in_year, 11, 1)
        return day(november + ((3 - november.weekday()) % 7 + 21) * DAY)
    if name in _FROM_EASTER:
        first, last = _FROM_EASTER[name]
        return days(easter(in_year) + first * DAY, easter(in_year) + last * DAY)
    month_number, first, last = _FIXED[name]
    return days(datetime(in_year, month_number, first), datetime(in_year, month_number, last))


_FROM_EASTER: Final = {
    "easter": (-2, 1),
    "easter sunday": (0, 0),
    "good friday": (-2, -2),
    "easter monday": (1, 1),
}
_FIXED: Final = {
    "christmas": (12, 24, 26),
    "christmas eve": (12, 24, 24),
    "christmas day": (12, 25, 25),
    "boxing day": (12, 26, 26),
    "new year's eve": (12, 31, 31),
    "new year's day": (1, 1, 1),
    "halloween": (10, 31, 31),
    "valentine's day": (2, 14, 14),
    "independence day": (7, 4, 4),
}


def easter(in_year: int) -> datetime:
    """Return Easter Sunday of the Gregorian calendar."""
    golden, century = in_year % 19, in_year // 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    to_sunday = (32 + 2 * (century % 4) + 2 * (in_year % 100 // 4) - moon - in_year % 4) % 7
    late = (golden + 11 * moon + 22 * to_sunday) // 451
    month_number, index = divmod(moon + to_sunday - 7 * late + 114, 31)
    return datetime(in_year, month_number, index + 1)


def _add_slack(stretch: Stretch, slack: int) -> Stretch:
    return Stretch(stretch.start, stretch.end, slack * DAY)


def _make_all(make: Callable[[int], Stretch], numbers: Iterable[int]) -> Iterable[Stretch]:
    for number in numbers:
        try:
            yield make(number)
        except (ValueError, OverflowError):
            # That year or month has no such day.
            continue


def _start(stretch: Stretch) -> datetime:
    return stretch.start


def _distance(stretch: Stretch, now: datetime) -> tuple[timedelta, datetime]:
    away = max(stretch.start - now, now - stretch.end, _NONE)
    return away, stretch.start
