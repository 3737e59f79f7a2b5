"""Argument checks. Errors name the argument, its value and what to use instead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any
from unicodedata import category

from mnemos.errors import InvalidInput, TooLarge

MAX_NAME = 512
# Maximum nesting. Deeper values could overflow the stack, now or when they are read.
MAX_DEPTH = 100
# Control characters, lone surrogates, line and paragraph separators. Joiners and wide blanks are needed in
# Persian, Japanese and emoji.
_NOT_IN_NAMES = frozenset({"Cc", "Cs", "Zl", "Zp"})
# These make one name look like another.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LAST_MOMENT = 1e12

Moment = float | str | date
"""A time that a caller passes: Unix seconds, a text, a datetime, or a date (its first moment). Without a zone
it is local time."""


def name(label: str, value: Any) -> str:
    """Check a short text without control characters, such as an id."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{label} must be a non-empty string, not {value!r}")
    if len(value) > MAX_NAME:
        raise TooLarge(f"{label} has {len(value)} characters. The limit is {MAX_NAME}.")
    if not value.isprintable() and any(category(c) in _NOT_IN_NAMES or c in _DIRECTIONS for c in value):
        raise InvalidInput(f"{label} must not have line breaks or control characters: {value!r}")
    return value


def clean_name(value: str) -> str | None:
    """Return one line without control characters, cut to the limit; None if empty.

    A name that passes ``name`` is not changed.
    """
    if not value.isprintable():
        value = "".join(" " if category(c) in _NOT_IN_NAMES or c in _DIRECTIONS else c for c in value)
    return value[:MAX_NAME] if value.strip() else None


def can_be_name(label: str, value: Any) -> bool:
    """True if this can be a name: an impossible one is unknown rather than invalid."""
    if not isinstance(value, str):
        raise InvalidInput(f"{label} must be a string, not {value!r}")
    try:
        name(label, value)
    except InvalidInput:
        return False
    return True


def optional_name(label: str, value: Any) -> str | None:
    return None if value is None else name(label, value)


def names(label: str, value: str | Sequence[str] | None) -> list[str] | None:
    """Check a filter that is one name or several."""
    if value is None:
        return None
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, (list, tuple, set, frozenset)) or not all(
        isinstance(item, str) for item in several
    ):
        raise InvalidInput(f"{label} must be a string or a list of strings, not {value!r}")
    # Text that no engine can store matches nothing.
    return [item.encode("utf-8", "replace").decode() for item in several]


def find_nearest(value: object, known: Iterable[str]) -> str | None:
    """Return the known name most similar to a wrong one; None if none is similar."""
    # Imported here, because it is only needed after a mistake.
    from difflib import get_close_matches

    names = {one.lower(): str(one) for one in known}
    near = get_close_matches(str(value)[:MAX_NAME].strip().lower(), names, n=1)
    return names[near[0]] if near else None


def suggest(value: object, known: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known name; empty if there is none."""
    near = find_nearest(value, known)
    return "" if near is None else f" Did you mean {near!r}?"


def check_path(value: str | os.PathLike[str]) -> None:
    """Raise InvalidInput for a URL, which would create a folder called ``http:``."""
    if (scheme := find_scheme(value)) is not None:
        raise InvalidInput(f"{scheme}:// is a URL, but a path is needed, such as ~/data.")


SERVERS = ("postgresql", "postgres")
"""Schemes of the URL of a database."""


def hide_password(url: str) -> str:
    """Return a URL without its password, for people."""
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:***@", re.sub(r"([?&]password=)[^&]*", r"\1***", url))


def find_scheme(value: object) -> str | None:
    """Return the scheme of a URL in lower case; None for a path."""
    # A scheme of one letter is a Windows drive. Path() turns // into /.
    found = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]+):/", str(value))
    return found[1].lower() if found else None


def check_place(value: Any) -> str:
    """Return the path or URL of a memory as text; another type raises InvalidInput."""
    if not isinstance(value, str | os.PathLike):
        raise InvalidInput(f"A home must be a str or a Path, not {type(value).__name__}.")
    return os.fspath(value)


def read_home(name: str | Path) -> Path:
    """Return a home's path, which need not exist. A URL raises InvalidInput."""
    _refuse_url(name)
    if os.name != "nt" and re.match(r"[A-Za-z]:[\\/]", str(name)):
        raise InvalidInput(f"{str(name)[:200]} is a Windows path, but this is not Windows.")
    try:
        folder = Path(name).expanduser().absolute()
        str(folder).encode()
        folder.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return folder
    except (ValueError, TypeError, RuntimeError, OSError) as exc:
        raise InvalidInput(f"{str(name)[:200]!r} is not a valid folder name: {exc}") from exc
    if not folder.is_dir():
        raise InvalidInput(f"The home must be a folder, but {folder} is a file.")
    return folder


def _refuse_url(name: str | Path) -> None:
    """Raise for a URL without quoting it: it may hold a password."""
    scheme = find_scheme(name)
    if scheme in SERVERS:
        raise InvalidInput(
            "A home is a folder. Set the URL of a database with the setting `database` or MNEMOS_DATABASE. "
            "In Python, mnemos.open('postgresql://…')."
        )
    if scheme in ("http", "https"):
        raise InvalidInput(
            f"A home must be a folder. To use a server, call mnemos.open({scheme + '://…'!r}) in Python."
        )
    if scheme is not None:
        raise InvalidInput(f"A home is a folder, not a {scheme}:// URL. Use its path, such as ~/.mnemos.")


def whole(label: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise InvalidInput(f"{label} must be a whole number, 0 or more, not {value!r}")
    return value


def moment(label: str, value: Any) -> float:
    """Convert a number, a datetime or a date to Unix seconds."""
    if isinstance(value, date):
        value = _count_seconds(label, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"{label} must be a datetime, or Unix seconds such as 1767225600.0, not {value!r}")
    if not abs(value) < LAST_MOMENT:
        raise InvalidInput(f"{label} must be Unix seconds, not {value!r} (are these milliseconds?)")
    return float(value)


def _count_seconds(label: str, value: date) -> float:
    try:
        at = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return at.timestamp()
    except (OverflowError, ValueError, OSError) as exc:
        raise InvalidInput(f"{label} is {value}, which is out of range for this machine") from exc


def check_span(start: float | None, end: float | None) -> tuple[float | None, float | None]:
    """Check the bounds of a time filter, either of which may be None."""
    if start is not None and end is not None and start >= end:
        raise InvalidInput(f"since ({_render(start)}) must be before until ({_render(end)}).")
    return start, end


def _render(at: float) -> str:
    try:
        return datetime.fromtimestamp(at).isoformat(" ", "minutes")
    except (OverflowError, ValueError, OSError):
        return f"{at:.0f}"


def optional_moment(label: str, value: Any) -> float | None:
    return None if value is None else moment(label, value)


def in_range(label: str, value: Any, most: int) -> int:
    """Check a whole number from 1 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInput(f"{label} must be from 1 to {most}, not {value!r}.")
    return value


def make_plain(value: Any, depth: int = 0) -> Any:
    """Convert SDK objects in a value to dicts, whichever library made them."""
    if depth > MAX_DEPTH:
        # Left in place: encoding it raises an error.
        return value
    if isinstance(value, dict):
        return {key: make_plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(inner, depth + 1) for inner in value]
    if isinstance(value, type) or not callable(dump := getattr(value, "model_dump", None)):
        return value
    try:
        return dump(mode="json", exclude_none=True, warnings=False)
    except TypeError:
        # Not pydantic, despite a method of the same name.
        return dump()
    except ValueError as exc:
        raise InvalidInput(f"The {type(value).__name__} can't be read as JSON: {exc}") from exc
