"""Names of templates: each is the name of a file, on every system that people carry files to."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.templates.model import TaskType

LONGEST: Final = 80
# File systems count bytes, and the suffix takes some.
_MOST_BYTES: Final = 200
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)
_SIGNS: Final = frozenset(" ._-")
_RULE: Final = "use letters, digits, and . _ - or single spaces between them, such as fix-failing-tests"


def file_name(name: Any) -> str:
    """The name itself, in one spelling of its accents; one that no file should have raises InvalidInput."""
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"name is {name!r}; {_RULE}")
    shown = repr(name) if len(name) <= LONGEST else f"{name[:LONGEST]!r}…"
    clean = unicodedata.normalize("NFC", name)
    if len(clean) > LONGEST or len(clean.encode("utf-8", "replace")) > _MOST_BYTES:
        raise InvalidInput(f"name is {shown} and too long; use at most {LONGEST} characters")
    if not all(_is_allowed(char) for char in clean) or ".." in clean or "  " in clean:
        raise InvalidInput(f"name is {shown}; {_RULE}")
    if not _is_word(clean[0]) or not _is_word(clean[-1]):
        raise InvalidInput(f"name is {shown}; begin and end it with a letter or a digit")
    if clean.casefold().partition(".")[0].strip() in _RESERVED:
        raise InvalidInput(f"name is {shown}, which some systems keep for a device; choose another")
    return clean


def can_be_file_name(name: Any) -> bool:
    """Whether a template can have this name: what none can have is unknown, not wrong."""
    try:
        file_name(name)
    except InvalidInput:
        return False
    return True


def default_name(kind: TaskType, session_id: str, at: float) -> str:
    """Made of type, session and time: ``code-slot-bug-20260101-120000``."""
    session = re.sub(r"[^A-Za-z0-9]+", "-", session_id)[:40].strip("-") or "session"
    try:
        when = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d-%H%M%S")
    except (OverflowError, ValueError, OSError):
        when = "0"
    return f"{kind}-{session}-{when}"


def _is_allowed(char: str) -> bool:
    return char in _SIGNS or _is_word(char) or unicodedata.category(char) in ("Mn", "Mc")


def _is_word(char: str) -> bool:
    # Marks belong to the letter before them; a name may end with one.
    return char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")
