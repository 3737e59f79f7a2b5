"""Calendar times: dates, months, years, seasons, holidays.

A reader gets the match of its form and the text around it. It returns None if the words mean something else
("may I", "my Sunday dinner"), and raises ValueError or OverflowError if the calendar has no such time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from re import Match
from typing import Final

from mnemos.language.times import stretches
from mnemos.language.times.stretches import Lean, Stretch
from mnemos.language.times.time_context import Found, Reading
from mnemos.language.times.time_words import (
    ALL_MONTHS,
    HOLIDAYS,
    NOT_ENGLISH,
    OCCASIONS,
    PREPOSITIONS,
    SEASONS,
    SHORT_MONTHS,
    join_words,
)

_ARTICLES: Final = frozenset("the el la le der den dem".split())
_BEFORE_SEASONS: Final = PREPOSITIONS - frozenset("of de del from by early late mid".split())
_BEFORE_THE_SEASON: Final = _BEFORE_SEASONS | frozenset(("over", "for", "by"))


def read_iso_date(match: Match[str], _: Reading) -> Found:
    """2023-05-07, 2023/5/7."""
    return _make_dated(
        stretches.day(datetime(int(match["year"]), int(match["month"]), int(match["day"]))), match
    )


def read_iso_month(match: Match[str], _: Reading) -> Found:
    """2023-05."""
    return _make_dated(stretches.month(int(match["year"]), int(match["month"])), match)


def read_numeric_date(match: Match[str], reading: Reading) -> Found | None:
    """05/07/2023: May in English text, July in other languages; 07.05.2023 is always May."""
    first, second, year, sign = int(match["first"]), int(match["second"]), match["year"], match["sign"]
    if len(year) == 2 and sign != "/":
        return None
    if sign == "." or first > 12 or (second <= 12 and reading.puts_the_day_first()):
        first, second = second, first
    number = int(year) if len(year) == 4 else _full_year(int(year), reading)
    return _make_dated(stretches.day(datetime(number, first, second)), match)


def read_date(match: Match[str], reading: Reading) -> Found | Stretch | None:
    """7 May 2023, the 5th of June, 3-5 March; May 7th, 2023; 7. Mai, 1er mai, 7 de mayo de 2023."""
    name, year = match["month"], _year_of(match, reading)
    month, first, last = ALL_MONTHS.get(name), int(match["day"]), int(match["last"] or match["day"])
    if month is None or first > last:
        return None
    doubtful = needs_capital(name) and not reading.is_capital(match.start("month"))
    if (doubtful or name == "mayo") and not (year or match["suffix"] or match["of"]):
        return None

    def in_year(number: int) -> Stretch:
        return Stretch(datetime(number, month, first), datetime(number, month, last) + stretches.DAY)

    if year:
        return _make_dated(in_year(year), match)
    # A date close by counts more than the tense.
    near = stretches.find_nearby(reading.now, in_year) if reading.lean is None else None
    return near or stretches.choose_yearly(
        reading.now, in_year, None, reading.tense(match.start(), match.end())
    )


def read_month_of_year(match: Match[str], reading: Reading) -> Found | None:
    """May 2023, mayo de 2023."""
    year = _year_of(match, reading)
    return _make_dated(stretches.month(year, ALL_MONTHS[match["month"]]), match) if year else None


def read_plain_month(match: Match[str], reading: Reading) -> Stretch | None:
    """In March, since June, im Mai, en mars; not "may I" and not "June said"."""
    name, start = match["month"], match.start()
    if needs_capital(name) and not reading.is_capital(start):
        return None
    leading = NOT_ENGLISH if name in ("mai", "mars", "mayo") else PREPOSITIONS
    if not (leading.intersection(reading.before(start)[:1]) or reading.follows_a_time(start)):
        return None
    return _find_named(reading, name, reading.tense(start, match.end()))


def read_plain_year(match: Match[str], reading: Reading) -> Found | None:
    """In 2019, from 2010 to 2019; not "my 2018 car"."""
    start = match.start()
    if not (PREPOSITIONS.intersection(reading.before(start)[:1]) or reading.follows_a_time(start)):
        return None
    return _make_dated(stretches.year(int(match["year"])), match)


def read_quarter(match: Match[str], reading: Reading) -> Found | Stretch | None:
    """Q3 2023, in Q3."""
    year, first, start = _year_of(match, reading), 3 * int(match["quarter"]) - 2, match.start()
    if year:
        return _make_dated(stretches.months(year, first, 3), match)
    if not (PREPOSITIONS.intersection(reading.before(start)[:1]) or reading.follows_a_time(start)):
        return None
    lean = reading.tense(start, match.end())
    return stretches.choose_yearly(reading.now, lambda number: stretches.months(number, first, 3), None, lean)


def read_season(match: Match[str], reading: Reading) -> Found | Stretch | None:
    """Summer 2022, the winter of 2021; in the summer, when the tense says which."""
    name, year, start = match["season"], _year_of(match, reading), match.start()
    if year:
        return _make_dated(stretches.months(year, SEASONS[name], 3), match)
    before = reading.before(start)[:2]
    if _ARTICLES.isdisjoint(before[:1]):
        led = _BEFORE_SEASONS.intersection(before[:1])
    else:
        led = _BEFORE_THE_SEASON.intersection(before[1:])
    lean = reading.tense(start, match.end())
    # "In the summer it is hot" is every summer.
    if lean is Lean.NEAR or not (led or reading.follows_a_time(start)):
        return None
    return _find_named(reading, name, lean)


def read_holiday(match: Match[str], reading: Reading) -> Found | Stretch | None:
    """At Christmas, on New Year's Eve, Easter 2021; not a Christmas tree."""
    name, year, start = join_words(match["holiday"]), _year_of(match, reading), match.start()
    if year:
        return _make_dated(stretches.holiday(HOLIDAYS[name], year), match)
    if not (OCCASIONS.intersection(reading.before(start)[:1]) or reading.follows_a_time(start)):
        return None
    return _find_named(reading, name, reading.tense(start, match.end()))


def _make_dated(stretch: Stretch, match: Match[str]) -> Found:
    return Found(stretch, match.start(), match.end(), dated=True)


def _year_of(match: Match[str], reading: Reading) -> int | None:
    if match["year"]:
        return int(match["year"])
    return _full_year(int(match["short"]), reading) if match["short"] else None


def _full_year(two_digits: int, reading: Reading) -> int:
    """Return the year with these last digits, from 90 years ago to 9 years ahead."""
    last = reading.now.year + 9
    return last - (last - two_digits) % 100


def needs_capital(month: str) -> bool:
    return month in ("may", "march") or month in SHORT_MONTHS


def find_yearly(name: str) -> Callable[[int], Stretch] | None:
    """Return what comes back every year under a name: a month, a season, a holiday."""
    if name in ALL_MONTHS:
        return lambda year: stretches.month(year, ALL_MONTHS[name])
    if name in SEASONS:
        return lambda year: stretches.months(year, SEASONS[name], 3)
    if name in HOLIDAYS:
        return lambda year: stretches.holiday(HOLIDAYS[name], year)
    return None


def _find_named(reading: Reading, name: str, lean: Lean) -> Stretch | None:
    make = find_yearly(name)
    return make and stretches.choose_yearly(reading.now, make, None, lean)
