"""Usage of the disk by a space, and its limits: databases, exports, and snapshots with their rule."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mnemos import files
from mnemos.errors import MnemosError
from mnemos.text.stored_text import reveal
from mnemos.workspace.identifiers import SNAPSHOTS, SUFFIX, snapshots_of
from mnemos.workspace.limits import MB, Quota

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
        # Another process may delete it in the meantime.
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
    """Return how large a database may become, alongside the others."""
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


# --- snapshots ----------------------------------------------------------------------------------

_SECOND: Final = 1_000_000
_HOUR: Final = 3_600 * _SECOND
_DAY: Final = 24 * _HOUR
# Of each span of time the first snapshot is kept: one made later can't push it out, however many there are.
# The columns: the span in microseconds, the number of latest spans with a snapshot, and their number when
# room is short.
KEPT: Final = (
    (1, 5, 1),
    (_HOUR // 6, 6, 1),
    (_HOUR, 6, 1),
    (_DAY, 7, 2),
    (7 * _DAY, 4, 1),
)
_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 200_000_000_000 * _SECOND
# Header bytes that change with every write, though the content is the same.
_BOOKKEEPING: Final = ((18, 20), (24, 28), (40, 44), (92, 100))
_HEADER: Final = 100


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A snapshot on disk. ``moment`` is the time in its name, in microseconds."""

    path: Path
    moment: int
    size: int


def name_moment(moment: int) -> str:
    """Return the name of a snapshot made at a moment; later ones sort after it."""
    return (_EPOCH + timedelta(microseconds=moment)).strftime(_STAMP)


def parse_moment(name: str) -> int | None:
    """Return the moment that a snapshot is named after; None if it has another name or is of the far future.

    Later ones could not be named.
    """
    try:
        moment = (datetime.strptime(name, _STAMP).replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
    except ValueError:
        return None
    return moment if moment < _LATEST and name_moment(moment) == name else None


def list_snapshots(folder: Path, database: str) -> list[SnapshotFile]:
    """Return the snapshots of a database, newest first. Links and files with other names are left out."""
    kept = snapshots_of(folder, database)
    if kept.is_symlink() or kept.parent.is_symlink():
        return []
    return sorted(_find_files(kept), key=lambda snapshot: -snapshot.moment)


def _find_files(folder: Path) -> Iterator[SnapshotFile]:
    for path in folder.glob(f"*{SUFFIX}"):
        moment = parse_moment(path.stem)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            # Another process deleted it in the meantime.
            continue
        if moment is not None and stat.S_ISREG(found.st_mode):
            yield SnapshotFile(path, moment, found.st_size)


def total_bytes(folder: Path) -> int:
    """Return the size of all snapshots of a space."""
    return sum(map(_sum_sizes, _list_all(folder).values()))


def _sum_sizes(snapshots: Iterable[SnapshotFile]) -> int:
    return sum(snapshot.size for snapshot in snapshots)


def _list_all(folder: Path) -> dict[str, list[SnapshotFile]]:
    names = (path.name for path in (folder / SNAPSHOTS).glob("*") if path.is_dir())
    return {name: list_snapshots(folder, name) for name in names}


def choose_kept(moments: Iterable[int], *, least: bool = False) -> set[int]:
    """Return the moments that are kept by the rule; with ``least``, only those that are always kept."""
    kept: set[int] = set()
    newest_first = sorted(moments, reverse=True)
    for span, most, fewest in KEPT:
        first_of = {moment // span: moment for moment in newest_first}
        kept.update(list(first_of.values())[: fewest if least else most])
    return kept


def choose_deleted(folder: Path, database: str, new: SnapshotFile, most_bytes: int) -> list[Path] | None:
    """Return the snapshots to delete before a new one is kept; None if there is not enough room for it.

    First go those that the rule does not keep. If the snapshots of the space have too many bytes, those that
    are not always kept follow: of this database, then of the others, the newest first.
    """
    everything = _list_all(folder)
    excess = new.size - most_bytes + sum(map(_sum_sizes, everything.values()))
    own = [new, *everything.pop(database, [])]
    kept = choose_kept(snapshot.moment for snapshot in own)
    deleted = [snapshot for snapshot in own if snapshot.moment not in kept]
    spare = _find_spare(snapshot for snapshot in own if snapshot.moment in kept)
    for snapshots in everything.values():
        spare += _find_spare(snapshots)
    excess -= _sum_sizes(deleted)
    for snapshot in spare:
        if excess <= 0:
            break
        deleted.append(snapshot)
        excess -= snapshot.size
    return None if excess > 0 else [snapshot.path for snapshot in deleted]


def _find_spare(snapshots: Iterable[SnapshotFile]) -> list[SnapshotFile]:
    """Return the snapshots that are not always kept, in the same order."""
    several = list(snapshots)
    needed = choose_kept((snapshot.moment for snapshot in several), least=True)
    return [snapshot for snapshot in several if snapshot.moment not in needed]


def hash_contents(path: Path) -> str:
    """Return a checksum that is the same for every copy of the same database."""
    with path.open("rb") as file:
        header = bytearray(file.read(_HEADER))
        for first, last in _BOOKKEEPING:
            header[first:last] = bytes(last - first)
        digest = hashlib.sha256(header)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
