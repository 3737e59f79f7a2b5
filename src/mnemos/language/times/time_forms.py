"""The forms of expressions of time, and the search for them in a text.

A form is the words that it may begin with, an expression, and the reader of its match. The search looks for
the words first and tries forms only there. Every expression is bounded and nothing is tried twice at a place,
so that the time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from mnemos.language.times import dates, relative
from mnemos.language.times.stretches import Stretch
from mnemos.language.times.time_context import Found, Reading
from mnemos.language.times.time_words import (
    ALL_MONTHS,
    ALL_PARTS,
    ALL_WEEKDAYS,
    BEFORE_A_WORD,
    COUNTS,
    DAYS,
    HOLIDAYS,
    MONTHS,
    NIGHTS,
    ORDINALS,
    PARTS,
    SEASONS,
    SIGN,
    THIRDS,
    TURNS,
    TURNS_AFTER,
    UNITS,
    WEEKDAYS,
    either,
)
from mnemos.text.patterns import compile_lazily

Read = Callable[[re.Match[str], Reading], Found | Stretch | None]
ReadBeside = Callable[[re.Match[str], Stretch], Stretch | None]

_DIGIT: Final = ("0",)

# A word of a table, which the reader looks up. Spelling the tables out would make the expressions slow to
# compile; only phrases of several words are spelt out.
_WORD: Final = r"[^\W\d_]+"
_COUNT: Final = (
    r"(?P<count>\d{1,4}|a\s(?:few|couple(?:\sof)?|handful\sof)|couple(?:\sof)?|ein\spaar|un\spar\sde"
    rf"|un[oa]s\spoc[oa]s|{_WORD})"
)
_WEEKEND: Final = r"fin(?:es)?\sde\ssemana|week-ends?"
_UNIT: Final = rf"(?P<unit>{_WEEKEND}|{_WORD})"
_MONTH: Final = rf"(?P<month>{_WORD})(?!\w)"
_WEEKDAY: Final = rf"(?P<weekday>{_WORD})(?!\w)"
_THIRD: Final = rf"(?!fin(?:es)?\sde\ssemana)(?P<third>{either(THIRDS)})"
_TURN: Final = rf"(?P<turn>this\s(?:past|coming)|{_WORD})"
_FEAST: Final = either(HOLIDAYS)
_YEAR: Final = r"(?P<year>(?:1[5-9]|20|21)\d\d)(?!\w|[-/.,]\d)"
_OF_YEAR: Final = rf"(?:[.,]?\s?(?:of\s|de\s|del\s|in\s)?{_YEAR}|\s'(?P<short>\d\d)(?!\w))"
_SUFFIX: Final = r"(?:st|nd|rd|th|er|º)"
_AND_PART: Final = (
    r"(?:\s(?:in\sthe\s|por\sla\s|a\sla\s|de\sla\s|en\sla\s|au\s|am\s)?"
    rf"(?P<part>{either(ALL_PARTS)})(?!\w))?"
)
# In "Sunday, 7 May" the date is more precise than the weekday.
_NO_DATE_BEHIND: Final = rf"(?!,?\s(?:the\s|den\s)?(?:\d{{1,2}}{_SUFFIX}?\.?\s|{either(ALL_MONTHS)}\.?\s\d))"
_NOT_COUNTING: Final = (
    r"(?!\s(?:words|steps|people|dollars|euros|calories|miles|met(?:er|re)s|times|pages|users|rows))"
)
# Not "on the 2nd floor", "for the summer job", "at Christmas dinner".
_NO_NOUN_BEHIND: Final = (
    r"(?=\s?[^\w\s'-]|\s?$|\s(?:and|or|at|but|so|to|we|i|i'[mdv]e?|he|she|it|they|you|my|our|the|this|for|from|in|on|with|due|then"
    r"|after|before|because|when|where|that|until|was|were|is|are|will|did|had|has|have|und|et|y|wir|ich|nous|on)\b)"
)

_FORMS: Final[tuple[tuple[Iterable[str], str, Read], ...]] = (
    (
        _DIGIT,
        r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?=t\d\d:|(?!\w|[-/.]\d))",
        dates.read_iso_date,
    ),
    (
        _DIGIT,
        r"(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4}|\d\d)(?!\w|[-/.]\d)",
        dates.read_numeric_date,
    ),
    (_DIGIT, r"(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?!\w|[-/.]\d)", dates.read_iso_month),
    (
        _DIGIT,
        rf"(?P<day>\d{{1,2}})(?P<suffix>{_SUFFIX}|\.)?"
        rf"(?:\s?(?:-|–|to|bis|al?)\s?(?P<last>\d{{1,2}}){_SUFFIX}?\.?)?\s(?P<of>of\s|de\s)?{_MONTH}{_OF_YEAR}?",
        dates.read_date,
    ),
    (
        ALL_MONTHS,
        rf"{_MONTH}\.?\s(?P<of>the\s)?(?P<day>\d{{1,2}})(?P<suffix>{_SUFFIX})?"
        rf"(?:\s?(?:-|–|to|through)\s?(?P<last>\d{{1,2}}){_SUFFIX}?)?"
        rf"(?![\w:%]|[.,]\d{{1,3}}(?!\d)){_OF_YEAR}?",
        dates.read_date,
    ),
    (ALL_MONTHS, rf"{_MONTH}{_OF_YEAR}", dates.read_month_of_year),
    (
        ("week", "month", "year", "weekend", "night"),
        r"(?P<what>week|month|year|weekend|night)\s(?P<side>before\slast|after\snext)(?!\w)",
        relative.read_last_but_one,
    ),
    (
        (*COUNTS, *_DIGIT),
        rf"{_COUNT}\s{_UNIT}(?!\w)(?P<half>\sand\sa\shalf)?"
        r"(?:\s(?P<after>ago|back|earlier|later|from\snow|from\stoday|hence)(?!\w))?",
        relative.read_quantity,
    ),
    ((*COUNTS, *_DIGIT), rf"{_COUNT}\s{_WEEKDAY}\sago(?!\w)", relative.read_many_weekdays),
    (
        ("days", "weeks", "months", "years"),
        r"(?P<unit>days|weeks|months|years)\sago(?!\w)",
        relative.read_some_units,
    ),
    (
        DAYS,
        rf"(?P<day>{either(DAYS)})(?!\w|'s\s(?:world|society|age|digital|modern)|\sen\sd[ií]a){_AND_PART}",
        relative.read_near_day,
    ),
    (NIGHTS, rf"(?P<night>{either(NIGHTS)})(?!\w)", relative.read_near_night),
    (
        TURNS,
        rf"{_TURN}\s(?:{_COUNT}\s)?(?P<unit>(?:minute|hour|day|week|month|quarter|year)s)(?!\w|\sof\b)",
        relative.read_window,
    ),
    (TURNS, rf"{_TURN}\sweek(?:\son)?,?\s{_WEEKDAY}{_AND_PART}", relative.read_week_and_day),
    (WEEKDAYS, rf"{_WEEKDAY},?(?:\sof)?\s{_TURN}\sweek(?!\w)", relative.read_week_and_day),
    (TURNS, rf"{_TURN}\s(?P<what>{_WEEKEND}|{_FEAST}|{_WORD})(?!\w){_AND_PART}", relative.read_turn),
    (
        (*UNITS, *WEEKDAYS, *SEASONS, *MONTHS, *PARTS),
        rf"(?P<what>{_WEEKEND}|{_WORD})\s(?P<turn>{either(TURNS_AFTER)})(?!\w){_AND_PART}",
        relative.read_turn,
    ),
    (
        ALL_WEEKDAYS,
        rf"{_WEEKDAY}{_NO_DATE_BEHIND}{_AND_PART}",
        relative.read_plain_weekday,
    ),
    (("other",), r"other\s(?:day|night|morning|evening|week)(?!\w)", relative.read_other_day),
    (
        ("weekend", "wochenende", "week-end", "fin"),
        r"(?:weekend|wochenende|week-end|fin\sde\ssemana)(?!\w)",
        relative.read_the_weekend,
    ),
    (
        THIRDS,
        rf"{_THIRD}\s(?:the|this)\s(?P<unit>week|month|quarter|year)(?!\w)",
        relative.read_third_of_this,
    ),
    (SEASONS, rf"(?P<season>{_WORD})(?:{_OF_YEAR}|{_NO_NOUN_BEHIND})", dates.read_season),
    (HOLIDAYS, rf"(?P<holiday>{_FEAST})(?!\w)(?:{_OF_YEAR}|{_NO_NOUN_BEHIND})", dates.read_holiday),
    (("q1", "q2", "q3", "q4"), rf"q(?P<quarter>[1-4])(?!\w){_OF_YEAR}?", dates.read_quarter),
    (ALL_MONTHS, _MONTH, dates.read_plain_month),
    (_DIGIT, rf"{_YEAR}{_NOT_COUNTING}", dates.read_plain_year),
    (_DIGIT, rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th){_NO_NOUN_BEHIND}", relative.read_day_of_month),
)

# These refer to another time, which must follow at once.
_FORMS_BESIDE: Final[tuple[tuple[Iterable[str], str, ReadBeside], ...]] = (
    (
        ORDINALS,
        rf"(?P<ordinal>{_WORD})\s(?P<what>{_WORD})\s(?:of|in)\s(?:the\s)?",
        relative.read_one_of,
    ),
    (
        (*COUNTS, *_DIGIT, *UNITS, *WEEKDAYS, *PARTS, "last"),
        rf"(?:last\s)?(?:{_COUNT}\s)?(?P<what>{_WEEKEND}|{_WORD})"
        r"\s(?P<side>before|after|prior\sto)\s(?:the\s)?",
        relative.read_beside,
    ),
    (THIRDS, rf"{_THIRD}(?:\s(?:in|of|de|del)\s|[\s-])(?:the\s|l')?", relative.read_third_of),
    (PARTS, rf"(?P<part>{_WORD})\sof\s(?:the\s)?", relative.read_part_of),
)
# Two weeks before the end of May.
_DEEPEST: Final = 2

_Reader = Callable[..., Found | Stretch | None]


class _Form:
    """An expression that is compiled when first tried: together they take long to compile."""

    __slots__ = ("_expression", "match", "read")

    def __init__(self, expression: str, read: _Reader) -> None:
        self._expression = expression
        self.match: Callable[[str, int], re.Match[str] | None] = self._first_match
        self.read = read

    def _first_match(self, text: str, place: int) -> re.Match[str] | None:
        self.match = re.compile(self._expression).match
        return self.match(text, place)


def _by_first_word(forms: Iterable[tuple[Iterable[str], str, _Reader]]) -> dict[str, tuple[_Form, ...]]:
    table: dict[str, tuple[_Form, ...]] = {}
    for words, expression, read in forms:
        form = _Form(expression, read)
        for word in dict.fromkeys(word.split(" ")[0] for word in words):
            table[word] = (*table.get(word, ()), form)
    return table


_BY_WORD: Final = _by_first_word(_FORMS)
_BY_WORD_BESIDE: Final = _by_first_word(_FORMS_BESIDE)
_START: Final = compile_lazily(
    rf"{BEFORE_A_WORD}(?<!\d[.,])"
    rf"(?P<word>{either(sorted({*_BY_WORD, *_BY_WORD_BESIDE} - {*_DIGIT}))}(?!\w)|\d)"
)
# The characters before its first sign that an expression may begin at: "a couple of ", "the second ".
_BEFORE_A_SIGN: Final = 40


def iterate_found(reading: Reading) -> Iterator[Found]:
    """Yield the times of a text in order, none inside another."""
    place = 0
    for sign in SIGN.finditer(reading.lower):
        if sign.end() <= place:
            continue
        place = max(place, sign.start() - _BEFORE_A_SIGN)
        # A form that begins after the sign belongs to the next one.
        while match := _START().search(reading.lower, place, sign.end()):
            found = _read(reading, match, depth=0)
            place = found.end if found else match.end()
            if found:
                reading.previous, reading.previous_end = found.stretch, found.end
                yield found
        place = max(place, sign.end())


def read_at(reading: Reading, place: int) -> Found | None:
    """Return the time whose first word begins at a place."""
    start = _START().match(reading.lower, place - 1)
    return _read(reading, start, depth=0) if start else None


def _read(reading: Reading, start: re.Match[str], *, depth: int) -> Found | None:
    word, place = start["word"], start.start("word")
    if word.isdigit():
        word = "0"
    if depth < _DEEPEST:
        for form in _BY_WORD_BESIDE.get(word, ()):
            match = form.match(reading.lower, place)
            if match and (found := _read_beside(reading, match, form.read, depth=depth + 1)):
                return found
    for form in _BY_WORD.get(word, ()):
        match = form.match(reading.lower, place)
        if match and (found := _answer(match, form.read, reading)):
            return found
    return None


def _read_beside(reading: Reading, match: re.Match[str], read: _Reader, *, depth: int) -> Found | None:
    start = _START().match(reading.lower, match.end() - 1)
    if start is None:
        return None
    reading.led_to = match.end()
    anchor = _read(reading, start, depth=depth)
    found = anchor and _answer(match, read, anchor.stretch)
    return Found(found.stretch, found.start, anchor.end, anchor.dated) if anchor and found else None


def _answer(match: re.Match[str], read: _Reader, about: Reading | Stretch) -> Found | None:
    try:
        said = read(match, about)
    except (ValueError, OverflowError):
        # 31 February, or beyond the stretches.
        return None
    return Found(said, match.start(), match.end()) if isinstance(said, Stretch) else said
