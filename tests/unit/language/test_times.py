"""Times that a text mentions, and the time that a question asks about."""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta, timezone
from math import inf, isinf
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.language.times import Span, add_dates, asks_when, find_asked, find_mentioned, has_time

# A Wednesday.
NOW = datetime(2023, 5, 17, 14, 30, tzinfo=UTC).timestamp()

ANY = st.text(st.characters(exclude_categories=[]), max_size=80)
WORDS = (
    "in on at the last next this past of to and before after since until between from early late end mid"
    " May march may Mar June 2023 1999 9999 0 1 5 7 31 29 May-5 5/7/2023 2023-02-30 2023-05-07 31.12.2022"
    " a an one two few couple day days week weeks weekend month year years ago later back from now"
    " Monday Friday Fri Sat yesterday tomorrow tonight night morning summer winter Christmas Easter"
    " vor zwei Wochen hier soir il y a trois jours semaine dernière hace dos días"
    " pasado mañana q3 '23 5th , . - –"
).split()
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
MOMENTS = st.one_of(
    st.floats(min_value=-63e9, max_value=254e9),
    st.sampled_from([0.0, -1.0, 1e300, -1e300, inf, -inf, float("nan"), 253402300799.0, -62135596800.0]),
)
ZONES = st.sampled_from(
    [None, UTC, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Pacific/Apia"), timezone(timedelta(hours=14))]
)


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()


def shown(spans: list[Span]) -> list[tuple[str, str]]:
    return [(_shown(span.start), _shown(span.end)) for span in spans]


def _shown(moment: float) -> str:
    if isinf(moment):
        return "open"
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")


def day_after(first: str) -> str:
    return str(date.fromisoformat(first) + timedelta(days=1))


DAYS = [
    ("I called her yesterday", "2023-05-16"),
    ("today is the day", "2023-05-17"),
    ("we leave tomorrow", "2023-05-18"),
    ("the day before yesterday", "2023-05-15"),
    ("the day after tomorrow", "2023-05-19"),
    ("I went there last Tuesday", "2023-05-16"),
    ("I went there last Wednesday", "2023-05-10"),
    ("I went there last Thursday", "2023-05-11"),
    ("last Fri we met", "2023-05-12"),
    ("next Tuesday", "2023-05-23"),
    ("next Wednesday", "2023-05-24"),
    ("next Friday", "2023-05-19"),
    ("this Monday", "2023-05-15"),
    ("this Friday", "2023-05-19"),
    ("this Monday we will start", "2023-05-22"),
    ("this Friday we started", "2023-05-12"),
    ("this past Sunday", "2023-05-14"),
    ("this coming Saturday", "2023-05-20"),
    ("On Friday I went to the dentist", "2023-05-12"),
    ("On Friday I will go to the dentist", "2023-05-19"),
    ("I'll see you on Sunday", "2023-05-21"),
    ("the release slipped again, we shipped it Monday", "2023-05-15"),
    ("on Sat we cooked", "2023-05-13"),
    ("two Fridays ago", "2023-05-05"),
    ("Tuesday of last week", "2023-05-09"),
    ("next week on Tuesday", "2023-05-23"),
    ("a day ago", "2023-05-16"),
    ("2 days ago", "2023-05-15"),
    ("ten days ago", "2023-05-07"),
    ("30 days ago", "2023-04-17"),
    ("The parcel is due in three days", "2023-05-20"),
    ("five days from now", "2023-05-22"),
    ("7 May 2023", "2023-05-07"),
    ("7th May 2023", "2023-05-07"),
    ("the 7th of May, 2023", "2023-05-07"),
    ("May 7, 2023", "2023-05-07"),
    ("May 7th, 2023", "2023-05-07"),
    ("May 7 2023", "2023-05-07"),
    ("december 1,2021", "2021-12-01"),
    ("Sunday, May 7, 2023", "2023-05-07"),
    ("Sun 7 May 2023", "2023-05-07"),
    ("Aug. 15, 2022", "2022-08-15"),
    ("15 Aug '22", "2022-08-15"),
    ("7 May", "2023-05-07"),
    ("on May 7th", "2023-05-07"),
    ("the 5th of June", "2023-06-05"),
    ("We flew to Oslo on November 3rd", "2022-11-03"),
    ("We will fly to Oslo on November 3rd", "2023-11-03"),
    ("29 February", "2024-02-29"),
    ("we met on the 5th.", "2023-05-05"),
    ("it arrived on the 20th and it was broken", "2023-04-20"),
    ("the rent is due on the 20th", "2023-05-20"),
    ("2023-05-07", "2023-05-07"),
    ("2023/5/7", "2023-05-07"),
    ("started 2023-05-07T10:00:00Z", "2023-05-07"),
    ("05/07/2023", "2023-05-07"),
    ("5/7/23", "2023-05-07"),
    ("5/7/69", "1969-05-07"),
    ("25/12/2022", "2022-12-25"),
    ("12/25/2022", "2022-12-25"),
    ("07.05.2023", "2023-05-07"),
    ("on Thanksgiving we ate too much", "2022-11-24"),
    ("last Halloween", "2022-10-31"),
    ("New Year's Eve 2021", "2021-12-31"),
    ("on Valentine’s Day", "2023-02-14"),
    ("Easter Sunday 2024", "2024-03-31"),
    ("Good Friday 2022", "2022-04-15"),
    ("the last Friday of March 2023", "2023-03-31"),
    ("the first Monday in September 2022", "2022-09-05"),
    ("the day after 3 May 2023", "2023-05-04"),
    ("the Sunday before 25 May 2023", "2023-05-21"),
    ("the last day of February 2024", "2024-02-29"),
    # German
    ("Gestern war ich dort", "2023-05-16"),
    ("vorgestern", "2023-05-15"),
    ("heute", "2023-05-17"),
    ("Morgen fahren wir los", "2023-05-18"),
    ("übermorgen", "2023-05-19"),
    ("letzten Dienstag", "2023-05-16"),
    ("am nächsten Montag", "2023-05-22"),
    ("vor drei Tagen", "2023-05-14"),
    ("in zehn Tagen ist Abgabe", "2023-05-27"),
    ("am 7. Mai 2023", "2023-05-07"),
    ("7. März 2022", "2022-03-07"),
    ("Wir haben uns am 05/07/2022 getroffen", "2022-07-05"),
    # French
    ("Hier nous avons mangé ensemble", "2023-05-16"),
    ("avant-hier", "2023-05-15"),
    ("aujourd’hui", "2023-05-17"),
    ("demain", "2023-05-18"),
    ("après-demain", "2023-05-19"),
    ("mardi dernier", "2023-05-16"),
    ("lundi prochain", "2023-05-22"),
    ("il y a trois jours", "2023-05-14"),
    ("dans cinq jours", "2023-05-22"),
    ("le 7 mai 2023", "2023-05-07"),
    ("le 1er avril", "2023-04-01"),
    # Spanish
    ("Ayer fuimos al mercado", "2023-05-16"),
    ("anteayer", "2023-05-15"),
    ("hoy", "2023-05-17"),
    ("Mañana salimos", "2023-05-18"),
    ("pasado mañana", "2023-05-19"),
    ("el martes pasado", "2023-05-16"),
    ("el próximo lunes", "2023-05-22"),
    ("hace dos días", "2023-05-15"),
    ("7 de mayo de 2023", "2023-05-07"),
    ("el 7 de mayo", "2023-05-07"),
]

STRETCHES = [
    ("tonight", "2023-05-17T18:00", "2023-05-18T05:00"),
    ("this morning", "2023-05-17T05:00", "2023-05-17T12:00"),
    ("this afternoon", "2023-05-17T12:00", "2023-05-17T18:00"),
    ("last night", "2023-05-16T18:00", "2023-05-17T05:00"),
    ("the night before last", "2023-05-15T18:00", "2023-05-16T05:00"),
    ("yesterday evening", "2023-05-16T18:00", "2023-05-17"),
    ("on Saturday morning we swam", "2023-05-13T05:00", "2023-05-13T12:00"),
    ("the evening of 7 July 2022", "2022-07-07T18:00", "2022-07-08"),
    ("an hour ago", "2023-05-17T13:00", "2023-05-17T14:00"),
    ("last week", "2023-05-08", "2023-05-15"),
    ("this week", "2023-05-15", "2023-05-22"),
    ("next week", "2023-05-22", "2023-05-29"),
    ("the week before last", "2023-05-01", "2023-05-08"),
    ("last weekend", "2023-05-13", "2023-05-15"),
    ("this weekend", "2023-05-20", "2023-05-22"),
    ("next weekend", "2023-05-27", "2023-05-29"),
    ("two weekends ago", "2023-05-06", "2023-05-08"),
    ("we hiked over the weekend", "2023-05-13", "2023-05-15"),
    ("we will hike on the weekend", "2023-05-20", "2023-05-22"),
    ("last month", "2023-04-01", "2023-05-01"),
    ("this month", "2023-05-01", "2023-06-01"),
    ("next month", "2023-06-01", "2023-07-01"),
    ("last year", "2022-01-01", "2023-01-01"),
    ("this year", "2023-01-01", "2024-01-01"),
    ("next year", "2024-01-01", "2025-01-01"),
    ("the year before last", "2021-01-01", "2022-01-01"),
    ("last quarter", "2023-01-01", "2023-04-01"),
    ("a week ago", "2023-05-07", "2023-05-14"),
    ("two weeks ago", "2023-04-30", "2023-05-07"),
    ("a month ago", "2023-04-01", "2023-05-01"),
    ("six months ago", "2022-11-01", "2022-12-01"),
    ("3 years ago", "2020-01-01", "2021-01-01"),
    ("a year and a half ago", "2021-01-01", "2022-01-01"),
    ("a couple of days ago", "2023-05-14", "2023-05-16"),
    ("a few days ago", "2023-05-12", "2023-05-16"),
    ("a few years ago", "2018-01-01", "2022-01-01"),
    ("several months back", "2022-10-01", "2023-03-01"),
    ("the other day", "2023-05-10", "2023-05-17"),
    ("See you in two weeks", "2023-05-28", "2023-06-04"),
    ("It opens in a month", "2023-06-01", "2023-07-01"),
    ("the last three days", "2023-05-14", "2023-05-18"),
    ("over the past few weeks", "2023-04-12", "2023-05-18"),
    ("during the last month", "2023-04-17", "2023-05-18"),
    ("this past year", "2022-05-17", "2023-05-18"),
    ("the next two weeks", "2023-05-17", "2023-06-01"),
    ("May 2023", "2023-05-01", "2023-06-01"),
    ("February of 2024", "2024-02-01", "2024-03-01"),
    ("Sept 2022", "2022-09-01", "2022-10-01"),
    ("2023-02", "2023-02-01", "2023-03-01"),
    ("we moved in March", "2023-03-01", "2023-04-01"),
    ("we moved in June", "2022-06-01", "2022-07-01"),
    ("we will move in March", "2024-03-01", "2024-04-01"),
    ("the lake freezes in December", "2022-12-01", "2023-01-01"),
    ("last March", "2023-03-01", "2023-04-01"),
    ("last May", "2022-05-01", "2022-06-01"),
    ("next May", "2024-05-01", "2024-06-01"),
    ("mid-August 2022", "2022-08-11", "2022-08-21"),
    ("early January", "2023-01-01", "2023-01-11"),
    ("at the end of last month", "2023-04-21", "2023-05-01"),
    ("by the end of the year", "2023-09-01", "2024-01-01"),
    ("early 2022", "2022-01-01", "2022-05-01"),
    ("May 3-5, 2022", "2022-05-03", "2022-05-06"),
    ("3–5 March 2021", "2021-03-03", "2021-03-06"),
    ("in 2019", "2019-01-01", "2020-01-01"),
    ("back in 1987", "1987-01-01", "1988-01-01"),
    ("Q3 2022", "2022-07-01", "2022-10-01"),
    ("summer 2022", "2022-06-01", "2022-09-01"),
    ("the winter of 2021", "2021-12-01", "2022-03-01"),
    ("last summer", "2022-06-01", "2022-09-01"),
    ("last winter", "2022-12-01", "2023-03-01"),
    ("this summer", "2023-06-01", "2023-09-01"),
    ("next fall", "2023-09-01", "2023-12-01"),
    ("we were in Rome in the spring", "2023-03-01", "2023-06-01"),
    ("last Christmas", "2022-12-24", "2022-12-27"),
    ("Christmas 2019", "2019-12-24", "2019-12-27"),
    ("Easter 2023", "2023-04-07", "2023-04-11"),
    ("the second week of November 2022", "2022-11-08", "2022-11-15"),
    ("the first weekend in April 2023", "2023-04-01", "2023-04-03"),
    ("two weeks before August 11, 2022", "2022-07-25", "2022-08-01"),
    ("the week before 9 June 2022", "2022-06-02", "2022-06-09"),
    ("the weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
    ("the month after June 2022", "2022-07-01", "2022-08-01"),
    ("the night before 3 May 2023", "2023-05-02T18:00", "2023-05-03T05:00"),
    ("the weekend after 3 May 2023", "2023-05-06", "2023-05-08"),
    ("two weeks before the end of May 2022", "2022-05-04", "2022-05-11"),
    ("I need it by the weekend", "2023-05-20", "2023-05-22"),
    ("ten minutes ago", "2023-05-17T14:18", "2023-05-17T14:22"),
    ("the last 24 hours", "2023-05-16T14:30", "2023-05-17T14:30"),
    ("a fortnight ago", "2023-04-30", "2023-05-07"),
    ("in Q1", "2023-01-01", "2023-04-01"),
    ("this quarter", "2023-04-01", "2023-07-01"),
    # German
    ("letzte Woche", "2023-05-08", "2023-05-15"),
    ("nächste Woche", "2023-05-22", "2023-05-29"),
    ("letztes Wochenende", "2023-05-13", "2023-05-15"),
    ("letzten Monat", "2023-04-01", "2023-05-01"),
    ("letztes Jahr", "2022-01-01", "2023-01-01"),
    ("letzten Sommer", "2022-06-01", "2022-09-01"),
    ("vor zwei Wochen", "2023-04-30", "2023-05-07"),
    ("vor einem Jahr", "2022-01-01", "2023-01-01"),
    ("vor ein paar Tagen", "2023-05-12", "2023-05-16"),
    ("Wir waren im März dort", "2023-03-01", "2023-04-01"),
    ("Anfang Mai", "2023-05-01", "2023-05-11"),
    ("heute Morgen", "2023-05-17T05:00", "2023-05-17T12:00"),
    ("gestern Abend", "2023-05-16T18:00", "2023-05-17"),
    # French
    ("la semaine dernière", "2023-05-08", "2023-05-15"),
    ("le mois dernier", "2023-04-01", "2023-05-01"),
    ("l'année dernière", "2022-01-01", "2023-01-01"),
    ("l’été dernier", "2022-06-01", "2022-09-01"),
    ("cette semaine", "2023-05-15", "2023-05-22"),
    ("le week-end prochain", "2023-05-27", "2023-05-29"),
    ("il y a deux semaines", "2023-04-30", "2023-05-07"),
    ("Nous étions là en mars", "2023-03-01", "2023-04-01"),
    ("hier soir", "2023-05-16T18:00", "2023-05-17"),
    ("ce matin", "2023-05-17T05:00", "2023-05-17T12:00"),
    # Spanish
    ("la semana pasada", "2023-05-08", "2023-05-15"),
    ("la semana que viene", "2023-05-22", "2023-05-29"),
    ("el mes pasado", "2023-04-01", "2023-05-01"),
    ("el año pasado", "2022-01-01", "2023-01-01"),
    ("el fin de semana pasado", "2023-05-13", "2023-05-15"),
    ("hace dos semanas", "2023-04-30", "2023-05-07"),
    ("hace un año", "2022-01-01", "2023-01-01"),
    ("Fuimos en marzo de 2022", "2022-03-01", "2022-04-01"),
    ("anoche", "2023-05-16T18:00", "2023-05-17T05:00"),
    ("esta noche", "2023-05-17T18:00", "2023-05-18T05:00"),
]

NOT_TIMES = [
    "",
    "May I ask you something?",
    "you may march on, this may take long",
    "we march 5 miles, and may 3 people join",
    "June said she would come",
    "Mars is a planet, and I put mayo on it",
    "Guten Morgen, wir sind hier",
    "cada mañana por la mañana",
    "every Friday, on Saturdays, my Sunday dinner, the team's Monday call",
    "Black Friday",
    "I sat in the sun and wed my work to a fall",
    "my 2018 car, model 2077, in 2000 steps",
    "room 2023, call 555-0199, version 3.11.12, 10.0.0.1",
    "on the 2nd floor, the 3rd try",
    "in the summer it is hot",
    "a Christmas tree, an Easter egg",
    "recently, once, a while ago, long ago, many years ago, one day",
    "I read the whole book in two weeks",
    "it took three days and lasted a year",
    "the last time, the last 30 minutes of cooking",
    "31 February, 2023-02-30, 13/13/2023, 32.12.2022",
    "0 days ago, 9999 years ago, 12345 days ago",
    "hoy en día, in today's world",
    "three boxes ago, the next morning, on any other day",
    "top 10 may change",
]


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_these_words_name_this_day(text: str, day: str) -> None:
    assert shown(find_mentioned(text, NOW, UTC)) == [(day, day_after(day))]


@pytest.mark.parametrize(("text", "start", "end"), STRETCHES)
def test_these_words_name_this_stretch(text: str, start: str, end: str) -> None:
    assert shown(find_mentioned(text, NOW, UTC)) == [(start, end)]


@pytest.mark.parametrize("text", NOT_TIMES)
def test_these_words_name_no_time(text: str) -> None:
    assert find_mentioned(text, NOW, UTC) == []


def test_a_span_says_its_words_and_their_place() -> None:
    text = "So: I flew in on Last  Tuesday, and left YESTERDAY."
    assert find_mentioned("I left YESTERDAY.", NOW, UTC) == [
        Span(seconds("2023-05-16"), seconds("2023-05-17"), "YESTERDAY", (7, 16))
    ]
    for span in find_mentioned(text, NOW, UTC):
        assert text[slice(*span.places)] == span.text


def test_places_hold_in_a_text_whose_lower_case_is_longer() -> None:
    text = "İİİ İstanbul yesterday"
    (span,) = find_mentioned(text, NOW, UTC)
    assert text[slice(*span.places)] == span.text == "yesterday"


def test_several_times_come_in_the_order_of_the_text() -> None:
    text = "We met on 3 May 2021, again last week, and will meet tomorrow"
    assert [span.text for span in find_mentioned(text, NOW, UTC)] == ["3 May 2021", "last week", "tomorrow"]


def test_later_counts_from_the_time_before_it() -> None:
    spans = find_mentioned(
        "She arrived on 3 May 2021. Two days later she left, and the next day it rained.", NOW, UTC
    )
    assert shown(spans) == [
        ("2021-05-03", "2021-05-04"),
        ("2021-05-05", "2021-05-06"),
        ("2021-05-06", "2021-05-07"),
    ]


def test_the_next_morning_is_that_of_the_day_after() -> None:
    spans = find_mentioned("She arrived on 3 May 2021 and left the next morning.", NOW, UTC)
    assert shown(spans) == [("2021-05-03", "2021-05-04"), ("2021-05-04T05:00", "2021-05-04T12:00")]


def test_later_in_a_story_of_another_text_is_not_a_date() -> None:
    assert find_mentioned("Two days later she left", NOW, UTC) == []
    assert shown(find_mentioned("we will ship it two days later", NOW, UTC)) == [("2023-05-19", "2023-05-20")]


def test_months_in_a_list_need_one_preposition() -> None:
    spans = find_mentioned("from January to March", NOW, UTC)
    assert shown(spans) == [("2023-01-01", "2023-02-01"), ("2023-03-01", "2023-04-01")]
    assert [span.text for span in find_mentioned("in 2019 and 2020", NOW, UTC)] == ["2019", "2020"]
    assert [span.text for span in find_mentioned("yesterday, May called", NOW, UTC)] == ["yesterday"]


def test_the_nearest_verb_gives_the_tense() -> None:
    past = "I can't wait to tell you what we saw in June"
    future = "I loved it so much that we will go back in June"
    assert shown(find_mentioned(past, NOW, UTC)) == [("2022-06-01", "2022-07-01")]
    assert shown(find_mentioned(future, NOW, UTC)) == [("2023-06-01", "2023-07-01")]


def test_the_tense_of_another_sentence_does_not_count() -> None:
    text = "It was a mess. The party is in June."
    assert shown(find_mentioned(text, NOW, UTC)) == [("2023-06-01", "2023-07-01")]


def test_a_near_date_counts_more_than_the_tense() -> None:
    text = "The dentist had me booked for June 2nd"
    assert shown(find_mentioned(text, NOW, UTC)) == [("2023-06-02", "2023-06-03")]


@pytest.mark.parametrize(
    ("text", "at", "start", "end"),
    [
        ("a month ago", "2023-03-31T12:00", "2023-02-01", "2023-03-01"),
        ("yesterday", "2024-03-01T12:00", "2024-02-29", "2024-03-01"),
        ("tomorrow", "2023-12-31T23:59", "2024-01-01", "2024-01-02"),
        ("last month", "2023-01-31T00:00", "2022-12-01", "2023-01-01"),
        ("next month", "2024-01-31T12:00", "2024-02-01", "2024-03-01"),
        ("last weekend", "2023-05-21T12:00", "2023-05-13", "2023-05-15"),
        ("this weekend", "2023-05-21T12:00", "2023-05-20", "2023-05-22"),
        ("last Sunday", "2023-05-21T12:00", "2023-05-14", "2023-05-15"),
        ("the last month", "2024-03-30T12:00", "2024-02-29", "2024-03-31"),
        ("last winter", "2024-01-10T12:00", "2022-12-01", "2023-03-01"),
        ("yesterday", "1965-01-01T12:00", "1964-12-31", "1965-01-01"),
        ("last year", "1970-01-01T00:00", "1969-01-01", "1970-01-01"),
        ("in 1850", "1970-01-01T00:00", "1850-01-01", "1851-01-01"),
    ],
)
def test_the_moment_decides(text: str, at: str, start: str, end: str) -> None:
    assert shown(find_mentioned(text, seconds(at), UTC)) == [(start, end)]


def test_a_day_is_as_long_as_the_clocks_make_it() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (short,) = find_mentioned("26 March 2023", NOW, berlin)
    (long,) = find_mentioned("29 October 2023", NOW, berlin)
    assert (short.end - short.start, long.end - long.start) == (23 * 3600, 25 * 3600)


def test_a_day_whose_midnight_is_skipped_begins_with_its_first_moment() -> None:
    sao_paulo = ZoneInfo("America/Sao_Paulo")
    (day,) = find_mentioned("4 November 2018", NOW, sao_paulo)
    assert datetime.fromtimestamp(day.start, sao_paulo).isoformat() == "2018-11-04T01:00:00-02:00"
    assert day.end - day.start == 23 * 3600


def test_a_day_that_a_zone_skipped_is_not_a_time() -> None:
    assert find_mentioned("30 December 2011", NOW, ZoneInfo("Pacific/Apia")) == []


def test_an_hour_ago_is_an_hour_ago_when_the_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    at = datetime(2023, 3, 26, 3, 30, tzinfo=berlin).timestamp()
    (span,) = find_mentioned("an hour ago", at, berlin)
    assert (span.start + span.end) / 2 == at - 3600


def test_the_zone_decides_which_day_it_is() -> None:
    just_after_midnight = seconds("2023-05-17T00:30")
    assert shown(find_mentioned("today", just_after_midnight, timezone(timedelta(hours=-3)))) == [
        ("2023-05-16T03:00", "2023-05-17T03:00")
    ]


def test_without_a_zone_it_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        spans = find_mentioned("yesterday and on 7 May 2023", NOW)
        assert spans == find_mentioned("yesterday and on 7 May 2023", NOW, ZoneInfo("America/New_York"))
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("at", [1e300, -1e300, inf, -inf, float("nan"), 1e13, -1e13])
def test_a_moment_outside_the_calendar_has_no_times(at: float) -> None:
    assert find_mentioned("yesterday, 7 May 2023", at, UTC) == []
    assert find_asked("what did we do yesterday?", at, UTC) is None


def test_what_would_leave_the_calendar_is_left_out() -> None:
    last_day = datetime(9999, 12, 31, 12, tzinfo=UTC).timestamp()
    assert find_mentioned("today, tomorrow, next year", last_day, UTC) == []
    assert [span.text for span in find_mentioned("tomorrow or yesterday", last_day, UTC)] == ["yesterday"]
    first_day = datetime(1, 1, 1, 12, tzinfo=UTC).timestamp()
    assert [span.text for span in find_mentioned("yesterday or tomorrow, last week", first_day, UTC)] == [
        "tomorrow"
    ]


QUESTIONS = [
    ("What did we do last Tuesday?", "2023-05-16", "2023-05-17"),
    ("what did I say yesterday", "2023-05-16", "2023-05-17"),
    ("What did I buy on Friday?", "2023-05-12", "2023-05-13"),
    ("What are we doing on Friday?", "2023-05-19", "2023-05-20"),
    ("What is planned for Friday?", "2023-05-19", "2023-05-20"),
    ("what did we do last week", "2023-05-07", "2023-05-16"),
    ("who visited two weeks ago?", "2023-04-30", "2023-05-07"),
    ("what did I do four weeks ago?", "2023-04-16", "2023-04-23"),
    ("what did I do two days ago?", "2023-05-14", "2023-05-17"),
    ("what did I buy 10 days ago?", "2023-05-05", "2023-05-10"),
    ("Which charity did I help a month ago?", "2023-03-25", "2023-05-08"),
    ("Where did I live three years ago?", "2019-12-02", "2021-01-31"),
    ("What happened in March?", "2023-03-01", "2023-04-01"),
    ("What happened in June?", "2022-06-01", "2022-07-01"),
    ("What happened in May?", "2023-05-01", "2023-06-01"),
    ("What did he host in May 2022?", "2022-05-01", "2022-06-01"),
    ("What happened on 3 August?", "2022-08-03", "2022-08-04"),
    ("What did we decide between May and July?", "2022-05-01", "2022-08-01"),
    ("Where was she between August 11 and August 15 2022?", "2022-08-11", "2022-08-16"),
    ("What happened from November to February?", "2022-11-01", "2023-03-01"),
    ("What happened from May 2021 to July?", "2021-05-01", "2021-08-01"),
    ("Did we meet in 2019 or 2021?", "2019-01-01", "2022-01-01"),
    ("What changed since Monday?", "2023-05-15", "open"),
    ("What changed since last month?", "2023-04-01", "open"),
    ("What did we use before June 2022?", "open", "2022-06-01"),
    ("What happened after 3 May?", "2023-05-04", "open"),
    ("What was done by 7 November 2022?", "open", "2022-11-08"),
    ("What did we try until Easter?", "open", "2023-04-11"),
    ("What happened after 2019 and before 2021?", "2020-01-01", "2021-01-01"),
    ("What did I read in the last month?", "2023-04-17", "2023-05-18"),
    ("What have I cooked the past few weeks?", "2023-04-12", "2023-05-18"),
    ("What did I say yesterday about my trip in 2019?", "2023-05-16", "2023-05-17"),
    ("What was on in May 2022, on the evening of 7 May 2022?", "2022-05-07T18:00", "2022-05-08"),
    ("What did she do the week before 16 November 2022?", "2022-11-09", "2022-11-16"),
    ("When did we camp in June?", "2022-06-01", "2022-07-01"),
    ("Was haben wir letzte Woche besprochen?", "2023-05-07", "2023-05-16"),
    ("Was war vor Juni 2022?", "open", "2022-06-01"),
    ("Was haben wir vor zwei Wochen gesagt?", "2023-04-30", "2023-05-07"),
    ("Qu'avons-nous décidé depuis lundi ?", "2023-05-15", "open"),
    ("¿Qué hicimos entre mayo y julio de 2022?", "2022-05-01", "2022-08-01"),
]


@pytest.mark.parametrize(
    "text",
    [
        "I saw her yesterday [2023-05-16].",
        "yesterday's [2023-05-16] game, and tomorrow [2023-05-18] another",
        "the day before yesterday [2023-05-15]",
        "last Sunday [2023-05-14] we drove home",
        "last Friday night [2023-05-12] was fun",
        "last night [2023-05-16]",
        "two days ago [2023-05-15]",
        "last month's [April 2023] bill",
        "next month [June 2023]",
        "it was last year [2022]",
        "letzten Sonntag [2023-05-14] und gestern [2023-05-16]",
        "on y était le mois dernier [April 2023]",
        "el año pasado [2022]",
    ],
)
def test_a_relative_time_that_is_certain_gets_its_date(text: str) -> None:
    assert add_dates(re.sub(r" \[.*?\]", "", text), NOW, UTC) == text


@pytest.mark.parametrize(
    "text",
    [
        *("today", "this morning", "on Friday", "next Friday", "last week", "last weekend", "last May"),
        *("a few days ago", "two months ago", "three years ago", "the last year was hard", "last 30 minutes"),
        *("the previous month", "over the past month", "on 7 May 2023", "2023-05-07", "last summer", "last"),
    ],
)
def test_a_time_that_is_not_certain_or_not_relative_gets_no_date(text: str) -> None:
    assert add_dates(text, NOW, UTC) == text


def test_the_date_of_a_relative_time_is_that_of_the_zone() -> None:
    just_after_midnight = seconds("2023-05-17T00:30")
    dated = add_dates("yesterday", just_after_midnight, timezone(timedelta(hours=-3)))
    assert dated == "yesterday [2023-05-15]"


@pytest.mark.parametrize(("question", "start", "end"), QUESTIONS)
def test_this_question_is_about_this_time(question: str, start: str, end: str) -> None:
    span = find_asked(question, NOW, UTC)
    assert span is not None
    assert shown([span]) == [(start, end)]


@pytest.mark.parametrize(
    "question",
    [
        "When did the office move to Lisbon?",
        "What year was it?",
        "What have I been up to recently?",
        "What did we use before the release?",
        "How many days ago did I buy it?",
        "What may I eat?",
        "",
    ],
)
def test_this_question_names_no_time(question: str) -> None:
    assert find_asked(question, NOW, UTC) is None


def test_the_place_of_an_asked_time_holds_the_words_that_bound_it() -> None:
    question = "What changed since Monday in the parser?"
    span = find_asked(question, NOW, UTC)
    assert span is not None
    assert question[slice(*span.places)] == span.text == "since Monday"


@pytest.mark.parametrize(
    "question",
    [
        "When did she leave?",
        "when's the deadline",
        "When exactly was it?",
        "Do you remember when we met?",
        "Since when do we use it?",
        "What date was the party?",
        "On which day did we ship?",
        "In what year was it founded?",
        "Which month's game was it?",
        "How long ago did I move?",
        "How many weeks ago was that?",
        "What time does it open?",
        "You bought it when?",
        "When the office left Lisbon?",
        "Wann war das?",
        "Seit wann nutzen wir das?",
        "Quand est-ce arrivé ?",
        "Depuis quand ?",
        "En quelle année ?",
        "¿Cuándo fue?",
        "¿Qué día era?",
    ],
)
def test_this_question_asks_for_a_time(question: str) -> None:
    assert asks_when(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did she say when I called?",
        "When I was in Rome, what did I eat?",
        "When lunch was over what did she say?",
        "What did we do last Tuesday?",
        "How long did it take?",
        "Whenever you like",
        "Where did we go?",
        "",
    ],
)
def test_this_question_asks_for_something_else(question: str) -> None:
    assert not asks_when(question)


@pytest.mark.parametrize("text", [text for text, *_ in (*DAYS, *STRETCHES)])
def test_what_names_a_time_has_a_time(text: str) -> None:
    assert has_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no dates here",
        "you may march on",
        "it took three days",
        "every day of the week",
        "version 3.11.12",
    ],
)
def test_what_names_none_has_no_time(text: str) -> None:
    assert not has_time(text)


@given(text=st.one_of(ANY, SENTENCES), at=MOMENTS, tz=ZONES)
def test_no_text_and_no_clock_raise(text: str, at: float, tz: ZoneInfo | None) -> None:
    spans = find_mentioned(text, at, tz)
    for span in spans:
        assert span.start < span.end
        assert text[slice(*span.places)] == span.text
    assert [span.places for span in spans] == sorted(span.places for span in spans)
    if spans:
        assert has_time(text)
    question = find_asked(text, at, tz)
    if question is not None:
        assert question.start < question.end
        assert text[slice(*question.places)] == question.text
    asks_when(text)
    assert re.sub(r" \[[^]]{4,14}\]", "", add_dates(text, at, tz)) == re.sub(r" \[[^]]{4,14}\]", "", text)


@pytest.mark.parametrize(
    "form",
    ["%Y-%m-%d", "{d} %B %Y", "%B {d}, %Y", "the {d} of %B, %Y", "%m/%d/%Y", "%d.%m.%Y", "%A, {d} %b %Y"],
)
@given(day=st.dates(date(1600, 1, 1), date(2199, 12, 31)), at=st.floats(-60e9, 250e9), tz=ZONES)
def test_a_written_date_is_that_day_whenever_it_is_said(
    form: str, day: date, at: float, tz: ZoneInfo | None
) -> None:
    text = day.strftime(form).replace("{d}", str(day.day))
    first, next_day = (datetime(d.year, d.month, d.day, tzinfo=tz) for d in (day, day + timedelta(days=1)))
    expected = [(first.timestamp(), next_day.timestamp())]
    if expected[0][0] < expected[0][1]:
        assert [(span.start, span.end) for span in find_mentioned(f"It was on {text}.", at, tz)] == expected


@given(day=st.dates(date(1900, 1, 1), date(2100, 1, 1)), number=st.integers(1, 999))
def test_days_ago_are_counted_on_the_calendar(day: date, number: int) -> None:
    zone = ZoneInfo("Europe/Berlin")
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=zone).timestamp()
    (span,) = find_mentioned(f"{number} days ago", noon, zone)
    assert datetime.fromtimestamp(span.start, zone).date() == day - timedelta(days=number)


@pytest.mark.parametrize(
    "text",
    [
        "7",
        "last ",
        "in ",
        "may ",
        "two weeks before ",
        "end of ",
        "1/",
        "2023-",
        "a couple of ",
        "May 5 ",
        " \n",
        "ä",
    ],
)
def test_a_hundred_thousand_characters_of_anything_are_read(text: str) -> None:
    # Were an expression not linear, this would not end.
    long = text * (100_000 // len(text))
    find_mentioned(long, NOW, UTC)
    find_asked(long, NOW, UTC)
    asks_when(long)
    has_time(long)
