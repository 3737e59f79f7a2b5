"""Relative times: two weeks ago, last Friday, tomorrow evening, the day before another time.

Readers work as those of ``dates``.
"""

from __future__ import annotations

from datetime import timedelta
from re import Match
from typing import Final

from mnemos.language.times import stretches
from mnemos.language.times.dates import find_yearly, needs_capital
from mnemos.language.times.stretches import Lean, Stretch
from mnemos.language.times.time_context import Found, Reading
from mnemos.language.times.time_words import (
    ALL_PARTS,
    ALL_WEEKDAYS,
    COUNTS,
    DAYS,
    HABITUAL,
    NIGHTS,
    ORDINALS,
    PARTS,
    SHORT_WEEKDAYS,
    THIRDS,
    TURNS,
    TURNS_AFTER,
    UNITS,
    WEEKDAYS,
    join_words,
)

_PAST_BEFORE: Final = (("vor",), ("hace",), ("a", "y", "il"))
_FUTURE_BEFORE: Final = (("in",), ("dans",), ("de", "dentro"))
_HALVES: Final = {"year": (6, "month"), "month": (15, "day"), "week": (3, "day"), "day": (12, "hour")}
# Verbs that take a date where they show no tense: it is due in two weeks, see you in a month.
_COMING: Final = frozenset(
    "is are it's that's he's she's there's see meet starts start begins ends opens closes back again"
    " ist sind beginnt kommt".split()
)
_SOME: Final = (2, 5)
_TOO_MANY: Final = frozenset(("many", "of", "hundred", "thousand", "million"))
_OR_MORNING: Final = frozenset(("morgen", "mañana", "manana"))
_MORNING_BEFORE: Final = frozenset(
    "heute gestern guten guter jeden am diesen frühen schönen ein den der la esta una cada".split()
)
_ARTICLES: Final = frozenset(("the", "el", "le"))
_NAMING_A_DAY: Final = frozenset("on by since until before after from".split())
_AROUND_A_WEEKEND: Final = frozenset("over on at during for by until am".split())
_LAST_MOMENT: Final = timedelta(microseconds=1)


# --- a number of units from now------------------------------------------------------------------


def read_quantity(match: Match[str], reading: Reading) -> Found | Stretch | None:
    """Two weeks ago, in three days, vor einem Jahr, il y a un mois, hace dos días, a week later."""
    counts, unit, after = _number(match["count"]), UNITS.get(join_words(match["unit"])), match["after"]
    start, now, side = match.start(), reading.now, -1 if after in ("ago", "back", "earlier") else 1
    if unit is None or counts is None:
        return None
    if after in ("earlier", "later"):
        if reading.previous:
            return stretches.between(reading.previous.start, _apply_side(counts, side), unit)
        if reading.tense(start, match.end()) is Lean.PAST:
            # The story is in another text.
            return None
    elif not after:
        side, words = _side_before(reading.before(start))
        if side == 0 or (words == ("in",) and not _lies_ahead(reading, start, match.end())):
            return None
        start = reading.lower.rindex(words[-1], 0, start)
    if match["half"] and unit in _HALVES:
        size, smaller = _HALVES[unit]
        now = stretches.shift(now, side * size, smaller)
    return Found(stretches.count(now, _apply_side(counts, side), unit), start, match.end())


def _lies_ahead(reading: Reading, start: int, end: int) -> bool:
    """True if "in two weeks" is a date, unlike in "I read it in two weeks"."""
    lean = reading.tense(start, end)
    before = reading.before(start)[1:]
    return lean is Lean.FUTURE or (lean is Lean.NEAR and (not before or not _COMING.isdisjoint(before)))


def read_many_weekdays(match: Match[str], reading: Reading) -> Stretch | None:
    """Two Fridays ago."""
    weekday, counts = WEEKDAYS.get(match["weekday"].removesuffix("s")), _number(match["count"])
    if weekday is None or counts is None:
        return None
    last = stretches.weekday(reading.now, weekday, -1, Lean.PAST)
    return stretches.day(stretches.shift(last.start, 1 - counts[0], "week"))


def read_some_units(match: Match[str], reading: Reading) -> Stretch | None:
    """Years ago; not many years ago."""
    before = "".join(reading.before(match.start())[:1])
    if before in _TOO_MANY or before in COUNTS or before[-1:].isdecimal():
        return None
    return stretches.between(reading.now, (-6, -2), UNITS[match["unit"]])


def read_window(match: Match[str], reading: Reading) -> Stretch | None:
    """The last three weeks, the past few months, the coming days."""
    counts = _number(match["count"]) if match["count"] else _SOME
    turn = TURNS.get(join_words(match["turn"]))
    return stretches.window(reading.now, turn * counts[1], UNITS[match["unit"]]) if turn and counts else None


def _number(word: str) -> tuple[int, int] | None:
    """Return the least and the most that a number may mean; None for zero and other words."""
    if not word.isdecimal():
        return COUNTS.get(join_words(word))
    return (int(word), int(word)) if int(word) else None


def _apply_side(counts: tuple[int, int], side: int) -> tuple[int, int]:
    return counts[0] * side, counts[1] * side


def _side_before(before: list[str]) -> tuple[int, tuple[str, ...]]:
    for side, openings in ((-1, _PAST_BEFORE), (1, _FUTURE_BEFORE)):
        for words in openings:
            if tuple(before[: len(words)]) == words:
                return side, words
    return 0, ()


# --- last, this, next ----------------------------------------------------------------------------


def read_turn(match: Match[str], reading: Reading) -> Stretch | None:
    """Last week, this morning, next May, letzten Dienstag, cette année; la semaine dernière."""
    word, what, start = join_words(match["turn"]), join_words(match["what"]), match.start()
    turn = TURNS.get(word, TURNS_AFTER.get(word))
    if turn is None:
        return None
    if what in UNITS:
        by_article = reading.before(start)[:1] == ["the"]
        return _turn_unit(reading, word, turn, UNITS[what], by_article=by_article)
    if what in ALL_PARTS:
        return _turn_part(reading, word, turn, ALL_PARTS[what])
    yearly = find_yearly(what)
    if what not in ALL_WEEKDAYS and yearly is None:
        return None
    if (what in SHORT_WEEKDAYS or needs_capital(what)) and not reading.is_capital(match.start("what")):
        return None
    # Last and next need no tense.
    lean = Lean.NEAR if turn else reading.tense(start, match.end())
    if yearly is None:
        return _take_part(stretches.weekday(reading.now, ALL_WEEKDAYS[what], turn, lean), match)
    return stretches.choose_yearly(reading.now, yearly, turn, lean)


def read_week_and_day(match: Match[str], reading: Reading) -> Stretch | None:
    """Tuesday of last week, next week on Friday."""
    turn, weekday = TURNS.get(join_words(match["turn"])), WEEKDAYS.get(match["weekday"])
    if turn is None or weekday is None:
        return None
    monday = stretches.week(stretches.shift(reading.now, turn, "week")).start
    return _take_part(stretches.day(stretches.shift(monday, weekday, "day")), match)


def read_last_but_one(match: Match[str], reading: Reading) -> Stretch | None:
    """The week before last, the year after next."""
    turn = -2 if match["side"].startswith("before") else 2
    if match["what"] == "night":
        return stretches.part_of_day(stretches.shift(reading.now, turn, "day"), PARTS["night"])
    return stretches.period(reading.now, turn, UNITS[match["what"]])


def _turn_unit(reading: Reading, word: str, turn: int, unit: str, *, by_article: bool) -> Stretch | None:
    if unit == "day" and reading.previous and word in ("next", "previous"):
        return stretches.day(stretches.shift(reading.previous.start, turn, "day"))
    # "The last month" ends today, "last month" on its last day; a weekend is always a whole one.
    running = word in ("past", "this past") or (by_article and word != "previous")
    if running and turn and unit in ("week", "month", "quarter", "year"):
        return stretches.window(reading.now, turn, unit)
    return stretches.period(reading.now, turn, unit)


def _turn_part(reading: Reading, word: str, turn: int, hours: tuple[int, int]) -> Stretch | None:
    if turn < 1:
        return stretches.part_of_day(stretches.shift(reading.now, turn, "day"), hours)
    if reading.previous and word == "next":
        return stretches.part_of_day(stretches.shift(reading.previous.start, 1, "day"), hours)
    return None


# --- days ----------------------------------------------------------------------------------------


def read_near_day(match: Match[str], reading: Reading) -> Stretch | None:
    """Yesterday, tomorrow evening, gestern Abend, hier soir, pasado mañana."""
    word = join_words(match["day"])
    if word == "hier" and not match["part"] and not reading.is_french():
        return None
    is_morning = word in _OR_MORNING and _MORNING_BEFORE.intersection(reading.before(match.start())[:1])
    if is_morning:
        return None
    return _take_part(stretches.day(stretches.shift(reading.now, DAYS[word], "day")), match)


def read_near_night(match: Match[str], reading: Reading) -> Stretch | None:
    """Tonight, anoche."""
    return stretches.part_of_day(stretches.shift(reading.now, NIGHTS[match["night"]], "day"), PARTS["night"])


def read_plain_weekday(match: Match[str], reading: Reading) -> Stretch | None:
    """On Friday, Saturday morning; not every Friday, my Sunday dinner."""
    name, start = match["weekday"], match.start()
    before = "".join(reading.before(start)[:1])
    if before in HABITUAL or before.endswith("'s"):
        return None
    if name in SHORT_WEEKDAYS and not (before in _NAMING_A_DAY and reading.is_capital(start)):
        return None
    lean = reading.tense(start, match.end())
    return _take_part(stretches.weekday(reading.now, ALL_WEEKDAYS[name], None, lean), match)


def read_other_day(match: Match[str], reading: Reading) -> Stretch | None:
    """The other day: one of the last seven."""
    if reading.before(match.start())[:1] != ["the"]:
        return None
    return stretches.between(reading.now, (-7, -1), "day")


def read_the_weekend(match: Match[str], reading: Reading) -> Stretch | None:
    """Over the weekend, am Wochenende: the current or last one, unless the future is meant."""
    telling = [word for word in reading.before(match.start())[:2] if word not in _ARTICLES][:1]
    if not _AROUND_A_WEEKEND.intersection(telling):
        return None
    lean = reading.tense(match.start(), match.end())
    if lean is Lean.FUTURE or (reading.lean is None and telling[0] in ("for", "by", "until")):
        return stretches.weekend(reading.now)
    return stretches.weekend(stretches.shift(reading.now, 0 if reading.now.weekday() > 4 else -1, "week"))


def read_day_of_month(match: Match[str], reading: Reading) -> Stretch | None:
    """On the 5th."""
    before = reading.before(match.start())[:2]
    if before[:1] != ["the"] or not _NAMING_A_DAY.intersection(before[1:]):
        return None
    number = int(match["day"])
    first = stretches.shift(reading.now.replace(day=1), -2, "month")

    def after(months: int) -> Stretch:
        month = stretches.shift(first, months, "month")
        return stretches.day(month.replace(day=number))

    return stretches.choose(reading.now, after, range(5), reading.tense(match.start(), match.end()))


def _take_part(stretch: Stretch, match: Match[str]) -> Stretch:
    part = match.groupdict().get("part")
    return stretches.part_of_day(stretch.start, ALL_PARTS[part]) if part else stretch


# --- next to another time, and parts of one -------------------------------------------------------


def read_third_of_this(match: Match[str], reading: Reading) -> Stretch | None:
    """The end of the year."""
    whole = stretches.period(reading.now, 0, UNITS[match["unit"]])
    return whole and stretches.third(whole, THIRDS[join_words(match["third"])])


def read_third_of(match: Match[str], whole: Stretch) -> Stretch | None:
    """Early June, mid-August 2023, the end of last year, Anfang Mai; of a day or two, all of it."""
    return stretches.third(whole, THIRDS[join_words(match["third"])]) if _length(whole) > 2 else whole


def read_part_of(match: Match[str], whole: Stretch) -> Stretch | None:
    """The evening of 7 July."""
    hours = PARTS.get(match["part"])
    return stretches.part_of_day(whole.start, hours) if hours and _length(whole) == 1 else None


def read_one_of(match: Match[str], whole: Stretch) -> Stretch | None:
    """The second week of November, the last Friday of May 2023, the first weekend in June."""
    number, what = ORDINALS[match["ordinal"]], match["what"]
    if _length(whole) < 28 or (what not in ("day", "week", "weekend") and what not in WEEKDAYS):
        return None
    if what in ("day", "week"):
        size = 7 if what == "week" else 1
        start = (whole.start if number > 0 else whole.end) + (number - (number > 0)) * size * stretches.DAY
    else:
        size = 2 if what == "weekend" else 1
        wanted = WEEKDAYS.get(what, 5)
        before = whole.start - stretches.DAY if number > 0 else whole.end
        first = stretches.weekday(before, wanted, 1 if number > 0 else -1, Lean.PAST).start
        start = first + 7 * max(number - 1, 0) * stretches.DAY
    return Stretch(start, start + size * stretches.DAY)


def read_beside(match: Match[str], anchor: Stretch) -> Stretch | None:
    """Two weeks before 11 August, the Sunday after Easter, the week before last Friday."""
    what, side = join_words(match["what"]), 1 if match["side"] == "after" else -1
    edge = anchor.end - _LAST_MOMENT if side > 0 else anchor.start
    if match["count"]:
        counts, unit = _number(match["count"]), UNITS.get(what)
        return stretches.between(edge, _apply_side(counts, side), unit) if counts and unit else None
    if what in WEEKDAYS:
        return stretches.weekday(edge, WEEKDAYS[what], side, Lean.PAST)
    if what in PARTS:
        return stretches.part_of_day(stretches.shift(edge, side, "day"), PARTS[what])
    if what not in UNITS:
        return None
    if UNITS[what] == "weekend":
        in_this_week = side > 0 and edge.weekday() < 5
        return stretches.weekend(stretches.shift(edge, 0 if in_this_week else side, "week"))
    if UNITS[what] == "week":
        near, far = stretches.shift(edge, side, "day"), stretches.shift(edge, 7 * side, "day")
        return stretches.days(min(near, far), max(near, far))
    return stretches.around(edge, side, UNITS[what])


def _length(stretch: Stretch) -> int:
    return (stretch.end - stretch.start).days
