"""Times as people and models write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from mnemos.errors import InvalidInput

When = Annotated[
    str | float | None,
    Meta(description="ISO date or time, e.g. 2026-03-01 (UTC unless it says otherwise), or Unix seconds"),
]


def seconds(label: str, when: str | float | None) -> float | None:
    """Unix seconds; a text that is neither a date nor a number raises InvalidInput."""
    if when is None or isinstance(when, (int, float)):
        return when
    try:
        return float(when)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(when.strip())
    except ValueError:
        raise InvalidInput(f"{label} is {when!r}; use a date such as 2026-03-01, or Unix seconds") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def shown(when: float | None) -> str:
    """A time for people, in their own zone, to the minute; empty for none."""
    if when is None:
        return ""
    try:
        return datetime.fromtimestamp(when).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return f"{when:g} s"
