"""Names of databases and of what is in them, where they become paths or SQL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mnemos.errors import InvalidInput

DEFAULT = "default"
SUFFIX = ".db"
SNAPSHOTS = "snapshots"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def check_name(value: Any) -> str:
    """The name of a database, before any path is built from it."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidInput(
            f"database is {str(value)[:100]!r}; use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter "
            "or a digit"
        )
    return value


def folder_of(home: Path, what: str, space: str) -> Path:
    """Where the databases, or the files, of a space are: one folder a space, none inside another."""
    return home / what / space.replace("/", "+")


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{check_name(name)}{SUFFIX}"


def snapshots_of(folder: Path, name: str) -> Path:
    return folder / SNAPSHOTS / check_name(name)


def recent_of(file: Path) -> Path:
    """Where it is noted when the tables of a database were last used."""
    return file.with_suffix(".recent")


def quoted(identifier: str) -> str:
    """An identifier as SQL takes it, whatever is in it; the only place where names become SQL."""
    if "\0" in identifier:
        raise InvalidInput(f"{identifier[:100]!r} holds a NUL; use a name without it")
    return '"' + identifier.replace('"', '""') + '"'
