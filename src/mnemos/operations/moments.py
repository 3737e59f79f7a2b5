"""Times as people and models write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from mnemos.errors import InvalidInput

_FIRST_SECONDS = 1e8

When = Annotated[
    str | float | None,
    Meta(description="ISO date or time (UTC), or Unix seconds"),
]


def seconds(label: str, when: str | float | None) -> float | None:
    """Unix seconds; a text that is neither a date nor a number raises InvalidInput."""
    if when is None or isinstance(when, (int, float)):
        return when
    text = when.strip()
    meant = _date(text) if _is_date(text) else _number(text)
    if meant is None:
        raise InvalidInput(f"{label} is {when!r}; use a date such as 2026-03-01, or Unix seconds")
    return meant


def _is_date(text: str) -> bool:
    # Eight digits are a date; longer numbers are seconds, though some could be read as dates.
    return len(text) == 8 or _number(text) is None


def _date(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    """Seconds written as text. A small number is more likely a year than a day of 1970."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if 0 < abs(number) < _FIRST_SECONDS else number


def shown(when: float | None) -> str:
    """A time for people, in their own zone, to the minute; empty for none."""
    if when is None:
        return ""
    try:
        return datetime.fromtimestamp(when).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return f"{when:g} s"
