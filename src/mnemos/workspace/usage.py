"""Usage of a space's workspace: databases, snapshots, and files that agents exported."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos import files
from mnemos.errors import MnemosError
from mnemos.text.stored_text import reveal
from mnemos.workspace.identifiers import SUFFIX
from mnemos.workspace.limits import MB, Quota
from mnemos.workspace.snapshots import total_bytes

_ENDINGS: Final = (SUFFIX, f"{SUFFIX}-wal")
_EXPORTS: Final = "exports.json"
_LOCK_SECONDS: Final = 10.0
# A small file takes this much of a disk, too.
_BLOCK: Final = 4_096
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Use:
    """The amount of one thing, and its limit."""

    name: str
    used: int
    limit: int
    setting: str

    def __str__(self) -> str:
        if not self.setting.endswith("_bytes"):
            return f"{self.used:,} of {self.limit:,} {self.name}"
        return f"{self.name} {self.used / MB:,.1f} of {self.limit / MB:,.1f} MB"


def measure(folder: Path, quota: Quota) -> list[Use]:
    """Return what a space keeps of everything that is limited in total."""
    databases = measure_databases(folder)
    return [
        Use("databases", len(databases), quota.databases, "max_databases"),
        Use("databases", sum(databases.values()), quota.databases_bytes, "databases_bytes"),
        Use("snapshots", total_bytes(folder), quota.snapshots_bytes, "snapshots_bytes"),
        Use("exports", sum(measure_exports(folder).values()), quota.exports_bytes, "exports_bytes"),
    ]


def measure_databases(folder: Path) -> dict[str, int]:
    """Return the size of each database with its log."""
    sizes: dict[str, int] = {}
    for entry in _list_files(folder):
        name = entry.name.partition(".")[0]
        # Another process may delete it meanwhile.
        with suppress(FileNotFoundError):
            sizes[name] = sizes.get(name, 0) + entry.stat(follow_symlinks=False).st_size
    return sizes


def _list_files(folder: Path) -> list[os.DirEntry[str]]:
    """Return the files of databases and their logs; none if the folder can't be read."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry
                for entry in entries
                if entry.name.endswith(_ENDINGS) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []


def find_room(folder: Path, database: str, quota: Quota) -> int:
    """Return how large a database may become, beside the others."""
    sizes = measure_databases(folder)
    return quota.databases_bytes - sum(sizes.values()) + sizes.get(database, 0)


def find_limit(folder: Path, database: str, quota: Quota) -> int:
    """Return how large a database may become by its own limit and the total. Every write asks."""
    count = sum(entry.name.endswith(SUFFIX) for entry in _list_files(folder))
    if count * quota.database_bytes <= quota.databases_bytes:
        return quota.database_bytes
    return min(quota.database_bytes, find_room(folder, database, quota))


def describe_full(folder: Path, quota: Quota) -> str:
    """Say which databases use the room of a space, and how to make some."""
    sizes = measure_databases(folder)
    return (
        f"the databases of this space have {sum(sizes.values()):,} of {quota.databases_bytes:,} bytes "
        f"({name_largest(sizes)}). Delete one that is not needed, or rows and then run `mnemos workspace "
        "compact`, or raise databases_bytes in config.toml"
    )


def name_largest(sizes: Mapping[str, int]) -> str:
    """Return the largest items with their sizes, on one line."""
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_NAMED]
    named = ", ".join(f"{reveal(name)} {sizes[name]:,}" for name in largest)
    return f"{named}, and {len(sizes) - _NAMED} more" if len(sizes) > _NAMED else named


# --- exports ------------------------------------------------------------------------------------


def measure_exports(folder: Path) -> dict[str, int]:
    """Return the files that agents exported and that are still there, with their sizes on disk.

    The folder for files may hold much else: it may be a project of the user.
    """
    try:
        known = json.loads((folder / _EXPORTS).read_bytes())
    except (OSError, ValueError):
        return {}
    sizes = {}
    for path in known if isinstance(known, list) else ():
        try:
            found = os.lstat(path)
        except (OSError, ValueError, TypeError):
            # Deleted or moved since.
            continue
        if stat.S_ISREG(found.st_mode):
            sizes[str(path)] = -(-found.st_size // _BLOCK) * _BLOCK
    return sizes


def note_export(folder: Path, path: Path) -> None:
    """Remember a file that an agent exported, and forget those that are gone.

    On a disk that can only be read, or is full, it is not counted: the export itself is done.
    """
    with suppress(MnemosError, OSError), files.lock(folder, _EXPORTS, _LOCK_SECONDS):
        known = {**measure_exports(folder), str(path): 0}
        # In place, because it is the lock. If a crash cuts it off, exports count for less than they are.
        (folder / _EXPORTS).write_bytes(json.dumps(list(known)).encode())
