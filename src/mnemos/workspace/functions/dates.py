"""Dates and times: parsed from text, truncated and compared.

``parse_date`` tries ISO 8601, then month names (English, German, French, Spanish), then numbers in the order
that the caller names. ``03/04/2024`` without an order is refused and never guessed, and only one order is
tried: a column would come out with two meanings.

The other functions take ISO 8601 only, and anything else gives NULL. Results are ``YYYY-MM-DD``, followed by
``HH:MM:SS`` if there is a time. A time with an offset is converted to UTC, as in SQLite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mnemos.workspace.functions.function import (
    Function,
    FunctionFailed,
    Value,
    as_text,
    declare,
    expression,
    quote_value,
)

if TYPE_CHECKING:
    import re
    from datetime import datetime

FUNCTIONS: list[Function] = []

# Longer texts are not dates.
LONGEST_DATE = 100
# Two digits mean 1969 to 2068, as in POSIX.
_FIRST_OF_CENTURY = 69

MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janner janvier janv enero ene",
            "february feb febr februar fevrier fevr fev febrero",
            "march mar marz maerz mrz mars marzo",
            "april apr avril avr abril abr",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet juil julio",
            "august aug aout agosto ago",
            "september sep sept septembre septiembre setiembre set",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez decembre diciembre dic",
        ),
        start=1,
    )
    for name in names.split()
}

_WEEKDAYS = (
    "mon tue tues wed wednes thu thur thurs fri sat satur sun|"
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so|"
    "lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim|"
    "lunes martes miercoles jueves viernes sabado domingo mie jue vie sab dom"
)
_WEEKDAY = rf"(?:(?:{'|'.join(_WEEKDAYS.replace('|', ' ').split())})(?:day)?[.,]{{0,2}} |mar[.,]{{1,2}} )?"
_TIME = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r" ?(?P<half>[ap]\.?m\.?)?"
)
_ZONE = r" ?(?P<zone>z|utc|gmt|(?:utc|gmt)?[+-][0-9]{2}(?::?[0-9]{2})?)"
_AFTER = rf"(?:(?:t|,? (?:at |um |a |a las )?){_TIME}(?:{_ZONE})?)?"
_BASIC_TIME = (
    r"(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?:(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
)

_ISO = (
    rf"(?P<year>[0-9]{{4}})(?P<sign>[-/.])(?P<month>[0-9]{{1,2}})(?P=sign)(?P<day>[0-9]{{1,2}}){_AFTER}",
    rf"(?P<year>[0-9]{{4}})(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})(?:t{_BASIC_TIME}(?:{_ZONE})?)?",
    rf"(?P<year>[0-9]{{4}})(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}}){_AFTER}",
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})",
)

_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|er|º|°)?"
_NAME = r"(?P<name>[a-z]{3,10})\.?"
_NAMED = (
    rf"{_WEEKDAY}{_DAY}\.?[ /-]?(?:(?:of|de) )?{_NAME},?[ /-]?(?:del? )?(?P<year>[0-9]{{4}}|'?[0-9]{{2}})"
    rf"{_AFTER}",
    rf"{_WEEKDAY}{_NAME}[ -]{_DAY}(?:,[ ]?|[ -])(?P<year>[0-9]{{4}}){_AFTER}",
    rf"{_WEEKDAY}{_NAME} {_DAY} {_TIME}(?:{_ZONE})? (?P<year>[0-9]{{4}})",
    rf"(?P<year>[0-9]{{4}})[ /-]{_NAME}[ /-]{_DAY}{_AFTER}",
    rf"{_NAME},?[ /-](?:del? )?(?P<year>[0-9]{{4}})",
)

_NUMERIC = (
    rf"(?P<a>[0-9]{{1,2}})(?P<sign>[-/.])(?P<b>[0-9]{{1,2}})(?P=sign)(?P<c>[0-9]{{4}}|[0-9]{{2}}){_AFTER}"
)
_ORDERS = ("dmy", "mdy", "ymd")

# An hour that does not exist, for times that don't.
_NO_HOUR = 99

_MONTHS_IN = {"year": 12, "quarter": 3, "month": 1}
_SECONDS_IN = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_UNITS = (*_MONTHS_IN, *_SECONDS_IN)


class Moment(NamedTuple):
    """A date, or a date and a time in UTC or without a zone."""

    at: datetime
    has_time: bool

    def __str__(self) -> str:
        text = self.at.isoformat(" ") if self.has_time else self.at.date().isoformat()
        return text.rstrip("0") if "." in text else text


@declare(FUNCTIONS, "parse_date(text [, order])", "parse_date('31.01.2024', 'dmy')", "'2024-01-31'")
def parse_date(text: Value, order: Value = None) -> Value:
    """The date as YYYY-MM-DD, with HH:MM:SS in UTC if there is a time. Reads ISO 8601, month names in
    English, German, French or Spanish, and numbers in the order 'dmy', 'mdy' or 'ymd'; NULL for anything
    else."""
    chosen = None if order is None else _check_order(as_text(order))
    plain = _fold(text)
    moment = _read(_ISO, plain) or _read(_NAMED, plain)
    numeric = None if moment else expression(_NUMERIC).fullmatch(plain)
    if numeric and chosen:
        moment = _in_order(numeric, chosen)
    elif numeric and any(_in_order(numeric, order) for order in _ORDERS):
        raise FunctionFailed(
            f"{quote_value(text)} needs an order; give 'dmy', 'mdy' or 'ymd' as the second argument"
        )
    return None if moment is None else str(moment)


def _iso_moment(value: Value) -> Moment | None:
    """Return a date in ISO 8601. None for anything else."""
    if as_text(value).strip().lower() == "now":
        raise FunctionFailed("'now' only works in SQLite's own functions; write now() here")
    return _read(_ISO, _fold(value))


def _check_order(order: str) -> str:
    """Return ``dmy``, ``mdy`` or ``ymd``, also from ``DD/MM/YYYY``."""
    letters = "".join(dict.fromkeys(expression("[^a-z]").sub("", order.lower())))
    if letters not in _ORDERS:
        raise FunctionFailed(f"order is {quote_value(order)}; use dmy, mdy or ymd")
    return letters


def _fold(value: Value) -> str:
    """Return the text in lower case, with single blanks and without accents. Empty if too long for a date."""
    text = as_text(value).strip()
    if len(text) > LONGEST_DATE:
        return ""
    if not text.isascii():
        # unicodedata: loaded by the first function that needs it.
        from unicodedata import combining, normalize

        text = "".join(character for character in normalize("NFD", text) if not combining(character))
    return " ".join(text.lower().split())


def _read(forms: tuple[str, ...], text: str) -> Moment | None:
    for form in forms:
        found = expression(form).fullmatch(text)
        if found:
            parts = found.groupdict()
            month = MONTHS.get(parts["name"]) if "name" in parts else int(parts["month"])
            if month is None:
                continue
            return _make_moment(found, _full_year(parts["year"]), month, int(parts.get("day") or 1))
    return None


def _in_order(found: re.Match[str], order: str) -> Moment | None:
    parts = dict(zip(order, (found["a"], found["b"], found["c"]), strict=True))
    if len(parts["d"]) > 2:
        return None
    return _make_moment(found, _full_year(parts["y"]), int(parts["m"]), int(parts["d"]))


def _full_year(digits: str) -> int:
    """Return the year of four digits, or of the last two."""
    year = int(digits.removeprefix("'"))
    if len(digits) >= 4:
        return year
    return year + (1900 if year >= _FIRST_OF_CENTURY else 2000)


def _make_moment(found: re.Match[str], year: int, month: int, day: int) -> Moment | None:
    """Return the moment of a date and the time found. None if the day or time does not exist."""
    # datetime: loaded by the first function that needs it.
    from datetime import datetime, timedelta

    parts = found.groupdict()
    hour = _hour(parts.get("hour") or "0", parts.get("half"))
    fraction = (parts.get("fraction") or "")[:6].ljust(6, "0")
    try:
        at = datetime(
            year,
            month,
            day,
            hour,
            int(parts.get("minute") or 0),
            int(parts.get("second") or 0),
            int(fraction),
        )
        at -= timedelta(minutes=_offset(parts.get("zone") or ""))
    except (ValueError, OverflowError):
        return None
    return Moment(at, parts.get("hour") is not None)


def _hour(digits: str, half: str | None) -> int:
    hour = int(digits)
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        return _NO_HOUR
    return hour % 12 + (12 if half[0] == "p" else 0)


def _offset(zone: str) -> int:
    """Return the offset of a zone in minutes east of Greenwich."""
    digits = expression("[^0-9]").sub("", zone)
    if not digits:
        return 0
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(zone)
    return (hours * 60 + minutes) * (-1 if "-" in zone else 1)


def _check_unit(value: Value) -> str:
    """Return the unit, also from a plural."""
    unit = as_text(value).strip().lower().removesuffix("s")
    if unit not in _UNITS:
        raise FunctionFailed(f"unit is {quote_value(value)}; use {', '.join(map(repr, _UNITS))}")
    return unit


@declare(FUNCTIONS, "date_trunc(unit, date)", "date_trunc('month', '2024-02-29 10:11:12')", "'2024-02-01'")
def date_trunc(unit: Value, date: Value) -> Value:
    """The first day of the year, quarter, month or week (Monday); with a time for hour, minute or second."""
    kind = _check_unit(unit)
    moment = _iso_moment(date)
    return None if moment is None else _truncate(kind, moment.at.replace(microsecond=0))


def _truncate(unit: str, at: datetime) -> str:
    # datetime: loaded by the first function that needs it.
    from datetime import timedelta

    if unit in _MONTHS_IN:
        first = {"year": 1, "quarter": (at.month - 1) // 3 * 3 + 1, "month": at.month}[unit]
        at = at.replace(month=first, day=1)
    elif unit == "week":
        # The calendar begins on a Monday, so this stays within it.
        at -= timedelta(days=at.weekday())
    elif unit in ("hour", "minute"):
        at = at.replace(second=0, minute=at.minute if unit == "minute" else 0)
    return str(Moment(at, has_time=unit in ("hour", "minute", "second")))


@declare(FUNCTIONS, "datediff([unit,] ...)", "datediff('month', '2024-01-31', '2024-03-01')", "2")
def datediff(first: Value, second: Value, third: Value = None) -> Value:
    """With two dates: days from the second to the first, as in MySQL. With a quoted unit first: how often
    the unit changes from the second argument to the third, as in T-SQL."""
    if third is None:
        unit, start, end = "day", _iso_moment(second), _iso_moment(first)
    else:
        unit, start, end = _check_unit(first), _iso_moment(second), _iso_moment(third)
    if start is None or end is None:
        return None
    return _count_units(unit, end.at) - _count_units(unit, start.at)


def _count_units(unit: str, at: datetime) -> int:
    """Return the number of the year, month, ... counted from the beginning of the calendar."""
    if unit in _MONTHS_IN:
        return (at.year * 12 + at.month - 1) // _MONTHS_IN[unit]
    if unit == "week":
        # Weeks begin on Sundays in T-SQL; day 7 was the first.
        return at.toordinal() // 7
    seconds = at.toordinal() * 86_400 + at.hour * 3_600 + at.minute * 60 + at.second
    return seconds // _SECONDS_IN[unit]
