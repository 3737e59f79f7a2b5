"""Names and texts of an agent, made safe for paths, for SQL and for one line of output."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.text.stored_text import reveal

DEFAULT: Final = "default"
SUFFIX: Final = ".db"
SNAPSHOTS: Final = "snapshots"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def check_name(value: Any) -> str:
    """Return a database name that may become part of a path, or raise InvalidInput."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidInput(
            f"database is {str(value)[:100]!r}. Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter "
            "or a digit."
        )
    return value


def folder_of(home: Path, kind: str, space: str) -> Path:
    """Return the folder for a space's databases or files. No space's folder is inside another's."""
    return home / kind / space.replace("/", "+")


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{check_name(name)}{SUFFIX}"


def snapshots_of(folder: Path, name: str) -> Path:
    return folder / SNAPSHOTS / check_name(name)


def recent_of(file: Path) -> Path:
    """Return the file that records when each table of a database was last used."""
    return file.with_suffix(".recent")


def quote(identifier: str) -> str:
    """Quote an identifier for SQL. This is the only place where names become SQL."""
    if "\0" in identifier:
        raise InvalidInput(f"{identifier[:100]!r} contains a NUL. Use a name without it.")
    return '"' + identifier.replace('"', '""') + '"'


def shorten(text: str, length: int) -> str:
    """Return the beginning of a text on one line, with nothing hidden in it."""
    line = reveal(" ".join(text[: 2 * length].split()))
    return line if len(line) <= length and len(text) <= 2 * length else line[: length - 1] + "…"
