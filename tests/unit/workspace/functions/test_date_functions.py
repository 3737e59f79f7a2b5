"""Dates: read from text, and the functions of other databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.functions import dates
from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2024-02-29", "2024-02-29"),
        (" 2024-2-9 ", "2024-02-09"),
        ("2024/02/29", "2024-02-29"),
        ("2024.02.29", "2024-02-29"),
        ("20240229", "2024-02-29"),
        (20240229, "2024-02-29"),
        ("2024-02", "2024-02-01"),
        ("2024-02-29T10:11", "2024-02-29 10:11:00"),
        ("2024-02-29 10:11:12", "2024-02-29 10:11:12"),
        ("2024-02-29T10:11:12Z", "2024-02-29 10:11:12"),
        ("2024-02-29T10:11:12.120+02:00", "2024-02-29 08:11:12.12"),
        ("2024-02-29T23:30:00-05:30", "2024-03-01 05:00:00"),
        ("2024-02-29 10:11 +0200", "2024-02-29 08:11:00"),
        ("2024-02-29 10:11 UTC", "2024-02-29 10:11:00"),
        ("20240229T101112Z", "2024-02-29 10:11:12"),
        ("2024-02-29 12:05 AM", "2024-02-29 00:05:00"),
        ("2024-02-29 12:05 pm", "2024-02-29 12:05:00"),
        ("29 February 2024", "2024-02-29"),
        ("February 29, 2024", "2024-02-29"),
        ("Feb 29th 2024 10:11 p.m.", "2024-02-29 22:11:00"),
        ("Thursday, February 29, 2024", "2024-02-29"),
        ("Thu, 29 Feb 2024 10:11:12 GMT", "2024-02-29 10:11:12"),
        ("Thu, 29 Feb 2024 10:11:12 -0500", "2024-02-29 15:11:12"),
        ("Thu Feb 29 10:11:12 2024", "2024-02-29 10:11:12"),
        ("29-FEB-24", "2024-02-29"),
        ("2024-Feb-29", "2024-02-29"),
        ("Sept. 5, 2024", "2024-09-05"),
        ("March 2024", "2024-03-01"),
        ("29. Februar 2024", "2024-02-29"),
        ("Donnerstag, 29. März 2024 um 10:11", "2024-03-29 10:11:00"),
        ("5. Ma\u0308rz 2024", "2024-03-05"),
        ("1er août 2024", "2024-08-01"),
        ("jeudi 29 février 2024 à 10:11", "2024-02-29 10:11:00"),
        ("29 de febrero de 2024", "2024-02-29"),
        ("mar., 5 mar 2024", "2024-03-05"),
        (b"2024-02-29", "2024-02-29"),
    ],
)
def test_a_date_is_read(call: Call, text: Value, read: str) -> None:
    assert call("parse_date", text) == read
    assert call("parse_date", text, "mdy") == read


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "2024", "2024-13-01", "2023-02-29", "2024-02-30", "0000-01-01", "2024-02-29 24:00",
        "2024-02-29 10:60", "2024-02-29 13:00 PM", "2024-02-29T10:11+25:00", "31 Foo 2024", "45/67/2024",
        "10.5.2", "1706659200", 1.5, "0001-01-01T00:00+05:00", "9999-12-31T23:59-05:00", "2024-02/29", "你好",
        "٢٠٢٤-٠٢-٢٩", "👍", "2024-02-29 x", "2" * 1_000_000, "today", "now",
    ],
)  # fmt: skip
def test_other_text_is_null(call: Call, text: Value) -> None:
    assert call("parse_date", text) is None


@pytest.mark.parametrize(
    ("text", "order", "read"),
    [
        ("03/04/2024", "dmy", "2024-04-03"),
        ("03/04/2024", "mdy", "2024-03-04"),
        ("03.04.24", "DD.MM.YYYY", "2024-04-03"),
        ("3-4-69", "dmy", "1969-04-03"),
        ("3-4-68", "dmy", "2068-04-03"),
        ("24/03/04", "ymd", "2024-03-04"),
        ("03/04/2024 10:11 PM", "dmy", "2024-04-03 22:11:00"),
        ("31/01/2024", "mdy", None),
        ("01/31/2024", "dmy", None),
        ("31/01/2024", "ymd", None),
        ("3/4.2024", "dmy", None),
    ],
)
def test_numbers_are_read_in_the_order_given_and_in_no_other(
    call: Call, text: str, order: str, read: str | None
) -> None:
    assert call("parse_date", text, order) == read


@pytest.mark.parametrize("text", ["03/04/2024", "31.12.2024", "12-31-99", "1/2/24"])
def test_numbers_without_an_order_are_never_guessed(call: Call, text: str) -> None:
    with pytest.raises(FunctionFailed):
        call("parse_date", text)


@pytest.mark.parametrize("order", ["", "xyz", "dm", "ydm", "myd"])
def test_an_order_that_makes_no_sense_is_refused(call: Call, order: str) -> None:
    with pytest.raises(FunctionFailed):
        call("parse_date", "2024-02-29", order)


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31)))
def test_what_python_writes_is_read_back(at: datetime) -> None:
    assert dates.parse_date(at.isoformat()) == str(dates.Moment(at, has_time=True))
    assert dates.parse_date(at.date().isoformat()) == at.date().isoformat()


def test_the_clock_is_the_one_of_sqlite(connection: apsw.Connection) -> None:
    for name, own in (
        ("now()", "CURRENT_TIMESTAMP"),
        ("getdate()", "CURRENT_TIMESTAMP"),
        ("curdate()", "CURRENT_DATE"),
    ):
        # SQLite rounds to its milliseconds: in the last half of one, its clock is a second ahead.
        seen = ([connection.execute(f"SELECT {what}").get for what in (own, name, own)] for _ in range(1_000))
        assert any(before <= answer <= after or before > after for before, answer, after in seen)


@pytest.mark.parametrize(
    ("unit", "truncated"),
    [
        ("year", "2024-01-01"),
        ("quarter", "2024-07-01"),
        ("month", "2024-08-01"),
        ("week", "2024-08-12"),
        ("day", "2024-08-15"),
        ("hour", "2024-08-15 10:00:00"),
        ("minute", "2024-08-15 10:11:00"),
        ("SECOND", "2024-08-15 10:11:12"),
        ("months", "2024-08-01"),
    ],
)
def test_a_date_is_truncated(call: Call, unit: str, truncated: str) -> None:
    assert call("date_trunc", unit, "2024-08-15T10:11:12.5") == truncated


def test_other_text_is_not_truncated(call: Call) -> None:
    assert call("date_trunc", "month", "31/01/2024") is None
    assert call("date_trunc", "week", "0001-01-01") == "0001-01-01"


@pytest.mark.parametrize(
    ("unit", "start", "end", "count"),
    [
        ("year", "2023-12-31", "2024-01-01", 1),
        ("quarter", "2024-03-31", "2024-04-01", 1),
        ("month", "2024-01-31", "2024-02-01", 1),
        ("week", "2024-02-03", "2024-02-04", 1),
        ("week", "2024-02-04", "2024-02-10", 0),
        ("day", "2024-02-28 23:59", "2024-03-01 00:01", 2),
        ("hour", "2024-02-28 23:59", "2024-02-29 00:01", 1),
        ("minute", "2024-01-01 00:00:59", "2024-01-01 00:01:00", 1),
        ("seconds", "2024-01-01", "2024-01-02", 86_400),
        ("day", "2024-03-01", "2024-02-28", -2),
        ("day", "x", "2024-02-28", None),
    ],
)
def test_differences_count_boundaries(call: Call, unit: str, start: str, end: str, count: int | None) -> None:
    assert call("datediff", unit, start, end) == count


def test_two_dates_differ_by_days_as_in_mysql(call: Call) -> None:
    assert call("datediff", "2024-03-01 00:00:01", "2024-02-28 23:59:59") == 2
    assert call("datediff", "2024-03-01", "03/01/2024") is None


@given(st.dates(), st.dates())
def test_the_difference_of_days_is_the_one_of_the_calendar(one: date, other: date) -> None:
    assert dates.datediff(one.isoformat(), other.isoformat()) == (one - other).days


def test_an_unknown_unit_is_refused_with_the_known_ones(call: Call) -> None:
    for name, *values in (
        ("date_trunc", "fortnight", "2024-01-01"),
        ("datediff", "fortnight", "2024-01-01", "2024-01-02"),
    ):
        with pytest.raises(FunctionFailed):
            call(name, *values)


def test_the_word_now_is_for_functions_of_sqlite(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("date_trunc", "year", "now")
