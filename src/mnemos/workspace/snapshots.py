"""Snapshots of a space's databases: their names, and the rule for which of them are kept."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mnemos.workspace.identifiers import SNAPSHOTS, SUFFIX, snapshots_of

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
            # Another process deleted it meanwhile.
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
