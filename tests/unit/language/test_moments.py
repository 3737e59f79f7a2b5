"""Times as people, models and programs pass them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mnemos
from mnemos.errors import InvalidInput
from mnemos.language.moments import read_moment, read_span
from mnemos.operations.texts import render_time
from mnemos.testing import FixedClock

MARCH = 1_772_323_200.0
# Monday, 16 November 2026, 14:03 in UTC.
NOW = datetime(2026, 11, 16, 14, 3, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from _set_zone(monkeypatch, "UTC")


@pytest.fixture
def kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from _set_zone(monkeypatch, "Asia/Kolkata")


def _set_zone(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (None, None),
        (MARCH, MARCH),
        (int(MARCH), MARCH),
        ("1772323200", MARCH),
        ("1772323200.5", MARCH + 0.5),
        ("2026-03-01", MARCH),
        (" 2026-03-01 ", MARCH),
        ("20260301", MARCH),
        ("2026-03", MARCH),
        ("1.3.2026", MARCH),
        ("2026-03-01T00:00", MARCH),
        ("2026-03-01 00:00:00", MARCH),
        ("2026-03-01T00:00:00Z", MARCH),
        ("2026-03-01T02:00+02:00", MARCH),
        ("2026-02-28T19:00:00-05:00", MARCH),
        ("1970-01-01", 0.0),
        (date(2026, 3, 1), MARCH),
        (datetime(2026, 3, 1), MARCH),
        (datetime(2026, 3, 1, 2, tzinfo=timezone(timedelta(hours=2))), MARCH),
    ],
)
def test_a_date_a_time_or_seconds_are_understood(written: Any, meant: float | None) -> None:
    assert read_moment("since", written, NOW) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("now", "2026-11-16T14:03"),
        ("today", "2026-11-16T00:00"),
        ("Yesterday", "2026-11-15T00:00"),
        ("last week", "2026-11-09T00:00"),
        ("last month", "2026-10-01T00:00"),
        ("3 days ago", "2026-11-13T00:00"),
        ("two weeks ago", "2026-11-02T00:00"),
        ("a month ago", "2026-10-16T00:00"),
        ("a year ago", "2025-11-16T00:00"),
        ("3 hours ago", "2026-11-16T11:03"),
        ("24h", "2026-11-15T14:03"),
        ("7d", "2026-11-09T00:00"),
        ("friday", "2026-11-13T00:00"),
        ("march", "2026-03-01T00:00"),
        ("2025", "2025-01-01T00:00"),
        ("12 Oct 2025", "2025-10-12T00:00"),
        ("today 9:15", "2026-11-16T09:15"),
        ("yesterday at 14:03", "2026-11-15T14:03"),
        ("14:03", "2026-11-16T14:03"),
        ("gestern", "2026-11-15T00:00"),
    ],
)
def test_words_mean_the_first_moment_of_what_they_name(written: str, meant: str) -> None:
    assert read_moment("since", written, NOW) == datetime.fromisoformat(meant).timestamp()


@pytest.mark.usefixtures("kolkata")
@pytest.mark.parametrize(
    "written", ["2026-03-01T00:00", "2026-03-01", datetime(2026, 3, 1), date(2026, 3, 1), "march"]
)
def test_a_time_without_a_zone_is_local_time(written: Any) -> None:
    assert read_moment("since", written, NOW) == MARCH - 5.5 * 3600


@pytest.mark.parametrize(
    "written",
    ["", " ", "2026-13-01", "2026-02-30", "foo", "yesterday foo", "3 bananas ago", "99999 years ago", "\0",
     "9" * 500, "yesterday " * 50, "25:00"],
)  # fmt: skip
def test_anything_else_is_invalid_input_and_is_named(written: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_moment("until", written, NOW)
    assert "until" in str(raised.value)
    assert repr(written)[:50] in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("value", [True, [], {}, math.nan, math.inf, 1e15, datetime.min])
def test_other_values_are_invalid_input(value: Any) -> None:
    with pytest.raises(InvalidInput):
        read_moment("since", value, NOW)


@given(st.one_of(st.text(max_size=30), st.from_regex(r"[0-9eE+.:TZ -]{0,30}", fullmatch=True)))
def test_a_text_is_a_number_of_seconds_or_invalid_input(written: str) -> None:
    try:
        meant = read_moment("since", written, NOW)
    except InvalidInput:
        return
    assert isinstance(meant, float)


def test_a_span_must_not_be_empty() -> None:
    assert read_span("yesterday", "today", NOW) == (NOW - NOW % 86400 - 86400, NOW - NOW % 86400)
    with pytest.raises(InvalidInput):
        read_span("today", "yesterday", NOW)


@pytest.fixture
def memory() -> Iterator[mnemos.Memory]:
    """Say one thing on each of the last four days."""
    clock = FixedClock(NOW - 3 * 86400)
    with mnemos.open(":memory:", clock=clock) as memory:
        for number in range(4):
            memory.sessions.create_session(f"day-{number}", "cli")
            memory.sessions.append_message(f"day-{number}", "user", f"the queue is full, {number}")
            memory.facts.write(f"V[queue.{number}]: {number}")
            clock.advance(86400 if number < 3 else 0)
        yield memory


@pytest.mark.parametrize("since", ["yesterday", "1 day ago", "2026-11-15", date(2026, 11, 15)])
def test_every_part_takes_the_same_times(memory: mnemos.Memory, since: Any) -> None:
    later = {"day-2", "day-3"}
    assert {hit["session_id"] for hit in memory.sessions.search_messages("queue", since=since)} == later
    assert {row["id"] for row in memory.sessions.search_sessions(since=since)} == later
    assert memory.sessions.session_count(since=since) == 2
    found = memory.recall("queue", since=since, kinds=["message"], words_only=True)
    assert {hit.session_id for hit in found.hits} == later
    assert len(memory.facts.list(as_of=since)) == 2
    assert {row.ref for row in memory.log(since=since)} == {"fact:f3", "fact:f4"}
    listed = memory.call("sessions_list", {"since": since, "until": "today"})
    assert [one["id"] for one in listed["sessions"]] == ["day-2"]
    assert len(memory.call("log", {"since": since})["entries"]) == 2
    assert memory.call("facts_list", {"as_of": since})["total"] == 2


@pytest.mark.usefixtures("kolkata")
def test_a_moment_is_shown_in_the_readers_zone_to_the_minute() -> None:
    assert render_time(MARCH + 59.9) == "2026-03-01 05:30"


@pytest.mark.parametrize("when", [None, 0.0, -1e9, 1e12, 1e18, -1e18, math.inf, math.nan])
def test_every_moment_can_be_render_time(when: float | None) -> None:
    assert bool(render_time(when)) == (when is not None)


@pytest.mark.parametrize("text", ["10/01/2026", "1/2/26", "01-10-2026", "10/01/2026 14:30"])
def test_a_date_whose_month_is_unclear_is_refused_with_both_readings(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"2026-\d\d-\d\d or 2026-\d\d-\d\d"):
        read_moment("since", text, NOW)


def test_a_date_with_slashes_that_can_only_mean_one_day_is_read() -> None:
    for text in ("13/10/2026", "10/13/2026"):
        assert read_moment("since", text, NOW) == datetime(2026, 10, 13, tzinfo=UTC).timestamp()
    assert read_moment("since", "10/10/2026", NOW) == datetime(2026, 10, 10, tzinfo=UTC).timestamp()
