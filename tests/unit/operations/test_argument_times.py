"""Times as people and models write them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput
from mnemos.operations.arguments import seconds
from mnemos.operations.texts import render_time

MARCH = 1_772_323_200.0


@pytest.fixture
def kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
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
        ("2026-03-01T00:00", MARCH),
        ("2026-03-01 00:00:00", MARCH),
        ("2026-03-01T00:00:00Z", MARCH),
        ("2026-03-01T02:00+02:00", MARCH),
        ("2026-02-28T19:00:00-05:00", MARCH),
        ("1970-01-01", 0.0),
    ],
)
def test_a_date_a_time_or_seconds_are_understood(written: str | float | None, meant: float | None) -> None:
    assert seconds("since", written) == meant


@pytest.mark.usefixtures("kolkata")
def test_a_time_without_a_zone_is_utc_wherever_it_is_read() -> None:
    assert seconds("since", "2026-03-01T00:00") == MARCH


@pytest.mark.parametrize(
    "written", ["yesterday", "", " ", "2026-13-01", "2026-02-30", "1.3.2026", "12:00", "now"]
)
def test_anything_else_is_invalid_input_and_is_named(written: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        seconds("until", written)
    assert "until" in str(raised.value)
    assert repr(written) in str(raised.value)


@pytest.mark.parametrize("written", ["20260301", "2026"])
def test_a_date_without_dashes_is_not_taken_for_the_year_1970(written: str) -> None:
    """Better a question back than a search in the wrong half-century."""
    try:
        meant = seconds("since", written)
    except InvalidInput:
        return
    assert meant is not None
    assert meant > 1e9


@given(st.one_of(st.text(max_size=30), st.from_regex(r"[0-9eE+.:TZ -]{0,30}", fullmatch=True)))
def test_a_text_is_a_number_of_seconds_or_invalid_input(written: str) -> None:
    try:
        meant = seconds("since", written)
    except InvalidInput:
        return
    assert isinstance(meant, float)


@pytest.mark.usefixtures("kolkata")
def test_a_moment_is_shown_in_the_readers_zone_to_the_minute() -> None:
    assert render_time(MARCH + 59.9) == "2026-03-01 05:30"


@pytest.mark.parametrize("when", [None, 0.0, -1e9, 1e12, 1e18, -1e18, math.inf, math.nan])
def test_every_moment_can_be_render_time(when: float | None) -> None:
    assert bool(render_time(when)) == (when is not None)
