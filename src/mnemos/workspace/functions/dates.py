"""Reading dates and times.

ISO 8601 is read first, then month names (English, German, French, Spanish), then numbers in the order that
was asked for. ``03/04/2024`` without an order is refused and never guessed, and no order is tried after
another: a column would come out with two meanings.

Answers are ``YYYY-MM-DD``, with ``HH:MM:SS`` behind where the text has a time. A time with an offset becomes
UTC, as SQLite does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mnemos.workspace.functions.base import Function, FunctionFailed, Value, as_text, expression, shown

if TYPE_CHECKING:
    import re
    from datetime import datetime

# Longer texts are not dates.
LONGEST_DATE = 100
# Two digits are of the years 1969 to 2068, as POSIX has it.
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

# No time has it, so that there is no such moment.
_NO_HOUR = 99


class Moment(NamedTuple):
    """A date, or a date and time in UTC or without a zone."""

    at: datetime
    has_time: bool

    def __str__(self) -> str:
        text = self.at.isoformat(" ") if self.has_time else self.at.date().isoformat()
        return text.rstrip("0") if "." in text else text


def parse_date(text: Value, order: Value = None) -> Value:
    chosen = None if order is None else _order(as_text(order))
    plain = folded(text)
    moment = _read(_ISO, plain) or _read(_NAMED, plain)
    numeric = None if moment else expression(_NUMERIC).fullmatch(plain)
    if numeric and chosen:
        moment = _in_order(numeric, chosen)
    elif numeric and any(_in_order(numeric, order) for order in _ORDERS):
        raise FunctionFailed(
            f"{shown(text)} needs an order; give 'dmy', 'mdy' or 'ymd' as the second argument"
        )
    return None if moment is None else str(moment)


def iso_moment(value: Value) -> Moment | None:
    """A date in ISO 8601, the only form that functions of dates take; None for anything else."""
    if as_text(value).strip().lower() == "now":
        raise FunctionFailed("'now' is for SQLite's own functions; write now() here")
    return _read(_ISO, folded(value))


def _order(order: str) -> str:
    """``dmy``, also written ``DD/MM/YYYY``."""
    letters = "".join(dict.fromkeys(expression("[^a-z]").sub("", order.lower())))
    if letters not in _ORDERS:
        raise FunctionFailed(f"order is {shown(order)}; use dmy, mdy or ymd")
    return letters


def folded(value: Value) -> str:
    """Lower case with single blanks and without accents; empty for what is too long to be a date."""
    text = as_text(value).strip()
    if len(text) > LONGEST_DATE:
        return ""
    if not text.isascii():
        # unicodedata: only for those who use it.
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
            return _moment(found, full_year(parts["year"]), month, int(parts.get("day") or 1))
    return None


def _in_order(found: re.Match[str], order: str) -> Moment | None:
    parts = dict(zip(order, (found["a"], found["b"], found["c"]), strict=True))
    if len(parts["d"]) > 2:
        return None
    return _moment(found, full_year(parts["y"]), int(parts["m"]), int(parts["d"]))


def full_year(digits: str) -> int:
    """A year of four digits or of the last two."""
    year = int(digits.removeprefix("'"))
    if len(digits) >= 4:
        return year
    return year + (1900 if year >= _FIRST_OF_CENTURY else 2000)


def _moment(found: re.Match[str], year: int, month: int, day: int) -> Moment | None:
    """The moment with that date and the time that was found; None where there is no such day or time."""
    # datetime: only for those who use it.
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
    """Minutes east of Greenwich."""
    digits = expression("[^0-9]").sub("", zone)
    if not digits:
        return 0
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(zone)
    return (hours * 60 + minutes) * (-1 if "-" in zone else 1)


FUNCTIONS = (
    Function(
        "parse_date",
        "parse_date(text [, order])",
        "The date as YYYY-MM-DD, with HH:MM:SS in UTC where there is a time: ISO 8601, month names in"
        " English, German, French or Spanish, numbers in the order 'dmy', 'mdy' or 'ymd'; else NULL.",
        "parse_date('31.01.2024', 'dmy')",
        "'2024-01-31'",
        call=parse_date,
        arity=(1, 2),
    ),
)
