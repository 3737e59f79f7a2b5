"""Checks of values that callers pass in: what is wrong is named, with what to use instead."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from unicodedata import category

from mnemos.errors import InvalidInput, TooLarge

MAX_NAME = 512
# Control characters, lone surrogates, line and paragraph separators. Joiners and wide blanks are letters
# to those who write Persian, Japanese or emoji.
_NOT_IN_NAMES = frozenset({"Cc", "Cs", "Zl", "Zp"})
# They make a name look like another.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LAST_MOMENT = 1e12


def name(label: str, value: Any) -> str:
    """A short text without control characters, such as an id."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{label} is {value!r}; use a text that is not empty")
    if len(value) > MAX_NAME:
        raise TooLarge(f"{label} has {len(value)} characters; at most {MAX_NAME} are allowed")
    if not value.isprintable() and any(category(c) in _NOT_IN_NAMES or c in _DIRECTIONS for c in value):
        raise InvalidInput(f"{label} is {value!r}; line breaks and control characters are not allowed")
    return value


def can_be_name(label: str, value: Any) -> bool:
    """Whether anything can have this name: what nothing can have is unknown, not wrong."""
    if not isinstance(value, str):
        raise InvalidInput(f"{label} is {value!r}; use a text")
    try:
        name(label, value)
    except InvalidInput:
        return False
    return True


def optional_name(label: str, value: Any) -> str | None:
    return None if value is None else name(label, value)


def names(label: str, value: str | Sequence[str] | None) -> list[str] | None:
    """A filter given as one name or several."""
    if value is None:
        return None
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, (list, tuple, set, frozenset)) or not all(
        isinstance(item, str) for item in several
    ):
        raise InvalidInput(f"{label} is {value!r}; use a text or a list of texts")
    # What no engine can store can match nothing.
    return [item.encode("utf-8", "replace").decode() for item in several]


def whole(label: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise InvalidInput(f"{label} is {value!r}; use a whole number from 0")
    return value


def moment(label: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"{label} is {value!r}; use Unix seconds, such as 1767225600.0")
    if not abs(value) < LAST_MOMENT:
        raise InvalidInput(f"{label} is {value!r}; use Unix seconds (are these milliseconds?)")
    return float(value)


def span(since: Any, until: Any) -> tuple[float | None, float | None]:
    """The bounds of a filter by time, either of which may be open."""
    start, end = optional_moment("since", since), optional_moment("until", until)
    if start is not None and end is not None and start >= end:
        raise InvalidInput(
            f"since ({_read(start)}) is not before until ({_read(end)}), itself not included; use a later one"
        )
    return start, end


def _read(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(" ", "seconds").removesuffix("+00:00") + " UTC"
    except (OverflowError, ValueError, OSError):
        return f"{at:.0f}"


def optional_moment(label: str, value: Any) -> float | None:
    return None if value is None else moment(label, value)
