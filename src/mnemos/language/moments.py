"""Times that callers pass: Unix seconds, dates, ISO times, or words such as *yesterday* and *3 days ago*.

A day, week or month means its first moment. A time without a zone is local time.
"""

from __future__ import annotations

import re
from datetime import datetime, tzinfo
from typing import Any

from mnemos.errors import InvalidInput
from mnemos.inputs import check_span, moment

_EXAMPLES = 'yesterday, "last week", "3 days ago", 2026-10-01 or 2026-10-01T14:30'
# The first second that a bare number may mean; smaller ones are more likely years.
_FIRST_SECONDS = 1e8
_CLOCK = re.compile(r"(?:\bat )?\b(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)\Z")
_LONGEST = 100
_UNORDERED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})\b")
_MONTHS = 12


def read_moment(label: str, value: Any, now: float, tz: tzinfo | None = None) -> float | None:
    """Return Unix seconds for a number, a date, a datetime or a text; None for None.

    Words count from ``now``. Without a zone a time is in ``tz``, by default the machine's.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        return moment(label, value)
    text = " ".join(value[: _LONGEST + 1].split())
    _check_order(label, text)
    found = None if len(text) > _LONGEST else _read(text, now, tz)
    if found is None:
        raise InvalidInput(
            f"{label} is not a date or time: {value[:_LONGEST]!r}. Use one such as {_EXAMPLES}."
        )
    return moment(label, found)


def read_span(
    since: Any, until: Any, now: float, latest: float | None = None
) -> tuple[float | None, float | None]:
    """Return the bounds of a time filter, either of which may be None. ``latest``: ``until`` at most."""
    start, end = read_moment("since", since, now), read_moment("until", until, now)
    if latest is not None:
        end = latest if end is None else min(end, latest)
    return check_span(start, end)


def _check_order(label: str, text: str) -> None:
    """Refuse 10/01/2026, which is a day of January to some and of October to others."""
    found = _UNORDERED.match(text)
    if found is None or found[1] == found[2] or max(int(found[1]), int(found[2])) > _MONTHS:
        return
    first, second, year = int(found[1]), int(found[2]), int(found[3]) + (2000 if len(found[3]) == 2 else 0)
    raise InvalidInput(
        f"{label} is {text!r}, which is ambiguous. Write the year first: "
        f"{year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}."
    )


def _read(text: str, now: float, tz: tzinfo | None) -> float | None:
    # Eight digits are a date; longer numbers are seconds, though some could be read as dates.
    number = None if len(text) == 8 else _number(text)
    if number is not None:
        return number
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=tz)).timestamp()
    except (ValueError, OverflowError, OSError):
        return _read_words(text, now, tz)


def _read_words(text: str, now: float, tz: tzinfo | None) -> float | None:
    if text.lower() == "now":
        return now
    # Tables of words: only for a time that is written in words.
    from mnemos.language.times import find_start

    clock = _CLOCK.search(text)
    start = find_start((text[: clock.start()].rstrip() or "today") if clock else text, now, tz)
    if start is None or clock is None:
        return start
    day = datetime.fromtimestamp(start, tz)
    at = day.replace(hour=int(clock["hour"]), minute=int(clock["minute"]))
    return at.timestamp() if day == day.replace(hour=0, minute=0) else None


def _number(text: str) -> float | None:
    """Read seconds written as text; a small number is more likely a year than a day of 1970."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if 0 < abs(number) < _FIRST_SECONDS else number
