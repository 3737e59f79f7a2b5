"""The times that a text mentions, and the time that a question asks about.

English, and the common expressions of German, French and Spanish. Tools differ in how they resolve ambiguous
times: duckling looks ahead (*Friday* is the coming one), dateparser takes the current year and puts the month
first, SUTime follows the calendar and the tense. A memory holds what was said and done, so the rules are:

- A recurring name (Friday, March, 7 May, Christmas) is read by the tense of its sentence. Without a verb
  that shows it, a weekday is the last one, and a month or holiday the nearest one. A day of the year is the
  nearest within two months, with any verb. A question asks about the past, unless it mentions the
  future.
- *Last*, *this*, *next* with a week, weekend, month, quarter or year follow the calendar. Weeks begin on
  Monday. *The last month*, *the past week* and *the last three days* end today.
- *Last Friday* is the nearest before today, *next Friday* the nearest after it, *this Friday* that of the
  current week. *Last summer* is over, *next summer* has not begun.
- *Days ago* is that day; weeks, that day and three days either side; months and years follow the calendar.
  *A couple* is two or three, *a few* two to five, *several* three to seven. A question gets more slack,
  since people round.
- 05/07/2023 is May in English text and July in German, French and Spanish; a number over 12 decides;
  07.05.2023 has the day first. Seasons are whole months of the northern hemisphere. A morning lasts from 5
  to 12, an afternoon to 18, an evening to 24, a night from 18 to 5.
- *May*, *March*, *Mar*, *Sat* need a capital letter and a preposition, a day or a year; months, seasons and
  holidays a preposition; a year a preposition or a month. *Every Friday* and *my Sunday dinner* are not
  dates. *Recently*, *once*, *a while ago* name no time.

No text and no clock raise an error: what the calendar or the zone can't hold is not a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from math import inf
from typing import Final

from mnemos.language.sentences import lower_in_place
from mnemos.language.times import stretches
from mnemos.language.times.stretches import Lean, Stretch
from mnemos.language.times.time_context import Found, Reading
from mnemos.language.times.time_forms import iterate_found, read_at
from mnemos.language.times.time_words import (
    ALL_PARTS,
    ALL_WEEKDAYS,
    COUNTS,
    DAYS,
    SIGN,
    SURE_WORDS,
    TURNS,
    TURNS_AFTER,
    UNITS,
)

_NOTHING: Final = timedelta(0)
_ANY_DAY: Final = datetime(2000, 1, 1)


@dataclass(frozen=True, slots=True)
class Span:
    """From ``start`` to before ``end``, in Unix seconds; -inf and inf if it is open."""

    start: float
    end: float
    text: str
    """The words of the expression."""
    places: tuple[int, int]
    """Start and end of these words."""


def has_time(text: str) -> bool:
    """True if a text mentions a time: a quick check that a name (June, Friday) may mislead."""
    reading, sign = _open(text)
    if sign is None or sign[1] in SURE_WORDS:
        return sign is not None
    return next(iterate_found(reading), None) is not None


def find_mentioned(text: str, at: float, tz: tzinfo | None = None) -> list[Span]:
    """Return the times that a text mentions, in order, seen from the moment it was written.

    ``tz`` is the zone of the writer, by default the machine's. Empty if there is none, and for a moment
    outside the calendar.
    """
    reading, sign = _open(text)
    clock = _clock(at, tz) if sign else None
    if clock is None:
        return []
    reading.now = clock.now
    spans = (_span(found, text, clock) for found in iterate_found(reading))
    return [span for span in spans if span is not None]


def find_asked(question: str, now: float, tz: tzinfo | None = None) -> Span | None:
    """Return the time that a question asks about; None if it mentions none.

    *Since*, *after*, *before*, *until* and *by* leave one end open. Times that overlap narrow each
    other; those that *and*, *or*, *to* join, and others of one length, are covered together (*between May
    and July*); else the shorter counts ("what did I say yesterday about the trip in 2019"). There is
    slack around "four weeks ago". "When did ..." alone names no time, nor does "recently".
    """
    reading, sign = _open(question[:_LONGEST_QUESTION])
    clock = _clock(now, tz) if sign else None
    if clock is None:
        return None
    reading.now, lower = clock.now, reading.lower
    reading.lean = Lean.FUTURE if _AHEAD.search(lower) and not _BACK.search(lower) else Lean.PAST
    answer: Span | None = None
    end = 0
    for found in _align(list(iterate_found(reading)), reading):
        span = _span(found, question, clock, slack=True)
        if span is not None:
            span = _apply_bound(span, question, lower)
            cover = _joins(lower, end, found.start)
            answer = _combine(answer, span, question, cover=cover) if answer else span
            end = found.end
    return answer


def find_start(words: str, now: float, tz: tzinfo | None = None) -> float | None:
    """Return the first moment of the time that is all the words name; None if they name none.

    A recurring name (Friday, March) is the last one. *Two weeks ago* and *2w* are that day, *24h* is that
    minute, without the slack that they have in a sentence.
    """
    clock = _clock(now, tz)
    if clock is None:
        return None
    try:
        return _count_back(words.lower(), clock) or _read_start(words, clock)
    except (ValueError, OverflowError, OSError):
        return None


def _count_back(lower: str, clock: _Clock) -> float | None:
    ago = _AGO.fullmatch(lower)
    if ago is None:
        return None
    count, name = ago.groups()
    number = int(count) if count.isdecimal() else COUNTS.get(count, (0, 0))[1]
    unit = _SHORT_UNITS.get(name) or UNITS.get(name.removesuffix("ago").rstrip())
    if not number or unit is None:
        return None
    then = stretches.shift(clock.now, -number, unit)
    is_elapsed = unit in ("minute", "hour")
    return clock.seconds(then if is_elapsed else stretches.day(then).start, elapsed=is_elapsed)


def _read_start(words: str, clock: _Clock) -> float | None:
    # "May" and "Sat" need a capital letter, and "March" a preposition.
    reading, sign = _open(f"since {words.title()}")
    if sign is None:
        return None
    reading.now, reading.lean = clock.now, Lean.PAST
    found = next(iterate_found(reading), None)
    if found is None or found.end < len(reading.lower) or reading.lower[: found.start] not in _SINCE:
        return None
    return clock.seconds(found.stretch.start, elapsed=found.stretch.elapsed)


def add_dates(text: str, at: float, tz: tzinfo | None = None) -> str:
    """Return a text with the date in brackets after each relative time whose date is certain.

    *Yesterday*, *last Sunday*, *two days ago*, *last month* and *next year* are; *Friday*, *next Friday* and
    *last week* are not. *Today* is the date of the text itself.
    """
    for span in reversed(find_mentioned(text, at, tz)):
        start, end = (datetime.fromtimestamp(moment, tz) for moment in (span.start, span.end))
        if date := _name_date(span.text.lower().split(), start, end):
            place = span.places[1]
            place += 2 * text.startswith(("'s", "’s"), place)
            text = f"{text[:place]} [{date}]{text[place:]}"
    return text


def _name_date(words: list[str], start: datetime, end: datetime) -> str:
    """Name the day, month or year that words surely mean; empty if they don't."""
    if any(DAYS.get(" ".join(words[:count])) for count in (1, 2, 3)):
        return f"{start:%Y-%m-%d}"
    first, second, last = words[0], words[min(1, len(words) - 1)], words[-1]
    turn, what = (TURNS[first], second) if first in TURNS else (TURNS_AFTER.get(last), first)
    if turn == -1 and (what in ALL_WEEKDAYS or what in ALL_PARTS):
        return f"{start:%Y-%m-%d}"
    if last == "ago" and UNITS.get(words[-2]) == "day" and end - start <= timedelta(days=1):
        return f"{start:%Y-%m-%d}"
    # "The last month" ends today; "the previous month" is that of a story.
    if not turn or first == "previous" or (start.day, end.day) != (1, 1):
        return ""
    if UNITS.get(what) == "month":
        return f"{start:%B %Y}"
    return f"{start.year}" if UNITS.get(what) == "year" else ""


def asks_when(question: str) -> bool:
    """True if the answer to a question is a date or a time."""
    return _WHEN.search(lower_in_place(question[:_LONGEST_QUESTION].lstrip())) is not None


_AHEAD: Final = re.compile(
    r"\b(?:will|shall|going\sto|gonna|upcoming|coming\sup|planned\sfor|scheduled\sfor|plans?\sfor|planning)\b|'ll\b"
    r"|^\s?what\s(?:am|are|is)\s(?:i|we)\s\w+ing\b|\b(?:do|does)\s\w+\shave\b|\b(?:werde|wird|werden|vais|allons|vamos\sa)\b"
)
_BACK: Final = re.compile(r"\b(?:did|was|were|had|been)\b")

_AUXILIARY: Final = (
    r"(?:did|do|does|was|were|is|are|am|will|would|have|has|had|can|could|should|shall|must|might)\b"
)
_WHEN: Final = re.compile(
    rf"\bwhen(?:'s|'d|'ll|,?(?:\s(?:exactly|specifically|roughly|approximately|about|else|again|and\swhere))?\s{_AUXILIARY})"
    r"|\b(?:since|until|till|from|by)\swhen\b|\b(?:know|remember|recall|(?:tell|remind)\sme|sure|check|find\sout|exactly)\swhen\b"
    r"|\bwhen\s?\??\s*$"
    # "When lunch was over?", but not "When I left, ..." and not "When lunch was over what ..."
    r"|^when\s(?!(?:i|we|you|he|she|they|it)\b)(?![^?]{0,200}\b(?:what|who|where|which|how|why)\b)"
    r"[^,?]{1,200}\?\s*$"
    r"|\b(?:what|which)\s(?:was\sthe\s|is\sthe\s|were\sthe\s)?(?:exact\s|specific\s)?"
    r"(?:date|day|days|week|weekend|weekday|month|year|years|time|season|quarter)\b(?!\sof\s(?:the\s)?(?:work|food))"
    r"|\bhow\s(?:long|many\s(?:days|weeks|months|years|hours))\sago\b|\bhow\srecently\b"
    r"|\bwann\b|\bwelche[smnr]?\s(?:datum|tag|jahr|monat|woche|uhrzeit)\b|\bum\swie\s?viel\suhr\b"
    r"|(?:^|[¿?.,]\s?|\b(?:depuis|jusqu'à|c'est|est-ce|sais|savez|dis-moi|et)\s)quand\b"
    r"|\bquelle?s?\s(?:date|jour|année|mois|semaine|heure)\b"
    r"|\bcuándo\b|¿\s?cuando\b|^(?:desde\s|hasta\s)?cuando\b|\bqu[ée]\s(?:día|dia|fecha|año|mes|semana|hora)\b"
)

_BOUND: Final = re.compile(
    r"\b(?:(?P<since>since|starting|seit|ab|depuis|dès|desde)"
    r"|(?P<after>after|nach|après|después\sde|despues\sde)"
    r"|(?P<before>before|prior\sto|earlier\sthan|vor|avant|antes\sde)"
    r"|(?P<until>until|till|up\sto|by|bis|jusqu'à|jusqu'en|jusqu'au|hasta))"
    r"\s(?:the\s|le\s|la\s|el\s|en\s|dem\s|den\s|zum\s)?$"
)
_JOINING: Final = re.compile(
    r"(?:\s?[-–,]\s?|,?\s(?:and|or|to|through|until|till|und|oder|bis|et|ou|à|au|y|o|a|al|hasta)\s)"
    r"(?:the\s|in\s|on\s|le\s|el\s|en\s|im\s|am\s)?"
)
_AGO: Final = re.compile(r"(\d{1,6}|\w{1,20}?)\s?([hdw]|\w{1,20}\sago)")
_SHORT_UNITS: Final = {"h": "hour", "d": "day", "w": "week"}
_SINCE: Final = frozenset((" since ", " since the ", " since in ", " since on "))
_REACH: Final = 20
# A pasted log is a question too, and its beginning is enough.
_LONGEST_QUESTION: Final = 10_000
_HOUR: Final = 3600


def _open(text: str) -> tuple[Reading, re.Match[str] | None]:
    """Return the reading of a text, and the first sign of a time in it."""
    padded = f" {text}"
    lower = lower_in_place(padded)
    return Reading(padded, lower, _ANY_DAY), SIGN.search(lower)


@dataclass(frozen=True, slots=True)
class _Clock:
    """A moment, and the wall clock time then."""

    at: float
    now: datetime
    tz: tzinfo | None

    def seconds(self, moment: datetime, *, elapsed: bool) -> float:
        if elapsed:
            return self.at + (moment - self.now).total_seconds()
        return moment.replace(tzinfo=self.tz).timestamp()


def _clock(at: float, tz: tzinfo | None) -> _Clock | None:
    """None outside the stretches."""
    try:
        return _Clock(at, datetime.fromtimestamp(at, tz).replace(tzinfo=None, fold=0), tz)
    except (ValueError, OverflowError, OSError):
        return None


def _span(found: Found, text: str, clock: _Clock, *, slack: bool = False) -> Span | None:
    stretch = found.stretch
    extra = stretch.slack if slack else _NOTHING
    try:
        start = clock.seconds(stretch.start - extra, elapsed=stretch.elapsed)
        end = clock.seconds(stretch.end + extra, elapsed=stretch.elapsed)
    except (ValueError, OverflowError, OSError):
        return None
    # A zone may have skipped the day.
    if start >= end:
        return None
    # The reading has a blank before the text.
    places = (found.start - 1, found.end - 1)
    return Span(start, end, text[slice(*places)], places)


def _align(found: list[Found], reading: Reading) -> list[Found]:
    """Align joined times: in "from May to July 2023" both are in 2023, the first before the second."""
    for i in range(len(found) - 1):
        first, second = found[i], found[i + 1]
        if not _joins(reading.lower, first.end, second.start):
            continue
        if not first.dated and (second.dated or second.stretch.start < first.stretch.start):
            found[i] = _reread(reading, first, second.stretch, Lean.PAST)
        elif first.dated and not second.dated:
            found[i + 1] = _reread(reading, second, first.stretch, Lean.FUTURE)
    return found


def _reread(reading: Reading, found: Found, beside: Stretch, lean: Lean) -> Found:
    """Read the same words as seen from another time."""
    seen = Reading(reading.text, reading.lower[: found.end], beside.start, lean, led_to=found.start)
    return read_at(seen, found.start) or found


def _joins(lower: str, end: int, start: int) -> bool:
    return start - end < _REACH and _JOINING.fullmatch(lower, end, start) is not None


def _apply_bound(span: Span, question: str, lower: str) -> Span:
    """Apply *since* or *before* to a span and include their words."""
    place, end = span.places
    bound = _BOUND.search(lower, max(0, place - _REACH), place + 1)
    if bound is None:
        return span
    places = (bound.start() - 1, end)
    text = question[slice(*places)]
    if bound["since"]:
        return Span(span.start, inf, text, places)
    if bound["after"]:
        return Span(span.end, inf, text, places)
    return Span(-inf, span.start if bound["before"] else span.end, text, places)


def _combine(one: Span, other: Span, question: str, *, cover: bool) -> Span:
    places = (min(one.places[0], other.places[0]), max(one.places[1], other.places[1]))
    start, end = max(one.start, other.start), min(one.end, other.end)
    if cover or start >= end:
        lengths = one.end - one.start, other.end - other.start
        # Days may differ by an hour when clocks change.
        if not cover and abs(lengths[0] - lengths[1]) > _HOUR:
            return one if lengths[0] < lengths[1] else other
        start, end = min(one.start, other.start), max(one.end, other.end)
    return Span(start, end, question[slice(*places)], places)
