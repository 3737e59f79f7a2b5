"""Writing and reading dates in the formats of MySQL (``%Y-%m-%d``) and PostgreSQL (``YYYY-MM-DD``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from mnemos.workspace.functions.base import Function, FunctionFailed, Value, as_text, expression, shown
from mnemos.workspace.functions.dates import LONGEST_DATE, MONTHS, Moment, folded, full_year, iso_moment

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_FORMAT = 100

_MONTH_NAMES = "January February March April May June July August September October November December".split()
_DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


class _Piece(NamedTuple):
    """A part of a date in a format."""

    field: str
    """What it is; when a date is read, those that only follow from it are passed over."""
    form: str
    """What it looks like."""
    write: Callable[[datetime], str]


_PIECES = {
    "Y": _Piece("year", "[0-9]{4}", lambda at: f"{at.year:04}"),
    "y": _Piece("year", "[0-9]{2}", lambda at: f"{at.year % 100:02}"),
    "m": _Piece("month", "[0-9]{1,2}", lambda at: f"{at.month:02}"),
    "c": _Piece("month", "[0-9]{1,2}", lambda at: str(at.month)),
    "M": _Piece("month", r"[^\W\d_]{3,10}", lambda at: _MONTH_NAMES[at.month - 1]),
    "b": _Piece("month", r"[^\W\d_]{3,10}", lambda at: _MONTH_NAMES[at.month - 1][:3]),
    "d": _Piece("day", "[0-9]{1,2}", lambda at: f"{at.day:02}"),
    "e": _Piece("day", "[0-9]{1,2}", lambda at: str(at.day)),
    "H": _Piece("hour", "[0-9]{1,2}", lambda at: f"{at.hour:02}"),
    "k": _Piece("hour", "[0-9]{1,2}", lambda at: str(at.hour)),
    "h": _Piece("hour", "[0-9]{1,2}", lambda at: f"{(at.hour + 11) % 12 + 1:02}"),
    "l": _Piece("hour", "[0-9]{1,2}", lambda at: str((at.hour + 11) % 12 + 1)),
    "p": _Piece("half", "[AaPp][Mm]", lambda at: "AM" if at.hour < 12 else "PM"),
    "i": _Piece("minute", "[0-9]{1,2}", lambda at: f"{at.minute:02}"),
    "s": _Piece("second", "[0-9]{1,2}", lambda at: f"{at.second:02}"),
    "f": _Piece("fraction", "[0-9]{1,6}", lambda at: f"{at.microsecond:06}"),
    "L": _Piece("fraction", "[0-9]{1,3}", lambda at: f"{at.microsecond // 1000:03}"),
    "W": _Piece("weekday", r"[^\W\d_]{2,10}", lambda at: _DAY_NAMES[at.weekday()]),
    "a": _Piece("weekday", r"[^\W\d_]{2,10}", lambda at: _DAY_NAMES[at.weekday()][:3]),
    "j": _Piece("day_of_the_year", "[0-9]{1,3}", lambda at: f"{at.timetuple().tm_yday:03}"),
    "w": _Piece("weekday_number", "[0-6]", lambda at: str(at.isoweekday() % 7)),
    "D": _Piece("weekday_number", "[1-7]", lambda at: str(at.isoweekday() % 7 + 1)),
    "q": _Piece("quarter", "[1-4]", lambda at: str((at.month + 2) // 3)),
    "v": _Piece("week", "[0-9]{1,2}", lambda at: f"{at.isocalendar().week:02}"),
    "x": _Piece("year_of_the_week", "[0-9]{4}", lambda at: f"{at.isocalendar().year:04}"),
}

_PERCENT = {
    **{letter: letter for letter in "YymcMbdeHkhlpisfWajwvx"},
    "S": "s",
    "I": "h",
    "T": "H:i:s",
    "r": "h:i:s p",
}
_WORDS = {
    "YYYY": "Y", "YY": "y", "IYYY": "x", "Q": "q", "MM": "m", "MONTH": "M", "MON": "b", "IW": "v",
    "DDD": "j", "DD": "d", "DAY": "W", "DY": "a", "D": "D",
    "HH24": "H", "HH12": "h", "HH": "h", "MI": "i", "SS": "s", "MS": "L", "US": "f", "AM": "p", "PM": "p",
}  # fmt: skip
_WORD = r'"([^"]*)"|(FM)?(' + "|".join(sorted(_WORDS, key=len, reverse=True)) + ")"
_SHORT = {"m": "c", "d": "e", "H": "k", "h": "l"}


def date_format(date: Value, format: Value) -> Value:
    moment, parts = iso_moment(date), _percent(_checked(format))
    return None if moment is None else _written(moment, parts)


def to_char(date: Value, format: Value) -> Value:
    if isinstance(date, int | float):
        raise FunctionFailed(f"{shown(date)} is a number; write it with printf('%.2f', ...), or give a date")
    moment, parts = iso_moment(date), _words(_checked(format))
    return None if moment is None else _written(moment, parts)


def str_to_date(text: Value, format: Value) -> Value:
    return _read(as_text(text), list(_percent(_checked(format))))


def to_date(text: Value, format: Value) -> Value:
    return _read(as_text(text), list(_words(_checked(format))))


def monthname(date: Value) -> Value:
    return date_format(date, "%M")


def dayname(date: Value) -> Value:
    return date_format(date, "%W")


def _checked(format: Value) -> str:
    text = as_text(format)
    if len(text) > LONGEST_FORMAT:
        raise FunctionFailed(f"format is {shown(text)}; give at most {LONGEST_FORMAT} characters")
    return text


# A format is a sequence of literal texts, and of the keys of pieces with the case that was asked for.
_Part = tuple[str, Callable[[str], str]] | str


def _percent(format: str) -> Iterator[_Part]:
    end = 0
    for found in expression("%(.)", re.DOTALL).finditer(format):
        yield format[end : found.start()]
        end = found.end()
        letter = found[1]
        for key in _PERCENT.get(letter, ""):
            yield (key, str) if key in _PIECES else key
        if letter == "%":
            yield "%"
        elif letter not in _PERCENT:
            raise FunctionFailed(
                f"format has {shown(found[0])}; MySQL's %Y %m %d %H %i %s %M %b %W %a %j %p are known"
            )
    yield format[end:]


def _words(format: str) -> Iterator[_Part]:
    end = 0
    for found in expression(_WORD, re.IGNORECASE | re.ASCII).finditer(format):
        yield format[end : found.start()]
        end = found.end()
        quoted, short, word = found.groups()
        if word is None:
            yield quoted
            continue
        key = _WORDS[word.upper()]
        yield (_SHORT.get(key, key) if short else key), _case_of(word)
    yield format[end:]


def _case_of(word: str) -> Callable[[str], str]:
    """What writes a name as the format has it: MONTH, Month or month."""
    if word.isupper():
        return str.upper
    return str.lower if word.islower() else str


def _written(moment: Moment, parts: Iterator[_Part]) -> str:
    return "".join(
        part if isinstance(part, str) else part[1](_PIECES[part[0]].write(moment.at)) for part in parts
    )


def _read(text: str, parts: list[_Part]) -> Value:
    fields: list[str] = []
    form = r"\s*"
    for part in parts:
        if isinstance(part, str):
            form += r"\s+".join(map(re.escape, re.split(r"\s+", part)))
            continue
        piece = _PIECES[part[0]]
        # One of each also keeps the ways to match the text few.
        if piece.field in fields:
            raise FunctionFailed(f"format has the {piece.field} twice; a date is read from one of each")
        fields.append(piece.field)
        form += f"(?P<{piece.field}>{piece.form})"
    if "year" not in fields:
        raise FunctionFailed("format has no year; a date needs one")
    # Not kept by `expression`: it depends on the format.
    found = re.fullmatch(form + r"\s*", text) if len(text) <= LONGEST_DATE else None
    return None if found is None else _moment(found.groupdict())


def _moment(parts: dict[str, str]) -> Value:
    # datetime: only for those who use it.
    from datetime import datetime

    month, hour = parts.get("month", "1"), int(parts.get("hour", 0))
    number = int(month) if month.isdigit() else MONTHS.get(folded(month))
    if "half" in parts:
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    try:
        at = datetime(
            full_year(parts["year"]),
            number or 0,
            int(parts.get("day", 1)),
            hour,
            int(parts.get("minute", 0)),
            int(parts.get("second", 0)),
            int(parts.get("fraction", "0").ljust(6, "0")),
        )
    except ValueError:
        return None
    return str(Moment(at, has_time=bool({"hour", "minute", "second"} & parts.keys())))


FUNCTIONS = (
    Function(
        "date_format",
        "date_format(date, format)",
        "The date in a format of MySQL: %Y %m %d %H %i %s %M %b %W %a %j %p.",
        "date_format('2024-02-03', '%d %b %Y')",
        "'03 Feb 2024'",
        call=date_format,
        arity=(2,),
    ),
    Function(
        "to_char",
        "to_char(date, format)",
        "The date in a format of PostgreSQL: YYYY MM DD HH24 MI SS Mon Month Dy Day Q DDD.",
        "to_char('2024-02-03', 'FMDD Mon YYYY')",
        "'3 Feb 2024'",
        call=to_char,
        arity=(2,),
    ),
    Function(
        "str_to_date",
        "str_to_date(text, format)",
        "A date read in a format of MySQL; NULL where the text does not fit.",
        "str_to_date('3/2/2024', '%d/%m/%Y')",
        "'2024-02-03'",
        call=str_to_date,
        arity=(2,),
    ),
    Function(
        "to_date",
        "to_date(text, format)",
        "A date read in a format of PostgreSQL; NULL where the text does not fit.",
        "to_date('03-FEB-2024', 'DD-MON-YYYY')",
        "'2024-02-03'",
        call=to_date,
        arity=(2,),
    ),
    Function(
        "monthname", "monthname(date)", "In English.", "monthname('2024-02-03')", "'February'", call=monthname
    ),
    Function("dayname", "dayname(date)", "In English.", "dayname('2024-02-03')", "'Saturday'", call=dayname),
)
